import { chmodSync, mkdirSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { PGlite, types } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Driver, DriverPool, Sql } from './sql.ts';

/**
 * The embedded database: PostgreSQL in WebAssembly, one session, no fsync (its Node build ignores sync calls). It
 * survives kill -9 of the process but not a power cut, which is why the server says at start that it is for trials.
 * One session means that `main` and `ingest` are the same; a transaction keeps all others waiting.
 */
export async function openPglite(folder: string): Promise<Driver> {
  if (!folder.startsWith('memory://')) {
    mkdirSync(folder, { recursive: true });
    // Its files are writable for everybody (WebAssembly knows no umask): nobody else may get to them.
    chmodSync(folder, 0o700);
  }
  const db = await PGlite.create(folder, {
    extensions: { pg_trgm },
    parsers: { [types.INT8]: Number, [types.NUMERIC]: (text) => text },
  });
  await db.exec(`SET TimeZone = 'UTC'`);
  const pool: DriverPool = {
    query: rows(db),
    once: (work) => db.transaction((tx) => work({ query: rows(tx) }, tx)),
  };
  const turns = new Map<number, Promise<unknown>>();
  return {
    kind: 'pglite',
    adapter: new PrismaPGlite(db),
    main: pool,
    ingest: pool,
    script: async (text) => {
      await db.exec(text);
    },
    exclusively: (key, work) => {
      const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
      turns.set(key, turn);
      return turn;
    },
    listen: (channel, onMessage) => db.listen(channel, onMessage),
    close: () => db.close(),
  };
}

/**
 * A statement runs on the thread that asks, and its answer is there without a turn of the event loop: statement behind
 * statement, sockets would be served when all of a backlog is stored (a server that was not ready for a minute).
 */
const rows =
  (target: { query: PGlite['query'] }): Sql['query'] =>
  async <R extends object>(text: string, params?: readonly unknown[]) => {
    await turn();
    return (await target.query<R>(text, params ? [...params] : undefined)).rows;
  };
