// Prints the SQL that leads from the migrations (all applied to an empty embedded database) to prisma/schema.prisma.
// A draft: read it, add what Prisma cannot express, save it as prisma/migrations/<UTC time>_<name>/migration.sql.
// usage: node scripts/migration-draft.mjs [--from-empty]

import './usage.mjs';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const require = createRequire(join(root, 'packages/server/package.json'));
const { PGlite } = await import(require.resolve('@electric-sql/pglite'));
const { PrismaPGlite } = require('pglite-prisma-adapter');
const { bindMigrationAwareSqlAdapterFactory } = createRequire(require.resolve('@prisma/adapter-pg'))(
  '@prisma/driver-adapter-utils',
);
// The package is made for bundlers; Node needs its WebAssembly module instantiated by hand.
const engineFolder = join(root, 'node_modules/@prisma/schema-engine-wasm');
const wasm = await import(join(engineFolder, 'schema_engine_bg.js'));
const { instance } = await WebAssembly.instantiate(
  readFileSync(join(engineFolder, 'schema_engine_bg.wasm')),
  {
    './schema_engine_bg.js': wasm,
  },
);
wasm.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();

const datamodel = [['schema.prisma', readFileSync(join(root, 'prisma/schema.prisma'), 'utf8')]];
const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(new PGlite()));
const engine = await wasm.SchemaEngine.new({ datamodels: datamodel }, console.error, factory);
const result = await engine.diff({
  from: { tag: 'empty' },
  to: {
    tag: 'schemaDatamodel',
    files: datamodel.map(([path, content]) => ({ path, content })),
    configDir: root,
  },
  script: true,
  exitCode: null,
  shadowDatabaseUrl: null,
  filters: { externalTables: [], externalEnums: [] },
});
console.log(result.stdout ?? '');
process.exit(0);
