import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { ArpEntry, DeviceVlans, DeviceVrfs } from '@rollcall/shared/api/tables';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { Time } from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import { runs } from './runs.ts';

/** ARP entries that are shown here. */
const SHOWN = 200;

type Vlan = DeviceVlans['vlans'][number];
type Port = Vlan['untagged'][number];
type Vrf = DeviceVrfs['vrfs'][number];

const portsText = (ports: readonly Port[]): string =>
  runs(ports.map(({ port, ifIndex }) => port ?? `ifIndex ${ifIndex}`)).join(', ');

const VLANS: readonly Column<Vlan>[] = [
  { id: 'vlan', title: 'VLAN', width: '56px', numeric: true, narrow: true },
  { id: 'name', title: 'Name', width: 'minmax(90px, 0.6fr)', narrow: true },
  {
    id: 'untagged',
    title: 'Untagged ports',
    width: 'minmax(120px, 1.2fr)',
    narrow: true,
    wrap: true,
    value: ({ untagged }) => portsText(untagged),
  },
  {
    id: 'tagged',
    title: 'Tagged ports',
    width: 'minmax(120px, 1.2fr)',
    narrow: true,
    wrap: true,
    value: ({ tagged }) => portsText(tagged),
  },
];
const ARP: readonly Column<ArpEntry>[] = [
  { id: 'address', title: 'IP address', width: 'minmax(112px, 0.8fr)', mono: true, narrow: true },
  {
    id: 'mac',
    title: 'MAC address',
    width: '138px',
    mono: true,
    narrow: true,
    cell: ({ mac }) => (
      <Link to="/endpoints" search={{ mac, endpoint: mac }} className="plain">
        {mac}
      </Link>
    ),
  },
  { id: 'maker', title: 'Vendor', width: 'minmax(100px, 0.8fr)' },
  { id: 'port', title: 'Interface', width: 'minmax(90px, 0.8fr)', value: (one) => portsText([one]) },
  timeColumn({ id: 'since', title: 'Since', at: ({ since }) => since }),
];
const VRFS: readonly Column<Vrf>[] = [
  { id: 'name', title: 'VRF', width: 'minmax(90px, 0.6fr)', narrow: true },
  {
    id: 'addresses',
    title: 'Addresses',
    width: 'minmax(140px, 1.2fr)',
    mono: true,
    narrow: true,
    wrap: true,
    value: ({ addresses }) =>
      addresses
        .map(({ address, prefixLength }) => (prefixLength === null ? address : `${address}/${prefixLength}`))
        .join(', '),
  },
  { id: 'arp', title: 'ARP entries', width: '90px', numeric: true, value: ({ arp }) => arp.length },
  { id: 'more', title: 'Left out', width: '70px', numeric: true, value: ({ more }) => more || '' },
];

/** What a switch or router keeps in its VLAN, ARP and VRF tables. */
export function Tables({ device: { id } }: { device: DeviceDetail }) {
  const params = { id };
  const vlans = useQuery(apiQuery('devices.vlans', { params }));
  const arp = useQuery(apiQuery('devices.arp', { params, query: { pageSize: SHOWN } }));
  const vrfs = useQuery(apiQuery('devices.vrfs', { params }));
  return (
    <>
      <Loaded query={vlans}>
        {({ data }) => (
          <Panel title="VLANs" note={<Read table={data} />}>
            <ShortTable
              label="VLANs"
              items={data.vlans}
              columns={VLANS}
              rowKey={({ vlan }) => String(vlan)}
              empty={<Unread what="VLANs" />}
            />
          </Panel>
        )}
      </Loaded>
      <Loaded query={arp}>
        {({ data, totalCount }) => (
          <Panel
            title="ARP and ND"
            note={totalCount > data.length ? `${data.length} of ${count(totalCount)}` : undefined}
            end={
              <Link to="/endpoints" search={{ device: id, current: '1' }}>
                All endpoints
              </Link>
            }
          >
            <ShortTable
              label="ARP and ND"
              items={data}
              columns={ARP}
              rowKey={({ address, ifIndex }) => `${address} ${ifIndex}`}
              empty={<Unread what="ARP entries" />}
            />
          </Panel>
        )}
      </Loaded>
      <Loaded query={vrfs}>
        {({ data }) =>
          data.vrfs.length > 0 && (
            <Panel title="VRFs" note={<Read table={data} />}>
              <ShortTable label="VRFs" items={data.vrfs} columns={VRFS} rowKey={({ name }) => name} />
            </Panel>
          )
        }
      </Loaded>
    </>
  );
}

function Read({ table: { seenAt, complete } }: { table: { seenAt: number | null; complete: boolean } }) {
  if (seenAt === null) return null;
  return (
    <>
      read <Time at={seenAt} />
      {!complete && ', incomplete'}
    </>
  );
}

const Unread = ({ what }: { what: string }) => (
  <Empty title={`No ${what} are known`}>
    They are read by a scan with the profile “deep”, and every 15 minutes where a switch or router is
    monitored.
  </Empty>
);
