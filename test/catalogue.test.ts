import { describe, expect, it } from 'vitest';

interface Derived {
  enums: string[];
  tables: { e: string; n?: string; r: [number, string, number, string, Record<string, unknown>][] }[];
}
const { sensors } = (await import(new URL('../scripts/catalogue/sensors.mjs', import.meta.url).href)) as {
  sensors: (facts: (name: string) => unknown[]) => Map<string, Derived>;
};

const at = (arcs: string) => `1.3.6.1.4.1.99999.${arcs}`;
const object = (arcs: string, name: string, more = {}) => ({
  ...{ oid: at(arcs), name, module: 'EXAMPLE-MIB', syntax: 'INTEGER' },
  ...more,
});
/** Readings that are derived of the maker: `column kind factor`, and what is said more of them. */
const derived = (health: unknown[], objects: unknown[] = []) =>
  (sensors((name) => (name === 'health' ? health : objects)).get('99999')?.tables ?? []).flatMap(({ e, r }) =>
    r.map(([column, kind, factor, , more]) => ({ at: `${e}.${column}`, kind, factor, more })),
  );
const kinds = (health: unknown[], objects: unknown[] = []) =>
  derived(health, objects).map(({ at: place, kind }) => `${place} ${kind}`);

describe('readings out of names alone', () => {
  it.each([
    ['boardTemp2', {}, 'temperature'],
    ['chassisTemperature', { syntax: 'Signed32WithNA' }, 'temperature'],
    ['unitEnvStatsTemperature', { syntax: 'OCTET STRING' }, 'temperature'],
    ['temperatureStatus', { syntax: 'OCTET STRING' }, 'temperature'],
    ['powerSupplyInputPower', {}, 'power'],
    ['currentLC1', {}, 'current'],
    ['portLaserBias', {}, 'current'],
    ['upsOutputLoad', {}, 'load'],
    ['batteryStatusCharge', {}, 'charge'],
    ['oaIfRxPowerLevel', {}, 'signal-power'],
    ['infoFreeMemoryKbytes', {}, 'memory'],
    ['portChromaticDispersion', {}, 'chromatic-dispersion'],
    ['ntpPeerDispersion', {}, undefined],
    ['tempHighThreshold', {}, undefined],
    ['temperatureUnit', {}, undefined],
    ['fanStatus', {}, undefined],
    ['boardTemp', { syntax: 'OBJECT IDENTIFIER' }, undefined],
    ['boardTemp', { rw: true }, undefined],
  ])('%s %o: %s', (name, more, kind) => {
    const said = kinds([], [object('1.1', name, more)]);
    expect(said).toEqual(kind === undefined ? [] : [`1.1 ${kind}`]);
  });

  it('a status that may be a temperature leaves the numbers of states out', () => {
    expect(derived([], [object('1.1', 'cpuTempStatus')])[0]?.more.n).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  it('a value is named by the scalar beside it, or by its row', () => {
    const text = { syntax: 'OCTET STRING' };
    const scalars = [object('1.1', 'sensor1name', text), object('1.2', 'sensor1Value', text)];
    expect(derived([], scalars)).toEqual([
      { at: '1.2', kind: 'dynamic', factor: 1, more: { by: {}, m: '1.1' } },
    ]);
    const table = { table: 'probeTable', index: ['probeIndex'] };
    const rows = [object('2.1.2', 'probeName', { ...text, ...table }), object('2.1.3', 'probeValue', table)];
    expect(kinds([], rows)).toEqual(['2.1.3 dynamic']);
    expect(kinds([], [object('1.2', 'sensor1Value')])).toEqual([]);
  });

  it('what a row is called is no reading, though it may look like one', () => {
    const table = { table: 'boxVoltSensorsTable', index: ['boxVoltSensorsIndex'] };
    const label = object('2.1.2', 'boxVoltSensorsDevice', { ...table, syntax: 'OCTET STRING' });
    const value = object('2.1.3', 'boxVoltSensorsValue', table);
    const volts = { kind: 'voltage', unit: 'V' };
    const health = [
      { ...label, ...volts, scale: 1, from: 'default', rank: 2, text: true },
      { ...value, ...volts, scale: 0.001, from: 'prose', rank: 1 },
    ];
    const [maker] = sensors((name) => (name === 'health' ? health : [label, value])).values();
    expect(maker?.tables.map(({ n, r }) => [n, r.map(([column, kind]) => `${column} ${kind}`)])).toEqual([
      ['2.1.2', ['3 voltage']],
    ]);
  });
});

describe('what facts of several modules say together', () => {
  const fact = (arcs: string, name: string, more: object) =>
    object(arcs, name, { table: 'envTable', index: ['envIndex'], rank: 1, from: 'prose', ...more });
  const states = { 1: 'ok', 2: 'warning' };

  it('a column is a state in one and a temperature in the other: both, and no state is a temperature', () => {
    const made = derived([
      fact('1.1.9', 'envFanStatus', {
        kind: 'state',
        of: 'fan',
        states,
        enum: { 1: 'normal', 2: 'warning' },
      }),
      fact('1.1.9', 'envTempValue', { kind: 'temperature', unit: 'C', scale: 1, rank: 2 }),
    ]);
    expect(made.map(({ kind }) => kind)).toEqual(['state', 'temperature']);
    expect(made[1]?.more.n).toEqual([1, 2]);
  });

  it('an average stands in only where there is no reading of its kind', () => {
    const average = fact('1.1.3', 'averagePower', {
      kind: 'power',
      unit: 'W',
      scale: 1,
      role: 'statistic',
      rank: 4,
    });
    const reading = fact('1.1.4', 'presentPower', { kind: 'power', unit: 'W', scale: 1 });
    expect(kinds([average])).toEqual(['1.1.3 power']);
    expect(kinds([average, reading])).toEqual(['1.1.4 power']);
  });

  it('a usage in kilobytes is an amount, and gives way to amounts that are named', () => {
    const memory = { kind: 'memory', rank: 1, from: 'prose' };
    const usage = fact('1.1.1', 'sysMemoryUsage', { ...memory, unit: '%', scale: 1024, role: 'percent' });
    const total = fact('1.1.2', 'sysMemoryTotal', { ...memory, unit: 'B', scale: 1024, role: 'used' });
    const unused = fact('1.1.3', 'sysMemoryUnused', { ...memory, unit: 'B', scale: 1024, role: 'used' });
    const roles = (facts: unknown[]) =>
      derived(facts).map(({ at: place, factor, more }) => [place, factor, more.o]);
    expect(roles([usage, total])).toEqual([
      ['1.1.1', 1024, 'used'],
      ['1.1.2', 1024, 'total'],
    ]);
    expect(roles([usage, total, unused])).toEqual([
      ['1.1.2', 1024, 'total'],
      ['1.1.3', 1024, 'free'],
    ]);
  });

  it('a rate is one whose unit is stated, and of now', () => {
    const rate = (name: string, more = {}) =>
      fact('1.1.1', name, { kind: 'bitrate', unit: 'bit/s', scale: 1000, from: 'units', ...more });
    expect(derived([rate('radioRxCapacity')])).toMatchObject([{ kind: 'bitrate', factor: 1000 }]);
    expect(kinds([rate('radioRxCapacity', { from: 'default' })])).toEqual([]);
    expect(kinds([rate('portSpeed')])).toEqual([]);
    expect(kinds([rate('clientRxRate')])).toEqual([]);
  });

  it('a power factor in percent is a share of one', () => {
    const share = { kind: 'power-factor', unit: '%', scale: 0.1, from: 'units' };
    expect(derived([fact('1.1.1', 'outletPowerFactor', share)])).toMatchObject([
      { kind: 'power-factor', factor: 0.001 },
    ]);
  });

  it('a name loses only what the names of its module begin with; a scalar is never without one', () => {
    const reading = { kind: 'temperature', unit: 'C', scale: 1, rank: 1, from: 'prose' };
    const labels = (...names: string[]) => {
      const facts = names.map((name, i) => object(`1.${i}.1`, name, reading));
      const [maker] = sensors((name) => (name === 'health' ? facts : [])).values();
      return maker?.tables.flatMap(({ r }) => r.map(([, , , label]) => label));
    };
    expect(
      labels('boxRadioTemp', 'boxRadioFanTemp', 'boxRadioTxTemp', 'boxRadioRxTemp', 'boxCpuTemp'),
    ).toEqual([...['temp', 'fan temp', 'tx temp', 'rx temp', 'cpu temp']]);
    expect(labels('boxTemp', 'boxFanTemp', 'boxTxTemp', 'boxRxTemp', 'box')?.at(-1)).toBe('box');
  });

  it('light keeps the scale that its maker states elsewhere; power of optics is light', () => {
    const level = (arc: number, more: object) =>
      fact(`1.1.${arc}`, `port${arc}Opr`, { kind: 'dbm', unit: 'dBm', ...more });
    const stated = [1, 2, 3].map((arc) => level(arc, { scale: 0.01, from: 'hint' }));
    const made = derived([...stated, level(4, { scale: 1, from: 'default' })]);
    expect(made.map(({ factor }) => factor)).toEqual([0.01, 0.01, 0.01, 0.01]);
    const power = { kind: 'power', unit: 'W', scale: 1, from: 'default', rank: 2 };
    const fiber = { ...fact('1.1.5', 'fiberTXpower', power), module: 'EXAMPLE-FIBER-MIB' };
    expect(kinds([fiber])).toEqual(['1.1.5 signal-power']);
    expect(kinds([fact('1.1.5', 'radioTXpower', power)])).toEqual(['1.1.5 power']);
  });
});
