// npm run test:all [-- OPTIONS]: everything that guards the project, one step after the other, each with its time. It
// starts a PostgreSQL of its own in a temporary folder. What the steps need and this machine lacks is said at once. A
// step that fails does not end the run: the others are tried, too, and the end of its output is told again at the end.
//
//   --list             the steps, and what each needs
//   --only NAME,NAME   these only
//   --without NAME     all but this
//   --install          installs the Debian packages that are missing
import './usage.mjs';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bin, bootstrap, root } from './bootstrap.mjs';

const { values: asked } = parseArgs({
  options: {
    only: { type: 'string' },
    without: { type: 'string' },
    list: { type: 'boolean' },
    install: { type: 'boolean' },
  },
});
const npm = (...words) => ['npm', ['run', '--silent', ...words]];
/** Of the tests of a suite those that open a database: their imports lead to where it is opened. */
const databaseTests = (suite) => [
  bin('vitest'),
  ['related', 'packages/server/src/testing/database.ts', '--run', '--project', suite],
];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Debian packages, each with a program of it, or another file. */
const DEBIAN = {
  snmp: 'snmpwalk',
  snmpd: 'snmpd',
  iproute2: 'ip',
  jq: 'jq',
  curl: 'curl',
  openssl: 'openssl',
  fping: 'fping',
  'chromium-headless-shell': 'chromium-headless-shell',
  'firefox-esr': 'firefox-esr',
  systemd: 'systemd-analyze',
  lintian: 'lintian',
  strace: 'strace',
  'xz-utils': 'xz',
  debootstrap: 'debootstrap',
  'systemd-container': 'systemd-nspawn',
  podman: 'podman',
  buildah: 'buildah',
  runc: 'runc',
  'podman-compose': 'podman-compose',
  netavark: '/usr/lib/podman/netavark',
  'aardvark-dns': '/usr/lib/podman/aardvark-dns',
  iptables: 'iptables',
  'util-linux': 'nsenter',
  caddy: 'caddy',
  'nginx-light': 'nginx',
  postgresql: 'pg_ctlcluster',
  frr: 'vtysh',
  nftables: 'nft',
  'frr-snmp': '/usr/share/doc/frr-snmp',
  lldpd: 'lldpd',
  prometheus: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  'victoria-metrics': 'victoria-metrics',
  'prometheus-snmp-exporter': 'prometheus-snmp-exporter',
  'ansible-core': 'ansible-inventory',
};

/**
 * In order. `needs`: Debian packages, or `root`. `run`: commands, one after the other. `beside`: the steps in a row that it
 * runs beside, its output told when all have ended: one of them waits, or each keeps one core busy.
 */
