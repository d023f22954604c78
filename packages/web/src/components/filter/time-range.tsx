import { Button, Popover } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { usePreferences } from '../../preferences.ts';
import { absolute, fromWallClock, toWallClock } from '../show/index.ts';
import pick from './choice-filter.module.css';
import classes from './time-range.module.css';

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

/** The range in Unix seconds, as the API takes it. A relative one is counted from the full minute before `nowMs`. */
export function rangeOf(search: RangeSearch, nowMs: number): { from?: string; to?: string } {
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
        <button
          type="button"
          className={pick.target}
          data-set={said ? true : undefined}
          onClick={() => setOpened((was) => !was)}
        >
          <span>Time</span>
          {said && <span className={`${pick.value} cut`}>{said}</span>}
          <IconChevronDown size={13} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Time range">
        <div className={classes.box}>
          <div className={classes.last}>
            {LAST.map(([value, label]) => (
              <button
                key={value}
                type="button"
                aria-pressed={search.last === value}
                onClick={() => take({ last: value })}
              >
                {label}
              </button>
            ))}
            <button type="button" onClick={() => take({})}>
              Any time
            </button>
          </div>
          <form
            className={classes.exact}
            onSubmit={form.onSubmit(({ from, to }) => take({ from: seconds(from), to: seconds(to) }))}
          >
            <label>
              From
              <input type="datetime-local" {...form.getInputProps('from')} />
            </label>
            <label>
              To
              <input type="datetime-local" {...form.getInputProps('to')} />
            </label>
            <p className="quiet">{zone === 'local' ? 'Local time' : zone}</p>
            <Button type="submit" disabled={!form.values.from && !form.values.to}>
              Apply
            </Button>
          </form>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
