/** A device as it was: what is known of it now, with every change since taken back, the latest first. Pure. */
import type { Part, Vlan } from '../changes.ts';

/** A change that is kept as an event. Times in Unix milliseconds. */
export interface KeptChange {
  kind: string;
  interfaceId: string | null;
  /** When it came first, and last: what comes very often counts one event up. */
  firstAt: number;
  lastAt: number;
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
}

export interface PastPort {
  id: string;
  ifIndex: number;
  name: string;
  alias: string | null;
  type: number | null;
  speedBps: number | null;
  macAddress: string | null;
  vlan: number | null;
  duplex: string | null;
  /** IF-MIB ifAdminStatus. */
  adminStatus: number | null;
  mtu: number | null;
  description: string | null;
  aggregate: string | null;
  taggedVlans: readonly number[];
}
export interface PastNeighbour {
  port: string;
  chassisId: string | null;
  sysName: string | null;
  remotePort: string | null;
}

export interface PastDevice {
  /** By the names of the columns of devices, as far as changes of them are kept. */
  fields: Record<string, unknown>;
  ports: Map<string, PastPort>;
  addresses: Set<string>;
  parts: Part[];
  vlans: Vlan[];
  neighbours: PastNeighbour[];
  /** What cannot be said of that time, with the reason. */
  notKnown: Map<string, string>;
}

/** How `device.changed` names fields. */
const FIELDS: Readonly<Record<string, string>> = { sysObjectID: 'sysObjectId' };
const OF_PORTS = [
  ...(['name', 'alias', 'type', 'speedBps', 'macAddress', 'vlan', 'duplex'] as const),
  ...(['adminStatus', 'mtu', 'description', 'aggregate'] as const),
] as const satisfies readonly (keyof PastPort)[];
const LISTS = {
  'device.addresses': 'addresses',
  'device.hardware': 'parts',
  'device.vlans': 'vlans',
} as const;

/** Takes back, in place, the changes after `at`; they come in any order. */
export function takeBack(device: PastDevice, changes: readonly KeptChange[], at: number): void {
  for (const change of changes.toSorted((a, b) => b.lastAt - a.lastAt)) {
    if (change.lastAt <= at) continue;
    undo(device, change);
    // It came before that time and again after it; what was between is not kept.
    if (change.firstAt <= at)
      device.notKnown.set(nameOf(device, change), 'it changed so often that not every time is kept');
  }
}

const nameOf = ({ ports }: PastDevice, { kind, interfaceId, after }: KeptChange): string =>
  interfaceId ? `interface ${ports.get(interfaceId)?.name ?? ''}: ${Object.keys(after).join(', ')}` : kind;

function undo(device: PastDevice, change: KeptChange): void {
  const { kind, interfaceId, before } = change;
  switch (kind) {
    case 'device.changed':
    case 'device.renumbered':
    case 'device.upgraded':
    case 'device.swapped':
    case 'device.rebooted':
      for (const [name, value] of Object.entries(before)) device.fields[FIELDS[name] ?? name] = value;
      return;
    case 'device.addresses':
    case 'device.hardware':
    case 'device.vlans':
      undoList(device, change, LISTS[kind]);
      return;
    case 'neighbour.changed':
      undoNeighbour(device, change);
      return;
    case 'interface.added':
      if (interfaceId) device.ports.delete(interfaceId);
      return;
    case 'interface.removed':
      if (interfaceId) device.ports.set(interfaceId, portOf(interfaceId, before));
      return;
    default: {
      const port = interfaceId ? device.ports.get(interfaceId) : undefined;
      if (!port) return;
      for (const name of OF_PORTS) if (name in before) Object.assign(port, { [name]: before[name] });
      if ('taggedVlans' in before) undoTagged(port, change);
    }
  }
}

const portOf = (id: string, facts: Readonly<Record<string, unknown>>): PastPort => ({
  ...{
    id,
    ifIndex: 0,
    name: '',
    alias: null,
    type: null,
    speedBps: null,
    macAddress: null,
    vlan: null,
    duplex: null,
    adminStatus: null,
    mtu: null,
    description: null,
    aggregate: null,
    taggedVlans: [],
  },
  ...(facts as Partial<PastPort>),
});

/** What it joined it leaves, and what it left it is in. */
function undoTagged(port: PastPort, { before, after }: KeptChange): void {
  const joined = new Set((after.taggedVlans ?? []) as number[]);
  const stays = port.taggedVlans.filter((vlan) => !joined.has(vlan));
  port.taggedVlans = [...stays, ...((before.taggedVlans ?? []) as number[])].sort((a, b) => a - b);
}

const same = (a: unknown) => (b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** What came goes, and what went is there. */
function undoList(
  device: PastDevice,
  { before, after }: KeptChange,
  list: (typeof LISTS)[keyof typeof LISTS],
): void {
  const went = (before[list] ?? []) as unknown[];
  const came = (after[list] ?? []) as unknown[];
  if (list === 'addresses') {
    for (const address of came) device.addresses.delete(String(address));
    for (const address of went) device.addresses.add(String(address));
  } else if (list === 'parts') {
    const what = ({ class: kind, name, model, serialNumber }: Part) => [kind, name, model, serialNumber];
    const gone = (came as Part[]).map(what);
    device.parts = device.parts.filter((part) => !gone.some(same(what(part)))).concat(went as Part[]);
  } else {
    const gone = (came as Vlan[]).map(({ vlan }) => vlan);
    device.vlans = device.vlans.filter(({ vlan }) => !gone.includes(vlan)).concat(went as Vlan[]);
  }
}

function undoNeighbour(device: PastDevice, { before, after }: KeptChange): void {
  const key = ({ port, chassisId, remotePort }: PastNeighbour) => [port, chassisId, remotePort];
  if ('port' in after) {
    const came = same(key(after as unknown as PastNeighbour));
    device.neighbours = device.neighbours.filter((each) => !came(key(each)));
  }
  if ('port' in before) device.neighbours.push(before as unknown as PastNeighbour);
}
