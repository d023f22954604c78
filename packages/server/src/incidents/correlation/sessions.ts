/** Routing sessions that are down: the port or device beneath that explains them, and the two devices that they are of. */
import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import type { OpenCase } from './match.ts';
import { readLinks } from './neighbours.ts';

/** A session that is down. */
export interface SessionDown {
  /** Of its condition. */
  key: string;
  deviceId: string;
  /** Address of the far end; null: not known. */
  peer: string | null;
  /** Unix milliseconds. */
  since: number;
}

/** Something beneath that is down, or came back a moment ago. */
export interface Cause {
  deviceId: string;
  /** The port; null: all of the device. */
  interfaceId: string | null;
  since: number;
  present: boolean;
}

/** What a session stands on. */
export interface Ground {
  /** Its two ends, the own device first. */
  ends: ReadonlySet<string>;
  /** Devices beside the ends. */
  beside: ReadonlySet<string>;
  /** The ports whose network has both addresses; none: there are others in between. */
  ports: ReadonlySet<string>;
}

/** A session ends so much later than what it stands on: hold time of BGP (RFC 4271: 90 s, many set 180) and a reading of sensors. */
const LATE_MS = 600_000;
/** Ports are read once a minute, so that what explains a session may be found after it. */
const EARLY_MS = 120_000;

/**
 * Whether one of some causes explains a session: an end that is down; the port to the far end; and, at about the same time,
 * any port of its ends where it goes over others, or a device beside them. Null: none does. Pure.
 */
export function explainedBy(session: SessionDown, ground: Ground, causes: readonly Cause[]): Cause | null {
  const isNear = ({ since }: Cause) => since <= session.since + EARLY_MS && session.since - since <= LATE_MS;
  const fits = (cause: Cause): boolean => {
    const { deviceId, interfaceId } = cause;
    if (interfaceId === null)
      return ground.ends.has(deviceId) || (ground.beside.has(deviceId) && isNear(cause));
    if (ground.ports.has(interfaceId)) return true;
    return ground.ports.size === 0 && ground.ends.has(deviceId) && isNear(cause);
  };
  return causes.find((cause) => cause.present && fits(cause)) ?? causes.find(fits) ?? null;
}

/**
 * Key of each session that something explains → whether that is so now; false: it came back after `returnedSince`
 * (Unix milliseconds), and the session has time to do so too.
 */
export async function readSessionCauses(
  sql: Sql,
  siteId: string,
  sessions: readonly SessionDown[],
  returnedSince: number,
): Promise<Map<string, boolean>> {
  if (sessions.length === 0) return new Map();
  const rows = await sql.query<{
    deviceId: string;
    interfaceId: string | null;
    since: Date;
    present: boolean;
  }>(
    `SELECT device_id AS "deviceId", opening ->> 'interfaceId' AS "interfaceId", since, present FROM conditions
     WHERE site_id = $1::uuid AND kind = ANY('{device.down,interface.down}') AND device_id IS NOT NULL
       AND (present OR changed_at > $2::timestamptz)`,
    [siteId, new Date(returnedSince)],
  );
  if (rows.length === 0) return new Map();
  const causes = rows.map((row) => ({ ...row, since: row.since.getTime() }));
  const grounds = await readGrounds(sql, siteId, sessions);
  return new Map(
    sessions.flatMap((session): [string, boolean][] => {
      const ground = grounds.get(session.key);
      const cause = ground && explainedBy(session, ground, causes);
      return cause ? [[session.key, cause.present]] : [];
    }),
  );
}

