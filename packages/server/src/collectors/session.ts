/**
 * The server's side of one collector's conversation: a state machine that knows no socket. `ws.ts` joins it to one.
 *
 * Observations are stored one batch after the other, in a lane of their own, so that a slow store holds up no
 * heartbeat and no lease; everything else goes through a second lane, also in order.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import {
  BATCH_BYTES,
  CloseCode,
  type CollectorMessage,
  FRAME_BYTES,
  HELLO_MS,
  PROTOCOL_VERSION,
  parseCollectorMessage,
  type Ruleset,
  type ServerMessage,
  WINDOW,
} from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import { reached } from '../kernel/stage.ts';
import { ClockOffset } from './clock-offset.ts';
import {
  type Beat,
  cut,
  Goodbye,
  HEARD,
  type Link,
  type Message,
  Refusal,
  SESSION_MOVES,
  type SessionState,
} from './conversation.ts';
import type { CollectorDeps, Jobs, Lease } from './deps.ts';
import { Hands, JOBS_MOST } from './hands.ts';
import type { Admitted, Hello, Identities } from './identity.ts';
import { Lane } from './lane.ts';
import { Paced } from './paced.ts';
import { Quota } from './quota.ts';

export interface SessionDeps
  extends Pick<CollectorDeps, 'clock' | 'log' | 'accept' | 'credentialsFor' | 'ruleset' | 'watchList'> {
  identities: Pick<Identities, 'admit' | 'confirm' | 'storeKey'>;
  jobs: Pick<Jobs, 'claim' | 'extend' | 'refuse' | 'giveBack'>;
  /** This session is the collector's now; an older one makes room. */
  onReady(session: Session): void;
  onClosed(session: Session): void;
}

/** Messages without effect until the connection is closed. */
const STRIKES = 3;
/** Messages at once, and per second from then on: a collector with all its jobs and a full window sends some 80. */
const QUOTA = { burst: 1000, perSecond: 300 };
/** Messages that may wait for the database, observations apart. */
const ACTS = 256;
/** A collector that does not say what it works on is offered jobs after this long. */
const WORKING_MS = 2_000;
/** Progress of jobs is written this often at most. */
const PROGRESS_MS = 1_000;
/** No job is offered to a collector that has this much still to read. */
const BUFFERED_MOST = 2 * FRAME_BYTES;
/** A close frame holds a reason of this many bytes (RFC 6455 section 5.5). */
const CLOSE_REASON = 123;

/** Known once its hello was checked. */
interface Known {
  hello: Hello;
  collector: Admitted;
  hands: Hands;
}

export class Session {
  readonly #link: Link;
  readonly #deps: SessionDeps;
  readonly #clock: Clock;
  readonly #host: string;
  readonly #nonce = randomBytes(32).toString('base64url');
  readonly #over = new AbortController();
  readonly #quota: Quota;
  readonly #offset = new ClockOffset();
  readonly #stores = new Lane(WINDOW);
  readonly #acts = new Lane(ACTS);
  readonly #challengedAt: number;
  readonly #extend: Paced;
  #log: Logger;
  #state: SessionState = 'challenged';
  #strikes = 0;
  #known: Known | undefined;
  /** Of the transport, milliseconds. */
  #roundTrip = 0;
  /** What it last said of itself. */
  beat: Beat | undefined;
  #through = { state: -1, event: -1 };
  #offering = false;
  /** Set while and after a `confirm` is checked: work that comes right behind it waits for it in its lane. */
  #confirmed: Promise<void> | undefined;

