import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Panel } from '../../components/page/index.ts';
import {
  CaseStatus,
  ChangedLine,
  CopyButton,
  DeviceClassLabel,
  DeviceLink,
  duration,
  Facts,
  Severity,
  Time,
} from '../../components/show/index.ts';
import classes from './device.module.css';

const answers = (yes: boolean | null): string =>
  yes === null ? 'not asked' : yes ? 'answers' : 'does not answer';

/** What is known, where it stands in the network, and what is wrong with it. */
export function Summary({ device }: { device: DeviceDetail }) {
  return (
    <div className={classes.grid}>
      <div className="stack">
        <Panel title="Facts">
          <Facts facts={factsOf(device)} />
        </Panel>
      </div>
      <div className="stack">
        <Panel title="Presence">
          <Facts facts={presenceOf(device)} />
        </Panel>
        <OpenCases device={device} />
        <OpenEvents device={device} />
        <NextTo device={device} />
        <Lately device={device} />
      </div>
    </div>
  );
}

const Copied = ({ text, label }: { text: string; label: string }) => (
  <>
    <span className="mono">{text}</span>
    <CopyButton text={text} label={`Copy ${label}`} />
  </>
);

const factsOf = (device: DeviceDetail) =>
  [
    ['Class', <DeviceClassLabel key="class" class={device.class} />],
    ['Vendor', device.vendor],
    ['Model', device.model],
    ['System', [device.os, device.osVersion].filter(Boolean).join(' ')],
    [
      'Serial number',
      device.serialNumber && <Copied key="serial" text={device.serialNumber} label="serial number" />,
    ],
    [
      'Addresses',
      <span key="addresses" className={classes.addresses}>
        {device.addresses.map((address) => (
          <span key={address} className="mono">
            {address}
          </span>
        ))}
      </span>,
    ],
    ['MAC address', device.macAddress && <Copied key="mac" text={device.macAddress} label="MAC address" />],
    ['Location', device.location],
    ['Contact', device.contact],
    ['sysName', device.sysName],
    [
      'sysDescr',
      device.sysDescr && (
        <span key="descr" className={classes.description}>
          {device.sysDescr}
        </span>
      ),
    ],
    [
      'sysObjectID',
      device.sysObjectId && (
        <span key="oid" className="mono">
          {device.sysObjectId}
        </span>
      ),
    ],
  ] as const;

const presenceOf = (device: DeviceDetail) =>
  [
    ['Watched', device.monitor === 1 ? 'yes' : 'no: seen by scans only'],
    [
      'ICMP',
      `${answers(device.reachable.icmp)}${device.rttMs === null ? '' : `, ${device.rttMs.toFixed(2)} ms`}`,
    ],
    ['SNMP', answers(device.reachable.snmp)],
    ['Up for', device.uptimeSeconds === null ? null : duration(device.uptimeSeconds)],
    ['Last seen', <Time key="last" at={device.lastSeen} />],
    ['First seen', <Time key="first" at={device.firstSeen} />],
    [
      'Seen by',
      device.collectorId && (
        <Link key="collector" to="/collectors" search={{ collector: device.collectorId }} className="plain">
          {device.collector}
        </Link>
      ),
    ],
    [
      'Last scan',
      device.lastScanId && (
        <Link key="scan" to="/discovery/scans/$id" params={{ id: device.lastScanId }}>
          Show the scan
        </Link>
      ),
    ],
  ] as const;

function OpenCases({ device }: { device: DeviceDetail }) {
  if (device.openCases.length === 0) return null;
  return (
    <Panel title="Open cases">
      {device.openCases.map((one) => (
        <div key={one.id} className={classes.entry}>
          <Severity code={one.severity} word={false} />
          <Link to="/cases/$id" params={{ id: one.id }} className="plain cut">
            #{one.number} {one.title}
          </Link>
          <CaseStatus status={one.status} />
        </div>
      ))}
    </Panel>
  );
}

function OpenEvents({ device }: { device: DeviceDetail }) {
  const events = useQuery(
    apiQuery('events.list', {
      query: { Device: device.id, Status: '0,1', Severity: 4, sort: 'severity', pageSize: 6 },
    }),
  );
  if (!events.data || events.data.totalCount === 0) return null;
  return (
    <Panel
      title="Open events"
      end={
        <Link to="." search={{ tab: 'events' }}>
          All {events.data.totalCount}
        </Link>
      }
    >
      {events.data.data.map((event) => (
        <div key={event.id} className={classes.entry}>
          <Severity code={event.severity} word={false} />
          <Link to="/events" search={{ event: event.id, Device: device.id }} className="plain cut">
            {event.message}
          </Link>
          <Time at={event.firstSeen} />
        </div>
      ))}
    </Panel>
  );
}

function NextTo({ device }: { device: DeviceDetail }) {
  if (device.neighbours.length === 0) return null;
  return (
    <Panel
      title="Next to"
      end={
        <Link to="." search={{ tab: 'neighbours' }}>
          All {device.neighbours.length}
        </Link>
      }
    >
      {device.neighbours.slice(0, 6).map((far) => (
        <div key={`${far.localPort} ${far.name} ${far.port} ${far.protocol}`} className={classes.entry}>
          <span className="quiet">{far.localPort}</span>
          <span className="cut">
            {far.deviceId ? <DeviceLink id={far.deviceId}>{far.name}</DeviceLink> : far.name}{' '}
            <span className="quiet">{far.port}</span>
          </span>
          <span className="quiet">{far.protocol}</span>
        </div>
      ))}
    </Panel>
  );
}

function Lately({ device }: { device: DeviceDetail }) {
  const history = useQuery(
    apiQuery('devices.history', { params: { id: device.id }, query: { pageSize: 5 } }),
  );
  if (!history.data || history.data.data.length === 0) return null;
  return (
    <Panel
      title="Lately"
      end={
        <Link to="." search={{ tab: 'history' }}>
          History
        </Link>
      }
    >
      {history.data.data.map((entry) => (
        <div key={entry.eventId} className={classes.entry}>
          <Severity code={entry.severity} word={false} />
          <span className="cut">
            {entry.message} <ChangedLine before={entry.before} after={entry.after} />
          </span>
          <Time at={entry.at} />
        </div>
      ))}
    </Panel>
  );
}
