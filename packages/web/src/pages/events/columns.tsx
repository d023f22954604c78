import type { Event } from '@rollcall/shared/api/incidents';
import { DeviceLink, EventStatus, eventText, Severity } from '../../components/show/index.ts';
import { type Column, timeColumn } from '../../components/table/index.ts';

export const STATUSES = ['open', 'acknowledged', 'closed'] as const;

export const EVENT_COLUMNS: readonly Column<Event>[] = [
  {
    id: 'severity',
    title: 'Severity',
    width: '80px',
    sort: 'severity',
    narrow: true,
    cell: (event) => <Severity code={event.severity} />,
  },
  {
    id: 'message',
    title: 'Event',
    width: 'minmax(200px, 2.4fr)',
    narrow: true,
    value: eventText,
    cell: (event) => (
      <span title={eventText(event)} data-lines>
        {eventText(event)}
      </span>
    ),
  },
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(110px, 1fr)',
    cell: (event) => event.deviceId && <DeviceLink id={event.deviceId}>{event.device}</DeviceLink>,
  },
  {
    id: 'status',
    title: 'Status',
    width: '112px',
    value: (event) => STATUSES[event.status],
    cell: (event) => <EventStatus status={event.status} />,
  },
  { id: 'kind', title: 'Kind', width: 'minmax(120px, 0.7fr)' },
  { id: 'source', title: 'Source', width: '72px' },
  {
    id: 'count',
    title: 'Count',
    width: '46px',
    numeric: true,
    cell: (event) => (event.count > 1 ? event.count.toLocaleString('en') : ''),
  },
  timeColumn({
    id: 'first',
    title: 'Since',
    width: '84px',
    sort: 'firstSeen',
    at: (event) => event.firstSeen,
  }),
  timeColumn({
    id: 'last',
    title: 'Last seen',
    width: '84px',
    sort: 'timestamp',
    narrow: true,
    at: (event) => event.timestamp,
  }),
];

/** Beside an event: what its side does not say, with the room that leaves to the words. */
export const COLUMNS_BESIDE = EVENT_COLUMNS.filter(
  ({ id }) => !['kind', 'source', 'count', 'first'].includes(id),
);
