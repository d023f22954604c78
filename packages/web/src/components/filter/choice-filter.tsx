import { Combobox, useCombobox } from '@mantine/core';
import { IconCheck, IconChevronDown } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import classes from './choice-filter.module.css';

export interface Choice {
  value: string;
  label: string;
  /** Shown instead of the label. */
  content?: ReactNode;
}

/** Words that are their own labels. */
export const choicesOf = <Word extends string>(
  words: readonly Word[],
  content?: (word: Word) => ReactNode,
): { value: Word; label: Word; content?: ReactNode }[] =>
  words.map((word) => ({ value: word, label: word, ...(content && { content: content(word) }) }));

/** Words that codes stand for, from 0 or `first` on. */
export const codeChoices = (
  words: readonly string[],
  content: (code: number) => ReactNode,
  first = 0,
): Choice[] => words.map((label, i) => ({ value: String(i + first), label, content: content(i + first) }));

/** More choices than this can be searched. */
const SEARCHABLE = 9;

/** A filter: one button that says what is chosen, and the choices behind it. */
export function ChoiceFilter({
  label,
  choices,
  value,
  onChange,
  many = false,
}: {
  label: string;
  choices: readonly Choice[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  many?: boolean;
}) {
  const [search, setSearch] = useState('');
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSearch('');
    },
    onDropdownOpen: () => {
      if (choices.length > SEARCHABLE) combobox.focusSearchInput();
      else combobox.selectFirstOption();
    },
  });
  const chosen = choices.filter((choice) => value.includes(choice.value));
  const shown = choices.filter((choice) => choice.label.toLowerCase().includes(search.trim().toLowerCase()));
  const take = (one: string) => {
    if (!many) {
      onChange(value.includes(one) ? [] : [one]);
      combobox.closeDropdown();
    } else onChange(value.includes(one) ? value.filter((each) => each !== one) : [...value, one]);
  };
  const said =
    chosen.length === 0
      ? ''
      : chosen.length > 2
        ? `${chosen.length} of ${choices.length}`
        : chosen.map((choice) => choice.label).join(', ');
  return (
    <Combobox store={combobox} onOptionSubmit={take} width="max-content" position="bottom-start" shadow="md">
      <Combobox.Target targetType="button">
        <button
          type="button"
          className={classes.target}
          data-set={value.length > 0 || undefined}
          onClick={() => combobox.toggleDropdown()}
        >
          <span>{label}</span>
          {said && <span className={`${classes.value} cut`}>{said}</span>}
          <IconChevronDown size={13} aria-hidden />
        </button>
      </Combobox.Target>
      <Combobox.Dropdown miw={170} mah={360}>
        {choices.length > SEARCHABLE && (
          <Combobox.Search
            value={search}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
              combobox.selectFirstOption();
            }}
            placeholder="Find"
            aria-label={`Find in ${label}`}
          />
        )}
        <Combobox.Options mah={280} style={{ overflowY: 'auto' }} aria-label={label}>
          {shown.length === 0 && <Combobox.Empty>Nothing found</Combobox.Empty>}
          {shown.map((choice) => (
            <Combobox.Option
              key={choice.value}
              value={choice.value}
              active={value.includes(choice.value)}
              aria-selected={value.includes(choice.value)}
            >
              <span className={classes.option} data-on={value.includes(choice.value) || undefined}>
                <IconCheck size={13} aria-hidden />
                {choice.content ?? choice.label}
              </span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
        {value.length > 0 && (
          <button
            type="button"
            className={classes.clear}
            onClick={() => {
              onChange([]);
              combobox.closeDropdown();
            }}
          >
            Any {label.toLowerCase()}
          </button>
        )}
      </Combobox.Dropdown>
    </Combobox>
  );
}
