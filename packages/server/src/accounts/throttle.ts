/**
 * How often somebody may guess a password. Every failure is counted under four keys; a key with too many failures has
 * to wait, longer each time, a quarter of an hour at most. Nobody is ever locked out: from a place where the account
 * signed in before, only that place's own failures for that account count.
 *
 * Counted in memory, per server instance: nothing to write while under attack. N instances allow N times as much.
 */
import type { Clock } from '@rollcall/shared/clock';

/** Failures that cost nothing, and the first wait after them; each further failure doubles it. */
interface Rule {
  free: number;
  firstMs: number;
}
const RULES = {
  /** One account from one place: a person who mistypes. */
  pair: { free: 5, firstMs: 1_000 },
  /** One place, whatever the account. */
  place: { free: 20, firstMs: 1_000 },
  /** One account, wherever from. */
  account: { free: 20, firstMs: 1_000 },
} as const satisfies Record<string, Rule>;
const LONGEST_MS = 15 * 60_000;
/** Failures are forgotten this long after the last. */
const FORGET_MS = 60 * 60_000;
/** All failures together, known places apart: this many at once, then one every `refillMs`. */
const EVERYWHERE = { burst: 300, refillMs: 6_000 };
const KEYS_MOST = 20_000;
const PLACES_PER_ACCOUNT = 16;

interface Failures {
  count: number;
  last: number;
}

export interface Throttle {
  /**
   * Asks to check one password. Milliseconds to wait, or a guess that counts as a failure until `succeeded` is
   * called: guesses made at the same time count too.
   */
  begin(account: string, address: string): { waitMs: number } | { succeeded: () => void };
}

export function loginThrottle(clock: Clock): Throttle {
  const failures = new Map<string, Failures>();
  const places = new Map<string, string[]>();
  let budget: number = EVERYWHERE.burst;
  let refilledAt = clock.monotonic();

  const waitOf = (key: string, { free, firstMs }: Rule, now: number): number => {
    const entry = failures.get(key);
    if (!entry || now - entry.last > FORGET_MS || entry.count < free) return 0;
    return entry.last + Math.min(LONGEST_MS, firstMs * 2 ** (entry.count - free)) - now;
  };
  const count = (key: string, now: number): void => {
    const entry = failures.get(key);
    const before = entry && now - entry.last <= FORGET_MS ? entry.count : 0;
    bounded(failures, key, { count: before + 1, last: now });
  };
  const uncount = (key: string): void => {
    const entry = failures.get(key);
    if (entry) entry.count -= 1;
  };

  return {
    begin: (account, address) => {
      const now = clock.monotonic();
      const place = placeOf(address);
      const known = places.get(account)?.includes(place) ?? false;
      const keys = { pair: `${account} ${place}`, place: ` ${place}`, account };
      budget = Math.min(EVERYWHERE.burst, budget + (now - refilledAt) / EVERYWHERE.refillMs);
      refilledAt = now;

      const waits = [waitOf(keys.pair, RULES.pair, now)];
      if (!known) {
        waits.push(waitOf(keys.place, RULES.place, now), waitOf(keys.account, RULES.account, now));
        if (budget < 1) waits.push((1 - budget) * EVERYWHERE.refillMs);
      }
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { waitMs };

      const counted = known ? [keys.pair] : [keys.pair, keys.place, keys.account];
      for (const key of counted) count(key, now);
      if (!known) budget -= 1;
      return {
        succeeded: () => {
          for (const key of counted) uncount(key);
          failures.delete(keys.pair);
          if (!known) budget += 1;
          const others = (places.get(account) ?? []).filter((other) => other !== place);
          bounded(places, account, [...others, place].slice(-PLACES_PER_ACCOUNT));
        },
      };
    },
  };
}

/** Keeps a map at its size by dropping what was touched longest ago. */
function bounded<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= KEYS_MOST) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** Who has one address has its neighbours too: IPv4 by /24, IPv6 by /56. */
export function placeOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...rest].map((g) =>
    g.padStart(4, '0').toLowerCase(),
  );
  return `${all.slice(0, 3).join(':')}:${(all[3] ?? '0000').slice(0, 2)}`;
}
