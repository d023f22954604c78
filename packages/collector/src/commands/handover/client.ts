/** Hands a sweep to the collector that runs on this host: it is warm already, and one cap holds for what both send. */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { SweepAnswer, SweepRequest } from './wire.ts';

/** Where the package's unit has it (RuntimeDirectory=). */
const SOCKET = '/run/rollcall-collector/sweep.sock';
/** Files and ways of this process; its environment may hold settings, too. */
const OWN = /^--(alone|config|engine|community-file|v3-auth-key-file|v3-priv-key-file)(=|$)/;
const SETTING = /^ROLLCALL_COLLECTOR_/;
/** A collector that hangs is not waited for. */
const TAKEN_MS = 2000;

/** Answers the exit code; null when no collector takes it, and this process has to do it. */
export async function handOver([command, ...argv]: readonly string[]): Promise<number | null> {
  if (command !== 'sweep' || argv.some((word) => OWN.test(word))) return null;
  if (Object.keys(process.env).some((name) => SETTING.test(name))) return null;
  const socket = await connected(process.env.ROLLCALL_SOCKET ?? SOCKET);
  if (socket === null) return null;
  const stop = () => socket.write('\n');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    socket.write(`${JSON.stringify(requestOf(argv))}\n`);
    return await shown(socket);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    socket.destroy();
  }
}

/** A socket with somebody at its other end; null without. */
const connected = (path: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    // Once connected its end comes as `close`.
    socket.on('error', () => resolve(null));
  });

function requestOf(argv: string[]): SweepRequest {
  const columns = ({ isTTY, columns: wide }: NodeJS.WriteStream) => (isTTY ? wide || 80 : null);
  const env = Object.entries(process.env).filter(([name]) => name.startsWith('ROLLCALL_'));
  return {
    argv,
    env: Object.fromEntries(env) as Record<string, string>,
    out: columns(process.stdout),
    err: columns(process.stderr),
  };
}

/** Shows what is answered, no faster than it is read, until the exit code; null when it is not taken. */
async function shown(socket: Socket): Promise<number | null> {
  let taken = false;
  const late = setTimeout(() => socket.destroy(), TAKEN_MS);
  // Nobody reads on (`| head`): the sweep may end.
  process.stdout.on('error', () => socket.write('\n'));
  const lines = createInterface({ input: socket });
  socket.on('close', () => lines.close());
  try {
    for await (const line of lines) {
      const answer = JSON.parse(line) as SweepAnswer;
      if ('alone' in answer) return null;
      taken = true;
      clearTimeout(late);
      if ('code' in answer) return answer.code;
      if ('out' in answer) await written(process.stdout, answer.out);
      else if ('err' in answer) await written(process.stderr, answer.err);
    }
  } finally {
    clearTimeout(late);
  }
  if (!taken) return null;
  process.stderr.write(
    'rollcall-collector: the collector ended in the middle of the sweep; --alone does without it\n',
  );
  return 1;
}

const written = (stream: NodeJS.WriteStream, text: string): Promise<void> | undefined =>
  stream.write(text) || stream.destroyed
    ? undefined
    : new Promise((resolve) => {
        for (const event of ['drain', 'error', 'close']) stream.once(event, () => resolve());
      });
