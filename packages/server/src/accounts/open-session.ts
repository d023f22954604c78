/** Sessions in the database: opened by whatever way of signing in, and ended. */
import { uuidv7 } from '@rollcall/shared/uuid';
import { rightsChanged, SESSION_ABSOLUTE_MS } from '../platform/access/auth.ts';
import { presentedSession, sessionCookie } from '../platform/access/presented.ts';
import { hashOf, mintSessionId } from '../platform/access/token.ts';
import type { Sql, Transaction } from '../platform/db/db.ts';

/** Sessions of one account; the oldest makes room. */
const SESSIONS_MOST = 50;

/** Of a request: where a session is used, and the one that its browser holds. */
export interface Browser {
  address: string;
  userAgent: string | undefined;
  cookie: string | undefined;
  secure: boolean;
}

/** The browser behind a call of a handler. */
export const browserOf = (call: {
  address: string;
  secure: boolean;
  header(name: string): string | undefined;
}): Browser => ({
  address: call.address,
  secure: call.secure,
  userAgent: call.header('user-agent'),
  cookie: call.header('cookie'),
});

/** Locks the account: other changes of its password or its second factor wait until this transaction ends. */
export const lockAccount = ({ query }: Sql, userId: string) =>
  query('SELECT 1 FROM users WHERE id = $1 FOR UPDATE', [userId]);

/**
 * Somebody signed in: whatever session the browser held, planted or its own, ends, and a new one begins. Answers its id and
 * its cookie, which has the secret.
 */
export async function beginSession(
  sql: Transaction,
  userId: string,
  browser: Browser,
  now: number,
): Promise<{ id: string; cookie: string }> {
  const old = presentedSession(browser.cookie, browser.secure);
  if (old !== undefined) await sql.prisma.session.deleteMany({ where: { idHash: hashOf(old) } });
  await sql.prisma.user.updateMany({ where: { id: userId }, data: { lastLoginAt: new Date(now) } });
  return openSession(sql, userId, browser, now);
}

/** Makes a session; the secret goes into the cookie and nowhere else. */
export async function openSession(
  sql: Transaction,
  userId: string,
  { address, userAgent = '', secure }: Browser,
  now: number,
): Promise<{ id: string; cookie: string }> {
  const secret = mintSessionId();
  const id = uuidv7();
  const { session } = sql.prisma;
  await session.create({
    data: {
      idHash: hashOf(secret),
      userId,
      id,
      createdAt: new Date(now),
      lastSeenAt: new Date(now),
      expiresAt: new Date(now + SESSION_ABSOLUTE_MS),
      userAgent: userAgent.slice(0, 300),
      address,
    },
  });
  const tooMany = await session.findMany({
    where: { userId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    skip: SESSIONS_MOST,
    select: { id: true },
  });
  await session.deleteMany({ where: { id: { in: tooMany.map((old) => old.id) } } });
  return { id, cookie: sessionCookie(secure, { id: secret, maxAgeSeconds: SESSION_ABSOLUTE_MS / 1000 }) };
}

/** Ends sessions of a user: one, or all of them. Answers how many. */
export async function endSessions(
  sql: Transaction,
  userId: string,
  { only }: { only?: string | undefined },
): Promise<number> {
  const { count } = await sql.prisma.session.deleteMany({
    where: { userId, ...(only !== undefined && { id: only }) },
  });
  await rightsChanged(sql, userId);
  return count;
}