const STEPS = [
  { name: 'build', why: 'types of everything, and the web application', run: [npm('build')] },
  { name: 'lint', why: 'format and lint', run: [[bin('biome'), ['ci', '--colors=off', '.']]] },
  {
    name: 'generated',
    why: 'generated files are what their sources say',
    run: [['node', ['scripts/gen.mjs', '--check']]],
  },
  {
    name: 'accuracy',
    why: 'recorded devices, where their folder is there',
    run: [npm('corpus:check')],
  },
  {
    name: 'postgresql',
    why: 'what concerns the database, on PostgreSQL',
    needs: ['postgresql', 'prometheus', 'prometheus-alertmanager', 'victoria-metrics'],
    env: { TEST_EMBEDDED: '0' },
    run: [databaseTests('fast')],
  },
  {
    name: 'realnet',
    why: 'a network of real routers, bridges and hosts: what is found, and what is said of an outage',
    needs: ['root', 'iproute2', 'nftables', 'snmp', 'snmpd', 'frr', 'frr-snmp', 'lldpd'],
    beside: ['install', 'containers', 'partitioned'],
    run: [npm('test:realnet')],
  },
  {
    name: 'install',
    why: 'booted hosts from the packages, through their whole life',
    needs: ['root', 'debootstrap', 'systemd-container', 'util-linux', 'iproute2'],
    run: [
      npm(
        'package',
        '--',
        '--arch',
        'amd64',
        '--only',
        'server',
        '--no-build',
        '--version',
        `${version}~before`,
        '--compression',
        'none',
        '--out',
        join(root, 'dist/before'),
      ),
      npm('test:install'),
    ],
  },
  {
    name: 'containers',
    why: 'images of the packages, run as an ordinary user, through their whole life',
    needs: [
      'root',
      'podman',
      'podman-compose',
      'netavark',
      'aardvark-dns',
      'iptables',
      'buildah',
      'runc',
      'debootstrap',
      'systemd-container',
      'util-linux',
      'iproute2',
    ],
    run: [npm('test:containers')],
  },
  {
    name: 'partitioned',
    why: 'what stores and what asks, on PostgreSQL partitioned by site',
    needs: ['postgresql'],
    env: { TEST_BY_SITE: '1' },
    run: [databaseTests('partitioned')],
  },
  {
    name: 'system',
    why: 'whole installations: servers, collectors and simulated or real agents as processes',
    needs: [
      ...['root', 'postgresql', 'iproute2', 'snmp', 'snmpd', 'nginx-light', 'caddy', 'strace', 'openssl'],
      ...['curl', 'ansible-core', 'prometheus', 'prometheus-snmp-exporter'],
    ],
    run: [npm('test:system')],
  },
  {
    name: 'web',
    why: 'every page in a browser',
    needs: ['chromium-headless-shell', 'firefox-esr'],
    run: [npm('test:web')],
  },
  {
    name: 'chaos',
    why: 'faults of disk, network, database and clock, one by one',
    needs: ['root', 'postgresql', 'strace', 'nginx-light'],
    run: [npm('test:chaos')],
  },
  {
    name: 'faults',
    why: 'faults dealt from a new seed, on both databases',
    needs: ['root', 'postgresql'],
    run: [npm('chaos', '--', '--minutes', '0.5', '--most', '0.5', '--least', '0')],
  },
  {
    name: 'rolling',
    why: 'two servers are replaced one after the other, and again, while 20 collectors and people go on',
    needs: ['root', 'postgresql', 'nginx-light'],
    // Nothing was released yet: what is replaced is of this version, too.
    run: [npm('chaos:rolling', '--', '--before', root, '--back', '--sources', '20')],
  },
  {
    name: 'kills',
    why: 'kills at system calls and at every stage',
    needs: ['root', 'postgresql', 'strace'],
    // These keep less than one core busy.
    beside: ['faults', 'rolling'],
    run: [npm('chaos:kills', '--', '--points', '16', '--stages', '1', '--database', 'postgresql')],
  },
  {
    name: 'packages',
    why: 'licences, sizes, lintian, what the units expose, the same bytes again, the other architecture',
    needs: ['lintian', 'systemd', 'xz-utils'],
    // Each keeps one core busy.
    beside: ['lint', 'generated', 'accuracy', 'postgresql'],
    run: [
      npm('package', '--', '--arch', 'amd64', '--no-build'),
      ['bash', ['deploy/check.sh']],
      // Unpacked: compressing takes most of the time, and its outcome follows from what is compressed.
      npm('package', '--', '--no-build', '--compression', 'none', '--out', join(root, 'dist/again')),
      ['bash', ['deploy/check.sh', 'machine', join(root, 'dist/again')]],
      sameAgain,
    ],
  },
];

/** The packages of the second run hold the same bytes as those of the first, compression apart. */
function sameAgain() {
  const again = join(root, 'dist/again');
  const content = (file) =>
    file.endsWith('.deb')
      ? ['--ctrl-tarfile', '--fsys-tarfile'].map((part) => digest(file, part)).join()
      : readFileSync(file, 'utf8');
  const differs = readdirSync(again).filter(
    (name) => name.includes('_amd64.') && content(join(again, name)) !== content(join(root, 'dist', name)),
  );
  rmSync(again, { recursive: true });
  return differs.length === 0 ? 0 : `built twice, these differ: ${differs.join(', ')}`;
}

/** SHA-256 of one archive in a package. */
const digest = (file, part) =>
  execFileSync('bash', ['-o', 'pipefail', '-c', 'dpkg-deb "$1" "$2" | sha256sum', '-', part, file], {
    encoding: 'utf8',
  });

function has(need) {
  if (need === 'root') return process.geteuid?.() === 0;
  if (DEBIAN[need] === undefined) throw new Error(`name a program of ${need} in DEBIAN`);
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(':');
  return existsSync(DEBIAN[need]) || folders.some((folder) => existsSync(join(folder, DEBIAN[need])));
}

function chosen() {
  const [only, without] = [asked.only, asked.without].map((names) => names?.split(','));
  for (const name of [...(only ?? []), ...(without ?? [])])
    if (!STEPS.some((step) => step.name === name)) refuse(`there is no step ${name}: --list shows them`);
  return STEPS.filter(({ name }) => (only?.includes(name) ?? true) && !without?.includes(name));
}

/** Ends the run, saying what each step lacks; with `--install` installs it first. */
function requireTools(steps) {
  const lacking = () =>
    steps
      .map(({ name, needs = [] }) => ({ name, needs: needs.filter((need) => !has(need)) }))
      .filter(({ needs }) => needs.length > 0);
  const packages = () =>
    [...new Set(lacking().flatMap(({ needs }) => needs))].filter((need) => need !== 'root');
  if (asked.install && packages().length > 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const words of [
      ['update', '-qq'],
      ['install', '-y', '-qq', '--no-install-recommends', ...packages()],
    ])
      spawnSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env });
  }
  if (lacking().length === 0) return;
  refuse(
    [
      ...lacking().map(({ name, needs }) => `${name} needs ${needs.join(', ')}`),
      ...(packages().length
        ? [`--install installs them; by hand: apt-get install ${packages().join(' ')}`]
        : []),
      'or leave steps out: --without NAME,NAME',
    ].join('\n  '),
  );
}

