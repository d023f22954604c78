/**
 * The request engine: one UDP socket per address family for every target, a window of outstanding requests, and the
 * guard on every datagram that comes in. What waits for silence costs one entry in a map and no timer of its own.
 */
import type { Clock } from '@rollcall/shared/clock';
import { BerError } from '../message/ber.ts';
import {
  openMessage,
  readSecureEnvelope,
  type SecureEnvelope,
  type SnmpVersion,
} from '../message/message.ts';
import { readPduHead, readVarbinds, type Varbind } from '../message/pdu.ts';
import { faultOfReport, isEngineId, type SecurityFault } from '../message/usm.ts';
import { Aborts } from './aborts.ts';
import { Deadlines } from './deadlines.ts';
import {
  type Answer,
  type AskOptions,
  type Exchange,
  exchangeOf,
  messageOf,
  type Target,
} from './exchange.ts';
import { DROP_REASONS, type DropReason, failure, failureOfStatus } from './failure.ts';
import { isSource, judgeCommunity, judgeSecure, type Verdict } from './guard.ts';
import type { Query } from './query.ts';
import { RemoteEngines } from './remote-engines.ts';
import { RequestIds } from './request-ids.ts';
import { openUdp, type UdpSocket } from './udp.ts';

interface EngineSettings {
  clock: Clock;
  /** Most requests outstanding at once; the rest waits its turn. */
  window?: number;
  /** Most requests waiting for the window; more are refused with `busy`. */
  queue?: number;
}

interface EngineStats {
  received: number;
  answered: number;
  inFlight: number;
  drops: Record<DropReason, number>;
}

/** SNMPv3 engines of agents that are kept. */
const ENGINES = 16_384;
/** Requests sent in one turn of the event loop. libuv reads as many datagrams per turn, so replies keep pace. */
const BURST = 32;
/** Messages of one v3 exchange that a Report may cause: discovery, the request, a new clock or engine. */
const MOST_ROUNDS = 4;
/** Reasons not to send that may be gone at the next try: full buffers, and a full connection-tracking table (EPERM). */
const PASSING = new Set(['ENOBUFS', 'ENOMEM', 'EAGAIN', 'EPERM']);

