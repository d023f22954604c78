/** What a request presents to say who calls: read out of its headers, not checked against anything yet. */
import { containsToken, isSessionId, isToken } from './token.ts';

export type Credentials =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  | { kind: 'session'; sessionId: string }
  /** Something that can never be right; `reason` is for the caller. */
  | { kind: 'refused'; reason: string };

export interface Presented {
  /** Header names and values in turn, as Node gives them: a repeated header is not joined. */
  rawHeaders: readonly string[];
  /** The text behind `?`. */
  search: string;
  /** Whether the caller's side of the connection is TLS. */
  secure: boolean;
}

/** `__Host-` makes browsers insist on Secure, path `/` and no domain; they refuse it on plain HTTP. */
export const cookieName = (secure: boolean): string => (secure ? '__Host-rollcall' : 'rollcall');

/** The `Set-Cookie` that opens a session in a browser, or ends it when there is no id. */
export const sessionCookie = (
  secure: boolean,
  session: { id: string; maxAgeSeconds: number } | null,
): string => setCookie(secure, cookieName(secure), session?.id ?? '', session?.maxAgeSeconds ?? 0);

/** What a browser keeps while it is at the provider of identities. */
const attemptName = (secure: boolean): string => `${cookieName(secure)}-oidc`;
export const attemptCookie = (secure: boolean, value: string, maxAgeSeconds: number): string =>
  setCookie(secure, attemptName(secure), value, maxAgeSeconds);
export const presentedAttempt = (cookie: string | undefined, secure: boolean): string | undefined =>
  cookiesOf(cookie ?? '', attemptName(secure))[0];

/** Lax: it comes along when a link or the provider leads here, and with nothing else of another site. */
const setCookie = (secure: boolean, name: string, value: string, maxAgeSeconds: number): string =>
  [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(secure ? ['Secure'] : []),
  ].join('; ');

const refused = (reason: string): Credentials => ({ kind: 'refused', reason });

/**
 * Reads the credentials of one request. A token counts in one `Authorization: Bearer` header and nowhere else. Where
 * there is that header it alone counts, also when it is wrong: a client that once signed in sends its cookie along, and
 * the document promises that the token is what it acts by.
 */
export function readCredentials({ rawHeaders, search, secure }: Presented): Credentials {
  if (containsToken(decode(search)))
    return refused('a token must not stand in the address; send it as Authorization: Bearer, and revoke it');
  const authorization = headers(rawHeaders, 'authorization');
  if (authorization.length > 1) return refused('more than one Authorization header');
  const [header] = authorization;
  if (header !== undefined) {
    const bearer = /^Bearer +([^\s]+)$/i.exec(header);
    if (!bearer) return refused('the Authorization header must be: Bearer and one token');
    const token = bearer[1] ?? '';
    return isToken(token) ? { kind: 'token', token } : refused('the token is invalid');
  }
  const cookies = headers(rawHeaders, 'cookie').flatMap((line) => cookiesOf(line, cookieName(secure)));
  const [cookie] = cookies;
  if (cookie === undefined) return { kind: 'none' };
  if (cookies.length > 1 || !isSessionId(cookie)) return refused('the session is invalid; sign in again');
  return { kind: 'session', sessionId: cookie };
}

/** The session id in a Cookie header: what signing in replaces and signing out ends. */
export const presentedSession = (cookie: string | undefined, secure: boolean): string | undefined =>
  cookiesOf(cookie ?? '', cookieName(secure)).find(isSessionId);

const headers = (raw: readonly string[], name: string): string[] =>
  raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);

const cookiesOf = (line: string, name: string): string[] =>
  line
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter((value) => value !== '');

/** Percent-decoded as far as it can be: a hidden token is still a token. */
const decode = (search: string): string => {
  if (!search.includes('%')) return search;
  try {
    return decodeURIComponent(search);
  } catch {
    return search.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
};
