/** The whole server, as it is started in earnest, on a database of the test's own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@rollcall/server/app';
import type { Database } from '@rollcall/server/platform/db/db';
import { type Keyring, openKeyring } from '@rollcall/server/platform/keys/keyring';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import { createPostgres, databases } from '@rollcall/server/testing/database';

export interface ApiServer {
  url: string;
  db: Database;
  /** The server's own: what it seals with. */
  keyring: Keyring;
  /** Lines of warnings and errors since the start. */
  trouble: string[];
  stop(): Promise<void>;
}

/** The databases a suite of the whole server runs on. */
export const kinds = (): ('pglite' | 'postgresql')[] => databases().map(([name]) => name);

/** For what does not concern the database: PostgreSQL where there is one. */
export const oneKind = (): ReturnType<typeof kinds> => kinds().slice(-1);

/**
 * Starts it, with every answer checked against its schema. Dispose of the database with `closeDatabases`.
 * `databaseUrl`: another instance on a database that is there; `settings`: variables besides.
 */
export async function startApi(
  kind: 'pglite' | 'postgresql',
  { databaseUrl, settings = {} }: { databaseUrl?: string; settings?: Record<string, string> } = {},
): Promise<ApiServer> {
  const trouble: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-api-'));
  const url = kind === 'postgresql' ? (databaseUrl ?? (await freshPostgres())) : undefined;
  const config = readConfig({
    PORT: '0',
    ROLLCALL_DATA: folder,
    ROLLCALL_RATE_LIMIT: '0',
    LOG_LEVEL: 'warn',
    ...(url !== undefined && { DATABASE_URL: url }),
    ...settings,
  });
  const destination = { write: (line: string) => void trouble.push(line) };
  const log = openLog(config, { destination, terminal: false });
  const server = await startServer(config, { log, checkResponses: true });
  trouble.length = 0;
  return {
    url: server.url,
    db: server.db,
    keyring: openKeyring({ folder, file: undefined, credentialsDirectory: undefined }),
    trouble,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A database of its own where TEST_DATABASE_URL says. */
export const freshPostgres = async (): Promise<string> =>
  (await createPostgres(process.env.TEST_DATABASE_URL ?? '')).url;
