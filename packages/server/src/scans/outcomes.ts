/** How the addresses of a job ended: one character each, merged as they come, never forgotten. */

import { ALIVE_CODES, DEVICE_CODES, OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import type { OutcomesObservation } from '@rollcall/shared/observation';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';

/** Whose observation it is: taken from the socket, never from the observation. */
export interface From {
  siteId: string;
  collectorId: string;
}

/** An observation that claims what its sender cannot know. Ingest keeps it as a dead letter with this reason. */
export class NotYours extends Error {
  override name = 'NotYours';
}

export const NOT_PROBED: OutcomeCode = '.';

/** Counts taken out of `outcomes` where it is written, so that lists need not read it. */
export const COUNTED = (outcomes: string): string =>
  `probed = length(replace(${outcomes}, '.', '')),
   alive = length(${outcomes}) - length(translate(${outcomes}, '${ALIVE_CODES}', '')),
   devices = length(${outcomes}) - length(translate(${outcomes}, '${DEVICE_CODES}', ''))`;

export const outcomesOf = (stored: string, size: number): string =>
  stored === '' ? NOT_PROBED.repeat(size) : stored;

/**
 * Stored codes with `codes` laid over them from `from` on. `.` leaves what is stored; a code of an earlier lease fills
 * only what has none, since the present holder knows better.
 */
export function mergeOutcomes(
  stored: string,
  { from, codes, earlier }: { from: number; codes: string; earlier: boolean },
): string {
  let merged = '';
  for (const [i, code] of [...codes].entries()) {
    const old = stored[from + i] ?? NOT_PROBED;
    merged += code === NOT_PROBED || (earlier && old !== NOT_PROBED) ? old : code;
  }
  return stored.slice(0, from) + merged + stored.slice(from + codes.length);
}

/** Which addresses need not be visited again: base64 of a bitmap, lowest index in the lowest bit of the first byte. */
export function doneBitmap(outcomes: string): string | undefined {
  const bits = new Uint8Array(Math.ceil(outcomes.length / 8));
  let any = false;
  for (let i = 0; i < outcomes.length; i++) {
    if (outcomes[i] === NOT_PROBED) continue;
    bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
    any = true;
  }
  return any ? Buffer.from(bits).toString('base64') : undefined;
}

interface JobRow {
  scan_id: string;
  site_id: string;
  size: number;
  status: string;
  fence: number;
  collector_id: string | null;
  holders: Readonly<Record<string, string>>;
  attempt: number;
  outcomes: string;
}

/** Reads and locks the job an observation speaks of; undefined when it is gone with its scan. */
export async function lockJob(sql: Sql, job: string, fence: number, from: From): Promise<JobRow | undefined> {
  const [row] = await sql.query<JobRow>(
    `SELECT scan_id, site_id, size, status, fence, collector_id, holders, attempt, outcomes FROM jobs
     WHERE id = $1::uuid FOR NO KEY UPDATE`,
    [job],
  );
  if (!row) return undefined;
  if (row.site_id !== from.siteId) throw new NotYours(`job ${job} belongs to another site`);
  if (fence > row.fence) throw new NotYours(`job ${job} was never leased with fence ${fence}`);
  // A server of the version before writes no holder; then the present one is known all the same.
  const holder = row.holders[fence] ?? (fence === row.fence ? row.collector_id : null);
  if (holder !== from.collectorId) throw new NotYours(`job ${job} was leased to another collector`);
  return row;
}

/** Throws when an observation does not fit its job. */
function check({ from, codes, notes }: OutcomesObservation, size: number): void {
  if (from + codes.length > size)
    throw new RangeError(`outcomes ${from}+${codes.length} of a job of ${size}`);
  for (const code of codes)
    if (!Object.hasOwn(OUTCOMES, code)) throw new RangeError(`unknown outcome ${code}`);
  for (const index of Object.keys(notes ?? {}))
    if (!/^(0|[1-9]\d{0,3})$/.test(index) || Number(index) >= size) throw new RangeError(`note at ${index}`);
}

/**
 * Lays the codes of one observation over those of its job and extends the lease they were collected under. Facts of an
 * earlier lease and of a cancelled job count too: they were seen.
 */
export const outcomesApplier =
  ({ leaseMs }: { leaseMs: number }) =>
  async (sql: Sql, observation: OutcomesObservation, from: From): Promise<void> => {
    const row = await lockJob(sql, observation.job, observation.fence, from);
    if (!row) return;
    check(observation, row.size);
    const stored = outcomesOf(row.outcomes, row.size);
    const earlier = observation.fence < row.fence;
    const merged = mergeOutcomes(stored, { from: observation.from, codes: observation.codes, earlier });
    const notes = JSON.stringify(observation.notes ?? {});
    const ahead = merged !== stored;
    if (!ahead && notes === '{}') return;
    // What gets ahead starts its count of attempts anew: the budget is for jobs that do not.
    await sql.query(
      `UPDATE jobs SET outcomes = $2, ${COUNTED('$2::text')},
         notes = CASE WHEN $4 THEN $3::jsonb || notes ELSE notes || $3::jsonb END,
         attempt = CASE WHEN $5 THEN least(attempt, 1) ELSE attempt END,
         progress_at = CASE WHEN $5 AND NOT $4 THEN now() ELSE progress_at END,
         lease_expires_at = CASE WHEN status = 'leased' AND NOT $4
           THEN now() + $6 * interval '1 millisecond' ELSE lease_expires_at END
       WHERE id = $1::uuid`,
      [observation.job, merged, notes, earlier, ahead, leaseMs],
    );
    await announce(sql, row.site_id, 'scan', [row.scan_id]);
  };
