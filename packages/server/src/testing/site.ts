/** Rows that most suites need: a site, a collector of it. */
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Sql } from '../kernel/sql.ts';

export interface TestSite {
  name?: string;
  networks?: string[];
  exclude?: string[];
  allowLoopback?: boolean;
}

export async function makeSite(db: Sql, site: TestSite = {}): Promise<string> {
  const id = uuidv7();
  await db.query(
    'INSERT INTO sites (id, name, networks, exclude, allow_loopback) VALUES ($1, $2, $3::text[], $4::text[], $5)',
    [id, site.name ?? `site ${id}`, site.networks ?? [], site.exclude ?? [], site.allowLoopback ?? false],
  );
  return id;
}

export async function makeCollector(
  db: Sql,
  siteId: string,
  { name, publicKey, online = false }: { name?: string; publicKey?: Uint8Array; online?: boolean } = {},
): Promise<string> {
  const id = uuidv7();
  await db.query(
    `INSERT INTO collectors (id, site_id, name, public_key, instance, connected_at, last_seen_at)
     VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN 'test' END, CASE WHEN $5 THEN now() END, CASE WHEN $5 THEN now() END)`,
    [id, siteId, name ?? `collector ${id}`, publicKey ?? new Uint8Array(32), online],
  );
  return id;
}
