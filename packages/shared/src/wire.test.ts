import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { observation } from './observation.ts';
import { profileSettings } from './profile.ts';
import {
  collectorMessage,
  hearCollectorMessage,
  parseCollectorMessage,
  parseObservation,
  parseServerMessage,
  serverMessage,
} from './protocol.ts';
import {
  type Json,
  LATEST_RECORDED,
  type Path,
  recorded,
  replaced,
  withLaterMember,
  withLaterWord,
} from './testing/wire-messages.ts';
import { each, orElse, type Parsed, readWire, UnknownBySender, untold } from './wire.ts';

const NOT_READ = Symbol('the message is not read');
const LEFT_OUT = Symbol('left out');
/** The item of a list that it stands in is left out. */
const ITEM_LEFT_OUT = Symbol('item left out');

/** What becomes of an unknown word, by where it stands. */
const READ_AS: Record<string, unknown> = {
  type: NOT_READ,
  'ack.stream': NOT_READ,
  'assign.assignment.profile.snmp.ask': 'alive',
  'assign.assignment.profile.snmp.groups.*': ITEM_LEFT_OUT,
  'assign.assignment.profile.rate': 2_000,
  'assign.assignment.profile.ratePerNet': 500,
  'assign.assignment.credentials.*.version': ITEM_LEFT_OUT,
  'assign.assignment.credentials.*.authProtocol': ITEM_LEFT_OUT,
  'assign.assignment.credentials.*.privProtocol': ITEM_LEFT_OUT,
  'watch.credentials.*.version': ITEM_LEFT_OUT,
  'watch.credentials.*.authProtocol': ITEM_LEFT_OUT,
  'watch.credentials.*.privProtocol': ITEM_LEFT_OUT,
  'outcome.result': 'failed',
  'observations.stream': NOT_READ,
  kind: NOT_READ,
  'host.snmp': 'not-asked',
  'device.snmpVersion': LEFT_OUT,
  'rows.table': NOT_READ,
  'rows.rows.*.type': LEFT_OUT,
  'rows.rows.*.protocol': ITEM_LEFT_OUT,
  'rows.rows.*.addresses.*.type': LEFT_OUT,
  'job-end.result': 'failed',
  'watch.icmp': LEFT_OUT,
  'watch.snmp': LEFT_OUT,
  'watch.interfaces.*.duplex': 'unknown',
  'trap.snmpVersion': LEFT_OUT,
  'gap.stream': NOT_READ,
  'samples.gap': LEFT_OUT,
};

interface Reading {
  schema: z.ZodType;
  read: (value: Json) => Parsed<unknown>;
  values: (Json & object)[];
  name: 'type' | 'kind';
}
const READINGS: Record<string, Reading> = {
  'the collector': {
    schema: serverMessage,
    read: (value) => parseServerMessage(JSON.stringify(value)),
    values: recorded('server', LATEST_RECORDED),
    name: 'type',
  },
  'the server': {
    schema: collectorMessage,
    read: (value) => parseCollectorMessage(JSON.stringify(value)),
    // Its items are read each alone, below.
    values: recorded('collector', LATEST_RECORDED).map((one) => (one.items ? { ...one, items: [] } : one)),
    name: 'type',
  },
  'the server, observations': {
    schema: observation,
    read: parseObservation,
    values: recorded('collector', LATEST_RECORDED).flatMap(({ items }) => (items ?? []) as (Json & object)[]),
    name: 'kind',
  },
};

/** Reads it and answers what was read. */
function understood({ read }: Reading, value: Json): unknown {
  const parsed = read(value);
  if (!parsed.ok) throw new Error(`${parsed.reason}: ${JSON.stringify(value)}`);
  return parsed.message;
}
const placeOf = (value: Json, path: Path, name: 'type' | 'kind'): string =>
  path[0] === name
    ? name
    : [
        (value as Record<string, Json>)[name],
        ...path.map((step) => (typeof step === 'number' ? '*' : step)),
      ].join('.');
const itemOf = (path: Path): Path =>
  path.slice(0, path.findLastIndex((step) => typeof step === 'number') + 1);

it('a reason for the gap of one interface that a later version has costs the others nothing', () => {
  const sample = {
    ...{ kind: 'samples', at: 1, deviceId: '01900000-0000-7000-8000-000000000000', overMs: 60_000 },
    ports: {
      ifIndex: [1, 2, 3],
      name: ['a', 'b', 'c'],
      inOctets: [null, 5, null],
      gap: ['sunspots', null, 'renamed'],
    },
  };
  const parsed = parseObservation(sample);
  expect(parsed.ok && parsed.message).toMatchObject({ ports: { gap: ['ambiguous', null, 'renamed'] } });
});

describe.each(Object.entries(READINGS))('%s of this version', (_, reading) => {
  const { values, schema, name } = reading;

  it('reads what the version before says', () => {
    for (const value of values) expect(understood(reading, value)).toEqual(value);
  });

  it('leaves out an unknown member, at every depth', () => {
    let depth = 0;
    for (const value of values)
      for (const later of withLaterMember(value)) {
        depth = Math.max(depth, later.path.length);
        expect(understood(reading, later.value), later.path.join('.')).toEqual(value);
      }
    expect(depth).toBeGreaterThan(1);
  });

  it('reads an unknown word as declared, at every depth, and the rest as it stands', () => {
    for (const value of values)
      for (const { path, value: later } of withLaterWord(schema, value)) {
        const place = placeOf(value, path, name);
        const readAs = READ_AS[place];
        expect(Object.keys(READ_AS)).toContain(place);
        if (readAs === NOT_READ) expect(reading.read(later), place).toMatchObject({ ok: false, newer: true });
        else {
          const gone = readAs === LEFT_OUT || readAs === ITEM_LEFT_OUT;
          const expected = replaced(
            value,
            readAs === ITEM_LEFT_OUT ? itemOf(path) : path,
            gone ? undefined : (readAs as Json),
          );
          expect(understood(reading, later), place).toEqual(expected);
          expect(reading.read(later)).toMatchObject({ unknown: [expect.any(String)] });
        }
      }
  });
});

