/** The face of a box as its ports tell it: which socket stands where. Pure. */
import { FREE_DAYS } from '@rollcall/shared/api/free-ports';
import type { NetworkInterface } from '@rollcall/shared/api/interfaces';

export type Port = NetworkInterface;
/** Free: down for so long that nobody seems to need it. */
export type SocketState = 'up' | 'down' | 'disabled' | 'free';

export interface Socket {
  port: Port;
  state: SocketState;
  /** Of its unit, from the left; a gap stands between blocks. */
  column: number;
  row: number;
  /** Which block of its unit it is in. */
  block: number;
}

/** A member of a stack, a card of a chassis; a box alone is one. */
export interface Unit {
  name: string;
  sockets: Socket[];
  columns: number;
  blocks: number;
}

const DAY_S = 86_400;
/** Ports of one block from which on they stand in two rows, as on a switch. */
const TWO_ROWS_FROM = 6;
/** Ports that are drawn. */
export const DRAWN = 600;

export const isFree = ({ isPort, unusedSince }: Port, now: number): boolean =>
  isPort === 1 && unusedSince !== null && unusedSince < now - FREE_DAYS * DAY_S;

export function stateOf(port: Port, now: number): SocketState {
  if (port.operStatus === 'up') return 'up';
  if (port.adminStatus === 'down') return 'disabled';
  return isFree(port, now) ? 'free' : 'down';
}

/** `Gi1/0/12`: block `Gi1/0/`, number 12, in unit 1, because three numbers name unit, card and port. */
function placeOf(name: string): { block: string; number: number; unit: string } {
  const [, block = name, number = '0'] = /^(.*?)(\d+)$/.exec(name) ?? [];
  const [, unit = ''] = /(\d+)\/\d+\/$/.exec(block) ?? [];
  return { block, number: Number(number), unit };
}

/** Sockets by unit and block, in the order of ifIndex; odd numbers above even ones. `now`: Unix seconds. */
export function plateOf(interfaces: readonly Port[], now: number): Unit[] {
  const units = new Map<string, Map<string, { port: Port; number: number }[]>>();
  const ports = interfaces.filter(({ isPort }) => isPort === 1).slice(0, DRAWN);
  const named = new Set(ports.map(({ name }) => placeOf(name).unit).filter(Boolean));
  for (const port of ports) {
    const { block, number, unit: own } = placeOf(port.name);
    // A management port of a box that is one unit is on the same face.
    const unit = named.size === 1 ? '' : own;
    const blocks = units.get(unit) ?? new Map<string, { port: Port; number: number }[]>();
    units.set(unit, blocks);
    blocks.set(block, [...(blocks.get(block) ?? []), { port, number }]);
  }
  return [...units].map(([name, blocks]) => {
    const sockets: Socket[] = [];
    let columns = 0;
    for (const [block, members] of [...blocks.values()].entries()) {
      const rows = members.length < TWO_ROWS_FROM ? 1 : 2;
      const sorted = members.toSorted((a, b) => a.number - b.number);
      for (const [i, { port }] of sorted.entries())
        sockets.push({
          ...{ port, state: stateOf(port, now), block },
          ...{ column: columns + Math.floor(i / rows), row: i % rows },
        });
      columns += Math.ceil(members.length / rows);
    }
    return { name, sockets, columns, blocks: blocks.size };
  });
}

/** The socket that a key leads to from one, as the eye sees them; the same where there is none. */
export function socketBy(units: readonly Unit[], from: number, key: string): number {
  const all = units.flatMap(({ sockets }, unit) => sockets.map((socket) => ({ ...socket, unit })));
  const here = all[from];
  if (!here) return 0;
  if (key === 'Home') return 0;
  if (key === 'End') return all.length - 1;
  const [columns, rows] =
    { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [];
  if (columns === undefined || rows === undefined) return from;
  const line = ({ unit, row }: { unit: number; row: number }) => unit * 2 + row;
  const ahead = all
    .map((socket, i) => ({ socket, i }))
    .filter(({ socket }) =>
      columns === 0
        ? Math.sign(line(socket) - line(here)) === rows
        : socket.unit === here.unit && Math.sign(socket.column - here.column) === columns,
    );
  const far = ({ socket }: { socket: (typeof all)[number] }) =>
    Math.abs(line(socket) - line(here)) * 1000 * (columns === 0 ? 1 : 0.1) +
    Math.abs(socket.column - here.column) * (columns === 0 ? 1 : 200);
  return ahead.sort((a, b) => far(a) - far(b))[0]?.i ?? from;
}

/** VLANs as they are written: `10`, `10 + 20–24, 30`. */
export function vlansText({ vlan, taggedVlans }: Pick<Port, 'vlan' | 'taggedVlans'>): string {
  const ranges: [number, number][] = [];
  for (const each of taggedVlans) {
    const last = ranges.at(-1);
    if (last?.[1] === each - 1) last[1] = each;
    else ranges.push([each, each]);
  }
  const tagged = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
  if (vlan === null) return tagged && `tagged ${tagged}`;
  return tagged ? `${vlan} + ${tagged}` : `${vlan}`;
}
