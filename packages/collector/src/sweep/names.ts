/** Names of addresses by reverse DNS: what the resolvers of this host answer, and what is kept of it. */
import { Resolver } from 'node:dns/promises';
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { Clock } from '@rollcall/shared/clock';
import { parseAddress } from '@rollcall/shared/ip';
import { type ArpRow, hostNameOf } from '@rollcall/shared/observation';
import pLimit from 'p-limit';
import type { Logger } from 'pino';

/** Of sweeps and of tables each: neither waits for the other. */
const AT_ONCE = 64;
/** How long a resolver may take to answer a question; twice as long each time it is repeated. */
const TIMEOUT_MS = 1000;
/**
 * How often a name of a table is asked for: c-ares waits 250 ms alone for a server that was quick lately, and a name that takes
 * longer is told to a later question. Nobody waits for it, as sweeps do, which ask once.
 */
export const TRIES = 3;
/** Answers that say: there is no name. */
const NONE = new Set(['ENOTFOUND', 'ENODATA']);
/** Answers that are one all the same: the resolver is there. */
const REFUSED = new Set(['ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP']);

/** The name of an address, null: it has none. Rejects where no resolver said so in time. */
export type NameOf = (address: string) => Promise<string | null>;

/** Reverse DNS by the resolvers of this host, or by others (`address:port`), until `signal` ends it. */
export function reverseDns({
  servers,
  signal,
  tries = 1,
}: {
  servers?: readonly string[];
  signal?: AbortSignal;
  tries?: number;
} = {}): NameOf {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries });
  if (servers) resolver.setServers(servers);
  signal?.addEventListener('abort', () => resolver.cancel(), { once: true });
  const limit = pLimit(AT_ONCE);
  return (address) =>
    limit(async () => {
      signal?.throwIfAborted();
      try {
        const names = await resolver.resolvePtr(pointerOf(address));
        // Of several always the same one: resolvers answer them in turn.
        return names.flatMap((name) => hostNameOf(name) ?? []).sort()[0] ?? null;
      } catch (error) {
        if (NONE.has(codeOf(error))) return null;
        throw error;
      }
    });
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

/** Where DNS keeps the name of an address: in-addr.arpa (RFC 1035 section 3.5), ip6.arpa (RFC 3596 section 2.5). */
function pointerOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed.ok && parsed.value.family === 6) {
    const digits = parsed.value.value.toString(16).padStart(32, '0');
    return `${[...digits].reverse().join('.')}.ip6.arpa`;
  }
  return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
}

/** How long the name of an address holds, where nobody says otherwise. */
export const NAMES_MS = 12 * 3_600_000;
/** How long it holds at most that an address has no name, or that nobody could say. */
const NO_NAME_MS = 3_600_000;
/** How long after a look-up the next one begins: resolvers refuse hosts that ask too fast. */
const APART_MS = 20;
/** Addresses kept, those of them of one table, and those that wait for their look-up at a time. */
const KEPT = 100_000;
const OF_TABLE = 10_000;
const WAITING = 30_000;
/** Look-ups in a row without any answer, after which it is asked whether the resolvers are there at all. */
const SILENT = 8;
/** Resolvers answer its pointer themselves (RFC 6303 section 4.2): other name servers may be silent. */
const LOOPBACK = '127.0.0.1';
/** How long a resolver that does not answer is left alone. */
const PAUSE_MS = 600_000;
/** How often the log says at most that look-ups were left for later. */
const TELL_MS = 3_600_000;

/** `name` empty: it has none; undefined: nobody could say yet. */
interface Known {
  name: string | undefined;
  at: number;
  /** Whether it was answered when it was asked for last. */
  answered: boolean;
}

export interface AddressNamesDeps {
  clock: Clock;
  log?: Pick<Logger, 'warn'> | undefined;
  nameOf: NameOf;
}

/**
 * Names of the addresses in ARP tables. Nothing waits for a resolver: a table is told with the names that are known by then, the
 * others come with its next reading. An address that another station has now is asked anew.
 */
