/** Observations that were lost, counted exactly: what collectors dropped, and samples that have no time. */
import type { GapObservation } from '@rollcall/shared/observation';
import type { Change } from '../changes.ts';
import type { Sql } from '../platform/db/sql.ts';

export interface Source {
  siteId: string;
  collectorId: string;
  epoch: string;
}
type Gap = Omit<GapObservation, 'kind' | 'at'>;

/** @returns the change; none where it is stored already */
export async function storeGap(
  sql: Sql,
  { siteId, collectorId, epoch }: Source,
  { stream, fromSeq, toSeq, count, reason }: Gap,
  at: number,
): Promise<Change[]> {
  const rows = await sql.query(
    `INSERT INTO gaps (site_id, collector_id, epoch, stream, from_seq, to_seq, count, reason, at)
     VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1`,
    [siteId, collectorId, epoch, stream, fromSeq, toSeq, count, reason, new Date(at)],
  );
  if (rows.length === 0) return [];
  return [
    {
      ...{ siteId, at, collectorId, kind: 'observations.lost', before: {} },
      ...{ deviceId: null, deviceName: '', address: null, monitor: false },
      after: { stream, from: fromSeq, to: toSeq, count, reason },
    },
  ];
}

/** Counts samples of a batch that were not stored because a clock was wrong. */
export async function storeRefused(
  sql: Sql,
  source: Source,
  refused: readonly { seq: number }[],
  now: number,
): Promise<Change[]> {
  const [first, last] = [refused[0], refused.at(-1)];
  if (!first || !last) return [];
  const gap = { fromSeq: first.seq, toSeq: last.seq, count: refused.length };
  return storeGap(sql, source, { stream: 'sample', ...gap, reason: 'time' }, now);
}
