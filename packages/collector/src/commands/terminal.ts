/** Where a command is given and its answers are shown: this process, or another one on the host. */
import type { Writable } from 'node:stream';

export type Screen = Writable & { isTTY?: boolean; columns?: number | undefined };

export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  stdout: Screen;
  stderr: Screen;
  /** Aborted when the command is to end, or its output is read no more. */
  stop: AbortController;
}

/** This process; SIGINT and SIGTERM end what it does. */
export function ownTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  return { env: process.env, stdout: process.stdout, stderr: process.stderr, stop };
}
