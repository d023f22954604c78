/**
 * How often somebody may guess a password. Every failure is counted under five keys; a key with too many failures has
 * to wait, longer each time, a quarter of an hour at most. Nobody is ever locked out: from an address at which the account
 * signed in before only the failures of that address for that account count, whatever its neighbours guess.
 *
 * The counts are in the database, the same for every instance. Only guesses that are let through write, and there are
 * at most `EVERYWHERE` of those, so an attack cannot fill the table.
 */
import type { Clock } from '@rollcall/shared/clock';
import pLimit from 'p-limit';
import { hashOf } from '../platform/access/token.ts';
import type { Database, Sql } from '../platform/db/db.ts';
import { holdLock } from '../platform/db/lock.ts';
import { ipv6Groups } from '../platform/http/connection-limits.ts';
import { Problem } from '../platform/problem.ts';

/** Failures that cost nothing, and the first wait after them; each further failure doubles it. */
interface Rule {
  free: number;
  firstMs: number;
}
/** First wait after failed sign-ins. */
const RULES = {
  /** One account from one address: a person who mistypes. */
  host: { free: 5, firstMs: 1_000 },
  /** One account from one place: the address and its neighbours. */
  pair: { free: 20, firstMs: 1_000 },
  /** One place, whatever the account. */
  place: { free: 20, firstMs: 1_000 },
  /** One account, wherever from. */
  account: { free: 20, firstMs: 1_000 },
} as const satisfies Record<string, Rule>;
type Key = keyof typeof RULES;
/** Longest wait after failed sign-ins. */
const LONGEST_MS = 15 * 60_000;
/** Failures are forgotten this long after the last. */
export const FORGET_MS = 60 * 60_000;
/** All failures together, known places apart: `burst` at once, then one in this time. */
const EVERYWHERE = { burst: 300, refillMs: 6_000 };
/** Addresses and places together. */
const PLACES_PER_ACCOUNT = 32;

/** Where an account signed in before: at this address, at one of its place, at none. */
export type SignedInFrom = 'address' | 'place' | 'nowhere';
/** What counts there. */
const COUNTED: Record<SignedInFrom, readonly Key[]> = {
  address: ['host'],
  place: ['host', 'pair'],
  nowhere: ['host', 'pair', 'place', 'account'],
};

interface Failures {
  count: number;
  /** Unix milliseconds. */
  last: number;
}
export interface Counts extends Partial<Record<Key, Failures>> {
  /** When the guesses made so far will all be paid for at one per `refillMs`, Unix milliseconds. */
  paidAt?: number;
}

/**
 * Whether one more guess may be made, from what is counted so far: milliseconds to wait, or the counts with that guess
 * as a failure. Pure.
 */
export function judge(
  counts: Counts,
  known: SignedInFrom,
  now: number,
): { waitMs: number } | { counted: Counts } {
  const rules = COUNTED[known];
  const live = (key: Key): Failures => {
    const failures = counts[key];
    return failures && now - failures.last <= FORGET_MS ? failures : { count: 0, last: now };
  };
  const waits = rules.map((key) => {
    const { count, last } = live(key);
    const { free, firstMs } = RULES[key];
    if (count < free) return 0;
    // A clock that was set back must not prolong it.
    return Math.min(LONGEST_MS, last + Math.min(LONGEST_MS, firstMs * 2 ** (count - free)) - now);
  });
  const paidAt = Math.max(now, Math.min(counts.paidAt ?? now, now + EVERYWHERE.burst * EVERYWHERE.refillMs));
  if (known === 'nowhere') waits.push(paidAt - now - (EVERYWHERE.burst - 1) * EVERYWHERE.refillMs);
  const waitMs = Math.max(...waits);
  if (waitMs > 0) return { waitMs };

  const counted: Counts = known === 'nowhere' ? { paidAt: paidAt + EVERYWHERE.refillMs } : {};
  for (const key of rules) counted[key] = { count: live(key).count + 1, last: now };
  return { counted };
}

export interface Throttle {
  /**
   * Asks to check one password. Milliseconds to wait, or a guess that counts as a failure until it is said to be none:
   * guesses made at the same time count too.
   */
  begin(account: string, address: string): Promise<{ waitMs: number } | Guess>;
}
export interface Guess {
  /** All was right: it is no failure, earlier ones are forgiven, and the place is known from now on. */
  succeeded(): Promise<void>;
  /** A part was right and the rest was not tried: it is no failure, and forgives none. */
  incomplete(): Promise<void>;
}

