import { EventEmitter } from 'node:events';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { boundCrowd, networkOf } from './crowd.ts';

function stage(connections: number, trustedProxies: string[] = []) {
  let idleClosed = 0;
  const clock = new ManualClock();
  const server = Object.assign(new EventEmitter(), {
    closeIdleConnections: () => {
      idleClosed += 1;
    },
  });
  const log = pino({ level: 'silent' });
  boundCrowd(server as never, { connections, trustedProxies }, { log, clock });
  /** Answers a way to hang up, or null: refused. */
  const come = (remoteAddress: string) => {
    let destroyed = false;
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroy: () => {
        destroyed = true;
      },
    });
    server.emit('connection', socket);
    return destroyed ? null : () => socket.emit('close');
  };
  return { come, clock, idleClosed: () => idleClosed };
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
