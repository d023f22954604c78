import { PrismaPg } from '@prisma/adapter-pg';
import { systemClock } from '@rollcall/shared/clock';
import pLimit from 'p-limit';
import pg from 'pg';
import type { Logger } from 'pino';
import { askerOf, watchHost } from './host-watch.ts';
import { connectionsOf } from './hosts.ts';
import { lockKey, NotFree } from './lock.ts';
import type { Driver, DriverPool, Sql } from './sql.ts';

/** Connections per pool. */
const MAIN_CONNECTIONS = 6;
/** One for each window of ingest (ingest/queue/site-queue.ts), and some for what works behind it. */
const INGEST_CONNECTIONS = 14;
/**
 * Kept statements outside of transactions have connections of their own, which stay. A new connection knows no table and has
 * planned nothing: while collectors pour, its first answer to a list took up to 80 ms, where 5 are usual (bench:ingest).
 */
const KEPT_CONNECTIONS = 5;
/** No answer to a person may take longer; ingest has its own bound. */
const STATEMENT_MS = 15_000;
/** No statement of ingest may take longer. */
const INGEST_STATEMENT_MS = 60_000;
/** A window that waits longer for a lock goes to the end of the queue, so that no site keeps a place of others. */
const INGEST_LOCK_MS = 2_000;
/** PostgreSQL must accept a connection within this time. */
const CONNECT_MS = 3_000;

const { builtins } = pg.types;
const parsers = new Map<number, (text: string) => unknown>([[builtins.INT8, Number]]);
/** Same value types as PGlite: int8 as number (every one of ours is below 2^53). */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text'),
};

