/** What explains that devices of a site are down, by name: root causes out of what the database knows. */
import type { Sql } from '../../platform/db/sql.ts';
import { LATE_ROOT_MS, type Root } from '../conditions/condition.ts';
import type { IncidentSettings } from '../settings.ts';
import { readLinks } from './neighbours.ts';
import { type ReachOf, readAnswered, readReach } from './networks.ts';
import { doubtful, type Links, type RootCause, rootCauses } from './root-cause.ts';

export interface Causes {
  /** Device → the device that explains why it is down. */
  roots: Map<string, Root & { returned: boolean }>;
  /** Devices of which that is about to be known. */
  doubtful: Set<string>;
}

interface DownRow {
  deviceId: string;
  since: Date;
  changedAt: Date;
  name: string;
  present: boolean;
  told: boolean;
  /** Its agent alone is asked, once a minute. */
  seldom: boolean;
}

interface Surroundings {
  links: Links;
  /** Device → when it answered last, of those linked to one that is down. */
  answered: ReadonlyMap<string, number>;
  reachOf: ReachOf | null;
  /** A device that answers ping is found down within this time. */
  pingingMs: number;
}

/**
 * Reads once what explains devices that are down or came back after `earliest`. The answer explains those that are down;
 * with `returnedSince` (Unix milliseconds, not before `earliest`) those too that came back after it: routes and answers of
 * what lies behind them take a while to return.
 */
export async function readCauses(
  sql: Sql,
  siteId: string,
  { now, settings: { readingMs, pingingMs } }: { now: number; settings: IncidentSettings },
  earliest = Number.POSITIVE_INFINITY,
): Promise<(returnedSince?: number) => Causes> {
  const rows = await sql.query<DownRow & Record<string, unknown>>(
    `SELECT device_id AS "deviceId", since, changed_at AS "changedAt", opening ->> 'deviceName' AS name, present,
       event_id IS NOT NULL AS told, coalesce(opening #>> '{details,before,snmp}' = 'ok', false) AS seldom
     FROM conditions
     WHERE site_id = $1::uuid AND (present OR changed_at > $2::timestamptz) AND kind = 'device.down'
       AND device_id IS NOT NULL`,
    [siteId, Number.isFinite(earliest) ? new Date(earliest) : 'infinity'],
  );
  const ids = rows.map(({ deviceId }) => deviceId);
  const asked = { now, lastRead: now - readingMs };
  const links = await readLinks(sql, siteId, ids);
  const answered = await readAnswered(sql, siteId, [...links.keys()], asked);
  const known = { links, answered, reachOf: await readReach(sql, siteId, ids, asked), pingingMs };
  return (returnedSince = Number.POSITIVE_INFINITY) =>
    explain(
      rows.filter(({ present, changedAt }) => present || changedAt.getTime() > returnedSince),
      known,
    );
}

/** Pure. */
function explain(rows: readonly DownRow[], { links, answered, reachOf, pingingMs }: Surroundings): Causes {
  const downs = rows.map(({ deviceId, since }) => ({ deviceId, since: since.getTime() }));
  const byId = new Map(rows.map((row) => [row.deviceId, row]));
  const beside = new Map([...answered].filter(([id]) => !byId.has(id)));
  const nameOf = (id: string) => byId.get(id)?.name ?? id;
  const sinceOf = (id: string) => byId.get(id)?.since.getTime() ?? 0;
  const latestMs = (id: string) => (byId.get(id)?.seldom ? LATE_ROOT_MS : Math.min(pingingMs, LATE_ROOT_MS));
  const roots = [...rootCauses(downs, links, beside, reachOf?.(downs))].map(([id, cause]) => {
    const { root } = cause;
    return [
      id,
      {
        id: root,
        name: nameOf(root),
        told: byId.get(root)?.told ?? false,
        late: sinceOf(root) > sinceOf(id) + latestMs(root),
        why: whyOf(cause, nameOf),
        returned: byId.get(root)?.present === false,
      },
    ] as const;
  });
  return { roots: new Map(roots), doubtful: doubtful(downs, links, beside) };
}

/** Most routers that are named. */
const NAMED = 3;

/** What stands behind a root's name where routers are why. */
function whyOf({ root, cutOff }: RootCause, nameOf: (id: string) => string): string {
  if (!cutOff) return '';
  const { routers, network } = cutOff;
  if (routers.length === 1 && routers[0] === root) return `, the only way into ${network}`;
  const names = routers.slice(0, NAMED).map(nameOf);
  if (routers.length > NAMED) names.push(`${routers.length - NAMED} more`);
  const last = names.pop();
  return names.length === 0
    ? `: ${last} is the only way into ${network}`
    : `: ${names.join(', ')} and ${last} are the only ways into ${network}`;
}
