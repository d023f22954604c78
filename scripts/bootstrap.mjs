// Installs what is missing: pnpm (through npm), the dependencies of the lockfile, the generated Prisma client.
// Does nothing, in a few milliseconds, when all of it is there already.
import './usage.mjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const PNPM = 'pnpm@12.21.0';
const stampFile = join(root, 'node_modules', '.rollcall-bootstrap');

const inputs = [
  'pnpm-lock.yaml',
  'package.json',
  'prisma/schema.prisma',
  ...readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}/package.json`)
    .filter((file) => existsSync(join(root, file))),
];

function stamp() {
  const hash = createHash('sha256').update(process.version);
  for (const file of inputs) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Runs a command in the project's root; its output goes to stderr so that stdout stays for results. */
export function run(command, args, env = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, ...env },
  });
  if (result.error) throw result.error;
  if (result.status !== 0) {
    console.error(`rollcall: "${command} ${args.join(' ')}" ended with ${result.status ?? result.signal}`);
    process.exit(result.status ?? 1);
  }
}

/** Path of a tool that the dependencies brought. */
export const bin = (name) => join(root, 'node_modules', '.bin', name);

export function bootstrap() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(
      `rollcall: Node ${process.versions.node} is too old, 20.19 or later is needed (24 is advised)`,
    );
    process.exit(1);
  }
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp()) return;
  console.error('rollcall: installing dependencies');
  const lock = existsSync(join(root, 'pnpm-lock.yaml')) ? ['--frozen-lockfile'] : [];
  run('npm', ['exec', '--yes', `--package=${PNPM}`, '--', 'pnpm', 'install', '--prefer-offline', ...lock], {
    CI: 'true',
    // .npmrc keeps npm's banner out of what scripts print; a failing installation must speak.
    npm_config_loglevel: 'warn',
  });
  console.error('rollcall: generating the database client');
  // `prisma generate` insists on a schema engine that it does not use; any executable satisfies it offline.
  run(bin('prisma'), ['generate', '--schema', 'prisma/schema.prisma'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  });
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, stamp());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) bootstrap();
