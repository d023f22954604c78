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
