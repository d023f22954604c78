import { createHash } from 'node:crypto';
import { Problem } from '../problem.ts';

/**
 * Validator of a thing or a list as it is shown: changes whenever any shown field does. It is the same in every content coding,
 * as it stands for what is shown and not for bytes: caches keep no answer (`no-store`), and nothing is sent in ranges.
 */
export const etagOf = (data: unknown): string => etagOfText(JSON.stringify(data));

/** Of what is a text already. */
export const etagOfText = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

/** Whether a list of validators (If-Match, If-None-Match: RFC 9110 section 13.1) names this one. */
export const matches = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);

/**
 * Refuses a write that was decided on an older state: call it inside the transaction, with the row locked.
 * Without the header anything goes.
 */
export function requireMatch(ifMatch: string | undefined, data: unknown): void {
  if (ifMatch !== undefined && !matches(ifMatch, etagOf(data)))
    throw new Problem('conflict', 'it was changed in the meantime; read it again');
}
