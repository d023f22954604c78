/** People and what they may do: sessions, tokens, users, sites, and the record of all of it. */
import type { accountOperations } from '@rollcall/shared/api/accounts';
import type { secondFactorOperations } from '@rollcall/shared/api/second-factor';
import type { siteOperations } from '@rollcall/shared/api/sites';
import { REVOKED_SHOWN_DAYS, type tokenOperations } from '@rollcall/shared/api/tokens';
import { SESSION_IDLE_MS } from '../platform/access/auth.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { auditHandlers } from './audit.ts';
import type { AccountDeps } from './deps.ts';
import { ATTEMPT_MS } from './oidc/attempt.ts';
import { oidcHandlers } from './oidc/handlers.ts';
import { secondFactorHandlers } from './second-factor/handlers.ts';
import { sessionHandlers } from './sessions.ts';
import { siteHandlers } from './sites.ts';
import { FORGET_MS } from './throttle.ts';
import { tokenHandlers } from './tokens.ts';
import { userHandlers } from './users.ts';

export { audit } from './audit.ts';
export { ensureFirstAdmin } from './command-line.ts';
export type { AccountDeps } from './deps.ts';

const DAY_MS = 24 * 3600_000;

type Ids =
  | keyof (typeof accountOperations & typeof secondFactorOperations & typeof tokenOperations)
  | keyof typeof siteOperations;

/** Handlers of everything under Session, API tokens, Users, Sites and Audit. */
export const accountHandlers = (deps: AccountDeps): Handlers<Ids> => ({
  ...sessionHandlers(deps),
  ...secondFactorHandlers(deps),
  ...oidcHandlers(deps),
  ...tokenHandlers(deps),
  ...userHandlers(deps),
  ...siteHandlers(deps),
  ...auditHandlers(deps),
});

/** Deletes what nobody can see or use any more: ended sessions and sign-ins, tokens revoked long ago, forgotten failures. Call it every hour or so. */
export async function purgeAccounts({ db, clock }: Pick<AccountDeps, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const [idle, old] = [new Date(now - SESSION_IDLE_MS), new Date(now - (REVOKED_SHOWN_DAYS + 1) * DAY_MS)];
  const over = [{ expiresAt: { lt: new Date(now) } }, { lastSeenAt: { lt: idle } }];
  await db.prisma.session.deleteMany({ where: { OR: over } });
  await db.prisma.spentSignIn.deleteMany({ where: { at: { lt: new Date(now - ATTEMPT_MS) } } });
  await db.prisma.apiToken.deleteMany({ where: { revokedAt: { lt: old } } });
  await db.prisma.loginFailure.deleteMany({ where: { last: { lt: new Date(now - FORGET_MS) } } });
}