async function readGrounds(
  sql: Sql,
  siteId: string,
  sessions: readonly SessionDown[],
): Promise<Map<string, Ground>> {
  const rows = await sql.query<{ key: string; far: string[]; ports: string[] }>(
    `SELECT s.key,
       ARRAY(SELECT a.device_id FROM device_addresses a WHERE a.site_id = $1::uuid AND a.address = s.peer) AS far,
       ARRAY(SELECT i.id FROM device_addresses a
           JOIN interfaces i ON i.site_id = a.site_id AND i.device_id = a.device_id AND i.if_index = a.if_index
         WHERE a.site_id = $1::uuid AND a.device_id = s."deviceId" AND a.prefix_length IS NOT NULL
           AND s.peer <<= set_masklen(a.address, a.prefix_length)
         UNION
         SELECT i.id FROM device_addresses own
           JOIN device_addresses a ON a.site_id = own.site_id AND a.address = s.peer
           JOIN interfaces i ON i.site_id = a.site_id AND i.device_id = a.device_id AND i.if_index = a.if_index
         WHERE own.site_id = $1::uuid AND own.device_id = s."deviceId" AND own.prefix_length IS NOT NULL
           AND s.peer <<= set_masklen(own.address, own.prefix_length)) AS ports
     FROM jsonb_to_recordset($2::jsonb) AS s(key text, "deviceId" uuid, peer inet)`,
    [siteId, JSON.stringify(sessions.map(({ key, deviceId, peer }) => ({ key, deviceId, peer })))],
  );
  const known = new Map(rows.map((row) => [row.key, row]));
  const ends = sessions.flatMap(({ key, deviceId }) => [deviceId, ...(known.get(key)?.far ?? [])]);
  const links = await readLinks(sql, siteId, [...new Set(ends)]);
  return new Map(
    sessions.map(({ key, deviceId }): [string, Ground] => {
      const { far = [], ports = [] } = known.get(key) ?? {};
      const own = new Set([deviceId, ...far]);
      const beside = new Set([...own].flatMap((id) => [...(links.get(id) ?? [])]));
      return [key, { ends: own, beside, ports: new Set(ports) }];
    }),
  );
}

/** The address of the far end of a session, out of the details of its event. */
export function peerIn(details: Readonly<Record<string, unknown>>): string | null {
  const peer = (details.after as { peer?: unknown } | undefined)?.peer;
  return typeof peer === 'string' ? peer : null;
}

/** A session that is told as down, by its event or its case. */
interface ToldSession {
  id: string;
  deviceId: string | null;
  /** Null: it is about no session. */
  peer: string | null;
}

/**
 * Of each event or case the devices at the ends of its sessions, as pairs that are the same for both ends. An address that
 * several devices of the site have (link-local, or used again in each pair of leaves) names no end.
 */
export async function readPairs(
  sql: Sql,
  siteId: string,
  told: readonly ToldSession[],
): Promise<Map<string, Set<string>>> {
  const known = told.filter(({ deviceId, peer }) => deviceId !== null && peer !== null);
  if (known.length === 0) return new Map();
  const rows = await sql.query<{ id: string; pairs: string[] }>(
    `SELECT s.id, array_agg(DISTINCT least(s."deviceId", far.id) || ' ' || greatest(s."deviceId", far.id)) AS pairs
     FROM jsonb_to_recordset($2::jsonb) AS s(id uuid, "deviceId" uuid, peer inet) CROSS JOIN LATERAL (
       SELECT min(a.device_id::text)::uuid AS id FROM device_addresses a
       WHERE a.site_id = $1::uuid AND a.address = s.peer HAVING count(DISTINCT a.device_id) = 1) AS far
     WHERE far.id <> s."deviceId" GROUP BY 1`,
    [siteId, JSON.stringify(known)],
  );
  return new Map(rows.map(({ id, pairs }) => [id, new Set(pairs)]));
}

/** The same of the sessions that some cases tell as down; of a resolved case, those that it was about. */
export async function readPairsOfCases(
  sql: Sql,
  siteId: string,
  cases: readonly Pick<OpenCase, 'id' | 'resolvedAt'>[],
): Promise<Map<string, Set<string>>> {
  const rows = await sql.query<ToldSession>(
    `SELECT DISTINCT case_id AS id, device_id AS "deviceId", details -> 'after' ->> 'peer' AS peer FROM events
     WHERE site_id = $1::uuid AND case_id = ANY($2::uuid[])
       AND (kind = 'session.down' OR kind = 'flapping' AND details ->> 'of' = 'session.down')
       AND (status < ${EventStatus.closed} OR case_id = ANY($3::uuid[]))`,
    [
      siteId,
      cases.map(({ id }) => id),
      cases.flatMap(({ id, resolvedAt }) => (resolvedAt === null ? [] : [id])),
    ],
  );
  return readPairs(sql, siteId, rows);
}
