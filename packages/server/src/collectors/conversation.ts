/** The states of a conversation with a collector, the ways between them, and what is heard in each. */
import type { CloseCode, CollectorMessage } from '@rollcall/shared/protocol';

/**
 * - challenged: a nonce was sent; only a hello is heard
 * - greeted: the hello is checked, then answered with a welcome; only its confirmation is heard
 * - ready: the new generation is confirmed; jobs are offered, observations stored
 * - draining: nothing new is offered; what comes in is still stored
 * - closed: for good
 */
export type SessionState = 'challenged' | 'greeted' | 'ready' | 'draining' | 'closed';

/** State → the states it may be entered from. */
export const SESSION_MOVES: Readonly<Record<SessionState, readonly SessionState[]>> = {
  challenged: [],
  greeted: ['challenged'],
  ready: ['greeted'],
  draining: ['ready'],
  closed: ['challenged', 'greeted', 'ready', 'draining'],
};

const WORK = ['working', 'progress', 'outcome', 'observations', 'heartbeat', 'new-key'] as const;
/** Everything else is refused. */
export const HEARD: Readonly<Record<SessionState, readonly CollectorMessage['type'][]>> = {
  challenged: ['hello'],
  greeted: ['confirm', 'heartbeat'],
  ready: WORK,
  draining: WORK,
  closed: [],
};

export type Message<T extends CollectorMessage['type']> = Extract<CollectorMessage, { type: T }>;

/** What a collector last said of itself. */
export interface Beat extends Pick<Message<'heartbeat'>, 'outbox' | 'drops'> {
  /** Unix milliseconds by our clock. */
  at: number;
  rssBytes: number | null;
  loopDelayMs: number | null;
}

/** The transport, as little as a conversation needs of it. */
export interface Link {
  send(frame: string): void;
  close(code: CloseCode, reason: string): void;
  /** The other side is known now: it no longer counts among the strangers. */
  admitted(): void;
  /** Bytes that were sent and not yet taken. */
  readonly buffered: number;
}

/** A message is without effect; the sender is told, and after a few of them sent away. */
export class Refusal extends Error {
  override name = 'Refusal';
}
/** The conversation is over, with a reason for the other side. */
export class Goodbye extends Error {
  override name = 'Goodbye';
  readonly code: CloseCode;
  constructor(code: CloseCode, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** At most so many bytes of UTF-8, cut between characters. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let short = text.slice(0, bytes);
  while (Buffer.byteLength(short) > bytes || /[\ud800-\udbff]$/.test(short)) short = short.slice(0, -1);
  return short;
}
