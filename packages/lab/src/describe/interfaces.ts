/** IF-MIB (RFC 2863): ifTable and ifXTable with counters that move while a port is up; the duplex mode of EtherLike-MIB (RFC 3635). */
import type { Device, Port } from '../device.ts';
import { digest } from '../seed.ts';
import { type Carried, carried, type Direction } from '../traffic.ts';
import { counter32, counter64, gauge32, macBytes, oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_X_ENTRY = '1.3.6.1.2.1.31.1.1.1';
/** TruthValue and RowStatus-like numbers of IF-MIB. */
const STATUS = { up: 1, down: 2, 'lower-layer-down': 7 } as const;
const DOT3_STATS_ENTRY = '1.3.6.1.2.1.10.7.2.1';
/** dot3StatsDuplexStatus. */
const DUPLEX = { unknown: 1, full: 3 } as const;
/** IANAifType. */
const ETHERNET = 6;
const BIGGEST_GAUGE = 4_294_967_295;

export function interfaces(sheet: Sheet, device: Device, startedAt: number): void {
  sheet.put('1.3.6.1.2.1.2.1.0', device.ports.length);
  for (const port of device.ports) {
    ifRow(sheet, device, port, startedAt);
    if (device.features.includes('high-speed')) ifXRow(sheet, device, port, startedAt);
    if (port.type === ETHERNET)
      sheet.row(DOT3_STATS_ENTRY, port.ifIndex, { 19: port.oper === 'up' ? DUPLEX.full : DUPLEX.unknown });
    if (port.lag !== undefined) member(sheet, port.ifIndex, port.lag);
  }
}

/** ifStackStatus (RFC 2863) and dot3adAggPortAttachedAggID (IEEE8023-LAG-MIB). */
function member(sheet: Sheet, ifIndex: number, lag: number): void {
  sheet.put(`1.3.6.1.2.1.31.1.2.1.3.${lag}.${ifIndex}`, 1);
  sheet.put(`1.2.840.10006.300.43.1.2.1.1.13.${ifIndex}`, lag);
}

function ifRow(sheet: Sheet, device: Device, port: Port, startedAt: number): void {
  const narrow = (direction: Direction, of: (all: Carried) => bigint) => (uptime: number) =>
    counter32(Number(of(carried(device, port, direction, startedAt, uptime)) & 0xffff_ffffn));
  const changed = port.oper === 'up' ? 0 : digest(`${device.name} ${port.name} change`, 86_400) * 100;
  sheet.row(IF_ENTRY, port.ifIndex, {
    1: port.ifIndex,
    2: port.descr,
    3: port.type,
    4: port.mtu,
    5: gauge32(Math.min(port.speed, BIGGEST_GAUGE)),
    6: port.mac ? macBytes(port.mac) : Buffer.alloc(0),
    7: STATUS[port.admin],
    8: STATUS[port.oper],
    9: timeticks(changed),
    10: narrow('in', ({ octets }) => octets),
    11: narrow('in', ({ unicast }) => unicast),
    12: narrow('in', ({ multicast, broadcast }) => multicast + broadcast),
    13: narrow('in', ({ discards }) => discards),
    14: narrow('in', ({ errors }) => errors),
    16: narrow('out', ({ octets }) => octets),
    17: narrow('out', ({ unicast }) => unicast),
    18: narrow('out', ({ multicast, broadcast }) => multicast + broadcast),
    19: narrow('out', ({ discards }) => discards),
    20: narrow('out', ({ errors }) => errors),
    22: oid('0.0'),
  });
}

function ifXRow(sheet: Sheet, device: Device, port: Port, startedAt: number): void {
  const wide = (direction: Direction, of: (all: Carried) => bigint) => (uptime: number) =>
    counter64(of(carried(device, port, direction, startedAt, uptime)));
  sheet.row(IF_X_ENTRY, port.ifIndex, {
    1: port.name,
    6: wide('in', ({ octets }) => octets),
    7: wide('in', ({ unicast }) => unicast),
    8: wide('in', ({ multicast }) => multicast),
    9: wide('in', ({ broadcast }) => broadcast),
    10: wide('out', ({ octets }) => octets),
    11: wide('out', ({ unicast }) => unicast),
    12: wide('out', ({ multicast }) => multicast),
    13: wide('out', ({ broadcast }) => broadcast),
    14: port.trunk ? 2 : 1,
    15: gauge32(port.speed / 1_000_000),
    16: 2,
    17: port.type === ETHERNET ? 1 : 2,
    18: port.alias,
    19: timeticks(0),
  });
}
