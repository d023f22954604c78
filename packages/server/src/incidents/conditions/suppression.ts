/** What keeps conditions from being raised right now, read from the other conditions and the links of a site. */
import type { Sql } from '../../platform/db/sql.ts';
import { readCauses } from '../correlation/causes.ts';
import { readFarEnds } from '../correlation/neighbours.ts';
import { peerIn, readSessionCauses } from '../correlation/sessions.ts';
import { readDownParents } from '../correlation/subinterfaces.ts';
import { type EventCode, isSuppressible, kindOf } from '../kinds/kinds.ts';
import type { IncidentSettings } from '../settings.ts';
import type { ConditionState, Suppression } from './condition.ts';
import type { Loaded } from './store.ts';

/** States in which suppression decides. */
const JUDGED: ReadonlySet<ConditionState> = new Set(['held', 'suppressed', 'raised']);

/** When suppressions are judged, and what the site says of them. */
export interface Judging {
  now: number;
  settings: IncidentSettings;
}

/** Condition key → its suppression, for those of `due` that have one. */
export async function readSuppressions(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
  judging: Judging,
): Promise<Map<string, Suppression>> {
  const suppressions = new Map<string, Suppression>();
  const waiting = due.filter(({ condition }) => JUDGED.has(condition.state));
  const watched = waiting.filter(({ condition }) => isSuppressible(condition.kind));
  if (watched.length > 0 && (await isLost(sql, siteId))) {
    for (const { key } of watched) suppressions.set(key, { by: 'collector' });
    return suppressions;
  }
  const since = judging.now - judging.settings.recoveryMs;
  await suppressPorts(sql, siteId, { waiting, since }, suppressions);
  await suppressSessions(sql, siteId, { waiting, since: since - SESSIONS_READ_MS }, suppressions);
  await suppressBySameDevice(sql, siteId, { waiting, since }, judging, suppressions);
  await suppressByPath(sql, siteId, waiting, judging, suppressions);
  return suppressions;
}

/** Trouble that another trouble of the same device explains. */
async function suppressBySameDevice(
  sql: Sql,
  siteId: string,
  { waiting, since }: { waiting: readonly Loaded[]; since: number },
  { now, settings: { holdMs } }: Judging,
  suppressions: Map<string, Suppression>,
): Promise<void> {
  const suppressorsOf = ({ condition }: Loaded) => kindOf(condition.kind).suppressedBy ?? [];
  const judged = waiting.filter((each) => suppressorsOf(each).length > 0);
  if (judged.length === 0) return;
  const longest = Math.max(...judged.map(({ condition }) => holdMs(condition.kind)));
  const troubles = await readTroubles(sql, siteId, {
    kinds: [...new Set(judged.flatMap(suppressorsOf))],
    devices: [...new Set(judged.flatMap(({ condition }) => condition.opening.deviceId ?? []))],
    since: Math.min(since, now - longest),
  });
  const explains = (trouble: Trouble, { kind, since: setIn }: Loaded['condition']): boolean => {
    const changedAt = trouble.changedAt.getTime();
    if (trouble.present || changedAt > since) return true;
    // While its device was down it was not observed: from then on it has to last anew.
    const wasTold =
      trouble.state === 'cleared' && changedAt - trouble.since.getTime() >= holdMs(trouble.kind);
    return wasTold && changedAt > setIn && now < changedAt + holdMs(kind);
  };
  // One of a kind and device: a storm has thousands.
  const known = new Map(troubles.map((one) => [`${one.kind} ${one.deviceId}`, one]));
  for (const each of judged) {
    const { key, condition } = each;
    const isExplained = suppressorsOf(each).some((kind) => {
      const trouble = known.get(`${kind} ${condition.opening.deviceId}`);
      return trouble !== undefined && explains(trouble, condition);
    });
    if (isExplained) suppressions.set(key, { by: 'same-device' });
  }
}

/** Devices that another device explains, which is down or came back a moment ago. */
async function suppressByPath(
  sql: Sql,
  siteId: string,
  waiting: readonly Loaded[],
  judging: Judging,
  suppressions: Map<string, Suppression>,
): Promise<void> {
  const behind = waiting.filter(({ condition }) => kindOf(condition.kind).explainable);
  if (behind.length === 0) return;
  const recent = judging.now - judging.settings.recoveryMs;
  const earlier = recent - judging.settings.readingMs;
  const causesOf = await readCauses(sql, siteId, judging, behind.some(isSeldomAsked) ? earlier : recent);
  const { roots, doubtful } = causesOf();
  const returned = causesOf(recent).roots;
  const longReturned = causesOf(earlier).roots;
  for (const each of behind) {
    const { key, condition } = each;
    const id = condition.opening.deviceId ?? '';
    const root = roots.get(id);
    const before = (isSeldomAsked(each) ? longReturned : returned).get(id);
    // Also where the root is not back: what answers beside it came back, so the root may be about to.
    if (before && (before.returned || !root)) suppressions.set(key, { by: 'recovery' });
    else if (root) suppressions.set(key, { by: 'path', root });
    else if (condition.state === 'held' && doubtful.has(id)) suppressions.set(key, { by: 'doubt' });
  }
}

