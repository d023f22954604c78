import { type LogDescriptor, type Logger, pino } from 'pino';

/** A log that keeps what is written, from `debug` on. */
export const recordingLog = (lines: LogDescriptor[]): Logger =>
  pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
