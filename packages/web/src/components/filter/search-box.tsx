import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';

const SETTLE_MS = 200;

/** Marks the one field of a page that the key `/` leads to. */
export const SEARCH_FIELD = 'data-page-search';

/** A filter typed as text: taken over when typing pauses. Esc empties it, then leaves it. */
export function SearchBox({
  label,
  placeholder,
  value,
  onChange,
  width = 280,
  main = false,
}: {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
  width?: number;
  /** The key `/` leads here. */
  main?: boolean;
}) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // Filters cleared elsewhere, a saved view, the back button.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const send = (next: string) => {
    sent.current = next;
    onChange(next);
  };
  const settle = useDebouncedCallback(send, SETTLE_MS);
  const change = (next: string) => {
    setText(next);
    settle(next.trim());
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder ?? label}
      w={width}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={text}
      {...(main && { [SEARCH_FIELD]: true })}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') settle.flush();
        if (event.key !== 'Escape') return;
        if (text) {
          change('');
          settle.flush();
        } else event.currentTarget.blur();
      }}
      rightSection={
        text ? (
          <CloseButton
            size="xs"
            aria-label={`Clear ${label.toLowerCase()}`}
            onClick={() => {
              setText('');
              send('');
            }}
          />
        ) : null
      }
    />
  );
}
