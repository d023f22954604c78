/**
 * Syslog: RFC 5424 messages over UDP (RFC 5426), TCP (RFC 6587, octet counting) and TLS (RFC 5425). It has no answers:
 * what the other side's host took counts as delivered.
 */
import { createSocket } from 'node:dgram';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { CaseStatus } from '@rollcall/shared/model';
import { type Payload, summaryOf } from './message.ts';
import { delivered, failed, messageOf, type Outcome } from './outcome.ts';
import { guardedLookup, parseSyslogTarget } from './ssrf-guard.ts';

/** From the first packet until all is sent and the connection is closed. */
const SYSLOG_MS = 10_000;
/** Who was sent all of it may take this long to close its side. */
const CLOSE_MS = 1_000;
/** RFC 5426 section 3.2: every receiver takes 2048 over UDP; RFC 5425 section 4.3.1: 8192 over TLS. */
const BYTES = { udp: 2048, tcp: 8192, tls: 8192 } as const;
/** RFC 5424 section 6.2.1, for severities 1 (critical) to 5 (info); what is over is a notice. */
const SEVERITIES = [2, 3, 4, 4, 6] as const;
const NOTICE = 5;
/** RFC 5612 keeps this enterprise number for examples: Rollcall has none of its own. */
const STRUCTURED_ID = 'rollcall@32473';

export interface SyslogTarget {
  /** `udp://`, `tcp://` or `tls://`, host and port. */
  url: string;
  facility: number;
  appName: string;
  /** PEM of the authorities to believe instead of those that Node does; empty: those. */
  authority: string;
}

const escaped = (text: string): string => text.replace(/["\\\]]/g, '\\$&').replace(/\p{Cc}+/gu, ' ');
/** PRINTUSASCII, as HOSTNAME and APP-NAME must be. */
const printable = (text: string, most: number): string =>
  text.replace(/[^\x21-\x7e]/g, '').slice(0, most) || '-';

/** One message, cut between characters where the transport takes no more. */
export function syslogMessage(
  payload: Payload,
  { url, facility, appName }: SyslogTarget,
  host = hostname(),
): Buffer {
  const { case: it, site, events, url: link } = payload.data;
  const over = it.status >= CaseStatus.resolved;
  const severity = over ? NOTICE : (SEVERITIES[it.severity - 1] ?? NOTICE);
  const facts = Object.entries({
    case: it.number,
    caseId: it.id,
    site: site.name,
    status: CASE_WORDS[it.status] ?? '',
    url: link ?? '',
  });
  const data = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
  const head = [
    `<${facility * 8 + severity}>1`,
    new Date(payload.timestamp * 1000).toISOString(),
    printable(host, 255),
    printable(appName, 48),
    '-',
    payload.type,
    `[${STRUCTURED_ID}${data.join('')}]`,
  ];
  const text = [summaryOf(payload), ...events.map(({ message }) => message)]
    .join('; ')
    .replace(/\p{Cc}+/gu, ' ');
  // The BOM says that it is UTF-8 (RFC 5424 section 6.4).
  return cut(Buffer.from(`${head.join(' ')} \uFEFF${text}`), BYTES[transportOf(url)]);
}

const CASE_WORDS = ['open', 'investigating', 'resolved', 'closed'];
export const transportOf = (url: string): keyof typeof BYTES => url.slice(0, 3) as keyof typeof BYTES;

function cut(bytes: Buffer, most: number): Buffer {
  let end = Math.min(bytes.length, most);
  // Not within a character: its later bytes begin with 10.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

interface Sending {
  target: SyslogTarget;
  payload: Payload;
  allowPrivate: boolean;
  signal: AbortSignal;
  lookup?: LookupFunction;
}

/** One attempt; never throws. */
export async function sendSyslog({
  target,
  payload,
  allowPrivate,
  signal,
  lookup,
}: Sending): Promise<Outcome> {
  const limit = AbortSignal.timeout(SYSLOG_MS);
  try {
    const { hostname: named, port } = parseSyslogTarget(target.url, allowPrivate);
    const host = named.replace(/^\[|\]$/g, '');
    const place = { host, port: Number(port), lookup: lookup ?? guardedLookup(allowPrivate) };
    const message = syslogMessage(payload, target);
    const both = AbortSignal.any([signal, limit]);
    if (transportOf(target.url) === 'udp') await sendDatagram(message, place);
    else await sendStream(message, place, transportOf(target.url) === 'tls' ? target.authority : null, both);
    return delivered(null);
  } catch (error) {
    if (signal.aborted) return failed('the server was stopped meanwhile');
    return failed(limit.aborted ? `not sent within ${SYSLOG_MS / 1000} s` : messageOf(error));
  }
}

interface Place {
  host: string;
  port: number;
  lookup: LookupFunction;
}

async function sendDatagram(message: Buffer, { host, port, lookup }: Place): Promise<void> {
  const address = await new Promise<string>((resolve, reject) => {
    if (isIP(host)) return resolve(host);
    lookup(host, {}, (error, found) => (error ? reject(error) : resolve(String(found))));
  });
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.send(message, port, address, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    socket.close();
  }
}

/** @param authority null: TCP without TLS */
function sendStream(
  message: Buffer,
  { host, port, lookup }: Place,
  authority: string | null,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { host, port, lookup };
    const socket: Socket =
      authority === null
        ? connect(options)
        : connectTls({
            ...options,
            ...(!isIP(host) && { servername: host }),
            ...(authority !== '' && { ca: authority }),
            minVersion: 'TLSv1.2',
          });
    const stop = () => socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', stop, { once: true });
    let sent = false;
    socket.on('error', reject);
    socket.on('close', () => {
      signal.removeEventListener('abort', stop);
      if (sent) resolve();
      else reject(new Error('the connection was closed before all was sent'));
    });
    socket.resume();
    socket.once(authority === null ? 'connect' : 'secureConnect', () => {
      const frame = Buffer.concat([Buffer.from(`${message.length} `), message]);
      socket.end(frame, () => {
        sent = true;
        setTimeout(() => socket.destroy(), CLOSE_MS).unref();
      });
    });
  });
}
