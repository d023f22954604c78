// The laboratory of lab.sh, and one command in it: how long it takes, what it finds, how much memory it needs.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
/** The command line of the collector. */
export const COLLECTOR = join(here, '../../packages/collector/bin/rollcall-collector.js');
export const dir = process.env.LAB_DIR ?? join(tmpdir(), 'rollcall-lab');
process.env.LAB_DIR = dir;
process.env.PATH += ':/usr/sbin:/sbin';
process.env.MIBS = ''; // net-snmp's tools start faster without them, and print numbers.
const SCAN = process.env.LAB_SCAN ?? 'rollcall-scan';
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
 * invented, peak memory in MB.
 */
export const run = (tool, truth) =>
  new Promise((resolve, reject) => {
    const outPath = join(dir, 'stdout');
    const errPath = join(dir, 'stderr');
    const [out, err] = [openSync(outPath, 'w'), openSync(errPath, 'w')];
    const started = performance.now();
    const secondsNow = () => (performance.now() - started) / 1000;
    const child = spawn('ip', ['netns', 'exec', SCAN, ...tool.command], { stdio: ['ignore', out, err] });
    const watchdog = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
    let rss = Number.NaN;
    const look = setInterval(() => {
      rss = peakOf(child.pid) || rss;
    }, 20);
    child.on('error', reject);
    child.on('exit', () => {
      const seconds = secondsNow();
      clearTimeout(watchdog);
      clearInterval(look);
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
