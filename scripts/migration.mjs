// npm run migration NAME: writes prisma/migrations/<UTC time>_<NAME>/migration.sql, the SQL that leads from the migrations
// there are to prisma/schema.prisma. Where these do not differ it says so and writes nothing.
//
// Read what it wrote: Prisma renames nothing (it drops and adds), fills nothing, and cannot express checks, triggers, and
// indexes that are partial, covering, on expressions, GIN or GiST. CONTRIBUTING.md says more.
import './usage.mjs';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

const MIGRATIONS = join(root, 'prisma/migrations');
const SCHEMA = join(root, 'prisma/schema.prisma');

/** Names of the migrations in a folder, in the order in which the server applies them. */
const names = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();

/**
 * Opens an embedded database in memory with all migrations of a folder applied. `differenceTo(schema)` is the SQL that leads
 * from it to the text of a schema, empty where there is no difference.
 */
export async function openMigrated(folder = MIGRATIONS) {
  const require = createRequire(join(root, 'packages/server/package.json'));
  const { PGlite } = await import(require.resolve('@electric-sql/pglite'));
  const { pg_trgm } = await import(require.resolve('@electric-sql/pglite/contrib/pg_trgm'));
  const { PrismaPGlite } = require('pglite-prisma-adapter');
  const { bindMigrationAwareSqlAdapterFactory } = createRequire(require.resolve('@prisma/adapter-pg'))(
    '@prisma/driver-adapter-utils',
  );
  const db = await PGlite.create({ extensions: { pg_trgm } });
  for (const name of names(folder)) await db.exec(readFileSync(join(folder, name, 'migration.sql'), 'utf8'));
  await db.exec(DROP_WHAT_THE_SCHEMA_LEAVES_OUT);
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(db));
  const SchemaEngine = await loadEngine();
  return {
    differenceTo: async (schema) => {
      const files = [{ path: 'schema.prisma', content: schema }];
      const engine = await SchemaEngine.new(
        { datamodels: [['schema.prisma', schema]] },
        () => undefined,
        factory,
      );
      const { stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: root },
        to: { tag: 'schemaDatamodel', files, configDir: root },
        script: true,
        exitCode: null,
        shadowDatabaseUrl: null,
        filters: { externalTables: [], externalEnums: [] },
      });
      return stdout.startsWith('-- This is an empty migration') ? '' : stdout.trim();
    },
    close: () => db.close(),
  };
}

/** Indexes that Prisma cannot write down stand only in the migrations; it would drop those that it sees. */
const DROP_WHAT_THE_SCHEMA_LEAVES_OUT = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN
    SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
    WHERE c.relnamespace = current_schema()::regnamespace
      AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL OR i.indnatts > i.indnkeyatts OR m.amname <> 'btree')
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)
  LOOP EXECUTE 'DROP INDEX ' || name; END LOOP;
END $$`;

/** Prisma's package is made for bundlers; Node needs its WebAssembly module instantiated by hand, once. */
async function loadEngine() {
  const folder = join(root, 'node_modules/@prisma/schema-engine-wasm');
  const wasm = await import(join(folder, 'schema_engine_bg.js'));
  const { instance } = await WebAssembly.instantiate(readFileSync(join(folder, 'schema_engine_bg.wasm')), {
    './schema_engine_bg.js': wasm,
  });
  wasm.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return wasm.SchemaEngine;
}

/** Writes `sql` as the newest migration of a folder. Returns its path. */
export function writeMigration(name, sql, { folder = MIGRATIONS, now = new Date() } = {}) {
  const full = `${now.toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`;
  const last = names(folder).at(-1) ?? '';
  // The server applies them by name: one that sorts before another would come too early.
  if (full <= last) throw new Error(`${last} is newer than ${full}: check the clock`);
  const path = join(folder, full, 'migration.sql');
  mkdirSync(join(folder, full));
  writeFileSync(path, `${sql}\n`);
  return path;
}

async function main([name = '', ...more]) {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || more.length > 0) {
    console.error('usage: npm run migration NAME (lower case letters, digits and _)');
    return 1;
  }
  bootstrap();
  const migrated = await openMigrated();
  const sql = await migrated.differenceTo(readFileSync(SCHEMA, 'utf8'));
  await migrated.close();
  if (sql === '') console.log('prisma/schema.prisma and the migrations do not differ: nothing to write');
  else
    console.log(
      `${relative(root, writeMigration(name, sql))} is written: read it, complete it, run npm test`,
    );
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await main(process.argv.slice(2)));
