import type { Value, Varbind } from '@rollcall/snmp/message/pdu';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTables } from './catalogue.ts';
import { decodeTables } from './decode.ts';
import { hostResources } from './host.ts';
import { spaceOf } from './memory.ts';
import { Names } from './names.ts';
import { SENT, stepOf } from './scale.ts';
import { isDark, isMarker, Values } from './values.ts';

const PREFIX = '1.3.6.1.4.1.99.';
const ENTRY = `${PREFIX}1.2.1`;

/** Column → index → value; numbers are integers, strings are texts. */
function valuesOf(columns: Record<string, Record<string, number | string>>): Values {
  const values = new Values();
  for (const [column, rows] of Object.entries(columns))
    for (const [index, shown] of Object.entries(rows)) {
      const value: Value =
        typeof shown === 'number'
          ? { type: 'integer', value: shown }
          : { type: 'octets', value: Buffer.from(shown) };
      values.put(column, index, { oid: `${column}.${index}`, ...value } as Varbind);
    }
  return values;
}

const TABLE = (readings: unknown[], more = {}) =>
  parseTables(
    JSON.stringify({ z: ['1onormal,2wwarning'], t: [{ e: '1.2.1', ...more, r: readings }] }),
    PREFIX,
  );
const decode = (tables: ReturnType<typeof TABLE>, values: Values) =>
  decodeTables(tables, values, new Names(values)).map(({ name, kind, value, state, limits }) => [
    name,
    kind,
    value ?? state,
    ...(limits ? [limits] : []),
  ]);

describe('readings whose kind only a text tells', () => {
  it('a scalar that another scalar names', () => {
    const tables = TABLE([[2, 'dynamic', 1, 'sensor1 value', { by: {}, m: '1.2.1.1' }]], { s: 1 });
    const values = valuesOf({ [`${ENTRY}.1`]: { 0: 'Rack back Temp' }, [`${ENTRY}.2`]: { 0: '26.44' } });
    expect(decode(tables, values)).toEqual([['Rack back Temp', 'temperature', 26.44]]);
  });

  it.each([
    ['as its only row', { 1: 41 }, [41]],
    ['beside rows of another object', { 0: 41, 1: 90, '1.7': 90 }, [41]],
    ['nowhere: it is a table of something else', { 1: 41, 2: 90 }, []],
    ['nowhere: what stands deeper is another object', { '1.7': 90 }, []],
  ])('a scalar that an agent shows %s', (_, rows, loads) => {
    const tables = TABLE([[2, 'processor', 1, 'cpu usage', { k: 1 }]], { s: 1 });
    const found = decode(tables, valuesOf({ [`${ENTRY}.2`]: rows }));
    expect(found.map(([, , value]) => value)).toEqual(loads);
  });

  it('a name that tells nothing, and a row that leaves its unit empty, are no reading', () => {
    const named = TABLE([[2, 'dynamic', 1, 'sensor1 value', { by: {}, m: '1.2.1.1' }]], { s: 1 });
    const ping = valuesOf({ [`${ENTRY}.1`]: { 0: 'Ping gateway' }, [`${ENTRY}.2`]: { 0: '1.00' } });
    expect(decode(named, ping)).toEqual([]);
    const rows = TABLE([[2, 'dynamic', 1, 'value', { by: { unitText: [3] } }]], { n: '1.2.1.1' });
    const values = valuesOf({
      [`${ENTRY}.1`]: { 1: 'Temperature', 2: 'Temperature status' },
      [`${ENTRY}.2`]: { 1: 24, 2: 4 },
      [`${ENTRY}.3`]: { 1: 'degree C', 2: '' },
    });
    expect(decode(rows, values).map(([, kind, value]) => [kind, value])).toEqual([['temperature', 24]]);
  });

  it('what optics measure, a row for each kind, in hundredths and microamperes; limits alike', () => {
    const l = { h: [3], l: [4] };
    const tables = TABLE([[2, 'dynamic', 1, 'ddmi', { by: {}, c: 'optics', l }]], { n: '1.2.1.1' });
    const values = valuesOf({
      [`${ENTRY}.1`]: { 1: 'Temperature', 2: 'Voltage', 3: 'TxBias', 4: 'TxPower', 5: 'RxPower' },
      [`${ENTRY}.2`]: { 1: 3661, 2: 325, 3: 2164, 4: -628, 5: -730 },
      [`${ENTRY}.3`]: { 1: 9000, 4: -200 },
      [`${ENTRY}.4`]: { 1: -4500, 4: -1000 },
    });
    expect(decode(tables, values)).toEqual([
      ['Temperature ddmi', 'temperature', 36.61, { high: 90, low: -45 }],
      ['Voltage ddmi', 'voltage', 3.25],
      ['TxBias ddmi', 'current', 0.02164],
      ['TxPower ddmi', 'signal-power', -6.28, { high: -2, low: -10 }],
      ['RxPower ddmi', 'signal-power', -7.3],
    ]);
  });

  it('millivolts of parts of a mother board', () => {
    const tables = TABLE([[2, 'dynamic', 1, 'value', { by: {} }]], { n: '1.2.1.1' });
    const values = valuesOf({
      [`${ENTRY}.1`]: {
        1: 'BatteryVoltage',
        2: 'CPU0CoreVoltage',
        3: '+12.0VSupplyVoltage',
        4: 'AuxiliaryFan0',
      },
      [`${ENTRY}.2`]: { 1: 3088, 2: 1184, 3: 12084, 4: 0 },
    });
    expect(decode(tables, values).map(([, kind, value]) => [kind, value])).toEqual([
      ['voltage', 3.088],
      ['voltage', 1.184],
      ['voltage', 12.084],
      ['fan', 0],
    ]);
  });
});

