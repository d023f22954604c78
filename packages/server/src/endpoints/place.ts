/**
 * Where a hardware address enters the network. Every bridge on its way learns it, on the port towards it; the port that
 * leads to no other bridge is where it enters. What the tables leave open is told as open, with the reason.
 */

import { FAR_END_WORDS, type FarEnd } from '@rollcall/shared/far-end';

/** A port that has learnt the address. */
export interface LearntAt {
  deviceId: string;
  ifIndex: number;
  /** Names of other bridges of the site behind it: its neighbours, and owners of addresses that it has learnt. */
  bridges: readonly string[];
  /** Other addresses that it has learnt. */
  others: number;
  /** Unix seconds since when it has the address. */
  since: number;
  /** ifIndex of the aggregate (LAG) that it is, or is a member of; null: of none; absent: not read. */
  aggregate?: number | null | undefined;
  /** Devices that its own is known to have a link with. */
  linked?: readonly string[] | undefined;
  /** What says by LLDP or CDP that it stands there; `own`: it has the address itself. */
  stands?: Standing | undefined;
}

export interface Standing {
  kind: FarEnd;
  name: string | null;
  own: boolean;
}

export interface Placement<Port extends LearntAt> {
  verdict: 'placed' | 'alternatives' | 'unknown';
  /** One when placed, several as alternatives. */
  ports: Port[];
  reason: string;
  /** The ports are of two switches that act as one (MLAG): all are right. */
  pair: boolean;
}

/** A port that learnt an address this much later than another has it by a move: two readings of the tables. */
export const MOVED_S = 30 * 60;

/**
 * Decides from all ports of one site that have the address at a time.
 * @param at Unix seconds: until when they are known to have it
 */
export function place<Port extends LearntAt>(learnt: readonly Port[], at: number): Placement<Port> {
  const edges = learnt.filter(({ bridges }) => bridges.length === 0);
  const places = joined(edges);
  const [only] = places;
  const pair = isPair(places);
  if (only && places.length === 1)
    return { verdict: 'placed', ports: [only], reason: whyPlaced(only, edges.length, learnt.length), pair };
  if (only) return { verdict: 'alternatives', ports: places, reason: whySeveral(places, at), pair };
  const unknown = { verdict: 'unknown', pair } as const;
  if (learnt.length === 0) return { ...unknown, ports: [], reason: 'no forwarding table has it now' };
  const behind = [...new Set(learnt.flatMap(({ bridges }) => bridges))].sort();
  return {
    ...unknown,
    ports: [],
    reason: `only ports between bridges have it: it is behind one of ${named(behind)}`,
  };
}

/** An aggregate and its members are one place, told by the aggregate where that has learnt the address. */
function joined<Port extends LearntAt>(edges: readonly Port[]): Port[] {
  const places = new Map<string, Port>();
  for (const edge of edges) {
    const key = `${edge.deviceId} ${edge.aggregate ?? edge.ifIndex}`;
    if (!places.has(key) || edge.ifIndex === edge.aggregate) places.set(key, edge);
  }
  return [...places.values()];
}

function whyPlaced({ others, stands }: LearntAt, edges: number, all: number): string {
  const between = all - edges;
  const one =
    between === 0 ? 'the only port that has it' : 'the only port that has it and leads to no other bridge';
  const which = edges === 1 ? one : `${edges} ports of one aggregate (LAG) have it`;
  const only = between === 0 ? which : `${which}; ${between} between bridges have it too`;
  const count = `${others} other ${others === 1 ? 'address is' : 'addresses are'}`;
  if (stands?.own) {
    const itself = `${only}; it is the ${calledBy(stands)} itself, by LLDP or CDP`;
    return others === 0 ? itself : `${itself}, and ${count} behind it`;
  }
  if (stands && stands.kind !== 'station')
    return `${only}; it is behind the ${calledBy(stands)}, which says by LLDP or CDP that it stands at this port`;
  if (others === 0) return only;
  return `${only}; ${count} on this port: what stands between tells nothing of itself by LLDP or CDP, as an unmanaged switch`;
}

const calledBy = ({ kind, name }: Standing): string => [FAR_END_WORDS[kind], name].filter(Boolean).join(' ');

function whySeveral(places: readonly LearntAt[], at: number): string {
  const several = `${places.length} ports have it and lead to no other bridge`;
  if (isPair(places))
    return `${several}: it has a cable to each of two switches that act as one (MLAG), so both are right`;
  const times = places.map(({ since }) => since);
  const newest = Math.max(...times);
  if (newest > Math.min(...times) && at - newest < MOVED_S)
    return `${several}: it has just moved to the one that learnt it last, and the others have not forgotten it yet`;
  if (new Set(places.map(({ deviceId }) => deviceId)).size === 1)
    return `${several}, all of one switch: it uses several ports with one address, or cables form a loop`;
  const unread = places.some(({ aggregate }) => aggregate === undefined)
    ? ', or it hangs on a pair of switches (MLAG) whose aggregates were not read'
    : '';
  return `${several}: a link between these switches is not known${unread}`;
}

/** An aggregate on each of two switches that are linked with each other. */
function isPair([a, b, ...more]: readonly LearntAt[]): boolean {
  if (!a || !b || more.length > 0 || a.deviceId === b.deviceId) return false;
  const linked = a.linked?.includes(b.deviceId) || b.linked?.includes(a.deviceId);
  return linked === true && a.aggregate != null && b.aggregate != null;
}

/** Names told at most. */
const NAMES = 5;
const named = (names: readonly string[]): string =>
  names.length <= NAMES
    ? names.join(', ')
    : `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more`;
