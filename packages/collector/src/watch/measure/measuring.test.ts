import type { Observation } from '@rollcall/shared/observation';
import { type Samples, samples as schema } from '@rollcall/shared/samples';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { Value } from '@rollcall/snmp/message/pdu';
import { type Asked, community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { echoOf } from '../../testing/fake-network.ts';
import { fastClock } from '../../testing/fast-clock.ts';
import { Target } from '../target.ts';
import { Watch } from '../watch.ts';
import { ALL_COLUMNS } from './columns.ts';
import { CounterRow, Counters } from './counters.ts';
import { RAW } from './growth.ts';
import { Measuring } from './measuring.ts';
import { intervalFor } from './pace.ts';
import { partsOf } from './sensing.ts';
import { PingTally } from './tally.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ENTRY = '1.3.6.1.2.1.2.2.1';
const X_ENTRY = '1.3.6.1.2.1.31.1.1.1';
const UPTIME = '1.3.6.1.2.1.1.3.0';
const integer = (value: number): Value => ({ type: 'integer', value });
const counter32 = (value: number): Value => ({ type: 'counter32', value });
const counter64 = (value: bigint): Value => ({ type: 'counter64', value });
const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });

/** A device with two ports, watched by a collector that no server hears. */
async function measured(objects: Record<string, Value>, { snmp = true, loses = false } = {}) {
  const fast = fastClock(10);
  const clock = { ...fast, now: () => Date.UTC(2026, 0) + fast.monotonic() };
  const asked: Asked[] = [];
  const agent = await FakeAgent.start(
    community((request) => {
      asked.push(request);
      return honest(objects)(request);
    }),
  );
  closing.push(() => agent.close());
  const engine = await SnmpEngine.open({ clock });
  closing.push(() => engine.close());
  const told: Samples[] = [];
  let pings = 0;
  const watch = new Watch({
    tools: {
      echo: echoOf(() => {
        pings += 1;
        return loses && pings % 4 === 3 ? undefined : 1 + (pings % 4);
      }),
      snmp: async () => engine,
    },
    outbox: {
      append: async (items: readonly Observation[]) => {
        for (const item of items) if (item.kind === 'samples') told.push(schema.parse(item));
      },
    },
    clock,
    log: pino({ level: 'silent' }),
    pace: { take: async () => undefined },
    scope: { allows: () => true },
    linked: () => false,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  closing.push(() => watch.stop());
  const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
  const target = { deviceId: uuidv7(), address: '127.0.0.1' };
  watch.take({
    type: 'watch',
    revision: 1,
    full: true,
    set: [{ ...target, ...(snmp ? { credentialId: credential.id } : {}) }],
    remove: [],
    credentials: [credential],
    intervals: { icmpMs: 1000, snmpMs: 4000 },
    port: agent.port,
  });
  const until = (fits: (told: Samples[]) => boolean) =>
    expect.poll(() => fits(told), { timeout: 30_000, interval: 5 }).toBe(true);
  return { told, asked, until };
}

/** IF-MIB of two ports at 1 Gb/s. */
function device(high: boolean): Record<string, Value> {
  const objects: Record<string, Value> = { [UPTIME]: { type: 'timeticks', value: 1000 } };
  for (const port of [1, 2]) {
    objects[`${ENTRY}.2.${port}`] = text(`Ethernet ${port}`);
    objects[`${ENTRY}.5.${port}`] = { type: 'gauge32', value: 1e9 };
    for (const column of [7, 8]) objects[`${ENTRY}.${column}.${port}`] = integer(1);
    for (const column of [10, 11, 12, 13, 14, 16, 17, 18, 19, 20])
      objects[`${ENTRY}.${column}.${port}`] = counter32(0);
    if (!high) continue;
    objects[`${X_ENTRY}.1.${port}`] = text(`e${port}`);
    for (const column of [6, 7, 8, 9, 10, 11, 12, 13])
      objects[`${X_ENTRY}.${column}.${port}`] = counter64(2n ** 60n);
  }
  return objects;
}
const sum = (told: Samples[], counter: 'inOctets' | 'inErrors', at = 0) =>
  told.reduce((all, { ports }) => all + (ports?.[counter]?.[at] ?? 0), 0);
const columnsAsked = (asked: Asked[]) =>
  new Set(asked.flatMap(({ varbinds }) => varbinds.map(({ oid }) => oid)));

describe('a device that is measured', () => {
  it('tells the growth of its counters, to the last octet, also while nobody hears', async () => {
    const objects = device(true);
    const { told, until } = await measured(objects);
    await until(() => told.some(({ ping }) => ping) && told.some(({ gap }) => gap === 'first-reading'));
    objects[`${X_ENTRY}.6.1`] = counter64(2n ** 60n + 1001n);
    objects[`${ENTRY}.14.1`] = counter32(3);
    await until(() => sum(told, 'inOctets') > 0);
    objects[`${X_ENTRY}.6.1`] = counter64(2n ** 60n + 5004n);
    await until(() => sum(told, 'inOctets') === 5004);
    // What a counter says first has grown from nothing that is known.
    expect(told.findIndex(({ gap }) => gap === 'first-reading')).toBeLessThan(
      told.findIndex(({ ports }) => ports),
    );
    expect(sum(told, 'inErrors')).toBe(3);
    expect(sum(told, 'inOctets', 1)).toBe(0);
    const last = told.findLast(({ ports }) => ports);
    expect(last?.ports).toMatchObject({ ifIndex: [1, 2], name: ['e1', 'e2'], inNonUnicast: [0, 0] });
    expect(last?.ping?.sent).toBeGreaterThan(0);
    // Every moment of it is told of once.
    const spans = told.map(({ at, overMs }) => [at - overMs, at]);
    for (const [i, [begin = 0]] of spans.entries())
      if (i > 0) expect(Math.abs(begin - (spans[i - 1]?.[1] ?? 0))).toBeLessThan(3);
  });

  it('is asked for its 32-bit counters where it has no others, and no more for those', async () => {
    const objects = device(false);
    const { told, asked, until } = await measured(objects);
    await until(() => told.some(({ gap }) => gap === 'first-reading'));
    asked.length = 0;
    objects[`${ENTRY}.10.2`] = counter32(700);
    objects[`${ENTRY}.18.2`] = counter32(8);
    await until(() => sum(told, 'inOctets', 1) === 700);
    const { ports } = told.find((one) => sum([one], 'inOctets', 1) > 0) ?? {};
    expect(ports).toMatchObject({ name: ['Ethernet 1', 'Ethernet 2'], outNonUnicast: [0, 8] });
    expect(columnsAsked(asked)).not.toContain(`${X_ENTRY}.6`);
    expect(columnsAsked(asked)).toContain(`${ENTRY}.10`);
  });

  it('says why growth is not known, and goes on from there', async () => {
    const objects = device(true);
    const { told, until } = await measured(objects);
    await until(() => told.filter(({ ports }) => ports).length > 0);
    objects[UPTIME] = { type: 'timeticks', value: 5 };
    for (const column of [6, 10]) objects[`${X_ENTRY}.${column}.1`] = counter64(9n);
    await until(() => told.some(({ gap }) => gap === 'restarted'));
    objects[`${X_ENTRY}.6.1`] = counter64(29n);
    await until(() => sum(told, 'inOctets') > 0);
    expect(sum(told, 'inOctets')).toBe(20);
    objects[`${X_ENTRY}.10.1`] = counter64(0n);
    await until(() => told.some(({ ports }) => ports?.gap));
    expect(told.find(({ ports }) => ports?.gap)?.ports).toMatchObject({
      inOctets: [null, 0],
      gap: ['counters-reset', null],
    });
  });

  it('tells its sensors in samples of their own, the last of them whether that is all', async () => {
    const SENSOR = '1.3.6.1.2.1.99.1.1.1';
    const objects = device(true);
    for (let sensor = 1; sensor <= 450; sensor++)
      for (const [column, value] of [8, 9, 0, 20 + (sensor % 40), 1].entries())
        objects[`${SENSOR}.${column + 1}.${sensor}`] = integer(value);
    const { told, until } = await measured(objects);
    await until(() => told.some(({ sensorsComplete }) => sensorsComplete === true));
    const parts = told.filter(({ sensors }) => sensors);
    expect(parts.map(({ sensors }) => sensors?.length)).toEqual([300, 150]);
    expect(parts.map(({ sensorsComplete }) => sensorsComplete)).toEqual([undefined, true]);
    expect(parts[0]?.sensors?.[0]).toMatchObject({ key: `${SENSOR}.4.1`, kind: 'temperature', value: 21 });
    expect(parts.every(({ ports, ping, overMs }) => !ports && !ping && overMs === 300_000)).toBe(true);
  });

  it('tells its pings where it has no agent', async () => {
    const { told, until } = await measured({}, { snmp: false, loses: true });
    await until(() => told.length >= 4);
    for (const { ping, ports, gap } of told) {
      expect([ports, gap]).toEqual([undefined, undefined]);
      expect(ping?.lost).toBeLessThanOrEqual(ping?.sent ?? 0);
      expect(ping?.avgMs).toBeGreaterThanOrEqual(ping?.minMs ?? 99);
      expect(ping?.avgMs).toBeLessThanOrEqual(ping?.maxMs ?? 0);
    }
    expect(told.reduce((all, { ping }) => all + (ping?.lost ?? 0), 0)).toBeGreaterThan(0);
  });
});

it('sensors are told in parts that fit one observation, whatever their names', () => {
  for (const name of ['Inlet', '\u0001'.repeat(255), '€'.repeat(255)]) {
    const sensors = Array.from({ length: 1500 }, (_, i) => ({
      key: `1.3.${i}`,
      kind: 'state' as const,
      name,
    }));
    const parts = partsOf(sensors);
    expect(parts.flat()).toEqual(sensors);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(300);
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(88 * 1024);
    }
  }
  expect(partsOf([])).toEqual([[]]);
});

describe('samples that cannot wait for the disk', () => {
  it('are made later, over a longer time: nothing is lost', () => {
    const clock = new ManualClock();
    const queue = {
      isFull: false,
      told: [] as Samples[],
      add: (one: Observation) => !!queue.told.push(one as Samples),
    };
    const measuring = new Measuring({ clock, log: pino({ level: 'silent' }) }, queue);
    const target = new Target({ deviceId: uuidv7(), address: '192.0.2.1' }, null);
    const read = (minute: number, octets: bigint, full: boolean) => {
      const row = new CounterRow();
      row.put(RAW.indexOf('inOctets'), { value: octets, wide: true });
      const at = minute * 60_000;
      queue.isFull = full;
      target.tally.missed();
      measuring.read(
        target,
        {
          ok: true,
          uptime: null,
          hasBoots: false,
          ports: new Map(),
          counters: new Map([[1, row]]),
          columns: ALL_COLUMNS,
          at,
          tookMs: 1,
          complete: true,
        },
        false,
        60_000,
        () => 1e9,
      );
    };
    read(1, 1000n, false);
    read(2, 2000n, true);
    read(3, 3000n, true);
    read(4, 4000n, false);
    expect(queue.told).toMatchObject([
      { overMs: 60_000, gap: 'first-reading', ping: { sent: 1 } },
      { overMs: 180_000, ports: { inOctets: [3000] }, ping: { sent: 3 } },
    ]);
  });
});

describe('the counters of a device', () => {
  const table = (count: number, name: (port: number) => string) =>
    new Map(
      Array.from({ length: count }, (_, i) => {
        const row = new CounterRow();
        row.name = name(i + 1);
        for (const at of RAW.keys()) row.put(at, { value: BigInt(i), wide: true });
        return [i + 1, row] as const;
      }),
    );
  const speed = () => 1e9;

  it('are told in pieces that fit one observation, whatever the names', () => {
    for (const name of [(port: number) => `e${port}`, () => '\u0001'.repeat(255), () => '€'.repeat(255)]) {
      const counters = new Counters();
      counters.take(table(1203, name), 0, speed);
      const pieces = counters.take(table(1203, name), 60_000, speed);
      expect(pieces.flatMap(({ ifIndex }) => ifIndex)).toEqual(Array.from({ length: 1203 }, (_, i) => i + 1));
      for (const ports of pieces) {
        expect(Buffer.byteLength(JSON.stringify(ports))).toBeLessThan(88 * 1024);
        expect(ports.ifIndex.length).toBeLessThanOrEqual(500);
      }
    }
  });

  it('follow interfaces that come and go', () => {
    const counters = new Counters();
    counters.take(table(3, String), 0, speed);
    const fewer = new Map([...table(3, String)].filter(([port]) => port !== 2));
    const pieces = counters.take(fewer, 60_000, speed);
    expect(pieces[0]).toMatchObject({ ifIndex: [1, 3], inOctets: [0, 0] });
    expect(counters.take(table(3, String), 120_000, speed)[0]).toMatchObject({
      ifIndex: [1, 2, 3],
      inOctets: [0, null, 0],
      gap: [null, 'first-reading', null],
    });
  });
});

it.each([
  ['at once', 0, 60_000],
  ['within its share of the time', 15_000, 60_000],
  ['longer', 15_001, 120_000],
  ['much longer', 50_000, 240_000],
  ['longer than anybody', 1e9, 900_000],
])('an agent that answers %s is read as often as that allows', (_, tookMs, every) => {
  expect(intervalFor(60_000, tookMs)).toBe(every);
});

it('pings of an interval are counted when they are decided', () => {
  const tally = new PingTally();
  expect(tally.take()).toBeUndefined();
  for (const ms of [2, 4.00049, 3]) tally.answered(ms);
  tally.missed();
  expect(tally.take()).toEqual({ sent: 4, lost: 1, minMs: 2, avgMs: 3, maxMs: 4 });
  tally.missed();
  expect(tally.take()).toEqual({ sent: 1, lost: 1 });
});
