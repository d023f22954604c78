import { openDatagrams } from '@rollcall/host/systemd/datagrams';
import { journal } from '@rollcall/host/systemd/journal';
import { type Logger, pino } from 'pino';

/** Log lines: entries of the journal under systemd, readable on a terminal, else JSON on stdout. */
export async function openLog(level: string): Promise<Logger> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const datagrams = process.env.JOURNAL_STREAM === undefined ? null : await openDatagrams();
  if (datagrams) return pino(options, journal(datagrams, 'rollcall-collector', pino.destination(1)));
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  return pino(
    options,
    pretty({ colorize: !process.env.NO_COLOR, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }),
  );
}