/**
 * Held conditions that may prove to lie behind something: their collector has not heard all others since it reported them.
 * Keys. One that is later than a device is found down by far is not waited for, nor one that tells no such thing.
 */
export async function readUnsettled(
  sql: Sql,
  due: readonly Loaded[],
  { now, settings: { pingingMs, holdMs } }: Judging,
): Promise<Set<string>> {
  const held = due.filter(
    ({ condition: { state, kind, opening } }) =>
      state === 'held' && kindOf(kind).explainable && opening.collectorId !== null,
  );
  if (held.length === 0) return new Set();
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
const isSeldomAsked = ({ condition: { opening } }: Loaded): boolean =>
  (opening.details.before as { snmp?: unknown } | undefined)?.snmp === 'ok';

/**
 * Ports that lead to a device that is down: that is told first, so that the port is placed where it belongs. Of one that
 * came back a moment ago the port comes up with its next reading. And subinterfaces, of which their port says all.
 */
async function suppressPorts(
  sql: Sql,
  siteId: string,
  { waiting, since }: { waiting: readonly Loaded[]; since: number },
  suppressions: Map<string, Suppression>,
): Promise<void> {
  const ports = waiting.flatMap(({ key, condition: { kind, opening } }) =>
    kind === 'interface.down' && opening.interfaceId ? [{ key, interfaceId: opening.interfaceId }] : [],
  );
  if (ports.length === 0) return;
  const ids = ports.map(({ interfaceId }) => interfaceId);
  const far = await readFarEnds(sql, siteId, ids);
  const rows = await sql.query<{ deviceId: string; present: boolean }>(
    `SELECT device_id AS "deviceId", present FROM conditions WHERE site_id = $1::uuid AND kind = 'device.down'
       AND device_id = ANY($2::uuid[]) AND (present AND event_id IS NULL OR NOT present AND changed_at > $3::timestamptz)`,
    [siteId, [...new Set([...far.values()].flatMap((ids) => [...ids]))], new Date(since)],
  );
  const untold = new Map(rows.map(({ deviceId, present }) => [deviceId, present]));
  for (const { key, interfaceId } of ports)
    for (const id of far.get(interfaceId) ?? []) {
      const present = untold.get(id);
      if (present !== undefined) suppressions.set(key, { by: present ? 'far-end' : 'recovery' });
    }
  const parents = await readDownParents(sql, siteId, ids, since);
  for (const { key, interfaceId } of ports) {
    const present = parents.get(interfaceId);
    if (present !== undefined) suppressions.set(key, { by: present ? 'parent' : 'recovery' });
  }
}

/** Sessions are read every five minutes: one that is back is known to be so late. */
const SESSIONS_READ_MS = 330_000;

/** Sessions over a link or a device that is down: the one event says it, of both ends of all of them. */
async function suppressSessions(
  sql: Sql,
  siteId: string,
  { waiting, since }: { waiting: readonly Loaded[]; since: number },
  suppressions: Map<string, Suppression>,
): Promise<void> {
  const sessions = waiting.flatMap(({ key, condition: { kind, since: downSince, opening } }) =>
    kind === 'session.down' && opening.deviceId !== null
      ? [{ key, deviceId: opening.deviceId, peer: peerIn(opening.details), since: downSince }]
      : [],
  );
  for (const [key, present] of await readSessionCauses(sql, siteId, sessions, since))
    suppressions.set(key, { by: present ? 'far-end' : 'recovery' });
}

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

interface Trouble {
  kind: EventCode;
  deviceId: string | null;
  state: ConditionState;
  present: boolean;
  /** When it set in. */
  since: Date;
  /** Where it is over: since when. */
  changedAt: Date;
}

/** Conditions of some kinds and devices that are present, or were until a moment ago: what they kept silent has to recover. */
function readTroubles(
  sql: Sql,
  siteId: string,
  { kinds, devices, since }: { kinds: readonly string[]; devices: readonly string[]; since: number },
): Promise<Trouble[]> {
  return sql.query<Trouble & Record<string, unknown>>(
    `SELECT kind, device_id AS "deviceId", state, present, since, changed_at AS "changedAt" FROM conditions
     WHERE site_id = $1::uuid AND kind = ANY($2::text[]) AND device_id = ANY($3::uuid[])
       AND (present OR changed_at > $4::timestamptz)`,
    [siteId, kinds, devices, new Date(since)],
  );
}
