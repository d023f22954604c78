/** Signing in and out, and what people change about themselves. */
import type { Me, Session } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { rightsChanged, SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../platform/access/auth.ts';
import { presentedSession, sessionCookie } from '../platform/access/presented.ts';
import { hashOf, mintSessionId } from '../platform/access/token.ts';
import type { Database, Sql } from '../platform/db/db.ts';
import { seconds } from '../platform/db/list.ts';
import { unix } from '../platform/db/page.ts';
import type { Actor, Handlers } from '../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import { audit } from './audit.ts';
import type { AccountDeps } from './deps.ts';
import { hashPassword, isOutdated, passwordFits } from './password.ts';
import { refuseGuessable } from './password-list.ts';
import { loginThrottle } from './throttle.ts';
import { revokeTokens } from './tokens.ts';

const COLUMNS = `id, ${unix('created_at')} AS "createdAt", ${unix('last_seen_at')} AS "lastSeenAt",
  ${unix('expires_at')} AS "expiresAt", address, user_agent AS "userAgent"`;
/** Sessions of one account; the oldest makes room. */
const SESSIONS_MOST = 50;
/** Bytes of a person's own settings. */
const SETTINGS_BYTES = 64 * 1024;

type Ids = 'session.create' | 'session.get' | 'session.update' | 'session.delete' | 'session.password';
type ListIds = 'sessions.list' | 'sessions.delete';

export function sessionHandlers({ db, clock, forget }: AccountDeps): Handlers<Ids | ListIds> {
  const throttle = loginThrottle({ db, clock });

  return {
    'session.create': async ({ body, address, secure, header }) => {
      const name = body.name.trim().toLowerCase();
      const guess = await throttle.begin(name, address);
      if ('waitMs' in guess) throw tooOften(guess.waitMs);
      const user = await signInRow(db, name);
      const fits = await passwordFits(body.password, user?.passwordHash);
      if (!user || !fits || user.disabledAt) {
        await audit(db, { actor: { name }, action: 'session.refused', address });
        throw new Problem('unauthorized', 'the name or the password is wrong');
      }
      await guess.succeeded();
      const rehashed = isOutdated(user.passwordHash) ? await hashPassword(body.password) : null;
      const opened = await db.transaction(async (sql) => {
        // Whatever session the browser held, planted or its own, ends here.
        const old = presentedSession(header('cookie'), secure);
        if (old !== undefined) await sql.query('DELETE FROM sessions WHERE id_hash = $1', [hashOf(old)]);
        await sql.query(
          'UPDATE users SET last_login_at = $2, password_hash = coalesce($3, password_hash) WHERE id = $1',
          [user.id, new Date(clock.now()), rehashed],
        );
        const session = await openSession(sql, user.id, clock.now(), address, header('user-agent'));
        await audit(sql, { actor: { userId: user.id, name }, action: 'session.create', address });
        return session;
      });
      return {
        data: await meOf(db, user.id, { kind: 'session', sessionId: opened.id }),
        headers: { 'Set-Cookie': cookieOf(secure, opened.secret) },
      };
    },

    'session.get': async ({ actor }) => ({ data: await meOf(db, actor.userId, actor.via) }),

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
      return { data: await meOf(db, actor.userId, actor.via) };
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

    'session.password': async ({ actor, body, address, secure, header }) => {
      // Guessing the present password through an open session is guessing all the same.
      const guess = await throttle.begin(actor.name, address);
      if ('waitMs' in guess) throw tooOften(guess.waitMs);
      const user = await signInRow(db, actor.name);
      if (!(await passwordFits(body.current, user?.passwordHash)))
        throw invalid('current', 'is not the present password');
      await guess.succeeded();
      refuseGuessable('next', body.next, actor.name);
      const next = await hashPassword(body.next);
      const opened = await db.transaction(async (sql) => {
        const changed = await sql.query(
          'UPDATE users SET password_hash = $2 WHERE id = $1 AND password_hash = $3 RETURNING id',
          [actor.userId, next, user?.passwordHash],
        );
        if (changed.length === 0) throw new Problem('conflict', 'the password was changed in the meantime');
        await endSessions(sql, actor.userId, {});
        if (body.revokeTokens) await revokeTokens(sql, actor.userId, clock.now());
        await audit(sql, { actor, action: 'session.password', address });
        return openSession(sql, actor.userId, clock.now(), address, header('user-agent'));
      });
      forget(actor.userId);
      return {
        data: await meOf(db, actor.userId, { kind: 'session', sessionId: opened.id }),
        headers: { 'Set-Cookie': cookieOf(secure, opened.secret) },
      };
    },

    'sessions.list': async ({ actor }) => {
      const data = await sessionsOf(db, actor.userId, sessionOf(actor), clock.now());
      return { data, totalCount: data.length };
    },

    'sessions.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const ended = await endSessions(sql, actor.userId, { only: params.id });
        if (ended === 0) throw notFound('session');
        await audit(sql, { actor, action: 'session.delete', subject: `session ${params.id}`, address });
      });
      forget(actor.userId);
      return { data: null };
    },
  };
}

