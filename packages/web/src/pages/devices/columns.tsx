import type { CustomField } from '@rollcall/shared/api/annotations';
import type { Device } from '@rollcall/shared/api/inventory';
import {
  DeviceClassLabel,
  DeviceLink,
  DeviceStatus,
  duration,
  HealthStatus,
  Tags,
} from '../../components/show/index.ts';
import { type Column, timeColumn } from '../../components/table/index.ts';

const answers = (yes: boolean | null): string => (yes === null ? '' : yes ? 'answers' : 'silent');

export const DEVICE_COLUMNS: readonly Column<Device>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(120px, 1.5fr)',
    sort: 'name',
    narrow: true,
    cell: (d) => <DeviceLink id={d.id}>{d.name}</DeviceLink>,
  },
  {
    id: 'status',
    title: 'Status',
    width: '76px',
    sort: 'status',
    narrow: true,
    value: (d) => d.status,
    cell: (d) => <DeviceStatus status={d.status} />,
  },
  {
    id: 'health',
    title: 'Health',
    width: '80px',
    sort: 'health',
    cell: (d) => (d.health === 'unknown' ? '' : <HealthStatus health={d.health} />),
  },
  { id: 'address', title: 'Address', width: '112px', sort: 'address', narrow: true, mono: true },
  {
    id: 'class',
    title: 'Class',
    width: '106px',
    sort: 'class',
    cell: (d) => <DeviceClassLabel class={d.class} />,
  },
  { id: 'site', title: 'Site', width: 'minmax(76px, 0.6fr)' },
  { id: 'vendor', title: 'Vendor', width: 'minmax(64px, 0.6fr)', sort: 'vendor' },
  { id: 'model', title: 'Model', width: 'minmax(90px, 1.2fr)', sort: 'model' },
  {
    id: 'os',
    title: 'System',
    width: 'minmax(90px, 1.2fr)',
    value: (d) => [d.os, d.osVersion].filter(Boolean).join(' '),
  },
  {
    id: 'events',
    title: 'Events',
    width: '48px',
    numeric: true,
    value: (d) => d.openEvents,
    cell: (d) => (d.openEvents > 0 ? <strong>{d.openEvents}</strong> : ''),
  },
  {
    id: 'monitor',
    title: 'Monitored',
    width: '66px',
    value: (d) => (d.monitor === 1 ? 'yes' : 'no'),
    cell: (d) => (d.monitor === 1 ? 'yes' : <span className="quiet">no</span>),
  },
  timeColumn({ id: 'lastSeen', title: 'Last seen', width: '80px', sort: 'lastSeen', at: (d) => d.lastSeen }),
  {
    id: 'serial',
    title: 'Serial number',
    width: 'minmax(120px, 0.8fr)',
    extra: true,
    mono: true,
    value: (d) => d.serialNumber,
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(100px, 0.8fr)',
    extra: true,
    value: (d) => d.tags.join(';'),
    cell: (d) => <Tags tags={d.tags} />,
  },
  { id: 'note', title: 'Note', width: 'minmax(140px, 1fr)', extra: true, value: (d) => d.note },
  { id: 'mac', title: 'MAC address', width: '140px', extra: true, mono: true, value: (d) => d.macAddress },
  {
    id: 'addresses',
    title: 'All addresses',
    width: 'minmax(140px, 1fr)',
    extra: true,
    value: (d) => d.addresses.join(' '),
  },
  { id: 'location', title: 'Location', width: 'minmax(140px, 1fr)', extra: true, value: (d) => d.location },
  { id: 'contact', title: 'Contact', width: 'minmax(120px, 0.8fr)', extra: true },
  {
    id: 'description',
    title: 'Description',
    width: 'minmax(220px, 2fr)',
    extra: true,
    value: (d) => d.sysDescr,
  },
  { id: 'collector', title: 'Collector', width: '110px', extra: true },
  { id: 'icmp', title: 'ICMP', width: '70px', extra: true, value: (d) => answers(d.reachable.icmp) },
  { id: 'snmp', title: 'SNMP', width: '70px', extra: true, value: (d) => answers(d.reachable.snmp) },
  {
    id: 'rtt',
    title: 'RTT ms',
    width: '64px',
    numeric: true,
    extra: true,
    value: (d) => d.rttMs,
    cell: (d) => d.rttMs?.toFixed(2),
  },
  {
    id: 'uptime',
    title: 'Uptime',
    width: '96px',
    numeric: true,
    extra: true,
    value: (d) => d.uptimeSeconds,
    cell: (d) => (d.uptimeSeconds === null ? '' : duration(d.uptimeSeconds)),
  },
  { id: 'ports', title: 'Ports', width: '54px', numeric: true, extra: true, value: (d) => d.interfaceCount },
  timeColumn({
    id: 'firstSeen',
    title: 'First seen',
    sort: 'firstSeen',
    extra: true,
    at: (d) => d.firstSeen,
  }),
];

/** A custom field; in a CSV file it is called as an import takes it. */
export const fieldColumn = ({ name }: CustomField): Column<Device> => ({
  id: `field:${name}`,
  title: name,
  exportTitle: `field:${name}`,
  width: 'minmax(90px, 0.6fr)',
  extra: true,
  value: (d) => {
    const value = d.fields[name];
    return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
  },
});
