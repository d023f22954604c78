import { ActionIcon, Button, Group, TextInput, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

/** Also where the page came over plain HTTP, where browsers offer no clipboard to scripts. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden';
  const focused = document.activeElement;
  // Inside an open dialog the focus is held there.
  (document.querySelector('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error('the browser did not let the page copy: select the text and copy it by hand');
}

function useCopied(text: string): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return [
    copied,
    () => {
      copyText(text).then(
        () => setCopied(true),
        () => setCopied(false),
      );
    },
  ];
}

/** A small button beside a value. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopied(text);
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={copy}>
        {copied ? <IconCheck size={14} color="var(--ok)" /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Text to be taken elsewhere: a secret that is shown once, a command line. */
export function CopyField({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopied(text);
  return (
    <Group gap={8} align="end">
      <TextInput
        readOnly
        label={label}
        flex={1}
        styles={{ input: { fontFamily: 'var(--mono)' } }}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button
        leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        onClick={copy}
        aria-label={`Copy ${label}`}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </Group>
  );
}
