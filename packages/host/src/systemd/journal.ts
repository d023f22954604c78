/**
 * Log lines as entries of the journal with fields of their own (systemd.journal-fields(7), "Native Journal Protocol"):
 * a person reads the message, `journalctl ROLLCALL_SITE=…` and `-p warning` find the rest.
 */
import type { Datagrams } from './datagrams.ts';

const SOCKET = '/run/systemd/journal/socket';
/** Syslog severities (RFC 5424, table 2) of the log's levels. */
const PRIORITIES: Record<string, number> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 };
/** A value longer than this is cut: an entry goes out in one datagram. */
const VALUE_BYTES = 8192;
const FIELDS = 60;
/** Values that are shown behind the message; the rest is found in the fields. */
const SHOWN = 300;

export interface LineSink {
  write(line: string): void;
}

/**
 * Takes the log's JSON lines. A line that the journal does not take (it restarts, its queue is full) goes to `otherwise`.
 * @param identifier name that the journal shows
 */
export function journal(datagrams: Datagrams, identifier: string, otherwise: LineSink): LineSink {
  return {
    write: (line) => {
      const entry = entryOf(line, identifier);
      if (!entry || !datagrams.send(SOCKET, entry)) otherwise.write(line);
    },
  };
}

/** An entry of the journal; null when the line is not an object of JSON. */
export function entryOf(line: string, identifier: string): Buffer | null {
  const record = parsed(line);
  if (!record) return null;
  const { level, time, msg, err, ...rest } = record;
  const shown: string[] = [];
  const parts = [
    field('SYSLOG_IDENTIFIER', identifier),
    field('PRIORITY', String(PRIORITIES[String(level)] ?? PRIORITIES.info)),
  ];
  for (const [key, value] of Object.entries(rest).slice(0, FIELDS)) {
    if (value === undefined || value === null) continue;
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    parts.push(field(`ROLLCALL_${nameOf(key)}`, text));
    shown.push(`${key}=${/[\s"]/.test(text) && typeof value !== 'object' ? JSON.stringify(text) : text}`);
  }
  if (err !== undefined) {
    const { message, stack } = (typeof err === 'object' && err !== null ? err : { message: err }) as {
      message?: unknown;
      stack?: unknown;
    };
    shown.unshift(`(${String(message ?? err)})`);
    parts.push(field('ROLLCALL_ERROR', String(stack ?? message ?? err)));
  }
  const details = shown.join(' ');
  const message = [String(msg ?? ''), details.length > SHOWN ? `${details.slice(0, SHOWN)}…` : details];
  parts.push(field('MESSAGE', message.filter(Boolean).join(' ')));
  return Buffer.concat(parts);
}

/** Names of the journal's fields are upper case, digits and underscores, 64 at most. */
const nameOf = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')
    .slice(0, 50);

/** The binary form, which any value fits: name, line end, length as 64 bits little-endian, value, line end. */
function field(name: string, value: string): Buffer {
  const bytes = Buffer.from(value).subarray(0, VALUE_BYTES);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')]);
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
