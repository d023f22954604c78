import type { WatchObservation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { Value } from '@rollcall/snmp/message/pdu';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { EchoRefused } from '../icmp/echo.ts';
import { fastClock } from '../testing/fast-clock.ts';
import { Watch } from './watch.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ENTRY = '1.3.6.1.2.1.2.2.1';
const integer = (value: number): Value => ({ type: 'integer', value });

it('a table that was read in part is read again soon: what changed in the rest is not reported an interval later', async () => {
  const clock = fastClock(10);
  const objects: Record<string, Value> = { '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 } };
  for (const port of [1, 2]) for (const column of [7, 8]) objects[`${ENTRY}.${column}.${port}`] = integer(1);
  /** When it began not to answer for the table, and for how long it does not. */
  const deaf = { wanted: false, since: Number.POSITIVE_INFINITY, forMs: 10_000 };
  const agent = await FakeAgent.start(
    community((asked) => {
      const table = asked.type === 'getBulk' || asked.type === 'getNext';
      if (table && deaf.wanted) {
        deaf.since = Math.min(deaf.since, clock.monotonic());
        if (clock.monotonic() - deaf.since < deaf.forMs) return null;
      }
      return honest(objects)(asked);
    }),
  );
  closing.push(() => agent.close());
  const engine = await SnmpEngine.open({ clock });
  closing.push(() => engine.close());
  const told: WatchObservation[] = [];
  const watch = new Watch({
    tools: {
      echo: () => {
        throw new EchoRefused({
          family: 4,
          engine: 'datagram',
          code: 'denied',
          reason: 'no pings here',
          remedy: '',
        });
      },
      snmp: async () => engine,
    },
    outbox: { append: async (items: readonly unknown[]) => void told.push(...(items as WatchObservation[])) },
    clock,
    log: pino({ level: 'silent' }),
    pace: { take: async () => undefined },
    scope: { allows: () => true },
    linked: () => true,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  closing.push(() => watch.stop());
  const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
  watch.take({
    type: 'watch',
    revision: 1,
    full: true,
    set: [{ deviceId: uuidv7(), address: '127.0.0.1', credentialId: credential.id }],
    remove: [],
    credentials: [credential],
    intervals: { icmpMs: 15_000, snmpMs: 60_000 },
    port: agent.port,
  });
  const state = (port: number) =>
    told.flatMap(({ interfaces = [] }) => interfaces.filter(({ ifIndex }) => ifIndex === port)).at(-1)
      ?.operStatus;
  await expect.poll(() => state(2), { timeout: 15_000 }).toBe(1);
  deaf.wanted = true;
  objects[`${ENTRY}.8.2`] = integer(2);
  await expect.poll(() => state(2), { timeout: 30_000, interval: 10 }).toBe(2);
  expect(deaf.since).toBeLessThan(Number.POSITIVE_INFINITY);
  expect(clock.monotonic() - deaf.since).toBeLessThan(50_000);
}, 60_000);
