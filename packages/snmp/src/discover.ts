/** First contact: which of many addresses has an SNMP agent that one of the credentials opens, and who it says it is. */

import type { SnmpCredential } from './engine/credential.ts';
import type { SnmpEngine } from './engine/engine.ts';
import type { Answer, AskOptions, Target } from './engine/exchange.ts';
import { type Failure, failure, isRefused } from './engine/failure.ts';
import { Query } from './engine/query.ts';
import { Session } from './engine/session.ts';
import type { Varbind } from './message/pdu.ts';

/** The system group as it came: text is octets (RFC 3418). */
export interface RawSystem {
  sysDescr?: Buffer;
  sysObjectId?: string;
  /** Hundredths of a second. */
  sysUpTime?: number;
  sysContact?: Buffer;
  sysName?: Buffer;
  sysLocation?: Buffer;
  sysServices?: number;
}

const SYSTEM = '1.3.6.1.2.1.1';
export const SYSTEM_OIDS: readonly string[] = [1, 2, 3, 4, 5, 6, 7].map((object) => `${SYSTEM}.${object}.0`);

export interface Candidate {
  /** Canonical text. */
  address: string;
  /** It answered ICMP. */
  alive?: boolean;
  /** Id of the credential that worked last time: tried first. */
  known?: string;
}

export type Found =
  | { address: string; outcome: 'snmp'; credential: SnmpCredential; system: RawSystem; rttMs: number }
  /** An agent is there and refuses every credential; `failure` is what it said to the last one that it refused. */
  | { address: string; outcome: 'snmp-auth-failed'; credential: SnmpCredential; failure: Failure }
  /** Silent to SNMP: `snmp-timeout` when it answered ICMP, else `silent`. */
  | { address: string; outcome: 'snmp-timeout' | 'silent'; failure: Failure }
  /**
   * No credential may be tried any more; so many were not. `failure` is what the agent said to the last one that it refused
   * in this search, if it was asked.
   */
  | { address: string; outcome: 'budget-spent'; untried: number; failure?: Failure }
  | { address: string; outcome: 'error'; failure: Failure };

/** How often an address may still be asked with credentials it did not accept; the day's memory is the caller's. */
export interface Attempts {
  left(address: string): number;
  spend(address: string): void;
  /** A credential was accepted: what was refused before it locks nobody out. */
  accepted(address: string): void;
}

export interface DiscoverOptions extends AskOptions {
  port: number;
  /** In the order in which they are tried. */
  credentials: readonly SnmpCredential[];
  attempts: Attempts;
  /** Addresses in work at once. */
  window?: number;
}

/** One waits for two time-outs of 1.5 s, so these suffice for 2,700 packets a second; each is 2 KB of memory. */
const WINDOW = 4096;
/** Silence of one credential after which the next one is tried besides: well above the round trips of a WAN. */
const STAGGER_MS = 300;
/** Candidates taken in one turn of the event loop. */
const BATCH = 256;

/**
 * Asks every candidate and reports each exactly once, as soon as it is decided, in no order. Candidates are taken from
 * the source only when there is room for them. Resolves when all are decided; after an abort the rest is not reported.
 */
export async function discover(
  engine: SnmpEngine,
  candidates: Iterable<Candidate> | AsyncIterable<Candidate>,
  options: DiscoverOptions,
  found: (result: Found) => void,
): Promise<void> {
  const probe = new Probe(engine, options);
  const window = options.window ?? WINDOW;
  let inWork = 0;
  let taken = 0;
  let most = 0;
  let room: (() => void) | null = null;
  const waitForRoom = (limit: number): Promise<void> | undefined => {
    if (inWork <= limit) return undefined;
    most = limit;
    return new Promise((resolve) => {
      room = resolve;
    });
  };
  for await (const candidate of candidates) {
    // The first packet waits for its turn here, so that probes not yet due never stand in front of other requests.
    const due = options.pace?.take(1, candidate.address);
    if (due) await due;
    if (options.signal?.aborted) break;
    inWork += 1;
    taken += 1;
    void probe.run(candidate).then((result) => {
      inWork -= 1;
      try {
        if (result) found(result);
      } finally {
        if (inWork <= most) room?.();
      }
    });
    await waitForRoom(window - 1);
    if (taken % BATCH === 0) await turn();
  }
  await waitForRoom(0);
  probe.close();
}

