/** Many connections: those of one address are bounded; where room runs out the idle ones make it, then those without a sign-in. */
import type { EventEmitter } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import proxyAddr from 'proxy-addr';
import { rateLimitedLog } from '../ops/rate-limited-log.ts';
import { unmapped } from './peer.ts';

/** Part of all connections that one address (IPv6: one /64) may have: an office behind one address is many people. */
const SHARE = 0.1;
/** With so few allowed in all, an address may have this many. */
const LEAST = 32;
/** From this part on connections without a request are closed: they were kept open for convenience. */
const CROWDED = 0.9;
/** From this part on each new connection ends the oldest over which nobody has shown who they are. */
const FULL = 0.95;
/** Idle connections are closed this often at most. */
const IDLE_MS = 1_000;

const AUTHENTICATED = Symbol('authenticated');
/** A caller has shown over this connection who they are: it is not ended for others. */
export const markAuthenticated = (socket: Pick<EventEmitter, 'emit'>): void =>
  void socket.emit(AUTHENTICATED);

interface Settings {
  /** In all. */
  connections: number;
  /** Their connections are those of many. */
  trustedProxies: readonly string[];
}

/** Watches the connections of a server. Loopback and trusted proxies are bounded only by the number of all. */
export function limitConnections(
  server: Pick<HttpServer, 'on' | 'closeIdleConnections' | 'maxConnections'>,
  { connections, trustedProxies }: Settings,
  { log, clock }: { log: Logger; clock: Clock },
): void {
  /** A reload may change it. */
  const limit = () => server.maxConnections ?? connections;
  const exempt = proxyAddr.compile(['loopback', ...trustedProxies]);
  const open = new Map<string, number>();
  /** By address and port, the oldest first: over TLS the authenticated object is another than the one that came. */
  const unauthenticated = new Map<string, Socket>();
  /** Those that are counted no more and not closed yet. */
  const ended = new Set<Socket>();
  let all = 0;
  let closedAt = Number.NEGATIVE_INFINITY;
  const told = rateLimitedLog(clock, (what, count, address) =>
    log.warn({ address, count, connections: limit() }, what),
  );

  const makeRoom = (): void => {
    if (all < limit() * CROWDED || clock.monotonic() - closedAt < IDLE_MS) return;
    closedAt = clock.monotonic();
    server.closeIdleConnections();
    told('nearly as many connections are open as ROLLCALL_CONNECTIONS allows: idle ones are closed', 1);
  };
  const closeUnauthenticated = (): void => {
    const [oldest] = unauthenticated;
    if (all <= limit() * FULL || !oldest) return;
    const [name, socket] = oldest;
    unauthenticated.delete(name);
    // Counts as gone now: many may come before the system tells that it is.
    all -= 1;
    ended.add(socket);
    socket.destroy();
    told('connections without a sign-in were ended: others came, and there is no more room', 1);
  };
  const watchVouching = (socket: Socket): void => {
    const key = nameOf(socket);
    const emitter: EventEmitter = socket;
    emitter.once(AUTHENTICATED, () => unauthenticated.delete(key));
  };

  server.on('connection', (socket: Socket) => {
    const address = unmapped(socket.remoteAddress ?? '');
    const place = networkOf(address, 64);
    const here = (open.get(place) ?? 0) + 1;
    if (here > Math.max(LEAST, Math.floor(limit() * SHARE)) && !exempt(address, 0)) {
      told('connections were refused: their address has too many', 1, address);
      socket.destroy();
      return;
    }
    open.set(place, here);
    all += 1;
    // Before it is one of them: where nobody else can go, it has what is left.
    closeUnauthenticated();
    const key = nameOf(socket);
    unauthenticated.set(key, socket);
    watchVouching(socket);
    socket.once('close', () => {
      if (!ended.delete(socket)) all -= 1;
      if (unauthenticated.get(key) === socket) unauthenticated.delete(key);
      const left = (open.get(place) ?? 1) - 1;
      if (left > 0) open.set(place, left);
      else open.delete(place);
    });
    makeRoom();
  });
  server.on('secureConnection', watchVouching);
}

/** No two open connections to one port have the same. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** IPv6 by its first bits, a multiple of 16 of them; IPv4 as it is. */
export const networkOf = (address: string, bits: number): string =>
  address.includes(':')
    ? ipv6Groups(address)
        .slice(0, bits / 16)
        .join(':')
    : address;

/** The eight groups of an IPv6 address, as they are written. */
export function ipv6Groups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest];
}
