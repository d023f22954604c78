import { SENSOR_KINDS, SENSOR_UNITS, type SensorReading, sensorReading } from '@rollcall/shared/sensors';
import type { Value, Varbind } from '@rollcall/snmp/message/pdu';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOfTables, parseTables, tablesOf } from './catalogue.ts';
import { decodeTables } from './decode.ts';
import { ciscoEntitySensor, entitySensor, entityState } from './entity-sensor.ts';
import { hostResources, ucd } from './host.ts';
import { Names } from './names.ts';
import { withoutDoubles } from './read.ts';
import { stepOf } from './scale.ts';
import { bgp, ospf } from './sessions.ts';
import { powerEthernet, printer } from './supplies.ts';
import { canBe, isMarker, shownBy, unitOf, Values } from './values.ts';

const integer = (value: number): Value => ({ type: 'integer', value });
const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });
const oid = (value: string): Value => ({ type: 'oid', value });

/** Column → index → value; numbers are integers, strings are texts. */
function valuesOf(columns: Record<string, Record<string, number | string | Value>>): Values {
  const values = new Values();
  for (const [column, rows] of Object.entries(columns))
    for (const [index, shown] of Object.entries(rows)) {
      const value =
        typeof shown === 'number' ? integer(shown) : typeof shown === 'string' ? text(shown) : shown;
      values.put(column, index, { oid: `${column}.${index}`, ...value } as Varbind);
    }
  return values;
}

const brief = (readings: readonly SensorReading[]) =>
  readings.map(({ name, kind, value, state, status, limits }) => ({
    name,
    kind,
    ...(value === undefined ? {} : { value }),
    ...(state === undefined ? {} : { state, status }),
    ...(limits ? { limits } : {}),
  }));

describe('a number as agents show it', () => {
  it.each([
    [integer(35), { value: 35 }],
    [text('35'), { value: 35 }],
    [text('35.5 C'), { value: 35.5, unit: 'C', decimal: true }],
    [text('-2.50 dBm'), { value: -2.5, unit: 'dBm', decimal: true }],
    [text('CPU Temperature-Ctlr B: 61 C 141.80F'), { value: 61, unit: 'C' }],
    [
      { type: 'opaque', value: Buffer.from('9f780441cc0000', 'hex') } as Value,
      { value: 25.5, decimal: true },
    ],
    [{ type: 'counter64', value: 7n } as Value, { value: 7 }],
    [text('    5 Secs ( 35.13%)   60 Secs ( 30.2%)'), { value: 35.13, unit: '%', decimal: true }],
    [text('N/A'), undefined],
    [text('10.0.0.1'), undefined],
    [text('2024-01-02'), undefined],
    [text(''), undefined],
    [{ type: 'opaque', value: Buffer.from('9f78047fc00000', 'hex') } as Value, undefined],
  ])('%#', (value, shown) => {
    expect(shownBy({ oid: '1.3', ...value } as Varbind)).toEqual(shown);
  });

  it('never throws, and is a number or nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 140 }), fc.constantFrom('octets', 'opaque'), (bytes, type) => {
        const shown = shownBy({ oid: '1.3', type, value: Buffer.from(bytes) } as Varbind);
        expect(shown === undefined || Number.isFinite(shown.value)).toBe(true);
      }),
    );
  });
});

it.each([
  ['mV', 'voltage', 0.001],
  ['Volts', 'voltage', 1],
  ['degree C', 'temperature', 1],
  ['RPM', 'fan', 1],
  ['kW', 'power', 1000],
  ['dBm', 'signal-power', 1],
  ['%', 'percent', 1],
])('the unit %s is %s × %d', (unit, kind, factor) => {
  expect(unitOf(unit)).toMatchObject({ kind, factor });
});

it.each([
  ['temperature', 2147483647],
  ['temperature', -2147483648],
  ['temperature', 65535],
  ['temperature', -128],
  ['voltage', 65535],
  ['charge', -1],
  ['signal-power', -9999],
] as const)('%s %d is no reading', (kind, raw) => {
  expect(isMarker(kind, raw)).toBe(true);
});

