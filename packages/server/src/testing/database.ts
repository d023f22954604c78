import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { type Database, openDatabase } from '../platform/db/db.ts';
import { lockKey } from '../platform/db/lock.ts';
import { migrate, readMigrations } from '../platform/db/migrate.ts';

const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
const opened: (() => Promise<void>)[] = [];

/** Closes and drops every database that this test file opened; call it in `afterAll`. */
export async function closeDatabases(): Promise<void> {
  for (const close of opened.splice(0)) await close();
}

/** With TEST_BY_SITE databases are those of an administrator who partitioned PostgreSQL by site. */
const bySite = process.env.TEST_BY_SITE !== undefined;
const PARTITION = new URL('../../../../deploy/examples/partition-by-site.sql', import.meta.url);

/**
 * The databases a suite runs on, for `describe.each(databases())('…on %s', (_name, open) => …)`. Each `open()` gives a
 * fresh migrated one: PGlite in memory, except with TEST_EMBEDDED=0, and PostgreSQL where TEST_DATABASE_URL names a
 * server.
 */
export function databases(): [name: 'pglite' | 'postgresql', open: () => Promise<Database>][] {
  const list: ReturnType<typeof databases> =
    bySite || process.env.TEST_EMBEDDED === '0' ? [] : [['pglite', openEmbedded]];
  const url = process.env.TEST_DATABASE_URL;
  if (url) list.push(['postgresql', async () => (await createPostgres(url)).db]);
  return list;
}

const fingerprint = () =>
  createHash('sha256')
    .update(
      readMigrations()
        .map((m) => m.checksum)
        .join(),
    )
    .update(bySite ? readFileSync(PARTITION) : '')
    .digest('hex')
    .slice(0, 15);

async function openEmbedded(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
  cpSync(await migratedFolder(), folder, { recursive: true });
  const db = await openDatabase({ folder }, log);
  opened.push(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  return db;
}

/** Folder of a migrated PGlite, made once per set of migrations and kept in the temporary folder between test files. */
async function migratedFolder(): Promise<string> {
  const folder = join(tmpdir(), `rollcall-test-template-${fingerprint()}`);
  if (existsSync(folder)) return folder;
  const draft = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
  const db = await openDatabase({ folder: draft }, log);
  await migrate(db);
  await db.close();
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
  return folder;
}

/** A database of its own on the PostgreSQL server of TEST_DATABASE_URL, cloned from a migrated template. */
export async function createPostgres(serverUrl: string): Promise<{ db: Database; url: string }> {
  const template = `rollcall_template_${fingerprint()}`;
  const name = `rollcall_test_${randomBytes(6).toString('hex')}`;
  const at = (database: string) => {
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    return url.href;
  };
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    // Of the server's first database, which no migration runs in: one test file at a time makes the template.
    await admin.query('SELECT pg_advisory_lock($1)', [lockKey('migrations')]);
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (!rowCount) {
      const draft = `${name}_draft`;
      await admin.query(`CREATE DATABASE ${draft}`);
      const db = await openDatabase({ url: at(draft) }, log);
      await migrate(db);
      if (bySite) await db.query(readFileSync(PARTITION, 'utf8'));
      await db.close();
      await admin.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
    }
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await admin.end();
  }
  const db = await openDatabase({ url: at(name) }, log);
  opened.push(async () => {
    await db.close();
    const cleaner = new pg.Client({ connectionString: serverUrl });
    await cleaner.connect();
    await cleaner.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await cleaner.end();
  });
  return { db, url: at(name) };
}
