/**
 * What is exchanged with the server over one connection, from its challenge to the end. Knows no socket: `link.ts` joins it
 * to one.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import { STREAMS } from '@rollcall/shared/observation';
import {
  type Assignment,
  CloseCode,
  type CollectorMessage,
  PROTOCOL_OLDEST,
  PROTOCOL_SAMPLES,
  PROTOCOL_VERSION,
  parseServerMessage,
  type Ruleset,
  type ServerMessage,
} from '@rollcall/shared/protocol';
import { signedHello, signedKey } from '@rollcall/shared/signed-texts';
import { untold } from '@rollcall/shared/wire';
import type { Logger } from 'pino';
import type { Outbox } from '../outbox/outbox.ts';
import { systemReason } from '../platform/refusal.ts';
import { NOT_PROVEN } from './cross-signature.ts';
import { type Identity, publicKeyOf, signed } from './identity.ts';
import { Sender, sequenceRegression, type Wire } from './sender.ts';

export type Message<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;
export type Heartbeat = Omit<Extract<CollectorMessage, { type: 'heartbeat' }>, 'type'>;

/** The parts of the collector that the link speaks for. */
export interface Collector {
  outbox: Outbox;
  identity(): Identity;
  /** Writes the generation down, and with `forgetAuthority` removes the authority of the join token; durable when it returns. */
  saveGeneration(generation: number, forgetAuthority: boolean): void;
  /** The key that signs the next hello. */
  key(): KeyObject;
  /** The server took this key: any other is forgotten. */
  keyWorks(key: KeyObject): void;
  /** Makes a key to be used once the server knows it; durable when it returns. */
  makeNextKey(): KeyObject;
  /** Uses the key made last from the next hello on. */
  useNextKey(): void;
  /** The server did not accept the key: where there are two, the other one signs the next hello. */
  tryOtherKey(): void;
  about(): {
    software: string;
    hostname: string;
    capacity: number;
    engines: { name: string; ok: boolean; reason: string }[];
  };
  health(): Heartbeat;
  working(): { job: string; fence: number }[];
  assign(assignment: Assignment): void;
  cancel(job: string, fence: number): void;
  rules(ruleset: Ruleset): void;
  watch(message: Message<'watch'>): void;
  /** The server has more than the outbox ever gave: begins a new one, unless that was done lately. Never rejects. */
  sequenceRegression(reason: string): Promise<void>;
}

/** The connection, as little as a conversation needs of it. */
export interface Line extends Wire {
  close(code: number, reason: string): void;
}

/** What the server has of each stream; one that it does not know it has nothing of. */
const throughOf = ({ through }: Message<'welcome'>) => ({ ...through, sample: through.sample ?? -1 });

/** Invalid messages until the connection is closed. */
const MOST_INVALID = 3;

export type Phase = 'challenged' | 'greeting' | 'ready' | 'draining';

export class Conversation {
  readonly #collector: Collector;
  readonly #line: Line;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #enter: (phase: Phase) => void;
  readonly #proves: ((crossSignature: string | undefined) => boolean) | undefined;
  #phase: Phase = 'challenged';
  #nonce = '';
  #key: KeyObject | undefined;
  #sender: Sender | undefined;
  #invalid = 0;
  /** Unknown words that stand in the log already. */
  readonly #logged = new Set<string>();
  #stopListening: (() => void) | undefined;

  constructor(deps: {
    collector: Collector;
    line: Line;
    clock: Clock;
    log: Logger;
    enter: (phase: Phase) => void;
    /** Present where TLS alone does not say that this is the server that was joined: judges its cross-signature. */
    proves?: ((crossSignature: string | undefined) => boolean) | undefined;
  }) {
    this.#collector = deps.collector;
    this.#line = deps.line;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#enter = deps.enter;
    this.#proves = deps.proves;
  }

