// Programs that run from sources: each is started again when a file changes that it is made of.
import { readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { end, isEnding, startChild } from './children.mjs';

/** What one program alone is made of. A change anywhere else concerns all. */
const OWN = {
  server: /^(packages\/server|rules|prisma\/migrations)\//,
  collector: /^packages\/collector\//,
  lab: /^packages\/lab\//,
  web: /^packages\/web\//,
};
/** Of the web application only what its configuration reads: Vite follows the rest by itself. */
const WEB_CONFIGURATION = 'packages/web/src/theme/theme.ts';
const SOURCE = /(?<!\.test)\.(ts|json|sql|ya?ml)$/;
/** An editor, or git, writes several files at once. */
const SETTLE_MS = 80;

const restarts = new Map();
let up = false;

const say = (text) => process.stdout.write(`${text}\n`);

/** Everything started: from now on a program that ends by itself waits for an edit. */
export const allUp = () => {
  up = true;
};

/** Starts a program, and again with each change of its sources. The answer is its first process. */
export function startReloading(name, args, options = {}) {
  let running;
  let [wanted, busy] = [false, false];
  const begin = () => {
    const since = Date.now();
    const started = startChild(args, options);
    running = started;
    started.exited.then((how) => {
      if (started !== running || isEnding()) return;
      say(`${name} ended by itself (${how})${up ? '; it starts again with the next edit' : ''}`);
      if (!up) end(1);
    });
    if (up) {
      started.child.stdout?.resume();
      started.child.once('message', () => say(`${name} is ready after ${Date.now() - since} ms`));
    }
    return started.child;
  };
  restarts.set(name, async (file) => {
    say(`${name} restarts: ${file} changed`);
    wanted = true;
    if (busy) return;
    busy = true;
    while (wanted && !isEnding()) {
      wanted = false;
      const { stop } = running;
      running = undefined;
      await stop();
      begin();
    }
    busy = false;
  });
  return begin();
}

/** Follows the sources of all packages, rules and migrations. */
export function watchSources() {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
  for (const folder of [...packages, 'rules', 'prisma/migrations']) watchBelow(folder);
}

const watched = new Set();
const changed = new Set();
let settling;

/** Folder by folder: Node's own recursive watching misses files on Linux that are replaced by a rename. */
function watchBelow(folder) {
  if (watched.has(folder) || !isFolder(folder)) return;
  watched.add(folder);
  watch(join(root, folder), (_, name) => {
    const path = `${folder}/${name}`;
    watchBelow(path);
    if (!SOURCE.test(path)) return;
    changed.add(path);
    clearTimeout(settling);
    settling = setTimeout(restartChanged, SETTLE_MS);
  });
  for (const name of readdirSync(join(root, folder))) watchBelow(`${folder}/${name}`);
}

const isFolder = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false;

function restartChanged() {
  const files = [...changed];
  changed.clear();
  for (const [name, restart] of restarts) {
    const file = files.find((path) => concerns(name, path));
    if (file) void restart(file);
  }
}

function concerns(name, path) {
  const owner = Object.keys(OWN).find((each) => OWN[each].test(path));
  if (owner === 'web') return name === 'web' && path === WEB_CONFIGURATION;
  return owner === undefined || owner === name;
}
