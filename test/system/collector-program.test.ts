import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScriptedServer, SITE } from '@rollcall/collector/testing/scripted-server';
import { systemClock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const program = compiled('collector', 'main');

const mounts = spawnSync('unshare', ['-m', 'true']).status === 0;
if (!mounts) skipped('a full disk: be root');
const python = spawnSync('python3', ['-c', '']).status === 0;
if (!python) skipped('the service manager: install python3');
let folder: string;
const stops: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-main-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}
interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Waits for a line on stdout. */
  said(words: RegExp): Promise<void>;
}

const start = (args: string[], env: Record<string, string> = {}): Started => {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Whatever collector runs on this host has nothing to do with it.
    env: { PATH: process.env.PATH, HOME: folder, ROLLCALL_SOCKET: join(folder, 'sweep.sock'), ...env },
  });
  stops.push(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  const waiters: { words: RegExp; resolve: () => void }[] = [];
  child.stdout?.on('data', (part) => {
    out += part;
    for (const { words, resolve } of waiters) if (words.test(out)) resolve();
  });
  child.stderr?.on('data', (part) => {
    err += part;
  });
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  const said = (words: RegExp) =>
    Promise.race([
      new Promise<void>((resolve) => {
        if (words.test(out)) resolve();
        waiters.push({ words, resolve });
      }),
      ended.then((end) => {
        if (!words.test(end.out))
          throw new Error(`ended with ${end.code} before ${words}: ${end.out}${end.err}`);
      }),
    ]);
  return { child, ended, said };
};
const run = (args: string[], env?: Record<string, string>) => start(args, env).ended;

describe('the command line', () => {
  test('--help and --version', async () => {
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const word of ['join', 'run', 'sweep', 'doctor', 'Exit codes']) expect(help.out).toContain(word);
    const { version } = JSON.parse(
      readFileSync(new URL('../../packages/collector/package.json', import.meta.url), 'utf8'),
    );
    expect((await run(['--version'])).out).toBe(`${version}\n`);
    expect((await run(['sweep', '--help'])).out).toMatch(/--community/);
  });

  const wrong: [string, string[], number, RegExp][] = [
    ['an unknown flag', ['sweep', '--fast', '10.0.0.1'], 2, /unknown option '--fast'/],
    ['an unknown command', ['swep', '10.0.0.1'], 2, /unknown command 'swep'.*Did you mean sweep/],
    ['no target', ['sweep'], 2, /missing required argument 'targets'/],
    ['F93: a malformed target', ['sweep', '10.0.0.256'], 2, /10\.0\.0\.256: a part is above 255/],
    ['F93: an octal target', ['sweep', '010.0.0.1'], 2, /starts with 0/],
    ['F103: a target that is an option', ['sweep', '--', '-iL'], 2, /-iL: starts with a dash/],
    // F104: what is never resolved cannot resolve to another network when the sweep begins.
    ['F103, F104: a host name', ['sweep', 'example.net'], 2, /names are not resolved/],
    ['F91: everything', ['sweep', '0.0.0.0/0'], 2, /4294967294 addresses; one scan takes at most/],
    ['F92: an IPv6 network', ['sweep', '2001:db8::/64'], 2, /at most/],
    ['F94: multicast', ['sweep', '224.0.0.1'], 2, /multicast .* not swept/],
    ['F96: no rate at all', ['sweep', '10.0.0.1', '--rate', '0'], 2, /whole number from 1 to 1000000/],
    ['F96: a rate that is none', ['sweep', '10.0.0.1', '--rate', 'NaN'], 2, /whole number/],
    ['an unknown profile', ['sweep', '10.0.0.1', '--profile', 'huge'], 2, /ping, standard, deep, snmp/],
    ['a port out of range', ['sweep', '10.0.0.1', '--snmp-port', '70000'], 2, /1 to 65535/],
    [
      'privacy without authentication',
      ['sweep', '10.0.0.1', '--v3-user', 'u', '--v3-priv', 'aes128'],
      2,
      /needs --v3-auth/,
    ],
    [
      'a key that is nowhere',
      ['sweep', '10.0.0.1', '--v3-user', 'u', '--v3-auth', 'sha256'],
      2,
      /--v3-auth-key-file FILE or in ROLLCALL_V3_AUTH_KEY/,
    ],
    [
      'an address to explain that is not swept',
      ['sweep', '10.0.0.1', '--explain', '10.0.0.2', '--profile', 'ping'],
      2,
      /no address of this sweep/,
    ],
    ['a token that is none', ['join', 'http://127.0.0.1:9', 'abc'], 1, /not a join token/],
    [
      'a server that is not there',
      ['join', 'http://127.0.0.1:9', `rcj_${'a'.repeat(40)}`],
      1,
      /cannot reach .*nobody listens/,
    ],
    ['a link in the clear', ['join', 'http://192.0.2.1', `rcj_${'a'.repeat(40)}`], 1, /not encrypted/],
    [
      'a state folder that cannot be',
      ['join', 'http://127.0.0.1:9', `rcj_${'a'.repeat(40)}`, '--state', '/dev/null/x'],
      1,
      /cannot write to the state folder/,
    ],
    [
      'running before joining',
      ['run'],
      1,
      /has not joined a server yet: "rollcall-collector join URL TOKEN"/,
    ],
    [
      'settings that are not there',
      ['run', '--config', '/nowhere.yaml'],
      1,
      /cannot read the settings \/nowhere\.yaml/,
    ],
  ];
  test.each(wrong)('%s: one clear line, exit code not 0', async (_name, args, code, words) => {
    const end = await run(args, { ROLLCALL_COLLECTOR_STATE: join(folder, 'state') });
    expect(end.code).toBe(code);
    expect(end.out).toBe('');
    expect(end.err).toMatch(words);
    expect(end.err.trim().split('\n')).toHaveLength(1);
    expect(existsSync(join(folder, 'state', 'identity.json'))).toBe(false);
  });

  test('a bad settings file is told with its line', async () => {
    const config = join(folder, 'c.yaml');
    writeFileSync(config, 'jobs: 2\nspeed: 3\n');
    const end = await run(['sweep', '10.0.0.1', '--config', config]);
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toMatch(/c\.yaml:2: there is no setting "speed" here/);
  });
});

