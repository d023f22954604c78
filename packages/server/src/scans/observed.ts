import type { RecordChanges } from '../ports.ts';
import { endings } from './ending.ts';
import { followNeighbours } from './follow.ts';
import { outcomesApplier } from './outcomes.ts';
import { LEASE_MS } from './queue.ts';

/** What observations do to jobs and their scans: for ingest, inside its transaction. */
export function observedJobs({
  recordChanges,
  now,
  leaseMs = LEASE_MS,
}: {
  recordChanges: RecordChanges;
  now: () => number;
  leaseMs?: number | undefined;
}) {
  const { applyJobEnd } = endings({ recordChanges, now, follow: followNeighbours });
  return { applyOutcomes: outcomesApplier({ leaseMs }), applyJobEnd };
}
