/**
 * Samples of an hour that is over move into a compressed chunk; of a day that is over, its summaries of 5 minutes
 * and of an hour are kept beside, and of 30 days those of a day. Samples that come late open their hour, day and month again.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import { type Database, databaseAway } from '../platform/db/db.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { MetricDays } from '../platform/ops/config.ts';
import { summarise } from './aggregate.ts';
import { learnHour, learnTrafficHour } from './baselines.ts';
import { OF_DEVICE, packChunk, type SeriesById, unpackChunk } from './chunk.ts';
import { INTERVALS, LONGEST_MS } from './last.ts';
import { type SampleRow, seriesOfRows } from './row.ts';
import { grouped, joined, type Series } from './series.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Of one chunk with values of a day: months of the calendar would have an odd number of days. */
export const MONTH_MS = 30 * DAY_MS;
/** Samples come so late at most in ordinary times; later ones cost their hour another turn. */
const LATE_MS = 300_000;
/** Hours and days of devices of one turn. */
const TURN = 500;

/** What is summarised once it is over: chunks with values of `of` seconds (0: samples), `span` of them, into other steps. */
interface Summary {
  of: number;
  span: number;
  into: readonly number[];
}
const SUMMARIES: readonly Summary[] = [
  { of: 0, span: DAY_MS, into: [300, 3600] },
  { of: 3600, span: MONTH_MS, into: [DAY_MS / 1000] },
];

interface Piece {
  siteId: string;
  deviceId: string;
  /** Unix milliseconds. */
  begins: number;
}

interface RollUpDeps {
  db: Database;
  /** Of rows, which: those that go to an engine for time series are not rolled up. */
  only?: string;
  clock: Clock;
  log: Logger;
}

/** Does what is due, so much at most. @returns hours and days that were rolled up */
export async function rollUp({ db, clock, log, only = 'true' }: RollUpDeps): Promise<number> {
  let rolledUp = 0;
  /** What cannot be rolled up of one device holds up no other. */
  const each = async (pieces: readonly Piece[], work: (sql: Sql, piece: Piece) => Promise<void>) => {
    for (const piece of pieces)
      try {
        await db.transaction((sql) => work(sql, piece));
        rolledUp += 1;
      } catch (error) {
        if (databaseAway(error)) throw error;
        log.error(
          { ...piece, reason: (error as Error).message },
          'measurements of a device cannot be rolled up',
        );
      }
  };
  await each(await hoursThatAreOver(db, new Date(clock.now() - LATE_MS), only), (sql, piece) =>
    foldHour(sql, piece, only),
  );
  for (const summary of SUMMARIES)
    await each(await spansThatAreOver(db, clock.now() - LATE_MS - 2 * HOUR_MS, summary), (sql, piece) =>
      foldSpan(sql, piece, summary),
    );
  return rolledUp;
}

/** Beginning of the hour or day that a time falls into, Unix milliseconds. */
const beginning = (column: string, seconds: number): string =>
  `(floor(extract(epoch FROM ${column}) / ${seconds}) * ${seconds * 1000})::int8`;

/** Hours that are over, and of which nothing is of now any more: `last.ts` reads rows. */
const hoursThatAreOver = (db: Database, before: Date, only: string): Promise<Piece[]> =>
  db.query<Piece & Record<string, unknown>>(
    `SELECT site_id AS "siteId", device_id AS "deviceId", ${beginning("(at - interval '1 ms')", 3600)} AS begins FROM samples
     WHERE at <= to_timestamp(floor(extract(epoch FROM $1::timestamptz) / 3600) * 3600) AND ${only}
     GROUP BY 1, 2, 3 HAVING max(at) <= $1::timestamptz + (${LATE_MS} - ${INTERVALS} * least(max(over_ms), ${LONGEST_MS})) * interval '1 ms'
     ORDER BY 3 LIMIT ${TURN}`,
    [before],
  );

const spansThatAreOver = (db: Database, before: number, { of, span }: Summary): Promise<Piece[]> =>
  db.query<Piece & Record<string, unknown>>(
    `SELECT DISTINCT site_id AS "siteId", device_id AS "deviceId", ${beginning('begins', span / 1000)} AS begins
     FROM sample_chunks WHERE step = ${of} AND step IN (0, 3600) AND NOT summarised AND begins < $1
     LIMIT ${TURN}`,
    [new Date(Math.floor(before / span) * span)],
  );

