/**
 * A collector that says what a test tells it to: it speaks the real protocol with a real key, over a WebSocket or
 * straight into a session. It has no outbox and sweeps nothing.
 */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import {
  COLLECTOR_PATH,
  type CollectorMessage,
  parseServerMessage,
  type ServerMessage,
} from '@rollcall/shared/protocol';
import { signedHello, signedKey } from '@rollcall/shared/signed-texts';
import { uuidv7 } from '@rollcall/shared/uuid';
import { type ClientOptions, WebSocket } from 'ws';
import type { Link } from '../gateway/connection/states.ts';
import type { Sql } from '../platform/db/sql.ts';
import { insert } from './rows.ts';

export type Hello = Extract<CollectorMessage, { type: 'hello' }>;
type Said<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** Longest wait for a message that a test expects. */
const WAIT_MS = 20_000;

export interface Key {
  secret: KeyObject;
  /** 32 bytes. */
  raw: Buffer;
}
export function makeKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { secret: privateKey, raw: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) };
}
const signed = (key: Key, text: string): string =>
  sign(null, Buffer.from(text), key.secret).toString('base64');

/** What a collector keeps on its disk. Copying it is copying the identity. */
export interface Disk {
  id: string;
  key: Key;
  generation: number;
  epoch: string;
  last: { state: number; event: number; sample?: number };
}

/** A collector of a site, as if it had joined. */
export async function enrolled(db: Sql, siteId: string, name = `collector ${randomUUID()}`): Promise<Disk> {
  const disk = {
    id: uuidv7(),
    key: makeKey(),
    generation: 0,
    epoch: randomUUID(),
    last: { state: -1, event: -1 },
  };
  const public_key = `\\x${disk.key.raw.toString('hex')}`;
  await insert(db, 'collectors', [{ id: disk.id, site_id: siteId, name, public_key, generation: 0 }]);
  return disk;
}

/** One connection, seen from the collector's end. */
export class Talk {
  readonly heard: ServerMessage[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #say: (frame: string) => void;
  readonly #hang: () => void;
  #next = 0;
  #wake: (() => void)[] = [];
  #over: { code: number; reason: string } | undefined;
  #settle: (end: { code: number; reason: string }) => void = () => undefined;

  constructor(say: (frame: string) => void, hang: () => void) {
    this.#say = say;
    this.#hang = hang;
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** For the transport. */
  hears(frame: string): void {
    const parsed = parseServerMessage(frame);
    if (!parsed.ok) throw new Error(`the server said what nobody understands: ${parsed.reason}: ${frame}`);
    this.heard.push(parsed.message);
    this.#stir();
  }
  /** For the transport. */
  ends(code: number, reason: string): void {
    this.#over ??= { code, reason };
    this.#settle(this.#over);
    this.#stir();
  }
  #stir(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  say(message: CollectorMessage): void {
    this.#say(JSON.stringify(message));
  }
  /** A frame as it stands. */
  sayRaw(frame: string): void {
    this.#say(frame);
  }
  hangUp(): void {
    this.#hang();
  }

  /** The next message of a type behind the last one asked for; others in between are passed over. */
  async next<T extends ServerMessage['type']>(type: T): Promise<Said<T>> {
    const limit = Date.now() + WAIT_MS;
    for (;;) {
      for (; this.#next < this.heard.length; this.#next++) {
        const message = this.heard[this.#next];
        if (message?.type !== type) continue;
        this.#next += 1;
        return message as Said<T>;
      }
      if (this.#over)
        throw new Error(`closed with ${this.#over.code} (${this.#over.reason}) instead of saying ${type}`);
      if (Date.now() > limit)
        throw new Error(`no ${type}; heard ${this.heard.map((m) => m.type).join(', ')}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }
  /** Messages of a type so far. */
  of<T extends ServerMessage['type']>(type: T): Said<T>[] {
    return this.heard.filter((message): message is Said<T> => message.type === type);
  }
}

export const hello = (
  disk: Disk,
  challenge: { nonce: string },
  host: string,
  more: Partial<Hello> = {},
): Hello => {
  const { id: collector, generation, epoch, last } = disk;
  const unsigned = { collector, generation, epoch, ...more };
  return {
    type: 'hello',
    version: 1,
    oldest: 1,
    last,
    software: 'scripted 1',
    hostname: 'scripted.example.net',
    engines: [{ name: 'datagram', ok: true, reason: '' }],
    capacity: 4,
    time: Date.now(),
    signature: signed(disk.key, signedHello({ nonce: challenge.nonce, host, ...unsigned })),
    ...unsigned,
    ...more,
  };
};

/** Proof of a new key, as an answer to `rotate`. */
export const newKey = (disk: Disk, nonce: string, key: Key): CollectorMessage => {
  const publicKey = key.raw.toString('base64');
  return {
    type: 'new-key',
    publicKey,
    signature: signed(key, signedKey({ nonce, collector: disk.id, publicKey })),
  };
};

export const HOST = 'rollcall.example.net';

/** Begins a conversation straight with a session, without any socket. Frames arrive in turns of their own. */
export function talkTo<S extends { receive(frame: Buffer): void; closed(code: number): void }>(
  open: (link: Link, peer: { host: string; address: string }) => S,
): { talk: Talk; session: S; link: { buffered: number; admitted: boolean; answers: boolean } } {
  const facts = { buffered: 0, admitted: false, answers: true };
  const talk: Talk = new Talk(
    (frame) => setImmediate(() => session.receive(Buffer.from(frame))),
    () => {
      session.closed(1006);
      talk.ends(1006, 'hung up');
    },
  );
  const link: Link = {
    send: (frame) => talk.hears(frame),
    close: (code, reason) => talk.ends(code, reason),
    admitted: () => {
      facts.admitted = true;
    },
    answers: async () => facts.answers,
    get buffered() {
      return facts.buffered;
    },
  };
  const session = open(link, { host: HOST, address: '192.0.2.1' });
  return { talk, session, link: facts };
}

/** Begins a conversation over a WebSocket with `ws://host:port`. */
export function talkOver(
  base: string,
  options: ClientOptions = {},
): { talk: Talk; socket: WebSocket; host: string } {
  const socket = new WebSocket(base + COLLECTOR_PATH, { perMessageDeflate: false, ...options });
  const talk = new Talk(
    (frame) => socket.send(frame),
    () => socket.terminate(),
  );
  socket.on('message', (data) => talk.hears(data.toString()));
  socket.on('close', (code, reason) => talk.ends(code, reason.toString()));
  socket.on('error', (error) => talk.ends(0, error.message));
  return { talk, socket, host: new URL(base).host };
}

/** Shakes hands up to ready, and writes down what a collector writes down. */
export async function shakeHands(
  talk: Talk,
  disk: Disk,
  host: string = HOST,
  more: Partial<Hello> = {},
  working: { job: string; fence: number }[] = [],
): Promise<Said<'welcome'> & { nonce: string }> {
  const { nonce } = await talk.next('challenge');
  talk.say(hello(disk, { nonce }, host, more));
  const welcome = await talk.next('welcome');
  disk.generation = welcome.generation;
  talk.say({ type: 'confirm', generation: welcome.generation });
  talk.say({ type: 'working', jobs: working });
  return { ...welcome, nonce };
}
