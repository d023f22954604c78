/** What keeps conditions from being raised right now, read from the other conditions and the links of a site. */
import type { Sql } from '../../platform/db/sql.ts';
import { readFarEnds, readLinks } from '../correlation/neighbours.ts';
import { readAnswered, readTerrain } from '../correlation/networks.ts';
import { reachOf } from '../correlation/reachability.ts';
import { doubtful, type RootCause, rootCauses } from '../correlation/root-cause.ts';
import { readSessionCauses } from '../correlation/sessions.ts';
import { type EventCode, kindOf } from '../kinds/kinds.ts';
import { readSettings } from '../settings.ts';
import { type ConditionState, LATE_ROOT_MS, type Root, type Silence } from './condition.ts';
import type { Loaded } from './store.ts';

/** States in which silence decides. */
const JUDGED: ReadonlySet<ConditionState> = new Set(['held', 'suppressed', 'raised']);

/** Condition key → its silence, for those of `due` that have one. */
export async function readSilences(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
  now: number,
): Promise<Map<string, Silence>> {
  const silences = new Map<string, Silence>();
  const waiting = due.filter(({ condition }) => JUDGED.has(condition.state));
  const watched = waiting.filter(({ condition }) => silenceable(condition.kind));
  const silencers = new Set(waiting.flatMap(({ condition }) => kindOf(condition.kind).silencedBy ?? []));
  if (watched.length > 0 && (await isLost(sql, siteId))) {
    for (const { key } of watched) silences.set(key, { by: 'collector' });
    return silences;
  }
  const { recoveryMs, readingMs } = await readSettings(sql, siteId);
  await readPorts(sql, siteId, waiting, now - recoveryMs, silences);
  await silenceSessions(sql, siteId, { waiting, since: now - recoveryMs - SESSIONS_READ_MS }, silences);
  const present = await readPresent(sql, siteId, [...silencers], now - recoveryMs);
  const wrong = new Set(present.map(({ kind, deviceId }) => `${kind} ${deviceId}`));
  for (const { key, condition } of waiting) {
    const by = kindOf(condition.kind).silencedBy ?? [];
    if (by.some((kind) => wrong.has(`${kind} ${condition.opening.deviceId}`)))
      silences.set(key, { by: 'same-device' });
  }
  const suppressible = waiting.filter(({ condition }) => kindOf(condition.kind).suppressed);
  if (suppressible.length === 0) return silences;
  const { roots, doubtful: doubts } = await readRootCauses(sql, siteId, now);
  const { roots: returned } = await readRootCauses(sql, siteId, now, now - recoveryMs);
  const { roots: longReturned } = suppressible.some(seldomAsked)
    ? await readRootCauses(sql, siteId, now, now - recoveryMs - readingMs)
    : { roots: returned };
  for (const each of suppressible) {
    const { key, condition } = each;
    const id = condition.opening.deviceId ?? '';
    const root = roots.get(id);
    const before = (seldomAsked(each) ? longReturned : returned).get(id);
    // Also where the root is not back: what answers beside it came back, so the root may be about to.
    if (before && (before.returned || !root)) silences.set(key, { by: 'recovery' });
    else if (root) silences.set(key, { by: 'path', root });
    else if (condition.state === 'held' && doubts.has(id)) silences.set(key, { by: 'doubt' });
  }
  return silences;
}

/**
 * Held conditions that may prove to lie behind something: their collector has not heard all others since it reported them.
 * Keys. One that is later than a device is found down by far is not waited for, nor one that tells no such thing.
 */
