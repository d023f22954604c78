import type { Change } from '@rollcall/shared/api/service';
import type { Sql } from './sql.ts';

/** The channel that live streams listen to. */
export const LIVE_CHANNEL = 'rollcall_live';
/** PostgreSQL refuses payloads of 8,000 bytes; this many ids stay below with room for the rest. */
const IDS_MOST = 180;

/** Tells live streams, when the transaction commits, what of a site changed. Too many ids are left out. */
export async function announce(
  sql: Sql,
  site: string,
  kind: Change['kind'],
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const named = ids.length <= IDS_MOST ? { ids } : {};
  await sql.query('SELECT pg_notify($1, $2)', [LIVE_CHANNEL, JSON.stringify({ site, kind, ...named })]);
}
