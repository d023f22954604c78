/** Recordings of agents in snmpsim's `.snmprec` form: one object a line, `OID|TAG|VALUE`. */
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parseOid } from '@rollcall/shared/oid';
import type { Value } from '@rollcall/snmp/message/pdu';
import { type Entry, Mib, type MibSettings } from '../mib.ts';
import { counter32, counter64, gauge32, integer, ipAddress, octets, oid, timeticks } from '../value.ts';

/** A line that could not be served, with its 1-based number. */
export interface RecordingFault {
  line: number;
  reason: 'no tag' | 'bad oid' | 'unknown tag' | 'bad value';
}

export interface Recording {
  entries: Entry[];
  /** Lines that were left out; the first 100 of them. */
  faults: RecordingFault[];
}

const MOST_FAULTS = 100;
const SYS_UP_TIME = '1.3.6.1.2.1.1.3.0';
const HEX = /^(?:[0-9a-fA-F]{2})*$/;
/** BER tag numbers of the format, each with what may follow it. */
const TAG = /^(2|4|5|6|64|65|66|67|68|70)([xe]?)$/;

/**
 * Splits a recording into objects without decoding their values. Order does not matter. A line that is no object is
 * reported and left out: a recording with one bad line is still that device.
 */
export function parseRecording(source: string): Recording {
  const entries: Entry[] = [];
  const faults: RecordingFault[] = [];
  let line = 0;
  let start = 0;
  while (start < source.length) {
    line += 1;
    let end = source.indexOf('\n', start);
    if (end < 0) end = source.length;
    const stop = source.charCodeAt(end - 1) === 13 ? end - 1 : end;
    if (stop > start) {
      const found = parseLine(source, start, stop);
      if (typeof found !== 'string') entries.push(found);
      else if (faults.length < MOST_FAULTS) faults.push({ line, reason: found });
    }
    start = end + 1;
  }
  return { entries, faults };
}

function parseLine(source: string, start: number, end: number): Entry | RecordingFault['reason'] {
  const first = source.indexOf('|', start);
  const second = first < 0 ? -1 : source.indexOf('|', first + 1);
  if (second < 0 || second >= end) return 'no tag';
  const name = source.slice(source.charCodeAt(start) === 46 ? start + 1 : start, first);
  if (!parseOid(name)) return 'bad oid';
  if (!TAG.test(source.slice(first + 1, second))) return 'unknown tag';
  const recorded = source.slice(first + 1, end);
  // Numbers and addresses are checked here, so that decoding later cannot fail; plain text always can be decoded.
  if (source.slice(first + 1, second) !== '4') {
    try {
      decodeValue(recorded);
    } catch {
      return 'bad value';
    }
  }
  return [name, { recorded }];
}

/** Decodes `TAG|VALUE`. Throws a RangeError when the value is not of its tag. */
export function decodeValue(recorded: string): Value {
  const bar = recorded.indexOf('|');
  const form = TAG.exec(recorded.slice(0, bar));
  const raw = recorded.slice(bar + 1);
  const bytes = () => octetsOf(raw, form?.[2] ?? '');
  switch (form?.[1]) {
    case '4':
      return octets(bytes());
    case '2':
      return integer(number(raw, -0x8000_0000, 0xffff_ffff) | 0);
    case '5':
      return { type: 'null', value: null };
    case '6':
      return oid(objectId(raw));
    case '64':
      return ipAddress(address(form[2] ? bytes() : Buffer.from(raw.split('.').map(Number))));
    case '65':
      return counter32(number(raw, 0, 0xffff_ffff));
    case '66':
      return gauge32(number(raw, 0, 0xffff_ffff));
    case '67':
      return timeticks(number(raw, 0, 0xffff_ffff));
    case '68':
      return { type: 'opaque', value: bytes() };
    case '70':
      return counter64(big(raw));
    default:
      throw new RangeError('unknown tag');
  }
}

/** A store that serves the recording; `sysUpTime` goes on from the recorded value. */
export function mibOf(recording: Recording, settings: MibSettings = {}): Mib {
  const mib = new Mib(recording.entries, { ...settings, decode: decodeValue });
  const started = mib.get(SYS_UP_TIME);
  if (started?.type === 'timeticks') {
    const ticks = started.value;
    mib.set(SYS_UP_TIME, (uptime) => timeticks(ticks + uptime * 100));
  }
  return mib;
}

/** Reads `.snmprec` or `.snmprec.gz`. */
export async function readRecording(path: string): Promise<Recording> {
  const bytes = await readFile(path);
  return parseRecording((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'));
}

function octetsOf(raw: string, form: string): Buffer {
  if (form === 'x') {
    if (!HEX.test(raw)) throw new RangeError('not hexadecimal');
    return Buffer.from(raw, 'hex');
  }
  return form === 'e' ? unescaped(raw) : Buffer.from(raw, 'utf8');
}

const ESCAPES: Record<string, number> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, '0': 0 };

/** Python's string escapes: `\xHH`, `\n` …; an unknown one stands for the character behind the backslash. */
function unescaped(raw: string): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', from)) {
    parts.push(Buffer.from(raw.slice(from, at), 'utf8'));
    const hex = /^x([0-9a-fA-F]{2})/.exec(raw.slice(at + 1, at + 4))?.[1];
    const next = raw[at + 1] ?? '\\';
    if (hex) parts.push(Buffer.from(hex, 'hex'));
    else parts.push(ESCAPES[next] === undefined ? Buffer.from(next, 'utf8') : Buffer.of(ESCAPES[next]));
    from = at + (hex ? 4 : 2);
  }
  parts.push(Buffer.from(raw.slice(from), 'utf8'));
  return Buffer.concat(parts);
}

function number(raw: string, least: number, most: number): number {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isInteger(value) || value < least || value > most) {
    throw new RangeError('not a number of this type');
  }
  return value;
}

function big(raw: string): bigint {
  if (!/^\d+$/.test(raw.trim())) throw new RangeError('not a Counter64');
  return BigInt.asUintN(64, BigInt(raw.trim()));
}

function objectId(raw: string): string {
  const trimmed = raw.trim().replace(/^\./, '');
  if (!parseOid(trimmed)) throw new RangeError('not an object identifier');
  return trimmed;
}

function address(bytes: Buffer): string {
  if (bytes.length !== 4) throw new RangeError('not an IpAddress');
  return bytes.join('.');
}
