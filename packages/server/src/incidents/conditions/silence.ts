/** What keeps conditions from being raised right now, read from the other conditions and the links of a site. */
import type { Sql } from '../../platform/db/sql.ts';
import { readLinks } from '../correlation/neighbours.ts';
import { readTerrain } from '../correlation/networks.ts';
import { reachOf } from '../correlation/reachability.ts';
import { type RootCause, rootCauses } from '../correlation/root-cause.ts';
import { type EventCode, kindOf } from '../kinds/kinds.ts';
import type { Root, Silence } from './condition.ts';
import type { Loaded } from './store.ts';

/** Condition key → its silence, for those of `due` that have one. */
export async function readSilences(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
): Promise<Map<string, Silence>> {
  const silences = new Map<string, Silence>();
  const waiting = due.filter(
    ({ condition }) => condition.state === 'held' || condition.state === 'suppressed',
  );
  const watched = waiting.filter(({ condition }) => silenceable(condition.kind));
  const silencers = new Set(waiting.flatMap(({ condition }) => kindOf(condition.kind).silencedBy ?? []));
  const present = await readPresent(sql, siteId, [...silencers, ...(watched.length > 0 ? [LOST] : [])]);
  if (present.some(({ kind }) => kind === LOST) && (await nobodyLooks(sql, siteId))) {
    for (const { key } of watched) silences.set(key, { by: 'collector' });
    return silences;
  }
  const wrong = new Set(present.map(({ kind, deviceId }) => `${kind} ${deviceId}`));
  for (const { key, condition } of waiting) {
    const by = kindOf(condition.kind).silencedBy ?? [];
    if (by.some((kind) => wrong.has(`${kind} ${condition.opening.deviceId}`)))
      silences.set(key, { by: 'same-device' });
  }
  const suppressible = waiting.filter(({ condition }) => kindOf(condition.kind).suppressed);
  if (suppressible.length === 0) return silences;
  const roots = await readRootCauses(sql, siteId);
  for (const { key, condition } of suppressible) {
    const root = roots.get(condition.opening.deviceId ?? '');
    if (root) silences.set(key, { by: 'path', root });
  }
  return silences;
}

/** Kinds that the watch finds and something else may explain; a collector's own troubles are not among them. */
const silenceable = (kind: EventCode): boolean => {
  const { suppressed = false, silencedBy = [] } = kindOf(kind);
  return suppressed || silencedBy.length > 0;
};

const LOST: EventCode = 'collector.offline';

/** Whether no collector of the site is connected: where one is lost, nobody is left that could look. */
async function nobodyLooks(sql: Sql, siteId: string): Promise<boolean> {
  const rows = await sql.query(
    `SELECT 1 FROM collectors WHERE site_id = $1::uuid AND status = 'active' AND instance IS NOT NULL LIMIT 1`,
    [siteId],
  );
  return rows.length === 0;
}

function readPresent(
  sql: Sql,
  siteId: string,
  kinds: readonly string[],
): Promise<{ kind: string; deviceId: string | null }[]> {
  if (kinds.length === 0) return Promise.resolve([]);
  return sql.query(
    'SELECT kind, device_id AS "deviceId" FROM conditions WHERE site_id = $1::uuid AND present AND kind = ANY($2::text[])',
    [siteId, kinds],
  );
}

/** Device → the device that explains why it is down. */
export async function readRootCauses(sql: Sql, siteId: string): Promise<Map<string, Root>> {
  const rows = await sql.query<{ deviceId: string; since: Date; name: string }>(
    `SELECT device_id AS "deviceId", since, opening ->> 'deviceName' AS name FROM conditions
     WHERE site_id = $1::uuid AND present AND kind = 'device.down' AND device_id IS NOT NULL`,
    [siteId],
  );
  const downs = rows.map(({ deviceId, since }) => ({ deviceId, since: since.getTime() }));
  const links = await readLinks(
    sql,
    siteId,
    downs.map(({ deviceId }) => deviceId),
  );
  const down = new Set(downs.map(({ deviceId }) => deviceId));
  const around = [...links.keys()].filter((id) => !down.has(id));
  // Only a watched device is known to be up; for others the last scan is long ago.
  const up = await sql.query<{ id: string }>(
    `SELECT id FROM devices WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND monitor AND status = 'up'`,
    [siteId, around],
  );
  const known = await readTerrain(sql, siteId, downs);
  const explained = rootCauses(
    downs,
    links,
    new Set(up.map(({ id }) => id)),
    known ? reachOf(known.lost, known.topology) : undefined,
  );
  const names = new Map(rows.map(({ deviceId, name }) => [deviceId, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  return new Map(
    [...explained].map(([id, cause]) => [
      id,
      { id: cause.root, name: nameOf(cause.root), why: whyOf(cause, nameOf) },
    ]),
  );
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
