import type { Clock } from '@rollcall/shared/clock';
import { Problem } from '../../platform/problem.ts';

/** While the database is away it is tried this often, on average. */
const AWAY_MS = 500;

/**
 * Does something with the database, again and again while that is away: links outlive its absence, and what the window
 * let in is stored in the moment it is back. Fails as the work does, or with its last failure once `over` says so.
 */
export async function whenThere<T>(clock: Clock, over: () => boolean, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'unavailable') || over()) throw error;
      await clock.sleep(Math.round(AWAY_MS * (0.5 + Math.random())));
      if (over()) throw error;
    }
  }
}
