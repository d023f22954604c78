/** The listening socket: HTTP or HTTPS, with bounds on time, size and number. */
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Logger } from 'pino';
import proxyAddr from 'proxy-addr';
import { type CertificateFiles, cannotReadPem } from '../keys/certificate.ts';
import { type Config, isOwnHost, StartError } from '../ops/config.ts';
import { rateLimitedLog } from '../ops/rate-limited-log.ts';
import { limitConnections } from './connection-limits.ts';
import { unmapped } from './peer.ts';

/** A request's headers must be here by then, and its whole body. Answers may take as long as they do. */
export interface Patience {
  headersMs: number;
  requestMs: number;
}
/** A request must have sent its head, and all of it, within this time. */
const PATIENCE: Patience = { headersMs: 10_000, requestMs: 30_000 };
/** An idle connection is kept for so long: longer than the usual minute of a proxy, so that no request falls between. */
const KEEP_ALIVE_MS = 65_000;
const HEADER_BYTES = 16 * 1024;
const HEADERS = 100;
/** Certificate files that change are read again after this: files that are being replaced change several times. */
const SETTLE_MS = 500;

/** Forward secrecy and authenticated encryption with full tags only: no CBC, no RSA key exchange, no CCM_8 (RFC 9325). */
const SUITES = {
  minVersion: 'TLSv1.2',
  honorCipherOrder: true,
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    ...['ECDHE-ECDSA', 'ECDHE-RSA'].flatMap((exchange) =>
      ['AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-GCM-SHA256'].map(
        (cipher) => `${exchange}-${cipher}`,
      ),
    ),
  ].join(':'),
} as const;

export interface Listener {
  /** Where it can be reached from this machine. */
  url: string;
  server: HttpServer | HttpsServer;
  /** Who takes the connections that change to another protocol. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void;
  /** Accepts nothing more, lets what runs end for `graceMs`, then cuts it. */
  stop(graceMs: number): Promise<void>;
}

type Settings = Pick<Config, 'host' | 'port' | 'connections' | 'trustedProxies'> & {
  /** Absent: plain HTTP. */
  tls: CertificateFiles | undefined;
};

/** Listens. Throws a StartError when the port or the certificate cannot be had. */
export async function listen(
  app: RequestListener,
  settings: Settings,
  { log, clock, patience = PATIENCE }: { log: Logger; clock: Clock; patience?: Patience },
): Promise<Listener> {
  const { host, port, tls, connections, trustedProxies } = settings;
  const limits = {
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(1_000, patience.headersMs),
    maxHeaderSize: HEADER_BYTES,
  };
  const welcome = welcomes(tls !== undefined || isOwnHost(host), trustedProxies);
  const guarded: RequestListener = (request, response) =>
    welcome(request) ? app(request, response) : sendAway(response);
  const server = tls ? createTls(limits, tls, guarded) : createHttp(limits, guarded);
  server.maxHeadersCount = HEADERS;
  server.maxConnections = connections;
  limitConnections(server, settings, { log, clock });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket));
  const dropped = rateLimitedLog(clock, (what, count) => log.warn({ connections, count }, what));
  server.on('drop', () => dropped('a connection was refused: as many as ROLLCALL_CONNECTIONS are open', 1));
  await bind(server, host, port);
  const watcher = tls && 'setSecureContext' in server ? watchTls(server, tls, log, clock) : undefined;
  const at = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${reachable(at)}:${at.port}`,
    server,
    onUpgrade: (take) =>
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        welcome(request) ? take(request, socket, head) : socket.destroy(),
      ),
    stop: async (graceMs) => {
      watcher?.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const grace = new AbortController();
      const cut = clock.sleep(graceMs, grace.signal).then(
        () => server.closeAllConnections(),
        () => undefined,
      );
      await closed;
      grace.abort();
      await cut;
    },
  };
}

/** Plain HTTP on a network is for the reverse proxy alone: everybody else would speak in the clear. */
function welcomes(safe: boolean, trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  if (safe) return () => true;
  const trusted = proxyAddr.compile(['loopback', ...trustedProxies]);
  return ({ socket }) => trusted(unmapped(socket.remoteAddress ?? ''), 0);
}

function sendAway(response: ServerResponse): void {
  const message = 'plain HTTP is for the reverse proxy alone: come through it, by https';
  const error = { code: 'forbidden', message, requestId: uuidv7() };
  response.writeHead(403, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
  response.end(JSON.stringify({ success: false, error }));
}

const reachable = ({ address, family }: AddressInfo): string => {
  if (address === '::' || address === '0.0.0.0') return '127.0.0.1';
  return family === 'IPv6' ? `[${address}]` : address;
};

function bind(server: HttpServer | HttpsServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotBind(error, host, port)));
    // Without an address Node takes every one, of both families where there are two.
    server.listen(host === '::' ? { port } : { host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function cannotBind(error: NodeJS.ErrnoException, host: string, port: number): StartError {
  const why: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is in use: stop what uses it, or set PORT to another`,
    EACCES: `port ${port} needs more rights than this process has: set PORT to one above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}: set HOST to one it has`,
  };
  return new StartError(
    why[error.code ?? ''] ?? `cannot listen on ${host} port ${port} (${error.code})`,
    error,
  );
}

/** What HTTP itself got wrong is answered before there is a request: still in our one shape of error. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the headers are larger than 16 KiB']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request did not arrive in time']
        : ['400 Bad Request', 'this is not HTTP as RFC 9112 has it'];
  const requestId = uuidv7();
  const body = JSON.stringify({ success: false, error: { code: 'invalid_request', message, requestId } });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function createTls(
  limits: ServerOptions & { headersTimeout: number },
  tls: CertificateFiles,
  app: RequestListener,
): HttpsServer {
  const files = readTls(tls);
  try {
    return createHttps({ ...limits, ...SUITES, ...files, handshakeTimeout: limits.headersTimeout }, app);
  } catch (error) {
    throw new StartError(
      `${tls.certFile} and ${tls.keyFile} are no pair of certificate and key (PEM): see ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY`,
      error,
    );
  }
}

function readTls({ certFile, keyFile }: CertificateFiles): { cert: Buffer; key: Buffer } {
  try {
    return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  } catch (error) {
    throw cannotReadPem(error);
  }
}

/** Takes up renewed certificates without a restart; a bad pair is reported and the old one stays. */
function watchTls(server: HttpsServer, tls: CertificateFiles, log: Logger, clock: Clock): FSWatcher {
  let waiting = false;
  const reload = async () => {
    if (waiting) return;
    waiting = true;
    await clock.sleep(SETTLE_MS);
    waiting = false;
    try {
      server.setSecureContext({ ...SUITES, ...readTls(tls) });
      log.info('the certificate was read again');
    } catch (error) {
      log.error({ err: error }, 'the new certificate cannot be used; the old one stays');
    }
  };
  // The folder, not the file: renewal replaces the file, often through a symbolic link.
  const watcher = watch(dirname(tls.certFile), () => void reload());
  watcher.on('error', (error) =>
    log.warn({ err: error }, 'the certificate is no longer watched for renewal'),
  );
  return watcher;
}
