/** Channels of LISTEN/NOTIFY that more than one feature speaks on. Payloads carry ids only; the rows are read again. */
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

/** A notification holds 8,000 bytes: more ids than this are left out, and listeners read the whole list again. */
const LIVE_IDS = 150;
const LEASES = 50;

const notify = async (sql: Sql, channel: string, payload: string): Promise<void> => {
  await sql.query('SELECT pg_notify($1, $2)', [channel, payload]);
};

/** Says, when the transaction commits, what changed for people. */
export const notifyLive = (
  sql: Sql,
  change: { site: string; kind: 'scan' | 'collector'; ids: readonly string[] },
): Promise<void> => {
  const { ids, ...rest } = change;
  return notify(sql, LIVE_CHANNEL, JSON.stringify(ids.length > LIVE_IDS ? rest : { ...rest, ids }));
};

export const notifyJobs = (sql: Sql, siteId: string): Promise<void> => notify(sql, JOBS_CHANNEL, siteId);
export const notifyWatch = (sql: Sql, siteId: string): Promise<void> => notify(sql, WATCH_CHANNEL, siteId);

export async function notifyLinks(sql: Sql, notice: LinkNotice): Promise<void> {
  if (notice.verb !== 'cancel') return notify(sql, LINKS_CHANNEL, JSON.stringify(notice));
  for (let from = 0; from < notice.leases.length; from += LEASES) {
    const leases = notice.leases.slice(from, from + LEASES);
    await notify(sql, LINKS_CHANNEL, JSON.stringify({ verb: 'cancel', leases } satisfies LinkNotice));
  }
}