it('a power factor is at most 1, whatever it is counted in', () => {
  const tables = TABLE([[2, 'power-factor', 1, 'power factor', { q: 1 }]]);
  const values = valuesOf({ [`${ENTRY}.2`]: { 1: 98, 2: 100, 3: 0 } });
  expect(decode(tables, values).map(([, , value]) => value)).toEqual([0.98, 1, 0]);
});

it('a rate is what its MIB says, or its text', () => {
  const tables = TABLE([[2, 'bitrate', 1000, 'rx capacity', {}]]);
  const values = valuesOf({ [`${ENTRY}.2`]: { 1: 4_294_967, 2: '1.5 Mbps' } });
  expect(decode(tables, values).map(([, , value]) => value)).toEqual([4_294_967_000, 1_500_000]);
});

it('transceivers run on 3.3 V, whatever the MIB says', () => {
  const tables = TABLE([[2, 'voltage', 1, 'sfp voltage', {}]]);
  const values = valuesOf({ [`${ENTRY}.2`]: { 1: 327, 2: 330 } });
  expect(decode(tables, values).map(([, , value]) => value)).toEqual([3.27, 3.3]);
});

it('a number of a column that may hold a state or a temperature is one of them', () => {
  const tables = TABLE([
    [9, 'state', 1, 'fan status', { c: 'fan', z: 0 }],
    [9, 'temperature', 1, 'temp sensor value', { n: [1, 2] }],
  ]);
  expect(decode(tables, valuesOf({ [`${ENTRY}.9`]: { 1: 45, 2: 1 } }))).toEqual([
    ['Fan status 2', 'state', 'normal'],
    ['Temp sensor value 1', 'temperature', 45],
  ]);
});

it('what a table of storage calls RAM is memory', () => {
  const storage = TABLE(
    [
      [4, 'storage', 1024, 'storage size', { o: 'total', g: 'storage' }],
      [5, 'storage', 1024, 'storage available', { o: 'free', g: 'storage' }],
    ],
    { n: '1.2.1.3' },
  );
  const space = valuesOf({
    [`${ENTRY}.3`]: { 1: 'RAM device 1', 2: 'Internal Flash Storage' },
    [`${ENTRY}.4`]: { 1: 262_140, 2: 262_139 },
    [`${ENTRY}.5`]: { 1: 131_070, 2: 131_070 },
  });
  expect(decode(storage, space).map(([, kind]) => kind)).toEqual(['memory', 'storage']);
});