describe('the scale of a column', () => {
  const stated = { factor: 1, guessed: false };
  const guess = { factor: 1, guessed: true };
  it.each([
    ['as it is', 'temperature', [35, 41], stated, 1],
    ['tenths that the MIB does not tell', 'temperature', [235, 241, 198], stated, 0.1],
    ['one broken probe moves no other', 'temperature', [35, 41, 4000], stated, 1],
    ['units where the MIB says tenths', 'temperature', [2.9, 3.1, 4.4], { ...stated, factor: 0.1 }, 10],
    ['a freezer', 'temperature', [-18, -20], stated, 1],
    ['millivolts of a line', 'voltage', [238_440, 237_830], guess, 0.001],
    ['tenths of a line', 'voltage', [2301, 2295], guess, 0.1],
    ['a line as it is', 'voltage', [230, 231], guess, 1],
    ['frequency in tenths', 'frequency', [499, 501], guess, 0.1],
    ['hundredths of dBm', 'signal-power', [-1088, -257], stated, 0.01],
    ['a laser in milliamperes', 'current', [39.5, 41], { ...stated, component: 'optics' }, 0.001],
    ['seconds of a battery', 'runtime', [7260], guess, 1 / 60],
    ['no reading beside sound ones', 'voltage', [238_440, -2_000_000, -2_000_000], guess, 0.001],
    ['nothing to tell from', 'temperature', [0, 0], guess, 1],
  ] as const)('%s', (_, kind, values, scale, step) => {
    expect(stepOf(kind, values, scale)).toBeCloseTo(step, 9);
  });
});

const TABLE = (readings: unknown[], more = {}) =>
  parseTables(
    JSON.stringify({ z: ['1oup,2cfailed,3unotPresent'], t: [{ e: '1.2.1', ...more, r: readings }] }),
    '1.3.6.1.4.1.99.',
  );
const PREFIX = '1.3.6.1.4.1.99.';
const ENTRY = `${PREFIX}1.2.1`;
const decode = (tables: ReturnType<typeof TABLE>, values: Values) =>
  brief(decodeTables(tables, values, new Names(values)));

