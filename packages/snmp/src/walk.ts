/**
 * Reads columns of tables with our own GetBulk loop: several columns side by side in one request, each with its own
 * pointer, which must grow with every answer.
 */
import { compareOid } from '@rollcall/shared/oid';
import pLimit from 'p-limit';
import type { Answer, Reply } from './engine/exchange.ts';
import type { Failure, FailureCode } from './engine/failure.ts';
import type { Session } from './engine/session.ts';
import type { Varbind } from './message/pdu.ts';
import { RequestSize } from './request-size.ts';

/** Why a column was not read to its end. */
export type StopReason = 'not-increasing' | 'row-budget' | 'byte-budget' | 'time-budget' | FailureCode;

/** What one device may cost. Shared by all walks of the device: they count it down. */
export interface WalkBudget {
  /** Most rows of one column. */
  rows: number;
  /** Octets of answers left. */
  bytes: number;
  /** When it ends, monotonic milliseconds. */
  until: number;
}

export interface WalkOptions {
  budget: WalkBudget;
  /** Columns in one request at most. */
  columns?: number;
  /** Requests to the device at once. */
  parallel?: number;
  /** Requests without an answer in a row before the device is given up. */
  giveUpAfter?: number;
  /** Rows expected, if the agent said so (ifNumber). Only spares requests; nothing is allocated by it. */
  expect?: number;
}

export interface WalkEnd {
  /** Every column was read to its end. False: rows that are missing say nothing. */
  complete: boolean;
  /** The first reason why not. */
  reason?: StopReason;
  /** Columns that were not read to their end. */
  stopped: Map<string, StopReason>;
}

export interface WalkedTable extends WalkEnd {
  /** Index (what follows the column in the OID) → column → value. */
  rows: Map<string, Map<string, Varbind>>;
}

const COLUMNS = 10;
const PARALLEL = 2;
const GIVE_UP_AFTER = 5;
/** Each silence in a row makes the next wait longer, up to this many times the first. */
const LONGEST_WAIT = 4;

/** Reads the columns (OIDs of one table or of many) and groups their values by row. */
export async function walkTable(
  session: Session,
  columns: readonly string[],
  options: WalkOptions,
): Promise<WalkedTable> {
  const rows = new Map<string, Map<string, Varbind>>();
  const end = await walk(session, columns, options, (column, index, varbind) => {
    let row = rows.get(index);
    if (!row) {
      row = new Map();
      rows.set(index, row);
    }
    row.set(column, varbind);
  });
  return { ...end, rows };
}

/** Reads the columns and hands every value over as it comes, each column in the order of its indexes. */
export async function walk(
  session: Session,
  columns: readonly string[],
  options: WalkOptions,
  visit: Visit,
): Promise<WalkEnd> {
  const bulk = session.credential.version !== 'v1';
  const pointers = [...new Set(columns)].map(
    (oid): Pointer => ({ oid, under: `${oid}.`, last: oid, index: '', rows: 0, ended: false }),
  );
  const groups = spread(pointers, options.columns ?? COLUMNS);
  const limit = pLimit(options.parallel ?? PARALLEL);
  await limit.map(groups, (group) => new GroupWalk(session, group, options, visit, bulk).run());
  const stopped = new Map<string, StopReason>();
  for (const { oid, reason } of pointers) if (reason) stopped.set(oid, reason);
  const [reason] = stopped.values();
  return reason ? { complete: false, reason, stopped } : { complete: true, stopped };
}

/** One column and how far it was read. */
interface Pointer {
  readonly oid: string;
  /** What every OID of the column begins with. */
  readonly under: string;
  last: string;
  /** What follows the column in `last`; empty before the first row. */
  index: string;
  rows: number;
  ended: boolean;
  reason?: StopReason;
}

/** Groups of nearly the same size, at most `most` each. */
function spread<T>(items: T[], most: number): T[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, i) =>
    items.slice(Math.floor((i * items.length) / count), Math.floor(((i + 1) * items.length) / count)),
  );
}

type Visit = (column: string, index: string, varbind: Varbind) => void;

/** The columns that share requests. */
class GroupWalk {
  readonly #session: Session;
  readonly #options: WalkOptions;
  readonly #visit: Visit;
  readonly #bulk: boolean;
  readonly #size: RequestSize;
  #open: Pointer[];
  /** Columns on which GetBulk fails, to be read alone and row by row. */
  readonly #apart: Pointer[] = [];
  /** Requests in a row that nobody answered. */
  #silent = 0;

  constructor(session: Session, group: Pointer[], options: WalkOptions, visit: Visit, bulk: boolean) {
    this.#session = session;
    this.#options = options;
    this.#visit = visit;
    this.#open = group;
    this.#bulk = bulk;
    this.#size = new RequestSize(group.length, bulk, options.expect);
  }

