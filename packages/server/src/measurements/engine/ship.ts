/**
 * Samples on their way to an engine for time series: what was stored waits in `samples` until the engine took it, the
 * oldest first, for a day at most. What the engine refuses for what it is (too old, out of order) is found by halving.
 * Sites take turns, and no request has samples of two: one whose samples are refused, or answered slowly, holds up no
 * other. Each loss is an event of its site; that nothing can be written is one as well.
 */
import { hostname } from 'node:os';
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Change } from '../../changes.ts';
import type { Database, Sql } from '../../platform/db/db.ts';
import { tryLock } from '../../platform/db/lock.ts';
import type { RecordChanges } from '../../ports.ts';
import { AHEAD_MS } from '../samples.ts';
import { grouped } from '../series.ts';
import { type Address, addressOf, reasonOf } from './address.ts';
import { startingAfter, takeTurns } from './turns.ts';
import { type Waiting, writeRequest } from './write-request.ts';

/** Rows of one request. */
const ROWS = 400;
/** Requests of one turn: one, unless some of its rows are refused. It takes 9 to find the first of them. */
const REQUESTS = 24;
/** Sites whose turn it is at the same time: a slow answer keeps one of these busy. */
const LANES = 4;
/** A round ends after this: it holds a lock. */
const ROUND_MS = 20_000;
/** An answer that takes longer counts as none. */
const TIMEOUT_MS = 10_000;
/** What was taken stays here so long: it is what is shown as now, and what the engine may not answer yet. */
export const HERE_MS = 5_400_000;
/** What could not be written waits so long. */
const WAITS_MS = 86_400_000;
/** Trouble that lasts so long is an event. */
const TOLD_AFTER_MS = 60_000;
/** Rows deleted in one statement, and statements of one round. */
const FORGOTTEN = 5_000;
const STATEMENTS = 20;

interface Deps {
  db: Database;
  clock: Clock;
  log: Logger;
  recordChanges: RecordChanges;
  /** Where remote write is answered. */
  write: string;
}

/** A row that is nowhere now. */
interface Lost {
  siteId: string;
  reason: string;
}

interface Round {
  /** Whose samples waited. */
  sites: number;
  /** Of each site whose samples could not be written now. */
  reasons: readonly string[];
}

/** The engine cannot be reached, or answers that it cannot take anything now. */
class Away extends Error {}

export function createShipper({ db, clock, log, recordChanges, write }: Deps) {
  const address = addressOf(write);
  /** Monotonic; null: all requests of the last round were answered well. */
  let awaySince: number | null = null;
  /** As told last; null: not yet. */
  let told: boolean | null = null;
  /** The site whose turn it was last. */
  let last = '';

  const tell = async (ok: boolean, message = ''): Promise<void> => {
    if (told === ok) return;
    const [site] = await db.query<{ id: string }>('SELECT id FROM sites ORDER BY created_at, id LIMIT 1');
    if (!site) return;
    const about = { kind: 'server.checked' as const, check: 'metrics' as const, siteId: site.id };
    await db.transaction((sql) =>
      recordChanges(sql, [{ ...about, at: clock.now(), server: hostname(), ok, message }]),
    );
    told = ok;
  };

  const lose = async (sql: Sql, lost: readonly Lost[]): Promise<void> => {
    const changes = [...grouped(lost, ({ siteId, reason }) => `${siteId} ${reason}`).values()].flatMap(
      (some): Change[] =>
        some
          .slice(0, 1)
          .map((one) => ({ ...one, kind: 'samples.lost', at: clock.now(), count: some.length })),
    );
    if (changes.length === 0) return;
    log.warn({ count: lost.length, reason: lost[0]?.reason }, 'measurements are lost');
    await recordChanges(sql, changes);
  };

  /** Sends rows, in halves where the engine refuses some of them; answers those that it refuses alone. */
  const deliver = async (rows: readonly Waiting[], may: { end: () => boolean }): Promise<Lost[]> => {
    if (may.end()) return [];
    const refusal = await post(address, rows);
    if (refusal === null || rows.length === 1) await taken(db, rows);
    if (refusal === null) return [];
    if (rows.length === 1) return rows.map(({ siteId }) => ({ siteId, reason: refusal }));
    const middle = Math.ceil(rows.length / 2);
    return [...(await deliver(rows.slice(0, middle), may)), ...(await deliver(rows.slice(middle), may))];
  };

  /** The turn of one site. @returns whether it has more to send */
  const send = async (siteId: string, until: number): Promise<boolean> => {
    const rows = await waitingRows(db, siteId);
    let requests = 0;
    const end = () => clock.monotonic() > until || requests++ >= REQUESTS;
    const lost = rows.length > 0 ? await deliver(rows, { end }) : [];
    if (lost.length > 0) await db.transaction((sql) => lose(sql, lost));
    return rows.length === ROWS || requests > REQUESTS;
  };

  /** A round of turns. @returns how many sites it had, and why some of them could not be written */
  const sendAll = async (): Promise<Round> => {
    const until = clock.monotonic() + ROUND_MS;
    const sites = startingAfter(last, await waitingSites(db, clock.now() + AHEAD_MS));
    const reasons = new Map<string, string>();
    await takeTurns(sites, LANES, async (siteId) => {
      if (clock.monotonic() > until) return false;
      last = siteId;
      try {
        return await send(siteId, until);
      } catch (error) {
        if (!(error instanceof Away)) throw error;
        reasons.set(siteId, error.message);
        return false;
      }
    });
    return { sites: sites.length, reasons: [...reasons.values()] };
  };

  const report = async ({ sites, reasons }: Round): Promise<void> => {
    const [reason] = reasons;
    if (reason === undefined) {
      awaySince = null;
      return tell(true);
    }
    awaySince ??= clock.monotonic();
    log.warn(
      { engine: address.shown, sites: reasons.length, reason },
      'measurements cannot be written; tried again',
    );
    if (clock.monotonic() - awaySince < TOLD_AFTER_MS) return;
    const whose = reasons.length < sites ? ` of ${reasons.length} of ${sites} sites` : '';
    await tell(
      false,
      `Measurements${whose} cannot be written to ${address.shown}: ${reason}. They wait for a day at most.`,
    );
  };

  /** Deletes what waited too long. */
  const giveUp = async (): Promise<number> => {
    let gone = 0;
    const before = clock.now() - WAITS_MS;
    for (const siteId of await waitingSites(db, before))
      gone += await db.transaction(async (sql) => {
        const rows = await expired(sql, siteId, before);
        await lose(
          sql,
          rows.map(() => ({ siteId, reason: 'not written within a day' })),
        );
        return rows.length;
      });
    return gone;
  };

  /**
   * One instance at a time; each request is noted at once, outside of the transaction that holds the lock. The embedded
   * database has one instance, and does nothing beside a transaction.
   */
  const alone = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    db.kind === 'pglite'
      ? work()
      : db.transaction(async (sql) => ((await tryLock(sql, 'shipping')) ? work() : undefined));

  return {
    /** Sends what waits, so much at most; to be called again and again. */
    ship: async (): Promise<void> => {
      const round = await alone(sendAll);
      if (round) await report(round);
    },

    /** Deletes what the engine has, and what waited too long; so much at most. @returns how many rows */
    forget: async (): Promise<number> => {
      let gone = await giveUp();
      for (let i = 0; i < STATEMENTS; i++) {
        const n = await deleteTaken(db, clock.now() - HERE_MS);
        gone += n;
        if (n < FORGOTTEN) break;
      }
      return gone;
    },
  };
}

