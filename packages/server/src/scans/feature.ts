/** Everything about scans, put together: what the rest of the server calls, and what runs by itself. */
import { credentialHandlers } from './credential-routes.ts';
import { createCredentials } from './credentials.ts';
import type { ScanDeps } from './deps.ts';
import { endings } from './ending.ts';
import { followNeighbours } from './follow.ts';
import { observedJobs } from './observed.ts';
import { profileHandlers, seedProfiles } from './profiles.ts';
import { createQueue, LEASE_MS } from './queue.ts';
import { scanHandlers } from './routes.ts';
import { createScans } from './scans.ts';
import { createSchedules } from './schedules.ts';

/** How often leases that ran out are looked for. */
const REAP_MS = 2_000;
/** How often schedules are looked at: patterns are in minutes. */
const SCHEDULE_MS = 5_000;

export type ScanFeature = ReturnType<typeof createScanFeature>;

export function createScanFeature(deps: ScanDeps) {
  const { db, clock, log, raise, leaseMs = LEASE_MS } = deps;
  const ends = endings({ raise, now: () => clock.now(), follow: followNeighbours });
  const queue = createQueue({ db, endings: ends, leaseMs });
  const scans = createScans(deps);
  const schedules = createSchedules({ ...deps, scans });
  const credentials = createCredentials(deps);

  /** Work that has to go on whatever one round of it meets. */
  const round = (name: string, work: () => Promise<unknown>) => async () => {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error instanceof Error ? error.message : String(error) }, `${name}: this round failed`);
    }
  };

  return {
    queue,
    scans,
    credentials,
    schedules,
    ...observedJobs({ raise, now: () => clock.now(), leaseMs }),
    handlers: {
      ...scanHandlers({ ...deps, scans }),
      ...profileHandlers(deps),
      ...schedules.handlers,
      ...credentialHandlers(deps),
    },
    /** Writes the profiles of the product and begins the rounds. */
    start: async (): Promise<() => void> => {
      await seedProfiles(db);
      const stops = [
        clock.every(REAP_MS, round('taking back leases', queue.reap)),
        clock.every(SCHEDULE_MS, round('schedules', schedules.runDue)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