export async function openPostgres(url: string, log: Logger): Promise<Driver> {
  const { Client, drop } = connectionsOf(url);
  const open = (max: number, timeouts: { statement: number; lock: number }, name: string, kept = false) => {
    const pool = new pg.Pool({
      Client,
      max,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: `rollcall ${name}`,
      // The driver adapter misreads timestamps in any other zone (prisma/orm 26786).
      // Without just-in-time compilation: our statements are short, and compiling one takes longer than running it.
      options: `-c TimeZone=UTC -c jit=off -c statement_timeout=${timeouts.statement} -c lock_timeout=${timeouts.lock} -c idle_in_transaction_session_timeout=60000`,
      types,
      ...(kept && { idleTimeoutMillis: 0 }),
    });
    // An idle connection that dies is replaced at the next query; without a listener the process would end.
    pool.on('error', (error) => log.warn({ err: error.message }, 'idle database connection lost'));
    // One that dies between two statements of a transaction: the next statement fails, and says so to who waits.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };
  const forPeople = { statement: STATEMENT_MS, lock: 0 };
  const main = open(MAIN_CONNECTIONS, forPeople, 'api');
  const kept = open(KEPT_CONNECTIONS, forPeople, 'api', true);
  const ingest = open(INGEST_CONNECTIONS, { statement: INGEST_STATEMENT_MS, lock: INGEST_LOCK_MS }, 'ingest');
  const endAll = () => Promise.all([main, kept, ingest].map((pool) => pool.end()));
  try {
    const { rows } = await main.query<{ TimeZone: string }>('SHOW TimeZone');
    if (rows[0]?.TimeZone !== 'UTC')
      throw new Error(`the session's TimeZone is ${rows[0]?.TimeZone}, not UTC`);
  } catch (error) {
    await endAll();
    throw error;
  }
  const listener = new Listener(Client, log);
  const asker = askerOf(
    () => new Client({ application_name: 'rollcall watch', connectionTimeoutMillis: CONNECT_MS }),
    log,
  );
  const stopWatching = watchHost(systemClock, asker.ask, () => {
    log.warn("the database's host answers nothing; its connections are made anew");
    drop('its host answers nothing');
  });
  return {
    kind: 'postgresql',
    adapter: new PrismaPg(main, { disposeExternalPool: false }),
    main: driverPool(main, kept),
    ingest: inOrder(driverPool(ingest, ingest), INGEST_CONNECTIONS),
    script: async (text) => {
      const client = await main.connect();
      try {
        // A migration of a table of millions of rows takes as long as it takes.
        await client.query('SET statement_timeout = 0');
        await client.query(text);
      } finally {
        client.release(true);
      }
    },
    exclusively: async (key, work, waitMs = 0) => {
      const client = await main.connect();
      try {
        await client.query(`SET statement_timeout = 0; SET lock_timeout = ${waitMs}`);
        await client.query('SELECT pg_advisory_lock($1)', [key]).catch((error: { code?: string }) => {
          throw error.code === '55P03' ? new NotFree(`lock ${key} is held`, { cause: error }) : error;
        });
        // Without its connection there is no lock.
        const lost = new Promise<never>((_, reject) => client.once('error', reject));
        return await Promise.race([work(), lost]);
      } finally {
        // Destroyed, not returned: whatever happened, the lock goes with the connection.
        client.release(true);
      }
    },
    listen: (channel, onMessage) => listener.listen(channel, onMessage),
    close: async () => {
      stopWatching();
      await asker.end();
      await listener.close();
      await endAll();
    },
  };
}

/** Texts that connections keep: each costs every connection some 50 KB. Further ones are parsed and planned each time. */
const KEPT_MOST = 64;
const keptNames = new Map<string, string>();

/** The name under which connections keep a statement; undefined where there are too many. */
function nameOf(text: string): string | undefined {
  let name = keptNames.get(text);
  if (name === undefined && keptNames.size < KEPT_MOST) {
    name = `kept_${keptNames.size}`;
    keptNames.set(text, name);
  }
  return name;
}

const rows =
  (target: { query(statement: pg.QueryConfig): Promise<{ rows: unknown[] }> }): Sql['query'] =>
  async <R extends object>(text: string, params?: readonly unknown[], kept?: 'kept') => {
    const name = kept && nameOf(text);
    const values = params ? [...params] : undefined;
    return (await target.query({ text, ...(values && { values }), ...(name && { name }) })).rows as R[];
  };

function driverPool(pool: pg.Pool, kept: pg.Pool): DriverPool {
  const [once, again] = [rows(pool), rows(kept)];
  return {
    query: (text, params, keep) => (keep ? again : once)(text, params, keep),
    once: async (work) => {
      const client = await pool.connect();
      let broken = false;
      try {
        await client.query('BEGIN');
        const result = await work({ query: rows(client) }, client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
  };
}

/** Waits for a connection as long as it takes: that many writers are busy is no sign that the database is away. */
function inOrder(pool: DriverPool, connections: number): DriverPool {
  const turn = pLimit(connections);
  return {
    query: <R extends object>(text: string, params?: readonly unknown[], kept?: 'kept') =>
      turn(() => pool.query<R>(text, params, kept)),
    once: (work) => turn(() => pool.once(work)),
  };
}

/** One connection for all LISTENs; reconnects for ever and tells every listener that it may have missed something. */
class Listener {
  readonly #Client: typeof pg.Client;
  readonly #log: Logger;
  readonly #channels = new Map<string, Set<(payload: string) => void>>();
  #client: pg.Client | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(Client: typeof pg.Client, log: Logger) {
    this.#Client = Client;
    this.#log = log;
  }

  async listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>> {
    if (!/^[a-z_]+$/.test(channel)) throw new Error(`not a channel name: ${channel}`);
    let listeners = this.#channels.get(channel);
    if (!listeners) {
      listeners = new Set();
      this.#channels.set(channel, listeners);
    }
    listeners.add(onMessage);
    if (this.#client) await this.#client.query(`LISTEN ${channel}`);
    else await this.#connect();
    return async () => {
      listeners.delete(onMessage);
    };
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const client = new this.#Client({
      application_name: 'rollcall listen',
      connectionTimeoutMillis: CONNECT_MS,
    });
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.#channels.get(channel) ?? []) listener(payload ?? '');
    });
    const drop = () =>
      client
        .end()
        .catch((reason: unknown) => this.#log.debug({ err: String(reason) }, 'closing a lost connection'));
    // While it connects, failures are the caller's; from then on a loss is told once.
    client.on('error', (error) => this.#lost(client, error.message));
    client.on('end', () => this.#lost(client));
    try {
      await client.connect();
      // Shared with other servers; who replaces everything needs it alone, and a server that starts meanwhile waits.
      await client.query('SELECT pg_advisory_lock_shared($1)', [lockKey('serving')]);
      for (const channel of this.#channels.keys()) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      void drop();
      throw error;
    }
    this.#client = client;
  }

  #lost(client: pg.Client, reason?: string): void {
    if (client !== this.#client || this.#closed) return;
    this.#client = undefined;
    this.#log.warn({ err: reason }, 'notification connection lost; listening again as soon as possible');
    this.#again();
  }

  /** Tries until it listens again, with one timer at a time. */
  #again(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(
      async () => {
        try {
          await this.#connect();
        } catch {
          if (!this.#closed) this.#again();
          return;
        }
        for (const listeners of this.#channels.values()) for (const listener of listeners) listener('');
      },
      500 + Math.random() * 1000,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.end();
  }
}
