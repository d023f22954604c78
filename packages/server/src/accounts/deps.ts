import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { OidcSettings } from '../platform/ops/oidc-settings.ts';

export interface AccountDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  keyring: Keyring;
  /** Rights of a user changed: this instance forgets at once what it knew of them (Authenticator.forget). */
  forget: (userId?: string) => void;
  /** Accounts with a password need a second factor. */
  secondFactorRequired?: boolean | undefined;
  /** The provider of identities; absent: passwords only. */
  oidc?: OidcSettings | undefined;
}
