/** What turned for the worse or the better between two reports of a collector about itself. */
import type { ChangeOf } from '../../changes.ts';
import type { Beat } from './states.ts';

export interface SelfReport {
  /** Server clock minus the collector's, milliseconds. */
  offset: number;
  /** Its heartbeat; empty before the first. */
  health: Partial<Pick<Beat, 'outbox' | 'behindMs' | 'paused'>>;
}

/** A clock this far off is worth an event, and half of it is well again, milliseconds. */
const CLOCK_OFF_MS = 10_000;
/** Observations that wait this long are a backlog, and half of it is none any more, milliseconds. */
const BEHIND_MS = 20_000;
/** Between two reports that follow each other, at most. */
const REPORTS_APART_MS = 30_000;

type Turn<K extends 'collector.clock' | 'collector.backlog' | 'collector.paused'> = Omit<
  ChangeOf<K>,
  'siteId' | 'at' | 'collectorId' | 'collectorName'
> & {
  /** When the bound was crossed, milliseconds before the report: reports are rare, and hold times count from there. */
  agoMs: number;
};

/** Which bounds were crossed, either way. */
export function changesBetween(
  was: SelfReport,
  is: SelfReport,
): (Turn<'collector.clock'> | Turn<'collector.backlog'> | Turn<'collector.paused'>)[] {
  const turns = [];
  const clock = crossed(Math.abs(was.offset), Math.abs(is.offset), CLOCK_OFF_MS);
  if (clock)
    turns.push({ kind: 'collector.clock' as const, offsetMs: is.offset, ok: clock === 'well', agoMs: 0 });
  const { outbox, behindMs, paused } = is.health;
  // A connection without a heartbeat so far says nothing.
  if (outbox === undefined || behindMs === undefined || paused === undefined) return turns;
  const behind = crossed(was.health.behindMs ?? 0, behindMs, BEHIND_MS);
  if (behind)
    turns.push({
      kind: 'collector.backlog' as const,
      behindMs,
      waiting: outbox.depth,
      ok: behind === 'well',
      // What waited during a break of the link has waited long, and is sent within seconds. The report before was within
      // the bound: a clock that jumped makes it no earlier.
      agoMs:
        behind === 'well' || was.health.behindMs === undefined
          ? 0
          : Math.min(behindMs - BEHIND_MS, REPORTS_APART_MS),
    });
  if (((was.health.paused ?? null) === null) !== (paused === null))
    turns.push({ kind: 'collector.paused' as const, reason: paused ?? '', ok: paused === null, agoMs: 0 });
  return turns;
}

/** Above a bound is off, at half of it or below well; between the two it stays as it was. */
function crossed(was: number, is: number, bound: number): 'off' | 'well' | null {
  if (is > bound && was <= bound) return 'off';
  return is <= bound / 2 && was > bound / 2 ? 'well' : null;
}
