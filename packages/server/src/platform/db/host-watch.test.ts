import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterEach, expect, it } from 'vitest';
import { databaseAway } from './db.ts';
import { watchHost } from './host-watch.ts';
import { connectionsOf } from './hosts.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A host that lets a client in, and says no more: AuthenticationOk, ReadyForQuery, silence. */
async function silentHost(): Promise<string> {
  const sockets: Socket[] = [];
  const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => socket.write(welcome));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`;
}

it('a host that says nothing is noticed within 7 s, and whoever waits for it is told that the database is away', async () => {
  const { Client, drop } = connectionsOf(await silentHost());
  const clock = new ManualClock();
  const [client, watching] = [new Client(), new Client()];
  for (const each of [client, watching]) {
    each.on('error', () => undefined);
    await each.connect();
  }
  const failure = client.query('UPDATE nothing').catch((error: unknown) => error);
  closing.push(
    watchHost(
      clock,
      () => watching.query('SELECT 1'),
      () => drop('its host answers nothing'),
    ),
  );
  await clock.pass(6_999);
  expect(await Promise.race([failure, 'waits'])).toBe('waits');
  await clock.pass(1);
  expect(await failure).toMatchObject({ message: expect.stringMatching(/^Connection terminated/) });
  expect(databaseAway(await failure)).toBe(true);
});

it('a host that answers or refuses is there, however late a busy process reads it', async () => {
  const clock = new ManualClock();
  let silences = 0;
  const answers: (() => Promise<unknown>)[] = [
    async () => undefined,
    () => Promise.reject(new Error('refused')),
    () => clock.sleep(4_999),
    // Its answer is there when the time is over, and is read in the next turn.
    () => clock.sleep(5_000).then(() => new Promise(setImmediate)),
  ];
  const stop = watchHost(
    clock,
    () => (answers.shift() ?? (async () => undefined))(),
    () => {
      silences += 1;
    },
  );
  await clock.pass(60_000);
  stop();
  expect([answers.length, silences]).toEqual([0, 0]);
});
