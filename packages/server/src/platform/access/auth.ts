/**
 * Who calls, with the rights of this moment. Looked up in the database through a cache of half a second; whatever
 * takes rights away says so on `rollcall_auth`, which empties the cache of every instance and ends open streams.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import { parseAddress, parseBlock, type Range } from '@rollcall/shared/ip';
import type { Role } from '@rollcall/shared/model';
import type { Logger } from 'pino';
import type { Database, Sql } from '../db/db.ts';
import type { Actor } from '../http/handler.ts';
import type { Credentials } from './presented.ts';
import { hashOf } from './token.ts';

/** Payload: the id of the user whose rights changed; empty for "anybody's may have". */
export const AUTH_CHANNEL = 'rollcall_auth';
/** A session ends when it was not used for this long. */
export const SESSION_IDLE_MS = 12 * 3600_000;
/** A session ends this long after it began, used or not. */
export const SESSION_ABSOLUTE_MS = 7 * 24 * 3600_000;

/** Who a caller is is looked up again after this. */
const CACHE_MS = 500;
/** From this age on the next answer is looked up while the one that is known serves: who asks often waits for none. */
const RENEW_MS = 250;
const CACHE_ENTRIES = 10_000;
/** `lastUsedAt` and `lastSeenAt` are written at most this often. */
const USE_NOTED_MS = 60_000;
/** Open streams are checked this often besides: tokens expire, and a notification may be lost. */
const RECHECK_MS = 1_000;

export interface Authenticator {
  /**
   * The caller behind checked-out credentials; null when they open nothing (unknown, expired, revoked, disabled), `elsewhere`
   * when a token is not accepted from this address.
   */
  identify(credentials: Credentials, address: string): Promise<Actor | 'elsewhere' | null>;
  /** Id of the site with this name; null: there is none. */
  siteNamed(name: string): Promise<string | null>;
  /** Calls `gone` once, when the actor's rights are no longer what they were. Returns a function that stops watching. */
  watch(actor: Actor, gone: () => void): () => void;
  /** Rights of a user (or, without one, of anybody) changed: this instance acts on it now. See `rightsChanged`. */
  forget(userId?: string): void;
  close(): Promise<void>;
}

/** Tells every instance, when the transaction commits, that rights of a user changed. */
export const rightsChanged = async (sql: Sql, userId: string): Promise<void> => {
  await sql.query('SELECT pg_notify($1, $2)', [AUTH_CHANNEL, userId]);
};

interface Accepted {
  actor: Actor;
  /** Unix milliseconds; null: does not end by itself. */
  endsAt: number | null;
  usedAt: number | null;
  /** A token is accepted from these only; none: from everywhere. */
  networks: readonly Range[];
}
interface Cached {
  known: Accepted | null;
  at: number;
  renewing: boolean;
}
interface Row {
  id: string;
  hash: Uint8Array;
  used_at: Date | null;
  ends_at: Date | null;
  user_id: string;
  name: string;
  role: Role;
  all_sites: boolean;
  sites: string[];
  /** Of a token: it only reads, and sees only these of its owner's sites. */
  read_only: boolean;
  only_sites: string[];
  networks: string[];
  /** Of a session: the account has a password and no second factor. */
  factorless: boolean;
}

const OWNER = `u.id AS user_id, u.name, u.role, u.all_sites,
  ARRAY(SELECT s.site_id::text FROM user_sites s WHERE s.user_id = u.id ORDER BY 1) AS sites`;
const byToken = (which: string) => `SELECT t.id, t.hash, t.last_used_at AS used_at, t.expires_at AS ends_at,
    t.read_only, t.site_ids::text[] AS only_sites, t.networks, false AS factorless, ${OWNER}
  FROM api_tokens t JOIN users u ON u.id = t.user_id
  WHERE ${which} AND t.revoked_at IS NULL AND u.disabled_at IS NULL`;
