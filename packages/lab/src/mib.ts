/** What one agent can be asked: objects in lexicographic order (RFC 3416 section 4.2.2), changeable while it answers. */
import { compareOid, isUnder } from '@rollcall/shared/oid';
import type { Value } from '@rollcall/snmp/message/pdu';

/** A value, a value that moves with the seconds since the agent started, or one still to be read out of a recording. */
export type Cell = Value | ((uptime: number) => Value) | RecordedCell;
/** A value as it stands in a recording (`TAG|VALUE`), decoded when it is asked for: most never are. */
export type RecordedCell = { recorded: string };
export type Entry = [oid: string, cell: Cell];

export interface MibObject {
  oid: string;
  value: Value;
}

/** What an agent needs of a store; tests wrap a sound one. */
export interface View {
  get(oid: string): Value | undefined;
  /** Hands out the objects after `oid`, which need not exist itself, one a call; undefined at the end. */
  after(oid: string): () => MibObject | undefined;
  /** Whether anything lies under `prefix` (or is it): noSuchInstance, else noSuchObject. */
  hasUnder(prefix: string): boolean;
}

export interface MibSettings {
  /** Seconds since the agent started. */
  uptime?: () => number;
  /** Reads recorded cells; without it there must be none. */
  decode?: (recorded: string) => Value;
}

/**
 * A sorted store: two parallel arrays and binary search. A recording of 255,051 objects takes about 60 MB and
 * inserting into it moves pointers only.
 */
export class Mib implements View {
  readonly #oids: string[];
  readonly #cells: Cell[];
  readonly #uptime: () => number;
  readonly #decode: (recorded: string) => Value;

  /** `entries` in any order; of two with the same OID the last one counts. */
  constructor(entries: Iterable<Entry> = [], settings: MibSettings = {}) {
    const sorted = inOrder([...entries]);
    this.#oids = sorted.map(([oid]) => oid);
    this.#cells = sorted.map(([, cell]) => cell);
    this.#uptime = settings.uptime ?? (() => 0);
    this.#decode = settings.decode ?? (() => ({ type: 'null', value: null }));
  }

  get size(): number {
    return this.#oids.length;
  }

  get(oid: string): Value | undefined {
    const at = this.#find(oid);
    return at < 0 ? undefined : this.#at(at)?.value;
  }

  after(oid: string): () => MibObject | undefined {
    const found = this.#find(oid);
    let index = found < 0 ? ~found : found + 1;
    return () => this.#at(index++);
  }

  #at(index: number): MibObject | undefined {
    const oid = this.#oids[index];
    const cell = this.#cells[index];
    if (oid === undefined || cell === undefined) return undefined;
    if (typeof cell === 'function') return { oid, value: cell(this.#uptime()) };
    return { oid, value: 'recorded' in cell ? this.#decode(cell.recorded) : cell };
  }

  hasUnder(prefix: string): boolean {
    const [from, to] = this.#range(prefix);
    return to > from;
  }

  /** Adds or replaces one object. */
  set(oid: string, cell: Cell): void {
    const at = this.#find(oid);
    if (at >= 0) this.#cells[at] = cell;
    else {
      this.#oids.splice(~at, 0, oid);
      this.#cells.splice(~at, 0, cell);
    }
  }

  /** Removes `prefix` and all under it; returns how many objects went. */
  remove(prefix: string): number {
    const [from, to] = this.#range(prefix);
    this.#oids.splice(from, to - from);
    this.#cells.splice(from, to - from);
    return to - from;
  }

  /** The objects under `prefix`, in order; all of them without one. */
  *under(prefix?: string): Generator<MibObject> {
    let index = prefix === undefined ? 0 : this.#range(prefix)[0];
    for (let object = this.#at(index); object; object = this.#at(++index)) {
      if (prefix !== undefined && !isUnder(object.oid, prefix)) return;
      yield object;
    }
  }

  /** Half-open span of positions under `prefix`. */
  #range(prefix: string): [from: number, to: number] {
    const found = this.#find(prefix);
    const from = found < 0 ? ~found : found;
    let low = from;
    let high = this.#oids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isUnder(this.#oids[middle] ?? '', prefix)) low = middle + 1;
      else high = middle;
    }
    return [from, low];
  }

  /** Position of `oid`, or the complement of where it would stand. */
  #find(oid: string): number {
    let low = 0;
    let high = this.#oids.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = compareOid(this.#oids[middle] ?? '', oid);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return ~low;
  }
}

/** Sorted and without doubles; a list that is in order already is only looked at once. */
function inOrder(entries: Entry[]): Entry[] {
  let ordered = true;
  for (let i = 1; i < entries.length && ordered; i++) {
    ordered = compareOid(entries[i - 1]?.[0] ?? '', entries[i]?.[0] ?? '') < 0;
  }
  if (ordered) return entries;
  entries.sort((a, b) => compareOid(a[0], b[0]));
  return entries.filter(([oid], i) => oid !== entries[i + 1]?.[0]);
}
