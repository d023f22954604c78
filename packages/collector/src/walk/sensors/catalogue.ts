/**
 * Which objects of MIBs are readings of health (`rules/catalogue/sensors.txt`, derived by `npm run catalogue`): one line
 * an enterprise, read when a device of it is first met.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  SENSOR_COMPONENTS,
  type SensorKind,
  type SensorReading,
  type SensorStatus,
} from '@rollcall/shared/sensors';

export type Component = NonNullable<SensorReading['component']>;
export type LimitName = 'low' | 'lowWarning' | 'highWarning' | 'high';

/** What an enumeration's number says. */
export interface StateWord {
  status: SensorStatus;
  label: string;
}

/** A column, or a scalar without its `.0`, that holds readings. */
export interface Reading {
  oid: string;
  kind: SensorKind | 'dynamic';
  /** Reading = value × factor, in the kind's unit or in `unit`. */
  factor: number;
  /** What `factor` leads to where it is not the kind's unit: °F, K, or milliwatts of a kind in dBm. */
  unit?: 'F' | 'K' | 'mW';
  /** The MIB does not state the scale. */
  guessed: boolean;
  /** 1: kind and scale are stated, 2: one of both, 3: neither. */
  rank: number;
  /** Name of the object behind what the names of its table have in common. */
  label: string;
  component?: Component;
  role?: 'used' | 'free' | 'total' | 'percent' | 'freePercent' | 'idle';
  /** Objects of one memory or storage share it. */
  group?: string;
  states?: ReadonlyMap<number, StateWord>;
  /** A limit without a factor has the reading's. */
  limits?: readonly { name: LimitName; oid: string; factor?: number }[];
  /** A scalar whose text names this one. */
  called?: string;
  /** Numbers that are words: no reading. */
  words?: ReadonlySet<number>;
  /** Columns of the same row that say kind, unit, scale or precision, with their labels where they are enumerations. */
  by?: Partial<Record<By, { oid: string; labels?: Readonly<Record<string, string>> }>>;
}
export type By = 'type' | 'unit' | 'unitText' | 'scale' | 'precision';

export interface Table {
  entry: string;
  scalar: boolean;
  /** What the index begins with: ifIndex (IF-MIB) or entPhysicalIndex (ENTITY-MIB). */
  index?: 'if' | 'ent';
  /** Column that names its rows. */
  name?: string;
  readings: readonly Reading[];
}

const FILE = fileURLToPath(new URL('../../../../../rules/catalogue/sensors.txt', import.meta.url));
/** Enterprises whose tables are kept ready. */
const KEPT = 32;
const LIMITS: Record<string, LimitName> = { h: 'high', hw: 'highWarning', l: 'low', lw: 'lowWarning' };
const STATUS: Record<string, SensorStatus> = { o: 'ok', w: 'warning', c: 'critical', u: 'unknown' };

let lines: ReadonlyMap<string, string> | undefined;
const kept = new Map<string, readonly Table[]>();

/** Tables of an enterprise by its number, or of the standard MIBs (`std`); none where no MIB is known. */
export function tablesOf(enterprise: string): readonly Table[] {
  lines ??= read();
  const line = lines.get(enterprise);
  if (line === undefined) return [];
  const known = kept.get(enterprise);
  if (known) return known;
  const tables = parseTables(line, enterprise === 'std' ? '1.3.6.1.' : `1.3.6.1.4.1.${enterprise}.`);
  if (kept.size >= KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(enterprise, tables);
  return tables;
}

function read(): Map<string, string> {
  const rows = readFileSync(FILE, 'utf8').split('\n').filter(Boolean);
  return new Map(rows.map((row) => [row.slice(0, row.indexOf(' ')), row.slice(row.indexOf(' ') + 1)]));
}

interface RawTable {
  e: string;
  s?: 1;
  i?: 'if' | 'ent';
  n?: string;
  r: [column: number, kind: SensorKind | 'dynamic', factor: number, label: string, more: RawMore][];
}
interface RawMore {
  c?: string;
  k?: number;
  u?: 'F' | 'K' | 'mW';
  q?: 1;
  o?: NonNullable<Reading['role']>;
  g?: string;
  z?: number;
  n?: number[];
  m?: string;
  /** A column of the same table, or an OID behind the maker's prefix. */
  l?: Record<string, [at: number | string, factor?: number]>;
  by?: Record<string, [column: number, labels?: Record<string, string>]>;
}

/** The tables of one line; OIDs in it follow `prefix`. */
export function parseTables(line: string, prefix: string): Table[] {
  const { z: enums, t: tables } = JSON.parse(line) as { z: string[]; t: RawTable[] };
  const states = enums.map(parseStates);
  return tables.map(({ e, s, i, n, r }) => {
    const entry = prefix + e;
    return {
      entry,
      scalar: s === 1,
      ...(i ? { index: i } : {}),
      ...(n ? { name: prefix + n } : {}),
      readings: r.map(([column, kind, factor, label, more]) => ({
        oid: `${entry}.${column}`,
        kind,
        factor,
        label,
        guessed: more.q === 1,
        rank: more.k ?? 1,
        ...moreOf(entry, prefix, more, states),
      })),
    };
  });
}

function moreOf(
  entry: string,
  prefix: string,
  more: RawMore,
  states: ReadonlyMap<number, StateWord>[],
): Partial<Reading> {
  const component = SENSOR_COMPONENTS.find((each) => each === more.c);
  const enumeration = more.z === undefined ? undefined : states[more.z];
  return {
    ...(component ? { component } : {}),
    ...(more.u ? { unit: more.u } : {}),
    ...(more.o ? { role: more.o } : {}),
    ...(more.g !== undefined ? { group: more.g } : {}),
    ...(enumeration ? { states: enumeration } : {}),
    ...(more.m ? { called: prefix + more.m } : {}),
    ...(more.n ? { words: new Set(more.n) } : {}),
    ...(more.l
      ? {
          limits: Object.entries(more.l).flatMap(([side, [at, factor]]) =>
            LIMITS[side]
              ? [
                  {
                    name: LIMITS[side],
                    oid: typeof at === 'string' ? prefix + at : `${entry}.${at}`,
                    ...(factor === undefined ? {} : { factor }),
                  },
                ]
              : [],
          ),
        }
      : {}),
    ...(more.by
      ? {
          by: Object.fromEntries(
            Object.entries(more.by).map(([what, [column, labels]]) => [
              what,
              { oid: `${entry}.${column}`, ...(labels ? { labels } : {}) },
            ]),
          ),
        }
      : {}),
  };
}

/** `1oup,2cdown`: number, status, label. */
function parseStates(text: string): Map<number, StateWord> {
  const states = new Map<number, StateWord>();
  for (const part of text.split(',')) {
    const found = /^(-?\d+)([owcu])(.*)$/.exec(part);
    if (found)
      states.set(Number(found[1]), {
        status: STATUS[found[2] as string] ?? 'unknown',
        label: found[3] ?? '',
      });
  }
  return states;
}

/** Every column that readings of these tables are made of. */
export function columnsOfTables(tables: readonly Table[]): string[] {
  const columns = new Set<string>();
  for (const { name, readings } of tables) {
    if (name) columns.add(name);
    for (const { oid, called, limits = [], by = {} } of readings) {
      columns.add(oid);
      if (called) columns.add(called);
      for (const limit of limits) columns.add(limit.oid);
      for (const { oid: beside } of Object.values(by)) columns.add(beside);
    }
  }
  return [...columns];
}
