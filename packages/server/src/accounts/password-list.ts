/**
 * Passwords that guessing tries first (ASVS 5.0 6.2.4 and 6.2.12, NIST SP 800-63B 3.1.1.2): 49,000 that leaks have in
 * common, from `@zxcvbn-ts/language-common`. On disk, so that no password and no part of one leaves the server.
 */
import { createRequire } from 'node:module';
import { z } from 'zod';
import { invalid } from '../platform/problem.ts';

const load = createRequire(import.meta.url);
/** Its declared type is that of the compressed form; what it exports is the list. */
const words = z.object({ dictionary: z.object({ 'passwords-common': z.array(z.string()).min(10_000) }) });

let list: ReadonlySet<string> | undefined;
/** Loaded with the first password that is set: 60 ms and 4 MB that most runs of the program never need. */
const common = (): ReadonlySet<string> => {
  list ??= new Set(words.parse(load('@zxcvbn-ts/language-common')).dictionary['passwords-common']);
  return list;
};

/** What stands around a word when somebody was made to use digits and signs. */
const decoration = /^[\d\W_]+|[\d\W_]+$/g;

/** Why a new password would be guessed at once; null when it would not. `account`: whose it is to be. */
export function guessable(password: string, account: string): string | null {
  const plain = password.normalize('NFC').trim().toLowerCase();
  if (common().has(plain)) return 'is one of the passwords that are tried first; choose another';
  const word = plain.replace(decoration, '');
  if (word === account || plain === account) return 'must not be the name of the account';
  if (word === 'rollcall') return 'must not be the name of this program';
  if (new Set(plain).size <= 2) return 'must not repeat one or two characters';
  return null;
}

/** @throws Problem `invalid_request` that names the field. */
export function refuseGuessable(field: string, password: string, account: string): void {
  const reason = guessable(password, account);
  if (reason !== null) throw invalid(field, reason);
}
