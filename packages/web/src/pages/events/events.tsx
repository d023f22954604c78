import type { Event } from '@rollcall/shared/api/incidents';
import { EVENT_SOURCES } from '@rollcall/shared/model';
import { useCallback, useMemo } from 'react';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, codeChoices, Filters, rangeOf, Views } from '../../components/filter/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Page, Split } from '../../components/page/index.ts';
import { EventStatus, eventText } from '../../components/show/index.ts';
import { selectColumn, usePagedList, useSelection, VirtualTable } from '../../components/table/index.ts';
import { useMay } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { COLUMNS_BESIDE, EVENT_COLUMNS, STATUSES } from './columns.tsx';
import { EventSide } from './event.tsx';
import { SelectedEvents } from './selected.tsx';

const SEVERITIES = [
  { value: '1', label: 'critical' },
  { value: '2', label: 'major or worse' },
  { value: '3', label: 'minor or worse' },
  { value: '4', label: 'warning or worse' },
];
const STATUS = codeChoices(STATUSES, (code) => <EventStatus status={code} />);
const SOURCES = choicesOf(EVENT_SOURCES);
const VIEWS = [
  { name: 'Open', search: { Status: '0,1', Severity: '4' } },
  { name: 'Not acknowledged', search: { Status: '0', Severity: '4' } },
  { name: 'Critical and major', search: { Status: '0,1', Severity: '2' } },
  { name: 'Changes', search: { Source: 'discovery' } },
  { name: 'Last 24 hours', search: { last: '24h' } },
  { name: 'All', search: {} },
];

export function Events() {
  const { search, change } = useUrlState('/events');
  const sites = useSiteChoices();
  const { event: picked, last, from, to, ...filters } = search;
  // Counted once for each choice: a range that moves with the clock would be another list every minute.
  const range = useMemo(() => rangeOf({ last, from, to }, Date.now()), [last, from, to]);
  const query = { ...filters, ...range };
  const source = usePagedList('events.list', query);
  const close = useCallback(() => change({ event: undefined }, true), [change]);
  const { event: _, ...viewed } = search;
  const may = useMay('events.acknowledge');
  const { sort: _sort, ...listed } = query;
  const selection = useSelection<Event>(listed);
  const columns = useMemo(() => {
    const shown = picked ? COLUMNS_BESIDE : EVENT_COLUMNS;
    return may ? [selectColumn(selection, eventText), ...shown] : shown;
  }, [may, selection, picked]);
  return (
    <Page
      title="Events"
      count={source.total}
      fill
      actions={<ExportMenu id="events.list" query={query} columns={EVENT_COLUMNS} name="events" />}
    >
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'Device', label: 'Device', placeholder: 'Device: name or address', width: 200 },
          { key: 'Severity', label: 'Severity', choices: SEVERITIES },
          { key: 'Status', label: 'Status', choices: STATUS, many: true },
          { key: 'Source', label: 'Source', choices: SOURCES },
          { key: 'site', label: 'Site', choices: sites },
        ]}
        range
      />
      {selection.items.length > 0 ? (
        <SelectedEvents selection={selection} query={query} total={source.total} />
      ) : (
        <Views list="events" search={viewed} builtIn={VIEWS} />
      )}
      <Split
        list={
          <VirtualTable
            label="Events"
            source={source}
            columns={columns}
            sort={search.sort ?? '-timestamp'}
            onSort={(sort) => change({ sort })}
            onSelect={may ? selection.toggle : undefined}
            onOpen={(event) => change({ event: event.id }, picked !== undefined)}
            empty={
              <Empty title="No event matches">
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
