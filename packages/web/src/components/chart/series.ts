/** What charts are drawn from: pure, so that it is tested without a canvas. */
import type { MeasurementGap, MetricData, MetricName } from '@rollcall/shared/api/measurements';
import { csvLine } from '@rollcall/shared/csv';
import { bitrate, timeFormat } from '../../format.ts';

/** One line of a chart. */
export interface Line {
  label: string;
  /** A CSS variable of the theme. */
  colour: string;
  /** One value per point of time; null where nothing was measured. */
  values: readonly (number | null)[];
  /** Drawn below the axis: sent traffic beneath received. */
  isMirrored?: boolean;
  p95: number | null;
  /** When nothing was measured, and why. */
  gaps?: readonly MeasurementGap[];
}

/** A time in which something was in a state: a part of the band under the lines. Unix seconds. */
export interface BandSpan {
  from: number;
  to: number;
  label: string;
  /** A CSS variable of the theme. */
  colour: string;
}

/** The middle of every step, Unix seconds: there its value is drawn. */
export const timesOf = ({ from, step, series }: MetricData): number[] =>
  Array.from({ length: series[0]?.values.length ?? 0 }, (_, i) => from + i * step + step / 2);

/** The series of a metric as a line; undefined where it was not measured. */
export function lineOf(
  data: MetricData,
  metric: MetricName,
  look: Pick<Line, 'label' | 'colour' | 'isMirrored'>,
): Line | undefined {
  const found = data.series.find((one) => one.metric === metric);
  return found && { ...look, values: found.values, p95: found.p95, gaps: found.gaps };
}

/** Whether anything was measured at all. */
export const hasValues = (series: readonly Pick<Line, 'values'>[]): boolean =>
  series.some(({ values }) => values.some((value) => value !== null));

/** What is said instead of a chart without values. */
export function nothing(lines: readonly Pick<Line, 'gaps'>[]): string {
  const why = new Set(lines.flatMap(({ gaps = [] }) => gaps.map(({ message }) => message)));
  return `Nothing was measured in this time${why.size > 0 ? `: ${[...why].join('; ')}` : ''}.`;
}

/** A value as people read it: `12.4 Mbit/s`, `3.1 ms`, `0.02 /s`. */
export function valueText(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return '–';
  if (unit === 'bit/s') return bitrate(Math.round(value));
  const number = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  const text = number.toLocaleString('en', { maximumFractionDigits: 3 });
  return unit === '1/s' ? `${text} /s` : `${text} ${unit}`;
}

export interface Figures {
  last: number | null;
  mean: number | null;
  most: number | null;
}

/** Last, mean and largest of what was measured. */
export function figuresOf(values: readonly (number | null)[]): Figures {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { last: null, mean: null, most: null };
  const sum = known.reduce((total, value) => total + value, 0);
  return { last: known.at(-1) ?? null, mean: sum / known.length, most: Math.max(...known) };
}

/** What somebody who does not see the chart is told. */
export function described(title: string, unit: string, lines: readonly Line[]): string {
  const said = lines.map(({ label, values }) => {
    const { last, mean, most } = figuresOf(values);
    return `${label}: last ${valueText(last, unit)}, mean ${valueText(mean, unit)}, max ${valueText(most, unit)}`;
  });
  return `${title}. ${said.join('. ')}.`;
}

const DAY = 86_400;

/** Why a step that begins and ends then has no value: `not measured 10:02–10:07: the agent restarted`. */
export function gapText(
  gaps: readonly MeasurementGap[] = [],
  { from, to }: { from: number; to: number },
  zone: string,
): string | null {
  const gap = gaps.find((one) => one.from < to && one.to > from);
  if (!gap) return null;
  const text = (seconds: number) => clockText(seconds, gap.to - gap.from, zone);
  return `not measured ${text(gap.from)}–${text(gap.to)}: ${gap.message}`;
}

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const DATE = { day: 'numeric', month: 'short' } as const;

/** The time of day; with its date where less would be ambiguous. */
const clockText = (seconds: number, span: number, zone: string): string =>
  timeFormat('en-GB', zone, span >= DAY ? { ...DATE, ...CLOCK } : CLOCK).format(seconds * 1000);

/** A tick of the time axis: the date where ticks are days apart or a day begins, else the time of day. */
export function tickText(seconds: number, apart: number, zone: string): string {
  const text = timeFormat('en-GB', zone, CLOCK).format(seconds * 1000);
  if (apart < DAY && text !== '00:00') return text;
  return timeFormat('en-GB', zone, DATE).format(seconds * 1000);
}

/** Bounds of the value axis: zero is always on it, and a flat line has room above. */
export function valueRange(lowest: number | null, highest: number | null, least: number): [number, number] {
  const above = Math.max(least, (highest ?? 0) * 1.1);
  const below = Math.min(0, (lowest ?? 0) * 1.1);
  return [below < 0 ? Math.min(below, -least) : 0, above];
}

/** The chart as a file for spreadsheets: one line per point of time, in ISO 8601 (UTC), values in the unit of its title. */
export const csvOf = (unit: string, times: readonly number[], lines: readonly Line[]): string[] => [
  csvLine(['time', ...lines.map(({ label }) => `${label}, ${unit}`)]),
  ...times.map((time, i) =>
    csvLine([new Date(time * 1000).toISOString(), ...lines.map(({ values }) => values[i])]),
  ),
];