export const tooOften = (waitMs: number): Problem => {
  const seconds = Math.ceil(waitMs / 1000);
  return new Problem('rate_limited', `too many failed sign-ins; wait ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
};

/** Sign-ins of one instance that wait for their turn: one connection serves them all. */
const WAITING = 256;

export function loginThrottle({ db, clock }: { db: Database; clock: Clock }): Throttle {
  const turn = pLimit(1);
  const inTurn = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    if (turn.pendingCount >= WAITING)
      throw new Problem('rate_limited', 'too many sign-ins at once; try again in a moment', {
        headers: { 'Retry-After': '2' },
      });
    return turn(() =>
      db.transaction(async (sql) => {
        // Guesses are counted one after the other.
        await holdLock(sql, 'sign-ins');
        return work(sql);
      }),
    );
  };

  return {
    begin: async (account, address) => {
      const from: From = { host: hostOf(address), place: placeOf(address) };
      const keys = keysOf(account, from);
      const answer = await inTurn(async (sql) => {
        const { counts, known } = await read(sql, keys, account, from);
        const judged = judge(counts, known, clock.now());
        if ('counted' in judged) await write(sql, keys, judged.counted);
        return judged;
      });
      if ('waitMs' in answer) return answer;
      const { counted } = answer;
      return {
        succeeded: () =>
          db.transaction(async (sql) => {
            await takeBack(sql, keys, counted);
            await sql.query('DELETE FROM login_failures WHERE key = ANY($1::bytea[])', [
              [keys.host, keys.pair],
            ]);
            await rememberPlace(sql, account, from, clock.now());
          }),
        incomplete: () => db.transaction((sql) => takeBack(sql, keys, counted)),
      };
    },
  };
}

type Keys = Record<Key | 'everywhere', Buffer>;
/** Whence somebody signs in. */
interface From {
  host: string;
  place: string;
}

/** Hashed: what is typed as a name may be a password, and the rows stay small. */
const keysOf = (account: string, { host, place }: From): Keys => ({
  host: hashOf(`host ${account} ${host}`),
  pair: hashOf(`pair ${account} ${place}`),
  place: hashOf(`place ${place}`),
  account: hashOf(`account ${account}`),
  everywhere: hashOf('everywhere'),
});

async function read(
  sql: Sql,
  keys: Keys,
  account: string,
  { host, place }: From,
): Promise<{ counts: Counts; known: SignedInFrom }> {
  const names = Object.keys(keys) as (keyof Keys)[];
  const rows = await sql.query<{ name: keyof Keys; count: number | null; last: Date | null; at: string[] }>(
    `SELECT k.name, f.count, f.last, ARRAY(
       SELECT p.place FROM login_places p JOIN users u ON u.id = p.user_id
       WHERE u.name = $3::text AND p.place = ANY($4::text[])) AS at
     FROM unnest($1::text[], $2::bytea[]) AS k(name, key) LEFT JOIN login_failures f ON f.key = k.key`,
    [names, names.map((name) => keys[name]), account, [host, place]],
  );
  const counts: Counts = {};
  for (const { name, count, last } of rows) {
    if (count === null || last === null) continue;
    if (name === 'everywhere') counts.paidAt = last.getTime();
    else counts[name] = { count, last: last.getTime() };
  }
  const at = rows[0]?.at ?? [];
  return { counts, known: at.includes(host) ? 'address' : at.includes(place) ? 'place' : 'nowhere' };
}

async function write(sql: Sql, keys: Keys, { paidAt, ...failures }: Counts): Promise<void> {
  const rows = Object.entries(failures).map(
    ([name, { count, last }]) => [keys[name as Key], count, new Date(last)] as const,
  );
  if (paidAt !== undefined) rows.push([keys.everywhere, 0, new Date(paidAt)]);
  await sql.query(
    `INSERT INTO login_failures (key, count, last) SELECT * FROM unnest($1::bytea[], $2::int[], $3::timestamptz[])
     ON CONFLICT (key) DO UPDATE SET count = EXCLUDED.count, last = EXCLUDED.last`,
    [rows.map(([key]) => key), rows.map(([, count]) => count), rows.map(([, , last]) => last)],
  );
}

/** The guess is no failure. */
async function takeBack(sql: Sql, keys: Keys, { paidAt, ...counted }: Counts): Promise<void> {
  await sql.query('UPDATE login_failures SET count = greatest(0, count - 1) WHERE key = ANY($1::bytea[])', [
    Object.keys(counted).map((key) => keys[key as Key]),
  ]);
  if (paidAt === undefined) return;
  await sql.query(
    `UPDATE login_failures SET last = last - interval '${EVERYWHERE.refillMs} milliseconds' WHERE key = $1`,
    [keys.everywhere],
  );
}

async function rememberPlace(sql: Sql, account: string, { host, place }: From, now: number): Promise<void> {
  await sql.query(
    `INSERT INTO login_places (user_id, place, last) SELECT id, unnest($2::text[]), $3 FROM users WHERE name = $1
     ON CONFLICT (user_id, place) DO UPDATE SET last = EXCLUDED.last`,
    [account, [host, place], new Date(now)],
  );
  await sql.query(
    `DELETE FROM login_places p USING users u WHERE u.name = $1 AND p.user_id = u.id AND p.place NOT IN (
       SELECT l.place FROM login_places l WHERE l.user_id = u.id ORDER BY l.last DESC, l.place LIMIT ${PLACES_PER_ACCOUNT})`,
    [account],
  );
}

/** Who has one address has its neighbours too: IPv4 by /24, IPv6 by /56. */
export function placeOf(address: string): string {
  const v4 = ipv4Of(address);
  if (v4 !== undefined) return v4.replace(/\.\d+$/, '');
  const [a, b, c, d = '0000'] = groupsOf(address);
  return `${a}:${b}:${c}:${d.slice(0, 2)}`;
}

/** One host: IPv6 by its /64, of which it has every address. */
export const hostOf = (address: string): string =>
  ipv4Of(address) ?? `${groupsOf(address).slice(0, 4).join(':')}::`;

const ipv4Of = (address: string): string | undefined => /^(?:::ffff:)?(\d+(?:\.\d+){3})$/i.exec(address)?.[1];

/** The eight groups of an IPv6 address, four digits each. */
const groupsOf = (address: string): string[] =>
  ipv6Groups(address).map((group) => group.padStart(4, '0').toLowerCase());
