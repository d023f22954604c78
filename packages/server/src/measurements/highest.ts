/** The highest values of a row of samples: small, so that what ranks all devices need not read all of their values. Pure. */
import { RANKED, type RankedName } from '@rollcall/shared/api/measurements';
import type { SampleData } from './samples.ts';
import { ofSample } from './series.ts';

/** The part of a row that a metric follows from, by whose it is. */
export const PART_OF = { interface: 'ports', device: 'ping' } as const;

/** Of each part that was read, by metric; what is not above 0, or not known, is left out. */
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
export const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
