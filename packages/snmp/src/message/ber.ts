/**
 * BER as SNMP uses it (RFC 3417 section 8, X.690): definite lengths, one-octet tags, no recursion.
 *
 * Reading is tolerant where real agents are sloppy (over-long lengths and integers, unsigned values without their
 * leading zero) and strict where a mistake could be an attack (lengths past the end, indefinite lengths, empty
 * integers). Writing is always minimal.
 */
import { writeOidArcs } from '@rollcall/shared/oid';

/** Why a buffer was refused. */
export type BerFault =
  | 'truncated'
  | 'indefinite-length'
  | 'bad-length'
  | 'bad-integer'
  | 'bad-oid'
  | 'unexpected-tag'
  | 'trailing-data'
  | 'too-big';

/** The only error that leaves this codec. It carries no bytes of the message, so it can be logged. */
export class BerError extends Error {
  readonly code: BerFault;
  constructor(code: BerFault) {
    super(`not valid BER: ${code}`);
    this.name = 'BerError';
    this.code = code;
  }
}

export const Tag = { integer: 0x02, octets: 0x04, null: 0x05, oid: 0x06, sequence: 0x30 } as const;

/** RFC 2578 section 3.5: at most 128 sub-identifiers. */
const MOST_ARCS = 128;
const MAX_ARC = 0xffff_ffff;

/** A cursor over one datagram. `end` is the limit of the element being read; nothing past it is touched. */
export class BerReader {
  readonly bytes: Buffer;
  position: number;
  end: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get done(): boolean {
    return this.position >= this.end;
  }

  /** The next tag, not consumed. */
  peek(): number {
    const tag = this.position < this.end ? this.bytes[this.position] : undefined;
    if (tag === undefined) throw new BerError('truncated');
    return tag;
  }

  /** Consumes tag and length of an element with any tag; afterwards `length` octets follow, all within `end`. */
  header(): { tag: number; length: number } {
    const tag = this.peek();
    this.position += 1;
    return { tag, length: this.#length() };
  }

  /** Consumes tag and length of an element that must have `tag`; returns its length in octets. */
  expect(tag: number): number {
    if (this.peek() !== tag) throw new BerError('unexpected-tag');
    this.position += 1;
    return this.#length();
  }

  /** Narrows the reader to a constructed element; give what it returns to `leave`. */
  enter(tag: number): number {
    const length = this.expect(tag);
    const outer = this.end;
    this.end = this.position + length;
    return outer;
  }

  /** Ends an element that `enter` opened; it must have been read to its end. */
  leave(outer: number): void {
    if (this.position !== this.end) throw new BerError('trailing-data');
    this.end = outer;
  }

  /** INTEGER, also beyond 32 bits where an agent sends one, but never beyond what a number holds exactly. */
  integer(): number {
    return this.signed(this.expect(Tag.integer));
  }

  octets(): Buffer {
    return this.take(this.expect(Tag.octets));
  }

  oid(): string {
    return this.oidContent(this.expect(Tag.oid));
  }

  /** The next `length` octets as a view, not a copy. */
  take(length: number): Buffer {
    const from = this.position;
    if (length > this.end - from) throw new BerError('truncated');
    this.position = from + length;
    return this.bytes.subarray(from, from + length);
  }

  /** Two's complement content of an integer. */
  signed(length: number): number {
    if (length === 0) throw new BerError('bad-integer');
    const { bytes } = this;
    const stop = this.position + length;
    let value = ((bytes[this.position] ?? 0) << 24) >> 24;
    for (let i = this.position + 1; i < stop; i++) value = value * 256 + (bytes[i] ?? 0);
    this.position = stop;
    if (!Number.isSafeInteger(value)) throw new BerError('bad-integer');
    return value;
  }

  /** Content of a Counter32, Gauge32 or TimeTicks. A missing leading zero is read as net-snmp reads it: modulo 2³². */
  unsigned32(length: number): number {
    const value = this.signed(length);
    if (value > 0xffff_ffff || value < -0x8000_0000) throw new BerError('bad-integer');
    return value >>> 0;
  }

  /** Content of a Counter64: modulo 2⁶⁴. */
  unsigned64(length: number): bigint {
    if (length <= 6) return BigInt.asUintN(64, BigInt(this.signed(length)));
    const { bytes } = this;
    let from = this.position;
    const stop = from + length;
    while (stop - from > 8 && bytes[from] === 0) from += 1;
    if (stop - from > 8) throw new BerError('bad-integer');
    let high = ((bytes[this.position] ?? 0) << 24) >> 24 < 0 ? -1 : 0;
    for (; from < stop - 4; from++) high = ((high << 8) | (bytes[from] ?? 0)) >>> 0;
    const low = bytes.readUInt32BE(stop - 4);
    this.position = stop;
    return (BigInt(high >>> 0) << 32n) | BigInt(low);
  }

  /** Content of an OBJECT IDENTIFIER as dotted decimal. Empty content is `0.0`, as agents use it for no value. */
  oidContent(length: number): string {
    if (length === 0) return '0.0';
    const { bytes } = this;
    const stop = this.position + length;
    let position = this.position;
    let end = 0;
    let arcs = 1;
    let arc = 0;
    while (position < stop) {
      const octet = bytes[position++] ?? 0;
      arc = arc * 128 + (octet & 0x7f);
      if (arc > MAX_ARC) throw new BerError('bad-oid');
      if (octet & 0x80) {
        if (position === stop) throw new BerError('bad-oid');
        continue;
      }
      if (arcs === 1) {
        const root = arc < 40 ? 0 : arc < 80 ? 1 : 2;
        end = writeDecimal(root, 0);
        arc -= root * 40;
      }
      oidText[end++] = DOT;
      end = writeDecimal(arc, end);
      if (++arcs > MOST_ARCS) throw new BerError('bad-oid');
      arc = 0;
    }
    this.position = stop;
    // One string at the end: a walk reads more OIDs than anything else, and pieces of text are what it would leave behind.
    return oidText.toString('latin1', 0, end);
  }

  #length(): number {
    const { bytes, end } = this;
    let position = this.position;
    if (position >= end) throw new BerError('truncated');
    let length = bytes[position++] ?? 0;
    if (length >= 0x80) {
      let octets = length & 0x7f;
      if (octets === 0) throw new BerError('indefinite-length');
      if (octets > 4) throw new BerError('bad-length');
      if (octets > end - position) throw new BerError('truncated');
      length = 0;
      while (octets-- > 0) length = length * 256 + (bytes[position++] ?? 0);
    }
    if (length > end - position) throw new BerError('truncated');
    this.position = position;
    return length;
  }
}

