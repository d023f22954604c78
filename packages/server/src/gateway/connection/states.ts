/** The states of a conversation with a collector, the ways between them, what is heard in each, and its bounds. */
import {
  CloseCode,
  FRAME_BYTES,
  type HeardMessage,
  hearCollectorMessage,
  PROTOCOL_VERSION,
  type ServerMessage,
  type WatchHealth,
} from '@rollcall/shared/protocol';
import { untold } from '@rollcall/shared/wire';
import type { Logger } from 'pino';
import type { Problem } from '../../platform/problem.ts';

export const BOUNDS = {
  /** Messages without effect until the connection is closed. */
  strikes: 3,
  /** Messages at once, and per second from then on: a collector with all its jobs and a full window sends some 80. */
  quota: { burst: 1000, perSecond: 300 },
  /** Messages that may wait for the database, observations apart. */
  acts: 256,
  /** A collector that does not say what it works on is offered jobs after this long. */
  workingMs: 2_000,
  /** Progress of jobs is written this often at most. */
  progressMs: 1_000,
  /** What it is to watch is looked at this often at most: a person who marks devices one by one is one change. */
  watchMs: 500,
  /** No job is offered to a collector that has this much still to read. */
  buffered: 2 * FRAME_BYTES,
  /** A close frame holds a reason of this many bytes (RFC 6455 section 5.5). */
  closeReason: 123,
} as const;

/**
 * - challenged: a nonce was sent; only a hello is heard
 * - greeted: the hello is checked, then answered with a welcome; only its confirmation is heard
 * - confirming: the confirmation is checked; what comes right behind it is heard, and waits for it
 * - ready: the new generation is confirmed; jobs are offered, observations stored
 * - draining: nothing new is offered; what comes in is still stored
 * - superseded: another connection of the same collector was confirmed; nothing is heard until it is clear whose
 * - closed: for good
 */
export type SessionState =
  | 'challenged'
  | 'greeted'
  | 'confirming'
  | 'ready'
  | 'draining'
  | 'superseded'
  | 'closed';

/** State → the states it may be entered from. */
export const SESSION_MOVES: Readonly<Record<SessionState, readonly SessionState[]>> = {
  challenged: [],
  greeted: ['challenged'],
  confirming: ['greeted'],
  ready: ['confirming'],
  draining: ['ready'],
  superseded: ['ready', 'draining'],
  closed: ['challenged', 'greeted', 'confirming', 'ready', 'draining', 'superseded'],
};

const WORK = ['working', 'progress', 'outcome', 'observations', 'heartbeat', 'new-key'] as const;
/** Everything else is refused. */
export const HEARD: Readonly<Record<SessionState, readonly HeardMessage['type'][]>> = {
  challenged: ['hello'],
  greeted: ['confirm', 'heartbeat'],
  confirming: WORK,
  ready: WORK,
  draining: WORK,
  superseded: [],
  closed: [],
};

export type Message<T extends HeardMessage['type']> = Extract<HeardMessage, { type: T }>;

/** The first thing that is said; `successor` as `CollectorDeps` has it. */
export const challengeOf = (nonce: string, time: number, successor: string | undefined): ServerMessage => ({
  type: 'challenge',
  nonce,
  version: PROTOCOL_VERSION,
  time,
  ...(successor === undefined ? {} : { successor }),
});

/** What a collector last said of itself. */
export interface Beat extends Pick<Message<'heartbeat'>, 'outbox' | 'drops'> {
  /** Unix milliseconds by our clock. */
  at: number;
  /** Age of the oldest observation that waits there, milliseconds by its own clock. */
  behindMs: number;
  /** Why it collects nothing; null: it does. */
  paused: string | null;
  rssBytes: number | null;
  loopDelayMs: number | null;
  watch: (Omit<WatchHealth, 'traps'> & { traps: { reason: string | null } }) | null;
  /** Its own, with prefix lengths; null: it tells none. */
  addresses: readonly string[] | null;
}

export const beatOf = (
  { time, outbox, paused, drops, rssBytes, loopDelayMs, watch, addresses }: Message<'heartbeat'>,
  at: number,
): Beat => ({
  at,
  outbox,
  behindMs: outbox.oldest === null ? 0 : Math.max(0, time - outbox.oldest),
  paused: paused ?? null,
  drops,
  rssBytes: rssBytes ?? null,
  loopDelayMs: loopDelayMs ?? null,
  watch: watch ? { ...watch, traps: { ...watch.traps, reason: watch.traps.reason ?? null } } : null,
  addresses: addresses ?? null,
});

/** The transport, as little as a conversation needs of it. */
export interface Link {
  send(frame: string): void;
  close(code: CloseCode, reason: string): void;
  /** The other side is known now: it no longer counts as unauthenticated. */
  admitted(): void;
  /** Whether the other side still answers, with what only this question holds; false after some seconds of silence. */
  answers(): Promise<boolean>;
  /** Bytes that were sent and not yet taken. */
  readonly buffered: number;
}

/** A message is without effect; the sender is told, and after a few of them sent away. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** Nothing is wrong with it but words that this version does not know. */
  readonly newer: boolean;
  constructor(reason: string, newer = false) {
    super(reason);
    this.newer = newer;
  }
}
/** What a frame says. The log is told once what of it this version does not know. */
export function understand(frame: Buffer, told: Set<string>, log: Logger): HeardMessage {
  const parsed = hearCollectorMessage(frame);
  if (!parsed.ok) throw new Refusal(parsed.reason, parsed.newer);
  const unknown = untold(told, parsed.message.type, parsed.unknown);
  if (unknown.length > 0) log.warn({ unknown }, 'a collector says what this version does not know');
  return parsed.message;
}

/** The conversation is over, with a reason for the other side. */
export class CloseSession extends Error {
  override name = 'CloseSession';
  readonly code: CloseCode;
  constructor(code: CloseCode, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** How a conversation ends over an error: what cannot be read comes no better a second time. */
export const closeCodeOf = (error: CloseSession | Problem): CloseCode => {
  if (error instanceof CloseSession) return error.code;
  return error.code === 'invalid_request' ? CloseCode.badMessage : CloseCode.tryLater;
};

/** At most so many bytes of UTF-8, cut between characters. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let short = text.slice(0, bytes);
  while (Buffer.byteLength(short) > bytes || /[\ud800-\udbff]$/.test(short)) short = short.slice(0, -1);
  return short;
}
