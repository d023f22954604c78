/** The second factor of accounts with a password: one-time codes of an authenticator app (RFC 6238), and recovery codes. */
import { z } from 'zod';
import { anyPassword, me, user } from './accounts.ts';
import type { Operation } from './operation.ts';
import { id } from './operation.ts';

/** Recovery codes of one account. */
export const RECOVERY_CODES = 10;

/** As somebody typed it: of an app, or a recovery code. */
export const oneTimeCode = z
  .string()
  .trim()
  .max(60)
  .meta({ description: 'Of the authenticator app, or a recovery code.', example: '123456' });

const path = '/api/session/second-factor';
const tag = 'Session';

export const secondFactorOperations = {
  'secondFactor.begin': {
    method: 'POST',
    path,
    tag,
    summary: 'Begin to set up my second factor',
    description:
      'Answers a new secret, this once. It counts from the first code of it on (`/api/session/second-factor/confirmation`); until then another call replaces it. 409 where there is a second factor already.',
    access: 'viewer',
    by: 'session',
    body: z.strictObject({ password: anyPassword }),
    data: z.strictObject({
      secret: z.string().meta({ description: 'Base32, for apps without a camera.' }),
      uri: z.string().meta({ description: 'otpauth://…, for a QR code.' }),
    }),
    envelope: 'item',
    errors: ['conflict'],
    example: { password: 'correct horse battery staple' },
  },
  'secondFactor.confirm': {
    method: 'POST',
    path: `${path}/confirmation`,
    tag,
    summary: 'Confirm my second factor by a code of it',
    description: `From then on a sign-in needs a code. Answers ${RECOVERY_CODES} recovery codes, this once; each works once in place of a code. Every other session is signed out.`,
    access: 'viewer',
    by: 'session',
    body: z.strictObject({ code: oneTimeCode }),
    data: me,
    extra: z.strictObject({
      recoveryCodes: z.array(z.string()).meta({ example: ['abcde-fghjk-mnpqr-stuvw'] }),
    }),
    envelope: 'item',
    errors: ['conflict'],
    example: { code: '123456' },
  },
  'secondFactor.remove': {
    method: 'POST',
    path: `${path}/removal`,
    tag,
    summary: 'Remove my second factor',
    description:
      'Needs a code of it, or a recovery code. To change to another device remove it and set it up anew.',
    access: 'viewer',
    by: 'session',
    body: z.strictObject({ code: oneTimeCode }),
    data: me,
    envelope: 'item',
    errors: ['conflict'],
    example: { code: '123456' },
  },
  'users.resetSecondFactor': {
    method: 'DELETE',
    path: '/api/users/{id}/second-factor',
    tag: 'Users',
    summary: "Remove a user's second factor",
    description:
      'For somebody who lost the device and the recovery codes: the password alone signs in again. Ends the sessions of the user. Your own is removed with a code (`/api/session/second-factor/removal`).',
    access: 'admin',
    params: z.strictObject({ id }),
    data: user,
    envelope: 'item',
    errors: ['conflict', 'not_found'],
  },
} as const satisfies Record<string, Operation>;
