/** The other end of the link for tests: a real WebSocket server that says what the test tells it to. */
import { createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Stream } from '@rollcall/shared/observation';
import {
  type CollectorMessage,
  parseCollectorMessage,
  type ServerMessage,
  WINDOW,
} from '@rollcall/shared/protocol';
import { signedHello } from '@rollcall/shared/signed-texts';
import { type WebSocket, WebSocketServer } from 'ws';

type Said<T extends CollectorMessage['type']> = Extract<CollectorMessage, { type: T }>;

export const SITE = { id: '0192f0c0-0000-7000-8000-0000000000aa', name: 'test' };
export const LIMITS = { batchBytes: 256 * 1024, window: WINDOW, jobs: 16 };

/** What a welcome says of the streams. */
type Through = Extract<ServerMessage, { type: 'welcome' }>['through'];

/** One connection as the server sees it. */
export class Peer {
  readonly socket: WebSocket;
  readonly raw: Socket;
  readonly heard: CollectorMessage[] = [];
  readonly nonce = `nonce-${Math.random().toString(36).slice(2)}-${Date.now()}`;
  closed: { code: number; reason: string } | null = null;
  #waiters: (() => void)[] = [];
  /** Called with each message, before waiters. */
  onMessage: ((message: CollectorMessage) => void) | undefined;

  constructor(socket: WebSocket, raw: Socket) {
    this.socket = socket;
    this.raw = raw;
    socket.on('message', (data) => {
      const parsed = parseCollectorMessage(data.toString());
      if (!parsed.ok) throw new Error(`the collector said something wrong: ${parsed.reason}`);
      this.heard.push(parsed.message);
      this.onMessage?.(parsed.message);
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#wake();
    });
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  send(message: ServerMessage | Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Waits for a message of a type that `fits`, from the first one on that was not waited for. */
  async hear<T extends CollectorMessage['type']>(
    type: T,
    fits: (message: Said<T>) => boolean = () => true,
  ): Promise<Said<T>> {
    for (;;) {
      const found = this.heard.find(
        (message): message is Said<T> => message.type === type && fits(message as Said<T>),
      );
      if (found) return found;
      if (this.closed) throw new Error(`closed (${this.closed.code}) before ${type}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  async gone(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.closed;
  }

  challenge(version = 1): void {
    this.send({ type: 'challenge', nonce: this.nonce, version, time: Date.now() });
  }

  welcome(through: Through, generation = 1, more: object = {}): void {
    this.send({
      type: 'welcome',
      version: 1,
      generation,
      site: SITE,
      through,
      limits: LIMITS,
      time: Date.now(),
      ...more,
    });
  }

  /** Everything up to the collector being ready. */
  async greet(through: Through = { state: -1, event: -1 }, generation = 1): Promise<Said<'hello'>> {
    this.challenge();
    const hello = await this.hear('hello');
    this.welcome(through, generation);
    await this.hear('working');
    return hello;
  }

  ack(epoch: string, stream: Stream, through: number): void {
    this.send({ type: 'ack', epoch, stream, through });
  }
}

export class ScriptedServer {
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();
  #peers: Peer[] = [];
  #waiting: ((peer: Peer) => void)[] = [];
  /** Requests that came, by path. */
  readonly requests: string[] = [];
  /** Answers plain requests, and upgrades when it answers true. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** When set, an upgrade is answered with this text instead. */
  refuseUpgrade: string | undefined;
  /** Takes the connection and says nothing. */
  mute = false;

  private constructor(http: Server) {
    this.#http = http;
    const sockets = new WebSocketServer({ noServer: true });
    http.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    http.on('request', (request, response) => {
      this.requests.push(request.url ?? '');
      if (this.answer) this.answer(request, response);
      else response.writeHead(404).end();
    });
    http.on('upgrade', (request, socket, head) => {
      this.requests.push(request.url ?? '');
      if (this.mute) return;
      if (this.refuseUpgrade !== undefined) {
        socket.end(this.refuseUpgrade);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (ws) => {
        const peer = new Peer(ws, socket as Socket);
        const waiting = this.#waiting.shift();
        if (waiting) waiting(peer);
        else this.#peers.push(peer);
      });
    });
  }

  static async start(port = 0): Promise<ScriptedServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    return new ScriptedServer(http);
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The next connection. */
  peer(): Promise<Peer> {
    const [peer] = this.#peers.splice(0, 1);
    return peer ? Promise.resolve(peer) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Connections that nobody asked for yet. */
  get unasked(): number {
    return this.#peers.length;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }
}

/** Whether a hello was signed by the holder of a raw public key (base64), for this server and this challenge. */
export function isSigned(hello: Said<'hello'>, nonce: string, host: string, publicKey: string): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'base64').toString('base64url') },
    format: 'jwk',
  });
  const text = signedHello({ ...hello, nonce, host });
  return verify(null, Buffer.from(text), key, Buffer.from(hello.signature, 'base64'));
}
