/** Readings out of the tables of the catalogue. Pure. */
import type { SensorKind, SensorReading } from '@rollcall/shared/sensors';
import { defined } from '../row.ts';
import type { LimitName, Reading, Table } from './catalogue.ts';
import { dynamicReading } from './dynamic.ts';
import { spacesOf } from './memory.ts';
import { type Names, textIndex } from './names.ts';
import { nominalStep, SENT, stepOf } from './scale.ts';
import {
  canBe,
  fromUnit,
  isDark,
  isMarker,
  rounded,
  type Shown,
  shownBy,
  unitOf,
  type Values,
} from './values.ts';

export const NAME_MOST = 255;
/** Rows of one column. */
const ROWS = 2_000;

/** Columns of a device that had less than nothing once: a level in dBm, though all of it may be above 0 now. */
export type Levels = Set<string>;

/** Decodes what was read of these tables. @param levels of earlier readings; those of this one are added */
export const decodeTables = (
  tables: readonly Table[],
  values: Values,
  names: Names,
  levels: Levels = new Set(),
): SensorReading[] => tables.flatMap((table) => new TableReader(table, { values, names, levels }).readings());

class TableReader {
  readonly #table: Table;
  readonly #values: Values;
  readonly #names: Names;
  readonly #levels: Levels;

  constructor(table: Table, { values, names, levels }: { values: Values; names: Names; levels: Levels }) {
    this.#table = table;
    this.#values = values;
    this.#names = names;
    this.#levels = levels;
  }

