/** Channels of LISTEN/NOTIFY that more than one feature speaks on. Payloads carry ids only; the rows are read again. */
import type { LiveChange } from '@rollcall/shared/api/service';
import type { Sql } from './sql.ts';

/** What people look at changed: `{site, kind, ids?}` as JSON. */
export const LIVE_CHANNEL = 'rollcall_live';
/** Jobs of a site may be claimed: the site's id. */
export const JOBS_CHANNEL = 'rollcall_jobs';
/** Something for the instance that holds a collector's socket: `LinkNotice` as JSON. */
export const LINKS_CHANNEL = 'rollcall_links';
/** What the collectors of a site are to watch changed: the site's id. */
export const WATCH_CHANNEL = 'rollcall_watch';

/** A holder of a job, named by the lease's fence. */
export interface LeaseName {
  collector: string;
  job: string;
  fence: number;
}
export type LinkNotice =
  /** Status or key of a collector changed: read it again and act. */
  | { verb: 'check'; collector: string }
  /** Ask it for a new key. */
  | { verb: 'rotate'; collector: string }
  /** These leases are over: the holders stop. */
  | { verb: 'cancel'; leases: LeaseName[] };

/** PostgreSQL refuses payloads of 8,000 bytes; this many ids stay below with room for the rest. */
const IDS_MOST = 180;
const LEASES_MOST = 50;

const notify = async (sql: Sql, channel: string, payload: string): Promise<void> => {
  await sql.query('SELECT pg_notify($1, $2)', [channel, payload], 'kept');
};

/** Tells live streams, when the transaction commits, what of a site (null: of none) changed. Too many ids are left out. */
export async function announce(
  sql: Sql,
  site: string | null,
  kind: LiveChange['kind'],
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await notify(sql, LIVE_CHANNEL, JSON.stringify({ site, kind, ...(ids.length <= IDS_MOST && { ids }) }));
}

export const notifyJobs = (sql: Sql, siteId: string): Promise<void> => notify(sql, JOBS_CHANNEL, siteId);
export const notifyWatch = (sql: Sql, siteId: string): Promise<void> => notify(sql, WATCH_CHANNEL, siteId);

export async function notifyLinks(sql: Sql, notice: LinkNotice): Promise<void> {
  if (notice.verb !== 'cancel') return notify(sql, LINKS_CHANNEL, JSON.stringify(notice));
  for (let from = 0; from < notice.leases.length; from += LEASES_MOST) {
    const leases = notice.leases.slice(from, from + LEASES_MOST);
    await notify(sql, LINKS_CHANNEL, JSON.stringify({ verb: 'cancel', leases } satisfies LinkNotice));
  }
}
