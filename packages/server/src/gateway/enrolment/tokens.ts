/** What people do with join tokens: they make, list and withdraw them. */
import { JOIN_TOKEN_SECONDS, type JoinToken } from '@rollcall/shared/api/collectors';
import { uuidv7 } from '@rollcall/shared/uuid';
import { hashOf } from '../../platform/access/token.ts';
import type { Transaction } from '../../platform/db/db.ts';
import { Parameters, readPage, scopeOf, unix } from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { type Actor, type Handlers, sees, visibleSites } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import type { CollectorDeps } from '../deps.ts';
import { containerLine, hostOf, installLine } from './installer.ts';
import { mintJoinToken } from './join-token.ts';

const COLUMNS = `t.id, t.site_id AS "siteId", s.name AS site, u.name AS "createdBy",
  ${unix('t.created_at')} AS "createdAt", ${unix('t.expires_at')} AS "expiresAt", ${unix('t.used_at')} AS "usedAt",
  t.collector_id AS "collectorId"`;
const FROM = 'join_tokens t JOIN sites s ON s.id = t.site_id LEFT JOIN users u ON u.id = t.created_by';
const VISIBLE = '($1::uuid[] IS NULL OR t.site_id = ANY($1))';
/** Used and expired tokens are shown this long, then dropped. */
const SHOWN_DAYS = 7;

type Ids = 'joinTokens.list' | 'joinTokens.create' | 'joinTokens.delete';
export type TokenDeps = Pick<CollectorDeps, 'db' | 'clock' | 'audit' | 'pin' | 'publicUrl' | 'handOut'>;

export function joinTokens({ db, clock, audit, pin, publicUrl, handOut }: TokenDeps) {
  const createToken = async (
    sql: Transaction,
    { seconds, ...token }: { siteId: string; createdBy: string | null; seconds: number },
  ): Promise<{ id: string; plaintext: string }> => {
    const { secret, plaintext } = mintJoinToken(pin?.()?.fingerprint);
    const id = uuidv7();
    await sql.query(
      `DELETE FROM join_tokens WHERE greatest(expires_at, used_at) < now() - interval '${SHOWN_DAYS} days'`,
    );
    const expiresAt = new Date(clock.now() + seconds * 1000);
    await sql.prisma.joinToken.create({ data: { ...token, id, hash: hashOf(secret), expiresAt } });
    return { id, plaintext };
  };

  const handlers: Handlers<Ids> = {
    'joinTokens.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: FROM,
        key: ['t.id'],
        where: `${VISIBLE} AND greatest(t.expires_at, t.used_at) > now() - interval '${SHOWN_DAYS} days'`,
        order: 't.created_at DESC, t.id DESC',
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: {},
        query,
      }),

    'joinTokens.create': async ({ actor, body, address, secure, header }) => {
      if (!sees(actor, body.siteId)) throw new Problem('forbidden', 'no access to this site');
      return db.transaction(async (sql) => {
        const site = await sql.prisma.site.findUnique({ where: { id: body.siteId } });
        if (!site) throw invalid('siteId', 'there is no such site');
        const token = { siteId: body.siteId, createdBy: actor.userId, seconds: body.expiresIn };
        const { id, plaintext } = await createToken(sql, token);
        await audit(sql, {
          actor,
          address,
          action: 'join-token.create',
          subject: `join token for ${site.name}`,
          siteId: body.siteId,
        });
        const host = hostOf(header('host'));
        const url = publicUrl ?? (host === null ? null : `${secure ? 'https' : 'http'}://${host}`);
        const install = installLine(handOut ?? null, url, plaintext, pin?.());
        const container = containerLine(url, plaintext);
        return { data: await readToken(sql, actor, id), extra: { token: plaintext, install, container } };
      });
    },

    'joinTokens.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const { site, siteId } = await readToken(sql, actor, params.id);
        await sql.prisma.joinToken.deleteMany({ where: { id: params.id } });
        await audit(sql, {
          actor,
          address,
          action: 'join-token.delete',
          subject: `join token for ${site}`,
          siteId,
        });
      });
      return { data: null };
    },
  };

  return {
    handlers,
    /** For the command line: a token for the site of this name. */
    tokenFor: async (siteName: string): Promise<string> => {
      const site = await db.prisma.site.findUnique({ where: { name: siteName } });
      if (!site) {
        const sites = await db.prisma.site.findMany({ orderBy: { name: 'asc' }, take: 20 });
        const known =
          sites.length > 0
            ? `there are: ${sites.map(({ name }) => name).join(', ')}`
            : 'make one under Sites';
        throw new Problem('not_found', `there is no site named ${siteName}; ${known}`);
      }
      return db.transaction(async (sql) => {
        const token = { siteId: site.id, createdBy: null, seconds: JOIN_TOKEN_SECONDS };
        const { plaintext } = await createToken(sql, token);
        await audit(sql, {
          actor: { name: 'command line' },
          action: 'join-token.create',
          subject: `join token for ${siteName}`,
          siteId: site.id,
        });
        return plaintext;
      });
    },
  };
}

async function readToken(sql: Sql, actor: Actor, id: string): Promise<JoinToken> {
  const [row] = await sql.query<JoinToken>(
    `SELECT ${COLUMNS} FROM ${FROM} WHERE ${VISIBLE} AND t.id = $2::uuid`,
    [visibleSites(actor), id],
  );
  if (!row) throw notFound('join token');
  return row;
}
