import { Button } from '@mantine/core';
import { EVENT_SOURCES } from '@rollcall/shared/model';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { Page } from '../../components/page.tsx';
import { Pick } from '../../components/pick.tsx';
import { Empty } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { Split } from '../../components/side.tsx';
import { usePages } from '../../components/source.ts';
import { EventStatus } from '../../components/status.tsx';
import { TakeAway } from '../../components/take-away.tsx';
import { type RangeSearch, rangeOf, TimeRange } from '../../components/time-range.tsx';
import { Views } from '../../components/views.tsx';
import { listOf, textOf } from '../../search.ts';
import { useSiteChoices } from '../../sites.ts';
import { EVENT_COLUMNS, STATUSES } from './columns.tsx';
import { EventSide } from './event.tsx';

const route = getRouteApi('/events');
type EventSearch = ReturnType<typeof route.useSearch>;

const SEVERITIES = [
  { value: '1', label: 'critical' },
  { value: '2', label: 'major or worse' },
  { value: '3', label: 'minor or worse' },
  { value: '4', label: 'warning or worse' },
];
const STATUS = STATUSES.map((label, code) => ({
  value: String(code),
  label,
  mark: <EventStatus status={code} />,
}));
const SOURCES = EVENT_SOURCES.map((name) => ({ value: name, label: name }));
const VIEWS = [
  { name: 'Open', search: { Status: '0,1', Severity: '4' } },
  { name: 'Not acknowledged', search: { Status: '0', Severity: '4' } },
  { name: 'Critical and major', search: { Status: '0,1', Severity: '2' } },
  { name: 'Changes', search: { Source: 'discovery' } },
  { name: 'Last 24 hours', search: { last: '24h' } },
  { name: 'All', search: {} },
];

export function Events() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/events' });
  const { event: picked, last, from, to, ...filters } = search;
  // Counted once for each choice: a range that moves with the clock would be another list every minute.
  const range = useMemo(() => rangeOf({ last, from, to } as RangeSearch, Date.now()), [last, from, to]);
  const query = { ...filters, ...range };
  const source = usePages('events.list', query);
  const change = useCallback(
    (next: EventSearch, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace }),
    [navigate],
  );
  const close = useCallback(() => change({ event: undefined }, true), [change]);
  const { event: _, ...viewed } = search;
  return (
    <Page
      title="Events"
      count={source.total}
      fill
      actions={<TakeAway id="events.list" query={query} columns={EVENT_COLUMNS} name="events" />}
      filters={<Filters search={search} change={change} />}
    >
      <Views list="events" search={viewed} columns={[]} builtIn={VIEWS} onColumns={() => undefined} />
      <Split
        list={
          <Rows
            label="Events"
            source={source}
            columns={EVENT_COLUMNS}
            sort={search.sort ?? '-timestamp'}
            onSort={(sort) => change({ sort })}
            onOpen={(event) => change({ event: event.id }, picked !== undefined)}
            rowKey={(event) => event.id}
            empty={
              <Empty title="No event fits">
                Nothing of this severity, status, source and time. That may be good news.
              </Empty>
            }
          />
        }
      >
        {picked && <EventSide id={picked} onClose={close} />}
      </Split>
    </Page>
  );
}

function Filters({
  search,
  change,
}: {
  search: EventSearch;
  change: (next: EventSearch, replace?: boolean) => void;
}) {
  const sites = useSiteChoices();
  const { Severity, Status, Source, Device, site, last, from, to } = search;
  const filtered = [Severity, Status, Source, Device, site, last, from, to].some(Boolean);
  return (
    <>
      <SearchBox
        label="Device"
        placeholder="Device: name or address"
        width={200}
        main
        value={Device ?? ''}
        onChange={(text) => change({ Device: text || undefined }, true)}
      />
      <Pick
        label="Severity"
        choices={SEVERITIES}
        value={listOf(Severity)}
        onChange={(value) => change({ Severity: textOf(value) })}
      />
      <Pick
        label="Status"
        many
        choices={STATUS}
        value={listOf(Status)}
        onChange={(value) => change({ Status: textOf(value) })}
      />
      <Pick
        label="Source"
        choices={SOURCES}
        value={listOf(Source)}
        onChange={(value) => change({ Source: textOf(value) })}
      />
      <Pick
        label="Site"
        choices={sites}
        value={listOf(site)}
        onChange={(value) => change({ site: textOf(value) })}
      />
      <TimeRange search={{ last, from, to }} onChange={(range) => change(range)} />
      {filtered && (
        <Button
          variant="subtle"
          onClick={() =>
            change({
              Severity: undefined,
              Status: undefined,
              Source: undefined,
              Device: undefined,
              site: undefined,
              last: undefined,
              from: undefined,
              to: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </>
  );
}