/** An interval belongs to the hour in which it ends. The server that deletes the rows writes the chunk; another finds none. */
async function foldHour(sql: Sql, { siteId, deviceId, begins }: Piece, only: string): Promise<void> {
  const key = [siteId, deviceId, new Date(begins)];
  const rows = await sql.query<SampleRow & Record<string, unknown>>(
    `DELETE FROM samples WHERE site_id = $1::uuid AND device_id = $2::uuid AND at > $3 AND at <= $4 AND ${only}
     RETURNING at, over_ms AS "overMs", data`,
    [...key, new Date(begins + HOUR_MS)],
  );
  if (rows.length === 0) return;
  const [before] = await sql.query<{ data: Uint8Array }>(
    `SELECT data FROM sample_chunks
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND step = 0 AND begins = $3 FOR UPDATE`,
    key,
  );
  const series = seriesOfRows(rows);
  const pings = series.get(OF_DEVICE);
  // What comes late was not seen by anybody when it was so: an hour is learnt once.
  if (!before && pings) await learnHour(sql, { siteId, deviceId }, pings);
  if (!before) await learnTrafficHour(sql, { siteId, deviceId }, series);
  const all = together([...(before ? [unpackChunk(before.data)] : []), series]);
  await write(sql, { siteId, deviceId, begins }, 0, all);
}

async function foldSpan(
  sql: Sql,
  { siteId, deviceId, begins }: Piece,
  { of, span, into }: Summary,
): Promise<void> {
  const end = begins + span;
  const chunks = await sql.query<{ data: Uint8Array }>(
    `UPDATE sample_chunks SET summarised = true
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND step = ${of} AND begins >= $3 AND begins < $4
     RETURNING data`,
    [siteId, deviceId, new Date(begins), new Date(end)],
  );
  // The interval that leads over midnight is in the first hour of the next day.
  const next = await sql.query<{ data: Uint8Array }>(
    `SELECT data FROM sample_chunks
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND step = ${of} AND begins = $3`,
    [siteId, deviceId, new Date(end)],
  );
  const all = together([...chunks, ...next].map(({ data }) => unpackChunk(data)));
  for (const step of into) {
    const summary = [...all].map(([id, one]): [string, Series] => [
      id,
      summarise(one, { from: begins, to: end, step: step * 1000, summarised: of > 0 }),
    ]);
    await write(sql, { siteId, deviceId, begins }, step, new Map(summary));
  }
}

/** Series of several chunks, those of one thing joined. */
export function together(chunks: readonly SeriesById[]): SeriesById {
  const parts = grouped(
    chunks.flatMap((chunk) => [...chunk]),
    ([id]) => id,
  );
  return new Map([...parts].map(([id, some]) => [id, joined(some.map(([, one]) => one))]));
}

async function write(sql: Sql, piece: Piece, step: number, all: SeriesById): Promise<void> {
  await sql.query(
    `INSERT INTO sample_chunks (site_id, device_id, step, begins, data) VALUES ($1::uuid, $2::uuid, $3, $4, $5)
     ON CONFLICT (site_id, device_id, step, begins) DO UPDATE SET data = EXCLUDED.data, summarised = false`,
    [piece.siteId, piece.deviceId, step, new Date(piece.begins), packChunk(all)],
  );
}

/** Chunks deleted in one statement, and statements of one turn for each kind: 200,000 chunks. */
const FORGOTTEN = 2_000;
const STATEMENTS = 100;

/** Deletes chunks that are too old, so many at most; the rest comes with the next turn. @returns how many */
export async function forgetChunks({
  db,
  clock,
  log,
  days,
}: Omit<RollUpDeps, 'only'> & { days: MetricDays }): Promise<number> {
  let forgotten = 0;
  for (const [step, kept] of [
    [0, days.samples],
    [300, days.fiveMinutes],
    [3600, days.hours],
    [DAY_MS / 1000, days.hours + MONTH_MS / DAY_MS],
  ] as const) {
    const before = new Date(clock.now() - kept * DAY_MS);
    let more = true;
    for (let i = 0; i < STATEMENTS && more; i++) {
      const rows = await db.query(
        `DELETE FROM sample_chunks WHERE (site_id, device_id, step, begins) IN (
           SELECT site_id, device_id, step, begins FROM sample_chunks WHERE step = $1 AND begins < $2
           ORDER BY begins LIMIT ${FORGOTTEN}) RETURNING 1`,
        [step, before],
      );
      forgotten += rows.length;
      more = rows.length === FORGOTTEN;
    }
    if (more) log.warn({ step, before }, 'more old measurements are left than one turn deletes');
  }
  return forgotten;
}
