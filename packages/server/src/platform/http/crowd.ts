/** Many connections: those of one address are bounded, and where room runs out the idle ones make it. */
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import proxyAddr from 'proxy-addr';
import { tellNowAndThen } from '../ops/now-and-then.ts';
import { unmapped } from './peer.ts';

/** Part of all connections that one address (IPv6: one /64) may have: an office behind one address is many people. */
const SHARE = 0.1;
/** With so few allowed in all, an address may have this many. */
const LEAST = 32;
/** From this part on connections without a request are closed: they were kept open for convenience. */
const CROWDED = 0.9;
/** Idle connections are closed this often at most. */
const IDLE_MS = 1_000;

interface Settings {
  /** In all. */
  connections: number;
  /** Their connections are those of many. */
  trustedProxies: readonly string[];
}

/** Watches the connections of a server. Loopback and trusted proxies are bounded only by the number of all. */
export function boundCrowd(
  server: Pick<HttpServer, 'on' | 'closeIdleConnections'>,
  { connections, trustedProxies }: Settings,
  { log, clock }: { log: Logger; clock: Clock },
): void {
  const most = Math.max(LEAST, Math.floor(connections * SHARE));
  const exempt = proxyAddr.compile(['loopback', ...trustedProxies]);
  const open = new Map<string, number>();
  let all = 0;
  let closedAt = Number.NEGATIVE_INFINITY;
  const told = tellNowAndThen(clock, (what, count, address) => log.warn({ address, count, most }, what));

  const makeRoom = (): void => {
    if (all < connections * CROWDED || clock.monotonic() - closedAt < IDLE_MS) return;
    closedAt = clock.monotonic();
    server.closeIdleConnections();
    told('nearly as many connections are open as ROLLCALL_CONNECTIONS allows: idle ones are closed', 1);
  };

  server.on('connection', (socket: Socket) => {
    const address = unmapped(socket.remoteAddress ?? '');
    const place = networkOf(address, 64);
    const here = (open.get(place) ?? 0) + 1;
    if (here > most && !exempt(address, 0)) {
      told('connections were refused: their address has too many', 1, address);
      socket.destroy();
      return;
    }
    open.set(place, here);
    all += 1;
    socket.once('close', () => {
      all -= 1;
      const left = (open.get(place) ?? 1) - 1;
      if (left > 0) open.set(place, left);
      else open.delete(place);
    });
    makeRoom();
  });
}

/** IPv6 by its first bits, a multiple of 16 of them; IPv4 as it is. */
export function networkOf(address: string, bits: number): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest].slice(0, bits / 16).join(':');
}