describe('sweep', () => {
  const systemGroup = {
    '1.3.6.1.2.1.1.1.0': { type: 'octets', value: Buffer.from('A switch\nwith two lines') },
    '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 },
    '1.3.6.1.2.1.1.5.0': { type: 'octets', value: Buffer.from('sw-1') },
    '1.3.6.1.2.1.2.2.1.1.1': { type: 'integer', value: 1 },
    '1.3.6.1.2.1.2.2.1.2.1': { type: 'octets', value: Buffer.from('eth0') },
  } as const;
  const agent = async () => {
    const answer = honest(systemGroup);
    const reply = community((pdu, { community: said }) =>
      said.toString() === 'secret-7' ? answer(pdu) : null,
    );
    const started = await FakeAgent.start(reply, '127.0.83.5');
    stops.push(() => started.close());
    return started;
  };

  test('prints one JSON object per live host, and a summary on stderr', async () => {
    const { port } = await agent();
    const args = [
      'sweep',
      '127.0.83.4/30',
      '--community',
      'secret-7',
      '--snmp-port',
      String(port),
      '--timeout',
      '200',
      '--json',
      '--explain',
      '127.0.83.6',
    ];
    const { code, out, err } = await run(args);
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byAddress = new Map(lines.map((line) => [line.address, line]));
    expect(byAddress.get('127.0.83.5')).toMatchObject({
      outcome: 'snmp',
      snmpVersion: 'v2c',
      system: { sysName: 'sw-1', sysDescr: 'A switch\nwith two lines' },
      tables: { interfaces: { complete: true, rows: [{ ifIndex: 1, ifDescr: 'eth0' }] } },
    });
    expect(byAddress.get('127.0.83.5').rttMs).toBeGreaterThan(0);
    expect(byAddress.get('127.0.83.6')).toMatchObject({ outcome: 'snmp-timeout' });
    expect(lines.at(-1)).toMatchObject({
      explain: '127.0.83.6',
      outcome: 'snmp-timeout',
      why: expect.stringMatching(/silent/),
    });
    expect(err).toMatch(/^2 addresses in \d\.\d\d s: 2 alive, 1 read by SNMP, 1 silent to SNMP\n$/);
    expect(`${out}${err}`).not.toContain('secret-7');
  });

  test('prints a table for people', async () => {
    const { port } = await agent();
    const { out } = await run([
      'sweep',
      '127.0.83.5',
      '--community',
      'secret-7',
      '--snmp-port',
      String(port),
    ]);
    const [head, row] = out.split('\n');
    expect(head).toMatch(/^ADDRESS +RTT +OUTCOME +NAME +DESCRIPTION$/);
    expect(row).toMatch(
      /^127\.0\.83\.5 +\d+(\.\d\d)? ms +snmp +sw-1 +1 interfaces · A switch with two lines$/,
    );
  });

  test('E81, E82: what a device says is text: never markup, never a command, never a second line', async () => {
    const marker = join(folder, 'marker');
    const said = {
      sysDescr: `$(touch ${marker})\`touch ${marker}\`; touch ${marker}\n"'\x1b[2J{{7*7}}`,
      sysName: '<img src=x onerror=alert(1)>',
      ifDescr: 'javascript:alert(1)',
    };
    const text = (value: string) => ({ type: 'octets', value: Buffer.from(value) }) as const;
    const hostile = await FakeAgent.start(
      community(
        honest({
          '1.3.6.1.2.1.1.1.0': text(said.sysDescr),
          '1.3.6.1.2.1.1.5.0': text(said.sysName),
          '1.3.6.1.2.1.2.2.1.2.1': text(said.ifDescr),
        }),
      ),
      '127.0.83.9',
    );
    stops.push(() => hostile.close());
    const args = ['sweep', '127.0.83.9', '--community', 'public', '--snmp-port', `${hostile.port}`];
    const json = await run([...args, '--json']);
    const [line, ...more] = json.out.trim().split('\n');
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? '')).toMatchObject({
      system: { sysName: said.sysName, sysDescr: said.sysDescr.replace('\x1b', '\\x1b') },
      tables: { interfaces: { rows: [{ ifDescr: said.ifDescr }] } },
    });
    const table = await run(args);
    expect(table.out.trim().split('\n')).toHaveLength(2);
    expect(table.out).not.toContain('\x1b');
    expect(table.out).toContain(said.sysName);
    expect(existsSync(marker)).toBe(false);
  });

  test('by ping finds every host of a /20, quickly; without credentials SNMP is not asked and that is said', async () => {
    const { code, out, err } = await run(['sweep', '127.8.0.0/20', '--rate', 'max', '--json']);
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(4094);
    expect(err).toMatch(/SNMP is not asked: give --community TEXT or --v3-user NAME/);
    expect(err).toMatch(/4094 addresses in .* 4094 alive/);
  });

  test('credentials come from files and the environment', async () => {
    const { port } = await agent();
    const { out } = await run(['sweep', '127.0.83.5', '--snmp-port', String(port), '--json'], {
      ROLLCALL_COMMUNITY: 'secret-7',
    });
    expect(JSON.parse(out)).toMatchObject({ outcome: 'snmp' });
  });

  test('the administrator’s settings hold for it too', async () => {
    const config = join(folder, 'c.yaml');
    writeFileSync(config, 'allow: [127.0.83.0/30]\n');
    const part = await run([
      'sweep',
      '127.0.83.0/29',
      '--profile',
      'ping',
      '--json',
      '--config',
      config,
      '--explain',
      '127.0.83.6',
    ]);
    expect(part.err).toMatch(/3 alive, 3 excluded/);
    expect(part.out).toMatch(
      /"explain":"127\.0\.83\.6","outcome":"excluded","why":".*outside what this collector’s settings allow"/,
    );
    writeFileSync(config, 'ratePerNet: 60\n');
    const slow = await run([
      'sweep',
      '127.0.83.0/25',
      '--profile',
      'ping',
      '--rate',
      'max',
      '--config',
      config,
    ]);
    expect(Number(/ in ([\d.]+) s/.exec(slow.err)?.[1])).toBeGreaterThan(1.5);
    writeFileSync(config, 'allow: [127.0.83.0/30]\n');
    const none = await run(['sweep', '10.0.0.0/30', '--profile', 'ping', '--config', config]);
    expect(none).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/nothing to sweep: 10\.0\.0\.\S+ is outside/),
    });
  });

  test('interrupted, it says how far it got', async () => {
    const sweeping = start([
      'sweep',
      '127.0.0.0/16',
      '--profile',
      'ping',
      '--rate',
      '500',
      '--rate-per-net',
      '500',
      '--json',
    ]);
    await sweeping.said(/127/);
    sweeping.child.kill('SIGINT');
    const { code, err } = await sweeping.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/\d+ of 65534 addresses in/);
  });

  test('a reader that goes away ends it', async () => {
    const sweeping = start([
      'sweep',
      '127.0.0.0/14',
      '--profile',
      'ping',
      '--rate',
      '20000',
      '--rate-per-net',
      'max',
      '--json',
    ]);
    await sweeping.said(/127/);
    sweeping.child.stdout?.destroy();
    const { code } = await sweeping.ended;
    expect(code).toBe(130);
  });
});

