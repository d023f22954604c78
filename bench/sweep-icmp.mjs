// sweep-icmp.mjs [--rounds N] [--only WORD] [--slow] [--check] [--ours COMMAND]
//
// The ICMP sweep against the tools that only sweep, in turn, in the laboratory of lab.sh (root, Linux). Every row gives
// the median of the rounds for the whole command, start-up included; every address named is compared with the truth.
// --slow adds the tools that take a minute; --check ends with status 1 when a bound is missed. --ours names another
// command of ours, with {targets}, {tries} and {timeout} for its arguments; the default is sweep-entry.mjs.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const dir = process.env.LAB_DIR ?? join(tmpdir(), 'rollcall-lab');
process.env.LAB_DIR = dir;
process.env.PATH += ':/usr/sbin:/sbin';
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    slow: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    ours: {
      type: 'string',
      default: `${process.execPath} ${join(here, 'sweep-entry.mjs')} {targets} {tries} {timeout}`,
    },
  },
});
const ROUNDS = Number(options.rounds);
const NET = '198.18.0.0/16';
const ALL = '198.18.0.0-198.18.255.255';
const MAX_MS = 300_000;

const lab = (...args) => execFileSync(join(here, 'lab.sh'), args, { encoding: 'utf8' });
const has = (program) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Installs what Debian has; a rival that cannot be had is left out of the table. */
const install = (packages) => {
  const missing = packages.filter(([program]) => !has(program)).map(([, name]) => name);
  if (missing.length === 0) return;
  for (const name of missing) {
    try {
      execFileSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore' });
    } catch {
      console.error(`not available here: ${name}`);
    }
  }
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const fixed = (seconds) => (seconds === undefined ? '' : seconds.toFixed(3));

/** Runs one command in the scanner's namespace: wall time, and the live addresses its output names. */
const run = (tool, truth) =>
  new Promise((resolve, reject) => {
    const outPath = join(dir, 'stdout');
    const errPath = join(dir, 'stderr');
    const [out, err] = [openSync(outPath, 'w'), openSync(errPath, 'w')];
    // masscan ends only when a frame arrives after its last wait: let the site send some.
    const beat =
      tool.heartbeat && spawn('ip', ['netns', 'exec', 'rollcall-site', 'ping', '-qi', '0.2', '198.19.255.1']);
    const started = performance.now();
    const child = spawn('ip', ['netns', 'exec', 'rollcall-scan', ...tool.command], {
      stdio: ['ignore', out, err],
    });
    const watchdog = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
    child.on('error', reject);
    child.on('exit', () => {
      const seconds = (performance.now() - started) / 1000;
      clearTimeout(watchdog);
      if (beat) beat.kill();
      closeSync(out);
      closeSync(err);
      const named = new Set(
        readFileSync(outPath, 'latin1').match(/\b(198\.18|10)\.\d+\.\d+(\.\d+)?\b(?!\/)/g),
      );
      const found = [...named].filter((address) => truth.has(address)).length;
      const errors = readFileSync(errPath, 'latin1');
      const summary = tool.summary?.(errors) ?? {};
      resolve({ seconds, found, invented: named.size - found, ...summary });
    });
  });

const ours = (targets, tries) => ({
  name: 'rollcall',
  command: options.ours
    .split(' ')
    .map((word) => word.replace('{targets}', targets).replace('{tries}', tries).replace('{timeout}', 500)),
  summary: (text) => {
    // sweep-entry.mjs tells the sweep's own time and its memory; another command need not.
    const last = text.trim().split('\n').at(-1) ?? '';
    if (!last.startsWith('{')) return {};
    const { sweepMs, rssMb } = JSON.parse(last);
    return { proper: sweepMs && sweepMs / 1000, rss: rssMb };
  },
});
const inC = (tries) => ({
  name: 'C sendmmsg',
  command: [join(dir, 'echo-sweep'), NET, String(tries), '500'],
  summary: (text) => ({ proper: Number(/sweep ([\d.]+)/.exec(text)?.[1]) }),
});
const fping = (...more) => ({
  name: `fping ${more.join(' ')}`,
  command: ['fping', '-a', '-q', '-t', '500', ...more, '-g', NET],
});
const zmap = () => ({
  name: 'zmap -r 100000 -c 1',
  command: [
    'zmap',
    '-M',
    'icmp_echoscan',
    '-i',
    'scan0',
    '-S',
    '198.19.255.1',
    '-G',
    gatewayMac(),
    '-b',
    '/dev/null',
  ].concat(['-q', '-r', '100000', '-c', '1', NET]),
});
const masscan = () => ({
  name: 'masscan 100k',
  heartbeat: true,
  command: [
    'masscan',
    '--ping',
    NET,
    '--adapter',
    'scan0',
    '--adapter-ip',
    '198.19.255.1',
    '--router-mac',
  ].concat([gatewayMac(), '--rate', '100000', '--wait', '1']),
});
const nmap = (...more) => ({
  name: `nmap ${more.join(' ')}`,
  command: ['nmap', '-sn', '-n', '-PE', ...more, '-oG', '-', NET],
});
const gatewayMac = () => readFileSync(join(dir, 'gateway-mac'), 'utf8').trim();

const SLOW = options.slow;
const WORK = [
  {
    name: 'all 65,536 alive',
    set: () => lab('answer', 'all'),
    live: 'all',
    tools: () =>
      [ours(ALL, 1), inC(1), fping('-i', '0.01', '-r', '0'), zmap(), masscan(), nmap('-T5')].concat(
        SLOW ? [fping('-i', '1', '-r', '1')] : [],
      ),
    bounds: ({ us, c, fping: tuned }) => [
      ['sweep proper ≤ 0.75 × tuned fping', us.proper / tuned.seconds, 0.75],
      ['sweep proper ≤ 1.5 × C', us.proper / c.proper, 1.5],
      ['whole command ≤ 1.3 × tuned fping', us.seconds / tuned.seconds, 1.3],
    ],
  },
  {
    name: 'all alive, 20 ms away',
    set: () => lab('far', '20'),
    live: 'all',
    tools: () => [ours(ALL, 1), inC(1), fping('-i', '0.01', '-r', '0')].concat(SLOW ? [nmap('-T5')] : []),
    bounds: ({ us, fping: tuned }) => [
      ['whole command ≤ 0.25 × tuned fping', us.seconds / tuned.seconds, 0.25],
    ],
  },
  {
    name: 'all alive, 20 to 30 ms away, 1 % lost, three tries',
    set: () => lab('far', '20', '10', '10'),
    live: 'all',
    least: 0.9999,
    tools: () => [ours(ALL, 3), inC(3), fping('-i', '0.01', '-r', '1')].concat(SLOW ? [nmap('-T5')] : []),
    bounds: ({ us }) => [['found ≥ 99.99 % (as missed share)', 1 - us.found / 65_536, 0.0001]],
  },
  {
    name: '4,096 of 65,536 alive, one retry for the silent',
    set: () => lab('answer', 'sparse'),
    live: 'sparse',
    tools: () =>
      [
        ours(ALL, 2),
        inC(2),
        fping('-i', '0.01', '-r', '0'),
        zmap(),
        nmap('-T4', '--min-rate', '50000', '--max-retries', '1'),
      ].concat(SLOW ? [nmap('-T5'), nmap('-T4')] : []),
    bounds: ({ us, c, fping: tuned }) => [
      ['whole command ≤ 0.3 × tuned fping', us.seconds / tuned.seconds, 0.3],
      ['whole command ≤ 1.3 × C with retry', us.seconds / c.seconds, 1.3],
    ],
  },
  {
    name: 'memory: a /12, 1,048,576 alive',
    set: () => lab('answer', 'all'),
    live: 'twelve',
    tools: () => [ours('10.0.0.0-10.15.255.255', 2)],
    bounds: ({ us }) => [['resident memory ≤ 150 MB', us.rss, 150]],
  },
];

const truths = {
  all: () => new Set(Array.from({ length: 65_536 }, (_, i) => `198.18.${i >> 8}.${i & 255}`)),
  sparse: () => new Set(readFileSync(join(dir, 'live.txt'), 'utf8').trim().split('\n')),
  twelve: () =>
    new Set(Array.from({ length: 1 << 20 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)),
};

const measure = async (work) => {
  const truth = truths[work.live]();
  const runs = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    // Anew each round, so that nothing learnt in the last one helps.
    work.set();
    for (const tool of work.tools().filter(({ command }) => has(command[0]))) {
      const result = await run(tool, truth);
      runs.set(tool.name, [...(runs.get(tool.name) ?? []), result]);
    }
  }
  return { truth, rows: [...runs].map(([name, results]) => summarise(name, results)) };
};

const summarise = (name, results) => ({
  name,
  seconds: median(results.map(({ seconds }) => seconds)),
  least: Math.min(...results.map(({ seconds }) => seconds)),
  most: Math.max(...results.map(({ seconds }) => seconds)),
  proper: results[0].proper === undefined ? undefined : median(results.map(({ proper }) => proper)),
  rss: results[0].rss === undefined ? undefined : Math.max(...results.map(({ rss }) => rss)),
  found: Math.min(...results.map(({ found }) => found)),
  invented: Math.max(...results.map(({ invented }) => invented)),
});

const report = (work, { truth, rows }) => {
  const us = rows[0];
  console.log(`\n## ${work.name}\n`);
  console.log(
    '| tool | seconds (least – most) | sweep proper | × ours | found of live, worst run | invented | MB |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const row of rows) {
    const times = `${fixed(row.seconds)} (${fixed(row.least)} – ${fixed(row.most)})`;
    const found = `${row.found} of ${truth.size}`;
    const ratio = (row.seconds / us.seconds).toFixed(2);
    console.log(
      `| ${row.name} | ${times} | ${fixed(row.proper)} | ${ratio} | ${found} | ${row.invented} | ${row.rss?.toFixed(0) ?? ''} |`,
    );
  }
  const by = (start) => rows.find(({ name }) => name.startsWith(start)) ?? {};
  const bounds = work.bounds({ us, c: by('C '), fping: by('fping -i 0.01') });
  bounds.push([
    'live addresses missed',
    1 - us.found / truth.size,
    work.least === undefined ? 0 : 1 - work.least,
  ]);
  bounds.push(['addresses invented', us.invented, 0]);
  let missed = 0;
  for (const [text, value, bound] of bounds) {
    const known = Number.isFinite(value);
    const ok = known && value <= bound;
    if (known && !ok) missed += 1;
    console.log(
      `${known ? (ok ? 'ok    ' : 'MISSED') : 'n/a   '} ${text}: ${known ? Number(value.toPrecision(3)) : 'no rival'} (bound ${bound})`,
    );
  }
  return missed;
};

if (process.getuid?.() !== 0) {
  console.error('needs root: it makes network namespaces');
  process.exit(2);
}
if (!existsSync(join(here, '../packages/collector/dist/icmp/sweep.js'))) {
  console.error('build first: npm run build');
  process.exit(2);
}
mkdirSync(dir, { recursive: true });
install([
  ['fping', 'fping'],
  ['ping', 'iputils-ping'],
  ['cc', 'gcc'],
  ['zmap', 'zmap'],
  ['masscan', 'masscan'],
  ['nmap', 'nmap'],
]);
if (has('cc')) execFileSync('cc', ['-O2', '-o', join(dir, 'echo-sweep'), join(here, 'echo-sweep.c')]);
lab('down');
lab('up');
let missed = 0;
try {
  for (const work of WORK.filter(({ name }) => !options.only || name.includes(options.only))) {
    if (!has('cc') && work.set.toString().includes('far')) continue;
    missed += report(work, await measure(work));
  }
} finally {
  lab('down');
}
if (options.check && missed > 0) process.exitCode = 1;
