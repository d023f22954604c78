/**
 * The one door to PostgreSQL: a real server (`url`) or PGlite in a folder. Same SQL, same value types, on both.
 * Prisma serves single rows and small lists; long lists, queues and ingest are statements of their own, through `query`.
 */
import type { Logger } from 'pino';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { Problem } from '../problem.ts';
import { openPglite } from './db-pglite.ts';
import { openPostgres } from './db-postgres.ts';
import { openPrisma, prismaState } from './prisma.ts';
import type { Driver, DriverPool, Sql, Transaction } from './sql.ts';

export type { Sql, Transaction } from './sql.ts';

/** A pool of connections that can run transactions. */
export interface Pool extends Sql {
  /** Runs `work` in one transaction; deadlocks and serialization failures are retried, so `work` must be repeatable. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

export interface Database extends Pool {
  readonly kind: 'postgresql' | 'pglite';
  /** Single rows and small lists; never inside a loop. */
  readonly prisma: PrismaClient;
  /** As of every pool, with Prisma on the same connection. */
  transaction<T>(work: (sql: Transaction) => Promise<T>): Promise<T>;
  /** Connections that only ingest uses, so that a slow report cannot hold it up, nor the reverse. */
  readonly ingest: Pool;
  /** Runs several statements without parameters; migrations only. */
  script(text: string): Promise<void>;
  /**
   * Holds a session-wide advisory lock around `work`. Waits for it as long as it takes, or for `waitMs` and fails with
   * `NotFree`; the embedded database has one process, which waits in turn.
   */
  exclusively<T>(key: number, work: () => Promise<T>, waitMs?: number): Promise<T>;
  /**
   * LISTEN. After a lost connection it listens again and calls `onMessage('')` once: something may have been missed,
   * read again.
   */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload: string): Promise<void>;
  close(): Promise<void>;
}

/** SQLSTATE of an error, whether a driver or Prisma raised it. */
export const sqlState = (error: unknown): string | undefined => {
  const code = prismaState(error) ?? (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === '23505';

/** Runs `work`; where it would store a second one of what is unique, the caller is told `message`. */
export async function orConflict<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUniqueViolation(error) ? new Problem('conflict', message, { cause: error }) : error;
  }
}

/** Worth another try at once: serialization failure, deadlock. */
const RETRYABLE = new Set(['40001', '40P01']);
/** A lock was not free in time (`lock_timeout`): worth another try after others had their turn. */
const LOCKED = '55P03';
const TRANSACTION_TRIES = 8;

/** Connection trouble: class 08, shutdown and start-up (57P01–57P03), out of resources (53), driver codes. */
const AWAY = /^(08...|57P0[1-5]|53[0-4]00|58030)$/;
const DISK_FULL = '53100';
const AWAY_DRIVER = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH'],
  // Prisma: not reachable, timed out, operation timed out, connection closed, no connection free.
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024'],
]);
const AWAY_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|pool after calling end|PGlite is (closed|closing)/;

/** Whether an error, or the cause of a Problem, says that the database cannot be reached right now, rather than that the statement is wrong. */
export function databaseAway(error: unknown): boolean {
  if (error instanceof Problem) return error.cause !== undefined && databaseAway(error.cause);
  const { code: own, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const code = sqlState(error) ?? own;
  if (typeof code === 'string' && (AWAY.test(code) || AWAY_DRIVER.has(code))) return true;
  return typeof message === 'string' && AWAY_TEXT.test(message);
}

const UNAVAILABLE: Record<string, string> = {
  [DISK_FULL]: 'the disk of the database is full; nothing is stored until it has room',
  [LOCKED]: 'something else holds what is to be changed; try again shortly',
};

export const unavailable = (cause: unknown): Problem =>
  new Problem(
    'unavailable',
    UNAVAILABLE[sqlState(cause) ?? ''] ?? 'the database is away; try again shortly',
    { headers: { 'Retry-After': '5' }, cause },
  );

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    // A transaction and its statements are guarded both.
    if (error instanceof Problem) throw error;
    throw databaseAway(error) || sqlState(error) === LOCKED ? unavailable(error) : error;
  }
};

/** @param within makes what `work` of a transaction is given, of its statements and its connection. */
function pool<T extends Sql>(
  driver: DriverPool,
  within: <R>(sql: Sql, connection: object, work: (sql: T) => Promise<R>) => Promise<R>,
) {
  return {
    query: ((text, params, kept) => guarded(() => driver.query(text, params, kept))) as Sql['query'],
    transaction: <R>(work: (sql: T) => Promise<R>): Promise<R> =>
      guarded(async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await driver.once((sql, connection) => within(sql, connection, work));
          } catch (error) {
            if (!RETRYABLE.has(sqlState(error) ?? '') || attempt === TRANSACTION_TRIES) throw error;
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt));
          }
        }
      }),
  };
}

/** Where the data is: a PostgreSQL URL, or a folder for the embedded database (`memory://` for none). */
export type DatabaseSource = { url: string } | { folder: string };

/** Opens the database; applies no migrations. Fails with a `Problem('unavailable')` when it cannot be reached. */
export async function openDatabase(source: DatabaseSource, log: Logger): Promise<Database> {
  const driver: Driver = await guarded(() =>
    'url' in source ? openPostgres(source.url, log) : openPglite(source.folder),
  );
  const { prisma, within } = openPrisma(driver.adapter, guarded);
  const main = pool<Transaction>(driver.main, (sql, connection, work) =>
    within(connection, (tx) => work({ ...sql, prisma: tx })),
  );
  let closed: Promise<void> | undefined;
  return {
    kind: driver.kind,
    prisma,
    ...main,
    ingest: pool<Sql>(driver.ingest, (sql, _connection, work) => work(sql)),
    script: (text) => guarded(() => driver.script(text)),
    exclusively: driver.exclusively,
    listen: driver.listen,
    notify: async (channel, payload) => {
      await main.query('SELECT pg_notify($1, $2)', [channel, payload]);
    },
    close: () => {
      closed ??= prisma.$disconnect().then(driver.close);
      return closed;
    },
  };
}
