/** Writes down which endpoints came, moved and went, after ingest changed where they were learnt. */
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Logger } from 'pino';
import { arrayOf } from '../platform/db/arrays.ts';
import type { Database } from '../platform/db/db.ts';
import type { Sql } from '../platform/db/sql.ts';
import { readOwners } from './identity.ts';
import { type Located, locate, type Wanted } from './locate.ts';
import { type Decision, decide, type Left, type Reported } from './moves.ts';
import { namedPort, portKey, readTraits } from './ports.ts';

/** Endpoints of one site that are judged at once, and such batches of a round: what is left comes with the next. */
const BATCH = 100;
const BATCHES = 200;
/** So long after an observation its endpoints are judged: other switches are read at about the same time. */
const SETTLE_MS = 60_000;
/** A batch that could not be judged is due again after so long. */
const RETRY_MS = 600_000;

interface Due extends Wanted {
  firstSeen: Date;
  reported: Reported | null;
}
type Judged = Due & Located & Decision;

interface Deps {
  db: Database;
  clock: Clock;
  log: Logger;
}

/** One round, the sites in turn. A site that fails holds up no other. @returns changes written */
export async function recordEndpointChanges({ db, clock, log }: Deps): Promise<number> {
  let written = 0;
  const failures = new Map<string, unknown>();
  let left = BATCHES;
  while (left > 0) {
    const sites = (await dueSites(db, clock.now())).filter((site) => !failures.has(site)).slice(0, left);
    if (sites.length === 0) break;
    left -= sites.length;
    for (const site of sites)
      try {
        written += await recordBatch(db, site, clock.now());
      } catch (error) {
        failures.set(site, error);
      }
  }
  if (left === 0) log.warn('more endpoints changed than a round takes: their changes are told later');
  if (failures.size > 0)
    throw new AggregateError(
      failures.values(),
      `of ${failures.size} ${failures.size === 1 ? 'site' : 'sites'} nothing was written`,
    );
  return written;
}

