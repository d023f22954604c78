import {
  Button,
  type ButtonProps,
  Combobox,
  type PolymorphicComponentProps,
  Text,
  useCombobox,
} from '@mantine/core';
import { IconCheck, IconChevronDown } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';

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

/** Says what is chosen, and opens what can be. */
export const FilterButton = ({
  label,
  said,
  ...button
}: PolymorphicComponentProps<'button', ButtonProps> & { label: string; said: string }) => (
  <Button
    variant={said ? 'light' : 'default'}
    maw={280}
    fw={400}
    rightSection={<IconChevronDown size={13} aria-hidden />}
    {...button}
  >
    {label}
    {said && (
      <Text span inherit fw={500} ml={6} truncate>
        {said}
      </Text>
    )}
  </Button>
);

interface ChoiceFilterProps {
  label: string;
  choices: readonly Choice[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  many?: boolean;
}

/** A filter: one button that says what is chosen, and the choices behind it. */
export function ChoiceFilter({ label, choices, value, onChange, many = false }: ChoiceFilterProps) {
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
        <FilterButton label={label} said={said} onClick={() => combobox.toggleDropdown()} />
      </Combobox.Target>
      <Combobox.Dropdown miw={170} mah={360}>
        {choices.length > SEARCHABLE && (
          <Combobox.Search
            // It leads through the list below, which has nothing to focus.
            role="combobox"
            aria-expanded
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
              <span className="iconed">
                <IconCheck
                  size={13}
                  aria-hidden
                  visibility={value.includes(choice.value) ? undefined : 'hidden'}
                />
                {choice.content ?? choice.label}
              </span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
        {value.length > 0 && (
          <Button
            variant="subtle"
            fullWidth
            justify="start"
            onClick={() => {
              onChange([]);
              combobox.closeDropdown();
            }}
          >
            Any {label.toLowerCase()}
          </Button>
        )}
      </Combobox.Dropdown>
    </Combobox>
  );
}
