/** How a collector joins a site: a token that works once (`tokens.ts`), a key that it made itself. */
import { COLLECTOR_NAME, type Joined, type JoinRequest } from '@rollcall/shared/api/collectors';
import { COLLECTOR_PATH, PROTOCOL_OLDEST, PROTOCOL_VERSION } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { hashOf } from '../../platform/access/token.ts';
import { isUniqueViolation, type Transaction } from '../../platform/db/db.ts';
import { seconds } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { invalid, Problem } from '../../platform/problem.ts';
import type { CollectorDeps } from '../deps.ts';
import { KeyedQuota } from '../quota.ts';
import { joinSecret } from './join-token.ts';
import { joinTokens, type TokenDeps } from './tokens.ts';

/** Joins that one address, and all together, may try in vain (or have under way). Nobody guesses 202 bits. */
const PER_ADDRESS = { burst: 30, perSecond: 0.5 };
const TOGETHER = { burst: 300, perSecond: 5 };
/** Names tried when the preferred one is taken. */
const NAMES_TRIED = 100;

type Deps = TokenDeps & Pick<CollectorDeps, 'log'>;

/** One answer for every token that does not work: whether it ever did is not told. */
const refused = () => new Problem('unauthorized', 'the join token is not valid; ask for a new one');

export function createEnrolment(deps: Deps) {
  const { db, clock, log, audit } = deps;
  const tokens = joinTokens(deps);
  const perAddress = new KeyedQuota(PER_ADDRESS, clock);
  const together = new KeyedQuota(TOGETHER, clock);
  /** Tokens turned down, by why: a typing error is not an attack. */
  const counts = { malformed: 0, refused: 0, limited: 0, joined: 0 };

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

  const handlers: Handlers<'collectors.join'> = {
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
    handlers: { ...tokens.handlers, ...handlers },
    counts: counts as Readonly<typeof counts>,
    tokenFor: tokens.tokenFor,
  };
}

/** Free name of a site: the preferred one, else with a number behind it. */
async function freeName({ prisma }: Transaction, siteId: string, request: JoinRequest): Promise<string> {
  const rows = await prisma.collector.findMany({ where: { siteId }, select: { name: true } });
  const taken = new Set(rows.map(({ name }) => name));
  if (request.name !== undefined) {
    if (taken.has(request.name))
      throw new Problem('conflict', `the site has a collector ${request.name} already; take another name`);
    return request.name;
  }
  const preferred = nameOfHost(request.hostname);
  for (let n = 1; n <= NAMES_TRIED; n++) {
    const name = n === 1 ? preferred : `${preferred}-${n}`;
    if (!taken.has(name)) return name;
  }
  throw new Problem('conflict', `the site has ${NAMES_TRIED} collectors named ${preferred}; give it a name`);
}

/** First label of a host name, as far as it makes a collector's name. */
function nameOfHost(hostname: string): string {
  const label = (hostname.split('.')[0] ?? '').replace(/[^\p{L}\p{N}._-]/gu, '-').slice(0, 50);
  return COLLECTOR_NAME.test(label) ? label : 'collector';
}
