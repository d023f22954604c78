/** The spans of a time line, out of the counts of its changes. Pure. */
import type { ChangeCounts } from '@rollcall/shared/api/changes';

/** Kinds that are drawn in one colour, by the beginning of their names. */
export const GROUPS = [
  { id: 'device', label: 'Devices', colour: '--chart-1' },
  { id: 'interface', label: 'Interfaces', colour: '--chart-2' },
  { id: 'other', label: 'Neighbours and addresses', colour: '--chart-3' },
  { id: 'endpoint', label: 'Endpoints', colour: '--sev-4' },
] as const;
export type GroupId = (typeof GROUPS)[number]['id'];

export interface Span {
  /** Unix seconds; the first one of it, and the last. */
  from: number;
  to: number;
  counts: Record<GroupId, number>;
  total: number;
}

const groupOf = (kind: string): GroupId => GROUPS.find(({ id }) => kind.startsWith(`${id}.`))?.id ?? 'other';

/** All spans from the first to the last, those without changes too. */
export function spansOf({ from, to, step, counts }: ChangeCounts): Span[] {
  const first = Math.floor(from / step);
  const spans = Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i): Span => {
    const begin = (first + i) * step;
    return {
      ...{ from: Math.max(from, begin), to: Math.min(to, begin + step - 1) },
      ...{ counts: { device: 0, interface: 0, other: 0, endpoint: 0 }, total: 0 },
    };
  });
  for (const { at, kind, count } of counts) {
    const span = spans[Math.floor(at / step) - first];
    if (!span) continue;
    span.counts[groupOf(kind)] += count;
    span.total += count;
  }
  return spans;
}

/** The time from one span to another, whichever is first. */
export function timeOf(
  spans: readonly Span[],
  a: number,
  b: number,
): { from: string; to: string } | undefined {
  const [first, last] = [spans[Math.min(a, b)], spans[Math.max(a, b)]];
  return first && last && { from: String(first.from), to: String(last.to) };
}

/** Which span is at a share (0 to 1) of the width. */
export const spanAt = (share: number, count: number): number =>
  Math.max(0, Math.min(count - 1, Math.floor(share * count)));
