import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../platform/db/db.ts';

export interface AccountDeps {
  db: Database;
  clock: Clock;
  /** Rights of a user changed: this instance forgets at once what it knew of them (Authenticator.forget). */
  forget: (userId?: string) => void;
}
