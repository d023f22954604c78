/** One attempt to deliver: a POST or a mail. Never throws; every bound is here. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Recipient } from '@rollcall/shared/api/deliveries';
import type { Secret } from '@rollcall/shared/secret';
import { createTransport, type NodemailerError } from 'nodemailer';
import { mailOf, type Payload } from './message.ts';
import { signatures } from './signature.ts';
import { guardedLookup, parseTarget, TargetRefused } from './target.ts';

/** From the first packet to the end of the answer's head. */
export const WEBHOOK_MS = 10_000;
/** Of one silence, and of the whole conversation: a mail server may talk on and never come to the point. */
const MAIL_LIMITS = { silentMs: 20_000, inAllMs: 45_000 };
/** Of an answer; more is not read. */
const ANSWER_BYTES = 16 * 1024;
const ERROR_CHARACTERS = 300;

export interface Outcome {
  ok: boolean;
  /** HTTP status, or reply code of SMTP; null: none came. */
  status: number | null;
  /** Empty when it went well. */
  error: string;
  retryAfterMs: number | null;
  /** Trying again is of no use. */
  final: boolean;
  /** The receiver wants nothing more, ever (410). */
  gone: boolean;
  /** What became of each address that a mail server spoke of. */
  recipients?: readonly Recipient[];
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, ERROR_CHARACTERS);

export const failed = (error: string, more: Partial<Outcome> = {}): Outcome => ({
  ok: false,
  status: null,
  error: oneLine(error),
  retryAfterMs: null,
  final: false,
  gone: false,
  ...more,
});

export interface Webhook {
  id: string;
  request: { url: string; body: unknown; headers?: Record<string, string> };
  allowPrivate: boolean;
  /** The newest first. */
  secrets: readonly string[];
  /** Unix milliseconds. */
  now: number;
  signal: AbortSignal;
  lookup?: LookupFunction;
}

/** Posts as JSON, signed. Any 2xx is success; redirects are not followed. */
export async function postWebhook(hook: Webhook): Promise<Outcome> {
  let url: URL;
  try {
    url = parseTarget(hook.request.url, hook.allowPrivate);
  } catch (error) {
    return failed(messageOf(error), { final: true });
  }
  const body = JSON.stringify(hook.request.body);
  const timestamp = Math.floor(hook.now / 1000);
  const signal = AbortSignal.any([hook.signal, AbortSignal.timeout(WEBHOOK_MS)]);
  try {
    const answer = await post(url, body, {
      lookup: hook.lookup ?? guardedLookup(hook.allowPrivate),
      signal,
      headers: {
        ...hook.request.headers,
        'webhook-id': hook.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures(hook.secrets, { id: hook.id, timestamp, body }),
      },
    });
    return read(answer);
  } catch (error) {
    if (error instanceof TargetRefused) return failed(error.message);
    if (hook.signal.aborted) return failed('the server was stopped meanwhile');
    return failed(signal.aborted ? `no answer within ${WEBHOOK_MS / 1000} s` : messageOf(error));
  }
}

interface Posting {
  lookup: LookupFunction;
  signal: AbortSignal;
  headers: Record<string, string>;
}

function post(url: URL, body: string, { lookup, signal, headers }: Posting): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        lookup,
        signal,
        // A connection of its own: one that is kept was checked for another moment.
        agent: false,
        maxHeaderSize: ANSWER_BYTES,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Rollcall',
          ...headers,
        },
      },
      (answer) => {
        // What it says is of no interest, only how it begins: it may end politely, but not talk on.
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES) answer.destroy();
        });
        answer.on('error', () => undefined);
        resolve(answer);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function read(answer: IncomingMessage): Outcome {
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300)
    return { ok: true, status, error: '', retryAfterMs: null, final: false, gone: false };
  const after = answer.headers['retry-after'] ?? '';
  return failed(
    status >= 300 && status < 400
      ? `answered ${status}: redirects are not followed`
      : status === 410
        ? 'answered 410 Gone: it wants no more'
        : `answered ${status}`,
    {
      status,
      retryAfterMs: /^\d{1,6}$/.test(after) ? Number(after) * 1000 : null,
      final: status === 410,
      gone: status === 410,
    },
  );
}

export interface MailServer {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  user: string;
  password: Secret | null;
  from: string;
}

