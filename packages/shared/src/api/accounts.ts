/** Sessions, tokens, users, audit. */
import { z } from 'zod';
import { role } from '../model.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, queryTime, resource, siteFilter, sortBy, unixSeconds } from './operation.ts';

export const PASSWORD_LEAST = 8;
export const PASSWORD_MOST = 128;

const signInName = z
  .string()
  .trim()
  .toLowerCase()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9._@-]*$/, 'must be letters, digits and . _ @ - only')
  .meta({ description: 'Sign-in name, lower case.', example: 'ada' });
const newPassword = z
  .string()
  .min(PASSWORD_LEAST)
  .max(PASSWORD_MOST)
  .meta({ description: 'Any characters; 15 or more are advised.', example: 'correct horse battery staple' });
/** A password as somebody typed it: only its length is bounded, so that guessing tells nothing about the rules. */
export const anyPassword = z.string().max(PASSWORD_MOST).meta({ example: 'correct horse battery staple' });
/** How an account signs in: with its password here, or with the provider of identities (OpenID Connect). */
const SIGN_INS = ['password', 'oidc'] as const;
const signIn = z.enum(SIGN_INS).meta({ id: 'SignIn' });

/**
 * Why a sign-in with the provider came to nothing. The provider or the way there: `away`, `rejected`, `denied`, `stale`
 * (too late, in another browser, or used before), `busy`. The person: `nameless`, `unknown` (no account, and none is made),
 * `taken` (the name is another account's), `disabled`, `no-rule`, `no-groups` (as no-rule, and no groups were told).
 */
export const OIDC_REFUSALS = [
  'away',
  'rejected',
  'denied',
  'stale',
  'busy',
  'nameless',
  'unknown',
  'taken',
  'disabled',
  'no-rule',
  'no-groups',
] as const;
export type OidcRefusal = (typeof OIDC_REFUSALS)[number];

const displayName = line(100, 0).meta({ example: 'Ada Lovelace' });
export const siteIds = z.array(z.uuid().toLowerCase()).max(1000);
/** A person's own settings (theme, time zone, saved views). The server reads one of them, `defaultSite`. */
const personalSettings = z.record(z.string().max(64), z.json()).meta({
  description: '`defaultSite` (id or name): the site of scans that name none, where several could be meant.',
  example: { theme: 'dark', defaultSite: 'Berlin' },
});

