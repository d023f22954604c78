/** One attempt to deliver: a POST or a mail. Never throws; every bound is here. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Secret } from '@rollcall/shared/secret';
import { createTransport } from 'nodemailer';
import { mailOf, type Payload } from './message.ts';
import { signatures } from './signature.ts';
import { guardedLookup, parseTarget, TargetRefused } from './target.ts';

/** From the first packet to the end of the answer's head. */
export const WEBHOOK_MS = 10_000;
const MAIL_MS = 20_000;
const MAIL_IN_ALL_MS = 60_000;
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
}

const failed = (error: string, more: Partial<Outcome> = {}): Outcome => ({
  ok: false,
  status: null,
  error: error.replace(/\p{Cc}+/gu, ' ').slice(0, ERROR_CHARACTERS),
  retryAfterMs: null,
  final: false,
  gone: false,
  ...more,
});

export interface Webhook {
  id: string;
  url: string;
  allowPrivate: boolean;
  /** The newest first. */
  secrets: readonly string[];
  payload: Payload;
  /** Unix milliseconds. */
  now: number;
  signal: AbortSignal;
  lookup?: LookupFunction;
}

/** Posts a payload, signed. Any 2xx is success; redirects are not followed. */
export async function postWebhook(hook: Webhook): Promise<Outcome> {
  let url: URL;
  try {
    url = parseTarget(hook.url, hook.allowPrivate);
  } catch (error) {
    return failed(messageOf(error), { final: true });
  }
  const body = JSON.stringify(hook.payload);
  const timestamp = Math.floor(hook.now / 1000);
  const signal = AbortSignal.any([hook.signal, AbortSignal.timeout(WEBHOOK_MS)]);
  try {
    const answer = await post(url, body, {
      lookup: hook.lookup ?? guardedLookup(hook.allowPrivate),
      signal,
      headers: {
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

/** Sends one mail to all addresses. */
export async function sendMail(
  server: MailServer,
  addresses: readonly string[],
  id: string,
  payload: Payload,
): Promise<Outcome> {
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    ...(server.user !== '' && { auth: { user: server.user, pass: server.password?.reveal() ?? '' } }),
    connectionTimeout: MAIL_MS,
    greetingTimeout: MAIL_MS,
    socketTimeout: MAIL_MS,
    dnsTimeout: MAIL_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { subject, text, thread } = mailOf(payload);
  // The timeouts above are of silence; one that keeps talking is cut off here.
  const limit = setTimeout(() => transport.close(), MAIL_IN_ALL_MS);
  try {
    const sent = await transport.sendMail({
      from: { name: 'Rollcall', address: server.from },
      to: [...addresses],
      subject,
      text,
      messageId: `<${id}@rollcall>`,
      inReplyTo: thread,
      references: thread,
      // RFC 3834: no answers by machines.
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const refused = (sent.rejected ?? []).map(String);
    if (refused.length > 0)
      return failed(`the mail server refused ${refused.join(', ')}; the others have it`, { final: true });
    return { ok: true, status: 250, error: '', retryAfterMs: null, final: false, gone: false };
  } catch (error) {
    const status = (error as { responseCode?: number }).responseCode ?? null;
    // A permanent refusal (RFC 5321 section 4.2.1) stays one, but for the sign-in, which an administrator mends.
    const final = status !== null && status >= 500 && (error as { code?: string }).code !== 'EAUTH';
    return failed(messageOf(error), { status, final });
  } finally {
    clearTimeout(limit);
    transport.close();
  }
}

const messageOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return message || code || String(error);
};
