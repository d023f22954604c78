/** What grouping needs to know, read for the events at hand and no more. */
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import type { FreshEvent } from '../conditions/ledger.ts';
import { isEventCode, KINDS, kindOf, NOTICES } from '../kinds/kinds.ts';
import { type IncidentSettings, readSettings } from '../settings.ts';
import { readCauses } from './causes.ts';
import { type Grouped, group } from './group.ts';
import type { Grouping, Incoming, OpenCase, Outage } from './match.ts';
import { readFarEnds, readLinks } from './neighbours.ts';
import { peerIn, readPairs, readPairsOfCases } from './sessions.ts';

/** Kinds that open cases. */
const OPENERS = Object.keys(KINDS).filter((code) => isEventCode(code) && kindOf(code).cases === 'opens');

/** Notices that join a case of their device. */
const JOINERS = NOTICES.filter((code) => kindOf(code).cases === 'joins');

export const incomingOf = (event: FreshEvent): Incoming => ({
  eventId: event.id,
  at: event.firstSeen,
  message: event.body.message,
  deviceId: event.body.deviceId,
  rootId: event.root?.id ?? null,
  formerCaseId: event.formerCaseId,
  // One that is over already is no reason for a case.
  opens: kindOf(event.code).cases === 'opens' && event.closedAt === null,
  down: event.code === 'device.down' || event.body.details.of === 'device.down',
  interfaceId: event.body.interfaceId,
  peer: [event.code, event.body.details.of].includes('session.down') ? peerIn(event.body.details) : null,
});

/** An event `e` that says that its device is down. */
const SAYS_DOWN = `(e.kind = 'device.down' OR e.kind = 'flapping' AND e.details ->> 'of' = 'device.down')`;

/** Groups events with the open cases of their site. */
export async function groupEvents(
  sql: Sql,
  siteId: string,
  incoming: readonly Incoming[],
  now: number,
  newId: () => string,
): Promise<Grouped> {
  const settings = await readSettings(sql, siteId);
  const { grouping } = settings;
  const devices = [...new Set(incoming.flatMap(({ deviceId, rootId }) => [deviceId, rootId]))].filter(
    (id) => id !== null,
  );
  const former = [...new Set(incoming.flatMap(({ formerCaseId }) => formerCaseId ?? []))];
  const down = incoming.flatMap(({ down, deviceId, rootId }) => (down && !rootId ? (deviceId ?? []) : []));
  const explained = await readExplained(sql, siteId, down, { now, settings });
  const own = new Set(down);
  const causes = new Map([...explained].filter(([, root]) => own.has(root)));
  const outage = { ...(await readOutage(sql, siteId, down)), roots: new Set(explained.values()) };
  const far = await readFarEnds(
    sql,
    siteId,
    incoming.flatMap(({ interfaceId }) => interfaceId ?? []),
  );
  const farOf = ({ interfaceId }: Incoming) => far.get(interfaceId ?? '');
  const sessions = await readPairs(
    sql,
    siteId,
    incoming.map(({ eventId, deviceId, peer }) => ({ id: eventId, deviceId, peer })),
  );
  const peers = [...sessions.values()].flatMap((pairs) => [...pairs].flatMap((pair) => pair.split(' ')));
  const readCases = (around: readonly string[]) =>
    readOpenCases(
      sql,
      siteId,
      [...around, ...causes.keys(), ...peers, ...[...far.values()].flatMap((ids) => [...ids])],
      [...former, ...outage.cases.keys()],
      now,
      grouping,
    );
  const near = await readCases(devices);
  // Links decide only about what is down for its own sake: in a storm, few.
  const links = await readLinks(sql, siteId, down);
  const further = [...links.keys()].filter((id) => !devices.includes(id));
  const cases = further.length > 0 ? await readCases([...devices, ...further]) : near;
  return group(incoming, {
    cases,
    links,
    suppressed: await readSuppressed(sql, siteId, devices, incoming),
    causes,
    farEnds: new Map([
      ...(await readPortCases(sql, siteId, cases)),
      ...incoming.flatMap((event): [string, Set<string>][] =>
        event.interfaceId ? [[event.eventId, farOf(event) ?? new Set()]] : [],
      ),
    ]),
    sessions: new Map([
      ...sessions,
      ...(sessions.size > 0 ? await readPairsOfCases(sql, siteId, cases) : []),
    ]),
    outage,
    roots: await readRoots(sql, siteId, incoming),
    waiting: grouping.minimum > 1 ? await readWaiting(sql, siteId, devices, incoming) : new Map(),
    joiners: await readJoiners(sql, siteId, devices, incoming, now - grouping.windowMs),
    grouping,
    newId,
  });
}

