/**
 * Joins conversations to WebSockets: who may open one, how large and how many frames may be, and when one is dead.
 * Nothing of what a collector says is understood here.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@rollcall/shared/clock';
import { CloseCode, COLLECTOR_PATH, FRAME_BYTES, PING_MS, SILENCE_MS } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { markAuthenticated, networkOf } from '../../platform/http/connection-limits.ts';
import { unmapped } from '../../platform/http/peer.ts';
import type { Session } from './session.ts';
import type { Link } from './states.ts';

/** Sockets that have not shown who they are: in all, from one network (/24, IPv6 /48), from one address (IPv6 /64). */
const UNAUTHENTICATED = { inAll: 4096, network: 256, address: 64 };
/** Sockets in all. */
const SOCKETS = 20_000;
/** A peer that leaves this much unread is cut off, bytes. */
const BUFFERED_MOST = 8 * FRAME_BYTES;
/** Fragments of one message: an honest peer sends one (CVE-2026-62389 is what many do). */
const FRAGMENTS = 64;
/** A closing handshake takes no longer. */
const CLOSE_MS = 2_000;
/** Who does not answer a question in this time is not there. */
const ANSWER_MS = 5_000;
/** How often each connection is looked at for silence and time-outs. */
const TICK_MS = 1_000;

export interface GatewayDeps {
  clock: Clock;
  log: Logger;
  /** Begins the conversation on a new link. */
  open(link: Link, peer: { host: string; address: string }): Session;
  hosts?: readonly string[] | undefined;
  addressOf?: ((request: IncomingMessage) => string) | undefined;
  /** Bounds of sockets that have not shown who they are. */
  most?: typeof UNAUTHENTICATED;
}

/** Why an upgrade is refused, and what HTTP says to it. */
export type Refused = { status: 400 | 401 | 403 | 404 | 503; reason: string };

/** What can be said of an upgrade by its request alone. Pure. */
export function refusal(
  request: Pick<IncomingMessage, 'url' | 'method' | 'headers'>,
  hosts?: readonly string[],
): Refused | null {
  const { url, method, headers } = request;
  if (url !== COLLECTOR_PATH) return { status: 404, reason: 'there is no WebSocket at this address' };
  if (method !== 'GET') return { status: 400, reason: 'a WebSocket begins with GET' };
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return { status: 403, reason: 'connections of browsers are not accepted' };
  if (headers.cookie !== undefined) return { status: 403, reason: 'cookies are not accepted' };
  if (headers.authorization !== undefined)
    return { status: 401, reason: 'tokens are not accepted: a collector authenticates with its key' };
  const host = headers.host?.toLowerCase();
  if (host === undefined) return { status: 400, reason: 'the Host header is missing' };
  if (hosts !== undefined && !hosts.includes(host))
    return { status: 403, reason: 'Host is not a name of this server' };
  return null;
}

const STATUS_TEXT = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
} as const;
const ERROR_CODE = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  503: 'unavailable',
} as const;

/** One socket, and when it was heard of last. */
interface Line {
  socket: WebSocket;
  raw: Duplex & { bytesRead?: number };
  session: Session;
  unauthenticated: boolean;
  bytes: number;
  heardAt: number;
  pingedAt: number;
}