  readings(): SensorReading[] {
    const found: SensorReading[] = [];
    const { readings } = this.#table;
    const rows = new Map<string, number>();
    const space = readings.filter(({ kind }) => kind === 'memory' || kind === 'storage');
    const told = ({ by = {}, oid }: Reading) => Object.keys(by).length + (this.#isNumber(oid) ? 0.5 : 0);
    for (const reading of withoutTwins(readings, this.#values).sort((a, b) => told(b) - told(a))) {
      if (space.includes(reading)) continue;
      if (reading.kind === 'state') found.push(...this.#states(reading));
      else if (reading.kind === 'dynamic')
        found.push(...this.#dynamic(reading).filter((each) => isNewRow(reading, each, rows)));
      else found.push(...this.#measured(reading, this.#isLevel(reading) ? 'signal-power' : reading.kind));
    }
    found.push(...spacesOf(space, this.#values, (reading, index) => this.#head(reading, index)));
    return this.#table.readings.some(({ kind }) => kind === 'signal-power')
      ? withoutEmptyCages(found, this.#values)
      : found;
  }

  #isNumber(oid: string): boolean {
    const [first] = this.#values.column(oid).values();
    return first !== undefined && first.type !== 'octets';
  }

  #rows(oid: string): [index: string, shown: Shown][] {
    const rows: [string, Shown][] = [];
    const column = this.#values.column(oid);
    // Some agents show a scalar as the one row of a table.
    const isScalar = (index: string) => index === '0' || (column.size === 1 && !index.includes('.'));
    for (const [index, varbind] of column) {
      if (rows.length >= ROWS) break;
      if (this.#table.scalar && !isScalar(index)) continue;
      const shown = shownBy(varbind);
      if (shown) rows.push([index, shown]);
    }
    return rows;
  }

  #head(reading: Reading, index: string): Pick<SensorReading, 'key' | 'name' | 'component' | 'ifIndex'> {
    const { index: begins } = this.#table;
    const first = index.split('.')[0] as string;
    const component =
      reading.component ??
      (begins === 'ent' ? this.#names.componentOf(first) : undefined) ??
      componentOfName(reading.label);
    return defined({
      key: `${reading.oid}.${index}`,
      name: this.#name(reading, index).slice(0, NAME_MOST),
      component,
      ifIndex: begins === 'if' && component === 'optics' ? Number(first) : undefined,
    });
  }

  #name({ label, called }: Reading, index: string): string {
    if (this.#table.scalar)
      return (called === undefined ? undefined : this.#values.text(called, index)) ?? capital(label);
    const row = this.#rowName(index) ?? `${capital(label)} ${index}`;
    const words = label
      .split(' ')
      .filter((word) => !VALUE_WORDS.has(word) && !row.toLowerCase().includes(word));
    return row === `${capital(label)} ${index}` || words.length === 0 ? row : `${row} ${words.join(' ')}`;
  }

  #rowName(index: string): string | undefined {
    const { name, index: begins } = this.#table;
    const first = index.split('.')[0] as string;
    const named =
      name === undefined ? undefined : (this.#values.text(name, index) ?? this.#values.text(name, first));
    if (named !== undefined) return named;
    if (begins === 'ent') return this.#names.entity(first) ?? textIndex(index);
    if (begins === 'if') return this.#names.port(first);
    return textIndex(index);
  }

  #states(reading: Reading): SensorReading[] {
    return this.#rows(reading.oid).flatMap(([index, { value }]) => {
      const word = reading.states?.get(value);
      // A number that the MIB does not know says nothing.
      if (!word) return [];
      const head = this.#head(reading, index);
      return [
        { ...head, kind: 'state', state: (word.label || String(value)).slice(0, 100), status: word.status },
      ];
    });
  }

  #measured(stated: Reading, kind: SensorKind): SensorReading[] {
    // What a maker calls bias or laser is optics, whose scale is another.
    const component = stated.component ?? componentOfName(stated.label);
    const reading = component === 'optics' ? { ...stated, component } : stated;
    const rows = this.#rows(reading.oid).flatMap(([index, shown]) => {
      const own = shown.unit === undefined ? undefined : unitOf(shown.unit);
      const raw = shown.value;
      if (isMarker(kind, raw) || reading.words?.has(raw)) return [];
      // A unit in the text is worth more than the MIB's.
      if (own?.kind === kind) return [{ index, value: fromUnit(raw * own.factor, own.unit), sure: true }];
      const scaled = shown.decimal ? raw : raw * reading.factor;
      return [{ index, value: scaled, sure: false }];
    });
    const unsure = rows.filter(({ sure }) => !sure).map(({ value }) => value);
    const step = this.#levelStep(reading, kind) ?? this.#stepOf(reading, kind, unsure);
    // Optics receive and send less than 10 dBm: where numbers are larger and none was ever negative, they are microwatts.
    if (kind === 'signal-power' && unsure.some((value) => value < -reading.factor))
      this.#levels.add(reading.oid);
    const isWatts = kind === 'signal-power' && step < 1 && !reading.unit && !this.#levels.has(reading.oid);
    if (isWatts && reading.component !== 'wireless')
      return this.#measured({ ...reading, factor: 1e-6, unit: 'mW' }, kind);
    return rows.flatMap(({ index, value, sure }) => {
      const shown = sure ? value : fromUnit(value * step, reading.unit);
      const usage = reading.role === 'idle' ? 100 - shown : shown;
      if (!canBe(kind, usage, reading.component)) return [];
      const limits = this.#limits(reading, kind, index, step);
      return [{ ...this.#head(reading, index), kind, value: rounded(usage), ...(limits ? { limits } : {}) }];
    });
  }

  /** A power that can be less than nothing, where no battery is charged, is a level in dBm; −1 is no reading. */
  #isLevel({ kind, oid, factor, component }: Reading): boolean {
    const kinds = this.#table.readings.map((each) => each.kind);
    if (kind !== 'power' || (!kinds.includes('signal-power') && kinds.some(isElectric))) return false;
    const told = this.#rows(oid).flatMap(([, { value, unit, decimal }]) =>
      unit !== undefined || isMarker(kind, value) ? [] : [{ value, level: decimal ? value : value * factor }],
    );
    if (told.some(({ value }) => value < 0 && value !== -1)) this.#levels.add(oid);
    return this.#levels.has(oid) && told.every(({ level }) => canBe('signal-power', level, component));
  }

  /** Light sent and received is counted alike in a table: what is sent varies less, and tells the scale. */
  #levelStep(reading: Reading, kind: SensorKind): number | undefined {
    const { factor, unit } = reading;
    if (kind !== 'signal-power' || unit !== undefined || reading.component === 'wireless') return undefined;
    const alike = this.#table.readings.filter(
      (each) => each.kind === kind && each.unit === undefined && each.factor === factor,
    );
    const levels = (readings: readonly Reading[]) =>
      readings
        .flatMap(({ oid }) => this.#rows(oid))
        .flatMap(([, { value, unit: own, decimal }]) =>
          own !== undefined || isMarker(kind, value) || isDark(value)
            ? []
            : [decimal ? value : value * factor],
        );
    const sent = levels(alike.filter(({ label }) => /\btx\b|transmit|output/.test(label)));
    return sent.some((value) => value !== 0)
      ? stepOf(kind, sent, { ...reading, within: SENT })
      : stepOf(kind, levels(alike), reading);
  }

  /** What nothing states is taken from the voltages of the table: a maker mostly keeps one scale. */
  #stepOf(reading: Reading, kind: SensorKind, values: readonly number[]): number {
    if (!reading.guessed || (kind !== 'current' && kind !== 'power')) return stepOf(kind, values, reading);
    const volts = this.#table.readings.find((each) => each.kind === 'voltage' && each.guessed);
    const told = volts ? this.#rows(volts.oid).map(({ 1: { value } }) => value * volts.factor) : [];
    const step = volts ? stepOf('voltage', told, volts) : 1;
    return step <= MILLI ? step : stepOf(kind, values, reading);
  }

