/**
 * What is kept of the interfaces of one device, to see what changed: a few octets each, because a collector
 * watches a quarter of a million of them.
 */
import type { WatchObservation } from '@rollcall/shared/observation';

export type PortFact = NonNullable<WatchObservation['interfaces']>[number];

/** A row as it was read; what is absent was not asked, or not reported. */
export interface PortReading {
  adminStatus?: number;
  operStatus?: number;
  speedBps?: number;
  duplex?: NonNullable<PortFact['duplex']>;
}

const DUPLEX = ['unknown', 'half', 'full'] as const;
/** No value was read yet. */
const NONE = 255;

export class Ports {
  /** Ascending. */
  #indexes = new Float64Array();
  #admin = new Uint8Array();
  #oper = new Uint8Array();
  #duplex = new Uint8Array();
  #speed = new Float64Array();

  get size(): number {
    return this.#indexes.length;
  }

  /** Takes over what was read and answers what of it differs. Rows that a whole reading did not have are forgotten. */
  take(read: ReadonlyMap<number, PortReading>, complete: boolean): PortFact[] {
    this.#fit(read, complete);
    const changed: PortFact[] = [];
    for (const [ifIndex, port] of read) {
      const fact = this.#put(this.#at(ifIndex), port);
      if (fact) changed.push({ ifIndex, ...fact });
    }
    return changed;
  }

  /** Forgets the state of one row: the next reading reports it, whatever it is. */
  doubt(ifIndex: number): void {
    const at = this.#at(ifIndex);
    if (this.#indexes[at] !== ifIndex) return;
    this.#admin[at] = NONE;
    this.#oper[at] = NONE;
  }

  /** Speed of a row, bit/s, where it is known. */
  speedOf(ifIndex: number): number | undefined {
    const at = this.#at(ifIndex);
    const speed = this.#indexes[at] === ifIndex ? this.#speed[at] : undefined;
    return Number.isNaN(speed) ? undefined : speed;
  }

  /** Everything that is known. */
  all(): PortFact[] {
    return Array.from(this.#indexes, (ifIndex, at) => ({ ifIndex, ...this.#fact(at) }));
  }

  #fact(at: number): Omit<PortFact, 'ifIndex'> {
    const [admin = NONE, oper = NONE, speed = Number.NaN] = [
      this.#admin[at],
      this.#oper[at],
      this.#speed[at],
    ];
    const duplex = DUPLEX[this.#duplex[at] ?? NONE];
    return {
      ...(admin === NONE ? {} : { adminStatus: admin }),
      ...(oper === NONE ? {} : { operStatus: oper }),
      ...(Number.isNaN(speed) ? {} : { speedBps: speed }),
      ...(duplex === undefined ? {} : { duplex }),
    };
  }

  #put(at: number, port: PortReading): Omit<PortFact, 'ifIndex'> | null {
    const duplex = port.duplex === undefined ? undefined : DUPLEX.indexOf(port.duplex);
    const state = differs(this.#admin, at, port.adminStatus) || differs(this.#oper, at, port.operStatus);
    const line = differs(this.#speed, at, port.speedBps) || differs(this.#duplex, at, duplex);
    if (!state && !line) return null;
    assign(this.#admin, at, port.adminStatus);
    assign(this.#oper, at, port.operStatus);
    assign(this.#speed, at, port.speedBps);
    assign(this.#duplex, at, duplex);
    const { adminStatus, operStatus, ...rest } = this.#fact(at);
    return {
      ...(adminStatus === undefined ? {} : { adminStatus }),
      ...(operStatus === undefined ? {} : { operStatus }),
      ...(line ? rest : {}),
    };
  }

  /** Position of an ifIndex, or where it would stand. */
  #at(ifIndex: number): number {
    let [low, high] = [0, this.#indexes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#indexes[middle] as number) < ifIndex) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Makes room for exactly the rows there are now. */
  #fit(read: ReadonlyMap<number, PortReading>, complete: boolean): void {
    const known = complete ? [] : [...this.#indexes];
    const missing = [...read.keys()].some((ifIndex) => this.#indexes[this.#at(ifIndex)] !== ifIndex);
    if (!missing && (!complete || read.size === this.size)) return;
    const indexes = Float64Array.from(new Set([...known, ...read.keys()])).sort();
    const before = Array.from(indexes, (ifIndex) => {
      const at = this.#at(ifIndex);
      return this.#indexes[at] === ifIndex ? at : -1;
    });
    const carry = <T extends Uint8Array | Float64Array>(from: T, to: T, none: number): T => {
      for (const [at, old] of before.entries()) to[at] = old < 0 ? none : (from[old] ?? none);
      return to;
    };
    this.#admin = carry(this.#admin, new Uint8Array(indexes.length), NONE);
    this.#oper = carry(this.#oper, new Uint8Array(indexes.length), NONE);
    this.#duplex = carry(this.#duplex, new Uint8Array(indexes.length), NONE);
    this.#speed = carry(this.#speed, new Float64Array(indexes.length), Number.NaN);
    this.#indexes = indexes;
  }
}

const differs = (column: Uint8Array | Float64Array, at: number, value: number | undefined): boolean =>
  value !== undefined && !Object.is(column[at], value);
const assign = (column: Uint8Array | Float64Array, at: number, value: number | undefined): void => {
  if (value !== undefined) column[at] = value;
};

/** Interfaces of one observation. */
const FACTS = 500;

/** States of interfaces in pieces that fit an observation; one that is empty where there are none. */
export function* inObservations(facts: readonly PortFact[]): Generator<PortFact[]> {
  for (let from = 0; from === 0 || from < facts.length; from += FACTS) yield facts.slice(from, from + FACTS);
}
