/**
 * The whole database as one file, and back: the same for PostgreSQL and for the embedded database, so that it also
 * carries an installation from one to the other. Read in one snapshot while the server works. Rows travel as the JSON
 * that PostgreSQL itself writes and reads; nothing here knows a column. SNMP secrets stay sealed: the key is not in it.
 *
 * Format: gzip of lines. `@{…}` says what follows (first the head, then each table, last the end with a SHA-256 of all
 * before it); every other line is a row.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { StartError } from '../ops/config.ts';
import { version } from '../ops/version.ts';
import type { Database, Sql } from './db.ts';
import { lockKey, NotFree } from './lock.ts';
import { type Migration, migrate, readMigrations } from './migrate.ts';

const head = z.object({
  rollcall: z.literal('backup'),
  format: z.literal(1),
  version: z.string(),
  /** Unix seconds. */
  at: z.int(),
  migrations: z.array(z.string()),
});
const tableLine = z.object({ table: z.string(), columns: z.array(z.string()) });
const endLine = z.object({ rows: z.int(), sha256: z.string() });

export interface Told {
  tables: number;
  rows: number;
}

/** Rows read at once, and at most so many bytes written at once. */
const FETCH_ROWS = 2_000;
const INSERT_BYTES = 1024 * 1024;
const BOOK = '_prisma_migrations';
/** Of `pg_class c`: a table, whole, also where an administrator partitioned it (deploy/examples/partition-by-site.sql). */
const OWN = `c.relkind IN ('r', 'p') AND NOT c.relispartition`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Tables of ours with the columns that can be written, both in order of their names. */
const tablesOf = (sql: Sql) =>
  sql.query<{ table: string; columns: string[] }>(
    `SELECT c.relname AS "table", json_agg(a.attname ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND ${OWN} AND c.relname <> '${BOOK}'
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.relname ORDER BY c.relname COLLATE "C"`,
  );

/** PostgreSQL knows by then that a server which was killed just now is gone. */
const LEAVE_MS = 5_000;

/** Long work of a person who waits for it, in one snapshot. */
const alone = (sql: Sql): Promise<unknown> =>
  sql.query(
    `SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`,
  );

/** Writes everything. The output is ended. */
export async function backup(db: Database, out: Writable, now: number): Promise<Told> {
  const told: Told = { tables: 0, rows: 0 };
  const hash = createHash('sha256');
  const line = (text: string): string => {
    hash.update(text).update('\n');
    return `${text}\n`;
  };

  async function* lines(sql: Sql): AsyncGenerator<string> {
    await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await alone(sql);
    const ran = await sql.query<{ name: string }>(
      `SELECT migration_name AS name FROM "${BOOK}"
       WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY 1`,
    );
    const migrations = ran.map(({ name }) => name);
    yield line(
      `@${JSON.stringify({ rollcall: 'backup', format: 1, version, at: Math.floor(now / 1000), migrations })}`,
    );
    for (const { table, columns } of await tablesOf(sql)) {
      told.tables += 1;
      yield line(`@${JSON.stringify({ table, columns })}`);
      await sql.query(
        `DECLARE rows_of NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${quoted(table)} t`,
      );
      for (;;) {
        const rows = await sql.query<{ row: string }>(`FETCH ${FETCH_ROWS} FROM rows_of`);
        if (rows.length === 0) break;
        told.rows += rows.length;
        yield rows.map(({ row }) => line(row)).join('');
      }
      await sql.query('CLOSE rows_of');
    }
    yield `@${JSON.stringify({ rows: told.rows, sha256: hash.digest('hex') })}\n`;
  }

  await db.transaction((sql) => pipeline(lines(sql), createGzip(), out));
  return told;
}

/**
 * Fills a database from a backup, whole or not at all: brings its schema to that of the backup, loads, and leaves what is
 * newer to the migrations behind it. With `replace` what is there is thrown away first. Throws a StartError that says
 * what to do.
 */
export async function restore(
  db: Database,
  from: Readable,
  {
    replace = false,
    migrations = readMigrations(),
    leaveMs = LEAVE_MS,
  }: { replace?: boolean; migrations?: Migration[]; leaveMs?: number } = {},
): Promise<Told & { version: string; at: number }> {
  const input = linesOf(from);
  const first = await input.next();
  const about = head.safeParse(directive(first.done ? '' : first.value));
  if (!about.success) throw new StartError('this is no backup of a Rollcall server');
  const told = await withoutServers(
    db,
    async () => {
      await prepare(db, about.data, migrations);
      const loaded = await replaceAll(db, input, { first: first.value ?? '', replace });
      await migrate(db, migrations);
      return loaded;
    },
    leaveMs,
  );
  return { ...told, version: about.data.version, at: about.data.at };
}

/** Loads what `input` has behind its `first` line, whole or not at all. */
function replaceAll(
  db: Database,
  input: AsyncGenerator<string>,
  { first, replace }: { first: string; replace: boolean },
): Promise<Told> {
  return db.transaction(async (sql) => {
    await alone(sql);
    if (!replace && (await holdsData(sql)))
      throw new StartError('the database holds data: add --replace to throw it away, or name an empty one');
    const links = await dropLinks(sql);
    const result = await load(sql, input, first);
    for (const { table, name, definition } of links)
      await sql.query(`ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${quoted(name)} ${definition}`);
    return result;
  });
}

