import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeSweeps } from '@rollcall/collector/commands/handover/server';
import { ownResources } from '@rollcall/collector/commands/own-resources';
import { performSweep } from '@rollcall/collector/commands/sweep-command';
import { openLog } from '@rollcall/server/platform/ops/log';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

/** The command is a process of its own, as people have it; the collector's end is in this one. */

const program = compiled('collector', 'main');
let folder: string;
let socket: string;
const stops: (() => unknown)[] = [];
beforeAll(async () => {
  await import('@rollcall/collector/commands/sweep'); // The collector has it loaded already.
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-handover-'));
  socket = join(folder, 'sweep.sock');
});
afterEach(async () => {
  settings = {};
  for (const stop of stops.splice(0).reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
});

let settings: Record<string, string> = {};
const start = (...args: string[]) => {
  const child: ChildProcess = spawn(process.execPath, [program, 'sweep', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, ROLLCALL_SOCKET: socket, ...settings },
  });
  stops.push(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout?.on('data', (part) => {
    out += part;
  });
  child.stderr?.on('data', (part) => {
    err += part;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, out, err })),
  );
  return { child, ended, spoke: new Promise((resolve) => child.stdout?.once('data', resolve)) };
};
const run = (...args: string[]) => start(...args).ended;

/** A collector that takes sweeps of at most so many addresses; answers how many it did. */
async function collector(most = 4096) {
  const done: (number | null)[] = [];
  const resources = { ...(await ownResources({})), most };
  const taking = await takeSweeps(socket, {
    log: openLog({ logLevel: 'silent' }),
    perform: async (argv, terminal, begun) => {
      const open = (...engines: Parameters<typeof resources.open>) => {
        begun();
        return resources.open(...engines);
      };
      const code = await performSweep(argv, terminal, { ...resources, open });
      done.push(code);
      return code;
    },
  });
  stops.push(() => taking?.close());
  return { done, taking };
}

const PING = ['127.0.84.0/30', '--profile', 'ping'];
const LONG = ['127.0.0.0/20', '--profile', 'ping', '--rate', '300', '--rate-per-net', '300', '--json'];
const timeless = (text: string) => text.replace(/ *[\d.]+ ms|in [\d.]+ s|"(at|rttMs)":[\d.]+/g, '…');
const sorted = (text: string) => timeless(text).split('\n').sort();

describe('a sweep that the collector of the host takes', () => {
  test.each([
    ['a table', PING],
    ['JSON, explained', [...PING, '--json', '--explain', '127.0.84.1']],
    ['a wrong command line', [...PING, '--tries', '99']],
    ['a target that is none', ['10.0.0.256']],
    ['no target', []],
    ['help', ['--help']],
  ])('prints and ends as one in a process of its own: %s', async (_, args) => {
    const { done } = await collector();
    const taken = await run(...args);
    expect(done).toEqual([taken.code]);
    const alone = await run(...args, '--alone');
    expect(done).toHaveLength(1);
    expect(taken.code).toBe(alone.code);
    expect(sorted(taken.out)).toEqual(sorted(alone.out));
    expect(timeless(taken.err)).toBe(timeless(alone.err));
  });

  test('the socket is for its user and root only', async () => {
    await collector();
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  test('interrupted, it says how far it got', async () => {
    const { done } = await collector();
    const sweeping = start(...LONG);
    await sweeping.spoke;
    sweeping.child.kill('SIGINT');
    const { code, err } = await sweeping.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/\d+ of 4094 addresses in/);
    expect(done).toEqual([130]);
  });

  test.each([
    ['the reader goes away', ({ child }: ReturnType<typeof start>) => child.stdout?.destroy()],
    ['the command is killed', ({ child }: ReturnType<typeof start>) => child.kill('SIGKILL')],
  ])('ends when %s', async (_, end) => {
    const { done } = await collector();
    const sweeping = start(...LONG);
    await sweeping.spoke;
    end(sweeping);
    await sweeping.ended;
    await expect.poll(() => done).toEqual([130]);
  });

  test('says so when the collector ends in the middle', async () => {
    const { taking } = await collector();
    const sweeping = start(...LONG);
    await sweeping.spoke;
    await taking?.close();
    expect(await sweeping.ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the collector ended in the middle of the sweep/),
    });
  });
});

describe('a sweep that the command does itself', () => {
  const bySelf = { code: 0, err: expect.stringMatching(/2 addresses in .* 2 alive/) };

  test('nobody listens', async () => {
    expect(await run(...PING)).toMatchObject(bySelf);
    writeFileSync(socket, '');
    expect(await run(...PING)).toMatchObject(bySelf);
  });

  test('the collector hangs', async () => {
    const server = createServer().listen(socket);
    stops.push(() => server.close());
    expect(await run(...PING)).toMatchObject(bySelf);
  });

  test('it has more addresses than the collector takes', async () => {
    const { done } = await collector(1);
    expect(await run(...PING)).toMatchObject(bySelf);
    expect(done).toEqual([null]);
  });

  test('four of others are under way', async () => {
    const { done } = await collector();
    const others = [1, 2, 3, 4].map(() => start(...LONG));
    await Promise.all(others.map(({ spoke }) => spoke));
    expect(await run(...PING)).toMatchObject(bySelf);
    expect(done).toEqual([]);
  });

  test('it is asked to, names a file or an engine, or has settings in its environment', async () => {
    const { done } = await collector();
    const file = join(folder, 'collector.yaml');
    writeFileSync(file, 'engines: [datagram, raw, ping]\n');
    for (const own of [['--alone'], ['--config', file], ['--engine=datagram', '--engine', 'raw']])
      expect(await run(...PING, ...own)).toMatchObject(bySelf);
    settings = { ROLLCALL_COLLECTOR_RATE: '5000' };
    expect(await run(...PING)).toMatchObject(bySelf);
    expect(done).toEqual([]);
  });
});

test('a socket that a dead collector left is replaced, another file is not', async () => {
  const dead = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${JSON.stringify(socket)})`,
  ]);
  await expect.poll(() => existsSync(socket)).toBe(true);
  dead.kill('SIGKILL');
  await new Promise((resolve) => dead.once('exit', resolve));
  expect((await collector()).taking).not.toBeNull();
  for (const stop of stops.splice(0).reverse()) await stop();
  writeFileSync(socket, 'kept');
  expect((await collector()).taking).toBeNull();
  expect(readFileSync(socket, 'utf8')).toBe('kept');
});

test('an end that comes together with the request is heard', async () => {
  const { done } = await collector();
  const request = JSON.stringify({ argv: LONG, env: {}, out: null, err: null });
  const asking = connect(socket, () => asking.write(`${request}\n\n`));
  asking.resume();
  await new Promise((resolve) => asking.once('close', resolve));
  expect(done).toEqual([130]);
});

test('who connects and asks nothing is not kept', async () => {
  await collector();
  const silent = connect(socket);
  await new Promise((resolve) => silent.once('close', resolve));
});

test('what is no request is sent away', async () => {
  const { done } = await collector();
  for (const text of ['hello\n', '{"argv":1}\n', `{"argv":[],"env":{},"out":null,"err":null,"more":1}\n`]) {
    const asking = connect(socket, () => asking.write(text));
    const answer = await new Promise((resolve) => asking.once('data', (data) => resolve(String(data))));
    expect(answer).toBe('{"alone":true}\n');
  }
  const flooding = connect(socket, () => flooding.write('x'.repeat(3 << 20)));
  flooding.on('error', () => undefined);
  await new Promise((resolve) => flooding.once('close', resolve));
  expect(done).toEqual([]);
});
