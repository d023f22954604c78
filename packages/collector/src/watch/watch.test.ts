import type { Clock } from '@rollcall/shared/clock';
import type { WatchObservation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { Value } from '@rollcall/snmp/message/pdu';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { EchoRefused, type OpenEcho } from '../icmp/echo.ts';
import { echoOf } from '../testing/fake-network.ts';
import { fastClock } from '../testing/fast-clock.ts';
import { noisyEcho, noisyEngine } from '../testing/noisy-network.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';
import { Watch } from './watch.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const noPings: OpenEcho = () => {
  throw new EchoRefused({
    family: 4,
    engine: 'datagram',
    code: 'denied',
    reason: 'no pings here',
    remedy: '',
  });
};

async function watching(clock: Clock, echo: OpenEcho) {
  const engine = await SnmpEngine.open({ clock });
  closing.push(() => engine.close());
  const told: WatchObservation[] = [];
  const watch = new Watch({
    tools: { echo, snmp: async () => engine },
    outbox: {
      append: async (items: readonly WatchObservation[]) =>
        void told.push(...items.filter(({ kind }) => kind === 'watch')),
    },
    clock,
    log: pino({ level: 'silent' }),
    pace: { take: async () => undefined },
    scope: { allows: () => true },
    linked: () => true,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  closing.push(() => watch.stop());
  return { watch, told };
}

const ENTRY = '1.3.6.1.2.1.2.2.1';
/** ifAdminStatus and ifOperStatus. */
const STATES = /^1\.3\.6\.1\.2\.1\.2\.2\.1\.[78](\.|$)/;
const integer = (value: number): Value => ({ type: 'integer', value });

it('a table that was read in part is read again soon: what changed in the rest is not reported an interval later', async () => {
  const clock = fastClock(40);
  const objects: Record<string, Value> = { '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 } };
  for (const port of [1, 2]) for (const column of [7, 8]) objects[`${ENTRY}.${column}.${port}`] = integer(1);
  /** When it began not to answer for the table, and for how long it does not. */
  const deaf = { wanted: false, since: Number.POSITIVE_INFINITY, forMs: 10_000 };
  const agent = await FakeAgent.start(
    community((asked) => {
      // Not the columns that the sensors' reading asks for, which goes on beside it.
      if (STATES.test(asked.varbinds[0]?.oid ?? '') && deaf.wanted) {
        deaf.since = Math.min(deaf.since, clock.monotonic());
        if (clock.monotonic() - deaf.since < deaf.forMs) return null;
      }
      return honest(objects)(asked);
    }),
  );
  closing.push(() => agent.close());
  const { watch, told } = await watching(clock, noPings);
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

describe('a box whose address falls silent', () => {
  const [A, B] = ['127.0.72.2', '127.0.72.3'];
  const NAME = '1.3.6.1.2.1.1.5.0';
  const ENGINE = '1.3.6.1.6.3.10.2.1.1.0';
  const octets = (text: string): Value => ({ type: 'octets', value: Buffer.from(text) });

  /** What is reported once A is silent; at B somebody answers who says this of itself. */
  const lose = async (atB: Record<string, Value> | null) => {
    const fast = fastClock(10);
    const jump = { ms: 0 };
    const clock = { ...fast, monotonic: () => fast.monotonic() + jump.ms };
    const alive = new Map([A, B].map((address) => [address, 1]));
    const { watch, told } = await watching(clock, echoOf(alive));
    const uptime: Value = { type: 'timeticks', value: 100 };
    const self = { '1.3.6.1.2.1.1.3.0': uptime, [NAME]: octets('r1'), [ENGINE]: octets('one') };
    const answer = (objects: Record<string, Value>, address: string) =>
      community((asked) => (alive.has(address) ? honest(objects)(asked) : null));
    const first = await FakeAgent.start(answer(self, A), A);
    closing.push(() => first.close());
    const second = await FakeAgent.start(answer({ ...self, ...atB }, B), B, first.port);
    closing.push(() => second.close());
    const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
    const engineId = Buffer.from('one').toString('hex');
    const target = { deviceId: uuidv7(), address: A, credentialId: credential.id };
    watch.take({
      type: 'watch',
      revision: 1,
      full: true,
      set: [{ ...target, elsewhere: { addresses: [B], sysName: 'r1', engineId } }],
      remove: [],
      credentials: [credential],
      intervals: { icmpMs: 1000, snmpMs: 2000 },
      port: first.port,
    });
    await expect.poll(() => told.at(-1), { interval: 10 }).toMatchObject({ icmp: 'up', snmp: 'ok' });
    alive.delete(A);
    if (atB === null) alive.delete(B);
    const silent = () => told.filter(({ icmp }) => icmp === 'down');
    await expect.poll(() => silent().length, { timeout: 5000, interval: 10 }).toBeGreaterThan(0);
    return { silent, told, alive, jump };
  };

  it('is not down while its agent answers at another, and is there when that lasts', async () => {
    const { silent, told, alive, jump } = await lose({});
    // Once for the silence, and perhaps again when it is settled.
    expect(silent().map(({ snmp }) => snmp)).toEqual(silent().map(() => 'ok'));
    expect(silent()[0]).not.toHaveProperty('address');
    jump.ms = 90_000;
    await expect.poll(() => told.at(-1), { timeout: 5000, interval: 10 }).toMatchObject({ address: B });
    expect(silent().filter(({ snmp }) => snmp !== 'ok')).toEqual([]);
    alive.set(A, 1);
    await expect.poll(() => told.at(-1)?.icmp, { timeout: 5000, interval: 10 }).toBe('up');
    expect(told.at(-1)).not.toHaveProperty('address');
  });

  it.each<[who: string, atB: Record<string, Value> | null]>([
    ['nobody', null],
    ['a box of another name', { [NAME]: octets('r2') }],
    ['a box of its name with another engine', { [ENGINE]: octets('two') }],
  ])('is down where %s answers at the other address', async (_who, atB) => {
    const { silent } = await lose(atB);
    expect(silent().filter(({ snmp, address }) => snmp === 'ok' || address !== undefined)).toEqual([]);
  });
});

/**
 * What is behind a box without an agent of its own may be told 23 s after the outage: three pings and the hold of 20 s. A
 * router with more addresses that is pinged last must be known to be silent by then.
 */
it('a router with further addresses is reported in time to be the root cause, whenever it falls silent', async () => {
  const late: number[] = [];
  for (let second = 0; second < 60; second += 1) {
    const clock = new SteppedClock(0);
    const gone = 120_000 + second * 1000;
    const agent = { '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 } as const };
    const box = { address: '10.0.0.1', agent, pingEveryMs: 0, slowMs: 0, isThere: (at: number) => at < gone };
    const noise = { clock, random: () => 0.5, loss: 0 };
    const told: WatchObservation[] = [];
    const watch = new Watch({
      tools: { echo: noisyEcho([box], noise), snmp: async () => noisyEngine([box], noise) },
      outbox: { append: async (items: readonly WatchObservation[]) => void told.push(...items) },
      clock,
      log: pino({ level: 'silent' }),
      pace: { take: async () => undefined },
      scope: { allows: () => true },
      linked: () => true,
    } as unknown as ConstructorParameters<typeof Watch>[0]);
    const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
    const elsewhere = { addresses: ['10.0.0.2', '10.0.0.3'], sysName: 'r1' };
    watch.take({
      type: 'watch',
      revision: 1,
      full: true,
      set: [
        {
          deviceId: '01890a5d-ac96-774b-bcce-b302099a8057',
          address: box.address,
          credentialId: credential.id,
          elsewhere,
        },
      ],
      remove: [],
      credentials: [credential],
      intervals: { icmpMs: 15_000, snmpMs: 60_000 },
    });
    while (clock.monotonic() < gone + 40_000) await clock.run(1000);
    watch.stop();
    const at = told.find(({ icmp, snmp }) => icmp === 'down' && snmp !== 'ok')?.at ?? Number.NaN;
    if (!(at - gone <= 23_000)) late.push(at - gone);
  }
  expect(late).toEqual([]);
});

it('a silence is settled once every other address answered since or is reported silent, however late', async () => {
  const clock = new SteppedClock(1_000_000_000_000);
  const gone = 120_000;
  const lost = ['10.0.0.7', '10.0.0.31', '10.0.0.40'];
  const agent = { '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 } as const };
  const boxes = Array.from({ length: 50 }, (_, i) => {
    const address = `10.0.0.${i + 1}`;
    const isThere = (at: number) => at < gone || !lost.includes(address);
    return { address, agent: i === 30 ? agent : null, pingEveryMs: 0, slowMs: 0, isThere };
  });
  const noise = { clock, random: () => 0.5, loss: 0 };
  const told: WatchObservation[] = [];
  const watch = new Watch({
    tools: { echo: noisyEcho(boxes, noise), snmp: async () => noisyEngine(boxes, noise) },
    outbox: { append: async (items: readonly WatchObservation[]) => void told.push(...items) },
    clock,
    log: pino({ level: 'silent' }),
    // A busy host: what is asked waits for its turn.
    pace: { take: () => (clock.monotonic() > gone ? clock.sleep(100) : undefined) },
    scope: { allows: () => true },
    linked: () => true,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
  const ids = new Map(boxes.map(({ address }) => [address, uuidv7()]));
  watch.take({
    type: 'watch',
    revision: 1,
    full: true,
    set: boxes.map(({ address, agent }) => ({
      deviceId: ids.get(address) ?? '',
      address,
      ...(agent && { credentialId: credential.id }),
    })),
    remove: [],
    credentials: [credential],
    intervals: { icmpMs: 15_000, snmpMs: 60_000 },
  });
  while (clock.monotonic() < gone + 120_000) await clock.run(1000);
  watch.stop();
  const silences = told.flatMap(({ deviceId, icmp, snmp, at }, place) =>
    icmp === 'down' && snmp !== 'ok' && lost.some((address) => ids.get(address) === deviceId)
      ? [{ deviceId, at, place }]
      : [],
  );
  const first = lost.map((address) => silences.find(({ deviceId }) => deviceId === ids.get(address)));
  const settledAt = (at: number) => told.findIndex(({ settledUntil = 0 }) => settledUntil >= at);
  for (const each of first) {
    expect(each).toBeDefined();
    // All that fell silent together are reported before any of them is settled, and each is.
    for (const other of first) expect(settledAt(each?.at ?? 0)).toBeGreaterThan(other?.place ?? 0);
  }
  // Nothing is said of it again while nobody falls silent.
  expect(told.filter(({ settledUntil }) => settledUntil !== undefined).length).toBeLessThan(40);
});
