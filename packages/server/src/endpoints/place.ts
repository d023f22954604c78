/**
 * Where a hardware address enters the network. Every bridge on its way learns it, on the port towards it; the port that
 * leads to no other bridge is where it enters. What the tables leave open is told as open.
 */

/** A port that has learnt the address. */
export interface LearntAt {
  deviceId: string;
  ifIndex: number;
  /** Names of other bridges of the site behind it: its neighbours, and owners of addresses that it has learnt. */
  bridges: readonly string[];
  /** Other addresses that it has learnt. */
  others: number;
}

export interface Placement<Port extends LearntAt> {
  verdict: 'placed' | 'alternatives' | 'unknown';
  /** One when placed, several as alternatives. */
  ports: Port[];
  reason: string;
}

/** Decides from all ports of one site that have the address now. */
export function place<Port extends LearntAt>(learnt: readonly Port[]): Placement<Port> {
  const edges = learnt.filter(({ bridges }) => bridges.length === 0);
  const [only] = edges;
  if (only && edges.length === 1)
    return { verdict: 'placed', ports: [only], reason: whyPlaced(only, learnt) };
  if (only)
    return {
      verdict: 'alternatives',
      ports: edges,
      reason:
        `${edges.length} ports have it and lead to no other bridge: it hangs on a pair of switches (MLAG), has just moved, ` +
        'or a link between bridges is not known',
    };
  if (learnt.length === 0) return { verdict: 'unknown', ports: [], reason: 'no forwarding table has it now' };
  const behind = [...new Set(learnt.flatMap(({ bridges }) => bridges))].sort();
  return {
    verdict: 'unknown',
    ports: [],
    reason: `only ports between bridges have it: it is behind one of ${named(behind)}`,
  };
}

function whyPlaced({ others }: LearntAt, learnt: readonly LearntAt[]): string {
  const passed = learnt.length - 1;
  const only =
    passed === 0
      ? 'the only port that has it'
      : `the only port that has it and leads to no other bridge; ${passed} between bridges have it too`;
  if (others === 0) return only;
  return `${only}; ${others} other ${others === 1 ? 'address is' : 'addresses are'} on this port: a phone, an access point, a hypervisor or an unmanaged switch may stand between`;
}

/** Names told at most. */
const NAMES = 5;
const named = (names: readonly string[]): string =>
  names.length <= NAMES
    ? names.join(', ')
    : `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more`;
