import type { Event } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { EntriesPanel, Entry, Panel } from '../../components/page/index.ts';
import {
  ChangeText,
  CollectorLink,
  CollectorStatus,
  EventLink,
  EventStatus,
  eventText,
  Progress,
  ScanLink,
  ScanStatus,
  Severity,
  Time,
} from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { count, plural } from '../../format.ts';

interface Here {
  site: string | undefined;
}
const at = (site: string | undefined) => (site ? { site } : {});

const EVENT_COLUMNS: readonly Column<Event>[] = [
  {
    id: 'severity',
    title: 'Severity',
    width: '78px',
    narrow: true,
    cell: (event) => <Severity code={event.severity} />,
  },
  {
    id: 'message',
    title: 'Event',
    width: 'minmax(160px, 1fr)',
    narrow: true,
    value: eventText,
    cell: (event) => (
      <EventLink id={event.id} among={{ Status: '0,1' }} className="plain">
        {eventText(event)}
      </EventLink>
    ),
  },
  { id: 'status', title: 'Status', width: '108px', cell: (event) => <EventStatus status={event.status} /> },
  timeColumn({ id: 'since', title: 'Since', narrow: true, at: (event) => event.firstSeen }),
];

export function OpenEvents({ site, monitored }: Here & { monitored: boolean }) {
  const navigate = useNavigate();
  const query = { site, Status: '0,1', Severity: '4', sort: 'severity', pageSize: 10 } as const;
  const events = useQuery(apiQuery('events.list', { query }));
  return (
    <Panel
      title="Open events"
      note="worst first"
      end={
        <Link to="/events" search={{ ...at(site), Status: '0,1', Severity: '4' }}>
          All {events.data && count(events.data.totalCount)}
        </Link>
      }
    >
      <ShortTable
        label="Open events"
        items={events.data?.data ?? []}
        columns={EVENT_COLUMNS}
        onOpen={(event) => void navigate({ to: '/events', search: { event: event.id, Status: '0,1' } })}
        empty={
          events.data && (
            <p className="none">
              {monitored ? 'Nothing is wrong.' : 'No device is monitored: nothing is known.'}
            </p>
          )
        }
      />
    </Panel>
  );
}

export function Scans({ site }: Here) {
  const query = { site, status: 'queued,running', pageSize: 5, sort: '-createdAt' } as const;
  return (
    <EntriesPanel
      title="Scans under way"
      query={useQuery(apiQuery('scans.list', { query }))}
      empty="No scan is running."
      end={
        <Link to="/discovery" search={at(site)}>
          All
        </Link>
      }
    >
      {(scan) => (
        <Entry
          key={scan.id}
          end={<ScanStatus status={scan.status} />}
          under={
            scan.status === 'queued' ? (
              <span>{scan.statusReason}</span>
            ) : (
              <>
                <Progress done={scan.addressesProbed} of={scan.addressesTotal} label="Addresses probed" />
                <span>
                  {count(scan.addressesProbed)} of {count(scan.addressesTotal)},{' '}
                  {plural(scan.devicesFound, 'device')}
                </span>
              </>
            )
          }
        >
          <ScanLink id={scan.id} className="plain">
            {scan.site} · <span className="mono">{scan.targets}</span>
          </ScanLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}

export function Changes({ site }: Here) {
  const changes = { Source: 'discovery' } as const;
  return (
    <EntriesPanel
      title="Recent changes"
      query={useQuery(apiQuery('events.list', { query: { ...changes, site, pageSize: 9 } }))}
      empty="Scans have found nothing new or different yet."
      end={
        <Link to="/events" search={{ ...at(site), ...changes }}>
          All
        </Link>
      }
    >
      {(event) => (
        <Entry key={event.id} end={<Time at={event.timestamp} />}>
          <EventLink id={event.id} among={changes} className="plain" title={eventText(event)}>
            <ChangeText change={{ ...event, before: event.details.before, after: event.details.after }} />
          </EventLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}

export function CollectorsPanel({ site }: Here) {
  const query = { site, status: 'active,quarantined', pageSize: 12, sort: 'name' } as const;
  return (
    <EntriesPanel
      title="Collectors"
      query={useQuery(apiQuery('collectors.list', { query }))}
      empty="No collector has joined yet."
      end={
        <Link to="/collectors" search={at(site)}>
          All
        </Link>
      }
    >
      {({ health: { outbox }, ...collector }) => (
        <Entry
          key={collector.id}
          end={<CollectorStatus collector={collector} />}
          under={outbox && outbox.depth > 0 && `${plural(outbox.depth, 'observation')} queued`}
        >
          <CollectorLink id={collector.id} className="plain">
            {collector.name}
            <span className="quiet"> · {collector.site}</span>
          </CollectorLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}
