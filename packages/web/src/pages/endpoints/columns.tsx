import type { Endpoint } from '@rollcall/shared/api/endpoints';
import { DeviceLink } from '../../components/show/index.ts';
import { type Column, timeColumn } from '../../components/table/index.ts';

type Port = Endpoint['ports'][number];

const portText = ({ device, port, ifIndex }: Port): string => `${device} ${port ?? `ifIndex ${ifIndex}`}`;

/** Where it is, as text: one place, one of several, or not told by the tables. */
export function placeText({ verdict, ports }: Pick<Endpoint, 'verdict' | 'ports'>): string {
  if (verdict === 'unknown') return '';
  return ports.map(portText).join(' or ');
}

/** Where it enters the network; of several ports one is it. */
export function Place({ verdict, ports }: Pick<Endpoint, 'verdict' | 'ports'>) {
  if (verdict === 'unknown') return <span className="quiet">not known</span>;
  return ports.map((port, i) => (
    <span key={`${port.deviceId} ${port.ifIndex}`}>
      {i > 0 && <span className="quiet"> or </span>}
      <DeviceLink id={port.deviceId}>{port.device}</DeviceLink> {port.port ?? `ifIndex ${port.ifIndex}`}
    </span>
  ));
}

/** Where a name that is no device's comes from. */
const NAME_FROM = { lldp: 'LLDP', dns: 'reverse DNS', dhcp: 'DHCP' } as const;

/** What its name is, where there is room to say so. */
export const nameLabel = ({ nameFrom }: Pick<Endpoint, 'nameFrom'>): string =>
  nameFrom && nameFrom !== 'device' ? `Name (${NAME_FROM[nameFrom]})` : 'Device';

/** The device of the inventory, else the name that it goes by. */
export function EndpointName({ owner, name, nameFrom }: Pick<Endpoint, 'owner' | 'name' | 'nameFrom'>) {
  if (owner) return <DeviceLink id={owner.deviceId}>{owner.name}</DeviceLink>;
  return nameFrom && nameFrom !== 'device' ? <span title={`By ${NAME_FROM[nameFrom]}`}>{name}</span> : name;
}

export const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  { id: 'mac', title: 'MAC address', width: '138px', sort: 'mac', mono: true, narrow: true },
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(110px, 1fr)',
    cell: (one) => <EndpointName {...one} />,
  },
  {
    id: 'maker',
    title: 'Vendor',
    width: 'minmax(100px, 1fr)',
    value: (one) => one.maker ?? (one.locallyAdministered === 1 ? 'locally administered' : null),
    cell: (one) =>
      one.maker ??
      (one.locallyAdministered === 1 && (
        <span className="quiet" title="By a virtual machine, or for privacy: no vendor assigned it">
          locally administered
        </span>
      )),
  },
  {
    id: 'addresses',
    title: 'IP address',
    width: 'minmax(112px, 0.8fr)',
    mono: true,
    value: (one) => one.addresses.join(' '),
  },
  {
    id: 'place',
    title: 'Port',
    width: 'minmax(150px, 1.4fr)',
    narrow: true,
    value: placeText,
    cell: (one) => <Place {...one} />,
  },
  { id: 'vlans', title: 'VLAN', width: '56px', value: (one) => one.vlans.join(' ') },
  { id: 'site', title: 'Site', width: 'minmax(76px, 0.5fr)' },
  timeColumn({
    id: 'firstSeen',
    title: 'First seen',
    width: '84px',
    sort: 'firstSeen',
    at: (one) => one.firstSeen,
  }),
  timeColumn({
    id: 'lastSeen',
    title: 'Gone since',
    width: '84px',
    sort: 'lastSeen',
    at: (one) => one.lastSeen,
    fallback: '',
  }),
];

/** Beside one of them. */
export const COLUMNS_BESIDE = ENDPOINT_COLUMNS.filter(({ id }) => ['mac', 'name', 'place'].includes(id));