export async function readUnsettled(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
  now: number,
): Promise<Set<string>> {
  const held = due.filter(
    ({ condition: { state, kind, opening } }) =>
      state === 'held' && kindOf(kind).suppressed && opening.collectorId !== null,
  );
  if (held.length === 0) return new Set();
  const { pingingMs, holdMs } = await readSettings(sql, siteId);
  const rows = await sql.query<{ id: string; at: Date }>(
    `SELECT collector_id AS id, max(settled_until) AS at FROM collector_streams
     WHERE collector_id = ANY($1::uuid[]) AND settled_until IS NOT NULL GROUP BY collector_id`,
    [[...new Set(held.map(({ condition }) => condition.opening.collectorId))]],
  );
  const until = new Map(rows.map(({ id, at }) => [id, at.getTime()]));
  const isUnsettled = ({ condition: { since, kind, opening } }: Loaded): boolean =>
    (until.get(opening.collectorId ?? '') ?? since) < since && now < since + holdMs(kind) + pingingMs;
  return new Set(held.filter(isUnsettled).map(({ key }) => key));
}

/** Its agent alone answers: that it is back is known with the next reading. */
const seldomAsked = ({ condition: { opening } }: Loaded): boolean =>
  (opening.details.before as { snmp?: unknown } | undefined)?.snmp === 'ok';

/**
 * Ports that lead to a device that is down: that is told first, so that the port is placed where it belongs. Of one that
 * came back a moment ago the port comes up with its next reading.
 */
async function readPorts(
  sql: Sql,
  siteId: string,
  waiting: readonly Loaded[],
  since: number,
  silences: Map<string, Silence>,
): Promise<void> {
  const ports = waiting.flatMap(({ key, condition: { kind, opening } }) =>
    kind === 'interface.down' && opening.interfaceId ? [{ key, interfaceId: opening.interfaceId }] : [],
  );
  if (ports.length === 0) return;
  const far = await readFarEnds(
    sql,
    siteId,
    ports.map(({ interfaceId }) => interfaceId),
  );
  const rows = await sql.query<{ deviceId: string; present: boolean }>(
    `SELECT device_id AS "deviceId", present FROM conditions WHERE site_id = $1::uuid AND kind = 'device.down'
       AND device_id = ANY($2::uuid[]) AND (present AND event_id IS NULL OR NOT present AND changed_at > $3::timestamptz)`,
    [siteId, [...new Set([...far.values()].flatMap((ids) => [...ids]))], new Date(since)],
  );
  const untold = new Map(rows.map(({ deviceId, present }) => [deviceId, present]));
  for (const { key, interfaceId } of ports)
    for (const id of far.get(interfaceId) ?? []) {
      const present = untold.get(id);
      if (present !== undefined) silences.set(key, { by: present ? 'far-end' : 'recovery' });
    }
}

/** Sessions are read every five minutes: one that is back is known to be so late. */
const SESSIONS_READ_MS = 330_000;

/** Sessions over a link or a device that is down: the one event says it, of both ends of all of them. */
async function silenceSessions(
  sql: Sql,
  siteId: string,
  { waiting, since }: { waiting: readonly Loaded[]; since: number },
  silences: Map<string, Silence>,
): Promise<void> {
  const sessions = waiting.flatMap(({ key, condition: { kind, since: downSince, opening } }) =>
    kind === 'session.down' && opening.deviceId !== null
      ? [{ key, deviceId: opening.deviceId, peer: peerIn(opening.details), since: downSince }]
      : [],
  );
  for (const [key, present] of await readSessionCauses(sql, siteId, sessions, since))
    silences.set(key, { by: present ? 'far-end' : 'recovery' });
}

/** The address of the far end of a session, out of the details of its event. */
function peerIn(details: Readonly<Record<string, unknown>>): string | null {
  const peer = (details.after as { peer?: unknown } | undefined)?.peer;
  return typeof peer === 'string' ? peer : null;
}

/** Kinds that the watch finds and something else may explain; a collector's own troubles are not among them. */
const silenceable = (kind: EventCode): boolean => {
  const { suppressed = false, silencedBy = [] } = kindOf(kind);
  return suppressed || silencedBy.length > 0;
};

const LOST: EventCode = 'collector.offline';

