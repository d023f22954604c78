/**
 * Arrays of one dimension in PostgreSQL's binary format (`array_recv` in its arrayfuncs.c), for the parameters of bulk
 * statements: written straight into memory outside of the heap. As text, millions of short strings are made first, and
 * PostgreSQL takes them apart again; bench:ingest spent a quarter of its time collecting that garbage.
 */

export type ElementType = 'uuid' | 'text' | 'int' | 'bigint' | 'float8' | 'bool' | 'jsonb' | 'timestamptz';

/** A column of `rows` as a parameter `$n::type[]`; what is missing is NULL. Times are in Unix milliseconds. */
export function arrayOf<Row extends object>(
  type: ElementType,
  rows: readonly Row[],
  column: keyof Row,
): Uint8Array {
  const { oid, size, write } = ELEMENTS[type];
  const out = new Bytes(HEAD_BYTES + rows.length * (4 + size));
  out.int32(rows.length === 0 ? 0 : 1);
  // That there may be NULLs costs nothing where there are none.
  out.int32(1);
  out.int32(oid);
  if (rows.length > 0) {
    out.int32(rows.length);
    out.int32(1);
  }
  for (const row of rows) {
    const value: unknown = row[column];
    if (value === null || value === undefined) out.int32(-1);
    else write(out, value);
  }
  return out.written();
}

/** Dimensions, whether there are NULLs, type, length, first index. */
const HEAD_BYTES = 20;

interface Element {
  /** Of the element's type (pg_type.dat). */
  oid: number;
  /** Bytes of a value, or of one as it usually is. */
  size: number;
  /** Its length and its bytes, as the `recv` function of the type reads them. */
  write: (out: Bytes, value: unknown) => void;
}

/** A value that the type does not hold, with the SQLSTATE by which PostgreSQL would refuse it: the data's fault, not ours. */
class BadValue extends TypeError {
  readonly code: string;

  constructor(code: '22003' | '22008' | '22P02', message: string) {
    super(message);
    this.code = code;
  }
}

/** Whole numbers between these limits, or an error: what does not fit must not come out as another number. */
function whole(value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new BadValue('22003', `${String(value)} is no whole number from ${least} to ${most}`);
}

/** PostgreSQL counts from 2000-01-01, in microseconds. */
const POSTGRES_EPOCH = Date.UTC(2000, 0);

const ELEMENTS: Record<ElementType, Element> = {
  bool: {
    oid: 16,
    size: 1,
    write: (out, value) => {
      out.int32(1);
      out.byte(value === true ? 1 : 0);
    },
  },
  bigint: {
    oid: 20,
    size: 8,
    write: (out, value) => {
      out.int32(8);
      out.int64(whole(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
    },
  },
  int: {
    oid: 23,
    size: 4,
    write: (out, value) => {
      out.int32(4);
      out.int32(whole(value, -0x80000000, 0x7fffffff));
    },
  },
  text: {
    oid: 25,
    size: 20,
    write: (out, value) => out.text(String(value)),
  },
  float8: {
    oid: 701,
    size: 8,
    write: (out, value) => {
      out.int32(8);
      out.float64(Number(value));
    },
  },
  timestamptz: {
    oid: 1184,
    size: 8,
    write: (out, value) => {
      out.int32(8);
      const micros = Math.round((Number(value) - POSTGRES_EPOCH) * 1000);
      if (!(Math.abs(micros) < 2 ** 63)) throw new BadValue('22008', `${String(value)} is no time`);
      out.int64(micros);
    },
  },
  uuid: {
    oid: 2950,
    size: 16,
    write: (out, value) => {
      out.int32(16);
      out.uuid(String(value));
    },
  },
  jsonb: {
    oid: 3802,
    size: 64,
    write: (out, value) => out.text(JSON.stringify(value), JSONB_VERSION),
  },
};
const JSONB_VERSION = 1;

const NO_DIGIT = 255;
/** Values of hexadecimal digits by character code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});

/** Bytes in network order, in memory that grows. Character by character: most texts are shorter than a call is long. */
class Bytes {
  #buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  written(): Uint8Array {
    return this.#buffer.subarray(0, this.#at);
  }
  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#at++] = value;
  }
  int32(value: number): void {
    this.#room(4);
    this.#put(value, this.#at);
    this.#at += 4;
  }
  /** A whole number; of one that doubles do not hold, the nearest that they do. */
  int64(value: number): void {
    this.int32(Math.floor(value / 0x1_0000_0000));
    this.int32(value | 0);
  }
  float64(value: number): void {
    this.#room(8);
    this.#at = this.#buffer.writeDoubleBE(value, this.#at);
  }
  uuid(text: string): void {
    this.#room(16);
    const buffer = this.#buffer;
    let wrong = text.length === 36 ? 0 : NO_DIGIT;
    for (let i = 0; i < 36; i += 2) {
      if (i === 8 || i === 13 || i === 18 || i === 23) i += 1;
      const high = DIGITS[text.charCodeAt(i)] ?? NO_DIGIT;
      const low = DIGITS[text.charCodeAt(i + 1)] ?? NO_DIGIT;
      wrong |= high | low;
      buffer[this.#at++] = (high << 4) | low;
    }
    if (wrong > 15) throw new BadValue('22P02', `${text} is no UUID`);
  }
  /** The length of a text in UTF-8, then the text; `before`: a byte in front of it, counted. */
  text(value: string, before?: number): void {
    this.#room(5 + 3 * value.length);
    const buffer = this.#buffer;
    const start = this.#at;
    let at = start + 4;
    if (before !== undefined) buffer[at++] = before;
    const first = at;
    const { length } = value;
    if (length > SHORT) at += buffer.write(value, at);
    else
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 127) {
          at = first + buffer.write(value, first);
          break;
        }
        buffer[at++] = code;
      }
    this.#put(at - start - 4, start);
    this.#at = at;
  }

  #put(value: number, at: number): void {
    const buffer = this.#buffer;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
  }
  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * this.#buffer.length + bytes);
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
/** Characters up to which that is so. */
const SHORT = 64;
