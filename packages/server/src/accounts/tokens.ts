/** Personal API tokens: made, shown once, listed without the secret, revoked. */
import { REVOKED_SHOWN_DAYS, TOKENS_MOST, type Token } from '@rollcall/shared/api/accounts';
import { uuidv7 } from '@rollcall/shared/uuid';
import { rightsChanged } from '../platform/access/auth.ts';
import { mintToken } from '../platform/access/token.ts';
import type { Sql } from '../platform/db/db.ts';
import { page, unix } from '../platform/db/page.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { AuditRecord } from '../ports.ts';
import { audit } from './audit.ts';
import type { AccountDeps } from './deps.ts';

const DAY_MS = 24 * 3600_000;
/** Tokens of one account in the list, revoked ones included: bounds making and revoking in a loop. */
const LISTED_MOST = 1000;

const COLUMNS = `id, name, hint, ${unix('created_at')} AS "createdAt", ${unix('last_used_at')} AS "lastUsedAt",
  ${unix('expires_at')} AS "expiresAt", ${unix('revoked_at')} AS "revokedAt"`;

export interface NewToken {
  userId: string;
  name: string;
  /** Unix seconds; null: never. */
  expiresAt: number | null;
}

/** Makes a token of a user; the plaintext exists in the answer only. */
export async function createToken(
  sql: Sql,
  { userId, name, expiresAt }: NewToken,
  by: Pick<AuditRecord, 'actor' | 'address'>,
  now: number,
): Promise<{ plaintext: string; token: Token }> {
  if (expiresAt !== null && expiresAt * 1000 <= now) throw invalid('expiresAt', 'must be in the future');
  // Creations of one account wait for each other, or two at once could both find room for one.
  const [user] = await sql.query('SELECT id FROM users WHERE id = $1 FOR UPDATE', [userId]);
  if (!user) throw notFound('user');
  const [count] = await sql.query<{ live: number; listed: number }>(
    `SELECT count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)) AS live,
       count(*) FILTER (WHERE created_at > $3) AS listed
     FROM api_tokens WHERE user_id = $1`,
    [userId, new Date(now), new Date(now - REVOKED_SHOWN_DAYS * DAY_MS)],
  );
  if ((count?.live ?? 0) >= TOKENS_MOST)
    throw new Problem('conflict', `an account has at most ${TOKENS_MOST} live tokens; revoke one first`);
  if ((count?.listed ?? 0) >= LISTED_MOST)
    throw new Problem('rate_limited', `${LISTED_MOST} tokens in ${REVOKED_SHOWN_DAYS} days are enough`, {
      headers: { 'Retry-After': '86400' },
    });
  const { plaintext, hash, hint } = mintToken();
  const [token] = await sql.query<Token>(
    `INSERT INTO api_tokens (id, user_id, name, hash, hint, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
    [
      uuidv7(now),
      userId,
      name,
      hash,
      hint,
      new Date(now),
      expiresAt === null ? null : new Date(expiresAt * 1000),
    ],
  );
  if (!token) throw new Error('the token was not stored');
  await audit(sql, {
    ...by,
    action: 'token.create',
    subject: `token ${name}`,
    detail: { id: token.id, hint },
  });
  return { plaintext, token };
}

/** Revokes every live token of a user. */
export async function revokeTokens(sql: Sql, userId: string, now: number): Promise<void> {
  await sql.query('UPDATE api_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL', [
    userId,
    new Date(now),
  ]);
  await rightsChanged(sql, userId);
}

export function tokenHandlers({
  db,
  clock,
  forget,
}: AccountDeps): Handlers<'tokens.list' | 'tokens.create' | 'tokens.delete'> {
  return {
    'tokens.list': ({ actor, query }) =>
      page(db, {
        columns: COLUMNS,
        from: 'api_tokens',
        where: 'user_id = $1 AND (revoked_at IS NULL OR revoked_at > $2)',
        order: 'created_at DESC, id DESC',
        params: [actor.userId, new Date(clock.now() - REVOKED_SHOWN_DAYS * DAY_MS)],
        filters: {},
        query,
      }),

    'tokens.create': async ({ actor, body, address }) => {
      const { plaintext, token } = await db.transaction((sql) =>
        createToken(sql, { ...body, userId: actor.userId }, { actor, address }, clock.now()),
      );
      return { data: token, extra: { token: plaintext } };
    },

    'tokens.delete': async ({ actor, params, address }) => {
      const token = await db.transaction(async (sql) => {
        const [before] = await sql.query<Token>(
          `SELECT ${COLUMNS} FROM api_tokens WHERE id = $1 AND user_id = $2 FOR UPDATE`,
          [params.id, actor.userId],
        );
        if (!before) throw notFound('token');
        if (before.revokedAt !== null) return before;
        const [after] = await sql.query<Token>(
          `UPDATE api_tokens SET revoked_at = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
          [params.id, new Date(clock.now())],
        );
        await rightsChanged(sql, actor.userId);
        await audit(sql, {
          actor,
          address,
          action: 'token.delete',
          subject: `token ${before.name}`,
          detail: { id: params.id, hint: before.hint },
        });
        return after ?? before;
      });
      forget(actor.userId);
      return { data: token };
    },
  };
}
