/** What keeps conditions from being raised right now, read from the other conditions and the links of a site. */
import type { Sql } from '../kernel/sql.ts';
import type { Silence } from './condition.ts';
import { type EventCode, kindOf } from './kinds.ts';
import { readLinks } from './neighbourhood.ts';
import { shadows } from './shadow.ts';
import type { Loaded } from './store.ts';

/** Condition key → its silence, for those of `due` that have one. */
export async function readSilences(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
): Promise<Map<string, Silence>> {
  const silences = new Map<string, Silence>();
  const waiting = due.filter(({ condition }) => condition.state === 'held' || condition.state === 'shadowed');
  const watched = waiting.filter(({ condition }) => silenceable(condition.kind));
  if (watched.length > 0 && (await isBlind(sql, siteId))) {
    for (const { key } of watched) silences.set(key, { by: 'collector' });
    return silences;
  }
  const silencers = [...new Set(waiting.flatMap(({ condition }) => kindOf(condition.kind).silencedBy ?? []))];
  const present = await readPresent(sql, siteId, silencers);
  for (const { key, condition } of waiting) {
    const by = kindOf(condition.kind).silencedBy ?? [];
    if (by.some((kind) => present.has(`${kind} ${condition.opening.deviceId}`)))
      silences.set(key, { by: 'same-device' });
  }
  const shadowable = waiting.filter(({ condition }) => kindOf(condition.kind).shadowed);
  if (shadowable.length === 0) return silences;
  const roots = await readShadows(sql, siteId);
  for (const { key, condition } of shadowable) {
    const root = roots.get(condition.opening.deviceId ?? '');
    if (root) silences.set(key, { by: 'path', root });
  }
  return silences;
}

/** Kinds that the watch finds and something else may explain; a collector's own troubles are not among them. */
const silenceable = (kind: EventCode): boolean => {
  const { shadowed = false, silencedBy = [] } = kindOf(kind);
  return shadowed || silencedBy.length > 0;
};

/** Whether a collector of the site is lost and none is left that could look. */
async function isBlind(sql: Sql, siteId: string): Promise<boolean> {
  const [row] = await sql.query<{ blind: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM conditions WHERE site_id = $1::uuid AND present AND kind = 'collector.offline')
       AND NOT EXISTS (SELECT 1 FROM collectors
         WHERE site_id = $1::uuid AND status = 'active' AND instance IS NOT NULL) AS blind`,
    [siteId],
  );
  return row?.blind ?? false;
}

async function readPresent(sql: Sql, siteId: string, kinds: readonly string[]): Promise<Set<string>> {
  if (kinds.length === 0) return new Set();
  const rows = await sql.query<{ kind: string; deviceId: string }>(
    'SELECT kind, device_id AS "deviceId" FROM conditions WHERE site_id = $1::uuid AND present AND kind = ANY($2::text[])',
    [siteId, kinds],
  );
  return new Set(rows.map(({ kind, deviceId }) => `${kind} ${deviceId}`));
}

/** Device → the device that explains why it is down. */
async function readShadows(sql: Sql, siteId: string): Promise<Map<string, { id: string; name: string }>> {
  const downs = await sql.query<{ deviceId: string; since: Date; name: string }>(
    `SELECT device_id AS "deviceId", since, opening ->> 'deviceName' AS name FROM conditions
     WHERE site_id = $1::uuid AND present AND kind = 'device.down' AND device_id IS NOT NULL`,
    [siteId],
  );
  const links = await readLinks(
    sql,
    siteId,
    downs.map(({ deviceId }) => deviceId),
  );
  const down = new Set(downs.map(({ deviceId }) => deviceId));
  const around = [...links.keys()].filter((id) => !down.has(id));
  // Only a watched device is known to be up; for others the last scan's word is old.
  const up = await sql.query<{ id: string }>(
    `SELECT id FROM devices WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND monitor AND status = 'up'`,
    [siteId, around],
  );
  const explained = shadows(
    downs.map(({ deviceId, since }) => ({ deviceId, since: since.getTime() })),
    links,
    new Set(up.map(({ id }) => id)),
  );
  const names = new Map(downs.map(({ deviceId, name }) => [deviceId, name]));
  return new Map([...explained].map(([id, root]) => [id, { id: root, name: names.get(root) ?? root }]));
}
