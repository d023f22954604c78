import { Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { usePreferences } from '../../preferences.ts';
import { absolute, fromWallClock, toWallClock } from '../show/index.ts';
import { FilterButton } from './choice-filter.tsx';

export interface RangeSearch {
  last?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const LAST: readonly [value: string, label: string, seconds: number][] = [
  ['15m', 'Last 15 minutes', 900],
  ['1h', 'Last hour', 3_600],
  ['6h', 'Last 6 hours', 21_600],
  ['24h', 'Last 24 hours', 86_400],
  ['7d', 'Last 7 days', 604_800],
  ['30d', 'Last 30 days', 2_592_000],
];

/**
 * The range in Unix seconds, as the API takes it. A relative one is counted from the full minute before `nowMs`, or from the moment
 * `at`; nothing later than that is in any.
 */
export function rangeOf(
  search: RangeSearch,
  nowMs: number,
  at?: string | undefined,
): { from?: string; to?: string } {
  if (at !== undefined) {
    const { from, to } = rangeOf(search, Number(at) * 1000);
    return { ...(from && { from }), to: to !== undefined && Number(to) < Number(at) ? to : at };
  }
  const seconds = LAST.find(([value]) => value === search.last)?.[2];
  if (seconds !== undefined) return { from: String(Math.floor(nowMs / 60_000) * 60 - seconds) };
  return { ...(search.from && { from: search.from }), ...(search.to && { to: search.to }) };
}

/** Filter by time: the last minutes, hours, days, or from one point to another. */
export function TimeRange({
  search,
  onChange,
}: {
  search: RangeSearch;
  onChange: (next: RangeSearch) => void;
}) {
  const { zone } = usePreferences();
  const [opened, setOpened] = useState(false);
  const form = useForm({ initialValues: { from: '', to: '' } });
  const chosen = LAST.find(([value]) => value === search.last)?.[1];
  const said =
    chosen ??
    [
      search.from && `from ${absolute(Number(search.from), zone).slice(0, 16)}`,
      search.to && `to ${absolute(Number(search.to), zone).slice(0, 16)}`,
    ]
      .filter(Boolean)
      .join(' ');
  const typed = (at: string | undefined) => (at ? toWallClock(Number(at), zone) : '');
  const seconds = (text: string) => (text ? String(fromWallClock(text, zone)) : undefined);
  const take = (next: RangeSearch) => {
    onChange({ last: undefined, from: undefined, to: undefined, ...next });
    setOpened(false);
  };
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      trapFocus
      onOpen={() => form.setValues({ from: typed(search.from), to: typed(search.to) })}
    >
      <Popover.Target>
        <FilterButton label="Time" said={said} onClick={() => setOpened((was) => !was)} />
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Time range">
        <Group align="start" gap={0}>
          <Stack gap={0} p={6}>
            {LAST.map(([value, label]) => (
              <Button
                key={value}
                variant={search.last === value ? 'light' : 'subtle'}
                justify="start"
                aria-pressed={search.last === value}
                onClick={() => take({ last: value })}
              >
                {label}
              </Button>
            ))}
            <Button variant="subtle" justify="start" onClick={() => take({})}>
              Any time
            </Button>
          </Stack>
          <form onSubmit={form.onSubmit(({ from, to }) => take({ from: seconds(from), to: seconds(to) }))}>
            <Stack gap={8} p={12}>
              <TextInput label="From" type="datetime-local" {...form.getInputProps('from')} />
              <TextInput label="To" type="datetime-local" {...form.getInputProps('to')} />
              <p className="quiet">{zone === 'local' ? 'Local time' : zone}</p>
              <Button type="submit" disabled={!form.values.from && !form.values.to}>
                Apply
              </Button>
            </Stack>
          </form>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
