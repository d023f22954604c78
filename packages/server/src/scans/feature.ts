/** Everything about scans, put together: what the rest of the server calls. */

import type { ScanDeps } from './deps.ts';
import { endings } from './ending.ts';
import { followNeighbours } from './follow.ts';
import { observedJobs } from './observed.ts';
import { profileHandlers, seedProfiles } from './profiles.ts';
import { createQueue, LEASE_MS } from './queue.ts';
import { scanHandlers } from './routes.ts';
import { createScans } from './scans.ts';
import { runDue, scheduleHandlers } from './schedules.ts';

export type ScanFeature = ReturnType<typeof createScanFeature>;

export function createScanFeature(deps: ScanDeps) {
  const { db, clock, recordChanges, leaseMs = LEASE_MS } = deps;
  const ends = endings({ recordChanges, now: () => clock.now(), follow: followNeighbours });
  const queue = createQueue({ db, endings: ends, leaseMs });
  const scans = createScans(deps);

  return {
    queue,
    scans,
    /** Starts the scans of schedules that are due. */
    runSchedules: () => runDue({ ...deps, scans }),
    ...observedJobs({ recordChanges, now: () => clock.now(), leaseMs }),
    handlers: {
      ...scanHandlers({ ...deps, scans }),
      ...profileHandlers(deps),
      ...scheduleHandlers({ ...deps, scans }),
    },
    /** Writes the profiles of the product. */
    seed: () => seedProfiles(db),
  };
}