  async run(): Promise<void> {
    while (this.#open.length > 0) {
      const spent = this.#spent();
      if (spent) {
        this.#stopAll(spent);
        break;
      }
      const asked = this.#open.slice(0, this.#size.columns);
      const repetitions = this.#repetitions(asked);
      const answer = await this.#ask(asked, repetitions);
      if (answer.ok) this.#take(asked, repetitions, answer);
      else this.#onFailure(asked, answer);
      this.#open = this.#open.filter((pointer) => !pointer.ended && !this.#apart.includes(pointer));
    }
    for (const pointer of this.#apart) {
      if (!pointer.ended) {
        await new GroupWalk(this.#session, [pointer], this.#options, this.#visit, false).run();
      }
    }
  }

  #spent(): StopReason | null {
    const { bytes, until } = this.#options.budget;
    if (bytes <= 0) return 'byte-budget';
    return this.#session.engine.clock.monotonic() >= until ? 'time-budget' : null;
  }

  /** No more rows than are left, where that is known; one more shows the end. */
  #repetitions(asked: Pointer[]): number {
    const { expect } = this.#options;
    const { repetitions } = this.#size;
    if (expect === undefined) return repetitions;
    const left = expect + 1 - Math.min(...asked.map((pointer) => pointer.rows));
    return left > 0 ? Math.min(repetitions, left) : repetitions;
  }

  #ask(asked: Pointer[], repetitions: number): Promise<Answer> {
    const oids = asked.map((pointer) => pointer.last);
    // One try of its own: a lost answer is asked for again by the loop, perhaps smaller, and waited for longer.
    const timeoutMs = this.#session.options.timeoutMs * Math.min(1 + this.#silent, LONGEST_WAIT);
    const options = { tries: 1, timeoutMs };
    return this.#bulk
      ? this.#session.getBulk(oids, repetitions, options)
      : this.#session.getNext(oids, options);
  }

  #take(asked: Pointer[], repetitions: number, answer: Reply): void {
    // Now it is known that those before this one were lost.
    if (this.#silent > 0) this.#session.options.pace?.report?.(0, this.#silent);
    this.#silent = 0;
    this.#options.budget.bytes -= answer.bytes;
    const { varbinds } = answer;
    if (varbinds.length === 0) {
      this.#askLess(asked, 'mismatched');
      return;
    }
    for (let i = 0; i < varbinds.length; i++) {
      const pointer = asked[i % asked.length];
      const varbind = varbinds[i];
      if (pointer && varbind && !pointer.ended) this.#advance(pointer, varbind);
    }
    if (varbinds.length >= asked.length * repetitions) this.#size.whole(answer.bytes, answer.rttMs);
    else if (asked.some((pointer) => !pointer.ended)) {
      this.#size.cut(Math.ceil(varbinds.length / asked.length));
    }
  }

  #advance(pointer: Pointer, varbind: Varbind): void {
    const { oid, type } = varbind;
    if (type === 'endOfMibView' || type === 'noSuchObject' || type === 'noSuchInstance') {
      pointer.ended = true;
      return;
    }
    // Most of an OID is its column, which need not be compared again.
    const inside = oid.startsWith(pointer.under);
    const index = inside ? oid.slice(pointer.under.length) : '';
    const grows = inside ? compareOid(index, pointer.index) > 0 : compareOid(oid, pointer.last) > 0;
    if (!grows) {
      stop(pointer, 'not-increasing');
      return;
    }
    if (!inside) {
      pointer.ended = true;
      return;
    }
    if (pointer.rows >= this.#options.budget.rows) {
      stop(pointer, 'row-budget');
      return;
    }
    pointer.rows += 1;
    pointer.last = oid;
    pointer.index = index;
    this.#visit(pointer.oid, index, varbind);
  }

  /** Decides what a failed request means for the columns in it. */
  #onFailure(asked: Pointer[], { code, index }: Failure): void {
    const named = index === undefined ? undefined : asked[index - 1];
    switch (code) {
      case 'timeout':
        this.#timedOut();
        return;
      case 'no-such-name':
        // v1 has no endOfMibView: this is how it says that nothing follows.
        if (named) named.ended = true;
        else if (asked.length === 1 && asked[0]) asked[0].ended = true;
        else this.#askLess(asked, code);
        return;
      case 'gen-err':
      case 'error-status':
        if (named) this.#failed(named, code);
        else this.#askLess(asked, code);
        return;
      case 'too-big':
      case 'malformed':
      case 'mismatched':
        this.#askLess(asked, code);
        return;
      default:
        this.#stopAll(code);
    }
  }

  /** One lost packet means nothing; the second in a row may be the size of the answer. */
  #timedOut(): void {
    this.#silent += 1;
    if (this.#silent >= (this.#options.giveUpAfter ?? GIVE_UP_AFTER)) this.#stopAll('timeout');
    else if (this.#silent % 2 === 0) this.#size.shrink();
  }

  /** Asks for less; when there is no less, gives the column up, or first tries it without GetBulk. */
  #askLess(asked: Pointer[], reason: StopReason): void {
    if (this.#size.shrink()) return;
    for (const pointer of asked) this.#failed(pointer, reason);
  }

  #failed(pointer: Pointer, reason: StopReason): void {
    if (this.#bulk) this.#apart.push(pointer);
    else stop(pointer, reason);
  }

  #stopAll(reason: StopReason): void {
    for (const pointer of [...this.#open, ...this.#apart]) stop(pointer, reason);
    this.#open = [];
  }
}

function stop(pointer: Pointer, reason: StopReason): void {
  pointer.ended = true;
  pointer.reason = reason;
}
