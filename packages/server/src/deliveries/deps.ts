import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Change } from '../kernel/change.ts';
import type { Database } from '../kernel/db.ts';
import type { Actor } from '../kernel/handler.ts';
import type { Keyring } from '../kernel/keyring.ts';
import type { Sql } from '../kernel/sql.ts';

/** What the feature needs of the rest of the server. */
export interface DeliveryDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Seals secrets of webhooks and the password of the mail server. */
  keyring: Keyring;
  /** Writes one entry of the audit log, in the transaction of the deed. */
  audit: (
    sql: Sql,
    record: {
      actor: Actor;
      action: string;
      subject: string;
      address: string;
      detail?: Record<string, unknown>;
    },
  ) => Promise<void>;
  /** Records what came about as events, in the same transaction. */
  raise: (sql: Sql, changes: readonly Change[]) => Promise<void>;
  /** Where people reach this server, without a slash at the end; absent: messages hold no links. */
  publicUrl?: string | undefined;
}
