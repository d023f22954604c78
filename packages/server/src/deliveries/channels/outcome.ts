/** What came of one attempt to deliver. */
import type { Recipient } from '@rollcall/shared/api/deliveries';

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
  /** What was answered, where it is asked for. */
  said?: string;
  /** What the receiver calls the message that opened the thread of a case. */
  thread?: string;
}

/** One line of what the other side said. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, ERROR_CHARACTERS);

const NOTHING = { status: null, error: '', retryAfterMs: null, final: false, gone: false };

export const failed = (error: string, more: Partial<Outcome> = {}): Outcome => ({
  ...NOTHING,
  ok: false,
  error: oneLine(error),
  ...more,
});

/** @param status null: the transport has none */
export const delivered = (status: number | null): Outcome => ({ ...NOTHING, ok: true, status });

export const messageOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return message || code || String(error);
};
