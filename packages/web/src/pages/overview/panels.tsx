import type { Event } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Panel } from '../../components/page/index.ts';
import {
  CollectorStatus,
  EventStatus,
  Progress,
  ScanStatus,
  Severity,
  Time,
} from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import classes from './overview.module.css';

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
    value: (event) => event.message,
    cell: (event) => (
      <Link to="/events" search={{ event: event.id, Status: '0,1' }} className="plain">
        {event.message}
      </Link>
    ),
  },
  { id: 'status', title: 'Status', width: '108px', cell: (event) => <EventStatus status={event.status} /> },
  timeColumn({ id: 'since', title: 'Since', narrow: true, at: (event) => event.firstSeen }),
];

export function OpenEvents({ site }: Here) {
  const navigate = useNavigate();
  const query = { site, Status: '0,1', Severity: '4', sort: 'severity', pageSize: 10 } as const;
  const events = useQuery(apiQuery('events.list', { query }));
  return (
    <Panel
      title="Open events"
      note="worst first"
      end={
        <Link to="/events" search={{ ...at(site), Status: '0,1', Severity: '4' }}>
          All {events.data?.totalCount.toLocaleString('en')}
        </Link>
      }
    >
      <ShortTable
        label="Open events"
        items={events.data?.data ?? []}
        columns={EVENT_COLUMNS}
        onOpen={(event) => void navigate({ to: '/events', search: { event: event.id, Status: '0,1' } })}
        empty={events.data && <p className={classes.quiet}>Nothing is wrong.</p>}
      />
    </Panel>
  );
}

export function Scans({ site }: Here) {
  const scans = useQuery(
    apiQuery('scans.list', { query: { site, status: 'queued,running', pageSize: 5, sort: '-createdAt' } }),
  );
  const items = scans.data?.data ?? [];
  return (
    <Panel
      title="Scans under way"
      end={
        <Link to="/discovery" search={at(site)}>
          All
        </Link>
      }
    >
      {scans.data && items.length === 0 && <p className={classes.quiet}>No scan is running.</p>}
      {items.map((scan) => (
        <div key={scan.id} className={classes.entry}>
          <Link to="/discovery/scans/$id" params={{ id: scan.id }} className="plain cut">
            {scan.site} · <span className="mono">{scan.targets}</span>
          </Link>
          <ScanStatus status={scan.status} />
          <span className={classes.under}>
            {scan.status === 'queued' ? (
              <span>{scan.statusReason}</span>
            ) : (
              <>
                <Progress done={scan.addressesProbed} of={scan.addressesTotal} label="Addresses probed" />
                <span>
                  {scan.addressesProbed.toLocaleString('en')} of {scan.addressesTotal.toLocaleString('en')},{' '}
                  {scan.devicesFound.toLocaleString('en')} devices
                </span>
              </>
            )}
          </span>
        </div>
      ))}
    </Panel>
  );
}

export function Changes({ site }: Here) {
  const changes = useQuery(apiQuery('events.list', { query: { site, Source: 'discovery', pageSize: 9 } }));
  const items = changes.data?.data ?? [];
  return (
    <Panel
      title="Recent changes"
      end={
        <Link to="/events" search={{ ...at(site), Source: 'discovery' }}>
          All
        </Link>
      }
    >
      {changes.data && items.length === 0 && (
        <p className={classes.quiet}>Scans have found nothing new or different yet.</p>
      )}
      {items.map((event) => (
        <div key={event.id} className={classes.entry}>
          <Link
            to="/events"
            search={{ event: event.id, Source: 'discovery' }}
            className="plain cut"
            title={event.message}
          >
            {event.message}
          </Link>
          <Time at={event.timestamp} />
        </div>
      ))}
    </Panel>
  );
}

export function CollectorsPanel({ site }: Here) {
  const collectors = useQuery(
    apiQuery('collectors.list', {
      query: { site, status: 'active,quarantined', pageSize: 12, sort: 'name' },
    }),
  );
  const items = collectors.data?.data ?? [];
  return (
    <Panel
      title="Collectors"
      end={
        <Link to="/collectors" search={at(site)}>
          All
        </Link>
      }
    >
      {collectors.data && items.length === 0 && <p className={classes.quiet}>No collector has joined yet.</p>}
      {items.map((collector) => (
        <div key={collector.id} className={classes.entry}>
          <Link to="/collectors" search={{ collector: collector.id }} className="plain cut">
            {collector.name}
            <span className="quiet"> · {collector.site}</span>
          </Link>
          <CollectorStatus collector={collector} />
          {(collector.health.outbox?.depth ?? 0) > 0 && (
            <span className={classes.under}>
              <span>
                {plural(collector.health.outbox?.depth ?? 0, 'observation waits', 'observations wait')}
              </span>
            </span>
          )}
        </div>
      ))}
    </Panel>
  );
}
