/**
 * The server's side of one collector's conversation: a state machine that knows no socket (`ws.ts` does). Observations
 * are stored apart, events beside state beside samples, so that a slow store holds up no heartbeat and no lease; all else goes in order.
 * Length: one state machine; in two files nobody would see what may follow what.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import { ofStreams, type Stream } from '@rollcall/shared/observation';
import {
  CloseCode,
  HELLO_MS,
  type HeardMessage,
  PROTOCOL_VERSION,
  PROTOCOL_WATCHES,
  type Ruleset,
  type ServerMessage,
} from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { reached } from '../../platform/ops/stage.ts';
import { Problem } from '../../platform/problem.ts';
import type { Lease } from '../../ports.ts';
import type { CollectorDeps, ForSessions, Jobs } from '../deps.ts';
import type { Hello, Identities } from '../identity.ts';
import { Quota } from '../quota.ts';
import { BoundedQueue } from './bounded-queue.ts';
import { ClockOffset } from './clock-offset.ts';
import { type Gather, Intakes, whenThere } from './intake.ts';
import { type Greeted, JOBS_MOST, LeasedJobs } from './leased-jobs.ts';
import { Paced } from './paced.ts';
import {
  type Beat,
  BOUNDS,
  beatOf,
  CloseSession,
  challengeOf,
  closeCodeOf,
  cut,
  HEARD,
  type Link,
  type Message,
  Refusal,
  SESSION_MOVES,
  type SessionState,
  understand,
} from './states.ts';
import type { Share } from './window.ts';

export interface SessionDeps extends ForSessions {
  identities: Pick<Identities, 'admit' | 'confirm' | 'storeKey'>;
  jobs: Pick<Jobs, 'claim' | 'extend' | 'refuse' | 'giveBack'>;
  /** What a collector that comes now may have under way. */
  share(): Share;
  /** This session is the collector's now; an older one makes room. */
  onReady(session: Session): void;
  onClosed(session: Session): void;
}