/** @returns null when they were taken, else why the engine refuses them as they are. @throws Away */
async function post({ url, headers }: Address, rows: readonly Waiting[]): Promise<string | null> {
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: 'POST',
      body: writeRequest(rows) as Uint8Array<ArrayBuffer>,
      headers: {
        ...headers,
        'Content-Encoding': 'snappy',
        'Content-Type': 'application/x-protobuf',
        'User-Agent': 'rollcall-server',
        'X-Prometheus-Remote-Write-Version': '0.1.0',
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
  } catch (error) {
    throw new Away(reasonOf(error));
  }
  const text = (await answer.text().catch(() => '')).trim().slice(0, 200);
  if (answer.ok) return null;
  const reason = `${answer.status} ${text}`.trim();
  // What is wrong with what was sent; all else (credentials, address, load) is put right elsewhere.
  if ([400, 413, 422].includes(answer.status)) return reason;
  throw new Away(reason);
}

/** Sites of which samples wait that are so old. One index entry of each is read, however much waits. */
const waitingSites = async (sql: Sql, before: number): Promise<string[]> =>
  (
    await sql.query<{ id: string }>(
      `SELECT s.id FROM sites s CROSS JOIN LATERAL (
         SELECT 1 FROM samples m WHERE m.site_id = s.id AND m.unsent AND m.at < $1 LIMIT 1) waiting ORDER BY s.id`,
      [new Date(before)],
    )
  ).map(({ id }) => id);

const waitingRows = (sql: Sql, siteId: string): Promise<Waiting[]> =>
  sql.query<Waiting & Record<string, unknown>>(
    `SELECT site_id AS "siteId", device_id AS "deviceId", at, part, over_ms AS "overMs", data FROM samples
     WHERE site_id = $1::uuid AND unsent ORDER BY at LIMIT ${ROWS}`,
    [siteId],
  );

async function taken(sql: Sql, rows: readonly Waiting[]): Promise<void> {
  await sql.query(
    `UPDATE samples m SET unsent = false FROM jsonb_to_recordset($1::jsonb) AS r("siteId" uuid, "deviceId" uuid, at timestamptz, part int8)
     WHERE m.site_id = r."siteId" AND m.device_id = r."deviceId" AND m.at = r.at AND m.part = r.part`,
    [JSON.stringify(rows.map(({ siteId, deviceId, at, part }) => ({ siteId, deviceId, at, part })))],
  );
}

const expired = (sql: Sql, siteId: string, before: number): Promise<unknown[]> =>
  sql.query(
    `DELETE FROM samples WHERE site_id = $1::uuid AND (device_id, at, part) IN (
       SELECT device_id, at, part FROM samples WHERE site_id = $1::uuid AND unsent AND at < $2
       ORDER BY at LIMIT ${FORGOTTEN}) RETURNING 1`,
    [siteId, new Date(before)],
  );

/** Those of all sites: the oldest of what none of them waits for. */
const deleteTaken = async (sql: Sql, before: number): Promise<number> =>
  (
    await sql.query(
      `DELETE FROM samples WHERE (site_id, device_id, at, part) IN (
         SELECT site_id, device_id, at, part FROM samples WHERE at < $1 AND NOT unsent ORDER BY at LIMIT ${FORGOTTEN})
       RETURNING 1`,
      [new Date(before)],
    )
  ).length;
