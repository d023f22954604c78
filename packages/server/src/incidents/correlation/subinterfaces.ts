/** What explains that subinterfaces are down: the port that they are part of is. */
import type { Sql } from '../../platform/db/sql.ts';

/** A subinterface bears the name of its port, a full stop and a number: Cisco, Juniper, Huawei, Arista and Linux. */
const SUBINTERFACE = /^(.+)\.\d+$/;
/** IF-MIB ifAdminStatus. */
const ADMIN_DOWN = 2;

/**
 * Of some ports the subinterfaces whose port is down → whether that is so now; false: it came back after `returnedSince`
 * (Unix milliseconds), and they have time to do so too. Names tell the port, because few agents have ifStackTable (RFC 2863);
 * a name that several ports of a device bear tells none. What explains them is told itself, or somebody shut the port: a port
 * that never was up explains nothing.
 */
export async function readDownParents(
  sql: Sql,
  siteId: string,
  interfaces: readonly string[],
  returnedSince: number,
): Promise<Map<string, boolean>> {
  if (interfaces.length === 0) return new Map();
  const subs = (await readPorts(sql, siteId, interfaces)).flatMap(({ id, deviceId, name }) => {
    const parent = SUBINTERFACE.exec(name)?.[1];
    return parent === undefined ? [] : [{ id, deviceId, parent }];
  });
  if (subs.length === 0) return new Map();
  // By two lists, not by pairs: a join of a device's subinterfaces with its ports took seconds where it has thousands.
  const rows = await sql.query<{ deviceId: string; name: string; present: boolean }>(
    `SELECT p.device_id AS "deviceId", p.name, bool_or(p.admin_status IS NOT DISTINCT FROM $4 OR c.present IS TRUE) AS present
     FROM interfaces p
       LEFT JOIN conditions c ON c.site_id = p.site_id AND c.dedup_key = 'interface.down:' || p.id
     WHERE p.site_id = $1::uuid AND p.device_id = ANY($2::uuid[]) AND p.name = ANY($3::text[]) AND p.gone_at IS NULL
     GROUP BY p.device_id, p.name
     HAVING count(*) = 1 AND bool_or(p.admin_status IS NOT DISTINCT FROM $4 OR c.present IS TRUE
       OR c.changed_at > $5::timestamptz OR p.last_change > $5::timestamptz)`,
    [
      siteId,
      [...new Set(subs.map(({ deviceId }) => deviceId))],
      [...new Set(subs.map(({ parent }) => parent))],
      ADMIN_DOWN,
      new Date(returnedSince),
    ],
  );
  const parents = new Map(rows.map(({ deviceId, name, present }) => [`${deviceId} ${name}`, present]));
  return new Map(
    subs.flatMap(({ id, deviceId, parent }): [string, boolean][] => {
      const present = parents.get(`${deviceId} ${parent}`);
      return present === undefined ? [] : [[id, present]];
    }),
  );
}

const readPorts = (sql: Sql, siteId: string, interfaces: readonly string[]) =>
  sql.query<{ id: string; deviceId: string; name: string }>(
    `SELECT id, device_id AS "deviceId", name FROM interfaces WHERE site_id = $1::uuid AND id = ANY($2::uuid[])`,
    [siteId, interfaces],
  );