  #limits(reading: Reading, kind: SensorKind, index: string, step: number): SensorReading['limits'] {
    const { unit, factor: scale } = this.#inWatts(reading) ?? reading;
    const told = (reading.limits ?? []).flatMap(({ name, oid, factor = scale }) => {
      const at = this.#values.column(oid).get(index);
      const shown = at && shownBy(at);
      return shown && !isMarker(kind, shown.value) ? [{ name, factor, ...shown }] : [];
    });
    // Less than nothing is no power in watts: limits beside such a reading are hundredths of a dBm.
    const isDbm = unit === 'mW' && told.some(({ value }) => value < 0);
    const stepped = unit === reading.unit ? step : 1;
    const scaled = ({ value, decimal, factor }: (typeof told)[number]) =>
      isDbm ? value / 100 : fromUnit((decimal ? value : value * factor) * stepped, unit);
    const found: NonNullable<SensorReading['limits']> = {};
    for (const limit of told) {
      const value = scaled(limit);
      if (isLimit(kind, limit.name, value, limit.value, reading.component))
        found[limit.name] = rounded(value);
    }
    return soundLimits(found);
  }

  /** Of light that is told in dBm and in milliwatts: the latter, where both have the same limits. */
  #inWatts({ kind, unit, limits = [] }: Reading): Reading | undefined {
    if (kind !== 'signal-power' || unit !== undefined) return undefined;
    return this.#table.readings.find(
      (each) =>
        each.unit === 'mW' && each.limits?.some(({ oid }) => limits.some((limit) => limit.oid === oid)),
    );
  }

  #dynamic(reading: Reading): SensorReading[] {
    const rows = this.#rows(reading.oid).flatMap(([index, shown]) => {
      const head = this.#head(reading, index);
      const at = (oid: string) => this.#values.column(oid).get(index);
      const measured = dynamicReading(reading, shown, head.name, at);
      if (!measured) return [];
      const limits = (reading.limits ?? []).flatMap(({ name, oid }) => {
        const limit = at(oid);
        const told = limit && shownBy(limit);
        // The columns beside say how its limits are scaled, too.
        const scaled = told && dynamicReading(reading, told, head.name, at);
        return scaled?.kind === measured.kind ? [{ name, value: scaled.value, raw: told?.value }] : [];
      });
      return [{ head, ...measured, limits }];
    });
    const valuesOf = (kind: SensorKind) => rows.filter((row) => row.kind === kind).map(({ value }) => value);
    // What temperatures give away holds for all of the column: their range is the narrowest.
    const warm = stepOf('temperature', valuesOf('temperature'), EXACT);
    const guessed = Object.keys(reading.by ?? {}).length === 0;
    const stepFor = (kind: SensorKind) => {
      const told = valuesOf(kind);
      const isLaser = kind === 'current' && reading.component === 'optics';
      if (isLaser)
        return (
          warm *
          stepOf(
            kind,
            told.map((value) => value * warm),
            { ...EXACT, component: 'optics' },
          )
        );
      if (warm < 1 && nominalStep(kind, told) !== 1) return nominalStep(kind, told) ?? warm;
      return stepOf(kind, told, { factor: 1, guessed: guessed && kind === 'voltage' });
    };
    const steps = new Map([...new Set(rows.map(({ kind }) => kind))].map((kind) => [kind, stepFor(kind)]));
    return rows.flatMap(({ head, kind, value, limits: told }) => {
      const step = steps.get(kind) ?? 1;
      if (!canBe(kind, value * step)) return [];
      const found: NonNullable<SensorReading['limits']> = {};
      for (const limit of told)
        if (isLimit(kind, limit.name, limit.value * step, limit.raw))
          found[limit.name] = rounded(limit.value * step);
      const limits = soundLimits(found);
      return [{ ...head, kind, value: rounded(value * step), ...(limits ? { limits } : {}) }];
    });
  }
}
const isElectric = (kind: Reading['kind']): boolean => kind === 'voltage' || kind === 'current';
const MILLI = 0.001;
const EXACT = { factor: 1, guessed: false };

