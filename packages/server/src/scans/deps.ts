import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { Audit, RecordChanges } from '../ports.ts';

/** What the feature needs of the rest of the server. */
export interface ScanDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Records what came about as events, in the same transaction. */
  recordChanges: RecordChanges;
  audit: Audit;
  /** Most addresses of one scan. */
  maxAddresses: number;
  /** How long a lease lasts without progress. */
  leaseMs?: number;
}
