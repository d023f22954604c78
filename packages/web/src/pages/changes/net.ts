/** What differs between two moments: all changes between them, without what was put back. Pure. */
import type { Change, EndpointPorts } from '@rollcall/shared/api/changes';

export interface Difference {
  key: string;
  site: string;
  deviceId: string | null;
  device: string | null;
  interface: string | null;
  /** Whether it is there at one moment alone. */
  presence: 'new' | 'gone' | null;
  fields: { name: string; before: unknown; after: unknown }[];
  /** How many changes it comes of. */
  changes: number;
}

const CAME = new Set(['device.new', 'interface.added']);
const WENT = new Set(['device.gone', 'interface.removed']);
/** Members that are lists: those that went before, those that came after. */
const LISTS = ['addresses', 'parts', 'vlans', 'taggedVlans'];

interface Sum {
  first: Change;
  there: { before: boolean; after: boolean } | null;
  fields: Map<string, { before: unknown; after: unknown }>;
  lists: Map<string, Map<string, number>>;
  changes: number;
}

type Members = Readonly<Record<string, unknown>>;
const membersOf = (side: unknown): Members =>
  typeof side === 'object' && side !== null && !Array.isArray(side) ? (side as Members) : {};
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** By device and interface, in the order in which they differ first. */
export function differencesOf(changes: readonly Change[]): Difference[] {
  const sums = new Map<string, Sum>();
  for (const change of changes.toSorted((a, b) => a.at - b.at)) {
    const whose = change.endpoint ?? `${change.deviceId ?? ''} ${change.interfaceId ?? ''}`;
    const key = `${change.siteId} ${whose}`;
    const sum = sums.get(key) ?? {
      first: change,
      there: null,
      fields: new Map(),
      lists: new Map(),
      changes: 0,
    };
    sums.set(key, sum);
    sum.changes += 1;
    add(sum, change);
  }
  return [...sums].flatMap(([key, sum]) => differenceOf(key, sum) ?? []);
}

function add(sum: Sum, { kind, before, after, endpoint }: Change): void {
  if (endpoint !== null) {
    turn(sum, `endpoint ${endpoint}`, portsOf(before), portsOf(after));
    return;
  }
  const came = CAME.has(kind);
  if (came || WENT.has(kind)) {
    sum.there = { before: sum.there?.before ?? !came, after: came };
    return;
  }
  const [was, is] = [membersOf(before), membersOf(after)];
  if (kind === 'neighbour.changed') {
    const name = `neighbour on ${is.port ?? was.port}`;
    turn(sum, name, was.sysName ?? was.chassisId, is.sysName ?? is.chassisId);
    return;
  }
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (LISTS.includes(name) && Array.isArray(was[name]) && Array.isArray(is[name])) {
      const counts = sum.lists.get(name) ?? new Map<string, number>();
      sum.lists.set(name, counts);
      for (const one of was[name]) counts.set(textOf(one), (counts.get(textOf(one)) ?? 0) - 1);
      for (const one of is[name]) counts.set(textOf(one), (counts.get(textOf(one)) ?? 0) + 1);
    } else turn(sum, name, was[name], is[name]);
  }
}

function turn({ fields }: Sum, name: string, before: unknown, after: unknown): void {
  const known = fields.get(name);
  fields.set(name, { before: known ? known.before : (before ?? null), after: after ?? null });
}

/** Where an endpoint was; null: it was not there, and its side says nothing of ports. */
function portsOf(side: unknown): string | null {
  const { ports, goneAt = null } = membersOf(side) as Partial<EndpointPorts> & {
    goneAt?: number | null;
  };
  if (goneAt !== null || !ports) return null;
  if (ports.length === 0) return 'a port that is not known';
  return ports.map(({ device, port, ifIndex }) => `${device} ${port ?? ifIndex}`).join(' or ');
}

/** A part or a VLAN in words. */
function textOf(one: unknown): string {
  if (typeof one !== 'object' || one === null) return String(one);
  const { vlan, name, class: kind, model, serialNumber } = one as Members;
  return [vlan, name ?? kind, model, serialNumber].filter(Boolean).join(' ');
}

const NOWHERE = { deviceId: null, device: null, interface: null };

function differenceOf(key: string, { first, there, fields, lists, changes }: Sum): Difference | null {
  const turned = [...fields]
    .filter(([, { before, after }]) => !same(before, after))
    .map(([name, sides]) => ({ name, ...sides }));
  for (const [name, counts] of lists) {
    const names = (sign: number) =>
      [...counts].filter(([, n]) => Math.sign(n) === sign).map(([text]) => text);
    const [went, came] = [names(-1).join(', '), names(1).join(', ')];
    if (went || came) turned.push({ name, before: went || null, after: came || null });
  }
  const presence = !there || there.before === there.after ? null : there.after ? 'new' : 'gone';
  if (presence === null && turned.length === 0) return null;
  // An endpoint may have been at several: the field says at which.
  const {
    site,
    deviceId,
    device,
    interface: port,
  } = first.endpoint === null ? first : { ...first, ...NOWHERE };
  return { key, site, deviceId, device, interface: port, presence, fields: turned, changes };
}
