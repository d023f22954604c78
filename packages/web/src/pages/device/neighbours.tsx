import type { DeviceLink as Cable, DeviceDetail, DeviceNeighbour } from '@rollcall/shared/api/inventory';
import { Link } from '@tanstack/react-router';
import { Empty } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { DeviceLink, DeviceStatus } from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { protocolName } from '../../format.ts';

/** Each cable once, whichever end told of it and by how many protocols. */
const CABLES: readonly Column<Cable>[] = [
  { id: 'port', title: 'Local port', width: 'minmax(100px, 0.7fr)', narrow: true },
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(140px, 1fr)',
    narrow: true,
    value: (link) => link.name,
    cell: (link) => <DeviceLink id={link.deviceId}>{link.name}</DeviceLink>,
  },
  { id: 'farPort', title: 'Remote port', width: 'minmax(100px, 0.7fr)', narrow: true },
  {
    id: 'status',
    title: 'Link',
    width: '90px',
    value: (link) => link.status,
    cell: (link) => <DeviceStatus status={link.status} />,
  },
  {
    id: 'protocols',
    title: 'Learnt from',
    width: '120px',
    value: (link) => link.protocols.map(protocolName).join(', '),
  },
  timeColumn({ id: 'seen', title: 'Last seen', at: (link) => link.lastSeen }),
];

const COLUMNS: readonly Column<DeviceNeighbour>[] = [
  {
    id: 'local',
    title: 'Local port',
    width: 'minmax(100px, 0.7fr)',
    narrow: true,
    value: (far) => far.localPort,
  },
  {
    id: 'name',
    title: 'Neighbour',
    width: 'minmax(140px, 1fr)',
    narrow: true,
    cell: (far) =>
      far.deviceId ? (
        <DeviceLink id={far.deviceId}>{far.name}</DeviceLink>
      ) : (
        <>
          {far.name} <span className="quiet">not in the inventory</span>
        </>
      ),
  },
  { id: 'port', title: 'Remote port', width: 'minmax(100px, 0.7fr)', narrow: true },
  { id: 'platform', title: 'Platform', width: 'minmax(120px, 1fr)' },
  {
    id: 'addresses',
    title: 'Addresses',
    width: 'minmax(120px, 0.8fr)',
    mono: true,
    value: (far) => far.addresses.join(' '),
  },
  { id: 'protocol', title: 'Learnt from', width: '84px', value: (far) => protocolName(far.protocol) },
  timeColumn({ id: 'seen', title: 'Last seen', at: (far) => far.lastSeen }),
];

export function Neighbours({ device }: { device: DeviceDetail }) {
  return (
    <>
      <Panel
        title="Connected to"
        note="as either end sees it"
        end={
          <Link to="/topology" search={{ site: device.siteId, device: device.id }}>
            Show on the map
          </Link>
        }
      >
        <ShortTable
          label="Connected to"
          items={device.links}
          columns={CABLES}
          rowKey={(link) => `${link.port} ${link.deviceId} ${link.farPort}`}
          empty={
            <Empty title="No connection to a device of the inventory is known">
              They are read from LLDP and CDP by scans and by monitoring, and from forwarding tables.
            </Empty>
          }
        />
      </Panel>
      {device.neighbours.length > 0 && <Reported device={device} />}
    </>
  );
}

function Reported({ device }: { device: DeviceDetail }) {
  return (
    <Panel title="Neighbours" note="as this device reports them, one row per protocol">
      <ShortTable
        label="Neighbours"
        items={device.neighbours}
        columns={COLUMNS}
        rowKey={(far) => `${far.localPort} ${far.name} ${far.port} ${far.protocol}`}
        empty={<Empty title="No neighbours are known" />}
      />
    </Panel>
  );
}
