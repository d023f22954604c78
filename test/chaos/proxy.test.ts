import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@rollcall/shared/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultProxy } from './proxy.ts';

/** Sends back what it gets; remembers it. */
let echo: Server;
let heard: Buffer[];
let proxy: FaultProxy;
const sockets: Socket[] = [];

beforeEach(async () => {
  heard = [];
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      heard.push(data);
      socket.write(data);
    });
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await FaultProxy.open({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.close();
  echo.close();
});

const open = async () => {
  const socket = connect(proxy.port, '127.0.0.1');
  sockets.push(socket);
  const got: Buffer[] = [];
  const ends: string[] = [];
  socket.on('data', (data) => got.push(data));
  socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? ''));
  socket.on('end', () => ends.push('fin'));
  const closed = new Promise((resolve) => socket.on('close', () => resolve(ends[0])));
  await Promise.race([new Promise((resolve) => socket.on('connect', resolve)), closed]);
  return { socket, text: () => Buffer.concat(got).toString(), pieces: () => got.length, closed };
};
const until = async (holds: () => boolean) => {
  for (let i = 0; i < 2_000 && !holds(); i++) await systemClock.sleep(5);
  expect(holds()).toBe(true);
};

test('calm: passes everything, both ways, and the end', async () => {
  const line = await open();
  const text = 'x'.repeat(3_000_000);
  line.socket.write(text);
  await until(() => line.text().length === text.length);
  line.socket.end();
  expect(await line.closed).toBe('fin');
  expect(proxy.passed).toEqual({ up: text.length, down: text.length });
});

test('fin and reset end present connections, new ones pass', async () => {
  const first = await open();
  first.socket.write('a');
  await until(() => first.text() === 'a');
  proxy.strike('fin');
  expect(await first.closed).toBe('fin');
  const second = await open();
  second.socket.write('b');
  await until(() => second.text() === 'b');
  proxy.strike('reset');
  expect(await second.closed).toBe('ECONNRESET');
  const third = await open();
  third.socket.write('c');
  await until(() => third.text() === 'c');
});

test('stalled: nothing passes, nothing is lost', async () => {
  const line = await open();
  await proxy.change({ stalled: ['up'] });
  line.socket.write('late');
  await systemClock.sleep(50);
  expect(heard).toEqual([]);
  await proxy.calm();
  await until(() => line.text() === 'late');
  await proxy.change({ stalled: ['down'] });
  line.socket.write('r');
  await until(() => Buffer.concat(heard).toString() === 'later');
  expect(line.text()).toBe('late');
  await proxy.calm();
  await until(() => line.text() === 'later');
});

test('lost: what a connection carries vanishes for ever, others pass', async () => {
  const dead = await open();
  dead.socket.write('1');
  await until(() => dead.text() === '1');
  proxy.lose(['down']);
  dead.socket.write('2');
  await until(() => Buffer.concat(heard).toString() === '12');
  await proxy.calm();
  const live = await open();
  live.socket.write('3');
  await until(() => live.text() === '3');
  expect(dead.text()).toBe('1');
  expect(dead.socket.destroyed).toBe(false);
});

test('slices bytes', async () => {
  await proxy.change({ slices: { bytes: 1, gapMs: 2 } });
  const line = await open();
  line.socket.write('abcdef');
  await until(() => line.text() === 'abcdef');
  expect(line.pieces()).toBeGreaterThan(1);
});

test('delays without narrowing', async () => {
  await proxy.change({ delayMs: 100 });
  const line = await open();
  const start = systemClock.monotonic();
  line.socket.write('x'.repeat(2_000_000));
  await until(() => line.text().length === 2_000_000);
  const took = systemClock.monotonic() - start;
  expect(took).toBeGreaterThan(199);
  // A piece of 64 KB at a time it would take three seconds each way.
  expect(took).toBeLessThan(3_000);
});

test('throttles', async () => {
  await proxy.change({ rate: 100_000 });
  const line = await open();
  const start = systemClock.monotonic();
  line.socket.write('x'.repeat(30_000));
  await until(() => line.text().length === 30_000);
  expect(systemClock.monotonic() - start).toBeGreaterThan(290);
});

test.each([
  ['down', 'fin', 'fin'],
  ['up', 'reset', 'ECONNRESET'],
] as const)('closes after so many bytes %s by %s', async (direction, by, ending) => {
  await proxy.change({ closeAfter: { direction, bytes: 7, by } });
  const line = await open();
  line.socket.write('abcdefghij');
  expect(await line.closed).toBe(ending);
  expect(proxy.passed[direction]).toBe(7);
});

test('refuses, and accepts without a word', async () => {
  await proxy.change({ newcomers: 'refuse' });
  expect(await (await open()).closed).toBe('ECONNREFUSED');
  await proxy.calm();
  await proxy.change({ newcomers: 'mute' });
  const line = await open();
  line.socket.write('hello?');
  await systemClock.sleep(50);
  expect(heard).toEqual([]);
  await proxy.calm();
  expect(await line.closed).toBe('ECONNRESET');
  const good = await open();
  good.socket.write('!');
  await until(() => good.text() === '!');
});