/**
 * Whether a limit is one that was set, in the reading's unit: it can be, and a high one of nothing (0 or -1) is none, but
 * for 0 dBm. No device has its low limit above 30 °C or its high one below 15 °C: those are in °F, or of something else.
 */
const isLimit = (
  kind: SensorKind,
  name: LimitName,
  value: number,
  raw: number | undefined,
  component?: string,
): boolean => {
  if (!canBe(kind, value, component)) return false;
  const isHigh = name.startsWith('high');
  if (kind === 'temperature' && (isHigh ? value < LEAST_HIGH : value > MOST_LOW)) return false;
  return !(isHigh && (raw === 0 || raw === -1) && kind !== 'signal-power');
};
const LEAST_HIGH = 15;
const MOST_LOW = 30;

const PAIRS = [
  ['low', 'high'],
  ['lowWarning', 'highWarning'],
] as const;

/** Limits whose order makes sense; a low limit that is not below the high one was never set, nor was that. */
export function soundLimits(limits: NonNullable<SensorReading['limits']>): SensorReading['limits'] {
  const sound = { ...limits };
  for (const [below, above] of PAIRS) {
    const [low, high] = [limits[below], limits[above]];
    if (low === undefined || high === undefined || low < high) continue;
    delete sound[below];
    delete sound[above];
  }
  return Object.keys(sound).length > 0 ? sound : undefined;
}

/** A table may hold the same value as a number and as a text: the one that more columns tell of is taken. */
function isNewRow(
  { oid }: Reading,
  { key, kind, value = 0 }: SensorReading,
  rows: Map<string, number>,
): boolean {
  const row = `${key.slice(oid.length)} ${kind}`;
  const other = rows.get(row);
  rows.set(row, value);
  return other === undefined || Math.abs(value - other) > ALIKE * Math.abs(other);
}
const ALIKE = 0.05;

const VALUE_WORDS = new Set('value current reading status val state sensor sensors probe'.split(' '));
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const NAMED: readonly [RegExp, Reading['component']][] = [
  [/\bfan|blower/, 'fan'],
  [/\bpsu|power supply|\bps\b/, 'psu'],
  [/\bbatt/, 'battery'],
  [/\bcpu|processor/, 'cpu'],
  [/\bsfp|optic|transceiver|\b[rt]x\b|laser|\bbias/, 'optics'],
  [/\bdisk|drive|raid/, 'disk'],
];
const componentOfName = (label: string): Reading['component'] =>
  NAMED.find(([pattern]) => pattern.test(label))?.[1];

/** Of the columns that tell one processor's load over several times, the one over the longest. */
function withoutTwins(readings: readonly Reading[], values: Values): Reading[] {
  const processors = readings.filter(({ kind, oid }) => kind === 'processor' && values.has(oid));
  if (processors.length < 2) return [...readings];
  const times = (label: string) => TIMES.findIndex((pattern) => pattern.test(label));
  const timed = processors.filter(({ label }) => times(label) >= 0);
  const longest = timed.toSorted((a, b) => times(a.label) - times(b.label) || b.oid.length - a.oid.length);
  const dropped = new Set(timed.length < 2 ? [] : timed.filter((each) => each !== longest[0]));
  return readings.filter((reading) => !dropped.has(reading));
}
const TIMES = [/5 ?min|five ?min|300/, /1 ?min|one ?min|\bmin|60/, /\d+ ?s(ec)?|five ?sec/];

/** The cages of optics that are empty measure nothing: all of such a row is 0 or −1. */
function withoutEmptyCages(found: readonly SensorReading[], values: Values): SensorReading[] {
  const measured = new Map<string, boolean>();
  const rowOf = ({ key }: SensorReading) => key.split('.').slice(-1).join('.');
  for (const reading of found) {
    if (reading.kind === 'state') continue;
    const raw = rawOf(reading.key, values);
    const isOne = raw !== undefined && raw !== 0 && raw !== -1;
    measured.set(rowOf(reading), (measured.get(rowOf(reading)) ?? false) || isOne);
  }
  return found.filter((reading) => reading.kind === 'state' || measured.get(rowOf(reading)));
}

/** The number under an OID of a column and index of any length. */
function rawOf(key: string, values: Values): number | undefined {
  for (let at = key.lastIndexOf('.'); at > 0; at = key.lastIndexOf('.', at - 1)) {
    const column = key.slice(0, at);
    if (values.has(column)) return values.number(column, key.slice(at + 1));
  }
  return undefined;
}
