/** The link to the server: kept up for as long as the collector runs, one connection after the other. */
import type { X509Certificate } from 'node:crypto';
import { Backoff } from '@rollcall/shared/backoff';
import type { Clock } from '@rollcall/shared/clock';
import { CloseCode, type CollectorMessage, PING_MS, SILENCE_MS } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { type Collector, Conversation } from './conversation.ts';
import { isCrossSigned, wasAnotherAuthority } from './cross-signature.ts';
import { type Dialled, dial } from './dial.ts';
import { consequenceOf, type Ending } from './ending.ts';
import { LINK_MOVES, type LinkState } from './states.ts';

/**
 * Between tries to reach a server that does not answer: a try that nobody hears costs nothing, so p95 of the wait after
 * a long outage is 8 s (goal G5). A server that answers with "busy" names its time.
 */
const BACKOFF_MS = { first: 1000, most: 10_000 };
/** Between tries where a person has to act, or the server wants to be left alone. */
const SLOWEST_MS = 30_000;
/** From the first packet to the open socket. */
const CONNECT_MS = 10_000;
/** From the open socket to the welcome. */
const GREETING_MS = 10_000;
/** A link that held so long was a good one: the next failure starts from the shortest wait. */
const STABLE_MS = 30_000;
/** How often the link is checked for silence and time-outs. */
const LOOK_MS = 1000;

export interface LinkDeps {
  collector: Collector;
  clock: Clock;
  log: Logger;
  random?: () => number;
  onState?: (state: LinkState) => void;
}

export class Link {
  readonly #deps: LinkDeps;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  #state: LinkState = 'waiting';
  #conversation: Conversation | undefined;
  #line: Dialled | undefined;
  #heardAt = 0;
  #openedAt = 0;
  #readyAt = 0;
  #saidLast = '';
  /** The next connection is made by the authorities of this host, and the server has to prove that it is the same. */
  #byHost = false;
  readonly #running: Promise<void>;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(BACKOFF_MS, deps.random);
    this.#running = this.#run();
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Sends a message to the server; false when there is no link. */
  send(message: CollectorMessage): boolean {
    return this.#conversation?.send(message) ?? false;
  }

  /** Closes the connection and opens no other. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#line?.close(CloseCode.goingAway, 'the collector stops');
    await this.#running;
    if (this.#state !== 'stopped') this.#enter('stopped');
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const ending = await this.#connect();
      if (this.#stopping.signal.aborted) return;
      const { next, words, usual, tryOtherKey, atLeastMs = 0 } = consequenceOf(ending);
      if (tryOtherKey) this.#deps.collector.tryOtherKey();
      this.#byHost = !this.#byHost && wasAnotherAuthority(ending);
      if (this.#readyAt > 0 && this.#deps.clock.monotonic() - this.#readyAt >= STABLE_MS)
        this.#backoff.reset();
      this.#readyAt = 0;
      this.#logEnd(words, next === 'stop', usual);
      if (next === 'stop') {
        this.#enter('stopped');
        return;
      }
      this.#enter('waiting');
      const wait = next === 'later' ? this.#slowest() : this.#backoff.next();
      await this.#deps.clock.sleep(atLeastMs + wait, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** Somewhere in the upper half of the slowest wait. */
  #slowest(): number {
    return SLOWEST_MS * (0.5 + 0.5 * (this.#deps.random ?? Math.random)());
  }

  /** One connection, from the first packet to its end. */
  async #connect(): Promise<Ending> {
    const { clock, collector, log } = this.#deps;
    this.#enter('connecting');
    this.#heardAt = clock.monotonic();
    this.#openedAt = 0;
    const stopWatching = clock.every(LOOK_MS, () => this.#look());
    const stopBeating = clock.every(PING_MS, () => this.#conversation?.heartbeat());
    try {
      return await new Promise<Ending>((ended) => {
        const { ca, ...rest } = collector.identity();
        const byHost = this.#byHost && ca !== undefined;
        let shown: X509Certificate | undefined;
        const line = dial(byHost || ca === undefined ? rest : { ...rest, ca }, clock, {
          open: (certificate) => {
            shown = certificate;
            this.#openedAt = clock.monotonic();
            this.#heardAt = this.#openedAt;
            this.#enter('challenged');
          },
          frame: (text) => conversation.receive(text),
          heard: () => {
            this.#heardAt = clock.monotonic();
          },
          drained: () => conversation.pump(),
          ended,
        });
        const conversation = new Conversation({
          collector,
          line,
          clock,
          log,
          enter: (phase) => {
            if (phase === 'ready') this.#onReady();
            this.#enter(phase);
          },
          proves: byHost ? (signature) => isCrossSigned(ca, shown, signature) : undefined,
        });
        this.#line = line;
        this.#conversation = conversation;
        if (this.#stopping.signal.aborted) line.cut('the collector stops');
      });
    } finally {
      stopWatching();
      stopBeating();
      this.#conversation?.end();
      this.#conversation = undefined;
      this.#line = undefined;
    }
  }

  #onReady(): void {
    this.#readyAt = this.#deps.clock.monotonic();
    this.#saidLast = '';
    const { server, site, name } = this.#deps.collector.identity();
    this.#deps.log.info({ server, site: site.name, collector: name }, 'linked to the server');
  }

  /** Gives up a connection on which nothing comes, or that leads nowhere. */
  #look(): void {
    const now = this.#deps.clock.monotonic();
    const greeting = this.#state === 'challenged' || this.#state === 'greeting';
    if (this.#state === 'connecting') {
      if (now - this.#heardAt > CONNECT_MS) this.#line?.cut('the server did not open the link in time');
    } else if (now - this.#heardAt > SILENCE_MS)
      this.#line?.cut('nothing was heard of the server for too long');
    else if (greeting && now - this.#openedAt > GREETING_MS)
      this.#line?.cut('the server did not greet in time');
    else this.#conversation?.pump();
  }

  /** The same trouble is logged once, not at every try. */
  #logEnd(words: string, final: boolean, usual: true | undefined): void {
    const again = words === this.#saidLast;
    this.#saidLast = words;
    const level = again ? 'debug' : final ? 'error' : usual ? 'info' : 'warn';
    this.#deps.log[level](words);
  }

  #enter(next: LinkState): void {
    if (next === this.#state) return;
    if (!LINK_MOVES[next].includes(this.#state))
      throw new Error(`a ${this.#state} link cannot become ${next}`);
    this.#state = next;
    this.#deps.onState?.(next);
  }
}
