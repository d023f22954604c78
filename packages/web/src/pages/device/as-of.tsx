/** The parts of a device's page as of an earlier moment. */
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { Empty } from '../../components/feedback/index.ts';
import { Panel, type Tab } from '../../components/page/index.ts';
import { CaseLink, DeviceStatus, duration, Fact, Facts } from '../../components/show/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';
import { bitrate } from '../../format.ts';
import { Hardware } from './hardware.tsx';
import { Described } from './summary.tsx';

type Then = NonNullable<DeviceDetail['asOf']>;
export type PastDevice = DeviceDetail & { asOf: Then };
interface Of {
  device: PastDevice;
}
type Port = Then['interfaces'][number];
type Neighbour = Then['neighbours'][number];
type Vlan = Then['vlans'][number];
type NotKnown = Then['notKnown'][number];

export const pastTabsOf = ({ asOf, entities }: PastDevice): Tab[] => [
  { id: 'summary', label: 'Summary' },
  { id: 'interfaces', label: 'Interfaces', count: asOf.interfaces.length },
  { id: 'hardware', label: 'Hardware', count: entities.length },
  { id: 'neighbours', label: 'Neighbours', count: asOf.neighbours.length },
  { id: 'tables', label: 'VLANs', count: asOf.vlans.length },
];

const NOT_KNOWN: readonly Column<NotKnown>[] = [
  { id: 'what', title: 'What', width: 'minmax(120px, 1fr)', narrow: true, wrap: true },
  { id: 'why', title: 'Why', width: 'minmax(160px, 1.4fr)', narrow: true, wrap: true },
];

const Summary = ({ device }: Of) => (
  <div className="columns">
    <Panel title="Identity">
      <Described device={device} />
    </Panel>
    <div className="stack">
      <Panel title="State">
        <Facts>
          <Fact name="Status">
            <DeviceStatus status={device.status} />
          </Fact>
          <Fact name="Uptime">{device.uptimeSeconds !== null && duration(device.uptimeSeconds)}</Fact>
          <Fact name="Open events">{device.openEvents}</Fact>
          <Fact name="Open cases">
            {device.openCases.map(({ id, number, title }) => (
              <CaseLink key={id} id={id}>
                #{number} {title}{' '}
              </CaseLink>
            ))}
          </Fact>
        </Facts>
      </Panel>
      <Panel title="Not recorded for that time">
        <ShortTable
          label="Not recorded for that time"
          items={device.asOf.notKnown}
          columns={NOT_KNOWN}
          rowKey={({ what }) => what}
          empty={<Empty title="Everything was recorded" />}
        />
      </Panel>
    </div>
  </div>
);

const portColumns = (at: number): readonly Column<Port>[] => [
  { id: 'name', title: 'Name', width: 'minmax(110px, 0.8fr)', narrow: true },
  { id: 'alias', title: 'Alias', width: 'minmax(100px, 1.2fr)', narrow: true },
  {
    id: 'speed',
    title: 'Speed',
    width: '84px',
    numeric: true,
    narrow: true,
    value: ({ speedBps }) => speedBps,
    cell: ({ speedBps }) => (speedBps === null ? '' : bitrate(speedBps)),
  },
  { id: 'adminStatus', title: 'Admin', width: '64px' },
  { id: 'duplex', title: 'Duplex', width: '64px' },
  { id: 'vlan', title: 'VLAN', width: '56px', numeric: true, narrow: true },
  {
    id: 'endpoints',
    title: 'Endpoints',
    width: '80px',
    numeric: true,
    cell: ({ id, endpoints }) =>
      endpoints > 0 && (
        <Link to="/endpoints" search={{ interface: id, at: String(at) }}>
          {endpoints}
        </Link>
      ),
  },
  { id: 'taggedVlans', title: 'Tagged', width: '90px', value: ({ taggedVlans }) => taggedVlans.join(', ') },
  { id: 'aggregate', title: 'Aggregate', width: '80px' },
  { id: 'mtu', title: 'MTU', width: '56px', numeric: true },
  { id: 'macAddress', title: 'MAC address', width: '138px', mono: true },
  { id: 'type', title: 'Type', width: '130px' },
  { id: 'ifIndex', title: 'ifIndex', width: '62px', numeric: true },
];

const Interfaces = ({ device: { asOf } }: Of) => (
  <Panel title="Interfaces">
    <ShortTable
      label="Interfaces"
      items={asOf.interfaces}
      columns={portColumns(asOf.at)}
      rowKey={({ id }) => id}
      empty={<Empty title="No interfaces were known" />}
    />
  </Panel>
);

const NEIGHBOURS: readonly Column<Neighbour>[] = [
  { id: 'port', title: 'Local port', width: 'minmax(100px, 0.7fr)', narrow: true },
  { id: 'sysName', title: 'Neighbour', width: 'minmax(140px, 1fr)', narrow: true },
  { id: 'remotePort', title: 'Remote port', width: 'minmax(100px, 0.7fr)', narrow: true },
  { id: 'chassisId', title: 'Chassis', width: 'minmax(140px, 1fr)', mono: true },
];

const Neighbours = ({ device: { asOf } }: Of) => (
  <Panel title="Neighbours" note="as this device reported them">
    <ShortTable
      label="Neighbours"
      items={asOf.neighbours}
      columns={NEIGHBOURS}
      rowKey={({ port, chassisId, sysName, remotePort }) => `${port} ${chassisId} ${sysName} ${remotePort}`}
      empty={<Empty title="No neighbours were known" />}
    />
  </Panel>
);

const VLANS: readonly Column<Vlan>[] = [
  { id: 'vlan', title: 'VLAN', width: '56px', numeric: true, narrow: true },
  { id: 'name', title: 'Name', width: 'minmax(90px, 1fr)', narrow: true },
];

const Vlans = ({ device: { asOf } }: Of) => (
  <Panel title="VLANs">
    <ShortTable
      label="VLANs"
      items={asOf.vlans}
      columns={VLANS}
      rowKey={({ vlan }) => String(vlan)}
      empty={<Empty title="No VLANs were known" />}
    />
  </Panel>
);

/** By tab; what has no past leads to the first. */
export const PAST: Readonly<Record<string, ComponentType<Of>>> = {
  summary: Summary,
  interfaces: Interfaces,
  hardware: Hardware,
  neighbours: Neighbours,
  tables: Vlans,
};
export const PastSummary = Summary;
