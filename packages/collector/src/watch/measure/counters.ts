/**
 * The counters of one device as they were read last: typed arrays, some 110 octets an interface (16 more where something is held back), because a collector
 * watches a quarter of a million of them. Counters of 64 bits stay exact.
 */
import { PORT_COUNTERS, SAMPLE_PORTS, type Samples } from '@rollcall/shared/samples';
import {
  type Between,
  type HeldBack,
  type PortCounters,
  type PortGrowth,
  portGrowth,
  RAW,
  type RawCounter,
  type Shown,
} from './growth.ts';

export type SampledPorts = NonNullable<Samples['ports']>;

/** A row as it was read. */
export class CounterRow implements PortCounters {
  name = '';
  discontinuity = 0;
  /** Present: bit i is counter i of RAW. Wide: that it has 64 bits. */
  present = 0;
  wide = 0;
  readonly values: bigint[] = new Array(RAW.length).fill(0n);

  put(counter: number, { value, wide }: Shown): void {
    this.values[counter] = value;
    this.present |= 1 << counter;
    if (wide) this.wide |= 1 << counter;
    else this.wide &= ~(1 << counter);
  }

  has(counter: number): boolean {
    return (this.present & (1 << counter)) !== 0;
  }

  drop(counter: number): void {
    this.present &= ~(1 << counter);
  }

  shown(counter: RawCounter): Shown | undefined {
    const at = RAW.indexOf(counter);
    return this.has(at)
      ? { value: this.values[at] as bigint, wide: (this.wide & (1 << at)) !== 0 }
      : undefined;
  }
}

/** Room that one interface takes in JSON beside its name, octets: ten numbers of at most 16 digits and a reason. */
const PORT_BYTES = 220;
/** Room of all interfaces of one observation. */
const PORTS_BYTES = 80 * 1024;

const FACTS = 3;
const HELD = 2;
const WIDE_BITS = 16;

/** Names that many devices have, each held once. */
const names = new Map<string, string>();
const NAMES_MOST = 20_000;
function shared(name: string): string {
  const known = names.get(name);
  if (known !== undefined || names.size >= NAMES_MOST) return known ?? name;
  names.set(name, name);
  return name;
}

export class Counters {
  /** When they were read, monotonic milliseconds; null: never. */
  at: number | null = null;
  #names: string[] = [];
  /** FACTS of each interface: ifIndex, discontinuity, and which counters are present (low bits) and wide (high bits). */
  #facts = new Uint32Array();
  #values = new BigUint64Array();
  /** `heldBack` of each interface; empty: none has any, which is usual. */
  #held = new Float64Array();

  /** They say nothing of what comes: the agent began anew. */
  forget(): void {
    this.at = null;
    this.#keep([]);
    this.#held = new Float64Array();
  }

  /**
   * Takes over what was read, and answers how much each counter grew since the last time, in pieces that fit one
   * observation; none where it has no interfaces.
   * @param speedOf of an interface, bit/s, the higher one of both readings
   */
  take(
    read: ReadonlyMap<number, CounterRow>,
    at: number,
    speedOf: (ifIndex: number) => number | undefined,
  ): SampledPorts[] {
    const overMs = this.at === null ? 0 : at - this.at;
    const rows = [...read].sort(([a], [b]) => a - b);
    const sampled = new Sampled();
    const held = new Float64Array(rows.length * HELD);
    for (const [at, [ifIndex, row]] of rows.entries()) {
      const before = this.#at(ifIndex);
      const between: Between = { overMs, speedBps: speedOf(ifIndex) };
      const growth = portGrowth(before < 0 ? null : this.#row(before), row, between, this.#heldBack(before));
      held.set(growth.heldBack, at * HELD);
      sampled.add(ifIndex, row.name, growth);
    }
    this.#keep(rows);
    this.#held = held.some((octets) => octets > 0) ? held : new Float64Array();
    this.at = at;
    return sampled.pieces();
  }

  #keep(rows: readonly (readonly [number, CounterRow])[]): void {
    const count = rows.length;
    if (count !== this.#names.length) {
      this.#facts = new Uint32Array(count * FACTS);
      this.#values = new BigUint64Array(count * RAW.length);
      this.#names = new Array(count).fill('');
    }
    for (const [at, [ifIndex, row]] of rows.entries()) {
      // The text that is held already, where it is the same: the one that was read may then go.
      if (this.#names[at] !== row.name) this.#names[at] = shared(row.name);
      this.#facts.set([ifIndex, row.discontinuity, row.present | (row.wide << WIDE_BITS)], at * FACTS);
      this.#values.set(row.values, at * RAW.length);
    }
  }

  #heldBack(at: number): HeldBack {
    return [this.#held[at * HELD] ?? 0, this.#held[at * HELD + 1] ?? 0];
  }

  #row(at: number): PortCounters {
    const bits = this.#facts[at * FACTS + 2] ?? 0;
    return {
      name: this.#names[at] ?? '',
      discontinuity: this.#facts[at * FACTS + 1] ?? 0,
      shown: (counter) => {
        const bit = RAW.indexOf(counter);
        if ((bits & (1 << bit)) === 0) return undefined;
        const value = this.#values[at * RAW.length + bit] as bigint;
        return { value, wide: (bits & (1 << (bit + WIDE_BITS))) !== 0 };
      },
    };
  }

  /** Position of an ifIndex, -1 where there is none. */
  #at(ifIndex: number): number {
    let [low, high] = [0, this.#names.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#facts[middle * FACTS] as number;
      if (found === ifIndex) return middle;
      if (found < ifIndex) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

/** Interfaces in columns. A column that none of them has is absent. */
class Sampled {
  readonly #pieces: { ifIndex: number[]; name: string[]; growth: PortGrowth[] }[] = [];
  #bytes = Number.POSITIVE_INFINITY;

  add(ifIndex: number, name: string, growth: PortGrowth): void {
    const bytes = PORT_BYTES + Buffer.byteLength(JSON.stringify(name));
    let last = this.#pieces.at(-1);
    if (!last || last.ifIndex.length >= SAMPLE_PORTS || this.#bytes + bytes > PORTS_BYTES) {
      last = { ifIndex: [], name: [], growth: [] };
      this.#pieces.push(last);
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    last.ifIndex.push(ifIndex);
    last.name.push(name);
    last.growth.push(growth);
  }

  pieces(): SampledPorts[] {
    return this.#pieces.map(({ ifIndex, name, growth }) => {
      const ports: SampledPorts = { ifIndex, name };
      for (const counter of PORT_COUNTERS)
        if (growth.some(({ grew }) => grew[counter] !== undefined))
          ports[counter] = growth.map(({ grew }) => grew[counter] ?? null);
      if (growth.some(({ gap }) => gap !== null)) ports.gap = growth.map(({ gap }) => gap);
      return ports;
    });
  }
}