  /** Takes one text frame of the server. */
  receive(frame: string): void {
    const parsed = parseServerMessage(frame);
    if (!parsed.ok) {
      // A newer server may say things that this version does not know; it knows that it may not be understood.
      if (parsed.newer)
        this.#log.debug({ reason: parsed.reason }, 'the server says what this version does not know');
      else this.#reject(parsed.reason);
      return;
    }
    const { message } = parsed;
    const unknown = untold(this.#logged, message.type, parsed.unknown);
    if (unknown.length > 0) this.#log.warn({ unknown }, 'the server says what this version does not know');
    if (message.type === 'challenge') this.#challenge(message);
    else if (message.type === 'welcome') this.#welcome(message);
    else if (this.#sender) this.#work(message, this.#sender);
    else this.#reject(`${message.type} before the welcome`);
  }

  /** Sends a message, if the link is ready. */
  send(message: CollectorMessage): boolean {
    if (!this.#sender) return false;
    this.#send(message);
    return true;
  }

  heartbeat(): void {
    if (this.#sender) this.#send({ type: 'heartbeat', ...this.#collector.health() });
  }

  /** Room was made on the line: more may be sent. */
  pump(): void {
    this.#sender?.pump();
  }

  /** The connection is gone. */
  end(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#sender = undefined;
  }

  #challenge({ nonce, version, successor }: Message<'challenge'>): void {
    if (this.#phase !== 'challenged') this.#reject('a second challenge');
    else if (this.#proves?.(successor) === false) this.#line.close(CloseCode.normal, NOT_PROVEN);
    else if (version >= PROTOCOL_OLDEST) this.#hello(nonce);
    else {
      const spoken = `this collector speaks versions ${PROTOCOL_OLDEST} to ${PROTOCOL_VERSION}, the server ${version}`;
      this.#line.close(CloseCode.version, spoken);
    }
  }

  #hello(nonce: string): void {
    const { collector, generation, server } = this.#collector.identity();
    const { epoch, last } = this.#collector.outbox;
    this.#nonce = nonce;
    this.#key = this.#collector.key();
    const text = signedHello({ nonce, collector, generation, epoch, host: new URL(server).host });
    this.#move('greeting');
    this.#send({
      type: 'hello',
      version: PROTOCOL_VERSION,
      oldest: PROTOCOL_OLDEST,
      collector,
      generation,
      signature: signed(text, this.#key),
      epoch,
      last,
      ...this.#collector.about(),
      time: this.#clock.now(),
    });
  }

  #welcome(welcome: Message<'welcome'>): void {
    if (this.#phase !== 'greeting' || !this.#key) {
      this.#reject('a welcome out of place');
      return;
    }
    const trouble = sequenceRegression(throughOf(welcome), this.#collector.outbox.last);
    if (trouble === null) this.#begin(welcome, this.#key);
    else
      void this.#collector
        .sequenceRegression(trouble)
        .finally(() => this.#line.close(CloseCode.normal, trouble));
  }

  #begin(welcome: Message<'welcome'>, key: KeyObject): void {
    const { outbox } = this.#collector;
    const written = this.#onDisk(() => {
      this.#collector.saveGeneration(welcome.generation, this.#proves !== undefined);
      this.#collector.keyWorks(key);
    });
    if (!written) return;
    this.#send({ type: 'confirm', generation: welcome.generation });
    this.#send({ type: 'working', jobs: this.#collector.working() });
    const through = throughOf(welcome);
    for (const stream of STREAMS) outbox.ack(stream, through[stream]);
    const sender = new Sender({ outbox, wire: this.#line, clock: this.#clock }, through, {
      ...welcome.limits,
      samples: welcome.version >= PROTOCOL_SAMPLES,
    });
    this.#sender = sender;
    this.#stopListening = outbox.onWritten(() => sender.pump());
    if (welcome.ruleset) this.#collector.rules(welcome.ruleset);
    this.#move('ready');
    this.heartbeat();
    sender.pump();
  }

  #work(message: Exclude<ServerMessage, Message<'challenge' | 'welcome'>>, sender: Sender): void {
    const collector = this.#collector;
    switch (message.type) {
      case 'ack': {
        const wrong = sender.acknowledged(message.epoch, message.stream, message.through);
        if (wrong === 'never-sent')
          this.#line.close(CloseCode.badMessage, 'acknowledges what was never sent');
        else if (wrong !== null) this.#reject('an acknowledgement of another epoch');
        break;
      }
      case 'assign':
        collector.assign(message.assignment);
        break;
      case 'cancel':
        collector.cancel(message.job, message.fence);
        break;
      case 'ruleset':
        collector.rules(message.ruleset);
        break;
      case 'watch':
        collector.watch(message);
        break;
      case 'rotate':
        this.#rotate();
        break;
      case 'key-stored':
        collector.useNextKey();
        this.#line.close(CloseCode.normal, 'coming back with the new key');
        break;
      case 'refused':
        this.#log.warn({ reason: message.reason }, 'the server refused a message');
        break;
      case 'drain':
        this.#log.info({ reason: message.reason }, 'the server is going away');
        sender.drain();
        this.#move('draining');
        break;
      case 'heartbeat':
        // Any frame shows that the server is there; the link has noted it.
        break;
      default:
        // A type that this version does not know never gets here: the wire drops it. One that it knows needs a case.
        message satisfies never;
    }
  }

  #rotate(): void {
    let key: KeyObject | undefined;
    this.#onDisk(() => {
      key = this.#collector.makeNextKey();
    });
    if (!key) return;
    const publicKey = publicKeyOf(key);
    const { collector } = this.#collector.identity();
    const signature = signed(signedKey({ nonce: this.#nonce, collector, publicKey }), key);
    this.#send({ type: 'new-key', publicKey, signature });
  }

  /** Does what has to be on disk before the server hears of it; ends the connection where the disk fails, to try again later. */
  #onDisk(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#line.close(CloseCode.internal, `the state folder cannot be written: ${systemReason(error)}`);
      return false;
    }
  }

  #send(message: CollectorMessage): void {
    this.#line.send(JSON.stringify(message));
  }

  #move(phase: Phase): void {
    this.#phase = phase;
    this.#enter(phase);
  }

  #reject(reason: string): void {
    this.#invalid += 1;
    this.#log.warn(
      { reason: reason.slice(0, 300), invalid: this.#invalid },
      'the server sent an invalid message',
    );
    if (this.#invalid >= MOST_INVALID) this.#line.close(CloseCode.badMessage, 'too many invalid messages');
  }
}