export interface Mail {
  id: string;
  server: MailServer;
  addresses: readonly string[];
  /** The others have it. Empty: all. */
  only?: readonly string[];
  payload: Payload;
  signal: AbortSignal;
  limits?: typeof MAIL_LIMITS;
  /** PEM of the authorities to believe instead of those that Node does. */
  authorities?: string;
}

/** Sends one mail to all addresses, or only to those that wait for it still. */
export async function sendMail({
  id,
  server,
  addresses,
  only = [],
  payload,
  signal,
  limits: { silentMs, inAllMs } = MAIL_LIMITS,
  authorities,
}: Mail): Promise<Outcome> {
  let written: ReturnType<typeof mailOf>;
  try {
    written = mailOf(payload);
  } catch (error) {
    return failed(`no mail can be written from what is stored of it: ${messageOf(error)}`, { final: true });
  }
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    ...(server.user !== '' && { auth: { user: server.user, pass: server.password?.reveal() ?? '' } }),
    connectionTimeout: silentMs,
    greetingTimeout: silentMs,
    socketTimeout: silentMs,
    dnsTimeout: silentMs,
    socketCloseTimeout: 1_000,
    ...(authorities !== undefined && { tls: { ca: authorities } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const limit = AbortSignal.timeout(inAllMs);
  const tried = only.length > 0 ? only : addresses;
  try {
    const sent = await transport.sendMail({
      // The library's own; its types do not know it yet.
      ...{ signal: AbortSignal.any([signal, limit]) },
      from: { name: 'Rollcall', address: server.from },
      to: [...addresses],
      envelope: { from: server.from, to: [...tried] },
      subject: written.subject,
      text: written.text,
      messageId: `<${id}@rollcall>`,
      inReplyTo: written.thread,
      references: written.thread,
      // RFC 3834: no answers by machines.
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const refusals = sent.rejectedErrors ?? [];
    const recipients = recipientsOf(tried, refusals);
    if (refusals.length > 0) return refusedFor(refusals, recipients, '; the others have it');
    return { ok: true, status: 250, error: '', retryAfterMs: null, final: false, gone: false, recipients };
  } catch (error) {
    if (signal.aborted) return failed('the server was stopped meanwhile');
    if (limit.aborted) return failed(`the mail server took longer than ${inAllMs / 1000} s`);
    const { responseCode: status = null, code, rejectedErrors = [] } = error as NodemailerError;
    if (rejectedErrors.length > 0) return refusedFor(rejectedErrors, recipientsOf(tried, rejectedErrors), '');
    // A permanent refusal of the mail (RFC 5321 section 4.2.1) stays one; what fails before it an administrator mends.
    const final = status !== null && status >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
    const said = messageOf(error);
    const refused = (address: string): Recipient => ({ address, state: 'refused', said: oneLine(said) });
    return failed(said, { status, final, ...(final && { recipients: tried.map(refused) }) });
  } finally {
    transport.close();
  }
}

/** An address as it goes over the wire: its domain in lower case, in ASCII. */
function asSent(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToASCII(address.slice(at));
}

const isDeferral = ({ permanent }: NodemailerError): boolean => permanent === false;

/** What became of each address that was tried, by the refusals of single ones. */
function recipientsOf(tried: readonly string[], refusals: readonly NodemailerError[]): Recipient[] {
  const by = new Map(refusals.map((refusal) => [asSent(refusal.recipient ?? ''), refusal]));
  return tried.map((address): Recipient => {
    const refusal = by.get(asSent(address));
    if (!refusal) return { address, state: 'delivered', said: '' };
    const state = isDeferral(refusal) ? 'deferred' : 'refused';
    return { address, state, said: oneLine(refusal.response ?? refusal.message) };
  });
}

/** Addresses that were refused by themselves: those that may be served later (4xx) are tried again, and only those. */
function refusedFor(
  refusals: readonly NodemailerError[],
  recipients: readonly Recipient[],
  others: string,
): Outcome {
  const later = refusals.filter(isDeferral);
  const never = refusals.filter((refusal) => !isDeferral(refusal));
  const said = (verb: string, of: readonly NodemailerError[]) =>
    of.length === 0 ? [] : [`${verb} ${of.map(({ recipient }) => recipient).join(', ')}: ${of[0]?.response}`];
  return failed(
    `the mail server ${[...said('refused', never), ...said('deferred', later)].join('; it ')}${others}`,
    { status: (later[0] ?? never[0])?.responseCode ?? null, final: later.length === 0, recipients },
  );
}

const messageOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return message || code || String(error);
};