/** Device that is down only because another is → that one: cases may have been opened for it before that was known. */
async function readExplained(
  sql: Sql,
  siteId: string,
  down: readonly string[],
  at: { now: number; settings: IncidentSettings },
): Promise<Map<string, string>> {
  if (down.length === 0) return new Map();
  const { roots } = (await readCauses(sql, siteId, at))();
  return new Map([...roots].flatMap(([id, root]) => (root.late ? [] : [[id, root.id]])));
}

/** Where the ports lead of cases that are about ports alone; of one that is resolved, those that it was about. */
async function readPortCases(
  sql: Sql,
  siteId: string,
  cases: readonly OpenCase[],
): Promise<Map<string, Set<string>>> {
  if (cases.length === 0) return new Map();
  const rows = await sql.query<{ id: string; ports: string[] }>(
    `SELECT e.case_id AS id, array_agg(e.interface_id) AS ports FROM events e
     WHERE e.site_id = $1::uuid AND e.case_id = ANY($2::uuid[]) AND (e.status < ${EventStatus.closed} OR e.case_id = ANY($3::uuid[]))
     GROUP BY e.case_id HAVING bool_and(e.kind = 'interface.down' AND e.interface_id IS NOT NULL)`,
    [
      siteId,
      cases.map(({ id }) => id),
      cases.flatMap(({ id, resolvedAt }) => (resolvedAt === null ? [] : [id])),
    ],
  );
  const far = await readFarEnds(
    sql,
    siteId,
    rows.flatMap(({ ports }) => ports),
  );
  return new Map(
    rows.map(({ id, ports }) => [id, new Set(ports.flatMap((port) => [...(far.get(port) ?? [])]))]),
  );
}

/** What is down where no watched device of the site is up. */
async function readOutage(sql: Sql, siteId: string, down: readonly string[]): Promise<Omit<Outage, 'roots'>> {
  const rows =
    down.length === 0
      ? []
      : await sql.query<{ id: string; since: Date; caseId: string | null }>(
          `SELECT c.device_id AS id, c.since, e.case_id AS "caseId" FROM conditions c
             LEFT JOIN events e ON e.site_id = c.site_id AND e.id = c.event_id
           WHERE c.site_id = $1::uuid AND c.present AND c.kind = 'device.down' AND c.device_id IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.site_id = $1::uuid AND d.monitor AND d.status = 'up')
           ORDER BY c.since DESC`,
          [siteId],
        );
  return {
    devices: new Set(rows.map(({ id }) => id)),
    // The earliest of each case comes last.
    cases: new Map(rows.flatMap(({ caseId, since }) => (caseId ? [[caseId, since.getTime()]] : []))),
  };
}