function refuse(why) {
  process.stderr.write(`rollcall: ${why}\n`);
  process.exit(1);
}

/** 0, or why it failed. */
async function runStep({ run, env = {} }, shared, log, isTold) {
  for (const command of run) {
    const failure =
      typeof command === 'function'
        ? command()
        : await runProgram(command, { ...shared, ...env }, log, isTold);
    if (failure !== 0) return failure;
  }
  return 0;
}

async function runProgram([program, words], env, log, isTold) {
  const child = spawn(program, words, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  for (const output of [child.stdout, child.stderr])
    output.on('data', (data) => {
      appendFileSync(log, data);
      if (isTold) process.stdout.write(data);
    });
  try {
    const [status, signal] = await once(child, 'exit');
    // What it wrote last; not its end, as what a test left running may hold the output open.
    await sleep(500);
    for (const output of [child.stdout, child.stderr]) output.destroy();
    return status ?? signal;
  } catch (error) {
    return error.message;
  }
}

/** Starts a step whose output is told when it has ended. */
function startBeside(step, shared) {
  const result = timed(step, shared, false);
  return async () => {
    const failure = await result;
    process.stdout.write(`\n── ${step.name}: ${step.why} ──\n${readFileSync(logOf(step), 'utf8')}`);
    return failure;
  };
}

async function timed(step, shared, isTold = true) {
  const tellTime = stopwatch();
  writeFileSync(logOf(step), '');
  const failure = await runStep(step, shared, logOf(step), isTold);
  times.push(`${step.name} ${tellTime()}`);
  if (failure === 0) return 0;
  failed.push({ ...step, failure });
  process.stderr.write(`rollcall: ${step.name} failed (${failure})\n`);
  return failure;
}

/** Says how long it took since, and how busy all processors of the machine were: what could run beside it. */
function stopwatch() {
  const start = Date.now();
  const before = processorTimes();
  return () => {
    const [busy, all] = processorTimes().map((ms, i) => ms - before[i]);
    return `${Math.round((Date.now() - start) / 1000)} s (${Math.round((100 * busy) / (all || 1))} %)`;
  };
}

/** Milliseconds of all processors since the machine started: those that were busy, and all. */
function processorTimes() {
  const times = cpus().map(({ times }) => times);
  const all = times.flatMap((one) => Object.values(one)).reduce((sum, ms) => sum + ms, 0);
  return [all - times.reduce((sum, { idle }) => sum + idle, 0), all];
}

const steps = chosen();
if (asked.list) {
  for (const { name, why, needs = [] } of steps)
    console.log(`${name.padEnd(12)} ${why}${needs.length ? ` (needs ${needs.join(', ')})` : ''}`);
  process.exit(0);
}
requireTools(steps);
bootstrap();
spawnSync(bin('tsc'), ['-b', 'test/chaos'], { cwd: root, stdio: 'inherit' });
const { Postgres, postgresPrograms } = await import('../test/chaos/dist/postgres.js');
const postgres = postgresPrograms() ? await Postgres.create({ durable: false }) : undefined;
const shared = postgres ? { TEST_DATABASE_URL: postgres.url() } : {};
const tellAll = stopwatch();
const times = [];
const failed = [];
const logs = mkdtempSync(join(tmpdir(), 'rollcall-test-all-'));
const logOf = ({ name }) => join(logs, name);
/** Those of `beside` that are chosen. */
const row = ({ beside = [] }) => steps.filter(({ name }) => beside.includes(name)).map(({ name }) => name);
const running = new Map();
for (const step of steps) {
  if (row(step).length > 0) continue;
  for (const other of steps) if (row(other)[0] === step.name) running.set(other, startBeside(other, shared));
  process.stdout.write(`\n── ${step.name}: ${step.why} ──\n`);
  await timed(step, shared);
  for (const [other, end] of running) if (row(other).at(-1) === step.name) await end();
  // Without what it builds the others fail for that alone; apart from that one run tells all that is wrong.
  if (failed.some(({ name }) => name === 'build')) break;
}
await postgres?.destroy();
// Whoever reads only the end of a long output sees what failed, and why.
for (const step of failed) {
  const lines = readFileSync(logOf(step), 'utf8').trimEnd().split('\n');
  process.stdout.write(
    `\n── ${step.name}: how it ended (${step.failure}) ──\n${lines.slice(-60).join('\n')}\n`,
  );
}
rmSync(logs, { recursive: true });
process.stdout.write(`\n${times.join(' · ')}\nall ${tellAll()}; in brackets how busy the processors were\n`);
if (failed.length > 0) process.stdout.write(`failed: ${failed.map(({ name }) => name).join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
