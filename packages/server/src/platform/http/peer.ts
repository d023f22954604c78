/** Whose connection it is, by the word of the reverse proxies that the settings name, and of nobody else. */
import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

/**
 * Address of a request: its socket's; where that is a trusted proxy, the last in `X-Forwarded-For` that is none. The
 * same rule as Express has for `request.ip`, for requests that Express never sees (WebSocket upgrades). Empty where the
 * other side has hung up already: a closed socket no longer tells.
 */
export function peerAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = proxyAddr.compile([...trustedProxies]);
  return (request) => {
    // Typed as if it always knew.
    const address: string | undefined = proxyAddr(request, trusted);
    return unmapped(address ?? '');
  };
}

/** A socket for both families tells IPv4 as `::ffff:192.0.2.1` (RFC 4291, 2.5.5.2); nobody looks for that in a log. */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