/** Those first that wait longest. */
async function dueSites(sql: Sql, now: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT s.id FROM sites s CROSS JOIN LATERAL (SELECT m.due_at FROM endpoint_macs m
       WHERE m.site_id = s.id AND m.due_at <= $1::timestamptz ORDER BY m.due_at LIMIT 1) m
     ORDER BY m.due_at, s.id`,
    [new Date(now - SETTLE_MS)],
  );
  return rows.map(({ id }) => id);
}

async function recordBatch(db: Database, siteId: string, now: number): Promise<number> {
  const retryAt = new Date(now + RETRY_MS);
  const due = await claim(db, siteId, { now, retryAt });
  if (due.length === 0) return 0;
  // Of devices of the inventory the linker says where they are (device.moved).
  const owners = await readOwners(db, due);
  const unowned = due.filter((_each, n) => !owners[n]);
  const located = await locate(db, unowned, { at: undefined, now: Math.floor(now / 1000) });
  const strangers = located.filter(({ owner }) => owner === null);
  const left = await readLeft(db, strangers);
  const judged = new Map<string, Judged>(
    strangers.map((each, n) => [
      each.mac,
      { ...each, ...decide(each, each.reported, left.get(n) ?? [], now) },
    ]),
  );
  return db.transaction(async (sql) => {
    const done = await writeReported(
      sql,
      due.map((each) => judged.get(each.mac) ?? { ...each, dueAt: null }),
      retryAt,
    );
    const changed = [...judged.values()].filter(({ mac, change }) => change !== null && done.has(mac));
    await writeChanges(sql, changed);
    return changed.length;
  });
}

/**
 * Takes what is due until `retryAt`. Nothing is locked meanwhile: ingest that changes one of them sets an earlier time, and then
 * it is judged again.
 */
function claim(sql: Sql, siteId: string, { now, retryAt }: { now: number; retryAt: Date }): Promise<Due[]> {
  return sql.query<Due & Record<string, unknown>>(
    `UPDATE endpoint_macs m SET due_at = $3::timestamptz
     FROM (SELECT mac FROM endpoint_macs WHERE site_id = $1::uuid AND due_at <= $2::timestamptz
       ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) d
     WHERE m.site_id = $1::uuid AND m.mac = d.mac
     RETURNING m.site_id AS "siteId", m.mac, m.first_seen AS "firstSeen", m.gone_at AS "goneAt", m.reported`,
    [siteId, new Date(now - SETTLE_MS), retryAt],
  );
}

/** The ports that were reported, as they are now, by place in `asked`. */
async function readLeft(sql: Sql, asked: readonly Due[]): Promise<ReadonlyMap<number, Left[]>> {
  const ports = asked.flatMap(({ siteId, mac, reported }, n) =>
    (reported?.ports ?? []).map((port) => ({ ...port, n, siteId, mac })),
  );
  if (ports.length === 0) return new Map();
  const traits = await readTraits(sql, ports);
  const rows = await sql.query<{ place: number; endedAt: number | null }>(
    `SELECT p.place::int - 1 AS place, e."endedAt"
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::int8[]) WITH ORDINALITY AS p(site, mac, device, port, place)
     CROSS JOIN LATERAL (SELECT CASE WHEN bool_and(e.until IS NOT NULL) THEN extract(epoch FROM max(e.until))::float8 END AS "endedAt"
       FROM endpoints e WHERE e.site_id = p.site AND e.mac = p.mac AND e.device_id = p.device AND e.if_index = p.port
         AND e.address = '') e`,
    [
      ...[arrayOf('uuid', ports, 'siteId'), arrayOf('text', ports, 'mac')],
      ...[arrayOf('uuid', ports, 'deviceId'), arrayOf('bigint', ports, 'ifIndex')],
    ],
  );
  const left = new Map<number, Left[]>();
  for (const { place, endedAt } of rows) {
    const port = ports[place];
    if (!port) continue;
    const { aggregate } = traits.get(portKey(port)) ?? {};
    left.set(port.n, [...(left.get(port.n) ?? []), { ...namedPort(port), endedAt, aggregate }]);
  }
  return left;
}

/** @returns addresses that are as they were when they were judged; the others are due again. */
async function writeReported(
  sql: Sql,
  judged: readonly (Due & Pick<Decision, 'dueAt'>)[],
  retryAt: Date,
): Promise<ReadonlySet<string>> {
  const rows = judged.map(({ reported, ...each }) => ({
    ...each,
    reported: reported && { ...reported, ports: reported.ports.map(namedPort) },
  }));
  const done = await sql.query<{ mac: string }>(
    `UPDATE endpoint_macs m SET reported = r.reported, due_at = r.due
     FROM unnest($1::uuid[], $2::text[], $3::jsonb[], $4::timestamptz[]) AS r(site, mac, reported, due)
     WHERE m.site_id = r.site AND m.mac = r.mac AND m.due_at = $5::timestamptz RETURNING m.mac`,
    [
      ...[arrayOf('uuid', rows, 'siteId'), arrayOf('text', rows, 'mac')],
      ...[arrayOf('jsonb', rows, 'reported'), arrayOf('timestamptz', rows, 'dueAt'), retryAt],
    ],
  );
  return new Set(done.map(({ mac }) => mac));
}

async function writeChanges(sql: Sql, changed: readonly Judged[]): Promise<void> {
  const rows = changed.flatMap(({ siteId, mac, change, reported, ...each }) => {
    if (!change) return [];
    const [port] = reported?.ports ?? [];
    const [from] = change.kind === 'endpoint.moved' ? (change.before.ports ?? []) : [];
    const { name, addresses, vlans } = each;
    const ports = (reported?.ports ?? []).map(namedPort);
    const went = change.kind === 'endpoint.removed';
    const known = { name, addresses, vlans };
    return {
      ...{ siteId, id: uuidv7(), at: change.at, mac, kind: change.kind },
      ...{ deviceId: port?.deviceId, interfaceId: port?.interfaceId },
      ...{ fromDeviceId: from?.deviceId, fromInterfaceId: from?.interfaceId },
      before: went ? { ...change.before, ...known } : change.before,
      after: went ? {} : { ...known, ports },
    };
  });
  if (rows.length === 0) return;
  await sql.query(
    `INSERT INTO endpoint_changes (site_id, id, at, mac, kind, device_id, interface_id, from_device_id, from_interface_id,
       before, after, collector_id)
     SELECT r.site, r.id, r.at, r.mac, r.kind, r.device, r.interface, r."fromDevice", r."fromInterface", r.before, r.after, d.collector_id
     FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::uuid[], $9::uuid[],
       $10::jsonb[], $11::jsonb[]) AS r(site, id, at, mac, kind, device, interface, "fromDevice", "fromInterface", before, after)
     LEFT JOIN devices d ON d.site_id = r.site AND d.id = r.device`,
    [
      ...[arrayOf('uuid', rows, 'siteId'), arrayOf('uuid', rows, 'id'), arrayOf('timestamptz', rows, 'at')],
      ...[arrayOf('text', rows, 'mac'), arrayOf('text', rows, 'kind')],
      ...[arrayOf('uuid', rows, 'deviceId'), arrayOf('uuid', rows, 'interfaceId')],
      ...[arrayOf('uuid', rows, 'fromDeviceId'), arrayOf('uuid', rows, 'fromInterfaceId')],
      ...[arrayOf('jsonb', rows, 'before'), arrayOf('jsonb', rows, 'after')],
    ],
  );
}
