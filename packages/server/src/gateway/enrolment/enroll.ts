/** How a collector joins a site: a token that works once, a key that it made itself. */
import {
  COLLECTOR_NAME,
  JOIN_TOKEN_SECONDS,
  type Joined,
  type JoinRequest,
  type JoinToken,
} from '@rollcall/shared/api/collectors';
import { COLLECTOR_PATH, PROTOCOL_OLDEST, PROTOCOL_VERSION } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { hashOf } from '../../platform/access/token.ts';
import { isUniqueViolation, type Transaction } from '../../platform/db/db.ts';
import { Parameters, readPage, scopeOf, seconds, unix } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { type Actor, type Handlers, sees, visibleSites } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import type { CollectorDeps } from '../deps.ts';
import { KeyedQuota } from '../quota.ts';
import { hostOf, installLine } from './installer.ts';
import { joinSecret, mintJoinToken } from './join-token.ts';

const COLUMNS = `t.id, t.site_id AS "siteId", s.name AS site, u.name AS "createdBy",
  ${unix('t.created_at')} AS "createdAt", ${unix('t.expires_at')} AS "expiresAt", ${unix('t.used_at')} AS "usedAt",
  t.collector_id AS "collectorId"`;
const FROM = 'join_tokens t JOIN sites s ON s.id = t.site_id LEFT JOIN users u ON u.id = t.created_by';
const VISIBLE = '($1::uuid[] IS NULL OR t.site_id = ANY($1))';
/** Used and expired tokens are shown this long, then dropped. */
const SHOWN_DAYS = 7;
/** Joins that one address, and all together, may try in vain (or have under way). Nobody guesses 202 bits. */
const PER_ADDRESS = { burst: 30, perSecond: 0.5 };
const TOGETHER = { burst: 300, perSecond: 5 };
/** Names tried when the wished one is taken. */
const NAMES_TRIED = 100;

type Ids = 'joinTokens.list' | 'joinTokens.create' | 'joinTokens.delete' | 'collectors.join';
type Deps = Pick<CollectorDeps, 'db' | 'clock' | 'log' | 'audit' | 'pin' | 'publicUrl' | 'handOut'>;

/** One answer for every token that does not work: whether it ever did is not told. */
const refused = () => new Problem('unauthorized', 'the join token is not valid; ask for a new one');

export function createEnrolment(deps: Deps) {
  const { db, clock, log, audit, pin, publicUrl } = deps;
  const perAddress = new KeyedQuota(PER_ADDRESS, clock);
  const together = new KeyedQuota(TOGETHER, clock);
  /** Tokens turned down, by why: a typing error is not an attack. */
  const counts = { malformed: 0, refused: 0, limited: 0, joined: 0 };

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

  /** Free name of a site: the wished one, else with a number behind it. */
  const freeName = async ({ prisma }: Transaction, siteId: string, request: JoinRequest): Promise<string> => {
    const rows = await prisma.collector.findMany({ where: { siteId }, select: { name: true } });
    const taken = new Set(rows.map(({ name }) => name));
    if (request.name !== undefined) {
      if (taken.has(request.name))
        throw new Problem('conflict', `the site has a collector ${request.name} already; take another name`);
      return request.name;
    }
    const wished = nameOfHost(request.hostname);
    for (let n = 1; n <= NAMES_TRIED; n++) {
      const name = n === 1 ? wished : `${wished}-${n}`;
      if (!taken.has(name)) return name;
    }
    throw new Problem('conflict', `the site has ${NAMES_TRIED} collectors named ${wished}; give it a name`);
  };

  const join = (
    request: JoinRequest,
    secret: string,
    publicKey: Buffer<ArrayBuffer>,
    address: string,
  ): Promise<Joined> =>
    db.transaction(async (sql) => {
      const [id, hash, now] = [uuidv7(), hashOf(secret), new Date(clock.now())];
      // The row's lock makes it one: of two that come at once the second finds it used.
      const { count } = await sql.prisma.joinToken.updateMany({
        where: { hash, usedAt: null, expiresAt: { gt: now } },
        data: { usedAt: now, collectorId: id },
      });
      if (count === 0) throw refused();
      const { site } = await sql.prisma.joinToken.findUniqueOrThrow({
        where: { hash },
        select: { site: { select: { id: true, name: true } } },
      });
      if (await sql.prisma.collector.findFirst({ where: { publicKey, status: { not: 'revoked' } } }))
        throw new Problem(
          'conflict',
          'this key belongs to a collector already; join with a new state folder',
        );
      const name = await freeName(sql, site.id, request);
      await sql.prisma.collector.create({
        data: { id, siteId: site.id, name, publicKey, hostname: request.hostname },
      });
      await audit(sql, {
        actor: { name: `collector ${name}` },
        address,
        action: 'collector.join',
        subject: `collector ${name}`,
        siteId: site.id,
        detail: { hostname: request.hostname },
      });
      await announce(sql, site.id, 'collector', [id]);
      return {
        collectorId: id,
        name,
        site,
        generation: 0,
        path: COLLECTOR_PATH,
        protocol: { version: PROTOCOL_VERSION, oldest: PROTOCOL_OLDEST },
        serverTime: seconds(now),
      };
    });

  const limit = (address: string): void => {
    const wait = perAddress.take(address) || together.take('');
    if (wait === 0) return;
    counts.limited += 1;
    throw new Problem('rate_limited', 'too many attempts to join; wait and try again', {
      headers: { 'Retry-After': String(Math.ceil(wait)) },
    });
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
        const install = installLine(deps.handOut ?? null, url, plaintext, pin?.());
        return { data: await readToken(sql, actor, id), extra: { token: plaintext, install } };
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

    'collectors.join': async ({ body, address }) => {
      limit(address);
      const secret = joinSecret(body.token);
      if (secret === undefined) {
        counts.malformed += 1;
        throw refused();
      }
      const publicKey = Buffer.from(body.publicKey, 'base64');
      if (publicKey.length !== 32) throw invalid('publicKey', 'must be 32 bytes in base64');
      try {
        const data = await join(body, secret, publicKey, address);
        counts.joined += 1;
        perAddress.give(address);
        together.give('');
        log.info({ collector: data.collectorId, name: data.name, address }, 'a collector joined');
        return { data };
      } catch (error) {
        if (error instanceof Problem && error.code === 'unauthorized') {
          counts.refused += 1;
          log.warn({ address }, 'a join token was refused');
        }
        throw isUniqueViolation(error)
          ? new Problem('conflict', 'the name was taken just now; try again')
          : error;
      }
    },
  };

  return {
    handlers,
    counts: counts as Readonly<typeof counts>,
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

/** First label of a host name, as far as it makes a collector's name. */
function nameOfHost(hostname: string): string {
  const label = (hostname.split('.')[0] ?? '').replace(/[^\p{L}\p{N}._-]/gu, '-').slice(0, 50);
  return COLLECTOR_NAME.test(label) ? label : 'collector';
}