const tooOften = (waitMs: number): Problem => {
  const seconds = Math.ceil(waitMs / 1000);
  return new Problem('rate_limited', `too many failed sign-ins; wait ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
};

const cookieOf = (secure: boolean, id: string): string =>
  sessionCookie(secure, { id, maxAgeSeconds: SESSION_ABSOLUTE_MS / 1000 });

const sessionOf = (actor: Actor): string | undefined =>
  actor.via.kind === 'session' ? actor.via.sessionId : undefined;

const signInRow = ({ prisma }: Database, name: string) =>
  prisma.user.findUnique({ where: { name }, select: { id: true, passwordHash: true, disabledAt: true } });

/** Makes a session; the secret goes into the cookie and nowhere else. */
async function openSession(sql: Sql, userId: string, now: number, address: string, userAgent = '') {
  const secret = mintSessionId();
  const id = uuidv7();
  await sql.query(
    `INSERT INTO sessions (id_hash, user_id, id, created_at, last_seen_at, expires_at, user_agent, address)
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)`,
    [
      hashOf(secret),
      userId,
      id,
      new Date(now),
      new Date(now + SESSION_ABSOLUTE_MS),
      userAgent.slice(0, 300),
      address,
    ],
  );
  await sql.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2)`,
    [userId, SESSIONS_MOST],
  );
  return { id, secret };
}

/** Ends sessions of a user: one, or all of them. Answers how many. */
export async function endSessions(
  sql: Sql,
  userId: string,
  { only }: { only?: string | undefined },
): Promise<number> {
  const ended = await sql.query(
    'DELETE FROM sessions WHERE user_id = $1 AND ($2::uuid IS NULL OR id = $2) RETURNING id',
    [userId, only ?? null],
  );
  await rightsChanged(sql, userId);
  return ended.length;
}

async function sessionsOf(
  sql: Sql,
  userId: string,
  current: string | undefined,
  now: number,
): Promise<Session[]> {
  return sql.query<Session>(
    `SELECT ${COLUMNS}, id IS NOT DISTINCT FROM $2::uuid AS current
     FROM sessions WHERE user_id = $1 AND expires_at > $3 AND last_seen_at > $4
     ORDER BY last_seen_at DESC, id DESC LIMIT 100`,
    [userId, current ?? null, new Date(now), new Date(now - SESSION_IDLE_MS)],
  );
}

async function meOf({ prisma }: Database, userId: string, via: Actor['via']): Promise<Me> {
  const user = await prisma.user.findUnique({ where: { id: userId }, include: { sites: true } });
  if (!user) throw notFound('user');
  const session =
    via.kind === 'session' ? await prisma.session.findUnique({ where: { id: via.sessionId } }) : null;
  const { id, name, displayName, role, allSites } = user;
  return {
    user: {
      id,
      name,
      displayName,
      role: role as Role,
      allSites,
      siteIds: user.sites.map(({ siteId }) => siteId),
      settings: user.settings as Me['user']['settings'],
    },
    via: via.kind,
    session: session && {
      id: session.id,
      createdAt: seconds(session.createdAt),
      lastSeenAt: seconds(session.lastSeenAt),
      expiresAt: seconds(session.expiresAt),
      address: session.address,
      userAgent: session.userAgent,
      current: true,
    },
  };
}
