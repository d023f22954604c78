/**
 * The provider of identities as its protocol has it (OpenID Connect Core 1.0, authorization code flow with PKCE, RFC 7636):
 * what is asked of it, and who its answer says that somebody is. `openid-client` speaks the protocol and verifies the answer.
 */
import { readFile } from 'node:fs/promises';
import type { OidcRefusal } from '@rollcall/shared/api/accounts';
import type { Clock } from '@rollcall/shared/clock';
import type * as OpenId from 'openid-client';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { OidcSettings } from '../../platform/ops/oidc-settings.ts';

/** What the provider tells of itself is asked again after this. */
const DISCOVERED_MS = 60 * 60_000;
/** Longest wait for one answer of the provider. */
const ANSWER_MS = 10_000;
/** Clocks may differ by so much where times of a token are checked. */
const SKEW_SECONDS = 30;
/** Answers in work at once, and waiting: each asks the provider twice or thrice. */
const AT_ONCE = 8;
const WAITING = 64;
/** Groups of one person, at most. */
const GROUPS_MOST = 2_000;

/** A sign-in that came to nothing; `reason` is for the log. */
export class Refused extends Error {
  override name = 'Refused';
  readonly refusal: OidcRefusal;
  /** Of whom, where the provider said that. */
  readonly person: Person | undefined;
  constructor(refusal: OidcRefusal, reason: string, more: { person?: Person; cause?: unknown } = {}) {
    super(reason, more.cause === undefined ? undefined : { cause: more.cause });
    this.refusal = refusal;
    this.person = more.person;
  }
}