it('every unknown word that a rule speaks of was tried', () => {
  const tried = Object.values(READINGS).flatMap(({ schema, values, name }) =>
    values.flatMap((value) => withLaterWord(schema, value).map(({ path }) => placeOf(value, path, name))),
  );
  expect([...new Set(tried)].toSorted()).toEqual(Object.keys(READ_AS).toSorted());
});

it('a batch whose head has an unknown member is heard, and its items are left to whoever stores them', () => {
  const [batch] = recorded('collector', LATEST_RECORDED).filter(({ type }) => type === 'observations');
  const frame = Buffer.from(JSON.stringify({ later: 1, ...batch }));
  expect(hearCollectorMessage(frame)).toMatchObject({
    ok: true,
    message: { type: 'observations', from: 0, frame },
  });
});

it('settings that a person sends stay strict', () => {
  const standard = profileSettings.parse({});
  expect(profileSettings.safeParse({ ...standard, later: 1 }).success).toBe(false);
  expect(profileSettings.safeParse({ ...standard, rate: 'later' }).success).toBe(false);
  expect(profileSettings.safeParse({ snmp: { ask: 'later' } }).success).toBe(false);
  expect(profileSettings.safeParse({ snmp: { groups: ['later'] } }).success).toBe(false);
});

describe('reading leniently', () => {
  const schema = z.strictObject({
    level: orElse(z.enum(['low', 'high']), 'low'),
    list: each(z.array(z.object({ n: z.int() }))),
    rows: each(z.array(z.object({ word: z.enum(['a', 'b']), n: z.int() })), 'known'),
  });
  const good = { level: 'high', list: [{ n: 1 }], rows: [{ word: 'a', n: 1 }] };

  it('says what it left out or replaced, each place once', () => {
    const later = {
      ...good,
      level: 'top',
      list: [{ n: 'one' }, { n: 1 }, 5],
      rows: [{ word: 'c', n: 1 }, ...good.rows],
      extra: 1,
    };
    expect(readWire(schema, later)).toEqual({
      ok: true,
      message: { ...good, level: 'low' },
      unknown: ['level', 'list[]', 'rows[]', 'extra'],
    });
    expect(readWire(schema, good)).toEqual({ ok: true, message: good, unknown: [] });
  });

  it('tells what is newer from what is broken', () => {
    expect(readWire(schema, { ...good, level: 5 })).toMatchObject({ ok: false, newer: false });
    expect(readWire(schema, { ...good, rows: [{ word: 'a', n: 'one' }] })).toMatchObject({
      ok: false,
      newer: false,
    });
    expect(readWire(schema, { ...good, rows: [{ word: 'c', n: 'one' }] })).toMatchObject({
      ok: false,
      newer: false,
    });
    expect(readWire(z.object({ word: z.enum(['a']) }), { word: 'b' })).toEqual({
      ok: false,
      newer: true,
      reason: expect.stringMatching(/^word: /),
    });
    expect(readWire(z.object({ word: z.enum(['a']) }), {})).toMatchObject({ ok: false, newer: false });
  });

  it('takes nothing from a prototype', () => {
    const message = JSON.parse('{"__proto__":{"level":"high"},"level":"top","list":[],"rows":[]}');
    expect(readWire(schema, message)).toMatchObject({ ok: true, message: { level: 'low' } });
  });
});

it('a fence is what a server can store, in every message that has one, so no server makes a collector say another', () => {
  const setFence = (value: Json, fence: number): Json =>
    JSON.parse(JSON.stringify(value), (key, old) => (key === 'fence' ? fence : old));
  const tried = Object.values(READINGS).flatMap(({ read, values, name }) =>
    values
      .filter((value) => JSON.stringify(value).includes('"fence"'))
      .map((value) => {
        const { ok } = read(setFence(value, 2 ** 31 - 1));
        return [(value as Record<string, Json>)[name], ok, read(setFence(value, 2 ** 31)).ok];
      }),
  );
  expect(Object.fromEntries(tried.map(([name, ...read]) => [name, read]))).toEqual(
    Object.fromEntries(
      ['assign', 'cancel', 'working', 'progress', 'outcome', 'outcomes', 'job-end'].map((name) => [
        name,
        [true, false],
      ]),
    ),
  );
});

it('logs an unknown place once, and a hundred places at most', () => {
  const told = new Set<string>();
  expect(untold(told, 'watch', ['a', 'b'])).toEqual(['watch.a', 'watch.b']);
  expect(untold(told, 'watch', ['a', 'c'])).toEqual(['watch.c']);
  const many = Array.from({ length: 5000 }, (_, i) => `${i}`);
  expect(untold(told, 'watch', many)).toHaveLength(97);
  expect(untold(told, 'watch', ['d'])).toEqual([]);
});

it('counts the unknown places of each sender apart', () => {
  const logged = new UnknownBySender();
  const many = Array.from({ length: 5000 }, (_, i) => `${i}`);
  expect(logged.untold('noisy', 'watch', many)).toHaveLength(100);
  expect(logged.untold('noisy', 'watch', ['a'])).toEqual([]);
  expect(logged.untold('quiet', 'watch', ['a', 'b'])).toEqual(['watch.a', 'watch.b']);
  expect(logged.untold('quiet', 'watch', ['a'])).toEqual([]);
});
