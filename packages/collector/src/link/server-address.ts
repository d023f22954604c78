/** How the server is reached: which addresses are good enough for secrets, and what vouches for it. */
import type { ConnectionOptions } from 'node:tls';
import { Refusal } from '../platform/refusal.ts';

/** Whether a host name or address is this machine itself, where nobody listens in. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The base address as it is kept: scheme, host, port and path prefix, no slash at its end. Throws a Refusal. */
export function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Refusal(`"${text}" is not the address of a server: write https://HOST or https://HOST:PORT`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new Refusal(
      'the address of the server has a user, query or fragment: write https://HOST or https://HOST:PORT',
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Refusal(
      `${url.origin} is not encrypted: SNMP secrets travel on this link, so only https is used (http on this machine alone)`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** What TLS trusts: the certificate kept at joining where there is one, else the system's authorities. */
export const trust = (ca: string | undefined): ConnectionOptions => (ca === undefined ? {} : { ca });

/** The address of a WebSocket below the server. */
export const socketAddress = (server: string, path: string): string =>
  `${server.replace(/^http/, 'ws')}${path}`;

/** Whether the server's certificate is of an authority that is not known here. */
export const nobodyVouches = (error: unknown): boolean => UNKNOWN_ISSUER.has(String(codeOf(error)));

const UNKNOWN_ISSUER = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;

/** A failure to connect, in words that say what to do. */
export function connectionProblem(error: unknown): string | null {
  if (nobodyVouches(error))
    return 'nobody known vouches for its certificate: join with a token that carries its fingerprint, or make its authority known to this host';
  switch (codeOf(error)) {
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired: renew it, or correct the clock of this host';
    case 'CERT_NOT_YET_VALID':
      return 'its certificate is not valid yet: correct the clock of this host';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another name: use the name that stands in the certificate';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'it does not speak TLS there: check scheme and port';
    default:
      return null;
  }
}
