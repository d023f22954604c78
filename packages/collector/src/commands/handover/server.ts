/** Takes the sweeps of people at this host into the running collector. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { systemReason } from '../../platform/refusal.ts';
import type { Screen, Terminal } from '../terminal.ts';
import type { SweepAnswer, SweepRequest } from './wire.ts';

const columns = z.int().min(1).max(100_000).nullable();
const sweepRequest: z.ZodType<SweepRequest> = z.strictObject({
  argv: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  out: columns,
  err: columns,
});

export interface Taker {
  /** Performs a sweep and answers its exit code; null: the command has to do it. `begun` says that it does not. */
  perform(argv: readonly string[], terminal: Terminal, begun: () => void): Promise<number | null>;
  log: Logger;
}

/** At once; more do it themselves. */
const MOST = 4;
const MOST_BYTES = 1 << 20;
/** A client must have sent its request by then. */
const ASK_MS = 5000;

/** Listens at a path, for this user and root; a socket left there is replaced. Answers null, and logs why, when it cannot. */
export async function takeSweeps(path: string, taker: Taker): Promise<{ close(): Promise<void> } | null> {
  const sockets = new Set<Socket>();
  let sweeps = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    const hurry = setTimeout(() => socket.destroy(), ASK_MS);
    const stop = new AbortController();
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearTimeout(hurry);
        sockets.delete(socket);
        stop.abort();
      });
    let text = '';
    let asked = false;
    socket.setEncoding('utf8').on('data', (part: string) => {
      if (asked) return stop.abort();
      text += part;
      if (text.length > MOST_BYTES) socket.destroy();
      const end = text.indexOf('\n');
      if (end < 0) return;
      asked = true;
      clearTimeout(hurry);
      if (end + 1 < text.length) stop.abort();
      if (sweeps >= MOST) return leave(socket);
      sweeps += 1;
      void serve(socket, text.slice(0, end), stop, taker).finally(() => {
        sweeps -= 1;
      });
    });
  });
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(path, () => resolve());
    });
    chmodSync(path, 0o600);
  } catch (error) {
    taker.log.warn({ path, reason: systemReason(error) }, 'sweeps by hand are not taken');
    return null;
  }
  return {
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

async function serve(socket: Socket, text: string, stop: AbortController, taker: Taker): Promise<void> {
  const request = parsed(text);
  if (request === null) return leave(socket);
  const terminal: Terminal = {
    env: request.env,
    stdout: new Remote(socket, 'out', request.out),
    stderr: new Remote(socket, 'err', request.err),
    stop,
  };
  const begun = () => {
    taker.log.info('a sweep by hand started');
    say(socket, { taken: true });
  };
  try {
    const code = await taker.perform(request.argv, terminal, begun);
    if (code === null) return leave(socket);
    await Promise.all([terminal.stdout, terminal.stderr].map(ended));
    say(socket, { code });
  } catch (error) {
    taker.log.error({ err: error }, 'a sweep by hand failed');
  }
  socket.end();
}

function parsed(text: string): SweepRequest | null {
  try {
    return sweepRequest.parse(JSON.parse(text));
  } catch {
    return null; // A command of another version.
  }
}

const say = (socket: Socket, answer: SweepAnswer, done?: () => void) =>
  socket.write(`${JSON.stringify(answer)}\n`, () => done?.());
const leave = (socket: Socket) =>
  void socket.end(`${JSON.stringify({ alone: true } satisfies SweepAnswer)}\n`);
const ended = (screen: Screen) => new Promise<void>((resolve) => screen.end(() => resolve()));

/** A standard stream at the other end; writes count as done when they left this process. */
class Remote extends Writable {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly #socket: Socket;
  readonly #key: 'out' | 'err';

  constructor(socket: Socket, key: 'out' | 'err', wide: number | null) {
    super({ decodeStrings: false });
    this.isTTY = wide !== null;
    this.columns = wide ?? undefined;
    this.#socket = socket;
    this.#key = key;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    say(this.#socket, { [this.#key]: String(chunk) } as SweepAnswer, done);
  }
}
