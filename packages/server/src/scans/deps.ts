import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../kernel/db.ts';
import type { Actor } from '../kernel/handler.ts';
import type { Keyring } from '../kernel/keyring.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Raise } from './ending.ts';

/** Writes one entry of the audit log, in the transaction of the deed. */
export type Audit = (
  sql: Sql,
  record: {
    actor: Pick<Actor, 'userId' | 'name'> | { name: string };
    action: string;
    subject?: string;
    siteId?: string;
    address?: string;
    detail?: Record<string, unknown>;
  },
) => Promise<void>;

/** What the feature needs of the rest of the server. */
export interface ScanDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Records what came about as events, in the same transaction. */
  raise: Raise;
  audit: Audit;
  /** Opens and seals credentials. */
  keyring: Keyring;
  /** Most addresses of one scan. */
  maxAddresses: number;
  /** How long a lease lasts without progress. */
  leaseMs?: number;
}
