/** argon2id (RFC 9106) with the parameters OWASP names as the least: 19 MiB, 2 passes, 1 lane. */
import { randomInt } from 'node:crypto';
// 0.45.1, built for a later Node, ends Node 20 with a segmentation fault when it is loaded.
import { hash, verify } from 'argon2';
import pLimit from 'p-limit';
import { Problem } from '../platform/problem.ts';

// argon2id is the library's default variant.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const WRITTEN = '$argon2id$v=19$m=19456,t=2,p=1';
/** Hashes in work at once: each takes a core and 19 MiB for about 20 ms. */
const AT_ONCE = 4;
/** Hashes waiting, at most: about half a second of waiting. */
const WAITING = 64;

const limit = pLimit(AT_ONCE);
const bounded = <T>(work: () => Promise<T>): Promise<T> => {
  if (limit.pendingCount >= WAITING)
    throw new Problem('rate_limited', 'too many sign-ins at once; try again in a moment', {
      headers: { 'Retry-After': '2' },
    });
  return limit(work);
};

/** The same password typed on another keyboard is the same: composed Unicode. */
const normal = (password: string): string => password.normalize('NFC');

/** PHC string of a password. */
export const hashPassword = (password: string): Promise<string> =>
  bounded(() => hash(normal(password), PARAMETERS));

let dummy: Promise<string> | undefined;

/**
 * Whether the password fits. Without a hash (nobody has that name, or no password) it works just as long, so that time does not tell
 * which names exist.
 */
export async function passwordFits(password: string, stored: string | null | undefined): Promise<boolean> {
  dummy ??= hash('nobody has this password', PARAMETERS);
  const against = stored ?? (await dummy);
  const fits = await bounded(() => verify(against, normal(password)));
  return fits && stored != null;
}

/** Whether a stored hash was made with weaker parameters than today's. */
export const isOutdated = (stored: string): boolean => !stored.startsWith(WRITTEN);

/** No signs that people mix up when they read them aloud. */
const SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789';
/** Four groups of five: 99 random bits. */
export const generatePassword = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 5 }, () => SIGNS[randomInt(SIGNS.length)]).join(''),
  ).join('-');
