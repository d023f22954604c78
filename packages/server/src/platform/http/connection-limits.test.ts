import { EventEmitter } from 'node:events';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { limitConnections, markAuthenticated, networkOf } from './connection-limits.ts';

function stage(connections: number, trustedProxies: string[] = []) {
  let idleClosed = 0;
  const clock = new ManualClock();
  let port = 1024;
  const server = Object.assign(new EventEmitter(), {
    maxConnections: connections,
    closeIdleConnections: () => {
      idleClosed += 1;
    },
  });
  const log = pino({ level: 'silent' });
  limitConnections(server as never, { connections, trustedProxies }, { log, clock });
  const arrive = (remoteAddress: string) => {
    port += 1;
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      remotePort: port,
      destroyed: false,
      destroy: () => {
        socket.destroyed = true;
      },
    });
    server.emit('connection', socket);
    return socket;
  };
  /** Answers a way to hang up, or null: refused. */
  const come = (remoteAddress: string) => {
    const socket = arrive(remoteAddress);
    return socket.destroyed ? null : () => socket.emit('close');
  };
  return { come, arrive, server, clock, idleClosed: () => idleClosed };
}

it('attack: 10,000 connections of one address leave room for everybody else', () => {
  const { come, idleClosed } = stage(10_000);
  const taken = Array.from({ length: 10_000 }, () => come('203.0.113.9')).filter(Boolean);
  expect(taken).toHaveLength(1000);
  expect(come('203.0.113.10')).not.toBeNull();
  taken[0]?.();
  expect(come('203.0.113.9')).not.toBeNull();
  expect(come('203.0.113.9')).toBeNull();
  expect(idleClosed()).toBe(0);
});

it('attack: 10,000 connections of many addresses lock nobody out, and end no connection over which somebody signed in', () => {
  const { arrive } = stage(10_000);
  const known = Array.from({ length: 50 }, (_, i) => arrive(`192.0.2.${i}`));
  for (const socket of known) markAuthenticated(socket);
  const crowd = Array.from({ length: 20_000 }, (_, i) => arrive(`10.0.${i % 50}.1`));
  const left = () => [...known, ...crowd].filter(({ destroyed }) => !destroyed);
  // The last ones that came, a signed-in user's new connection as well.
  expect(left()).toHaveLength(9_500);
  const late = arrive('192.0.2.200');
  expect(late.destroyed).toBe(false);
  markAuthenticated(late);
  for (const socket of crowd) if (socket.destroyed) socket.emit('close');
  for (let i = 0; i < 20_000; i++) arrive(`10.1.${i % 50}.1`);
  expect([late, ...known].filter(({ destroyed }) => destroyed)).toEqual([]);
});

it('knows a connection again by its authenticated object over TLS', () => {
  const { arrive, server } = stage(100);
  const first = arrive('192.0.2.1');
  const { remoteAddress, remotePort } = first;
  const secure = Object.assign(new EventEmitter(), { remoteAddress, remotePort });
  server.emit('secureConnection', secure);
  markAuthenticated(secure);
  for (let i = 0; i < 200; i++) arrive(`10.0.${i}.1`);
  expect(first.destroyed).toBe(false);
});

it('counts a /64 as one address, and proxies and this host not at all', () => {
  const { come } = stage(1000, ['192.0.2.1']);
  const of = (address: (i: number) => string) =>
    Array.from({ length: 200 }, (_, i) => come(address(i))).filter(Boolean).length;
  expect(of((i) => `2001:db8:1:2::${i.toString(16)}`)).toBe(100);
  expect(of((i) => `::ffff:203.0.113.${i}`)).toBe(200);
  expect(of(() => '::ffff:192.0.2.1')).toBe(200);
  expect(of(() => '127.0.0.1')).toBe(200);
});

it('closes idle connections where room runs out, once a second at most', async () => {
  const { come, clock, idleClosed } = stage(1000);
  for (let i = 0; i < 899; i++) come(`10.0.${i >> 8}.${i & 255}`);
  expect(idleClosed()).toBe(0);
  for (let i = 0; i < 50; i++) come(`10.1.0.${i}`);
  expect(idleClosed()).toBe(1);
  await clock.pass(1_000);
  come('10.2.0.1');
  expect(idleClosed()).toBe(2);
});

it('takes the network of an address', () => {
  expect(networkOf('192.0.2.1', 64)).toBe('192.0.2.1');
  expect(networkOf('2001:db8::1', 64)).toBe('2001:db8:0:0');
  expect(networkOf('2001:db8:1:2:3:4:5:6', 48)).toBe('2001:db8:1');
});