export class Session {
  readonly #link: Link;
  readonly #deps: SessionDeps;
  readonly #clock: Clock;
  readonly #peer: { host: string; address: string };
  readonly #nonce = randomBytes(32).toString('base64url');
  readonly #over = new AbortController();
  readonly #quota: Quota;
  readonly #offset = new ClockOffset();
  readonly #intake = new Intakes(
    (stream, gather) => this.#store(stream, gather),
    (error) => this.#fail(error),
  );
  readonly #acts = new BoundedQueue(BOUNDS.acts);
  readonly #challengedAt: number;
  readonly #extend: Paced;
  readonly #rewatch: Paced;
  #log: Logger;
  #state: SessionState = 'challenged';
  #strikes = 0;
  #heardAt: number;
  /** Unknown members that were logged. */
  readonly #told = new Set<string>();
  #known: Greeted | undefined;
  /** Of the transport, milliseconds. */
  #roundTrip = 0;
  /** Its last heartbeat. */
  beat: Beat | undefined;
  #through = ofStreams(() => -1);
  #offering = false;
  /** A person wants another key, and none was named yet. */
  #keyAsked = false;
  #watchList: ReturnType<CollectorDeps['watchList']> | undefined;
  /** When the `confirm` is checked: observations that come right behind it wait for that. */
  #confirmed: Promise<void> | undefined;

  constructor(link: Link, peer: { host: string; address: string }, deps: SessionDeps) {
    this.#link = link;
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#peer = peer;
    this.#log = deps.log.child({ peer: peer.address });
    this.#quota = new Quota(BOUNDS.quota, deps.clock);
    this.#challengedAt = deps.clock.monotonic();
    this.#heardAt = this.#challengedAt;
    const extend = () => this.#act(({ leasedJobs }) => leasedJobs.extend());
    this.#extend = new Paced(BOUNDS.progressMs, deps.clock, this.#over.signal, extend);
    this.#rewatch = new Paced(BOUNDS.watchMs, deps.clock, this.#over.signal, () => this.#sendWatch());
    this.#send(challengeOf(this.#nonce, deps.clock.now(), deps.successor?.()));
    this.#after(HELLO_MS, () => {
      if (this.#state === 'challenged') this.close(CloseCode.helloTimeout, 'no valid hello in time');
    });
  }

  get state(): SessionState {
    return this.#state;
  }
  /** Known from the welcome on. */
  get collector(): { id: string; siteId: string; name: string } | undefined {
    const { collector } = this.#known ?? {};
    return collector && { id: collector.id, siteId: collector.site.id, name: collector.name };
  }
  get clockOffsetMs(): number {
    return this.#offset.offsetMs;
  }

  /** Milliseconds since the other side was heard last. */
  get silentMs(): number {
    return this.#clock.monotonic() - this.#heardAt;
  }

  /** One text frame of the collector. */
  receive(frame: Buffer): void {
    if (this.#gone()) return;
    this.#heardAt = this.#clock.monotonic();
    try {
      if (!this.#quota.take()) throw new CloseSession(CloseCode.policy, 'too many messages');
      const message = understand(frame, this.#told, this.#log);
      if (!HEARD[this.#state].includes(message.type))
        throw new Refusal(`${message.type} is out of place in a ${this.#state} conversation`);
      this.#hear(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The transport measured a round trip. */
  roundTrip(ms: number): void {
    this.#roundTrip = ms;
    this.#heardAt = this.#clock.monotonic();
  }

  /** The transport answered a ping of the collector: it counts as a message. */
  pinged(): void {
    if (!this.#quota.take()) this.close(CloseCode.policy, 'too many messages');
  }

  /** Ends it from this side. */
  close(code: CloseCode, reason: string): void {
    if (this.#state === 'closed') return;
    this.#log.info({ code, reason, state: this.#state }, 'closing a collector link');
    this.#link.close(code, cut(reason, BOUNDS.closeReason));
    this.#end();
  }

  /**
   * Another connection of this collector was confirmed: nothing more is heard on this one. Answers whether somebody is
   * still at its other end. A collector leaves one connection before it opens the next, so then there are two of it.
   */
  async superseded(): Promise<boolean> {
    if (this.#gone()) return false;
    this.#enter('superseded');
    return (await this.#link.answers()) && !this.#is('closed');
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
    await this.#intake.idle();
  }

  /** There may be jobs: claims as many as the collector can take. */
  offer(): void {
    if (this.#state !== 'ready' || !this.#known?.leasedJobs.known || this.#offering) return;
    this.#offering = true;
    this.#act(async ({ leasedJobs }) => {
      this.#offering = false;
      if (this.#state === 'ready' && this.#link.buffered <= BOUNDS.buffered) await leasedJobs.claim();
    });
  }

  /** A lease is over: the collector stops if it still works on it. */
  cancel(lease: Lease): void {
    if (this.#state === 'ready' || this.#state === 'draining') this.#known?.leasedJobs.cancel(lease);
  }
  /** A cancellation may have been missed. */
  recheck(): void {
    if (this.#state === 'ready') this.#act(({ leasedJobs }) => leasedJobs.recheck());
  }
  /** Asks for a new key. */
  rotate(): void {
    if (this.#state !== 'ready') return;
    this.#keyAsked = true;
    this.#send({ type: 'rotate' });
  }
  ruleset(ruleset: Ruleset): void {
    if (this.#state === 'ready') this.#send({ type: 'ruleset', ruleset });
  }
  /** What it is to watch may have changed. */
  watch(): void {
    if (this.#state === 'ready') this.#rewatch.run();
  }

  #hear(message: HeardMessage): void {
    switch (message.type) {
      case 'hello':
        this.#enter('greeted');
        this.#inOrder(() => this.#greet(message));
        break;
      case 'confirm':
        this.#enter('confirming');
        this.#confirmed = this.#act((known) => this.#confirm(message, known));
        break;
      case 'working':
        this.#act(async ({ leasedJobs }) => {
          await leasedJobs.reconcile(message.jobs, this.#through.state);
          this.offer();
        });
        break;
      case 'progress':
        this.#known?.leasedJobs.note(message);
        this.#extend.run();
        break;
      case 'outcome':
        this.#act(async ({ leasedJobs }) => {
          await leasedJobs.refuse(message, message);
          this.offer();
        });
        break;
      case 'observations':
        this.#observations(message);
        break;
      case 'heartbeat':
        this.#heartbeat(message);
        break;
      case 'new-key':
        this.#act((known) => this.#newKey(message, known));
        break;
      default:
        message satisfies never;
    }
  }

  async #greet(hello: Hello): Promise<void> {
    const { clock, identities, jobs, credentialsFor, ruleset } = this.#deps;
    this.#roundTrip = clock.monotonic() - this.#challengedAt;
    this.#offset.add(hello.time, clock.now(), this.#roundTrip);
    const admission = await identities.admit(hello, { nonce: this.#nonce, host: this.#peer.host });
    if (this.#is('closed')) return;
    if (!admission.ok) throw new CloseSession(admission.code, admission.reason);
    const { collector } = admission;
    const { capacity, last } = hello;
    const owner = { ...collector, siteId: collector.site.id, capacity, lastState: last.state };
    const leasedJobs = new LeasedJobs(owner, {
      jobs,
      credentialsFor,
      send: (message) => this.#send(message),
    });
    this.#known = { hello, collector, leasedJobs, share: this.#deps.share() };
    this.#through = { ...collector.through };
    this.#log = this.#log.child({ collector: collector.id, name: collector.name });
    const rules = ruleset();
    this.#send({
      type: 'welcome',
      version: collector.version,
      generation: collector.generation,
      site: collector.site,
      through: collector.through,
      limits: { ...this.#known.share, jobs: JOBS_MOST },
      ...(rules === undefined ? {} : { ruleset: rules }),
      time: clock.now(),
    });
    this.#after(HELLO_MS, () => {
      if (this.#is('greeted') || this.#is('confirming'))
        this.close(CloseCode.helloTimeout, 'the generation was not confirmed in time');
    });
  }

  async #confirm(
    { generation }: Message<'confirm'>,
    { hello, collector, leasedJobs }: Greeted,
  ): Promise<void> {
    if (generation !== collector.generation)
      throw new CloseSession(CloseCode.badMessage, 'confirm: not the generation of the welcome');
    const confirmed = await this.#deps.identities.confirm(collector, hello, {
      clockOffsetMs: this.clockOffsetMs,
      address: this.#peer.address,
    });
    if (this.#is('closed')) return;
    if (!confirmed)
      throw new CloseSession(CloseCode.replaced, 'another connection of this collector got further');
    this.#enter('ready');
    this.#link.admitted();
    this.#log.info({ host: hello.hostname, software: hello.software }, 'collector connected');
    this.#deps.onReady(this);
    this.#after(BOUNDS.workingMs, () => {
      leasedJobs.assume();
      this.offer();
    });
    if (collector.version >= PROTOCOL_WATCHES)
      this.#watchList = this.#deps.watchList({ id: collector.id, siteId: collector.site.id });
    this.#rewatch.run();
  }
  #sendWatch(): Promise<void> {
    return this.#act(async () => {
      for (const message of (await this.#watchList?.()) ?? []) this.#send(message);
    });
  }

  #observations({ epoch, stream, ...batch }: Message<'observations'>): void {
    if (epoch !== this.#known?.hello.epoch)
      throw new Refusal('observations: of another epoch than the hello; connect anew');
    if (this.#intake.depth >= this.#known.share.window)
      throw new CloseSession(
        CloseCode.policy,
        `more than ${this.#known.share.window} batches without an ack`,
      );
    this.#intake.add(stream, batch);
  }

  async #store(stream: Stream, gather: Gather): Promise<void> {
    await this.#confirmed;
    if (this.#gone() || !this.#known) return;
    const { collector, hello, leasedJobs } = this.#known;
    const whose = { collectorId: collector.id, siteId: collector.site.id, epoch: hello.epoch, stream };
    const waiting = { ...whose, gather, clockOffsetMs: this.clockOffsetMs };
    const lost = () => this.#gone() || gather().some(({ frame }) => frame.byteLength === 0);
    const { through, ended } = await whenThere(this.#clock, lost, () => this.#deps.accept(waiting));
    this.#through[stream] = Math.max(this.#through[stream], through);
    this.#send({ type: 'ack', epoch: hello.epoch, stream, through });
    reached('acknowledged');
    if (stream === 'state') this.#act(() => leasedJobs.giveBack(this.#through.state));
    if (leasedJobs.ended(ended)) this.offer();
  }

  #heartbeat(message: Message<'heartbeat'>): void {
    const now = this.#clock.now();
    this.#offset.add(message.time, now, this.#roundTrip);
    this.beat = beatOf(message, now);
    this.#send({ type: 'heartbeat', time: now, echo: message.time });
  }

  async #newKey(key: Message<'new-key'>, { collector }: Greeted): Promise<void> {
    // Else the holder of a copied key would change it and be the only one.
    if (!this.#keyAsked) throw new Refusal('new-key: nobody asked for one');
    if (!(await this.#deps.identities.storeKey(collector.id, this.#nonce, key)))
      throw new Refusal('new-key: not signed by the key it names');
    this.#keyAsked = false;
    this.#send({ type: 'key-stored', publicKey: key.publicKey });
  }

  /** What went wrong, and what follows: a strike, or a close with its reason or with none. */
  #fail(error: unknown): void {
    if (this.#gone()) return;
    if (error instanceof Refusal) this.#refuse(error);
    else if (error instanceof CloseSession || error instanceof Problem)
      this.close(closeCodeOf(error), error.message);
    else {
      this.#log.error({ err: error }, 'a collector could not be served');
      this.close(CloseCode.internal, 'something went wrong on the server');
    }
  }

  /** A message without effect. Before the hello one ends it; a newer collector is not to blame for what is unknown here. */
  #refuse({ message: reason, newer }: Refusal): void {
    if (!newer || (this.#known?.hello.version ?? 0) <= PROTOCOL_VERSION) this.#strikes += 1;
    this.#log.warn({ reason, strikes: this.#strikes }, 'a message of a collector was refused');
    if (this.#state === 'challenged' || this.#strikes >= BOUNDS.strikes)
      this.close(CloseCode.badMessage, reason);
    else this.#send({ type: 'refused', reason: cut(reason, 300) });
  }

  #act(work: (known: Greeted) => Promise<void>): Promise<void> {
    return this.#inOrder(async () => {
      const known = this.#known;
      if (!known) throw new CloseSession(CloseCode.badMessage, 'the welcome has not been said');
      if (this.#state === 'confirming') await work(known);
      else await whenThere(this.#clock, this.#gone, () => work(known));
    });
  }

  /** Resolves when it is done, however it ended. */
  async #inOrder(work: () => Promise<void>): Promise<void> {
    const run = this.#acts.run(async () => {
      if (!this.#gone()) await work();
    });
    if (run === undefined) this.close(CloseCode.policy, 'too many messages');
    else await run.catch((error: unknown) => this.#fail(error));
  }

  #send(message: ServerMessage): void {
    if (!this.#is('closed')) this.#link.send(JSON.stringify(message));
  }

  #end(): void {
    this.#enter('closed');
    // It comes again with the next connection; until then it must keep no place that a living one could have.
    this.#intake.bar();
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
  /** Nothing is done any more for what came in. */
  #gone = (): boolean => this.#is('closed') || this.#is('superseded');

  #after(ms: number, task: () => void): void {
    this.#clock.sleep(ms, this.#over.signal).then(task, () => undefined);
  }
}