describe('doctor', () => {
  test('tells of engines, limits, folder and identity, each with a remedy', async () => {
    const { code, out } = await run(['doctor', '--json', '--state', join(folder, 'none')]);
    const { findings } = JSON.parse(out);
    const by = Object.fromEntries(findings.map((finding: { check: string }) => [finding.check, finding]));
    expect(Object.keys(by)).toEqual(
      expect.arrayContaining([
        'settings',
        'ICMP IPv4',
        'ICMP IPv6',
        'open files',
        'receive buffer',
        'state folder',
        'identity',
      ]),
    );
    expect(by.identity).toMatchObject({
      state: 'warning',
      found: 'not joined yet',
      remedy: expect.stringMatching(/join URL TOKEN/),
    });
    expect(code).toBe(findings.some(({ state }: { state: string }) => state === 'failed') ? 1 : 0);
  });

  test('finds a port for traps that another program holds', async () => {
    const other = createSocket('udp4');
    await new Promise<void>((resolve) => other.bind(0, resolve));
    stops.push(() => other.close());
    const { port } = other.address();
    const env = { ROLLCALL_COLLECTOR_TRAPS_PORT: String(port), ROLLCALL_COLLECTOR_METRICS_PORT: '0' };
    const { code, out } = await run(['doctor', '--state', folder], env);
    expect(code).toBe(1);
    expect(out).toMatch(
      new RegExp(`failed +trap port +port ${port}: the port is in use [^\\n]*\\n +→ stop what uses it`),
    );
    expect(out).toMatch(/ok +metrics port +not used/);
  });

  test('tells what is wrong with a server that is away and a key that others can read', async () => {
    const { state, server } = await joined();
    await server.stop();
    const away = await run(['doctor', '--state', state]);
    expect(away.code).toBe(1);
    expect(away.out).toMatch(/failed +server .*cannot reach .*nobody listens there[^\n]*\n +→ check address/);
  });
});

