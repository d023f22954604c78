/** A row of samples: its columns as JSON, the series in it, and its highest values. Pure. */
import { type GapReason, RANKED, type RankedName } from '@rollcall/shared/api/measurements';
import type { PortGap, Samples } from '@rollcall/shared/samples';
import { OF_DEVICE, type SeriesById } from './chunk.ts';
import { type Column, joined, ofSample, type Series } from './series.ts';

/** Columns of a row, as JSON. */
export interface SampleData {
  ping?: Record<string, number> | undefined;
  ports?: { id: string[]; speedBps: Column; gap?: (PortGap | null)[] } & Record<
    string,
    (string | number | null)[]
  >;
  /** Values of sensors by their ids. */
  sensors?: { id: string[]; sensor: Column };
  gap?: Samples['gap'];
  /** Of a reading of a slow agent. */
  lagMs?: number | undefined;
}

export interface SampleRow {
  at: Date;
  overMs: number;
  data: SampleData;
}

/** The series of a device out of its rows. */
export function seriesOfRows(rows: readonly SampleRow[]): SeriesById {
  const parts = new Map<string, Series[]>();
  const add = (id: string, row: SampleRow, columns: Record<string, Column>) => {
    const one = { end: [row.at.getTime()], over: [row.overMs], columns };
    parts.set(id, [...(parts.get(id) ?? []), one]);
  };
  const tell = (id: string, { at, overMs }: SampleRow, reason: GapReason) => {
    const ends = at.getTime();
    const gaps = [{ begins: ends - overMs, ends, reason }];
    parts.set(id, [...(parts.get(id) ?? []), { end: [], over: [], columns: {}, gaps }]);
  };
  for (const row of rows) {
    const { ping, ports, sensors } = row.data;
    if (ping)
      add(OF_DEVICE, row, Object.fromEntries(Object.entries(ping).map(([name, value]) => [name, [value]])));
    if (row.data.gap) tell(OF_DEVICE, row, row.data.gap);
    const { id: ids = [], gap: gaps = [], ...columns } = ports ?? {};
    for (const [i, id] of ids.entries()) {
      const gap = gaps[i];
      if (gap) tell(id, row, gap);
      add(
        id,
        row,
        Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, [number(column?.[i])]])),
      );
    }
    for (const [i, id] of (sensors?.id ?? []).entries())
      add(id, row, { sensor: [number(sensors?.sensor[i])] });
  }
  return new Map([...parts].map(([id, some]) => [id, joined(some)]));
}

/** The part of a row that a metric follows from, by whose it is. */
export const PART_OF = { interface: 'ports', device: 'ping' } as const;

/**
 * The highest values of a row, small beside it, so that what ranks all devices need not read all of their values: of each part
 * that was read, by metric. What is not above 0, or not known, is left out.
 */
export type Highest = Partial<Record<'ports' | 'ping', Partial<Record<RankedName, number>>>>;

const METRICS = Object.entries(RANKED) as [RankedName, (typeof RANKED)[RankedName]][];

export function highestOf({ ping, ports }: SampleData, overMs: number): Highest {
  const found: Highest = { ...(ports && { ports: {} }), ...(ping && { ping: {} }) };
  for (const [metric, { of }] of METRICS) {
    const own = found[PART_OF[of]];
    if (!own) continue;
    const valueAt = (i: number) => ofSample(metric, (column) => number(ports?.[column]?.[i]), overMs) ?? 0;
    const value =
      of === 'device'
        ? (ofSample(metric, (column) => ping?.[column] ?? null, overMs) ?? 0)
        : (ports?.id ?? []).reduce((most, _, i) => Math.max(most, valueAt(i)), 0);
    if (value > 0) own[metric] = value;
  }
  return found;
}

/** Null: it is not known. */
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
