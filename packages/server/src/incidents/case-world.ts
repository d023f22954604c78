/** What grouping needs to know, read for the events at hand and no more. */
import { SITE_DEFAULTS, type SiteSettings, siteSettings } from '@rollcall/shared/api/sites';
import type { Sql } from '../kernel/sql.ts';
import { type Grouped, type Grouping, group, type Incoming, type OpenCase } from './group.ts';
import { isEventCode, KINDS, kindOf, NOTICES } from './kinds.ts';
import type { FreshEvent } from './ledger.ts';
import { readLinks } from './neighbourhood.ts';

/** Kinds that open cases. */
const OPENERS = Object.keys(KINDS).filter((code) => isEventCode(code) && kindOf(code).cases === 'opens');

/** Notices that join a case of their device. */
const JOINERS = NOTICES.filter((code) => kindOf(code).cases === 'joins');

const groupingOf = (settings: SiteSettings): Grouping => ({
  windowMs: (settings.caseWindowSeconds ?? SITE_DEFAULTS.caseWindowSeconds) * 1000,
  minimum: settings.caseMinimumEvents ?? SITE_DEFAULTS.caseMinimumEvents,
  reopenMs: (settings.caseReopenSeconds ?? SITE_DEFAULTS.caseReopenSeconds) * 1000,
});

export const incomingOf = (event: FreshEvent): Incoming => ({
  eventId: event.id,
  at: event.firstSeen,
  message: event.body.message,
  deviceId: event.body.deviceId,
  rootId: event.root?.id ?? null,
  formerCaseId: event.formerCaseId,
  // One that is over already is no reason for a case.
  opens: kindOf(event.code).cases === 'opens' && event.closedAt === null,
});

/** Groups events with the open cases of their site. */
export async function groupEvents(
  sql: Sql,
  siteId: string,
  incoming: readonly Incoming[],
  now: number,
  newId: () => string,
): Promise<Grouped> {
  const [site] = await sql.query<{ settings: unknown }>('SELECT settings FROM sites WHERE id = $1::uuid', [
    siteId,
  ]);
  const grouping = groupingOf(siteSettings.catch({}).parse(site?.settings ?? {}));
  const devices = [...new Set(incoming.flatMap(({ deviceId, rootId }) => [deviceId, rootId]))].filter(
    (id) => id !== null,
  );
  const former = [...new Set(incoming.flatMap(({ formerCaseId }) => formerCaseId ?? []))];
  const readCases = (around: readonly string[]) => readOpenCases(sql, siteId, around, former, now, grouping);
  const near = await readCases(devices);
  // Links decide only about devices that are in no case: in a storm, few.
  const placed = new Set(near.flatMap((c) => [...c.deviceIds, ...(c.rootDeviceId ? [c.rootDeviceId] : [])]));
  const strangers = devices.filter((id) => !placed.has(id));
  const links = await readLinks(sql, siteId, strangers);
  const further = [...links.keys()].filter((id) => !devices.includes(id));
  return group(incoming, {
    cases: further.length > 0 ? await readCases([...devices, ...further]) : near,
    links,
    shadows: await readShadowed(sql, siteId, devices, incoming),
    waiting: grouping.minimum > 1 ? await readWaiting(sql, siteId, devices, incoming) : new Map(),
    joiners: await readJoiners(sql, siteId, devices, incoming, now - grouping.windowMs),
    grouping,
    newId,
  });
}

async function readOpenCases(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  former: readonly string[],
  now: number,
  { windowMs, reopenMs }: Grouping,
): Promise<OpenCase[]> {
  const rows = await sql.query<{
    id: string;
    rootDeviceId: string | null;
    deviceIds: string[];
    siteLevel: boolean;
    begunAt: Date;
  }>(
    `WITH touched AS MATERIALIZED (
       SELECT DISTINCT e.case_id, e.device_id FROM events e
       WHERE e.device_id = ANY($2::uuid[]) AND e.case_id IS NOT NULL
         AND (e.status < 2 OR e.timestamp > $4::timestamptz)),
     chosen AS (
       SELECT case_id AS id FROM touched
       UNION SELECT unnest($3::uuid[])
       UNION SELECT c.id FROM cases c WHERE c.root_device_id = ANY($2::uuid[]) AND c.status < 3
       UNION SELECT c.id FROM cases c
         WHERE c.site_id = $1::uuid AND c.root_device_id IS NULL AND c.updated_at > $5::timestamptz)
     SELECT c.id, c.root_device_id AS "rootDeviceId",
       (SELECT coalesce(array_agg(t.device_id), '{}') FROM touched t WHERE t.case_id = c.id) AS "deviceIds",
       (c.root_device_id IS NULL AND EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id)
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id AND e.device_id IS NOT NULL)) AS "siteLevel",
       coalesce(c.begun_at, c.created_at) AS "begunAt"
     FROM cases c JOIN chosen USING (id)
     WHERE c.site_id = $1::uuid AND (c.status < 2 OR (c.status = 2 AND c.resolved_at > $4::timestamptz))
     ORDER BY c.created_at, c.id`,
    [siteId, devices, former, new Date(now - reopenMs), new Date(now - windowMs)],
  );
  return rows.map(({ deviceIds, begunAt, ...row }) => ({
    ...row,
    deviceIds: new Set(deviceIds),
    begunAt: begunAt.getTime(),
  }));
}

async function readWaiting(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  incoming: readonly Incoming[],
): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ deviceId: string | null; ids: string[] }>(
    `SELECT device_id AS "deviceId", array_agg(id ORDER BY first_seen) AS ids FROM events
     WHERE site_id = $1::uuid AND status < 2 AND case_id IS NULL AND maintenance_until IS NULL AND kind = ANY($2::text[])
       AND (device_id IS NULL OR device_id = ANY($3::uuid[])) AND NOT id = ANY($4::uuid[])
     GROUP BY device_id`,
    [siteId, OPENERS, devices, incoming.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map(({ deviceId, ids }) => [deviceId ?? '', ids]));
}

/** Notices of the last minutes that wait for a case of their device, by device. */
async function readJoiners(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  incoming: readonly Incoming[],
  since: number,
): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ deviceId: string; ids: string[] }>(
    `SELECT device_id AS "deviceId", array_agg(id ORDER BY first_seen) AS ids FROM events
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND status < 2 AND case_id IS NULL
       AND maintenance_until IS NULL AND kind = ANY($3::text[]) AND timestamp >= $4::timestamptz
       AND NOT id = ANY($5::uuid[])
     GROUP BY device_id`,
    [siteId, devices, JOINERS, new Date(since), incoming.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map(({ deviceId, ids }) => [deviceId, ids]));
}

/** Shadows that found no case yet, by the device that explains them. */
async function readShadowed(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  incoming: readonly Incoming[],
): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ root: string; ids: string[] }>(
    `SELECT details ->> 'rootDeviceId' AS root, array_agg(id) AS ids FROM events
     WHERE site_id = $1::uuid AND status < 2 AND case_id IS NULL AND maintenance_until IS NULL AND kind = 'device.unreachable'
       AND details ->> 'rootDeviceId' = ANY($2::text[]) AND NOT id = ANY($3::uuid[])
     GROUP BY 1`,
    [siteId, devices, incoming.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map(({ root, ids }) => [root, ids]));
}