/** Joins a scripted server through the command line. */
const joined = async () => {
  const server = await ScriptedServer.start();
  stops.push(() => server.stop().catch(() => undefined));
  server.answer = (request, response) => {
    response.writeHead(request.method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify({
        success: true,
        data: {
          collectorId: '0192f0c0-0000-7000-8000-0000000000c0',
          name: 'probe-1',
          site: SITE,
          generation: 0,
          path: '/api/collectors/link',
          protocol: { version: 1, oldest: 1 },
          serverTime: Math.floor(Date.now() / 1000),
        },
      }),
    );
  };
  const state = join(folder, 'state');
  const end = await run(['join', server.url, `rcj_${'a'.repeat(40)}`, '--state', state]);
  expect(end).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(
      /^Joined .* as "probe-1" of site "test"\. Start it with: rollcall-collector run --state /,
    ),
  });
  return { state, server };
};

describe('run', () => {
  const job = '0192f0c0-0000-7000-8000-000000000001';
  const assign = (count: number, rate: number, more: object = {}) => ({
    type: 'assign',
    assignment: {
      job,
      fence: 1,
      spans: [{ first: '127.9.0.0', count }],
      profile: {
        icmp: { tries: 1, timeoutMs: 200 },
        snmp: null,
        rate,
        ratePerNet: rate,
        dns: false,
        exclude: [],
      },
      credentials: [],
      ...more,
    },
  });

  test('works for its server: takes a job, delivers what it found, ends on SIGTERM with 0', async () => {
    const { state, server } = await joined();
    const daemon = start(['run', '--state', state]);
    const peer = await server.peer();
    const { epoch } = await peer.greet();
    peer.send(assign(16, 1000));
    const end = await peer.hear('observations', ({ items }) => JSON.stringify(items).includes('job-end'));
    expect(epoch).toBe(end.epoch);
    const since = Date.now();
    daemon.child.kill('SIGTERM');
    const { code, out } = await daemon.ended;
    expect(code).toBe(0);
    expect(Date.now() - since).toBeLessThan(30_000);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'collector started',
        'linked to the server',
        'a job started',
        'a job ended',
        'stopped',
      ]),
    );
    expect((await peer.gone()).code).toBe(1001);
  });

  test('takes sweeps by hand from people on its host, within the settings that it has', async () => {
    const { state } = await joined();
    const config = join(folder, 'collector.yaml');
    writeFileSync(config, 'deny: [127.0.85.2]\nrate: 1000\n');
    const daemon = start(['run', '--state', state, '--config', config]);
    await daemon.said(/collector started/);
    const { code, out, err } = await run(['sweep', '127.0.85.0/30', '--profile', 'ping', '--json']);
    expect(code).toBe(0);
    expect(out).toMatch(/"127\.0\.85\.1"/);
    expect(err).toMatch(/2 addresses in .*: 1 alive, 1 excluded/);
    await daemon.said(/a sweep by hand started/);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(existsSync(join(folder, 'sweep.sock'))).toBe(false);
  });

  test('B36: SIGTERM in the middle of a sweep: exit 0 within 10 s, what was found arrives after the restart', async () => {
    const { state, server } = await joined();
    const daemon = start(['run', '--state', state]);
    const first = await server.peer();
    await first.greet();
    first.send(assign(4096, 400));
    await first.hear('observations', ({ items }) => items.length > 0);
    await systemClock.sleep(500);
    const since = Date.now();
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(Date.now() - since).toBeLessThan(30_000);
    const seen = new Map<number, string>();
    start(['run', '--state', state]);
    const second = await server.peer();
    second.onMessage = (said) => {
      if (said.type === 'observations')
        second.ack(said.epoch, said.stream, said.from + said.items.length - 1);
    };
    const hello = await second.greet({ state: -1, event: -1 }, 2);
    await second.hear('observations', ({ from, items }) => {
      for (const [i, item] of items.entries()) seen.set(from + i, JSON.stringify(item));
      return from + items.length - 1 === hello.last.state;
    });
    expect(seen.size).toBe(hello.last.state + 1);
    const all = [...seen.values()];
    const hosts = all.filter((item) => item.includes('"kind":"host"')).length;
    const codes = all
      .filter((item) => item.includes('"kind":"outcomes"'))
      .map((item) => JSON.parse(item).codes.replaceAll('.', '').length);
    expect(hosts).toBeGreaterThan(100);
    expect(codes.reduce((a, b) => a + b, 0)).toBe(hosts);
  });

  test('B34: a second one on the same state is refused; after kill -9 a new one takes over at once', async () => {
    const { state, server } = await joined();
    const daemon = start(['run', '--state', state]);
    await (await server.peer()).greet();
    const second = await run(['run', '--state', state]);
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringMatching(/in use by process \d+: stop it first/),
    });
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    start(['run', '--state', state]);
    await (await server.peer()).greet({ state: -1, event: -1 }, 2);
  });

  test('B40: an outbox of a newer version is left alone, and that is said', async () => {
    const { state } = await joined();
    mkdirSync(join(state, 'outbox'));
    writeFileSync(join(state, 'outbox', 'FORMAT'), 'rollcall outbox 9\n');
    const { code, err } = await run(['run', '--state', state]);
    expect(code).toBe(1);
    expect(err).toMatch(/^rollcall-collector: the outbox in .* was written by a newer version .*\n$/);
    expect(readdirSync(join(state, 'outbox'))).toEqual(['FORMAT']);
  });

  test.skipIf(!mounts).each([
    [
      'B33: read-only',
      'mount -t tmpfs tmpfs "$0" && cp -r "$0.kept/." "$0" && mount -o remount,ro "$0"',
      /cannot write to the state folder .*read-only/,
    ],
    [
      'B28: full at the start',
      'mount -t tmpfs -o size=256k tmpfs "$0" && cp -r "$0.kept/." "$0"',
      /the disk of .* is full: make room/,
    ],
  ])('%s: one clear line, exit code 1', async (_name, mount, words) => {
    const { state } = await joined();
    cpSync(state, `${state}.kept`, { recursive: true });
    const command = `${mount} && exec "$1" "$2" run --state "$0"`;
    const ended = spawnSync('unshare', ['-m', 'sh', '-c', command, state, process.execPath, program], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(ended.status).toBe(1);
    expect(ended.stderr).toMatch(words);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  });

  test('SIGHUP reads the settings again, and keeps the old ones when they are bad', async () => {
    const config = join(folder, 'c.yaml');
    writeFileSync(config, 'log: info\n');
    const { state, server } = await joined();
    const daemon = start(['run', '--state', state, '--config', config]);
    const peer = await server.peer();
    await peer.greet();
    writeFileSync(config, 'nonsense: 1\n');
    daemon.child.kill('SIGHUP');
    await daemon.said(/settings were not changed/);
    writeFileSync(config, 'deny: [127.0.0.0/8]\n');
    daemon.child.kill('SIGHUP');
    await daemon.said(/settings were read again/);
    peer.send(assign(4, 1000));
    expect(await peer.hear('outcome')).toMatchObject({
      result: 'failed',
      reason: expect.stringMatching(/denied/),
    });
  });

  test.skipIf(!python)(
    'tells systemd that it is ready, feeds its watchdog, and says when it stops',
    async () => {
      const { state, server } = await joined();
      const socket = join(folder, 'notify');
      // Node has no datagram socket of the Unix kind.
      const listener = spawn(
        'python3',
        [
          '-uc',
          `import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint("up")\nwhile True: print(s.recv(4096).decode())`,
          socket,
        ],
        { stdio: ['ignore', 'pipe', 'ignore'] },
      );
      stops.push(() => listener.kill());
      let told = '';
      await new Promise<void>((resolve) => {
        listener.stdout.on('data', (part) => {
          told += part;
          if (told.startsWith('up')) resolve();
        });
      });
      const daemon = start(['run', '--state', state], { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' });
      await (await server.peer()).greet();
      for (const end = Date.now() + 10_000; !/READY=1[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/.test(told); ) {
        if (Date.now() > end) throw new Error(`systemd was told only: ${told}`);
        await systemClock.sleep(20);
      }
      daemon.child.kill('SIGTERM');
      await daemon.ended;
      expect(told).toMatch(/STATUS=link: ready/);
    },
  );
});