/** Where it is told that what explains events is down. One that is told, but in no case, decides nothing. */
async function readRoots(
  sql: Sql,
  siteId: string,
  incoming: readonly Incoming[],
): Promise<Map<string, string | null>> {
  const ids = [...new Set(incoming.flatMap(({ rootId }) => rootId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: string; told: boolean; caseId: string | null }>(
    `SELECT c.device_id AS id, c.event_id IS NOT NULL AS told, e.case_id AS "caseId" FROM conditions c
       LEFT JOIN events e ON e.site_id = c.site_id AND e.id = c.event_id
     WHERE c.site_id = $1::uuid AND c.device_id = ANY($2::uuid[]) AND c.present AND c.kind = 'device.down'`,
    [siteId, ids],
  );
  return new Map(
    rows.flatMap(({ id, told, caseId }) => (told && caseId === null ? [] : [[id, told ? caseId : null]])),
  );
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
    downIds: string[];
    rootWasDown: boolean;
    siteLevel: boolean;
    begunAt: Date;
    taken: boolean;
    resolvedAt: Date | null;
  }>(
    // Live events by leaps from case to case: a device in trouble has very many in few. Closed ones only if recent.
    `WITH RECURSIVE live AS (
       SELECT d.id AS device_id, e.case_id FROM unnest($2::uuid[]) AS d(id) CROSS JOIN LATERAL (
         SELECT o.case_id FROM events o WHERE o.device_id = d.id AND o.status < ${EventStatus.closed} AND o.case_id IS NOT NULL
         ORDER BY o.case_id LIMIT 1) AS e
       UNION ALL
       SELECT l.device_id, e.case_id FROM live l CROSS JOIN LATERAL (
         SELECT o.case_id FROM events o WHERE o.device_id = l.device_id AND o.status < ${EventStatus.closed} AND o.case_id > l.case_id
         ORDER BY o.case_id LIMIT 1) AS e),
     touched AS MATERIALIZED (
       SELECT device_id, case_id FROM live
       UNION
       SELECT d.id, e.case_id FROM unnest($2::uuid[]) AS d(id) CROSS JOIN LATERAL (
         SELECT o.case_id FROM events o WHERE o.device_id = d.id AND o.status = ${EventStatus.closed} AND o.case_id IS NOT NULL
           AND o.timestamp > $4::timestamptz) AS e),
     chosen AS (
       SELECT case_id AS id FROM touched
       UNION SELECT unnest($3::uuid[])
       UNION SELECT c.id FROM cases c WHERE c.root_device_id = ANY($2::uuid[]) AND c.status < ${CaseStatus.closed}
       UNION SELECT c.id FROM cases c
         WHERE c.site_id = $1::uuid AND c.root_device_id IS NULL AND c.updated_at > $5::timestamptz)
     SELECT c.id, c.root_device_id AS "rootDeviceId", coalesce(t.devices, '{}') AS "deviceIds",
       (c.root_device_id IS NULL AND EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id)
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id AND e.device_id IS NOT NULL)) AS "siteLevel",
       coalesce(c.begun_at, c.created_at) AS "begunAt", CASE WHEN c.status = ${CaseStatus.resolved} THEN c.resolved_at END AS "resolvedAt",
       ARRAY(SELECT e.device_id FROM events e WHERE e.site_id = c.site_id AND e.device_id = ANY($2::uuid[])
         AND e.case_id = c.id AND e.status < ${EventStatus.closed} AND ${SAYS_DOWN}) AS "downIds",
       EXISTS (SELECT 1 FROM events e WHERE e.site_id = c.site_id AND e.device_id = c.root_device_id
         AND e.case_id = c.id AND ${SAYS_DOWN}) AS "rootWasDown",
       (c.manual_status OR c.assignee_id IS NOT NULL) AS taken
     FROM cases c JOIN chosen USING (id)
       LEFT JOIN (SELECT case_id, array_agg(device_id) AS devices FROM touched GROUP BY 1) t ON t.case_id = c.id
     WHERE c.site_id = $1::uuid AND (c.status < ${CaseStatus.resolved} OR (c.status = ${CaseStatus.resolved} AND c.resolved_at > $4::timestamptz))
     ORDER BY c.created_at, c.id`,
    [siteId, [...new Set(devices)], former, new Date(now - reopenMs), new Date(now - windowMs)],
  );
  return rows.map(({ deviceIds, downIds, begunAt, resolvedAt, ...row }) => ({
    ...row,
    deviceIds: new Set(deviceIds),
    downIds: new Set(downIds),
    begunAt: begunAt.getTime(),
    resolvedAt: resolvedAt?.getTime() ?? null,
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
     WHERE site_id = $1::uuid AND status < ${EventStatus.closed} AND case_id IS NULL AND maintenance_until IS NULL AND kind = ANY($2::text[])
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
    `SELECT d.id AS "deviceId", e.ids FROM unnest($2::uuid[]) AS d(id) CROSS JOIN LATERAL (
       SELECT array_agg(o.id ORDER BY o.first_seen) AS ids FROM events o
       WHERE o.site_id = $1::uuid AND o.device_id = d.id AND o.status < ${EventStatus.closed} AND o.case_id IS NULL
         AND o.maintenance_until IS NULL AND o.kind = ANY($3::text[]) AND o.timestamp >= $4::timestamptz
         AND NOT o.id = ANY($5::uuid[])) AS e
     WHERE e.ids IS NOT NULL`,
    [siteId, devices, JOINERS, new Date(since), incoming.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map(({ deviceId, ids }) => [deviceId, ids]));
}

/** Shadows that found no case yet, by the device that explains them. */
async function readSuppressed(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  incoming: readonly Incoming[],
): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ root: string; ids: string[] }>(
    `SELECT details ->> 'rootDeviceId' AS root, array_agg(id) AS ids FROM events
     WHERE site_id = $1::uuid AND status < ${EventStatus.closed} AND case_id IS NULL AND maintenance_until IS NULL AND kind = 'device.unreachable'
       AND details ->> 'rootDeviceId' = ANY($2::text[]) AND NOT id = ANY($3::uuid[])
     GROUP BY 1`,
    [siteId, devices, incoming.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map(({ root, ids }) => [root, ids]));
}
