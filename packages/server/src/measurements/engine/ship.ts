/**
 * Samples on their way to an engine for time series: what was stored waits in `samples` until the engine took it, the
 * oldest first, for a day at most. What the engine refuses for what it is (too old, out of order) is found by halving.
 * Each loss is an event of its site; that nothing can be written is one as well.
 */
import { hostname } from 'node:os';
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Change } from '../../changes.ts';
import type { Database, Sql } from '../../platform/db/db.ts';
import { tryLock } from '../../platform/db/lock.ts';
import type { Raise } from '../../ports.ts';
import { grouped } from '../series.ts';
import { type Address, addressOf, reasonOf } from './address.ts';
import { type Waiting, writeRequest } from './write-request.ts';

/** Rows of one request, and requests of one round. */
const ROWS = 400;
const REQUESTS = 25;
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
/** Rows deleted in one statement. */
const FORGOTTEN = 5_000;

interface Deps {
  db: Database;
  clock: Clock;
  log: Logger;
  raise: Raise;
  /** Where remote write is answered. */
  write: string;
}

/** A row that is nowhere now. */
interface Lost {
  siteId: string;
  reason: string;
}

/** The engine cannot be reached, or answers that it cannot take anything now. */
class Away extends Error {}

export function createShipper({ db, clock, log, raise, write }: Deps) {
  const address = addressOf(write);
  /** Monotonic; null: the last request was answered well. */
  let awaySince: number | null = null;
  /** As told last; null: not yet. */
  let told: boolean | null = null;

  const tell = async (ok: boolean, reason = ''): Promise<void> => {
    if (told === ok) return;
    const [site] = await db.query<{ id: string }>('SELECT id FROM sites ORDER BY created_at, id LIMIT 1');
    if (!site) return;
    const message = `Measurements cannot be written to ${address.shown}: ${reason}. They wait for a day at most.`;
    const about = { kind: 'server.checked' as const, check: 'metrics' as const, siteId: site.id };
    await db.transaction((sql) =>
      raise(sql, [{ ...about, at: clock.now(), server: hostname(), ok, message }]),
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
    await raise(sql, changes);
  };

  /** Sends rows, in halves where the engine refuses some of them; answers those that it refuses alone. */
  const deliver = async (rows: readonly Waiting[], until: number): Promise<Lost[]> => {
    if (clock.monotonic() > until) return [];
    const refusal = await post(address, rows);
    if (refusal === null || rows.length === 1) await taken(db, rows);
    if (refusal === null) return [];
    if (rows.length === 1) return rows.map(({ siteId }) => ({ siteId, reason: refusal }));
    const middle = Math.ceil(rows.length / 2);
    return [...(await deliver(rows.slice(0, middle), until)), ...(await deliver(rows.slice(middle), until))];
  };

  const sendAll = async (): Promise<void> => {
    const until = clock.monotonic() + ROUND_MS;
    for (let i = 0; i < REQUESTS && clock.monotonic() <= until; i++) {
      const rows = await waitingRows(db);
      const lost = rows.length > 0 ? await deliver(rows, until) : [];
      if (lost.length > 0) await db.transaction((sql) => lose(sql, lost));
      if (rows.length < ROWS) break;
    }
  };

  /**
   * One instance at a time; each request is noted at once, outside of the transaction that holds the lock. The embedded
   * database has one instance, and does nothing beside a transaction.
   */
  const alone = (work: () => Promise<void>): Promise<void> =>
    db.kind === 'pglite'
      ? work()
      : db.transaction(async (sql) => {
          if (await tryLock(sql, 'shipping')) await work();
        });

  return {
    /** Sends what waits, so much at most; to be called again and again. */
    ship: async (): Promise<void> => {
      try {
        await alone(sendAll);
        awaySince = null;
        await tell(true);
      } catch (error) {
        if (!(error instanceof Away)) throw error;
        awaySince ??= clock.monotonic();
        log.warn(
          { engine: address.shown, reason: error.message },
          'measurements cannot be written; tried again',
        );
        if (clock.monotonic() - awaySince >= TOLD_AFTER_MS) await tell(false, error.message);
      }
    },

    /** Deletes what the engine has, and what waited too long. @returns how many rows */
    forget: async (): Promise<number> => {
      const gone = await deleted(db, 'NOT unsent', clock.now() - HERE_MS);
      const late = await db.transaction(async (sql) => {
        const rows = await deleted(sql, 'unsent', clock.now() - WAITS_MS);
        await lose(
          sql,
          rows.map(({ siteId }) => ({ siteId, reason: 'not written within a day' })),
        );
        return rows;
      });
      return gone.length + late.length;
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

const waitingRows = (sql: Sql): Promise<Waiting[]> =>
  sql.query<Waiting & Record<string, unknown>>(
    `SELECT site_id AS "siteId", device_id AS "deviceId", at, part, over_ms AS "overMs", data FROM samples
     WHERE unsent ORDER BY at LIMIT ${ROWS}`,
  );

async function taken(sql: Sql, rows: readonly Waiting[]): Promise<void> {
  await sql.query(
    `UPDATE samples m SET unsent = false FROM jsonb_to_recordset($1::jsonb) AS r("siteId" uuid, "deviceId" uuid, at timestamptz, part int8)
     WHERE m.site_id = r."siteId" AND m.device_id = r."deviceId" AND m.at = r.at AND m.part = r.part`,
    [JSON.stringify(rows.map(({ siteId, deviceId, at, part }) => ({ siteId, deviceId, at, part })))],
  );
}

const deleted = (sql: Sql, which: string, before: number): Promise<{ siteId: string }[]> =>
  sql.query<{ siteId: string }>(
    `DELETE FROM samples WHERE (site_id, device_id, at, part) IN (
       SELECT site_id, device_id, at, part FROM samples WHERE at < $1 AND ${which} ORDER BY at LIMIT ${FORGOTTEN})
     RETURNING site_id AS "siteId"`,
    [new Date(before)],
  );