/** Whether a collector of the site is offline and none is connected: nobody is left that could look. */
async function isLost(sql: Sql, siteId: string): Promise<boolean> {
  const rows = await sql.query(
    `SELECT 1 FROM conditions WHERE site_id = $1::uuid AND present AND kind = $2
       AND NOT EXISTS (SELECT 1 FROM collectors
         WHERE site_id = $1::uuid AND status = 'active' AND instance IS NOT NULL) LIMIT 1`,
    [siteId, LOST],
  );
  return rows.length > 0;
}

/** Conditions of some kinds that are present, or were until a moment ago: what they kept silent has to recover. */
function readPresent(
  sql: Sql,
  siteId: string,
  kinds: readonly string[],
  since: number,
): Promise<{ kind: string; deviceId: string | null }[]> {
  if (kinds.length === 0) return Promise.resolve([]);
  return sql.query(
    `SELECT kind, device_id AS "deviceId" FROM conditions WHERE site_id = $1::uuid AND kind = ANY($2::text[])
       AND (present OR changed_at > $3::timestamptz)`,
    [siteId, kinds, new Date(since)],
  );
}

/**
 * Device → the device that explains why it is down; and those of which that is about to be known.
 * @param returnedSince counts devices as down that came back after this moment (Unix milliseconds): routes and answers
 *   of what lies behind them take a while to return.
 */
export async function readRootCauses(
  sql: Sql,
  siteId: string,
  now: number,
  returnedSince?: number,
): Promise<{ roots: Map<string, Root & { returned: boolean }>; doubtful: Set<string> }> {
  const rows = await sql.query<{
    deviceId: string;
    since: Date;
    name: string;
    present: boolean;
    told: boolean;
    seldom: boolean;
  }>(
    `SELECT device_id AS "deviceId", since, opening ->> 'deviceName' AS name, present, event_id IS NOT NULL AS told,
       coalesce(opening #>> '{details,before,snmp}' = 'ok', false) AS seldom
     FROM conditions
     WHERE site_id = $1::uuid AND (present OR changed_at > $2::timestamptz) AND kind = 'device.down'
       AND device_id IS NOT NULL`,
    [siteId, returnedSince === undefined ? 'infinity' : new Date(returnedSince)],
  );
  const downs = rows.map(({ deviceId, since }) => ({ deviceId, since: since.getTime() }));
  const links = await readLinks(
    sql,
    siteId,
    downs.map(({ deviceId }) => deviceId),
  );
  const down = new Set(downs.map(({ deviceId }) => deviceId));
  const around = [...links.keys()].filter((id) => !down.has(id));
  const { readingMs, pingingMs } = await readSettings(sql, siteId);
  const lastRead = now - readingMs;
  const answered = await readAnswered(sql, siteId, around, { now, lastRead });
  const known = await readTerrain(sql, siteId, downs, { now, lastRead });
  const explained = rootCauses(
    downs,
    links,
    answered,
    known ? reachOf(known.lost, known.topology) : undefined,
  );
  const byId = new Map(rows.map((row) => [row.deviceId, row]));
  const nameOf = (id: string) => byId.get(id)?.name ?? id;
  const back = new Set(rows.flatMap(({ deviceId, present }) => (present ? [] : [deviceId])));
  const sinceOf = (id: string) => byId.get(id)?.since.getTime() ?? 0;
  const latestMs = (id: string) => (byId.get(id)?.seldom ? LATE_ROOT_MS : Math.min(pingingMs, LATE_ROOT_MS));
  const roots = new Map(
    [...explained].map(([id, cause]) => [
      id,
      {
        id: cause.root,
        name: nameOf(cause.root),
        told: byId.get(cause.root)?.told ?? false,
        late: sinceOf(cause.root) > sinceOf(id) + latestMs(cause.root),
        why: whyOf(cause, nameOf),
        returned: back.has(cause.root),
      },
    ]),
  );
  return { roots, doubtful: doubtful(downs, links, answered) };
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
