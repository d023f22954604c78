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
