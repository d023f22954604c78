/** What two ends of a cable said about each other, made into one link. Pure. */

/** One row of `neighbours`, as the reporting device sees it. */
export interface NeighbourReport {
  deviceId: string;
  interfaceId: string | null;
  ifIndex: number | null;
  port: string | null;
  operStatus: number | null;
  speedBps: number | null;
  protocol: string;
  remoteId: string;
  remoteInterfaceId: string | null;
  remoteIfIndex: number | null;
  remotePort: string | null;
  /** Unix seconds. */
  lastSeen: number;
}

interface LinkEnd {
  deviceId: string;
  interfaceId: string | null;
  ifIndex: number | null;
  port: string | null;
}
export interface Link {
  a: LinkEnd;
  b: LinkEnd;
  protocols: string[];
  status: 'up' | 'down' | 'unknown';
  speedBps: number | null;
  lastSeen: number;
}

/** A link while it is put together: the facts of each end stand with the end. */
interface Draft {
  a: End;
  b: End;
  protocols: Set<string>;
  lastSeen: number;
}
interface End extends LinkEnd {
  operStatus: number | null;
  speedBps: number | null;
}

/**
 * Reports of both ends become one link. Ends are distinguished by ifIndex; a report that does not know the far port joins
 * the one report of the far end that fits, and is a link of its own where none does.
 */
export function linksOf(reports: readonly NeighbourReport[]): Link[] {
  const pairs = new Map<string, Draft[]>();
  for (const draft of reports.map(draftOf).sort(knownPortsFirst)) {
    if (draft.a.deviceId === draft.b.deviceId) continue;
    const key = `${draft.a.deviceId} ${draft.b.deviceId}`;
    const known = pairs.get(key) ?? [];
    const same = known.find((other) => fits(other.a, draft.a) && fits(other.b, draft.b));
    if (same) join(same, draft);
    else pairs.set(key, [...known, draft]);
  }
  return [...pairs.values()].flat().map(linkOf);
}

/** Ends in the order of their device ids, so that both reports of a cable look alike. */
function draftOf(report: NeighbourReport): Draft {
  const near: End = {
    deviceId: report.deviceId,
    interfaceId: report.interfaceId,
    ifIndex: report.ifIndex,
    port: report.port,
    operStatus: report.operStatus,
    speedBps: report.speedBps,
  };
  const far: End = {
    deviceId: report.remoteId,
    interfaceId: report.remoteInterfaceId,
    ifIndex: report.remoteIfIndex,
    port: report.remotePort,
    operStatus: null,
    speedBps: null,
  };
  const [a, b] = near.deviceId <= far.deviceId ? [near, far] : [far, near];
  return { a, b, protocols: new Set([report.protocol]), lastSeen: report.lastSeen };
}

const knownPorts = ({ a, b }: Draft): number => Number(a.ifIndex !== null) + Number(b.ifIndex !== null);
const knownPortsFirst = (x: Draft, y: Draft): number => knownPorts(y) - knownPorts(x);

/** Whether two reports of an end can mean the same port. Unknown fits anything; names are compared only without numbers. */
function fits(x: End, y: End): boolean {
  if (x.ifIndex !== null && y.ifIndex !== null) return x.ifIndex === y.ifIndex;
  if (x.ifIndex !== null || y.ifIndex !== null) return true;
  return x.port === null || y.port === null || x.port === y.port;
}

function join(into: Draft, from: Draft): void {
  for (const side of ['a', 'b'] as const) {
    const end = into[side];
    const other = from[side];
    end.interfaceId ??= other.interfaceId;
    end.ifIndex ??= other.ifIndex;
    end.port ??= other.port;
    end.operStatus ??= other.operStatus;
    end.speedBps ??= other.speedBps;
  }
  for (const protocol of from.protocols) into.protocols.add(protocol);
  into.lastSeen = Math.max(into.lastSeen, from.lastSeen);
}

/** IF-MIB ifOperStatus. */
const UP = 1;
const DOWN = new Set([2, 6, 7]);

function linkOf({ a, b, protocols, lastSeen }: Draft): Link {
  const states = [a.operStatus, b.operStatus].filter((state) => state !== null);
  const speeds = [a.speedBps, b.speedBps].filter((speed) => speed !== null);
  return {
    a: endOf(a),
    b: endOf(b),
    protocols: [...protocols].sort(),
    status: states.some((state) => DOWN.has(state))
      ? 'down'
      : states.length > 0 && states.every((state) => state === UP)
        ? 'up'
        : 'unknown',
    speedBps: speeds.length > 0 ? Math.min(...speeds) : null,
    lastSeen,
  };
}

const endOf = ({ deviceId, interfaceId, ifIndex, port }: End): LinkEnd => ({
  deviceId,
  interfaceId,
  ifIndex,
  port,
});
