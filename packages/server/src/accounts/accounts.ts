/** People and what they may do: sessions, tokens, users, sites, and the record of all of it. */
import type { accountOperations } from '@rollcall/shared/api/accounts';
import type { siteOperations } from '@rollcall/shared/api/sites';
import { SESSION_IDLE_MS } from '../kernel/auth.ts';
import type { Handlers } from '../kernel/handler.ts';
import { auditHandlers } from './audit.ts';
import type { AccountDeps } from './deps.ts';
import { sessionHandlers } from './sessions.ts';
import { siteHandlers } from './sites.ts';
import { tokenHandlers } from './tokens.ts';
import { userHandlers } from './users.ts';

export { type AuditRecord, audit } from './audit.ts';
export { ensureFirstAdmin } from './command-line.ts';
export type { AccountDeps } from './deps.ts';

type Ids = keyof typeof accountOperations | keyof typeof siteOperations;

/** Handlers of everything under Session, API tokens, Users, Sites and Audit. */
export const accountHandlers = (deps: AccountDeps): Handlers<Ids> => ({
  ...sessionHandlers(deps),
  ...tokenHandlers(deps),
  ...userHandlers(deps),
  ...siteHandlers(deps),
  ...auditHandlers(deps),
});

/** Deletes what nobody can see or use any more: ended sessions, tokens revoked long ago. Call it every hour or so. */
export async function purgeAccounts({ db, clock }: Pick<AccountDeps, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await db.query('DELETE FROM sessions WHERE expires_at < $1 OR last_seen_at < $2', [
    new Date(now),
    new Date(now - SESSION_IDLE_MS),
  ]);
  await db.query(`DELETE FROM api_tokens WHERE revoked_at < $1::timestamptz - interval '31 days'`, [
    new Date(now),
  ]);
}
