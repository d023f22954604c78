/** One structured log: JSON lines to stdout, or lines for people on a terminal. */
import { openDatagrams } from '@rollcall/host/systemd/datagrams';
import { journal } from '@rollcall/host/systemd/journal';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { withoutTokens } from '../access/token.ts';
import type { Config } from './config.ts';

export type { Logger } from 'pino';

/** `user:password@` in an address. */
const USERINFO = /:\/\/[^/@\s"]+@/g;
/** Control characters as JSON writes them, apart from line ends and tabs: a device's text must not steer a terminal. */
const ESCAPED_CONTROL = /\\u00(?:[01][0-9a-f]|7f|[89][0-9a-f])|[\u007f-\u009f]/gi;

/**
 * Opens the log. Secrets do not print by their type (`Secret`); errors are written as name, message, code and stack,
 * never with what else a library hung on them; tokens and passwords in addresses are struck out of the finished line
 * besides.
 */
export function openLog(
  { logLevel }: Pick<Config, 'logLevel'>,
  to: { destination?: DestinationStream; terminal?: boolean } = {},
): Logger {
  const terminal = to.terminal ?? process.stdout.isTTY === true;
  const destination =
    to.destination ??
    (terminal
      ? pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' })
      : pino.destination(1));
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: plainError, error: plainError },
      hooks: {
        streamWrite: (line) => {
          const safe = withoutTokens(line).replace(USERINFO, '://***@');
          return terminal ? safe.replace(ESCAPED_CONTROL, '\\ufffd') : safe;
        },
      },
    },
    destination,
  );
}

/** The log of a running service: entries of the journal where systemd keeps what it prints, else as `openLog`. */
export async function openServiceLog(
  config: Pick<Config, 'logLevel'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Logger> {
  const datagrams = env.JOURNAL_STREAM === undefined ? null : await openDatagrams();
  if (!datagrams) return openLog(config);
  return openLog(config, { destination: journal(datagrams, 'rollcall-server', pino.destination(1)) });
}

export interface PlainError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: PlainError;
}

/** What of an error may be logged. A library's error may carry keys, rows or requests in other properties. */
export function plainError(error: unknown, depth = 0): PlainError {
  if (!(error instanceof Error)) return { type: typeof error, message: shorten(String(error)) };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    type: error.name,
    message: shorten(error.message),
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && depth === 0 && { stack: error.stack.slice(0, 4_000) }),
    ...(cause !== undefined && depth < 3 && { cause: plainError(cause, depth + 1) }),
  };
}

const shorten = (text: string): string => (text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text);
