import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database, Sql } from './db.ts';
import { lockKey } from './lock.ts';

export interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file, hex: Prisma's own measure. */
  checksum: string;
}

/**
 * Its first line begins so: it only adds, so a server of the version before works on with it, beside one of this version
 * (rolling upgrade) or in its place (downgrade). The database keeps the word, because that server does not have the file.
 */
const ADDITIVE = '-- Additive';
export const isAdditive = ({ sql }: Migration): boolean => sql.startsWith(ADDITIVE);

/** Why the schema cannot be brought up to date; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** `prisma/migrations`, beside the packages in a checkout and beside the bundle in an installation. */
export const MIGRATIONS = fileURLToPath(new URL('../../../../../prisma/migrations/', import.meta.url));

export function readMigrations(folder: string = MIGRATIONS): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** Prisma's own bookkeeping table, so that its tools read the same history. */
const BOOK = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;

/**
 * Applies what is missing, each migration in a transaction of its own, one instance at a time.
 * @param newer `refuse`: also a database whose newer migrations only add
 * @returns names applied now.
 * @throws MigrationError when the database is too new for this build or an applied migration was edited.
 */
export async function migrate(
  db: Pick<Database, 'exclusively' | 'script' | 'query'>,
  migrations: Migration[] = readMigrations(),
  newer: 'refuse' | 'additive' = 'additive',
): Promise<string[]> {
  return db.exclusively(lockKey('migrations'), async () => {
    await db.script(BOOK);
    const ran = await readApplied(db);
    const missing = pending(
      newer === 'refuse' ? ran.map((row) => ({ ...row, logs: null })) : ran,
      migrations,
    );
    for (const migration of missing) {
      try {
        await db.script(`BEGIN;\n${migration.sql};\nCOMMIT;`);
      } catch (error) {
        await db.script('ROLLBACK').catch(() => undefined);
        throw new MigrationError(`migration ${migration.name} failed: ${(error as Error).message}`, {
          cause: error,
        });
      }
      await db.query(
        `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, logs, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, $4, now(), now(), 1)`,
        [randomUUID(), migration.checksum, migration.name, isAdditive(migration) ? ADDITIVE : null],
      );
    }
    return missing.map((migration) => migration.name);
  });
}

export interface Applied {
  migration_name: string;
  checksum: string;
  /** Prisma's column: `ADDITIVE` of one that only adds. */
  logs: string | null;
}

/** What ran, in its order. */
export const readApplied = (sql: Sql): Promise<Applied[]> =>
  sql.query<Applied & Record<string, unknown>>(
    `SELECT migration_name, checksum, logs FROM "_prisma_migrations"
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );

/** Pure: what has to run, given what ran. @throws MigrationError */
export function pending(ran: readonly Applied[], known: readonly Migration[]): Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { migration_name: name, checksum, logs } of ran) {
    const migration = byName.get(name);
    if (!migration && logs === ADDITIVE) continue;
    if (!migration)
      throw new MigrationError(
        `the database has migration ${name}, which this version cannot work with: it was written by a newer version; install that one, or restore a backup of this one`,
      );
    if (migration.checksum !== checksum)
      throw new MigrationError(
        `migration ${name} was changed after it had been applied; restore the original file`,
      );
  }
  const done = new Set(ran.map((row) => row.migration_name));
  return known.filter((migration) => !done.has(migration.name));
}
