/** What a browser keeps while it is at the provider: a sealed cookie, so that nothing is stored for who has not signed in. */
import { z } from 'zod';
import { type Keyring, SealBroken } from '../../platform/keys/keyring.ts';
import type { Attempt } from './provider.ts';

/** How long somebody may take at the provider. */
export const ATTEMPT_MS = 10 * 60_000;

const kept = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Page that is shown afterwards. */
  to: z.string(),
  /** Unix milliseconds. */
  until: z.number(),
});
export type Kept = z.infer<typeof kept>;

const PLACE = { table: 'session.oidc', row: 'attempt' };

export function sealAttempt(keyring: Keyring, attempt: Attempt, to: string, now: number): string {
  const plain: Kept = { ...attempt, to, until: now + ATTEMPT_MS };
  const { sealed, keyId } = keyring.seal(PLACE, JSON.stringify(plain));
  return `${keyId}.${sealed.toString('base64url')}`;
}

/** Null where it is not ours, is altered, or took too long. */
export function openAttempt(keyring: Keyring, cookie: string, now: number): Kept | null {
  const [keyId = '', sealed = ''] = cookie.split('.');
  try {
    const plain = kept.parse(JSON.parse(keyring.open(PLACE, keyId, Buffer.from(sealed, 'base64url'))));
    return now < plain.until ? plain : null;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}

const HERE = 'http://here.invalid';

/** The page that somebody asked for, if it is one of this server's; else the first. No address leads elsewhere. */
export function pageOf(to: string | undefined): string {
  if (to === undefined || !to.startsWith('/') || !URL.canParse(to, HERE)) return '/';
  const { origin, pathname, search } = new URL(to, HERE);
  return origin === HERE && !/^\/+api(\/|$)/i.test(pathname) ? pathname + search : '/';
}
