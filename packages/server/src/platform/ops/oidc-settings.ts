/** Settings of a provider of identities (OpenID Connect): where it is, who we are there, what groups give. */
import { ROLES, type Role } from '@rollcall/shared/model';
import type { Secret } from '@rollcall/shared/secret';
import { z } from 'zod';
import { StartError } from './start-error.ts';
import { file, list, yes } from './variables.ts';

/** What the members of some groups get. */
export interface OidcRule {
  /** Names or ids as the provider tells them; `*` is everybody. */
  groups: string[];
  role: Role;
  /** Names of sites. */
  sites: 'all' | string[];
}

export interface OidcSettings {
  /** As the provider writes it: its discovery document stands below it. */
  issuer: string;
  clientId: string;
  /** Absent: a public client, which proves itself by PKCE alone. A file is read at each use, so that it may change. */
  clientSecret: { kind: 'text'; text: Secret } | { kind: 'file'; path: string } | undefined;
  /** Where the provider sends people back to: to be registered there. */
  redirectUri: string;
  /** Of the first page, where the redirect address begins; no slash at the end. */
  publicUrl: string;
  scopes: string[];
  /** On the button of the sign-in page. */
  name: string;
  /** Claims that hold the sign-in name and the groups. */
  nameClaim: string;
  groupsClaim: string;
  /** Whether who signs in for the first time gets an account. */
  createAccounts: boolean;
  rules: OidcRule[];
}

export const OIDC_KEYS = {
  ROLLCALL_OIDC_ISSUER: ['oidc', 'issuer'],
  ROLLCALL_OIDC_CLIENT_ID: ['oidc', 'clientId'],
  ROLLCALL_OIDC_CLIENT_SECRET: ['oidc', 'clientSecret'],
  ROLLCALL_OIDC_CLIENT_SECRET_FILE: ['oidc', 'clientSecretFile'],
  ROLLCALL_OIDC_SCOPES: ['oidc', 'scopes'],
  ROLLCALL_OIDC_NAME: ['oidc', 'name'],
  ROLLCALL_OIDC_NAME_CLAIM: ['oidc', 'nameClaim'],
  ROLLCALL_OIDC_GROUPS_CLAIM: ['oidc', 'groupsClaim'],
  ROLLCALL_OIDC_CREATE_ACCOUNTS: ['oidc', 'createAccounts'],
  ROLLCALL_OIDC_RULES: ['oidc', 'rules'],
} as const satisfies Record<string, readonly ['oidc', string]>;

export const CALLBACK_PATH = '/api/session/oidc/callback';

const text = (what: string, most: number) => {
  const error = `must be ${what}`;
  return z.string({ error }).min(1, { error }).max(most, { error });
};
const rule = z.strictObject(
  {
    groups: z
      .array(text('the name of a group, or "*" for everybody', 256), { error: 'must be a list of groups' })
      .min(1, { error: 'must name at least one group' })
      .max(100, { error: 'must name at most 100 groups' }),
    role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }),
    sites: z.union([z.literal('all'), z.array(text('the name of a site', 100)).min(1).max(1000)], {
      error: 'must be all, or a list of names of sites',
    }),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? 'has groups, role and sites, and nothing else'
        : 'must have groups, role and sites',
  },
);

/** A list of the file comes as JSON, as the variable has it. */
const rules = z
  .string()
  .optional()
  .transform((json, context) => {
    if (json === undefined) return [];
    try {
      return JSON.parse(json) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'not JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.array(rule).max(200));

/** Whether an address is one that a password may travel to: HTTPS, or this machine. */
const isSafe = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, search, hash } = new URL(address);
  if (search !== '' || hash !== '') return false;
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname))
  );
};