export function createGateway({ clock, log, open, hosts, addressOf, most = UNAUTHENTICATED }: GatewayDeps) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: FRAME_BYTES,
    maxFragments: FRAGMENTS,
    maxBufferedChunks: 4096,
    perMessageDeflate: false,
  });
  const lines = new Set<Line>();
  const unauthenticated = new Unauthenticated(most);
  let closing = false;
  /** What was turned away or cut off, by why. */
  const counts = { refused: 0, overLimit: 0, silent: 0, unread: 0 };

  const overLimit = (place: Place): string | null => {
    if (closing) return 'the server is stopping';
    if (lines.size >= SOCKETS) return 'too many connections';
    return unauthenticated.isFull(place) ? 'too many connections that have not said who they are' : null;
  };

  const begin = (
    socket: WebSocket,
    raw: Duplex,
    peer: { host: string; address: string },
    place: Place,
  ): void => {
    const now = clock.monotonic();
    let line: Line | undefined;
    const gone = new AbortController();
    const link: Link = {
      send: (frame) => {
        socket.send(frame);
        if (socket.bufferedAmount <= BUFFERED_MOST) return;
        counts.unread += 1;
        log.warn({ peer: peer.address }, 'a collector does not read what it is sent');
        socket.terminate();
      },
      close: (code, reason) => {
        socket.close(code, reason);
        clock.sleep(CLOSE_MS, gone.signal).then(
          () => socket.terminate(),
          () => undefined,
        );
      },
      admitted: () => {
        if (!line?.unauthenticated) return;
        line.unauthenticated = false;
        unauthenticated.count(place, -1);
        markAuthenticated(raw);
      },
      answers: () => answersPing(socket, clock, gone.signal),
      get buffered() {
        return socket.bufferedAmount;
      },
    };
    const session = open(link, peer);
    line = { socket, raw, session, unauthenticated: true, bytes: 0, heardAt: now, pingedAt: now };
    const own = line;
    lines.add(own);
    socket.on('message', (data: RawData, isBinary: boolean) => {
      if (isBinary) session.close(CloseCode.policy, 'text frames only');
      else session.receive(alone(data as Buffer));
    });
    socket.on('pong', () => session.roundTrip(clock.monotonic() - own.pingedAt));
    // A ping is answered by the library; a flood of them is a flood.
    socket.on('ping', () => session.pinged());
    // Too large, badly framed, not UTF-8: the library closes with the code that says so.
    socket.on('error', (error) =>
      log.info({ peer: peer.address, reason: error.message }, 'a collector link broke'),
    );
    socket.on('close', (code) => {
      gone.abort();
      lines.delete(own);
      if (own.unauthenticated) unauthenticated.count(place, -1);
      own.unauthenticated = false;
      session.closed(code);
    });
  };

  /** Pings who is due, closes who is silent. Any byte counts as a sign of life: a large frame may take long. */
  const tick = (): void => {
    const now = clock.monotonic();
    for (const line of lines) {
      const bytes = line.raw.bytesRead ?? 0;
      if (bytes !== line.bytes) {
        line.bytes = bytes;
        line.heardAt = now;
      }
      if (now - line.heardAt >= SILENCE_MS) {
        counts.silent += 1;
        line.session.close(CloseCode.silent, 'nothing was heard for too long');
        // Nobody is there to shake hands.
        line.socket.terminate();
      } else if (now - line.pingedAt >= PING_MS && line.socket.readyState === line.socket.OPEN) {
        line.pingedAt = now;
        line.socket.ping();
      }
    }
  };
  const stopTicks = clock.every(TICK_MS, tick);

  return {
    counts: counts as Readonly<typeof counts>,
    get size(): number {
      return lines.size;
    },

    /** For `server.on('upgrade', …)`. */
    upgrade: (request: IncomingMessage, raw: Duplex, head: Buffer): void => {
      const onError = () => raw.destroy();
      raw.on('error', onError);
      const refused = refusal(request, hosts);
      if (refused) {
        counts.refused += 1;
        refuse(raw, refused);
        return;
      }
      const address = addressOf?.(request) ?? request.socket.remoteAddress ?? '';
      const place = placeOf(address);
      const reason = overLimit(place);
      if (reason !== null) {
        counts.overLimit += 1;
        refuse(raw, { status: 503, reason });
        return;
      }
      server.handleUpgrade(request, raw, head, (socket) => {
        raw.off('error', onError);
        unauthenticated.count(place, 1);
        begin(socket, raw, { host: request.headers.host?.toLowerCase() ?? '', address }, place);
      });
    },

    /** Takes nobody in any more. */
    stopAccepting: (): void => {
      closing = true;
    },

    /** Cuts what is still open. */
    close: (): void => {
      closing = true;
      stopTicks();
      for (const { socket } of lines) socket.terminate();
      server.close();
    },
  };
}

/** Answers an upgrade that is not one, as any request. */
function refuse(raw: Duplex, { status, reason }: Refused): void {
  const body = JSON.stringify({ success: false, error: { code: ERROR_CODE[status], message: reason } });
  raw.end(
    [
      `HTTP/1.1 ${status} ${STATUS_TEXT[status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(status === 503 ? ['Retry-After: 2'] : []),
      '',
      body,
    ].join('\r\n'),
    () => raw.destroy(),
  );
}

/** Whether somebody is still at the other end. */
const answersPing = (socket: WebSocket, clock: Clock, gone: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    // A pong returns what its ping held (RFC 6455 section 5.5.3): one that was on its way already does not count.
    const question = randomBytes(16);
    const heard = (answer: Buffer) => {
      if (answer.equals(question)) resolve(true);
    };
    socket.on('pong', heard);
    if (socket.readyState === socket.OPEN) socket.ping(question);
    const over = () => {
      socket.off('pong', heard);
      resolve(false);
    };
    clock.sleep(ANSWER_MS, gone).then(over, over);
  });

/**
 * A small frame is a view of all that was read from the socket with it, up to 64 KiB: waiting for the store it would keep
 * that, and would take it along to another thread.
 */
function alone(frame: Buffer): Buffer {
  return frame.byteLength === frame.buffer.byteLength ? frame : Buffer.from(new Uint8Array(frame).buffer);
}

/** Where a socket comes from, as it is counted: who has one address of an IPv6 network has its /64. */
interface Place {
  address: string;
  network: string;
}
function placeOf(address: string): Place {
  const plain = unmapped(address);
  const network = plain.includes(':') ? networkOf(plain, 48) : plain.replace(/\d+$/, '');
  return { address: networkOf(plain, 64), network: `network ${network}` };
}

/** Counts sockets whose other side is not known, by place. */
class Unauthenticated {
  readonly #most: typeof UNAUTHENTICATED;
  readonly #of = new Map<string, number>();
  #inAll = 0;

  constructor(most: typeof UNAUTHENTICATED) {
    this.#most = most;
  }

  count({ address, network }: Place, by: 1 | -1): void {
    this.#inAll += by;
    for (const key of [address, network]) {
      const left = (this.#of.get(key) ?? 0) + by;
      if (left > 0) this.#of.set(key, left);
      else this.#of.delete(key);
    }
  }

  isFull({ address, network }: Place): boolean {
    const { inAll, network: ofNetwork, address: ofAddress } = this.#most;
    const here = (key: string) => this.#of.get(key) ?? 0;
    return this.#inAll >= inAll || here(network) >= ofNetwork || here(address) >= ofAddress;
  }
}
