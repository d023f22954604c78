/** One attempt to deliver by HTTP: a signed POST. Never throws; every bound is here. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { delivered, failed, messageOf, type Outcome } from './outcome.ts';
import type { Request } from './request.ts';
import { signatures } from './signature.ts';
import { guardedLookup, parseTarget, TargetRefused } from './ssrf-guard.ts';

/** From the first packet to the end of the answer's head. */
const WEBHOOK_MS = 10_000;
/** Of an answer; more is not read. */
const ANSWER_BYTES = 16 * 1024;
/** Of one that is wanted: chats repeat the text that they were sent, with escapes, more than once. */
const HEARD_BYTES = 64 * 1024;

export interface Webhook {
  id: string;
  request: Request;
  allowPrivate: boolean;
  /** The newest first. */
  secrets: readonly string[];
  /** Unix milliseconds. */
  now: number;
  signal: AbortSignal;
  lookup?: LookupFunction;
  /** The answer is read, too. */
  hears?: boolean;
}

/** What goes over the wire. */
export const bodyOf = ({ body }: Request): string => (typeof body === 'string' ? body : JSON.stringify(body));

/** Posts, signed. Any 2xx is success; redirects are not followed. */
export async function postWebhook(hook: Webhook): Promise<Outcome> {
  let url: URL;
  try {
    url = parseTarget(hook.request.url, hook.allowPrivate);
  } catch (error) {
    return failed(messageOf(error), { final: true });
  }
  const body = bodyOf(hook.request);
  const timestamp = Math.floor(hook.now / 1000);
  const signal = AbortSignal.any([hook.signal, AbortSignal.timeout(WEBHOOK_MS)]);
  try {
    const answer = await post(url, body, {
      lookup: hook.lookup ?? guardedLookup(hook.allowPrivate),
      signal,
      method: hook.request.method ?? 'POST',
      hears: hook.hears ?? false,
      headers: {
        ...hook.request.headers,
        'webhook-id': hook.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures(hook.secrets, { id: hook.id, timestamp, body }),
      },
    });
    return { ...read(answer.head), ...(hook.hears && { said: answer.said }) };
  } catch (error) {
    if (error instanceof TargetRefused) return failed(error.message);
    if (hook.signal.aborted) return failed('the server was stopped meanwhile');
    return failed(signal.aborted ? `no answer within ${WEBHOOK_MS / 1000} s` : messageOf(error));
  }
}

interface Posting {
  lookup: LookupFunction;
  signal: AbortSignal;
  method: string;
  hears: boolean;
  headers: Record<string, string>;
}
interface Answer {
  head: IncomingMessage;
  said: string;
}

function post(url: URL, body: string, { lookup, signal, method, hears, headers }: Posting): Promise<Answer> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
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
      (head) => {
        // Mostly only how it begins is of interest: it may end politely, but not talk on.
        const chunks: Buffer[] = [];
        const most = hears ? HEARD_BYTES : ANSWER_BYTES;
        let bytes = 0;
        head.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (hears) chunks.push(chunk);
          if (bytes > most) head.destroy(new Error(`it answered more than ${most / 1024} KiB`));
        });
        head.on('error', (error) => hears && reject(error));
        head.on('close', () => resolve({ head, said: Buffer.concat(chunks).toString() }));
        if (!hears) resolve({ head, said: '' });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function read(answer: IncomingMessage): Outcome {
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return delivered(status);
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
