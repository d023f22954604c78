/** How a connection ended, and what follows from it. */
import { CloseCode } from '@rollcall/shared/protocol';
import { systemReason } from '../platform/refusal.ts';
import { connectionProblem } from './server-address.ts';

/** What was seen of the end. */
export type Ending =
  /** A close frame, or 1006 for none. */
  | { by: 'close'; code: number; reason: string }
  /** The server answered the handshake with HTTP. */
  | { by: 'http'; status: number; retryAfterMs: number | undefined; location: string | undefined }
  /** There was no connection, or it broke. */
  | { by: 'error'; error: unknown }
  /** Ended by this side, for a reason that is logged. */
  | { by: 'us'; reason: string };

export interface Consequence {
  /** stop: never again. retry: after the next back-off. later: at the slowest back-off, for a person has to act. */
  next: 'stop' | 'retry' | 'later';
  /** Not before, milliseconds. */
  atLeastMs?: number;
  words: string;
  /** Expected in operation: logged at `info`, else at `warn`. */
  usual?: true;
  /** The key that signed was not accepted: another one may be. */
  tryOtherKey?: true;
}

/** Longest wait that a server may ask for. */
const MOST_RETRY_AFTER_MS = 600_000;
/** A server that restarts gets this much time before the crowd is back. */
const RESTART_MS = 1000;
/** One whose database is away gets this much between two tries. */
const BUSY_MS = 1000;

/** Decides what a collector does after a connection ended so. */
export function consequenceOf(ending: Ending): Consequence {
  switch (ending.by) {
    case 'close':
      return ofClose(ending.code, ending.reason);
    case 'http':
      return ofStatus(ending);
    case 'error':
      return {
        next: 'retry',
        words: `cannot reach the server: ${connectionProblem(ending.error) ?? systemReason(ending.error)}`,
      };
    case 'us':
      return { next: 'retry', words: ending.reason };
  }
}

function ofClose(code: number, reason: string): Consequence {
  const said = reason === '' ? '' : ` (${reason})`;
  switch (code) {
    case CloseCode.revoked:
      return {
        next: 'stop',
        words:
          'this collector was revoked: it stops, what it had not delivered stays in its outbox; to use this host again, move the state folder away and join with a new token',
      };
    case CloseCode.quarantined:
      return {
        next: 'later',
        words: `this collector is quarantined${said}: its state folder seems to exist twice; stop the copy and release the collector at the server`,
      };
    case CloseCode.unauthorized:
      return {
        next: 'later',
        tryOtherKey: true,
        words: `the server does not know this collector${said}: was it deleted there, or is this another server?`,
      };
    case CloseCode.version:
      return { next: 'later', words: `no common protocol version${said}: update the older side` };
    case CloseCode.replaced:
      return {
        next: 'later',
        words: 'another connection of this collector replaced this one: is it running twice?',
      };
    case CloseCode.restart:
    case CloseCode.goingAway:
      return { next: 'retry', usual: true, atLeastMs: RESTART_MS, words: `the server restarts${said}` };
    case CloseCode.normal:
      return { next: 'retry', usual: true, words: `the server closed the link${said}` };
    case CloseCode.tryLater:
      return {
        next: 'retry',
        atLeastMs: BUSY_MS,
        words: `the server cannot take us right now${said}`,
      };
    default:
      return { next: 'retry', words: `the link was closed with ${code}${said}` };
  }
}

function ofStatus({ status, retryAfterMs, location }: Extract<Ending, { by: 'http' }>): Consequence {
  if (status === 503 || status === 429) {
    const wait = Math.min(retryAfterMs ?? 0, MOST_RETRY_AFTER_MS);
    return { next: 'retry', atLeastMs: wait, words: `the server is busy (status ${status})` };
  }
  if (status === 401 || status === 403) {
    return { next: 'later', words: `the server, or a proxy before it, refuses the link (status ${status})` };
  }
  if (status >= 300 && status < 400) {
    return {
      next: 'later',
      words: `the server sends us on to ${location ?? 'another address'}, which is not followed: join anew if it moved`,
    };
  }
  return { next: 'later', words: `no Rollcall server answers at this address (status ${status})` };
}

/** `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3), milliseconds from `now`. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
