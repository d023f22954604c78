/**
 * Which addresses a webhook may reach. Names are resolved here, every answer is checked, and the connection goes to an
 * address that was checked: a name that answers otherwise the second time (DNS rebinding) gains nothing.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { classifyAddress, parseAddress } from '@rollcall/shared/ip';

/** A target that may not be reached; its message says why. */
export class TargetRefused extends Error {
  override name = 'TargetRefused';
}

/** Why an address may not be reached, or null. `mapped` and the like are ways to write what is refused. */
export function refusedAddress(address: string): string | null {
  const parsed = parseAddress(address);
  if (!parsed.ok) return `${address} is no address`;
  const kind = classifyAddress(parsed.value);
  return kind === 'global' ? null : `${address} is ${kind}: such targets must be allowed expressly`;
}

/** Reads the address of a webhook. @throws TargetRefused */
export function parseTarget(text: string, allowPrivate: boolean): URL {
  if (!URL.canParse(text)) throw new TargetRefused('is not an address; an example: https://example.net/hook');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TargetRefused('must be http or https');
  return checkedHost(url, allowPrivate);
}

/** Reads the address of a syslog receiver, `tls://log.example.net:6514`. @throws TargetRefused */
export function parseSyslogTarget(text: string, allowPrivate: boolean): URL {
  const example = 'an example: tls://log.example.net:6514';
  if (!URL.canParse(text)) throw new TargetRefused(`is not an address; ${example}`);
  const url = new URL(text);
  if (!['udp:', 'tcp:', 'tls:'].includes(url.protocol))
    throw new TargetRefused(`must begin with udp://, tcp:// or tls://; ${example}`);
  if (url.port === '' || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw new TargetRefused(`must be a host and a port, and nothing else; ${example}`);
  return checkedHost(url, allowPrivate);
}

function checkedHost(url: URL, allowPrivate: boolean): URL {
  if (url.username !== '' || url.password !== '')
    throw new TargetRefused('must not hold a user name or a password');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === '') throw new TargetRefused('names no host');
  if (!allowPrivate && isIP(host) !== 0) {
    const reason = refusedAddress(host);
    if (reason !== null) throw new TargetRefused(reason);
  }
  return url;
}

type Resolve = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;
const resolveAll: Resolve = (host, done) => lookup(host, { all: true }, done);

/** A lookup for sockets that answers only addresses which may be reached. */
export const guardedLookup =
  (allowPrivate: boolean, resolve: Resolve = resolveAll): LookupFunction =>
  (host, options, done) => {
    resolve(host, (error, found) => {
      if (error) return done(error, '', 0);
      const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
      const fitting = found.filter(({ family }) => wanted === undefined || family === wanted);
      const allowed = fitting.filter(({ address }) => allowPrivate || refusedAddress(address) === null);
      const [first] = allowed;
      if (!first) {
        const [refused] = fitting;
        const reason = refused ? `${host}: ${refusedAddress(refused.address)}` : `${host} has no address`;
        return done(new TargetRefused(reason), '', 0);
      }
      if (options.all) return done(null, allowed);
      done(null, first.address, first.family);
    });
  };
