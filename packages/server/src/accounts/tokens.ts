/** Personal API tokens: made, shown once, listed without the secret, revoked. */
import { REVOKED_SHOWN_DAYS, TOKENS_MOST, type Token } from '@rollcall/shared/api/tokens';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { ApiToken } from '../generated/prisma/client.ts';
import { rightsChanged } from '../platform/access/auth.ts';
import { requireScope, requireSites } from '../platform/access/scope.ts';
import { mintToken } from '../platform/access/token.ts';
import type { Transaction } from '../platform/db/db.ts';
import { seconds } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { AuditRecord } from '../ports.ts';
import { audit } from './audit.ts';
import { canonicalBlocks } from './blocks.ts';
import type { AccountDeps } from './deps.ts';

const DAY_MS = 24 * 3600_000;
/** Tokens of one account in the list, revoked ones included: bounds making and revoking in a loop. */
const LISTED_MOST = 1000;

/** Tokens revoked before are no longer shown. */
const shownSince = (now: number): Date => new Date(now - REVOKED_SHOWN_DAYS * DAY_MS);

const shown = (row: ApiToken): Token => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  readOnly: row.readOnly,
  siteIds: row.siteIds,
  networks: row.networks,
  createdAt: seconds(row.createdAt),
  lastUsedAt: seconds(row.lastUsedAt),
  expiresAt: seconds(row.expiresAt),
  revokedAt: seconds(row.revokedAt),
});

export interface NewToken {
  userId: string;
  name: string;
  /** Unix seconds; null: never. */
  expiresAt: number | null;
  readOnly?: boolean;
  /** Of the sites of its owner; none: all of them. */
  siteIds?: readonly string[];
  /** Addresses and CIDRs that it is accepted from; none: everywhere. */
  networks?: readonly string[];
}

/** Makes a token of a user; the plaintext exists in the answer only. */
export async function createToken(
  sql: Transaction,
  { userId, name, expiresAt, readOnly = false, siteIds = [], networks = [] }: NewToken,
  by: Pick<AuditRecord, 'actor' | 'address'>,
  now: number,
): Promise<{ plaintext: string; token: Token }> {
  const from = canonicalBlocks('networks', networks);
  if (expiresAt !== null && expiresAt * 1000 <= now) throw invalid('expiresAt', 'must be in the future');
  // Creations of one account wait for each other, or two at once could both find room for one.
  const [user] = await sql.query('SELECT id FROM users WHERE id = $1 FOR UPDATE', [userId]);
  if (!user) throw notFound('user');
  const { apiToken } = sql.prisma;
  const live = { userId, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now) } }] };
  if ((await apiToken.count({ where: live })) >= TOKENS_MOST)
    throw new Problem('conflict', `an account has at most ${TOKENS_MOST} live tokens; revoke one first`);
  const listed = { userId, createdAt: { gt: shownSince(now) } };
  if ((await apiToken.count({ where: listed })) >= LISTED_MOST)
    throw new Problem('rate_limited', `${LISTED_MOST} tokens in ${REVOKED_SHOWN_DAYS} days are enough`, {
      headers: { 'Retry-After': '86400' },
    });
  const { plaintext, hash, hint } = mintToken();
  const token = await apiToken.create({
    data: {
      id: uuidv7(now),
      userId,
      name,
      hash,
      hint,
      readOnly,
      siteIds: [...siteIds],
      networks: from,
      createdAt: new Date(now),
      expiresAt: expiresAt === null ? null : new Date(expiresAt * 1000),
    },
  });
  await audit(sql, {
    ...by,
    action: 'token.create',
    subject: `token ${name}`,
    detail: {
      id: token.id,
      hint,
      ...(readOnly && { readOnly }),
      ...(siteIds.length > 0 && { siteIds: [...siteIds] }),
      ...(from.length > 0 && { networks: from }),
    },
  });
  return { plaintext, token: shown(token) };
}

/** Revokes every live token of a user. */
export async function revokeTokens(sql: Transaction, userId: string, now: number): Promise<void> {
  await sql.prisma.apiToken.updateMany({
    where: { userId, revokedAt: null },
    data: { revokedAt: new Date(now) },
  });
  await rightsChanged(sql, userId);
}

export function tokenHandlers({
  db,
  clock,
  forget,
}: AccountDeps): Handlers<'tokens.list' | 'tokens.create' | 'tokens.delete'> {
  return {
    'tokens.list': async ({ actor, query: { page, pageSize } }) => {
      const since = shownSince(clock.now());
      const where = { userId: actor.userId, OR: [{ revokedAt: null }, { revokedAt: { gt: since } }] };
      const [rows, totalCount] = await Promise.all([
        db.prisma.apiToken.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
          skip: (page - 1) * pageSize,
          take: pageSize,
        }),
        db.prisma.apiToken.count({ where }),
      ]);
      return { data: rows.map(shown), totalCount };
    },

    'tokens.create': async ({ actor, body, address }) => {
      const { plaintext, token } = await db.transaction(async (sql) => {
        if (body.siteIds.length > 0) {
          requireScope(actor, { allSites: false, siteIds: body.siteIds }, 'a token of');
          await requireSites(sql, body.siteIds);
        }
        return createToken(sql, { ...body, userId: actor.userId }, { actor, address }, clock.now());
      });
      return { data: token, extra: { token: plaintext } };
    },

    'tokens.delete': async ({ actor, params, address }) => {
      const token = await db.transaction(async (sql) => {
        const { apiToken } = sql.prisma;
        const { id } = params;
        const { count } = await apiToken.updateMany({
          where: { id, userId: actor.userId, revokedAt: null },
          data: { revokedAt: new Date(clock.now()) },
        });
        const token = await apiToken.findFirst({ where: { id, userId: actor.userId } });
        if (!token) throw notFound('token');
        // Revoked before: nothing changes.
        if (count === 0) return shown(token);
        await rightsChanged(sql, actor.userId);
        await audit(sql, {
          actor,
          address,
          action: 'token.delete',
          subject: `token ${token.name}`,
          detail: { id, hint: token.hint },
        });
        return shown(token);
      });
      forget(actor.userId);
      return { data: token };
    },
  };
}
