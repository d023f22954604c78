import { Button } from '@mantine/core';
import { memo, type ReactNode, useCallback } from 'react';
import { splitCodes, textOf } from '../../search.ts';
import type { SetUrlState } from '../../url-state.ts';
import { type Choice, ChoiceFilter } from './choice-filter.tsx';
import { SearchBox } from './search-box.tsx';
import { type RangeSearch, TimeRange } from './time-range.tsx';

/** One filter of a list and the search parameter it stands in: typed, or picked out of choices. */
export interface Filter<Search> {
  key: keyof Search & string;
  label: string;
  /** Without choices it is typed. */
  choices?: readonly Choice[];
  many?: boolean;
  placeholder?: string;
  /** Shown, and in force, while nothing is chosen. */
  standard?: string;
  width?: number;
}

const RANGE = ['last', 'from', 'to'] as const;

/** The filters of a list in one line; the key `/` leads to the first that is typed. `range` filters by time, too. */
export function Filters<Search extends { [Name in keyof Search]?: string | undefined } & RangeSearch>({
  search,
  change,
  filters,
  range = false,
  children,
}: {
  search: Search;
  change: SetUrlState<NoInfer<Search>>;
  filters: readonly Filter<NoInfer<Search>>[];
  range?: boolean;
  children?: ReactNode;
}) {
  const keys = [...filters.map(({ key }) => key), ...(range ? RANGE : [])];
  const set = useCallback<Set>((values, replace) => change(values as Partial<Search>, replace), [change]);
  const main = filters.find((filter) => !filter.choices)?.key;
  return (
    <search className="strip" aria-label="Filters">
      {filters.map(({ key, standard = '', ...filter }) => (
        <Field
          key={key}
          {...filter}
          name={key}
          value={search[key] ?? standard}
          main={key === main}
          set={set}
        />
      ))}
      {range && <TimeRange search={search} onChange={(next) => set({ ...next })} />}
      {keys.length > 1 && keys.some((key) => search[key as keyof Search]) && (
        <Button variant="subtle" onClick={() => set(Object.fromEntries(keys.map((key) => [key, undefined])))}>
          Clear
        </Button>
      )}
      {children}
    </search>
  );
}

type Set = (values: Record<string, string | undefined>, replace?: boolean) => void;

/** Drawn anew only when something of it changed: lists of choices cost much, and a page has many. */
const Field = memo(function Field({
  name,
  label,
  choices,
  many = false,
  value,
  set,
  ...look
}: Omit<Filter<Record<string, string>>, 'key'> & {
  name: string;
  value: string;
  main: boolean;
  set: Set;
}) {
  if (choices)
    return (
      <ChoiceFilter
        label={label}
        choices={choices}
        many={many}
        value={splitCodes(value)}
        onChange={(chosen) => set({ [name]: textOf(chosen) })}
      />
    );
  return (
    <SearchBox
      {...look}
      label={label}
      value={value}
      onChange={(text) => set({ [name]: text || undefined }, true)}
    />
  );
});
