/** What a caller is told of itself. */
import type { Me, Session } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import type { Session as SessionRow } from '../generated/prisma/client.ts';
import { seconds } from '../platform/db/list.ts';
import type { Actor } from '../platform/http/handler.ts';
import { notFound } from '../platform/problem.ts';
import type { AccountDeps } from './deps.ts';

export const sessionOf = (actor: Actor): string | undefined =>
  actor.via.kind === 'session' ? actor.via.sessionId : undefined;

export const shownSession = (row: SessionRow, current: string | undefined): Session => ({
  id: row.id,
  createdAt: seconds(row.createdAt),
  lastSeenAt: seconds(row.lastSeenAt),
  expiresAt: seconds(row.expiresAt),
  address: row.address,
  userAgent: row.userAgent,
  current: row.id === current,
});

export async function meOf(
  { db: { prisma }, secondFactorRequired = false }: Pick<AccountDeps, 'db' | 'secondFactorRequired'>,
  userId: string,
  via: Actor['via'],
): Promise<Me> {
  const user = await prisma.user.findUnique({
    where: { id: userId },
    include: { sites: true, secondFactor: true },
  });
  if (!user) throw notFound('user');
  const session =
    via.kind === 'session' ? await prisma.session.findUnique({ where: { id: via.sessionId } }) : null;
  const { id, name, displayName, role, allSites } = user;
  const factor = user.secondFactor?.confirmedAt ? user.secondFactor : null;
  return {
    user: {
      id,
      name,
      displayName,
      role: role as Role,
      allSites,
      siteIds: user.sites.map(({ siteId }) => siteId),
      signIn: user.passwordHash === null ? 'oidc' : 'password',
      secondFactor: factor !== null,
      settings: user.settings as Me['user']['settings'],
    },
    via: via.kind,
    session: session && shownSession(session, session.id),
    mustSetUp: secondFactorRequired && factor === null && user.passwordHash !== null,
    recoveryCodes: factor?.recovery.length ?? 0,
  };
}