it('memory that an agent lists among its disks is memory', () => {
  const at = (column: number) => `1.3.6.1.2.1.25.2.3.1.${column}`;
  const values = valuesOf({
    [at(3)]: { 1: '/var', 101: 'Real Memory' },
    [at(4)]: { 1: 1024, 101: 1024 },
    [at(5)]: { 1: 1000, 101: 1000 },
    [at(6)]: { 1: 100, 101: 70 },
  });
  const told = hostResources.decode(values, new Names(values)).map(({ name, kind }) => [name, kind]);
  expect(told).toEqual([
    ['/var', 'storage'],
    ['Real Memory', 'memory'],
  ]);
});

describe('levels of light', () => {
  it('what is sent tells the scale of what is received, dark ports nothing', () => {
    const tables = TABLE([
      [2, 'signal-power', 1, 'rx power', { c: 'optics', q: 1 }],
      [3, 'signal-power', 1, 'tx power', { c: 'optics', q: 1 }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: -243, 2: -10000 },
      [`${ENTRY}.3`]: { 1: -189, 2: -10000 },
    });
    expect(decode(tables, values).map(([, , value]) => value)).toEqual([-2.43, -1.89]);
  });

  it('a level that none measures is dark in any scale', () => {
    for (const raw of [-40, -4000, -99, -99.9, -990, -9999, -10000])
      expect(isDark(raw), String(raw)).toBe(true);
    for (const raw of [-1, -41, -189, 40, 100, 0]) expect(isDark(raw), String(raw)).toBe(false);
    fc.assert(fc.property(fc.integer({ min: 0 }), (raw) => !isDark(raw)));
  });

  it('finds the scale that light was sent in, whatever it is', () => {
    const sent = fc.array(fc.double({ min: -9, max: -1.3, noNaN: true }), { minLength: 1, maxLength: 48 });
    fc.assert(
      fc.property(sent, fc.constantFrom(100, 1000), (levels, scale) => {
        const raw = levels.map((level) => Math.round(level * scale));
        const step = stepOf('signal-power', raw, {
          factor: 1,
          guessed: true,
          component: 'optics',
          within: SENT,
        });
        expect(step).toBeCloseTo(1 / scale, 9);
      }),
    );
  });

  it('is a positive step of any numbers', () => {
    const kinds = fc.constantFrom('signal-power', 'voltage', 'current', 'temperature', 'power', 'humidity');
    fc.assert(
      fc.property(kinds, fc.array(fc.integer()), fc.boolean(), (kind, raw, guessed) => {
        const step = stepOf(kind as 'voltage', raw, { factor: 1, guessed });
        expect(step).toBeGreaterThan(0);
        expect(step).toBeLessThanOrEqual(1);
      }),
    );
  });
});

it('the largest number of 16 bits is none in tenths either', () => {
  expect(isMarker('temperature', 327670)).toBe(true);
  expect(isMarker('temperature', 32760)).toBe(false);
});

describe('space that is counted piece by piece', () => {
  it.each([
    ['all in use, and a little more when it was counted', { used: 100_200, total: 100_000 }, 100],
    ['more than there is', { used: 120_000, total: 100_000 }, undefined],
    ['of what is used and free', { used: 60, free: 40 }, 60],
  ])('%s', (_, shown, value) => {
    expect(spaceOf(shown)?.value).toBe(value);
  });

  it('is never more than all of it', () => {
    const amount = fc.nat({ max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(amount, amount, (used, total) => {
        const shown = spaceOf({ used, total });
        expect(shown === undefined || (shown.usedBytes as number) <= (shown.totalBytes as number)).toBe(true);
      }),
    );
  });
});
