/** Whether an endpoint came, moved or went: where it is, compared with what was reported of it last. Pure. */
import type { EndpointChangeKind } from '@rollcall/shared/api/changes';
import type { Located } from './locate.ts';
import { MOVED_S } from './place.ts';
import type { NamedPort } from './ports.ts';

/** What was reported of an endpoint last. */
export interface Reported {
  /** Empty: no port was known. */
  ports: NamedPort[];
  /** When it went, Unix milliseconds; null: it is there. */
  goneAt: number | null;
}

/** A port that was reported, as it is now. */
export interface Left extends NamedPort {
  /** Unix seconds when it forgot the address; null: it has it, or the device is no longer known. */
  endedAt: number | null;
  /** As of `LearntAt`. */
  aggregate?: number | null | undefined;
}

export type Seen = Pick<Located, 'verdict' | 'ports' | 'pair' | 'begun'> & {
  firstSeen: Date;
  goneAt: Date | null;
};

export interface Decision {
  change: { kind: EndpointChangeKind; at: number; before: Partial<Reported> } | null;
  reported: Reported | null;
  /** Unix milliseconds when it is to be asked again without a new observation; null: never. */
  dueAt: number | null;
}

/** An endpoint that is back within this time was never away (ingest/tables/endpoints.ts). */
const AWAY_MS = 3_600_000;

/**
 * @param left The ports of `reported`, in its order
 * @param now Unix milliseconds
 */
export function decide(seen: Seen, reported: Reported | null, left: readonly Left[], now: number): Decision {
  const unchanged: Decision = { change: null, reported, dueAt: null };
  if (seen.goneAt !== null) return gone(seen.goneAt.getTime(), unchanged, now);
  const { ports, verdict } = seen;
  const there: Reported = { ports, goneAt: null };
  if (reported === null)
    return {
      change: { kind: 'endpoint.added', at: seen.firstSeen.getTime(), before: {} },
      ...{ reported: there, dueAt: null },
    };
  const stays = verdict === 'unknown' || left.some((old) => ports.some((port) => isSamePort(old, port)));
  // Of a pair all ports are right; else it may be that an old port has not forgotten it yet.
  const kept = stays && !(seen.pair && verdict === 'alternatives') ? reported.ports : ports;
  const told = { ...unchanged, reported: { ports: kept, goneAt: null } };
  if (reported.goneAt !== null) {
    // What was read before it was reported as gone may arrive afterwards.
    const at = Math.max((seen.begun ?? 0) * 1000, reported.goneAt);
    if (stays || reported.ports.length === 0)
      return { ...told, change: { kind: 'endpoint.added', at, before: { goneAt: reported.goneAt } } };
    return { ...told, change: { kind: 'endpoint.moved', at, before: reported } };
  }
  if (stays || !hasMoved(seen, left)) return told;
  const before = { ports: reported.ports };
  return { ...told, change: { kind: 'endpoint.moved', at: begunAt(seen) * 1000, before } };
}

function gone(at: number, unchanged: Decision, now: number): Decision {
  const { reported } = unchanged;
  if (reported === null || reported.goneAt !== null) return unchanged;
  if (now < at + AWAY_MS) return { ...unchanged, dueAt: at + AWAY_MS };
  return {
    change: { kind: 'endpoint.removed', at, before: { ports: reported.ports } },
    reported: { ...reported, goneAt: at },
    dueAt: null,
  };
}

const begunAt = ({ ports }: Pick<Seen, 'ports'>): number => Math.min(...ports.map(({ begun }) => begun));

/**
 * The old port has forgotten it, and the new one began to have it about then. All else is better knowledge of where it was:
 * a link that became known, a switch that is read now, a cable to each of two switches.
 */
function hasMoved(seen: Seen, left: readonly Left[]): boolean {
  const ended = left.map(({ endedAt }) => endedAt);
  if (ended.length === 0 || ended.includes(null)) return false;
  return begunAt(seen) >= Math.max(...ended.map(Number)) - MOVED_S;
}

/** One port, or ports of one aggregate; indexes of interfaces may be others after a restart, names are not. */
function isSamePort(old: Left, port: Located['ports'][number]): boolean {
  if (old.deviceId !== port.deviceId) return false;
  const one = (each: Left | Located['ports'][number]) => each.aggregate ?? each.ifIndex;
  return one(old) === one(port) || (old.port !== null && old.port === port.port);
}