/**
 * Runs `work` while no server works with the database, here or on another host: one that starts meanwhile waits for its end.
 * Throws a StartError where one runs.
 */
export async function withoutServers<T>(
  db: Pick<Database, 'exclusively'>,
  work: () => Promise<T>,
  leaveMs = LEAVE_MS,
): Promise<T> {
  try {
    return await db.exclusively(lockKey('serving'), work, leaveMs);
  } catch (error) {
    if (!(error instanceof NotFree)) throw error;
    throw new StartError('a server runs on this database, here or on another host: stop it first', error);
  }
}

/** The schema that the rows are of. */
async function prepare(db: Database, about: z.output<typeof head>, migrations: Migration[]): Promise<void> {
  const [last = ''] = about.migrations.slice(-1);
  const then = migrations.filter(({ name }) => about.migrations.includes(name));
  if (then.length < about.migrations.length)
    throw new StartError(
      `the backup is of version ${about.version}, which is newer than this one (it has ${last}): install that version`,
    );
  await migrate(
    db,
    migrations.filter(({ name }) => name <= last),
    'refuse',
  ).catch((error: Error) => {
    throw new StartError(
      `the database is newer than the backup: name an empty one (${error.message})`,
      error,
    );
  });
}

const holdsData = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql.query<{ there: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM sites) AS there',
  );
  return row?.there === true;
};

/** Takes foreign keys away, so that tables come in any order; answers how to put them back. */
async function dropLinks(sql: Sql): Promise<{ table: string; name: string; definition: string }[]> {
  const links = await sql.query<{ table: string; name: string; definition: string }>(
    `SELECT r.relname AS "table", c.conname AS name, pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
     WHERE c.contype = 'f' AND c.conparentid = 0 AND c.connamespace = current_schema()::regnamespace`,
  );
  for (const { table, name } of links)
    await sql.query(`ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)}`);
  return links;
}

async function load(sql: Sql, input: AsyncGenerator<string>, first: string): Promise<Told> {
  const told: Told = { tables: 0, rows: 0 };
  const hash = createHash('sha256').update(first).update('\n');
  const known = new Map((await tablesOf(sql)).map(({ table, columns }) => [table, columns]));
  const names = [...known.keys()].map(quoted);
  // Tallies are rows like all others: nobody counts what is put back.
  for (const name of names) await sql.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  await sql.query(`TRUNCATE ${names.join(', ')}`);
  let insert: (() => Promise<void>) | undefined;
  let batch: string[] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length > 0) await insert?.();
    batch = [];
    bytes = 0;
  };
  for await (const text of input) {
    if (!text.startsWith('@')) {
      hash.update(text).update('\n');
      told.rows += 1;
      batch.push(text);
      bytes += text.length;
      if (bytes > INSERT_BYTES) await flush();
      continue;
    }
    await flush();
    const end = endLine.safeParse(directive(text));
    if (end.success) {
      if (end.data.rows !== told.rows || end.data.sha256 !== hash.digest('hex'))
        throw new StartError('the backup is damaged: its check sum does not fit; take another one');
      for (const name of names) await sql.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
      await goOnCounting(sql);
      return told;
    }
    hash.update(text).update('\n');
    const { table, columns } = tableLine.parse(directive(text));
    const has = known.get(table);
    if (!has || columns.some((column) => !has.includes(column)))
      throw new StartError(`the backup has a table ${table} that does not fit its version; take another one`);
    told.tables += 1;
    const list = columns.map(quoted).join(', ');
    insert = async () => {
      await sql.query(
        `INSERT INTO ${quoted(table)} (${list}) OVERRIDING SYSTEM VALUE
         SELECT ${list} FROM json_populate_recordset(NULL::${quoted(table)}, $1::text::json)`,
        [`[${batch.join(',')}]`],
      );
    };
  }
  throw new StartError('the backup is cut off: it has no end; take another one');
}

/** Numbers go on where they were. */
async function goOnCounting(sql: Sql): Promise<void> {
  const counters = await sql.query<{ table: string; column: string; counter: string }>(
    `SELECT c.relname AS "table", a.attname AS "column",
       pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS counter
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND ${OWN} AND a.attnum > 0
       AND NOT a.attisdropped AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL`,
  );
  for (const { table, column, counter } of counters)
    await sql.query(
      `SELECT setval($1::regclass, (SELECT coalesce(max(${quoted(column)}), 0) + 1 FROM ${quoted(table)}), false)`,
      [counter],
    );
}

function directive(line: string): unknown {
  try {
    return line.startsWith('@') ? JSON.parse(line.slice(1)) : undefined;
  } catch {
    return undefined;
  }
}

/** Lines of a gzip stream. */
async function* linesOf(from: Readable): AsyncGenerator<string> {
  const plain = createGunzip();
  // What goes wrong on the way is thrown by the reader.
  from.on('error', (error) => plain.destroy(error)).pipe(plain);
  try {
    yield* createInterface({ input: plain, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (!code.startsWith('Z_')) throw error;
    throw new StartError('this is no backup of a Rollcall server, or it is damaged', error);
  }
}