const bySession = (
  which: string,
) => `SELECT s.id, s.id_hash AS hash, s.last_seen_at AS used_at, s.expires_at AS ends_at,
    false AS read_only, '{}'::text[] AS only_sites, '{}'::text[] AS networks,
    u.password_hash IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS factorless, ${OWNER}
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE ${which} AND u.disabled_at IS NULL`;
const NOTE_USE = {
  token: `UPDATE api_tokens SET last_used_at = $2
    WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '59 seconds')`,
  session: `UPDATE sessions SET last_seen_at = $2
    WHERE id = $1 AND last_seen_at < $2::timestamptz - interval '59 seconds'`,
};

export async function openAuthenticator(deps: {
  db: Database;
  clock: Clock;
  log: Logger;
}): Promise<Authenticator> {
  const { db, clock } = deps;
  const callers = new Callers(deps);
  const streams = new Set<Stream>();

  /** The callers behind these tokens or sessions as they are now, by id. */
  const present = async (kind: 'token' | 'session', ids: ReadonlySet<string>): Promise<[string, Actor][]> => {
    if (ids.size === 0) return [];
    const some = kind === 'token' ? byToken('t.id = ANY($1::uuid[])') : bySession('s.id = ANY($1::uuid[])');
    // Not among the requests of people: a revocation waits for none of them.
    const rows = await db.ingest.transaction((sql) => sql.query<Row>(some, [[...ids]]));
    const now = clock.now();
    return rows.flatMap((row) => {
      const known = acceptedOf(kind, row);
      // An open stream is use, so only the absolute end counts.
      return isOver({ ...known, usedAt: now }, now) ? [] : [[row.id, known.actor]];
    });
  };

  /** Ends the streams whose actor is no longer who it was: one question for all of them. */
  const recheck = async (affected: readonly Stream[]): Promise<void> => {
    const idsOf = (kind: 'token' | 'session') =>
      new Set(affected.flatMap(({ actor }) => (actor.via.kind === kind ? idOf(actor) : [])));
    // While the database is away nothing can be said; the next check will.
    const found = await Promise.all([
      present('token', idsOf('token')),
      present('session', idsOf('session')),
    ]).catch(() => undefined);
    if (found === undefined) return;
    const actors = new Map(found.flat());
    for (const stream of affected) {
      const now = actors.get(idOf(stream.actor));
      if (now && sameRights(now, stream.actor)) continue;
      if (streams.delete(stream)) stream.gone();
    }
  };

  const forget = (userId = ''): void => {
    callers.forget();
    void recheck([...streams].filter(({ actor }) => userId === '' || actor.userId === userId));
  };

  const unlisten = await db.listen(AUTH_CHANNEL, (payload) => forget(payload));
  let checking = false;
  const stopChecks = clock.every(RECHECK_MS, async () => {
    if (checking) return;
    checking = true;
    await recheck([...streams]).finally(() => {
      checking = false;
    });
  });

  return {
    identify: async (credentials, address) => {
      if (credentials.kind === 'token') return callers.identify('token', hashOf(credentials.token), address);
      if (credentials.kind === 'session')
        return callers.identify('session', hashOf(credentials.sessionId), address);
      return null;
    },
    siteNamed: async (name) =>
      (await db.prisma.site.findUnique({ where: { name }, select: { id: true } }))?.id ?? null,
    watch: (actor, gone) => {
      const stream = { actor, gone };
      streams.add(stream);
      return () => streams.delete(stream);
    },
    forget,
    close: async () => {
      stopChecks();
      await unlisten();
      await callers.settled();
    },
  };
}

/** Callers by the hash of what they presented, kept for half a second; notes when a credential was used last. */
class Callers {
  readonly #deps: { db: Database; clock: Clock; log: Logger };
  readonly #cache = new Map<string, Cached>();
  readonly #pending = new Set<Promise<unknown>>();
  /** Grows with every change: an answer read before the change must not be kept after it. */
  #generation = 0;

  constructor(deps: { db: Database; clock: Clock; log: Logger }) {
    this.#deps = deps;
  }

