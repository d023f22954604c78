import { Button } from '@mantine/core';
import type { Availability } from '@rollcall/shared/api/availability';
import { IconFileTypeCsv, IconPrinter } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { apiQuery, csvPages } from '../../api.ts';
import { useSiteChoices, useSiteName } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { Filters } from '../../components/filter/index.ts';
import { useFile } from '../../components/list/index.ts';
import { Page, Scroller } from '../../components/page/index.ts';
import { duration, useNow } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import { usePreferences } from '../../preferences.ts';
import { useUrlState } from '../../url-state.ts';
import classes from './availability.module.css';
import { boundsOf, LEVELS, type Level, levelOf, months, percentText } from './month.ts';

/** Rows of one page of the report: the operation answers no more. */
const ROWS = 100;
const HOUR_MS = 3_600_000;

/** A month of all sites, or of the devices of one: a row each, a cell per day. */
export function AvailabilityPage() {
  const { search, change } = useUrlState('/availability');
  const { zone: preferred } = usePreferences();
  const zone = preferred === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : preferred;
  // Months do not begin every ten seconds.
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS;
  const choices = useMemo(() => months(hour, zone), [hour, zone]);
  const month = choices.find(({ value }) => value === search.month) ?? choices[0];
  const bounds = boundsOf(month?.value ?? '', zone);
  const query = {
    ...{ of: search.site ? 'devices' : 'sites', site: search.site, timezone: zone },
    ...{ from: String(bounds.from), to: String(bounds.to) },
  } as const;
  const report = useQuery({
    ...apiQuery('availability.list', { query: { ...query, page: search.page, pageSize: ROWS } }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const siteName = useSiteName();
  return (
    <Page
      title="Availability"
      heading={['Availability', search.site && siteName(search.site)].filter(Boolean).join(' of ')}
      actions={
        <>
          <CsvButton
            query={query}
            name={`availability ${[month?.value, search.site && siteName(search.site)].filter(Boolean).join(' ')}.csv`}
          />
          <IconButton icon={IconPrinter} onClick={() => window.print()}>
            Print
          </IconButton>
        </>
      }
    >
      <Filters
        search={search}
        change={(values) => change({ ...values, page: undefined })}
        filters={[
          { key: 'month', label: 'Month', choices, width: 170 },
          { key: 'site', label: 'Site', choices: useSiteChoices() },
        ]}
      />
      <Loaded query={report}>
        {({ data, totalCount }) =>
          data.length === 0 ? (
            <Empty title="Nothing to report">No device was monitored in this month.</Empty>
          ) : (
            <>
              <Report rows={data} days={bounds.days} month={month?.label ?? ''} zone={zone} />
              <Pages page={Number(search.page ?? 1)} total={totalCount} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The whole report as a file; a month that goes on ends for all its lines at the same moment. */
function CsvButton({ query, name }: { query: { to: string }; name: string }) {
  const { progress, make, cancel } = useFile();
  if (progress !== undefined)
    return (
      <Button variant="default" onClick={cancel}>
        {progress} · cancel
      </Button>
    );
  const parts = (signal: AbortSignal) => {
    const to = Math.min(Number(query.to), Math.floor(Date.now() / 1000));
    return csvPages('availability.list', { ...query, to: String(to) }, { pageSize: ROWS, signal });
  };
  return (
    <Button
      variant="default"
      leftSection={<IconFileTypeCsv size={16} />}
      onClick={() => void make(name, parts)}
    >
      CSV
    </Button>
  );
}

function Report({
  rows,
  days,
  month,
  zone,
}: {
  rows: readonly Availability[];
  days: number;
  month: string;
  zone: string;
}) {
  const numbers = Array.from({ length: days }, (_, i) => i + 1);
  return (
    <Scroller label="Report" className={`panel ${classes.report}`}>
      <table>
        <caption>
          <span>
            Time up in {month}, as a percentage of the time observed; maintenance is left out. Days are in{' '}
            {zone}.
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{rows[0]?.deviceId ? 'Device' : 'Site'}</th>
            <th scope="col">Whole month</th>
            <th scope="col">Down</th>
            {numbers.map((day) => (
              <th key={day} scope="col">
                {day}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.deviceId ?? row.siteId}>
              <th scope="row">
                <Subject row={row} />
              </th>
              <td className={classes.total} data-level={levelOf(row.availability)} title={wordsOf(row)}>
                {percentText(row.availability, 3)}
              </td>
              <td className={classes.total}>{row.down > 0 ? duration(row.down) : ''}</td>
              {numbers.map((day) => (
                <Day key={day} seconds={row.days?.[day - 1]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className={classes.legend} aria-hidden>
        {(Object.entries(LEVELS) as [Level, string][]).map(([level, words]) => (
          <span key={level}>
            <span data-level={level} />
            {words}
          </span>
        ))}
      </div>
    </Scroller>
  );
}

const Subject = ({ row }: { row: Availability }) =>
  row.deviceId ? (
    <Link to="/devices/$id" params={{ id: row.deviceId }} className="plain">
      {row.device}
    </Link>
  ) : (
    <>
      <Link to="." search={(before) => ({ ...before, site: row.siteId })} className="plain">
        {row.site}
      </Link>{' '}
      <span className="quiet">{plural(row.devices, 'device')}</span>
    </>
  );

type Parts = Pick<Availability, 'up' | 'down' | 'maintenance' | 'notObserved' | 'availability'>;

/** `99.95 % · up 23 h 59 min · down 1 min`. */
const wordsOf = ({ availability, up, down, maintenance, notObserved }: Parts): string =>
  [
    ...(availability === null ? [] : [`${percentText(availability, 3)} %`]),
    ...[
      ['up', up] as const,
      ['down', down] as const,
      ['in maintenance', maintenance] as const,
      ['not observed', notObserved] as const,
    ].flatMap(([state, seconds]) => (seconds > 0 ? [`${state} ${duration(seconds)}`] : [])),
  ].join(' · ');

/** A day that is still to come is an empty cell. */
const Day = ({ seconds }: { seconds: Parts | undefined }) =>
  seconds ? (
    <td data-level={levelOf(seconds.availability)} title={wordsOf(seconds)}>
      {percentText(seconds.availability, 1)}
    </td>
  ) : (
    <td />
  );

function Pages({ page, total }: { page: number; total: number }) {
  const { change } = useUrlState('/availability');
  if (total <= ROWS) return null;
  const last = Math.ceil(total / ROWS);
  const go = (to: number) => change({ page: to === 1 ? undefined : String(to) });
  return (
    <div className="strip">
      <Button variant="default" disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous
      </Button>
      <span className="quiet">
        Page {page} of {last}
      </span>
      <Button variant="default" disabled={page >= last} onClick={() => go(page + 1)}>
        Next
      </Button>
    </div>
  );
}
