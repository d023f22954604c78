import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { AcknowledgeCase, Audit, RecordChanges } from '../ports.ts';

/** What the feature needs of the rest of the server. */
export interface DeliveryDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Seals secrets of webhooks and the password of the mail server. */
  keyring: Keyring;
  /** Writes one entry of the audit log, in the transaction of the deed. */
  audit: Audit;
  /** Records what came about as events, in the same transaction. */
  recordChanges: RecordChanges;
  acknowledgeCase: AcknowledgeCase;
  /** Every kind of event there is. */
  eventKinds: readonly string[];
  /** Where people reach this server, without a slash at the end; absent: messages hold no links. */
  publicUrl?: string | undefined;
}