/** What one sign-in is recognised by: random texts, known to the browser's sealed cookie and partly to the provider. */
export interface Attempt {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who the provider says that somebody is. */
export interface Person {
  issuer: string;
  subject: string;
  /** As the claim has it; undefined where there is none. */
  name: string | undefined;
  displayName: string;
  /** Undefined where the provider told none. */
  groups: string[] | undefined;
}

/** The parameters with which a browser comes back. */
export type ProviderAnswer = Record<
  'code' | 'state' | 'iss' | 'error' | 'error_description',
  string | undefined
>;

export interface Provider {
  /** Where the browser goes, and what its return is recognised by. @throws Refused */
  begin(): Promise<{ address: string; attempt: Attempt }>;
  /** Who came back. @throws Refused */
  complete(answer: ProviderAnswer, attempt: Attempt): Promise<Person>;
  /** Asks the provider whether it knows us by these settings. @throws Refused */
  examine(): Promise<{ pkce: boolean }>;
}

export function openProvider(settings: OidcSettings, clock: Clock): Provider {
  const limit = pLimit(AT_ONCE);
  let known: { secret: string | undefined; until: number; client: Promise<Client> } | undefined;

  /** The client of the provider as it told of itself within the hour; asked once however many sign in. */
  const client = async (): Promise<Client> => {
    const secret = await secretOf(settings);
    const now = clock.monotonic();
    if (known && known.secret === secret && now < known.until) return known.client;
    const made = { secret, until: now + DISCOVERED_MS, client: discover(settings, secret) };
    known = made;
    made.client.catch(() => {
      if (known === made) known = undefined;
    });
    return made.client;
  };

  return {
    begin: async () => {
      const { openid, configuration } = await client();
      const attempt = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const { href } = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: settings.redirectUri,
        scope: settings.scopes.join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { address: href, attempt };
    },
    complete: async (answer, attempt) => {
      if (limit.pendingCount >= WAITING) throw new Refused('busy', 'too many sign-ins at once');
      const { openid, configuration } = await client();
      return limit(() =>
        exchange(openid, configuration, { settings, answer, attempt }).catch((error: unknown) => {
          throw refusedBy(openid, error);
        }),
      );
    },
    examine: async () => {
      const { openid, configuration } = await client();
      await knowsUs(openid, configuration, settings.redirectUri).catch((error: unknown) => {
        throw refusedBy(openid, error);
      });
      return { pkce: configuration.serverMetadata().supportsPKCE() };
    },
  };
}

interface Client {
  openid: typeof OpenId;
  configuration: OpenId.Configuration;
}

async function secretOf({ clientSecret }: OidcSettings): Promise<string | undefined> {
  if (clientSecret?.kind !== 'file') return clientSecret?.text.reveal();
  try {
    return (await readFile(clientSecret.path, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refused('rejected', `cannot read the secret of oidc.clientSecretFile (${code})`);
  }
}

/** Asks what the provider tells of itself. Loaded here: most servers have no provider. */
async function discover(settings: OidcSettings, secret: string | undefined): Promise<Client> {
  const openid = await import('openid-client');
  const { issuer, clientId } = settings;
  try {
    const configuration = await openid.discovery(
      new URL(issuer),
      clientId,
      { [openid.clockTolerance]: SKEW_SECONDS },
      authenticationOf(openid, secret),
      {
        // The library's own limit is in seconds.
        timeout: ANSWER_MS / 1000,
        // The settings allow http on this machine only.
        execute: issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [],
      },
    );
    // The signature of the ID token is verified also where TLS would do (OpenID Connect Core, 3.1.3.7).
    openid.enableNonRepudiationChecks(configuration);
    return { openid, configuration };
  } catch (error) {
    throw refusedBy(openid, error);
  }
}

/** By HTTP Basic, the default of OpenID Connect, unless the provider knows only the other form. */
function authenticationOf(openid: typeof OpenId, secret: string | undefined): OpenId.ClientAuth {
  if (secret === undefined) return openid.None();
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const known = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const form = known.includes('client_secret_basic') ? basic : post;
    return form(server, client, body, headers);
  };
}

/** Trades the code for the tokens, and reads out of them who it is. */
async function exchange(
  openid: typeof OpenId,
  configuration: OpenId.Configuration,
  { settings, answer, attempt }: { settings: OidcSettings; answer: ProviderAnswer; attempt: Attempt },
): Promise<Person> {
  const returned = new URL(settings.redirectUri);
  for (const [name, value] of Object.entries(answer))
    if (value !== undefined) returned.searchParams.set(name, value);
  const tokens = await openid.authorizationCodeGrant(configuration, returned, {
    pkceCodeVerifier: attempt.verifier,
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new Refused('rejected', 'the answer has no ID token');
  const told = claims as Record<string, unknown>;
  const { nameClaim, groupsClaim } = settings;
  const lacks = told[nameClaim] === undefined || told[groupsClaim] === undefined;
  // Many providers put into the ID token only who it is, and tell the rest where it is asked for.
  if (!lacks || configuration.serverMetadata().userinfo_endpoint === undefined)
    return personOf(claims.iss, claims.sub, told, settings);
  const more = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return personOf(claims.iss, claims.sub, { ...more, ...told }, settings);
}

const word = z.string().min(1).max(1000);
/** Some providers tell a single group as a text. */
const groupList = z.union([z.array(word).max(GROUPS_MOST), word.transform((one) => [one])]);

function personOf(
  issuer: string,
  subject: string,
  claims: Record<string, unknown>,
  { nameClaim, groupsClaim }: OidcSettings,
): Person {
  const name = word.safeParse(claims[nameClaim]);
  // An address that nobody verified may be anybody's.
  const verified = nameClaim !== 'email' || claims.email_verified !== false;
  const displayName = word.safeParse(claims.name);
  const groups = groupList.safeParse(claims[groupsClaim]);
  return {
    issuer,
    subject,
    name: name.success && verified ? name.data : undefined,
    displayName: displayName.success ? displayName.data.replace(/\p{Cc}/gu, ' ').slice(0, 100) : '',
    groups: groups.success ? groups.data : undefined,
  };
}

/** A code that nobody was given: a provider that knows us finds fault with the code, one that does not with us. */
async function knowsUs(openid: typeof OpenId, configuration: OpenId.Configuration, redirectUri: string) {
  const body = {
    code: 'rollcall-doctor',
    redirect_uri: redirectUri,
    code_verifier: openid.randomPKCECodeVerifier(),
  };
  try {
    await openid.genericGrantRequest(configuration, 'authorization_code', body);
  } catch (error) {
    if (error instanceof openid.ResponseBodyError && error.error === 'invalid_grant') return;
    throw error;
  }
}

/** An error of the library, the network or the provider as what became of the sign-in. */
function refusedBy(openid: typeof OpenId, error: unknown): Refused {
  if (error instanceof Refused) return error;
  const reason = reasonOf(error);
  const as = (refusal: OidcRefusal) => new Refused(refusal, reason, { cause: error });
  if (error instanceof openid.AuthorizationResponseError) {
    if (error.error === 'access_denied') return as('denied');
    return as(/^(server_error|temporarily_unavailable)$/.test(error.error) ? 'away' : 'rejected');
  }
  if (error instanceof openid.ResponseBodyError)
    return as(error.error === 'invalid_grant' ? 'stale' : 'rejected');
  const { code, cause } = error as { code?: string; cause?: unknown };
  if (code === 'OAUTH_TIMEOUT' || error instanceof TypeError) return as('away');
  if (cause instanceof Response && cause.status >= 500) return as('away');
  return as('rejected');
}

/** Why, in one line: what the library says and what lies under it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { error: code, error_description: description } = error as {
    error?: string;
    error_description?: string;
  };
  const { cause } = error;
  const below =
    cause instanceof Response ? `status ${cause.status}` : cause instanceof Error ? reasonOf(cause) : '';
  return [error.message, code, description, below].filter(Boolean).join(': ').slice(0, 500);
}