  async identify(
    kind: 'token' | 'session',
    hash: Buffer,
    address: string,
  ): Promise<Actor | 'elsewhere' | null> {
    const { clock } = this.#deps;
    const key = `${kind} ${hash.toString('base64')}`;
    let cached = this.#cache.get(key);
    const age = cached ? clock.monotonic() - cached.at : Number.POSITIVE_INFINITY;
    if (!cached || age > CACHE_MS) cached = await this.#renew(key, kind, hash);
    else if (age > RENEW_MS && !cached.renewing) {
      cached.renewing = true;
      // If it fails, the next request after the answer is too old asks again and gets the error.
      this.#inBackground(this.#renew(key, kind, hash), 'a caller could not be looked up ahead');
    }
    const { known } = cached;
    if (!known || isOver(known, clock.now())) return null;
    if (!isWithin(address, known.networks)) return 'elsewhere';
    this.#noteUse(known);
    return known.actor;
  }

  forget(): void {
    this.#generation += 1;
    this.#cache.clear();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #renew(key: string, kind: 'token' | 'session', hash: Buffer): Promise<Cached> {
    const before = this.#generation;
    const at = this.#deps.clock.monotonic();
    const cached = { known: await this.#lookUp(kind, hash), at, renewing: false };
    if (this.#cache.size >= CACHE_ENTRIES) this.#cache.clear();
    if (before === this.#generation) this.#cache.set(key, cached);
    return cached;
  }

  async #lookUp(kind: 'token' | 'session', hash: Buffer): Promise<Accepted | null> {
    const text = kind === 'token' ? byToken('t.hash = $1') : bySession('s.id_hash = $1');
    const [row] = await this.#deps.db.query<Row>(text, [hash], 'kept');
    if (!row || row.hash.length !== hash.length || !timingSafeEqual(row.hash, hash)) return null;
    return acceptedOf(kind, row);
  }

  #noteUse(known: Accepted): void {
    const now = this.#deps.clock.now();
    if (known.usedAt !== null && now - known.usedAt < USE_NOTED_MS) return;
    known.usedAt = now;
    const { actor } = known;
    const noted = this.#deps.db.query(NOTE_USE[actor.via.kind], [idOf(actor), new Date(now)]);
    this.#inBackground(noted, 'the last use of a credential could not be noted');
  }

  #inBackground(work: Promise<unknown>, failure: string): void {
    const done = work
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, failure))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }
}

interface Stream {
  actor: Actor;
  gone: () => void;
}

const idOf = ({ via }: Actor): string => (via.kind === 'token' ? via.tokenId : via.sessionId);

/** A token never sees more than its owner does now. */
function sitesOf({ all_sites, sites, only_sites }: Row): Actor['sites'] {
  if (only_sites.length === 0) return all_sites ? 'all' : sites;
  return all_sites ? only_sites : only_sites.filter((site) => sites.includes(site));
}

function acceptedOf(kind: 'token' | 'session', row: Row): Accepted {
  const actor: Actor = {
    userId: row.user_id,
    name: row.name,
    role: row.read_only ? 'viewer' : row.role,
    sites: sitesOf(row),
    via:
      kind === 'token'
        ? { kind, tokenId: row.id, ...(row.read_only && { readOnly: true }) }
        : { kind, sessionId: row.id, ...(row.factorless && { factorless: true }) },
  };
  const [endsAt = null, usedAt = null] = [row.ends_at?.getTime(), row.used_at?.getTime()];
  return { actor, endsAt, usedAt, networks: row.networks.map(blockOf) };
}

function blockOf(text: string): Range {
  const block = parseBlock(text);
  // A limit that cannot be read must not become none.
  if (!block.ok) throw new Error(`the networks of a token are damaged: ${text}: ${block.reason}`);
  return block.value;
}

function isWithin(address: string, networks: readonly Range[]): boolean {
  if (networks.length === 0) return true;
  const from = parseAddress(address);
  return from.ok && networks.some((network) => network.contains(from.value));
}

/** Tokens end when they expire; sessions also by lying idle. */
function isOver({ actor, endsAt, usedAt }: Accepted, now: number): boolean {
  if (endsAt !== null && now >= endsAt) return true;
  return actor.via.kind === 'session' && usedAt !== null && now - usedAt > SESSION_IDLE_MS;
}

const sameRights = (a: Actor, b: Actor): boolean =>
  a.role === b.role && JSON.stringify(a.sites) === JSON.stringify(b.sites);
