/** Writes down which endpoints came, moved and went, after ingest changed where they were learnt. */
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { arrayOf } from '../platform/db/arrays.ts';
import type { Database } from '../platform/db/db.ts';
import { tryLock } from '../platform/db/lock.ts';
import type { Sql } from '../platform/db/sql.ts';
import { readOwners } from './identity.ts';
import { type Located, locate, type Wanted } from './locate.ts';
import { type Decision, decide, type Left, type Reported } from './moves.ts';
import { namedPort, portKey, readTraits } from './ports.ts';

/** Endpoints of one transaction, and transactions of a round: what is left comes with the next. */
const BATCH = 500;
const BATCHES = 40;
/** So long after an observation its endpoints are judged: other switches are read at about the same time. */
const SETTLE_MS = 60_000;

interface Due extends Wanted {
  firstSeen: Date;
  reported: Reported | null;
}
type Judged = Due & Located & Decision;

/** One round. @returns changes written */
export async function recordEndpointChanges({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  let written = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { due, changes } = await db.transaction(async (sql) =>
      (await tryLock(sql, 'endpoints')) ? recordBatch(sql, clock.now()) : { due: 0, changes: 0 },
    );
    written += changes;
    if (due < BATCH) break;
  }
  return written;
}

async function recordBatch(sql: Sql, now: number): Promise<{ due: number; changes: number }> {
  const due = await claim(sql, now);
  if (due.length === 0) return { due: 0, changes: 0 };
  // Of devices of the inventory the linker says where they are (device.moved).
  const owners = await readOwners(sql, due);
  const unowned = due.filter((_each, n) => !owners[n]);
  const located = await locate(sql, unowned, { at: undefined, now: Math.floor(now / 1000) });
  const strangers = located.filter(({ owner }) => owner === null);
  const left = await readLeft(sql, strangers);
  const judged = strangers.map((each, n) => ({
    ...each,
    ...decide(each, each.reported, left.get(n) ?? [], now),
  }));
  const changed = judged.filter(({ change }) => change !== null);
  await writeReported(sql, judged);
  await writeChanges(sql, changed);
  return { due: due.length, changes: changed.length };
}

/** Takes what is due. Ingest that changes one of them meanwhile waits, and it is due again. Never waits itself. */
function claim(sql: Sql, now: number): Promise<Due[]> {
  return sql.query<Due & Record<string, unknown>>(
    `UPDATE endpoint_macs m SET due_at = NULL
     FROM (SELECT site_id, mac FROM endpoint_macs WHERE due_at <= $1::timestamptz
       ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) d
     WHERE m.site_id = d.site_id AND m.mac = d.mac
     RETURNING m.site_id AS "siteId", m.mac, m.first_seen AS "firstSeen", m.gone_at AS "goneAt", m.reported`,
    [new Date(now - SETTLE_MS)],
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

async function writeReported(sql: Sql, judged: readonly Judged[]): Promise<void> {
  const rows = judged.map(({ reported, ...each }) => ({
    ...each,
    reported: reported && { ...reported, ports: reported.ports.map(namedPort) },
  }));
  await sql.query(
    `UPDATE endpoint_macs m SET reported = r.reported, due_at = r.due
     FROM unnest($1::uuid[], $2::text[], $3::jsonb[], $4::timestamptz[]) AS r(site, mac, reported, due)
     WHERE m.site_id = r.site AND m.mac = r.mac`,
    [
      ...[arrayOf('uuid', rows, 'siteId'), arrayOf('text', rows, 'mac')],
      ...[arrayOf('jsonb', rows, 'reported'), arrayOf('timestamptz', rows, 'dueAt')],
    ],
  );
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