export const oidcVariables = {
  ROLLCALL_OIDC_ISSUER: z
    .string()
    .refine(isSafe)
    .optional()
    .meta({ need: 'the issuer of a provider, as https://login.example.net/realms/work' })
    .describe('Provider of identities (OpenID Connect) that people sign in with. Default: passwords only.'),
  ROLLCALL_OIDC_CLIENT_ID: z
    .string()
    .max(300)
    .optional()
    .meta({ need: 'a name of at most 300 characters' })
    .describe('Our name at the provider.'),
  ROLLCALL_OIDC_CLIENT_SECRET: z
    .string()
    .max(1000)
    .optional()
    .meta({ need: 'at most 1000 characters', secret: true })
    .describe('Our secret at the provider.'),
  ROLLCALL_OIDC_CLIENT_SECRET_FILE: file.optional().describe('File with it, instead.'),
  ROLLCALL_OIDC_SCOPES: list
    .refine((scopes) => scopes.every((scope) => /^[!#-[\]-~]{1,100}$/.test(scope)) && scopes.length <= 20)
    .transform((scopes) => (scopes.length === 0 ? ['openid', 'profile', 'email'] : scopes))
    .refine((scopes) => scopes.includes('openid'))
    .meta({ need: 'scopes separated by commas, openid among them' })
    .describe('Scopes that are asked for. Default: openid, profile, email.'),
  ROLLCALL_OIDC_NAME: z
    .string()
    .trim()
    .min(1)
    .max(40)
    .default('single sign-on')
    .meta({ need: 'at most 40 characters' })
    .describe('Name of the provider on the sign-in page. Default: single sign-on.'),
  ROLLCALL_OIDC_NAME_CLAIM: claim('preferred_username').describe(
    'Claim that becomes the sign-in name. Default: preferred_username.',
  ),
  ROLLCALL_OIDC_GROUPS_CLAIM: claim('groups').describe('Claim with the groups of a person. Default: groups.'),
  ROLLCALL_OIDC_CREATE_ACCOUNTS: yes('true').describe(
    'false: only who has an account here can sign in. Default: true.',
  ),
  ROLLCALL_OIDC_RULES: rules
    .meta({ need: 'a list of rules, each with groups, role and sites' })
    .describe('What groups give, as JSON: [{"groups": ["noc"], "role": "operator", "sites": "all"}].'),
} as const;

function claim(otherwise: string) {
  return z
    .string()
    .regex(/^[\w:/.-]{1,200}$/)
    .default(otherwise)
    .meta({ need: 'the name of a claim' });
}

/** The settings together; absent where no issuer is named. Throws a StartError where they do not fit each other. */
export function oidcOf(given: {
  issuer: string | undefined;
  clientId: string | undefined;
  clientSecret: Secret | undefined;
  clientSecretFile: string | undefined;
  publicUrl: string | undefined;
  scopes: string[];
  name: string;
  nameClaim: string;
  groupsClaim: string;
  createAccounts: boolean;
  rules: OidcRule[];
}): OidcSettings | undefined {
  const { issuer, clientId, clientSecret, clientSecretFile, publicUrl, ...rest } = given;
  if (issuer === undefined) {
    if (clientId !== undefined || clientSecret || clientSecretFile !== undefined || rest.rules.length > 0)
      throw new StartError('oidc.issuer is missing: the other settings of oidc mean nothing without it');
    return undefined;
  }
  if (clientId === undefined)
    throw new StartError('oidc.clientId is missing: the name under which the provider knows this server');
  if (publicUrl === undefined)
    throw new StartError(
      'oidc needs publicUrl (ROLLCALL_PUBLIC_URL): the provider sends people back to that address',
    );
  if (!isSafe(publicUrl))
    throw new StartError(
      'oidc needs a publicUrl that begins with https://: codes of the provider travel to it',
    );
  if (rest.rules.length === 0)
    throw new StartError(
      'oidc.rules is missing: without a rule nobody gets in; say which groups get which role and sites',
    );
  const secretOf = (): OidcSettings['clientSecret'] => {
    if (clientSecretFile !== undefined) return { kind: 'file', path: clientSecretFile };
    return clientSecret && { kind: 'text', text: clientSecret };
  };
  return {
    ...rest,
    issuer,
    clientId,
    clientSecret: secretOf(),
    publicUrl,
    redirectUri: publicUrl + CALLBACK_PATH,
  };
}
