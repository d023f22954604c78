import type { Series } from '@rollcall/shared/api/measurements';

/** Traffic of one interface over a time. */
export interface Busy {
  id: string;
  name: string;
  in: readonly (number | null)[];
  out: readonly (number | null)[];
  meanIn: number | null;
  meanOut: number | null;
  /** Of the busier direction. */
  mean: number;
}

/** Interfaces listed. */
const MOST = 8;

const meanOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
};

/** The interfaces with the most traffic in their busier direction; idle ones are left out. */
export const busiest = (series: readonly Series[]): Busy[] =>
  trafficOf(series)
    .filter(({ mean }) => mean > 0)
    .sort((a, b) => b.mean - a.mean)
    .slice(0, MOST);

/** Traffic by interface, out of the series of both directions. */
export function trafficOf(series: readonly Series[]): Busy[] {
  const ports = new Map<string, { name: string; in: Series['values']; out: Series['values'] }>();
  for (const { interfaceId, interfaceName, metric, values } of series) {
    if (interfaceId === null || (metric !== 'in' && metric !== 'out')) continue;
    const port = ports.get(interfaceId) ?? { name: interfaceName ?? '', in: [], out: [] };
    ports.set(interfaceId, { ...port, [metric]: values });
  }
  return [...ports].map(([id, port]) => {
    const [meanIn, meanOut] = [meanOf(port.in), meanOf(port.out)];
    return { id, ...port, meanIn, meanOut, mean: Math.max(meanIn ?? 0, meanOut ?? 0) };
  });
}

/** What `loadOf` is made of. */
export const LOAD = [
  'inUtilisation',
  'outUtilisation',
  'inErrors',
  'outErrors',
  'inDiscards',
  'outDiscards',
] as const;

/** By interface: percent of its speed in the busier direction, and packets with errors or discarded, a second. */
export function loadOf(
  series: readonly Series[],
): ReadonlyMap<string, { utilisation: number | null; errors: number }> {
  const ports = new Map<string, { utilisation: number | null; errors: number }>();
  for (const { interfaceId, metric, values } of series) {
    const mean = meanOf(values);
    if (interfaceId === null || mean === null) continue;
    const port = ports.get(interfaceId) ?? { utilisation: null, errors: 0 };
    ports.set(interfaceId, port);
    if (metric.endsWith('Utilisation')) port.utilisation = Math.max(port.utilisation ?? 0, mean);
    else port.errors += mean;
  }
  return ports;
}
