// The laboratory of lab.sh, and one command in it: how long it takes, what it finds, how much memory it needs.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
/** The command line of the collector. */
export const COLLECTOR = join(here, '../../packages/collector/bin/rollcall-collector.js');
/**
 * The command line as its package installs it: its launcher, its Node, the program in parts, what was compiled once.
 * Laid out anew for each run of the bench.
 */
export const installed = () => join(dir, 'installed/usr/bin/rollcall-collector');
export const layOutInstalled = async () => {
  const { layOut } = await import('../../deploy/package/lay-out.mjs');
  const tree = join(dir, 'installed');
  rmSync(tree, { recursive: true, force: true });
  await layOut(
    { product: 'collector', architecture: { x64: 'amd64' }[process.arch] ?? process.arch, version: '0' },
    tree,
  );
  mkdirSync(join(tree, 'var/cache/rollcall-collector'), { recursive: true });
  const launcher = readFileSync(installed(), 'utf8').replaceAll(
    /(?<=[ =])\/(?=usr\/lib|var\/cache)/g,
    `${tree}/`,
  );
  writeFileSync(installed(), launcher);
  chmodSync(installed(), 0o755);
};
/** The socket by which the collector below takes sweeps. */
export const socket = () => join(dir, 'sweep.sock');
/**
 * The installed collector as a daemon in the scanner's namespace, its server away. Answers how to end it once it takes
 * sweeps.
 */
export const startInstalled = async () => {
  const { makeKey, prepareFolder, saveIdentity } = await import(
    '../../packages/collector/dist/link/identity.js'
  );
  const state = join(dir, 'state');
  rmSync(state, { recursive: true, force: true });
  prepareFolder(state);
  const id = '00000000-0000-7000-8000-000000000000';
  const site = { id, name: 'bench' };
  const server = 'http://127.0.0.1:9';
  saveIdentity(state, {
    format: 1,
    server,
    path: '/link',
    collector: id,
    name: 'bench',
    site,
    generation: 0,
  });
  makeKey(state);
  rmSync(socket(), { force: true });
  const env = { ...process.env, ROLLCALL_SOCKET: socket() };
  const daemon = spawn('ip', ['netns', 'exec', SCAN, installed(), 'run', '--state', state], {
    env,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  for (let i = 0; !existsSync(socket()); i += 1) {
    if (i === 300 || daemon.exitCode !== null) throw new Error('the collector did not start');
    await new Promise((done) => setTimeout(done, 100));
  }
  return async () => {
    daemon.kill('SIGTERM');
    await ended;
  };
};
export const dir = process.env.LAB_DIR ?? join(tmpdir(), 'rollcall-lab');
process.env.LAB_DIR = dir;
process.env.PATH += ':/usr/sbin:/sbin';
process.env.MIBS = ''; // net-snmp's tools start faster without them, and print numbers.
const SCAN = process.env.LAB_SCAN ?? 'rollcall-scan';
const SITE = process.env.LAB_SITE ?? 'rollcall-site';
const MAX_MS = 1_800_000;

export const lab = (...args) => {
  // Its programs stay behind: they must not hold a pipe of ours open.
  execFileSync(join(here, 'lab.sh'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
};

export const has = (program) => {
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Installs the Debian packages of programs that are missing; answers those that cannot be had. */
export const install = (packages) => {
  for (const [program, name] of packages.filter(([program]) => !has(program))) {
    try {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      execFileSync('apt-get', ['install', '-y', '--no-install-recommends', name], { env, stdio: 'ignore' });
    } catch {
      console.error(`cannot install ${name} (apt-get install ${name}): ${program} stays out of the table`);
    }
  }
  return packages.filter(([program]) => !has(program)).map(([program]) => program);
};

/** Addresses that stand in the output of most tools. */
const named = (text) => new Set(text.match(/\b(198\.1[89]|10)\.\d+\.\d+(\.\d+)?\b(?!\/)/g));

const peakOf = (pid) => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
  } catch {
    return Number.NaN; // It has just ended.
  }
};

/**
 * Runs a tool in the scanner's namespace: wall time in seconds, the live addresses found of those in `truth`, those
 * invented, peak memory in MB, time of the first octet of output.
 */
export const run = (tool, truth) =>
  new Promise((resolve, reject) => {
    const outPath = join(dir, 'stdout');
    const errPath = join(dir, 'stderr');
    const [out, err] = [openSync(outPath, 'w'), openSync(errPath, 'w')];
    // masscan ends only when a frame arrives after its last wait: let the site send some.
    const beat = tool.heartbeat && spawn('ip', ['netns', 'exec', SITE, 'ping', '-qi', '0.2', '198.19.255.1']);
    const started = performance.now();
    const secondsNow = () => (performance.now() - started) / 1000;
    const child = spawn('ip', ['netns', 'exec', SCAN, ...tool.command], { stdio: ['ignore', out, err] });
    const watchdog = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
    let first;
    let rss = Number.NaN;
    const look = setInterval(() => {
      if (first === undefined && fstatSync(out).size > 0) first = secondsNow();
      rss = peakOf(child.pid) || rss;
    }, 20);
    child.on('error', reject);
    child.on('exit', () => {
      const seconds = secondsNow();
      clearTimeout(watchdog);
      clearInterval(look);
      if (beat) beat.kill();
      closeSync(out);
      closeSync(err);
      const text = readFileSync(outPath, 'latin1');
      const found = (tool.found ?? named)(text);
      const live = tool.truth ?? truth;
      const right = [...found].filter((address) => live.has(address)).length;
      resolve({
        seconds,
        found: right,
        of: live.size,
        invented: found.size - right,
        rss,
        first,
        ...tool.summary?.(readFileSync(errPath, 'latin1'), text),
      });
    });
  });

/** `count` addresses from a first one on. */
export const addresses = (first, count) => {
  const base = first.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
  return Array.from({ length: count }, (_, i) =>
    [24, 16, 8, 0].map((shift) => ((base + i) >>> shift) & 255).join('.'),
  );
};

/** The last line of standard error, where it is a summary of one of our entries. */
export const summaryOf = (text) => {
  const last = text.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return {};
  const { sweepMs, rssMb } = JSON.parse(last);
  return { proper: sweepMs / 1000, ...(rssMb === undefined ? {} : { rss: rssMb }) };
};