const userFields = {
  id,
  name: z.string().meta({ example: 'ada' }),
  displayName: z.string().meta({ example: 'Ada Lovelace' }),
  role,
  allSites: z.boolean().meta({ description: 'Sees every site, future ones too.' }),
  siteIds: z.array(z.uuid()).meta({ description: 'The sites it sees, unless all.' }),
  signIn: signIn.meta({ description: 'By a password here, or with the provider of identities.' }),
  secondFactor: z.boolean().meta({ description: 'A sign-in needs a code of an authenticator app as well.' }),
};
export const user = z
  .strictObject({
    ...userFields,
    disabledAt: unixSeconds.nullable(),
    createdAt: unixSeconds,
    lastLoginAt: unixSeconds.nullable(),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof user>;

export const session = z
  .strictObject({
    id,
    createdAt: unixSeconds,
    lastSeenAt: unixSeconds,
    expiresAt: unixSeconds,
    address: z.string().meta({ example: '192.0.2.7' }),
    userAgent: z.string(),
    current: z.boolean().meta({ description: 'The session of this request.' }),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof session>;

export const me = z
  .strictObject({
    user: z.strictObject({ ...userFields, settings: personalSettings }),
    via: z.enum(['session', 'token']).meta({ id: 'SignedInBy' }),
    session: session.nullable(),
    mustSetUp: z.boolean().meta({
      description:
        'The server demands a second factor and the account has none: until it is set up, all but /api/session is refused.',
    }),
    recoveryCodes: z.int().meta({ description: 'Recovery codes that are left.', example: 10 }),
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof me>;

const auditEntry = z
  .strictObject({
    id,
    at: unixSeconds,
    actorId: z.uuid().nullable(),
    actor: z.string().meta({ example: 'ada' }),
    action: z.string().meta({ description: 'What was done.', example: 'token.create' }),
    subject: z.string().meta({ description: 'What it was done to.', example: 'token report script' }),
    siteId: z.uuid().nullable(),
    address: z.string().meta({ example: '192.0.2.7' }),
    detail: z.record(z.string(), z.json()),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;

const sessions = resource('/api/sessions', 'Session', session);
const users = resource('/api/users', 'Users', user);

/** A parameter of a provider's answer. */
const told = z.string().max(8000).optional();

export const accountOperations = {
  'session.create': {
    method: 'POST',
    path: '/api/session',
    tag: 'Session',
    summary: 'Sign in',
    description:
      'Sets the session cookie, always a new one. Wrong name and wrong password read the same (401). With a second factor the right password alone is a 401 whose `details` name `code`: the same again with a code signs in. After several failures the next tries have to wait (429 with `Retry-After`); no account is ever locked.',
    access: 'public',
    body: z.strictObject({
      name: z.string().max(200).meta({ example: 'ada' }),
      password: anyPassword,
      code: z.string().trim().max(60).optional().meta({
        description: 'Where the account has a second factor: of the authenticator app, or a recovery code.',
        example: '123456',
      }),
    }),
    data: me,
    envelope: 'item',
    errors: ['unauthorized'],
    example: { name: 'ada', password: 'correct horse battery staple' },
  },
  'session.ways': {
    method: 'GET',
    path: '/api/session/ways',
    tag: 'Session',
    summary: 'How can people sign in here?',
    access: 'public',
    data: z.strictObject({
      oidc: z
        .strictObject({
          name: z.string().meta({ description: 'What the provider is called.', example: 'single sign-on' }),
          start: z.url().meta({
            description: 'Where a browser begins to sign in with it.',
            example: 'https://rollcall.example.net/api/session/oidc',
          }),
        })
        .nullable()
        .meta({ description: 'The provider of identities (OpenID Connect); null: there is none.' }),
    }),
    envelope: 'item',
  },
  'session.oidc': {
    method: 'GET',
    path: '/api/session/oidc',
    tag: 'Session',
    summary: 'Sign in with the provider of identities',
    description:
      'For browsers: leads to the provider (OpenID Connect, authorization code with PKCE), which leads back to `/api/session/oidc/callback`. What is needed there is in a sealed cookie, for ten minutes.',
    access: 'public',
    query: z.strictObject({
      to: z.string().max(1000).optional().meta({
        description: 'Page of this server that is shown afterwards; any other address is passed over.',
        example: '/devices',
      }),
    }),
    data: z.null(),
    envelope: 'item',
    status: 303,
    errors: ['not_found'],
  },
  'session.callback': {
    method: 'GET',
    path: '/api/session/oidc/callback',
    tag: 'Session',
    summary: 'Come back from the provider of identities',
    description: `Opens a session as \`POST /api/session\` does and leads to the page. Where it opens none, the page is told why in the fragment: \`#sign-in=\` and one of ${OIDC_REFUSALS.join(', ')}. Other parameters than these are passed over (RFC 6749, 4.1.2).`,
    access: 'public',
    query: z.looseObject({ code: told, state: told, iss: told, error: told, error_description: told }),
    data: z.null(),
    envelope: 'item',
    status: 303,
    errors: ['not_found'],
  },
  'session.get': {
    method: 'GET',
    path: '/api/session',
    tag: 'Session',
    summary: 'Who am I?',
    description: 'The account behind the session or the token, with its present rights.',
    access: 'viewer',
    data: me,
    envelope: 'item',
  },
  'session.update': {
    method: 'PATCH',
    path: '/api/session',
    tag: 'Session',
    summary: 'Change my display name or settings',
    access: 'viewer',
    by: 'session',
    body: z.strictObject({ displayName: displayName.optional(), settings: personalSettings.optional() }),
    data: me,
    envelope: 'item',
    example: { settings: { theme: 'dark', timeZone: 'Europe/Berlin' } },
  },
  'session.delete': {
    method: 'DELETE',
    path: '/api/session',
    tag: 'Session',
    summary: 'Sign out',
    access: 'viewer',
    by: 'session',
    data: z.null(),
    envelope: 'item',
  },
  'session.password': {
    method: 'POST',
    path: '/api/session/password',
    tag: 'Session',
    summary: 'Change my password',
    description:
      'Signs out every other session, gives this one a new cookie, and, when asked, revokes all tokens.',
    access: 'viewer',
    by: 'session',
    body: z.strictObject({
      current: anyPassword,
      next: newPassword,
      revokeTokens: z.boolean().default(false),
    }),
    data: me,
    envelope: 'item',
    errors: ['conflict'],
    example: { current: 'correct horse battery staple', next: 'staple battery horse correct' },
  },
  'sessions.list': sessions.list('viewer', 'List my sessions', { by: 'session' }),
  'sessions.delete': sessions.remove('viewer', 'Sign out one of my sessions', { by: 'session' }),
  'users.list': users.list('admin', 'List users', {
    description:
      'An administrator who does not see every site sees the accounts whose sites are all among their own.',
    query: z.strictObject({
      ...paging,
      search: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Part of the name or display name.', example: 'ada' }),
      sort: sortBy(['name', 'role', 'createdAt', 'lastLoginAt']),
    }),
  }),
  'users.get': users.get('admin', 'Get a user'),
  'users.create': users.create('admin', 'Add a user', {
    description:
      'An account that signs in with the provider has no password; its role and sites are those of the rules (`oidc.rules`) from the first sign-in on, which the sign-in name finds.',
    body: z.strictObject({
      name: signInName,
      signIn: signIn.default('password'),
      password: newPassword.optional(),
      displayName: displayName.default(''),
      role,
      allSites: z.boolean().default(false),
      siteIds: siteIds.default([]),
    }),
    errors: ['conflict'],
    example: { name: 'ada', password: 'correct horse battery staple', role: 'operator', allSites: true },
  }),
  'users.update': users.update('admin', 'Change a user', {
    description:
      'Role, sites and `disabled` take effect at once, also for open streams. A new password signs the user out everywhere. `signIn: oidc` takes the password and the second factor away, never your own (409); a new password makes an account of the provider a local one. The last enabled administrator of all sites with a password stays that (409), as do role and sites of an account of the provider, which follow from its groups. With `If-Match` (the `ETag` of the read) a change made in between is answered 409.',
    body: z.strictObject({
      displayName: displayName.optional(),
      role: role.optional(),
      allSites: z.boolean().optional(),
      siteIds: siteIds.optional(),
      disabled: z.boolean().optional(),
      password: newPassword.optional(),
      signIn: z.literal('oidc').optional(),
    }),
    errors: ['conflict'],
    example: { role: 'viewer' },
  }),
  'users.delete': users.remove('admin', 'Delete a user', {
    description: 'Sessions and tokens go with it; what the user did stays in the audit log under the name.',
    errors: ['conflict'],
  }),
  'assignees.list': {
    method: 'GET',
    path: '/api/assignees',
    tag: 'Users',
    summary: 'List the people a case can be assigned to',
    description: 'Enabled accounts that share a site with the caller: name only.',
    access: 'viewer',
    query: z.strictObject({ ...paging, site: siteFilter }),
    data: z.strictObject({
      id,
      name: z.string().meta({ example: 'ada' }),
      displayName: z.string().meta({ example: 'Ada Lovelace' }),
    }),
    envelope: 'list',
  },
  'audit.list': {
    method: 'GET',
    path: '/api/audit',
    tag: 'Audit',
    summary: 'Read the audit log, newest first',
    description:
      'Sign-ins, tokens, roles, credentials, collectors. An administrator who does not see every site sees what belongs to their sites and what they did themselves.',
    access: 'admin',
    query: z.strictObject({
      ...paging,
      from: queryTime.optional().meta({ description: 'Unix seconds, inclusive.', example: 1_763_700_000 }),
      to: queryTime.optional().meta({ description: 'Unix seconds, inclusive.', example: 1_763_786_400 }),
      actor: z.string().max(200).optional().meta({ description: 'Exact name.', example: 'ada' }),
      action: z.string().max(100).optional().meta({
        description: 'Exact, or everything of a kind: `token` or `token.create`.',
        example: 'token',
      }),
      site: siteFilter,
    }),
    data: auditEntry,
    envelope: 'list',
  },
} as const satisfies Record<string, Operation>;
