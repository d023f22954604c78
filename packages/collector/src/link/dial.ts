/** Opens one WebSocket to the server: bounded in time and size, nothing compressed, no redirect followed. */
import type { X509Certificate } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '@rollcall/shared/clock';
import { FRAME_BYTES } from '@rollcall/shared/protocol';
import { WebSocket } from 'ws';
import { type Ending, parseRetryAfter } from './ending.ts';
import type { Identity } from './identity.ts';
import { socketAddress, trust } from './server-address.ts';

/** From the first packet to the open socket. */
const CONNECT_MS = 10_000;
/** The server says whole messages; a few fragments are a proxy's. */
const FRAGMENTS = 64;
const CHUNKS = 4096;
/** A close frame holds a reason of this many bytes (RFC 6455 section 5.5). */
const CLOSE_REASON = 120;
/** A closing handshake takes no longer. */
const CLOSE_MS = 2000;

export interface Dialled {
  send(frame: string | Buffer): void;
  readonly bufferedAmount: number;
  close(code: number, reason: string): void;
  /** Gives the connection up without a close frame. */
  cut(reason: string): void;
}

export interface DialEvents {
  /** `shown` is the server's certificate, where it has one. */
  open(shown: X509Certificate | undefined): void;
  frame(text: string): void;
  /** Anything at all came from the other side. */
  heard(): void;
  /** What was sent has left; more may be. */
  drained(): void;
  /** Called once, last. */
  ended(ending: Ending): void;
}

/** Starts connecting; `ended` is called whatever happens. */
export function dial({ server, path, ca }: Identity, clock: Clock, events: DialEvents): Dialled {
  const socket = new WebSocket(socketAddress(server, path), {
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES,
    maxFragments: FRAGMENTS,
    maxBufferedChunks: CHUNKS,
    followRedirects: false,
    handshakeTimeout: CONNECT_MS,
    ...trust(ca),
  });
  let cause: Ending | undefined;
  const over = new AbortController();
  const end = (ending: Ending) => {
    if (over.signal.aborted) return;
    over.abort();
    events.ended(cause ?? ending);
  };
  let shown: X509Certificate | undefined;
  socket.on('upgrade', ({ socket: raw }: IncomingMessage) => {
    if (raw instanceof TLSSocket) shown = raw.getPeerX509Certificate();
  });
  socket.on('open', () => events.open(shown));
  socket.on('message', (data, isBinary) => {
    events.heard();
    if (!isBinary) events.frame(data.toString());
  });
  socket.on('ping', events.heard);
  socket.on('pong', events.heard);
  socket.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.now());
    cause = {
      by: 'http',
      status: response.statusCode ?? 0,
      retryAfterMs,
      location: response.headers.location,
    };
    response.resume();
    request.destroy();
    end(cause);
  });
  socket.on('error', (error) => {
    cause ??= { by: 'error', error };
    // A socket that never opened has no further events.
    if (socket.readyState === WebSocket.CLOSED || socket.readyState === WebSocket.CONNECTING) end(cause);
  });
  socket.on('close', (code, reason) => end({ by: 'close', code, reason: reason.toString() }));
  return {
    send: (frame) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, { binary: false }, () => events.drained());
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    close: (code, reason) => {
      cause ??= { by: 'us', reason };
      socket.close(code, reason.slice(0, CLOSE_REASON));
      clock.sleep(CLOSE_MS, over.signal).then(
        () => socket.terminate(),
        () => undefined,
      );
    },
    cut: (reason) => {
      cause ??= { by: 'us', reason };
      socket.terminate();
      end(cause);
    },
  };
}