describe('tables of the catalogue', () => {
  it('names its rows, scales, and keeps limits with the reading’s scale', () => {
    const tables = TABLE(
      [[3, 'temperature', 0.1, 'chassis temperature', { k: 1, l: { h: [4], hw: [5], l: [6] } }]],
      {
        n: '1.2.1.2',
      },
    );
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 'Inlet', 2: 'Outlet' },
      [`${ENTRY}.3`]: { 1: 235, 2: 65535 },
      [`${ENTRY}.4`]: { 1: 600 },
      [`${ENTRY}.5`]: { 1: 0 },
      [`${ENTRY}.6`]: { 1: 50 },
    });
    expect(decode(tables, values)).toEqual([
      { name: 'Inlet chassis temperature', kind: 'temperature', value: 23.5, limits: { high: 60, low: 5 } },
    ]);
  });

  it('reads limits out of another table with the same index', () => {
    const tables = TABLE([[3, 'voltage', 0.001, 'rail', { k: 1, l: { h: ['9.1.2'], l: ['9.1.3', 1] } }]]);
    const values = valuesOf({
      [`${ENTRY}.3`]: { 1: 3300 },
      [`${PREFIX}9.1.2`]: { 1: 3600 },
      [`${PREFIX}9.1.3`]: { 1: 3 },
    });
    expect(columnsOfTables(tables)).toContain(`${PREFIX}9.1.2`);
    expect(decode(tables, values)).toMatchObject([{ value: 3.3, limits: { high: 3.6, low: 3 } }]);
  });

  it('scales the limits of a sensor whose row says its unit as its value', () => {
    const tables = TABLE([[2, 'dynamic', 1, 'value', { by: { unitText: [4] }, l: { h: [5], lw: [6] } }]]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 900 },
      [`${ENTRY}.4`]: { 1: 'mA' },
      [`${ENTRY}.5`]: { 1: 1500 },
      [`${ENTRY}.6`]: { 1: 200 },
    });
    expect(decode(tables, values)).toMatchObject([
      { kind: 'current', value: 0.9, limits: { high: 1.5, lowWarning: 0.2 } },
    ]);
  });

  it.each<[string, string, Record<string, number>, object | undefined]>([
    ['in °F beside °C', 'temperature', { h: 95, l: 40 }, { high: 95 }],
    ['of nothing', 'temperature', { h: 0, hw: -1, l: 5 }, { low: 5 }],
    ['of a high that no box keeps', 'temperature', { h: 13, l: 7 }, { low: 7 }],
    ['in the wrong order', 'voltage', { h: 3, l: 5, hw: 4, lw: 2 }, { highWarning: 4, lowWarning: 2 }],
    ['of 0 dBm', 'signal-power', { h: 0, l: -12 }, { high: 0, low: -12 }],
  ])('limits %s: keeps what was set', (_what, kind, told, kept) => {
    const columns = Object.keys(told);
    const l = Object.fromEntries(columns.map((side, i) => [side, [10 + i]]));
    const tables = TABLE([[2, kind, 1, 'reading', { k: 1, l }]]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 22 },
      ...Object.fromEntries(columns.map((side, i) => [`${ENTRY}.${10 + i}`, { 1: told[side] as number }])),
    });
    expect(decode(tables, values)[0]?.limits).toEqual(kept);
  });

  it('reads hundredths of dBm beside light in microwatts', () => {
    const tables = TABLE([
      [2, 'signal-power', 1e-6, 'rx power', { c: 'optics', u: 'mW', l: { h: [3], l: [4] } }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 7: 536 },
      [`${ENTRY}.3`]: { 7: 250 },
      [`${ENTRY}.4`]: { 7: -1850 },
    });
    expect(decode(tables, values)).toMatchObject([{ value: -2.70835, limits: { high: 2.5, low: -18.5 } }]);
  });

  it('reads limits in microwatts of light that is told in dBm as well', () => {
    const l = { h: [4], l: [5] };
    const tables = TABLE([
      [2, 'signal-power', 1e-7, 'rx power', { k: 1, u: 'mW', l }],
      [3, 'signal-power', 1, 'rx power dbm', { k: 1, l }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 7: 515 },
      [`${ENTRY}.3`]: { 7: '-12.88' },
      [`${ENTRY}.4`]: { 7: 10000 },
      [`${ENTRY}.5`]: { 7: 100 },
    });
    expect(decode(tables, values)).toMatchObject([
      { value: -12.8819, limits: { high: 0, low: -20 } },
      { value: -12.88, limits: { high: 0, low: -20 } },
    ]);
  });

  it('a level around 0 dBm stays one when all of it is above, in every later reading', () => {
    const tables = TABLE([
      [2, 'power', 0.1, 'local power', { k: 1 }],
      [3, 'signal-power', 0.01, 'rx power', { c: 'optics', k: 1 }],
    ]);
    const at = (local: number[], rx: number[]) =>
      valuesOf({
        [`${ENTRY}.2`]: { 1: local[0] as number, 2: local[1] as number },
        [`${ENTRY}.3`]: { 1: rx[0] as number, 2: rx[1] as number },
      });
    const levels = new Set<string>();
    const read = (values: Values) =>
      decodeTables(tables, values, new Names(values), levels).map(({ kind, value }) => [kind, value]);
    read(at([4, -3], [120, -150]));
    const all = read(at([4, 3], [120, 90]));
    expect(all.map(([kind]) => kind)).toEqual(Array(4).fill('signal-power'));
    expect(all.map(([, value]) => value)).toEqual([0.4, 0.3, 1.2, 0.9]);
  });

  it.each([
    ['a level, where one is below nothing', [48, -110], {}, ['signal-power', 4.8, 'signal-power', -11]],
    ['watts, where none is', [48, 110], {}, ['power', 4.8, 'power', 11]],
    ['watts, where −1 says that there is none', [48, -1], {}, ['power', 4.8, 'power', -0.1]],
    ['watts, where one is no level', [9000, -110], {}, ['power', 900, 'power', -11]],
    ['watts of a battery that is charged', [48, -110], { voltage: 12 }, ['power', 4.8, 'power', -11]],
  ])('a power is %s', (_what, told, beside, read) => {
    const others = Object.entries(beside).map(([kind], i) => [9 + i, kind, 1, kind, { k: 1 }]);
    const tables = TABLE([[2, 'power', 0.1, 'local power', { k: 1 }], ...others] as never);
    const values = valuesOf({ [`${ENTRY}.2`]: { 1: told[0] as number, 2: told[1] as number } });
    expect(decode(tables, values).flatMap(({ kind, value }) => [kind, value])).toEqual(read);
  });

  it('takes the current of a laser for milliamperes where only its name says optics', () => {
    const tables = TABLE([[2, 'current', 1, 'tx bias current', { q: 1 }]]);
    expect(decode(tables, valuesOf({ [`${ENTRY}.2`]: { 7: '30.09' } }))).toMatchObject([{ value: 0.03009 }]);
  });

  it('says states by their labels, and nothing of numbers that the MIB does not know', () => {
    const tables = TABLE([[2, 'state', 1, 'psu state', { c: 'psu', z: 0 }]]);
    expect(decode(tables, valuesOf({ [`${ENTRY}.2`]: { 1: 1, 2: 2, 3: 3, 4: 9 } }))).toEqual([
      { name: 'Psu state 1', kind: 'state', state: 'up', status: 'ok' },
      { name: 'Psu state 2', kind: 'state', state: 'failed', status: 'critical' },
      { name: 'Psu state 3', kind: 'state', state: 'notPresent', status: 'unknown' },
    ]);
  });

  it('makes one memory of what is used and free, and a load of what is idle', () => {
    const tables = TABLE([
      [2, 'memory', 1024, 'mem used', { o: 'used', g: 'mem' }],
      [3, 'memory', 1024, 'mem free', { o: 'free', g: 'mem' }],
      [4, 'processor', 1, 'cpu idle', { o: 'idle' }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 30 },
      [`${ENTRY}.3`]: { 1: 10 },
      [`${ENTRY}.4`]: { 1: 93 },
    });
    const found = decodeTables(tables, values, new Names(values));
    expect(found).toMatchObject([
      { kind: 'processor', value: 7 },
      { kind: 'memory', value: 75, usedBytes: 30_720, totalBytes: 40_960 },
    ]);
  });

  it('takes what a name alone calls a share for the amount in use where it can be none', () => {
    const tables = TABLE([
      [2, 'memory', 1, 'cur memory', { o: 'percent', g: 'mem', q: 1 }],
      [3, 'memory', 1024, 'total memory', { o: 'total', g: 'mem' }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 1_444_687, 2: 40, 3: 255, 4: 4530, 5: 9_000_000 },
      [`${ENTRY}.3`]: { 1: 8_388_608, 2: 8_388_608, 3: 8_388_608, 4: 8_388_608, 5: 8_388_608 },
    });
    const found = decodeTables(tables, values, new Names(values));
    expect(found).toMatchObject([
      { value: expect.closeTo(17.22, 2), totalBytes: 8 * 2 ** 30 },
      { value: 40, totalBytes: 8 * 2 ** 30 },
    ]);
    expect(found).toHaveLength(2);
  });

  it('takes kind and scale from the columns that tell them', () => {
    const by = { unit: [3, { 1: 'degreesC', 2: 'tenthsVolts' }], unitText: [4] };
    const tables = TABLE([[2, 'dynamic', 1, 'value', { by }]]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 41, 2: 2301, 3: 7 },
      [`${ENTRY}.3`]: { 1: 1, 2: 2 },
      [`${ENTRY}.4`]: { 3: 'mA' },
    });
    expect(decode(tables, values).map(({ kind, value }) => [kind, value])).toEqual([
      ['temperature', 41],
      ['voltage', 230.1],
      ['current', 0.007],
    ]);
  });

  it('takes the scale of voltages from what rails have, where temperatures beside have another', () => {
    const by = { type: [3, { 2: 'voltage', 3: 'temperature' }], precision: [5] };
    const tables = TABLE([[4, 'dynamic', 1, 'sensor', { by }]], { n: '1.2.1.2' });
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: 'Rail A', 2: 'Rail B', 3: 'Rail C', 4: 'Board' },
      [`${ENTRY}.3`]: { 1: 2, 2: 2, 3: 2, 4: 3 },
      [`${ENTRY}.4`]: { 1: 1025, 2: 4987, 3: 3286, 4: 25_000 },
      [`${ENTRY}.5`]: { 1: 0, 2: 0, 3: 0, 4: 1 },
    });
    expect(decode(tables, values).map(({ value }) => value)).toEqual([1.025, 4.987, 3.286, 25]);
  });

  it('takes light that is never negative for microwatts', () => {
    const tables = TABLE([[2, 'signal-power', 1, 'rx power', { c: 'optics' }]]);
    const values = valuesOf({ [`${ENTRY}.2`]: { 7: 536, 8: 591, 9: -1 } });
    expect(decodeTables(tables, values, new Names(values)).map(({ value }) => value)).toEqual([
      -2.70835, -2.28413,
    ]);
  });

  it('takes one of the number and the text that tell the same', () => {
    const tables = TABLE([
      [2, 'dynamic', 1, 'value str', { by: { unitText: [4] } }],
      [3, 'dynamic', 1, 'value int', { by: { unitText: [4], scale: [5] } }],
    ]);
    const values = valuesOf({
      [`${ENTRY}.2`]: { 1: '24.10 degree C' },
      [`${ENTRY}.3`]: { 1: 2410 },
      [`${ENTRY}.4`]: { 1: 'degree C' },
      [`${ENTRY}.5`]: { 1: -100 },
    });
    expect(decodeTables(tables, values, new Names(values)).map(({ key, value }) => [key, value])).toEqual([
      [`${ENTRY}.3.1`, 24.1],
    ]);
  });

  it('is silent of cages without optics', () => {
    const tables = TABLE(
      [
        [2, 'signal-power', 0.01, 'rx power', { c: 'optics' }],
        [3, 'temperature', 1, 'temperature', { c: 'optics' }],
      ],
      { i: 'if' },
    );
    const values = valuesOf({ [`${ENTRY}.2`]: { 7: -543, 8: 0 }, [`${ENTRY}.3`]: { 7: 31, 8: 0 } });
    expect(
      decodeTables(tables, values, new Names(values)).map(({ ifIndex, value }) => [ifIndex, value]),
    ).toEqual([
      [7, -5.43],
      [7, 31],
    ]);
  });

  it('are there for makers and standards, and every kind is one of the contract', () => {
    for (const maker of ['std', '9', '2011', '2636', '318']) {
      const tables = tablesOf(maker);
      expect(tables.length).toBeGreaterThan(5);
      for (const { kind } of tables.flatMap(({ readings }) => readings))
        expect([...SENSOR_KINDS, 'dynamic']).toContain(kind);
    }
    expect(tablesOf('999999999')).toEqual([]);
  });

  it('LM-SENSORS-MIB: each value by the label beside it, which is no reading itself', () => {
    const LM = '1.3.6.1.4.1.2021.13.16';
    const values = valuesOf({
      [`${LM}.2.1.2`]: { 1: 'Core 0' },
      [`${LM}.2.1.3`]: { 1: 45_000 },
      [`${LM}.3.1.2`]: { 1: 'Rear fan' },
      [`${LM}.3.1.3`]: { 1: 0 },
      [`${LM}.4.1.2`]: { 1: '+3.3V' },
      [`${LM}.4.1.3`]: { 1: 3312 },
    });
    expect(decode(tablesOf('2021') as ReturnType<typeof TABLE>, values)).toEqual([
      { name: 'Core 0 temp', kind: 'temperature', value: 45 },
      { name: 'Rear fan', kind: 'fan', value: 0 },
      { name: '+3.3V volt', kind: 'voltage', value: 3.312 },
    ]);
  });

  it('makes valid observations of whatever an agent says', () => {
    const tables = tablesOf('318').slice(0, 40);
    const columns = tables.flatMap(({ readings }) => readings.map((reading) => reading.oid));
    const value = fc.oneof(
      fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }).map(integer),
      fc.string({ maxLength: 60 }).map(text),
      fc.uint8Array({ maxLength: 60 }).map((bytes): Value => ({ type: 'octets', value: Buffer.from(bytes) })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...columns), fc.constantFrom('0', '1', '1.2'), value)),
        (cells) => {
          const values = new Values();
          for (const [column, index, each] of cells)
            values.put(column, index, { oid: `${column}.${index}`, ...each } as Varbind);
          for (const reading of decodeTables(tables, values, new Names(values))) {
            expect(sensorReading.safeParse(reading).success, JSON.stringify(reading)).toBe(true);
            expect(reading.value === undefined || canBe(reading.kind, reading.value, 'wireless')).toBe(true);
            expect(reading.kind in SENSOR_UNITS).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

const ENTITY = '1.3.6.1.2.1.47.1.1.1.1';
const SENSOR = '1.3.6.1.2.1.99.1.1.1';
const CISCO = '1.3.6.1.4.1.9.9.91.1.1.1.1';
const THRESHOLD = '1.3.6.1.4.1.9.9.91.1.2.1.1';

describe('the standard MIBs', () => {
  const of = (standard: { decode: (values: Values, names: Names) => SensorReading[] }, values: Values) =>
    standard.decode(values, new Names(values));

  it('ENTITY-SENSOR-MIB: type, scale, precision, and the part that a sensor belongs to', () => {
    const values = valuesOf({
      [`${SENSOR}.1`]: { 1: 8, 2: 4, 3: 10, 4: 8 },
      [`${SENSOR}.2`]: { 1: 9, 2: 8, 3: 9, 4: 9 },
      [`${SENSOR}.3`]: { 1: 1, 2: 0, 3: 0, 4: 0 },
      [`${SENSOR}.4`]: { 1: 235, 2: 3312, 3: 4200, 4: 40 },
      [`${SENSOR}.5`]: { 1: 1, 2: 1, 3: 1, 4: 2 },
      [`${ENTITY}.7`]: { 1: 'Inlet', 2: '3.3V' },
      [`${ENTITY}.4`]: { 1: 10, 3: 11 },
      [`${ENTITY}.5`]: { 10: 3, 11: 7 },
    });
    expect(of(entitySensor, values)).toMatchObject([
      { key: `${SENSOR}.4.1`, kind: 'temperature', name: 'Inlet', value: 23.5, component: 'chassis' },
      { kind: 'voltage', name: '3.3V', value: 3.312 },
      { kind: 'fan', value: 4200, component: 'fan' },
    ]);
  });

  it('CISCO-ENTITY-SENSOR-MIB: thresholds by severity, those that are not set left out; once in both MIBs', () => {
    const sensor = { 1: { 1001: 8 }, 2: { 1001: 9 }, 3: { 1001: 0 }, 4: { 1001: 48 }, 5: { 1001: 1 } };
    const values = valuesOf({
      ...Object.fromEntries(Object.entries(sensor).map(([column, rows]) => [`${CISCO}.${column}`, rows])),
      ...Object.fromEntries(Object.entries(sensor).map(([column, rows]) => [`${SENSOR}.${column}`, rows])),
      [`${THRESHOLD}.2`]: { '1001.1': 10, '1001.2': 30, '1001.3': 1, '1001.4': 20 },
      [`${THRESHOLD}.3`]: { '1001.1': 4, '1001.2': 4, '1001.3': 4, '1001.4': 2 },
      [`${THRESHOLD}.4`]: { '1001.1': 80, '1001.2': 96, '1001.3': 105, '1001.4': -32768 },
    });
    const found = withoutDoubles([...of(ciscoEntitySensor, values), ...of(entitySensor, values)]);
    expect(found).toMatchObject([{ value: 48, limits: { highWarning: 80, high: 96 } }]);
  });

  it('ENTITY-STATE-MIB: alarms', () => {
    const STATE = '1.3.6.1.2.1.131.1.1.1';
    const values = valuesOf({
      [`${STATE}.3`]: { 1: 3, 2: 3, 3: 2 },
      [`${STATE}.5`]: { 2: { type: 'octets', value: Buffer.of(0x20) } },
      [`${ENTITY}.5`]: { 1: 6, 2: 6, 3: 10 },
    });
    expect(of(entityState, values).map(({ state, status }) => [state, status])).toEqual([
      ['enabled', 'ok'],
      ['enabled', 'critical'],
    ]);
  });

  it('HOST-RESOURCES-MIB: memory without what is given back, storage, processors; UCD only for what is missing', () => {
    const STORAGE = '1.3.6.1.2.1.25.2.3.1';
    const TYPE = '1.3.6.1.2.1.25.2.1';
    const values = valuesOf({
      [`${STORAGE}.2`]: {
        1: oid(`${TYPE}.2`),
        6: oid(`${TYPE}.1`),
        7: oid(`${TYPE}.1`),
        31: oid(`${TYPE}.4`),
        32: oid(`${TYPE}.4`),
        33: oid(`${TYPE}.7`),
      },
      [`${STORAGE}.3`]: {
        1: 'Physical memory',
        6: 'Memory buffers',
        7: 'Cached memory',
        31: '/',
        32: '/snap/core20/2318',
        33: 'D:',
      },
      [`${STORAGE}.4`]: { 1: 1024, 6: 1024, 7: 1024, 31: 4096, 32: 4096, 33: 4096 },
      [`${STORAGE}.5`]: { 1: 1000, 6: 1000, 7: 300, 31: 200, 32: 100, 33: 100 },
      [`${STORAGE}.6`]: { 1: 900, 6: 100, 7: 300, 31: 190, 32: 100, 33: 100 },
      '1.3.6.1.2.1.25.3.3.1.2': { 196608: 12 },
      '1.3.6.1.4.1.2021.4.5': { 0: 1000 },
      '1.3.6.1.4.1.2021.4.6': { 0: 100 },
      '1.3.6.1.4.1.2021.11.11': { 0: 50 },
    });
    expect(of(hostResources, values)).toMatchObject([
      { kind: 'processor', value: 12 },
      { kind: 'memory', name: 'Physical memory', value: 50 },
      { kind: 'memory', name: 'Memory buffers', usedBytes: 102_400 },
      { kind: 'memory', name: 'Cached memory' },
      { kind: 'storage', name: '/', value: 95, usedBytes: 778_240, totalBytes: 819_200 },
    ]);
    expect(of(hostResources, values)[2]?.value).toBeUndefined();
    expect(of(ucd, values).filter(({ value }) => value !== undefined)).toEqual([]);
  });

  it('HOST-RESOURCES-MIB: tells processors of one model apart', () => {
    const values = valuesOf({
      '1.3.6.1.2.1.25.3.2.1.3': { 1: 'Xeon', 2: 'Xeon', 3: 'NVIDIA' },
      '1.3.6.1.2.1.25.3.3.1.2': { 1: 10, 2: 20, 3: 30, 4: 40 },
    });
    expect(brief(of(hostResources, values)).map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'Processor 1 (Xeon): 10',
      'Processor 2 (Xeon): 20',
      'NVIDIA: 30',
      'Processor 4: 40',
    ]);
  });

  it('BGP4-MIB and OSPF-MIB: sessions', () => {
    const values = valuesOf({
      '1.3.6.1.2.1.15.3.1.2': { '192.0.2.1': 6, '192.0.2.2': 3, '192.0.2.3': 1 },
      '1.3.6.1.2.1.15.3.1.3': { '192.0.2.1': 2, '192.0.2.2': 2, '192.0.2.3': 1 },
      '1.3.6.1.2.1.15.3.1.9': { '192.0.2.1': 65_000, '192.0.2.2': 65_001, '192.0.2.3': 65_002 },
      // The first of these peers is one of BGP4-MIB's.
      '1.3.6.1.4.1.9.9.187.1.2.5.1.3': { '1.4.192.0.2.1': 6, '2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9': 6 },
      '1.3.6.1.4.1.9.9.187.1.2.5.1.11': {
        '1.4.192.0.2.1': 65_000,
        '2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9': 65_009,
      },
      '1.3.6.1.2.1.14.10.1.6': { '10.0.0.2.0': 8, '10.0.0.3.0': 1 },
    });
    expect(brief([...of(bgp, values), ...of(ospf, values)])).toEqual([
      { name: 'BGP peer 192.0.2.1 AS 65000', kind: 'state', state: 'established', status: 'ok' },
      { name: 'BGP peer 192.0.2.2 AS 65001', kind: 'state', state: 'active', status: 'critical' },
      { name: 'BGP peer 192.0.2.3 AS 65002', kind: 'state', state: 'idle', status: 'unknown' },
      {
        name: 'BGP peer 2001:0db8:0000:0000:0000:0000:0000:0009 AS 65009',
        kind: 'state',
        state: 'established',
        status: 'ok',
      },
      { name: 'OSPF neighbour 10.0.0.2', kind: 'state', state: 'full', status: 'ok' },
      { name: 'OSPF neighbour 10.0.0.3', kind: 'state', state: 'down', status: 'critical' },
    ]);
  });

  it.each<[string, string, number, number | null, number | null, string]>([
    ['CISCO-BGP4-MIB, a VRF', '1.3.6.1.4.1.9.9.187.1.2.9.1', 5, 6, 13, '3.1.4.192.0.2.1'],
    ['DELLEMC-OS10-BGP4V2-MIB', '1.3.6.1.4.1.674.11000.5000.200.1.1.2.1', 13, 12, 10, '1.1.4.192.0.2.1'],
    ['BGP4V2-MIB of Foundry', '1.3.6.1.4.1.1991.3.5.1.1.2.1', 13, 12, 10, '1.1.4.192.0.2.1'],
    ['FORCE10-BGP4-V2-MIB', '1.3.6.1.4.1.6027.20.1.2.1.1.1', 3, 4, 14, '0.1.198.51.100.1.1.192.0.2.1'],
    ['HUAWEI-BGP-VPN-MIB', '1.3.6.1.4.1.2011.5.25.177.1.1.2.1', 5, 11, 2, '0.1.1.1.4.192.0.2.1'],
    ['TIMETRA-BGP-MIB', '1.3.6.1.4.1.6527.3.1.2.14.4.7.1', 59, null, 66, '1.1.4.192.0.2.1'],
    ['HH3C-BGP4V2-MIB', '1.3.6.1.4.1.25506.2.183.1.1.1', 3, null, null, '1.4.192.0.2.1'],
  ])('peers of %s', (_mib, entry, state, admin, remoteAs, index) => {
    const read = (shown: number, wanted: number) => {
      const values = valuesOf({
        [`${entry}.${state}`]: { [index]: shown },
        ...(admin ? { [`${entry}.${admin}`]: { [index]: wanted } } : {}),
        ...(remoteAs ? { [`${entry}.${remoteAs}`]: { [index]: 64_600 } } : {}),
      });
      return brief(of(bgp, values));
    };
    const name = `BGP peer 192.0.2.1${remoteAs ? ' AS 64600' : ''}`;
    expect(read(6, 2)).toEqual([{ name, kind: 'state', state: 'established', status: 'ok' }]);
    expect(read(3, 2)).toEqual([{ name, kind: 'state', state: 'active', status: 'critical' }]);
    const stopped = admin ? 'unknown' : 'critical';
    expect(read(1, 1)).toEqual([{ name, kind: 'state', state: 'idle', status: stopped }]);
  });

  it('Printer-MIB and POWER-ETHERNET-MIB: what is left, what is in use', () => {
    const SUPPLY = '1.3.6.1.2.1.43.11.1.1';
    const PSE = '1.3.6.1.2.1.105.1.3.1.1';
    const values = valuesOf({
      [`${SUPPLY}.4`]: { '1.1': 3, '1.2': 4, '1.3': 3 },
      [`${SUPPLY}.6`]: { '1.1': 'Black', '1.2': 'Waste', '1.3': 'Cyan' },
      [`${SUPPLY}.8`]: { '1.1': 200, '1.2': 100, '1.3': -2 },
      [`${SUPPLY}.9`]: { '1.1': 50, '1.2': 10, '1.3': -3 },
      [`${PSE}.2`]: { 1: 400 },
      [`${PSE}.3`]: { 1: 3 },
      [`${PSE}.4`]: { 1: 100 },
      [`${PSE}.5`]: { 1: 90 },
    });
    expect(brief([...of(printer, values), ...of(powerEthernet, values)])).toEqual([
      { name: 'Black', kind: 'supply', value: 25 },
      { name: 'Waste', kind: 'supply', value: 90 },
      { name: 'PoE 1', kind: 'power', value: 100, limits: { high: 400 } },
      { name: 'PoE 1 budget', kind: 'load', value: 25, limits: { highWarning: 90 } },
      { name: 'PoE 1', kind: 'state', state: 'faulty', status: 'critical' },
    ]);
  });
});