/** Lets the sockets be read. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Prepared {
  credential: SnmpCredential;
  query: Query;
}

/** One credential tried at one address. */
interface Tried {
  prepared: Prepared;
  answer: Answer;
  /** Of a v3 try: whether the agent sent its engine id. */
  speaksV3: boolean | null;
}

/** What is known of one address while its credentials are tried. */
class Trial {
  readonly #attempts: Attempts;
  readonly #address: string;
  #refused: { credential: SnmpCredential; failure: Failure } | null = null;
  #silence = failure('timeout');
  speaksV3: boolean | null = null;

  constructor(attempts: Attempts, address: string) {
    this.#attempts = attempts;
    this.#address = address;
  }

  /** No credential may be tried any more. */
  get spent(): boolean {
    return this.#attempts.left(this.#address) <= 0;
  }

  /** The end of the search, null when it was cancelled, undefined when it goes on. */
  judge({ prepared: { credential }, answer, speaksV3 }: Tried): Found | null | undefined {
    const address = this.#address;
    if (answer.ok) {
      this.#attempts.accepted(address);
      return { address, outcome: 'snmp', credential, system: systemOf(answer.varbinds), rttMs: answer.rttMs };
    }
    this.speaksV3 = speaksV3 ?? this.speaksV3;
    if (isRefused(answer.code) || (answer.code === 'timeout' && (this.speaksV3 || this.#refused))) {
      // An agent is there: only now a failed try may count against us on its side. A user that it does not have is no
      // failed authentication: there is no account to lock.
      if (answer.code !== 'unknown-user') this.#attempts.spend(address);
      this.#refused = { credential, failure: answer };
    } else if (answer.code === 'timeout') this.#silence = answer;
    else if (answer.code === 'cancelled' || answer.code === 'closed') return null;
    else return { address, outcome: 'error', failure: answer };
    return undefined;
  }

  /** Nothing is left to try, or `untried` credentials may not be tried. */
  end(alive: boolean | undefined, untried = 0): Found {
    const address = this.#address;
    const refused = this.#refused;
    if (untried > 0) {
      return { address, outcome: 'budget-spent', untried, ...(refused && { failure: refused.failure }) };
    }
    if (refused) return { address, outcome: 'snmp-auth-failed', ...refused };
    return { address, outcome: alive ? 'snmp-timeout' : 'silent', failure: this.#silence };
  }
}

class Probe {
  readonly #engine: SnmpEngine;
  readonly #options: DiscoverOptions;
  /** For the first packet of an address, whose turn has been waited for. */
  readonly #paid: AskOptions;
  readonly #prepared: readonly Prepared[];
  /** What stops the searches that are under way. One listener for all: a signal with thousands warns of a leak. */
  readonly #running = new Set<AbortController>();
  readonly #cancel = () => {
    for (const stop of this.#running) stop.abort();
  };

  constructor(engine: SnmpEngine, options: DiscoverOptions) {
    this.#engine = engine;
    this.#options = options;
    const { timeoutMs, tries, signal, pace } = options;
    this.#paid = { timeoutMs, tries, signal, pace, paid: true };
    this.#prepared = options.credentials.map((credential) => ({
      credential,
      query: new Query(credential, { type: 'get', oids: SYSTEM_OIDS }),
    }));
    options.signal?.addEventListener('abort', this.#cancel);
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#cancel);
  }

  /**
   * Tries the credentials until one works; null when cancelled. Each begins when the one before it was decided or has
   * been silent for STAGGER_MS: an agent does not say that a community is wrong, and waiting out each in turn would
   * take the sum of all time-outs.
   */
  async run({ address, alive, known }: Candidate): Promise<Found | null> {
    const trial = new Trial(this.#options.attempts, address);
    const [only, ...others] = this.#prepared;
    if (only && others.length === 0 && !trial.spent) {
      const found = trial.judge(await this.#try(address, only, this.#paid));
      return found === undefined ? trial.end(alive) : found;
    }
    const rest = [...this.#inOrder(known)];
    const open = new Map<Prepared, Promise<Tried>>();
    const stop = new AbortController();
    this.#running.add(stop);
    if (this.#options.signal?.aborted) stop.abort();
    try {
      let paid = true;
      while (rest.length > 0 || open.size > 0) {
        const next = this.#nextOf(rest, open, trial);
        if (next === 'spent') return trial.end(alive, rest.length);
        if (next) {
          open.set(next, this.#try(address, next, { ...this.#options, signal: stop.signal, paid }));
          paid = false;
        }
        if (open.size === 0) continue;
        const tried = await this.#decided(open, rest.length > 0);
        if (!tried) continue;
        open.delete(tried.prepared);
        const found = trial.judge(tried);
        if (found !== undefined) return found;
      }
      return trial.end(alive);
    } finally {
      this.#running.delete(stop);
      stop.abort();
    }
  }

  /** The next credential to begin with; undefined when it has to wait, `spent` when none may be tried any more. */
  #nextOf(
    rest: Prepared[],
    open: ReadonlyMap<Prepared, unknown>,
    trial: Trial,
  ): Prepared | 'spent' | undefined {
    // Who does not answer discovery does not speak v3, whichever user asks: the first v3 credential finds out.
    const v3Open = [...open.keys()].some(({ credential }) => credential.version === 'v3');
    for (let i = 0; i < rest.length; i++) {
      const next = rest[i];
      if (!next) break;
      if (next.credential.version === 'v3') {
        if (v3Open) continue;
        if (trial.speaksV3 === false) {
          rest.splice(i--, 1);
          continue;
        }
      }
      if (trial.spent) return open.size > 0 ? undefined : 'spent';
      rest.splice(i, 1);
      return next;
    }
    return undefined;
  }

  /** The first try that is decided; undefined when none is within STAGGER_MS and another credential may begin. */
  #decided(open: ReadonlyMap<Prepared, Promise<Tried>>, more: boolean): Promise<Tried | undefined> {
    const tries: Promise<Tried | undefined>[] = [...open.values()];
    if (!more) return Promise.race(tries);
    const timer = new AbortController();
    const late = this.#engine.clock.sleep(STAGGER_MS, timer.signal).then(
      () => undefined,
      () => undefined,
    );
    return Promise.race([...tries, late]).finally(() => timer.abort());
  }

  async #try(address: string, prepared: Prepared, options: AskOptions): Promise<Tried> {
    const { credential, query } = prepared;
    const target = { address, port: this.#options.port };
    const answer = await this.#engine.ask(target, query, options);
    const system = answer.ok ? answer : await this.#insist(target, credential, answer);
    const speaksV3 = credential.version === 'v3' ? this.#engine.engineIdOf(target) !== null : null;
    return { prepared, answer: system, speaksV3 };
  }

  #inOrder(known: string | undefined): readonly Prepared[] {
    const first = known && this.#prepared.find(({ credential }) => credential.id === known);
    return first ? [first, ...this.#prepared.filter((each) => each !== first)] : this.#prepared;
  }

  /** An agent that answers, but not to the whole group at once, is asked for less at a time. */
  async #insist(target: Target, credential: SnmpCredential, refusal: Failure): Promise<Answer> {
    const session = new Session(this.#engine, target, credential, this.#options);
    switch (refusal.code) {
      case 'no-such-name':
      case 'gen-err':
      case 'too-big':
        return session.get(SYSTEM_OIDS);
      case 'malformed':
      case 'mismatched':
      case 'error-status': {
        const answers = await Promise.all(SYSTEM_OIDS.map((oid) => session.get([oid])));
        const good = answers.filter((answer) => answer.ok);
        const [first] = good;
        return first ? { ...first, varbinds: good.flatMap(({ varbinds }) => varbinds) } : refusal;
      }
      default:
        return refusal;
    }
  }
}

function systemOf(varbinds: readonly Varbind[]): RawSystem {
  const system: RawSystem = {};
  for (const varbind of varbinds) {
    const object = SYSTEM_OIDS.indexOf(varbind.oid) + 1;
    if (varbind.type === 'octets') {
      if (object === 1) system.sysDescr = varbind.value;
      else if (object === 4) system.sysContact = varbind.value;
      else if (object === 5) system.sysName = varbind.value;
      else if (object === 6) system.sysLocation = varbind.value;
    } else if (varbind.type === 'oid') {
      if (object === 2) system.sysObjectId = varbind.value;
    } else if (typeof varbind.value === 'number') {
      if (object === 3) system.sysUpTime = varbind.value;
      else if (object === 7) system.sysServices = varbind.value;
    }
  }
  return system;
}
