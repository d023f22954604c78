import type { FieldValue } from '@rollcall/shared/api/annotations';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { apiQuery } from '../../api.ts';
import { EntriesPanel, Entry, Panel } from '../../components/page/index.ts';
import {
  CaseLink,
  CaseStatus,
  CollectorLink,
  CopyButton,
  DeviceClassLabel,
  DeviceLink,
  duration,
  EventLink,
  Fact,
  Facts,
  ScanLink,
  Severity,
  Tags,
  Time,
  TimeFact,
} from '../../components/show/index.ts';
import { plural, protocolName } from '../../format.ts';
import classes from './device.module.css';
import { MomentMark, MomentText } from './history.tsx';
import { LastDays } from './last-days.tsx';
import { momentsOf } from './moments.ts';

const answers = (yes: boolean | null): string =>
  yes === null ? 'not asked' : yes ? 'answers' : 'does not answer';

/** What is wrong with it, what is known, and where it stands in the network. */
export function Summary({ device }: { device: DeviceDetail }) {
  return (
    <div className="stack">
      <OpenCases device={device} />
      <OpenEvents device={device} />
      <div className="columns">
        <Panel title="Identity">
          <Described device={device} />
        </Panel>
        <div className="stack">
          <Panel title="Reachability">
            <Reachability device={device} />
          </Panel>
          <LastDays device={device} />
          <ConnectedTo device={device} />
          <RecentActivity device={device} />
        </div>
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

/** Who set it, where a person did. */
function SetBy({ device, of }: { device: DeviceDetail; of: string }) {
  const origin = device.origins[of];
  if (origin?.from !== 'person') return null;
  return (
    <span className="quiet">
      {' '}
      set by {origin.by ?? 'a person'} {origin.at !== null && <Time at={origin.at} />}
    </span>
  );
}

const shown = (value: FieldValue): ReactNode =>
  typeof value === 'boolean' ? (
    value ? (
      'yes'
    ) : (
      'no'
    )
  ) : /^https?:/.test(String(value)) ? (
    <a href={String(value)} target="_blank" rel="noreferrer">
      {value}
    </a>
  ) : (
    value
  );

/** What people say of it. */
const Annotated = ({ device }: { device: DeviceDetail }) => (
  <>
    {device.origins.name?.from === 'person' && (
      <Fact name="Name">
        {device.name}
        <SetBy device={device} of="name" />
      </Fact>
    )}
    {device.tags.length > 0 && (
      <Fact name="Tags">
        <Tags tags={device.tags} />
        <SetBy device={device} of="tags" />
      </Fact>
    )}
    {Object.entries(device.fields).map(([name, value]) => (
      <Fact key={name} name={name}>
        {shown(value)}
        <SetBy device={device} of={`fields.${name}`} />
      </Fact>
    ))}
    {device.note && (
      <Fact name="Note">
        <span className={classes.note}>{device.note}</span>
        <SetBy device={device} of="note" />
      </Fact>
    )}
  </>
);

export const Described = ({ device }: { device: DeviceDetail }) => (
  <Facts>
    <Annotated device={device} />
    <Fact name="Class">
      <DeviceClassLabel class={device.class} />
      <SetBy device={device} of="class" />
    </Fact>
    <Fact name="Vendor">{device.vendor}</Fact>
    <Fact name="Model">{device.model}</Fact>
    <Fact name="System">{[device.os, device.osVersion].filter(Boolean).join(' ')}</Fact>
    <Fact name="Serial number">
      {device.serialNumber && <Copied text={device.serialNumber} label="serial number" />}
    </Fact>
    <Fact name="Addresses">
      <span className={classes.addresses}>
        {device.addresses.map((address) => (
          <span key={address} className="mono">
            {address}
          </span>
        ))}
      </span>
    </Fact>
    <Fact name="MAC address">
      {device.macAddress && <Copied text={device.macAddress} label="MAC address" />}
    </Fact>
    <Fact name="Location">{device.location}</Fact>
    <Fact name="Contact">{device.contact}</Fact>
    <Fact name="sysName">{device.sysName}</Fact>
    <Fact name="sysDescr">
      {device.sysDescr && <span className={classes.description}>{device.sysDescr}</span>}
    </Fact>
    <Fact name="sysObjectID">{device.sysObjectId && <span className="mono">{device.sysObjectId}</span>}</Fact>
  </Facts>
);

const Reachability = ({ device }: { device: DeviceDetail }) => (
  <Facts>
    <Fact name="Monitored">{device.monitor === 1 ? 'yes' : 'no: seen by scans only'}</Fact>
    <Fact name="ICMP">
      {answers(device.reachable.icmp)}
      {device.reachable.icmp && device.rttMs !== null && `, ${device.rttMs.toFixed(2)} ms`}
    </Fact>
    <Fact name="SNMP">{answers(device.reachable.snmp)}</Fact>
    <Fact name="Uptime">{device.uptimeSeconds !== null && duration(device.uptimeSeconds)}</Fact>
    <TimeFact name="Last seen" at={device.lastSeen} />
    <TimeFact name="First seen" at={device.firstSeen} />
    <Fact name="Seen by">
      {device.collectorId && (
        <CollectorLink id={device.collectorId} className="plain">
          {device.collector}
        </CollectorLink>
      )}
    </Fact>
    <Fact name="Last scan">
      {device.lastScanId && <ScanLink id={device.lastScanId}>Show the scan</ScanLink>}
    </Fact>
  </Facts>
);

/** Leads to another tab of the page. */
const TabLink = ({ tab, children }: { tab: string; children: ReactNode }) => (
  <Link to="." search={{ tab }}>
    {children}
  </Link>
);

function OpenCases({ device }: { device: DeviceDetail }) {
  if (device.openCases.length === 0) return null;
  return (
    <Panel title="Open cases">
      {device.openCases.map((one) => (
        <Entry
          key={one.id}
          start={<Severity code={one.severity} word={false} />}
          end={<CaseStatus status={one.status} />}
        >
          <CaseLink id={one.id} className="plain">
            #{one.number} {one.title}
          </CaseLink>
        </Entry>
      ))}
    </Panel>
  );
}

function OpenEvents({ device }: { device: DeviceDetail }) {
  const query = { Device: device.id, Status: '0,1', Severity: 4, sort: 'severity', pageSize: 6 } as const;
  const events = useQuery(apiQuery('events.list', { query }));
  return (
    <EntriesPanel
      title="Open events"
      query={events}
      end={<TabLink tab="events">All {events.data?.totalCount}</TabLink>}
    >
      {(event) => (
        <Entry
          key={event.id}
          start={<Severity code={event.severity} word={false} />}
          end={<Time at={event.firstSeen} />}
        >
          <EventLink id={event.id} among={{ Device: device.id }} className="plain">
            {event.message}
          </EventLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}

/** What is at the other end of its cables: `access-2 Gi1/0/1`. */
function ConnectedTo({ device }: { device: DeviceDetail }) {
  const strangers = device.neighbours.filter(({ deviceId }) => deviceId === null).length;
  if (device.links.length + strangers === 0) return null;
  return (
    <Panel
      title="Connected to"
      end={<TabLink tab="neighbours">All {device.links.length + strangers}</TabLink>}
    >
      {device.links.slice(0, 6).map((link) => (
        <Entry
          key={`${link.port} ${link.deviceId} ${link.farPort}`}
          start={<span className="quiet">{link.port}</span>}
          end={<span className="quiet">{link.protocols.map(protocolName).join(', ')}</span>}
        >
          <DeviceLink id={link.deviceId}>{link.name}</DeviceLink>{' '}
          <span className="quiet">{link.farPort}</span>
        </Entry>
      ))}
      {device.links.length === 0 && (
        <p className="quiet">{plural(strangers, 'neighbour')} that are not in the inventory</p>
      )}
    </Panel>
  );
}

/** Entries of its recent activity. */
const RECENT = 5;

function RecentActivity({ device }: { device: DeviceDetail }) {
  const request = { params: { id: device.id }, query: { pageSize: RECENT } };
  const recent = useQuery({
    ...apiQuery('devices.history', request),
    select: ({ data }) => ({ data: momentsOf(data).slice(0, RECENT) }),
  });
  return (
    <EntriesPanel title="Recent activity" query={recent} end={<TabLink tab="history">History</TabLink>}>
      {(moment) => (
        <Entry
          key={`${moment.entry.eventId} ${moment.lasted}`}
          start={<MomentMark {...moment} word={false} />}
          end={<Time at={moment.at} />}
        >
          <MomentText {...moment} />
        </Entry>
      )}
    </EntriesPanel>
  );
}