  constructor(link: Link, peer: { host: string; address: string }, deps: SessionDeps) {
    this.#link = link;
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#host = peer.host;
    this.#log = deps.log.child({ peer: peer.address });
    this.#quota = new Quota(QUOTA, deps.clock);
    this.#challengedAt = deps.clock.monotonic();
    const extend = () => this.#act(({ hands }) => hands.extend());
    this.#extend = new Paced(PROGRESS_MS, deps.clock, this.#over.signal, extend);
    this.#send({ type: 'challenge', nonce: this.#nonce, version: PROTOCOL_VERSION, time: deps.clock.now() });
    this.#after(HELLO_MS, () => {
      if (this.#state === 'challenged') this.close(CloseCode.helloTimeout, 'no valid hello in time');
    });
  }

  get state(): SessionState {
    return this.#state;
  }
  /** Known from the welcome on. */
  get collector(): { id: string; siteId: string; name: string } | undefined {
    const { id, site, name } = this.#known?.collector ?? {};
    return id === undefined || site === undefined || name === undefined
      ? undefined
      : { id, siteId: site.id, name };
  }
  get clockOffsetMs(): number {
    return this.#offset.offsetMs;
  }

  /** One text frame of the collector. */
  receive(frame: string): void {
    if (this.#state === 'closed') return;
    try {
      if (!this.#quota.take()) throw new Goodbye(CloseCode.policy, 'too many messages');
      const parsed = parseCollectorMessage(frame);
      if (!parsed.ok) throw new Refusal(parsed.reason);
      const { message } = parsed;
      const state = this.#confirmed ? 'ready' : this.#state;
      if (!HEARD[state].includes(message.type))
        throw new Refusal(`${message.type} is out of place in a ${this.#state} conversation`);
      this.#hear(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The transport measured a round trip. */
  roundTrip(ms: number): void {
    this.#roundTrip = ms;
  }

  /** The transport answered a ping of the collector: it counts as a message. */
  pinged(): void {
    if (!this.#quota.take()) this.close(CloseCode.policy, 'too many messages');
  }

  /** Ends the conversation from this side. */
  close(code: CloseCode, reason: string): void {
    if (this.#state === 'closed') return;
    this.#log.info({ code, reason, state: this.#state }, 'closing a collector link');
    this.#link.close(code, cut(reason, CLOSE_REASON));
    this.#end();
  }

  /** The transport is gone. */
  closed(code: number): void {
    if (this.#state === 'closed') return;
    this.#log.info({ code, state: this.#state }, 'a collector link ended');
    this.#end();
  }

  /** Offers nothing more; resolves when what came in is stored. */
  async drain(reason: string): Promise<void> {
    if (this.#state === 'ready') {
      this.#enter('draining');
      this.#send({ type: 'drain', reason });
    }
    await this.#stores.idle();
  }

  /** There may be jobs: claims as many as the collector can take. */
  offer(): void {
    if (this.#state !== 'ready' || !this.#known?.hands.known || this.#offering) return;
    this.#offering = true;
    this.#act(async ({ hands }) => {
      this.#offering = false;
      if (this.#state === 'ready' && this.#link.buffered <= BUFFERED_MOST) await hands.claim();
    });
  }

  /** A lease is over: the collector stops if it still works on it. */
  cancel(lease: Lease): void {
    if (this.#state === 'ready' || this.#state === 'draining') this.#known?.hands.cancel(lease);
  }

  /** A cancellation may have been missed. */
  recheck(): void {
    if (this.#state === 'ready') this.#act(({ hands }) => hands.recheck());
  }
  /** Asks for a new key. */
  rotate(): void {
    if (this.#state === 'ready') this.#send({ type: 'rotate' });
  }
  ruleset(ruleset: Ruleset): void {
    if (this.#state === 'ready') this.#send({ type: 'ruleset', ruleset });
  }
  /** What it is to watch may have changed. */
  watch(): void {
    if (this.#state === 'ready') this.#act(() => this.#sendWatch());
  }

  #hear(message: CollectorMessage): void {
    switch (message.type) {
      case 'hello':
        this.#enter('greeted');
        this.#inOrder(() => this.#greet(message));
        break;
      case 'confirm':
        this.#confirmed = this.#act((known) => this.#confirm(message, known));
        break;
      case 'working':
        this.#act(async ({ hands }) => {
          await hands.settle(message.jobs, this.#through.state);
          this.offer();
        });
        break;
      case 'progress':
        this.#known?.hands.note(message);
        this.#extend.run();
        break;
      case 'outcome':
        this.#act(async ({ hands }) => {
          await hands.refuse(message, message);
          this.offer();
        });
        break;
      case 'observations':
        this.#store(message);
        break;
      case 'heartbeat':
        this.#heartbeat(message);
        break;
      case 'new-key':
        this.#act((known) => this.#newKey(message, known));
    }
  }

  async #greet(hello: Hello): Promise<void> {
    const { clock, identities, jobs, credentialsFor, ruleset } = this.#deps;
    this.#roundTrip = clock.monotonic() - this.#challengedAt;
    this.#offset.add(hello.time, clock.now(), this.#roundTrip);
    const admission = await identities.admit(hello, { nonce: this.#nonce, host: this.#host });
    if (this.#is('closed')) return;
    if (!admission.ok) throw new Goodbye(admission.code, admission.reason);
    const { collector } = admission;
    const owner = {
      id: collector.id,
      siteId: collector.site.id,
      capacity: hello.capacity,
      lastState: hello.last.state,
    };
    const hands = new Hands(owner, { jobs, credentialsFor, send: (message) => this.#send(message) });
    this.#known = { hello, collector, hands };
    this.#through = { ...collector.through };
    this.#log = this.#log.child({ collector: collector.id, name: collector.name });
    const rules = ruleset();
    this.#send({
      type: 'welcome',
      version: collector.version,
      generation: collector.generation,
      site: collector.site,
      through: collector.through,
      limits: { batchBytes: BATCH_BYTES, window: WINDOW, jobs: JOBS_MOST },
      ...(rules === undefined ? {} : { ruleset: rules }),
      time: clock.now(),
    });
    this.#after(HELLO_MS, () => {
      if (this.#state === 'greeted')
        this.close(CloseCode.helloTimeout, 'the generation was not confirmed in time');
    });
  }

  async #confirm({ generation }: Message<'confirm'>, { hello, collector, hands }: Known): Promise<void> {
    if (this.#state !== 'greeted' || generation !== collector.generation)
      throw new Goodbye(CloseCode.badMessage, 'confirm: not the generation of the welcome');
    const confirmed = await this.#deps.identities.confirm(collector, hello, this.clockOffsetMs);
    if (this.#is('closed')) return;
    if (!confirmed) throw new Goodbye(CloseCode.replaced, 'another connection of this collector got further');
    this.#enter('ready');
    this.#link.admitted();
    this.#log.info({ host: hello.hostname, software: hello.software }, 'collector connected');
    this.#deps.onReady(this);
    this.#after(WORKING_MS, () => {
      hands.assume();
      this.offer();
    });
    await this.#sendWatch();
  }

  async #sendWatch(): Promise<void> {
    const { collector } = this;
    if (!collector) return;
    for (const message of await this.#deps.watchList(collector)) this.#send(message);
  }

  #store({ epoch, stream, from, items }: Message<'observations'>): void {
    const known = this.#known;
    if (!known || epoch !== known.hello.epoch)
      throw new Refusal('observations: of another epoch than the hello; connect anew');
    const { id: collectorId, site } = known.collector;
    const run = this.#stores.run(async () => {
      await this.#confirmed;
      if (this.#is('closed')) return;
      const { clockOffsetMs } = this;
      const batch = { collectorId, siteId: site.id, epoch, stream, from, items, clockOffsetMs };
      const { through } = await this.#deps.accept(batch);
      this.#through[stream] = Math.max(this.#through[stream], through);
      this.#send({ type: 'ack', epoch, stream, through });
      reached('acknowledged');
      if (stream === 'state') this.#act(({ hands }) => hands.giveBack(this.#through.state));
      if (known.hands.ended(items)) this.offer();
    });
    if (run === undefined) throw new Goodbye(CloseCode.policy, `more than ${WINDOW} batches without an ack`);
    run.catch((error: unknown) => this.#fail(error));
  }

  #heartbeat({ time, outbox, drops, rssBytes, loopDelayMs }: Message<'heartbeat'>): void {
    const now = this.#clock.now();
    this.#offset.add(time, now, this.#roundTrip);
    this.beat = { at: now, outbox, drops, rssBytes: rssBytes ?? null, loopDelayMs: loopDelayMs ?? null };
    this.#send({ type: 'heartbeat', time: now, echo: time });
  }

  async #newKey(key: Message<'new-key'>, { collector }: Known): Promise<void> {
    if (!(await this.#deps.identities.storeKey(collector.id, this.#nonce, key)))
      throw new Refusal('new-key: not signed by the key it names');
    this.#send({ type: 'key-stored', publicKey: key.publicKey });
  }

  /** What went wrong, and what follows: a strike, a goodbye with its reason, or one without. */
  #fail(error: unknown): void {
    if (this.#is('closed')) return;
    if (error instanceof Refusal) this.#strike(error.message);
    else if (error instanceof Goodbye) this.close(error.code, error.message);
    else if (error instanceof Problem) this.close(CloseCode.tryLater, error.message);
    else {
      this.#log.error({ err: error }, 'a collector could not be served');
      this.close(CloseCode.internal, 'something went wrong on the server');
    }
  }

  /** A message without effect. Strangers have no second try. */
  #strike(reason: string): void {
    this.#strikes += 1;
    this.#log.warn({ reason, strikes: this.#strikes }, 'a message of a collector was refused');
    if (this.#state === 'challenged' || this.#strikes >= STRIKES) this.close(CloseCode.badMessage, reason);
    else this.#send({ type: 'refused', reason: cut(reason, 300) });
  }

  #act(work: (known: Known) => Promise<void>): Promise<void> {
    return this.#inOrder(async () => {
      if (!this.#known) throw new Goodbye(CloseCode.badMessage, 'the welcome has not been said');
      await work(this.#known);
    });
  }

  /** Resolves when it is done, however it ended. */
  async #inOrder(work: () => Promise<void>): Promise<void> {
    const run = this.#acts.run(async () => {
      if (!this.#is('closed')) await work();
    });
    if (run === undefined) this.close(CloseCode.policy, 'too many messages');
    else await run.catch((error: unknown) => this.#fail(error));
  }

  #send(message: ServerMessage): void {
    if (!this.#is('closed')) this.#link.send(JSON.stringify(message));
  }

  #end(): void {
    this.#enter('closed');
    this.#over.abort();
    this.#deps.onClosed(this);
  }

  #enter(next: SessionState): void {
    if (!SESSION_MOVES[next].includes(this.#state))
      throw new Error(`a ${this.#state} session cannot become ${next}`);
    this.#state = next;
  }

  /** For after a wait: the state may be another than the compiler believes. */
  #is = (state: SessionState): boolean => this.#state === state;

  #after(ms: number, task: () => void): void {
    this.#clock.sleep(ms, this.#over.signal).then(task, () => undefined);
  }
}