export class SnmpEngine {
  readonly clock: Clock;
  readonly #window: number;
  readonly #queueBound: number;
  readonly #engines: RemoteEngines;
  readonly #deadlines: Deadlines<Exchange>;
  readonly #outstanding = new Map<number, Exchange>();
  readonly #waiting = new Set<Exchange>();
  readonly #aborts: Aborts<Exchange>;
  readonly #ids = new RequestIds();
  readonly #stats = {
    received: 0,
    answered: 0,
    drops: Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>,
  };
  #udp4: UdpSocket | null = null;
  #udp6: UdpSocket | null = null;
  #toSend: Exchange[] = [];
  #pumping = false;
  #closed = false;

  private constructor(settings: EngineSettings) {
    this.clock = settings.clock;
    this.#window = settings.window ?? 16_384;
    this.#queueBound = settings.queue ?? 65_536;
    this.#engines = new RemoteEngines(ENGINES);
    this.#deadlines = new Deadlines(settings.clock, (exchange) => this.#expire(exchange));
    this.#aborts = new Aborts((exchange) => this.#finish(exchange, failure('cancelled')));
  }

  /** Opens the sockets. A system without IPv6 (or IPv4) serves the other family alone; without both it rejects. */
  static async open(settings: EngineSettings): Promise<SnmpEngine> {
    const engine = new SnmpEngine(settings);
    const receive = engine.#receive.bind(engine);
    const [four, six] = await Promise.allSettled([openUdp(4, receive), openUdp(6, receive)]);
    if (four.status === 'fulfilled') engine.#udp4 = four.value;
    if (six.status === 'fulfilled') engine.#udp6 = six.value;
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    return engine;
  }

  stats(): EngineStats {
    return {
      ...this.#stats,
      drops: { ...this.#stats.drops },
      inFlight: this.#outstanding.size,
    };
  }

  /** The SNMPv3 engine id that the agent claimed last, if it ever answered a discovery. */
  engineIdOf({ address, port }: Target): Buffer | null {
    return this.#engines.get(address, port)?.id ?? null;
  }

  /** Asks one agent and answers with what it said or with why there is nothing; never rejects. */
  ask(target: Target, query: Query, options: AskOptions): Promise<Answer> {
    if (this.#closed) return Promise.resolve(failure('closed'));
    if (options.signal?.aborted) return Promise.resolve(failure('cancelled'));
    if (this.#waiting.size >= this.#queueBound) return Promise.resolve(failure('busy'));
    return new Promise((settle) => {
      const exchange = exchangeOf(target, query, options, settle);
      if (options.signal) this.#aborts.follow(options.signal, exchange);
      if (this.#outstanding.size < this.#window) this.#admit(exchange);
      else this.#waiting.add(exchange);
    });
  }

  /** Ends every request with `closed` and gives the sockets back. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of [...this.#waiting, ...this.#outstanding.values()]) {
      this.#finish(exchange, failure('closed'));
    }
    await Promise.all([this.#udp4?.close(), this.#udp6?.close()]);
  }

  #admit(exchange: Exchange): void {
    if (exchange.query.credential.version === 'v3') {
      exchange.engine = this.#engines.get(exchange.address, exchange.port);
    }
    this.#rename(exchange);
    this.#enqueue(exchange);
  }

  /** Gives the exchange fresh ids, so that nothing sent for the old ones can answer it any more. */
  #rename(exchange: Exchange): void {
    if (exchange.id !== 0) this.#outstanding.delete(exchange.id);
    let id = this.#ids.next();
    while (this.#outstanding.has(id)) id = this.#ids.next();
    exchange.id = id;
    exchange.requestId = exchange.query.credential.version === 'v3' ? this.#ids.next() : id;
    this.#outstanding.set(id, exchange);
  }

  #enqueue(exchange: Exchange): void {
    this.#toSend.push(exchange);
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => this.#pump());
  }

  #pump(): void {
    const burst = this.#toSend.splice(0, BURST);
    this.#pumping = this.#toSend.length > 0;
    if (this.#pumping) setImmediate(() => this.#pump());
    for (const exchange of burst) {
      if (exchange.done) continue;
      const turn = exchange.paid ? undefined : exchange.options.pace?.take(1, exchange.address);
      exchange.paid = false;
      if (turn) turn.then(() => this.#transmit(exchange));
      else this.#transmit(exchange);
    }
  }

  #transmit(exchange: Exchange): void {
    if (exchange.done) return;
    const socket = exchange.address.includes(':') ? this.#udp6 : this.#udp4;
    if (!socket) {
      this.#finish(exchange, failure('unreachable', 'address family not available'));
      return;
    }
    const now = this.clock.monotonic();
    let message: Buffer;
    try {
      message = messageOf(exchange, now);
    } catch (error) {
      if (!(error instanceof BerError)) throw error;
      this.#finish(exchange, failure('bad-request', error.code));
      return;
    }
    exchange.sent += 1;
    exchange.sentAt = now;
    this.#deadlines.add(exchange, exchange.options.timeoutMs);
    socket.send(message, exchange.port, exchange.address, (errno) => {
      exchange.sendError = errno;
      if (errno !== null && !PASSING.has(errno)) this.#finish(exchange, failure('unreachable', errno));
    });
  }

  #expire(exchange: Exchange): void {
    if (exchange.done) return;
    if (exchange.sent < exchange.options.tries) {
      this.#enqueue(exchange);
      return;
    }
    if (exchange.sendError !== null) {
      this.#finish(exchange, failure('unreachable', exchange.sendError));
      return;
    }
    const detail = exchange.refused ? `replies dropped: ${exchange.refused}` : undefined;
    this.#finish(exchange, failure('timeout', detail));
  }

  #receive(bytes: Buffer, address: string, port: number): void {
    this.#stats.received += 1;
    try {
      const { reader, version } = openMessage(bytes);
      if (version === 'v3') {
        const envelope = readSecureEnvelope(reader);
        const exchange = this.#match(envelope.msgId, version, address, port);
        const credential = exchange?.query.credential;
        if (!exchange || credential?.version !== 'v3') return;
        const message = bytes.subarray(0, reader.end);
        const verdict = judgeSecure(exchange, credential, message, envelope, this.clock.monotonic());
        if (verdict.kind === 'report') this.#onReport(exchange, faultOfReport(verdict.varbinds), envelope);
        else this.#act(exchange, verdict, bytes.length);
      } else {
        const community = reader.octets();
        const head = readPduHead(reader);
        const exchange = this.#match(head.requestId, version, address, port);
        if (exchange) this.#act(exchange, judgeCommunity(exchange, community, head, reader), bytes.length);
      }
    } catch (error) {
      if (!(error instanceof BerError)) throw error;
      this.#stats.drops.malformed += 1;
    }
  }

  /** The request that a datagram can belong to by its id, source and version. */
  #match(id: number, version: SnmpVersion, address: string, port: number): Exchange | null {
    const exchange = this.#outstanding.get(id);
    // Not sent yet means that nobody can have answered.
    if (!exchange || exchange.sent === 0) {
      this.#stats.drops.unexpected += 1;
      return null;
    }
    const reason = !isSource(exchange, address, port)
      ? 'wrong-source'
      : exchange.query.credential.version !== version
        ? 'wrong-version'
        : null;
    if (reason) this.#drop(exchange, reason);
    return reason ? null : exchange;
  }

  #drop(exchange: Exchange, reason: DropReason): void {
    this.#stats.drops[reason] += 1;
    exchange.refused = reason;
  }

  #act(exchange: Exchange, verdict: Verdict, bytes: number): void {
    if (verdict.kind === 'drop') this.#drop(exchange, verdict.reason);
    else if (verdict.kind === 'undecipherable') this.#finish(exchange, failure('decrypt'));
    else {
      this.#stats.answered += 1;
      exchange.options.pace?.report?.(1, exchange.sent - 1);
      this.#finish(exchange, this.#read(exchange, verdict, bytes));
    }
  }

  /** Acts on a Report: learns the engine or its clock and asks again, or gives up for the reason it names. */
  #onReport(exchange: Exchange, fault: SecurityFault, envelope: SecureEnvelope): void {
    const { engineId, engineBoots, engineTime } = envelope;
    const curable = (fault === 'unknown-engine' || fault === 'not-in-time') && isEngineId(engineId);
    exchange.rounds += 1;
    if (!curable || exchange.rounds > MOST_ROUNDS) {
      this.#finish(exchange, failure(fault));
      return;
    }
    const now = this.clock.monotonic();
    exchange.engine = this.#engines.learn(
      exchange.address,
      exchange.port,
      engineId,
      engineBoots,
      engineTime,
      now,
    );
    this.#deadlines.delete(exchange);
    exchange.sent = 0;
    this.#rename(exchange);
    this.#enqueue(exchange);
  }

  #read(exchange: Exchange, { head, reader }: Extract<Verdict, { kind: 'answer' }>, bytes: number): Answer {
    const { question, mostVarbinds } = exchange.query;
    if (head.first !== 0) return failureOfStatus(head.first, head.second, question.oids.length);
    let varbinds: Varbind[];
    try {
      varbinds = readVarbinds(reader, mostVarbinds);
    } catch (error) {
      if (error instanceof BerError) return failure('malformed', error.code);
      throw error;
    }
    if (question.type === 'get') {
      const { oids } = question;
      if (varbinds.length !== oids.length || varbinds.some(({ oid }, i) => oid !== oids[i])) {
        return failure('mismatched');
      }
    }
    return { ok: true, varbinds, bytes, rttMs: this.clock.monotonic() - exchange.sentAt };
  }

  #finish(exchange: Exchange, answer: Answer): void {
    if (exchange.done) return;
    exchange.done = true;
    this.#deadlines.delete(exchange);
    if (exchange.id !== 0) this.#outstanding.delete(exchange.id);
    else this.#waiting.delete(exchange);
    if (exchange.options.signal) this.#aborts.forget(exchange.options.signal, exchange);
    exchange.settle(answer);
    if (this.#closed || this.#outstanding.size >= this.#window) return;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      this.#admit(next);
      break;
    }
  }
}