const DOT = 46;
const ZERO = 48;
/** Where the text of an OID is put together: every sub-identifier has ten digits and a dot at most. */
const oidText = Buffer.alloc((MOST_ARCS + 1) * 11);

/** Writes a whole number into `oidText` and answers where it ends. */
function writeDecimal(value: number, at: number): number {
  let end = at + 1;
  for (let bound = 10; value >= bound; bound *= 10) end += 1;
  let rest = value;
  for (let i = end - 1; i >= at; i--) {
    const next = Math.floor(rest / 10);
    oidText[i] = ZERO + rest - next * 10;
    rest = next;
  }
  return end;
}

/** Largest UDP payload over IPv4; no message is longer. */
export const MOST_BYTES = 65_507;

/**
 * Writes a message from its end to its start, so that every length is known when it is written and nothing is
 * copied. Write the last element first; `wrap` closes what was written since `mark`.
 */
export class BerWriter {
  readonly #bytes: Buffer;
  #position: number;

  constructor(size = MOST_BYTES) {
    this.#bytes = Buffer.allocUnsafe(size);
    this.#position = size;
  }

  /** Forgets everything written. */
  reset(): this {
    this.#position = this.#bytes.length;
    return this;
  }

  /** Octets written so far; also the argument of `wrap`. */
  mark(): number {
    return this.#bytes.length - this.#position;
  }

  /** A copy of what was written. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#position));
  }

  wrap(tag: number, mark: number): void {
    this.#head(tag, this.mark() - mark);
  }

  raw(content: Uint8Array): void {
    const at = this.#room(content.length);
    this.#bytes.set(content, at);
  }

  octets(tag: number, content: Uint8Array): void {
    this.raw(content);
    this.#head(tag, content.length);
  }

  empty(tag: number): void {
    this.#head(tag, 0);
  }

  /** A whole number of −2³¹ … 2³²−1. */
  integer(tag: number, value: number): void {
    if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0xffff_ffff)
      throw new BerError('bad-integer');
    const mark = this.mark();
    let rest = value;
    let octet: number;
    do {
      octet = rest & 0xff;
      this.#byte(octet);
      rest = Math.floor(rest / 256);
    } while (!((rest === 0 && octet < 0x80) || (rest === -1 && octet >= 0x80)));
    this.#head(tag, this.mark() - mark);
  }

  unsigned64(tag: number, value: bigint): void {
    if (value < 0n || value > 0xffff_ffff_ffff_ffffn) throw new BerError('bad-integer');
    const mark = this.mark();
    let rest = value;
    let octet: number;
    do {
      octet = Number(rest & 0xffn);
      this.#byte(octet);
      rest >>= 8n;
    } while (rest !== 0n || octet >= 0x80);
    this.#head(tag, this.mark() - mark);
  }

  oid(tag: number, oid: string): void {
    const count = writeOidArcs(oid, arcs);
    if (count < 2) throw new BerError('bad-oid');
    const mark = this.mark();
    for (let i = count - 1; i >= 2; i--) this.#arc(arcs[i] ?? 0);
    this.#arc((arcs[0] ?? 0) * 40 + (arcs[1] ?? 0));
    this.#head(tag, this.mark() - mark);
  }

  #arc(arc: number): void {
    this.#byte(arc & 0x7f);
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
      this.#byte(0x80 | (rest & 0x7f));
    }
  }

  #head(tag: number, length: number): void {
    if (length < 0x80) this.#byte(length);
    else {
      let rest = length;
      let octets = 0;
      for (; rest > 0; rest = Math.floor(rest / 256)) {
        this.#byte(rest & 0xff);
        octets += 1;
      }
      this.#byte(0x80 | octets);
    }
    this.#byte(tag);
  }

  #byte(octet: number): void {
    if (this.#position === 0) throw new BerError('too-big');
    this.#position -= 1;
    this.#bytes[this.#position] = octet;
  }

  #room(length: number): number {
    if (length > this.#position) throw new BerError('too-big');
    this.#position -= length;
    return this.#position;
  }
}

const arcs = new Array<number>(MOST_ARCS).fill(0);