export class AddressNames {
  readonly #deps: AddressNamesDeps;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Set<string>();
  readonly #limit = pLimit(AT_ONCE);
  #next = Number.NEGATIVE_INFINITY;
  #silent = 0;
  #checking = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #toldSilent = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(deps: AddressNamesDeps) {
    this.#deps = deps;
  }

  /** Begins to look up what is not known or older than `keptMs`. @returns the rows with the names that are known when it is called */
  look(rows: readonly ArpRow[], keptMs = NAMES_MS): () => ArpRow[] {
    if (!this.#isPaused) this.#beginAll(rows, keptMs);
    return () =>
      rows.map((row) => {
        const name = this.#known.get(keyOf(row))?.name;
        return name === undefined ? row : { ...row, name };
      });
  }

  /** Look-ups that are not done yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** What waits for its look-up is let go, and nothing is looked up any more. */
  close(): void {
    this.#pausedUntil = Number.POSITIVE_INFINITY;
    this.#limit.clearQueue();
    this.#waiting.clear();
  }

  get #isPaused(): boolean {
    return this.#deps.clock.monotonic() < this.#pausedUntil;
  }

  /** Of one table no more than its share: an agent may tell any number of addresses that nobody has. */
  #beginAll(rows: readonly ArpRow[], keptMs: number): void {
    if (!this.#hasRoom) this.#forget(keptMs);
    const named = rows.filter(({ address }) => identifiesADevice(address));
    let left = Math.max(0, named.length - OF_TABLE);
    for (const row of named.slice(0, OF_TABLE)) {
      const key = keyOf(row);
      const known = this.#known.get(key);
      if (this.#waiting.has(key) || (known && this.#holds(known, keptMs))) continue;
      if (this.#waiting.size >= WAITING || !(known || this.#hasRoom)) left += 1;
      else {
        this.#waiting.add(key);
        void this.#limit(() => this.#ask(row, key));
      }
    }
    if (left > 0) this.#tellLeft(left);
  }

  get #hasRoom(): boolean {
    return this.#known.size + this.#waiting.size < KEPT;
  }

  #holds({ name, at, answered }: Known, keptMs: number): boolean {
    return this.#deps.clock.monotonic() - at < (name && answered ? keptMs : Math.min(keptMs, NO_NAME_MS));
  }

  /** What nobody asked for lately makes room. */
  #forget(keptMs: number): void {
    for (const [key, known] of this.#known) if (!this.#holds(known, keptMs)) this.#known.delete(key);
  }

  /** Never rejects. */
  async #ask(row: ArpRow, key: string): Promise<void> {
    try {
      if (this.#isPaused) return;
      await this.#turn();
      if (this.#isPaused) return;
      this.#keep(key, (await this.#deps.nameOf(row.address)) ?? '', true);
      this.#heard();
    } catch (error) {
      // What was known of it stays: its name server fails just now.
      this.#keep(key, this.#known.get(key)?.name, false);
      if (REFUSED.has(codeOf(error))) this.#heard();
      else await this.#missed(error);
    } finally {
      this.#waiting.delete(key);
    }
  }

  async #turn(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    const turn = Math.max(this.#next, now);
    this.#next = turn + APART_MS;
    if (turn > now) await this.#deps.clock.sleep(turn - now);
  }

  #keep(key: string, name: string | undefined, answered: boolean): void {
    this.#known.set(key, { name, at: this.#deps.clock.monotonic(), answered });
  }

  #heard(): void {
    this.#silent = 0;
    this.#toldSilent = false;
  }

  /** One zone whose name servers are silent stops nothing; resolvers that are silent themselves are left alone for a while. */
  async #missed(error: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    this.#silent += 1;
    if (this.#silent < SILENT || this.#checking || this.#isPaused) return;
    this.#checking = true;
    const isThere = await this.#deps.nameOf(LOOPBACK).then(
      () => true,
      (failed) => REFUSED.has(codeOf(failed)),
    );
    this.#checking = false;
    if (isThere) return this.#heard();
    if (this.#isPaused) return;
    this.#pausedUntil = clock.monotonic() + PAUSE_MS;
    if (this.#toldSilent) return;
    this.#toldSilent = true;
    log?.warn(
      { err: codeOf(error) },
      'no resolver answers: names of addresses are not looked up for a while',
    );
  }

  #tellLeft(left: number): void {
    const { clock, log } = this.#deps;
    if (clock.monotonic() - this.#toldAt < TELL_MS) return;
    this.#toldAt = clock.monotonic();
    log?.warn(
      { left, waiting: this.#waiting.size, kept: this.#known.size },
      'more names of addresses are to be looked up than are taken at a time: the others later',
    );
  }
}

const keyOf = ({ address, mac }: ArpRow): string => `${address} ${mac}`;
