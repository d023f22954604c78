import type { Sql } from '../../platform/db/sql.ts';
import type { Links } from './root-cause.ts';

/** The links of some devices, in both directions, as discovery found them. */
export async function readLinks(sql: Sql, siteId: string, devices: readonly string[]): Promise<Links> {
  if (devices.length === 0) return new Map();
  const rows = await sql.query<{ a: string; b: string }>(
    `SELECT n.device_id AS a, n.remote_device_id AS b FROM neighbours n
     WHERE n.site_id = $1::uuid AND n.device_id = ANY($2::uuid[]) AND n.remote_device_id IS NOT NULL
     UNION
     SELECT n.device_id, n.remote_device_id FROM neighbours n
     WHERE n.site_id = $1::uuid AND n.remote_device_id = ANY($2::uuid[])`,
    [siteId, devices],
  );
  const links = new Map<string, Set<string>>();
  const link = (from: string, to: string) => {
    const known = links.get(from) ?? new Set();
    links.set(from, known.add(to));
  };
  for (const { a, b } of rows) {
    if (a === b) continue;
    link(a, b);
    link(b, a);
  }
  return links;
}

/** Port → the devices at its far end, as far as they are known. */
export async function readFarEnds(
  sql: Sql,
  siteId: string,
  interfaces: readonly string[],
): Promise<Map<string, Set<string>>> {
  if (interfaces.length === 0) return new Map();
  const rows = await sql.query<{ id: string; far: string[] }>(
    `SELECT i.id, array_agg(DISTINCT n.far) AS far FROM interfaces i
       CROSS JOIN LATERAL (
         SELECT remote_device_id AS far FROM neighbours
         WHERE site_id = i.site_id AND device_id = i.device_id AND if_index = i.if_index
         UNION ALL
         SELECT device_id FROM neighbours
         WHERE site_id = i.site_id AND remote_device_id = i.device_id AND remote_if_index = i.if_index) AS n
     WHERE i.site_id = $1::uuid AND i.id = ANY($2::uuid[]) AND n.far IS NOT NULL GROUP BY i.id`,
    [siteId, interfaces],
  );
  return new Map(rows.map(({ id, far }) => [id, new Set(far)]));
}

/** Device → its ports that have one of some devices at either end of their link, as far as they are known. */
export async function readLinkPorts(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
): Promise<Map<string, Set<string>>> {
  if (devices.length === 0) return new Map();
  const near = 'n.device_id AS device, n.if_index AS port';
  const far = 'n.remote_device_id AS device, n.remote_if_index AS port';
  const links = [near, far].flatMap((end) =>
    ['device_id', 'remote_device_id'].map(
      (of) => `SELECT ${end} FROM neighbours n
        WHERE n.site_id = $1::uuid AND n.${of} = ANY($2::uuid[]) AND n.remote_device_id <> n.device_id`,
    ),
  );
  const rows = await sql.query<{ device: string; ports: string[] }>(
    `SELECT i.device_id AS device, array_agg(i.id) AS ports FROM (${links.join(' UNION ')}) l
     JOIN interfaces i ON i.site_id = $1::uuid AND i.device_id = l.device AND i.if_index = l.port GROUP BY 1`,
    [siteId, devices],
  );
  return new Map(rows.map(({ device, ports }) => [device, new Set(ports)]));
}
