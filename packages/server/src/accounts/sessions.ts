/** Signing in and out, and what people change about themselves. */
import type { Prisma } from '../generated/prisma/client.ts';
import { SESSION_IDLE_MS } from '../platform/access/auth.ts';
import { sessionCookie } from '../platform/access/presented.ts';
import type { Transaction } from '../platform/db/db.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import { audit } from './audit.ts';
import type { AccountDeps } from './deps.ts';
import { meOf, sessionOf, shownSession } from './me.ts';
import { beginSession, browserOf, endSessions, lockAccount, openSession } from './open-session.ts';
import { hashPassword, isOutdated, passwordFits } from './password.ts';
import { refuseGuessable } from './password-list.ts';
import { spendCode } from './second-factor/factor.ts';
import { loginThrottle, tooOften } from './throttle.ts';
import { revokeTokens } from './tokens.ts';

/** Bytes of a person's own settings. */
const SETTINGS_BYTES = 64 * 1024;

type Ids = 'session.create' | 'session.get' | 'session.update' | 'session.delete' | 'session.password';
type ListIds = 'sessions.list' | 'sessions.delete';

export function sessionHandlers(deps: AccountDeps): Handlers<Ids | ListIds> {
  const { db, clock, keyring, forget } = deps;
  const throttle = loginThrottle({ db, clock });

  return {
    'session.create': async (call) => {
      const { body, address } = call;
      const name = body.name.trim().toLowerCase();
      const guess = await throttle.begin(name, address);
      if ('waitMs' in guess) throw tooOften(guess.waitMs);
      const user = await signInRow(db.prisma, name);
      const fits = await passwordFits(body.password, user?.passwordHash);
      if (!user?.passwordHash || !fits || user.disabledAt) {
        await audit(db, { actor: { name }, action: 'session.refused', address });
        throw new Problem('unauthorized', 'the name or the password is wrong');
      }
      const hasFactor = asksForCode(user);
      if (hasFactor && body.code === undefined) {
        await guess.incomplete();
        throw codeProblem('a code of the authenticator app is needed', 'is needed');
      }
      const rehashed = isOutdated(user.passwordHash) ? await hashPassword(body.password) : null;
      const opened = await db.transaction(async (sql) => {
        if (!(await signsInAs(sql, name, user))) return 'changed';
        const code = body.code ?? '';
        const by = hasFactor
          ? await spendCode(sql, keyring, { userId: user.id, code }, clock.now())
          : 'password';
        if (by === null) return 'code';
        if (rehashed !== null)
          await sql.prisma.user.update({ where: { id: user.id }, data: { passwordHash: rehashed } });
        const session = await beginSession(sql, user.id, browserOf(call), clock.now());
        const detail = hasFactor ? { with: by } : {};
        await audit(sql, { actor: { userId: user.id, name }, action: 'session.create', address, detail });
        return session;
      });
      if (typeof opened === 'string') {
        await audit(db, { actor: { name }, action: 'session.refused', address, detail: { reason: opened } });
        throw opened === 'code'
          ? codeProblem('the code is wrong, or was used before', 'is wrong, or was used before')
          : new Problem('unauthorized', 'the account changed during this sign-in; sign in again');
      }
      await guess.succeeded();
      return {
        data: await meOf(deps, user.id, { kind: 'session', sessionId: opened.id }),
        headers: { 'Set-Cookie': opened.cookie },
      };
    },

    'session.get': async ({ actor }) => {
      const data = await meOf(deps, actor.userId, actor.via);
      if (actor.via.kind === 'session' || !actor.via.readOnly) return { data };
      const { role, sites } = actor;
      const rights = { role, allSites: sites === 'all', siteIds: sites === 'all' ? [] : [...sites] };
      return { data: { ...data, user: { ...data.user, ...rights, settings: {} } } };
    },

    'session.update': async ({ actor, body }) => {
      if (Buffer.byteLength(JSON.stringify(body.settings ?? {})) > SETTINGS_BYTES)
        throw invalid('settings', `must not be larger than ${SETTINGS_BYTES / 1024} KiB`);
      await db.prisma.user.update({
        where: { id: actor.userId },
        data: {
          ...(body.displayName !== undefined && { displayName: body.displayName }),
          ...(body.settings !== undefined && { settings: body.settings as Prisma.InputJsonObject }),
        },
      });
      return { data: await meOf(deps, actor.userId, actor.via) };
    },

    'session.delete': async ({ actor, address, secure }) => {
      await db.transaction(async (sql) => {
        await endSessions(sql, actor.userId, { only: sessionOf(actor) });
        await audit(sql, { actor, action: 'session.delete', address });
      });
      forget(actor.userId);
      // Saved views and the like, which the browser keeps: they come again from the account.
      const headers = { 'Set-Cookie': sessionCookie(secure, null), 'Clear-Site-Data': '"storage"' };
      return { data: null, headers };
    },

    'session.password': async (call) => {
      const { actor, body, address } = call;
      refuseGuessable('next', body.next, actor.name);
      // Guessing the present password through an open session is guessing all the same.
      const guess = await throttle.begin(actor.name, address);
      if ('waitMs' in guess) throw tooOften(guess.waitMs);
      const user = await signInRow(db.prisma, actor.name);
      if (user && user.passwordHash === null)
        throw new Problem('conflict', 'this account has no password here: it signs in with the provider');
      if (!(await passwordFits(body.current, user?.passwordHash)))
        throw invalid('current', 'is not the present password');
      const next = await hashPassword(body.next);
      const opened = await db.transaction(async (sql) => {
        const changed = await sql.prisma.user.updateMany({
          where: { id: actor.userId, passwordHash: user?.passwordHash ?? '' },
          data: { passwordHash: next },
        });
        if (changed.count === 0) throw new Problem('conflict', 'the password was changed in the meantime');
        await endSessions(sql, actor.userId, {});
        if (body.revokeTokens) await revokeTokens(sql, actor.userId, clock.now());
        await audit(sql, { actor, action: 'session.password', address });
        return openSession(sql, actor.userId, browserOf(call), clock.now());
      });
      // A person who has only the password must not be forgiven the guesses at the codes.
      await (asksForCode(user) ? guess.incomplete() : guess.succeeded());
      forget(actor.userId);
      return {
        data: await meOf(deps, actor.userId, { kind: 'session', sessionId: opened.id }),
        headers: { 'Set-Cookie': opened.cookie },
      };
    },

    'sessions.list': async ({ actor }) => {
      const now = clock.now();
      const rows = await db.prisma.session.findMany({
        where: {
          userId: actor.userId,
          expiresAt: { gt: new Date(now) },
          lastSeenAt: { gt: new Date(now - SESSION_IDLE_MS) },
        },
        orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }],
        take: 100,
      });
      const data = rows.map((row) => shownSession(row, sessionOf(actor)));
      return { data, totalCount: data.length };
    },

    'sessions.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const session = await sql.prisma.session.findFirst({
          where: { id: params.id, userId: actor.userId },
        });
        const ended = session && (await endSessions(sql, actor.userId, { only: params.id }));
        if (!ended) throw notFound('session');
        const { address: from, userAgent } = session;
        await audit(sql, {
          ...{ actor, address, action: 'session.delete', subject: `session from ${from}` },
          detail: { id: params.id, userAgent },
        });
      });
      forget(actor.userId);
      return { data: null };
    },
  };
}

const codeProblem = (text: string, message: string): Problem =>
  new Problem('unauthorized', text, { details: [{ path: 'code', message }] });

const signInRow = (prisma: Transaction['prisma'], name: string) =>
  prisma.user.findUnique({
    where: { name },
    select: {
      id: true,
      passwordHash: true,
      disabledAt: true,
      secondFactor: { select: { confirmedAt: true } },
    },
  });

type SignInRow = NonNullable<Awaited<ReturnType<typeof signInRow>>>;

const asksForCode = (user: SignInRow | null): boolean => user?.secondFactor?.confirmedAt != null;

/** Whether the account, locked from now on, still signs in as when its password was checked: that takes its time. */
async function signsInAs(sql: Transaction, name: string, checked: SignInRow): Promise<boolean> {
  await lockAccount(sql, checked.id);
  const now = await signInRow(sql.prisma, name);
  return (
    now?.id === checked.id &&
    now.disabledAt === null &&
    now.passwordHash === checked.passwordHash &&
    asksForCode(now) === asksForCode(checked)
  );
}
