/** IF-MIB (RFC 2863): ifTable and ifXTable with counters that move while a port is up. */
import type { Device, Port } from '../device.ts';
import { digest } from '../seed.ts';
import { counter32, counter64, gauge32, macBytes, oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_X_ENTRY = '1.3.6.1.2.1.31.1.1.1';
/** TruthValue and RowStatus-like numbers of IF-MIB. */
const STATUS = { up: 1, down: 2, 'lower-layer-down': 7 } as const;
const BIGGEST_GAUGE = 4_294_967_295;

export function interfaces(sheet: Sheet, device: Device): void {
  sheet.put('1.3.6.1.2.1.2.1.0', device.ports.length);
  for (const port of device.ports) {
    ifRow(sheet, device, port);
    if (device.features.includes('high-speed')) ifXRow(sheet, device, port);
    if (port.lag !== undefined) member(sheet, port.ifIndex, port.lag);
  }
}

/** ifStackStatus (RFC 2863) and dot3adAggPortAttachedAggID (IEEE8023-LAG-MIB). */
function member(sheet: Sheet, ifIndex: number, lag: number): void {
  sheet.put(`1.3.6.1.2.1.31.1.2.1.3.${lag}.${ifIndex}`, 1);
  sheet.put(`1.2.840.10006.300.43.1.2.1.1.13.${ifIndex}`, lag);
}

function ifRow(sheet: Sheet, device: Device, port: Port): void {
  const { octets, packets } = traffic(device, port);
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
    10: (uptime) => counter32(octets('in', uptime)),
    11: (uptime) => counter32(packets('in', uptime)),
    13: counter32(0),
    14: counter32(0),
    16: (uptime) => counter32(octets('out', uptime)),
    17: (uptime) => counter32(packets('out', uptime)),
    19: counter32(0),
    20: counter32(0),
    22: oid('0.0'),
  });
}

function ifXRow(sheet: Sheet, device: Device, port: Port): void {
  const { octets, packets } = traffic(device, port);
  sheet.row(IF_X_ENTRY, port.ifIndex, {
    1: port.name,
    6: (uptime) => counter64(octets('in', uptime)),
    7: (uptime) => counter64(packets('in', uptime)),
    10: (uptime) => counter64(octets('out', uptime)),
    11: (uptime) => counter64(packets('out', uptime)),
    14: port.trunk ? 2 : 1,
    15: gauge32(port.speed / 1_000_000),
    16: 2,
    17: port.type === 6 ? 1 : 2,
    18: port.alias,
    19: timeticks(0),
  });
}

type Direction = 'in' | 'out';

/** A steady load between 0.1 and 6 % of the port's speed. */
function traffic(device: Device, port: Port) {
  const share = (direction: Direction) => (1 + digest(`${device.name} ${port.name} ${direction}`, 60)) / 1000;
  const octets = (direction: Direction, uptime: number) =>
    port.oper === 'up' ? ((device.upBefore + uptime) * port.speed * share(direction)) / 8 : 0;
  return { octets, packets: (direction: Direction, uptime: number) => octets(direction, uptime) / 720 };
}
