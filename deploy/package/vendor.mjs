// What the packages carry of others: npm packages of the lockfile, and Node. Whatever comes over the network is pinned
// by its hash, and fetched once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { root } from '../../scripts/bootstrap.mjs';

const pins = JSON.parse(readFileSync(new URL('node.json', import.meta.url), 'utf8'));
const cache = join(root, 'node_modules/.cache/rollcall-package');

/** Sources, types, maps, prose: nothing of it runs. */
const IDLE =
  /(^|\/)(test|tests|docs?|examples?|benchmarks?|vendor|\.github|dependencies)(\/|$)|\.(map|md|ts|cts|mts|cc|c|h|hh|inc|gyp|flow|txt|rst|yml|nix)$|(^|\/)(\.[^/]+|rollup\.config\.js|Makefile|cnoke\.cjs)$/i;

/** Packages that carry much more than we use. */
const ONLY = {
  argon2: /^(package\.json|LICENSE|argon2\.cjs|prebuilds\/.*\.glibc\.node)$/,
  '@electric-sql/pglite':
    /^(package\.json|LICENSE|dist\/[^/]+\.(js|wasm|data)|dist\/(fs|contrib)\/.*\.js|dist\/pg_trgm\.tar\.gz)$/,
  '@zxcvbn-ts/language-common': /^(package\.json|LICENSE\.txt|dist\/[^/]+\.cjs)$/,
  'swagger-ui-dist':
    /^(package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js|favicon-32x32\.png)$/,
  'node-gyp-build': /^(package\.json|LICENSE|index\.js|node-gyp-build\.js)$/,
  lmdb: /^(package\.json|LICENSE|(dict|util)\/.*|[^/]+\.js|dist\/index\.cjs)$/,
  koffi: /^(package\.json|LICENSE\.txt|(index|indirect)\.(js|cjs)|src\/koffi\/.*\.(js|cjs))$/,
};
/** Some carry what was built for every system. */
const foreign = (path, arch) => /^prebuilds\//.test(path) && !path.startsWith(`prebuilds/linux-${arch}/`);
const keeps = (name, path, arch) =>
  (ONLY[name] ? ONLY[name].test(path) : !IDLE.test(path)) && !foreign(path, arch);

/**
 * Copies packages and what they depend on, flat, without code for other architectures; each from the first of the folders `from` that has it.
 * A package of which two versions were needed is refused.
 * @returns their folders
 */
export function copyPackages(names, from, target, arch) {
  const done = new Map();
  const copy = (name, dependent) => {
    const source = folderOf(name, dependent);
    if (done.get(name) === source) return;
    if (done.has(name))
      throw new Error(`two versions of ${name} are needed: ${source} and ${done.get(name)}`);
    done.set(name, source);
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      const path = relative(source, join(entry.parentPath ?? entry.path, entry.name));
      // What its author's tools left in hidden folders is no part of a package.
      if (entry.isFile() && !/(^|\/)(node_modules|\.[^/]+)\//.test(path) && keeps(name, path, arch)) {
        mkdirSync(dirname(join(target, name, path)), { recursive: true });
        cpSync(join(source, path), join(target, name, path));
      }
    }
    const { dependencies = {} } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) {
      if (!BUILD_ONLY.includes(dependency)) copy(dependency, source);
    }
  };
  for (const name of names)
    copy(name, from.find((folder) => existsSync(join(folder, 'node_modules', name))) ?? from[0]);
  return [...done.values()];
}

/** Dependencies that only a compiler would need, or that only report home. */
const BUILD_ONLY = ['node-addon-api', 'cross-env', '@scarf/scarf'];

/** As Node finds it: in the nearest node_modules above. */
function folderOf(name, dependent) {
  for (let folder = realpathSync(dependent); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return realpathSync(candidate);
    if (dirname(folder) === folder) throw new Error(`${name} is not installed (for ${dependent})`);
  }
}

/** A package with prebuilt code of any architecture, in the version and with the hash of the lockfile. @returns its folder */
export async function fetchPackage(name, target) {
  const { packages } = parse(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'));
  const found = Object.keys(packages).filter((key) => key.startsWith(`${name}@`));
  if (found.length !== 1) throw new Error(`the lockfile has ${found.length} versions of ${name}`);
  const unpacked = await unpack(found[0], packages[found[0]].resolution.integrity);
  // Debian is glibc; the other builds are for other systems and other Node versions.
  cpSync(unpacked, target, {
    recursive: true,
    filter: (path) => !/musl|node\.abi\d+\.|\.md$/.test(relative(unpacked, path)),
  });
  return unpacked;
}

/** The Node that the packages carry. @returns its folder */
export async function fetchNode(arch, target) {
  const { version, integrity } = pins[arch];
  const unpacked = await unpack(`node-linux-${arch}@${version}`, integrity);
  cpSync(join(unpacked, 'bin/node'), target);
  chmodSync(target, 0o755);
  return unpacked;
}

/** Folder of an unpacked package of the registry. */
async function unpack(spec, integrity) {
  const folder = join(cache, spec.replace(/[/@]/g, '_'));
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const archive = join(draft, (await download(spec, draft)).replace('@', '').replace('/', '-'));
  const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (hash !== integrity) throw new Error(`${spec} has the hash ${hash}, not the pinned ${integrity}`);
  execFileSync('tar', ['-xzf', archive, '-C', draft]);
  rmSync(folder, { recursive: true, force: true });
  renameSync(join(draft, 'package'), folder);
  rmSync(draft, { recursive: true, force: true });
  return folder;
}

/** npm tries again after most faults of a network, not where a name is not resolved for a moment. */
const TRIES = 5;
const AGAIN_MS = 15_000;

/** @returns the name of the archive, as npm tells it */
async function download(spec, folder, left = TRIES) {
  console.error(`rollcall: fetching ${spec}`);
  try {
    const told = execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, spec],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, npm_config_loglevel: 'error' },
      },
    );
    return JSON.parse(told)[0].filename;
  } catch (error) {
    if (left === 1) throw error;
    await sleep(AGAIN_MS);
    return download(spec, folder, left - 1);
  }
}
