// The processes that a script starts, and its end: all of them end with it, in reverse order of their start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const WITH_PARENT = new URL('./ends-with-parent.mjs', import.meta.url).href;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** One child has so long from SIGTERM to SIGKILL, and all of the end so long. */
const CHILD_MS = 3_000;
const END_MS = 6_000;

/** Ends with one line that says what to do. */
export class Refusal extends Error {}

const stops = [];
let ending;

export const isEnding = () => ending !== undefined;

/** `stop` is called at the end, before those that came earlier. */
export const atEnd = (stop) => stops.push(stop);

/** Stops everything in reverse order of its start, and exits. */
export function end(code) {
  ending ??= (async () => {
    setTimeout(() => process.exit(code), END_MS).unref();
    for (const stop of stops.reverse())
      await stop().catch((error) => process.stderr.write(`rollcall: while stopping: ${error.message}\n`));
    process.exit(code);
  })();
  return ending;
}

/** Runs `work` until a signal ends it, and says in one line why it could not. */
export async function runUntilSignal(work) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
  try {
    await work();
  } catch (error) {
    if (ending) return;
    process.stderr.write(
      `rollcall: ${error instanceof Refusal || error.name === 'StartError' ? error.message : (error.stack ?? error)}\n`,
    );
    await end(1);
  }
}

/**
 * A node process with a process group of its own: a Ctrl-C reaches the whole terminal group, and children are to be
 * stopped in order. It ends with this process even where that is killed. `exited` is its exit code or signal; `channel`
 * lets it send messages.
 */
export function startChild(args, { stdout = 2, channel = false, env = {} } = {}) {
  const child = spawn(process.execPath, ['--import', WITH_PARENT, ...args], {
    cwd: ROOT,
    stdio: ['ignore', stdout, 'inherit', ...(channel ? ['ipc'] : [])],
    env: { ...process.env, ...env, ROLLCALL_PARENT: String(process.pid) },
    detached: true,
  });
  const exited = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), CHILD_MS);
    await exited;
    clearTimeout(timer);
  };
  atEnd(stop);
  return { child, exited, stop };
}

/** A child that is to run as long as this process. */
export function startService(name, args, options) {
  const { child, exited } = startChild(args, options);
  exited.then((how) => {
    if (ending) return;
    process.stderr.write(`rollcall: the ${name} ended by itself (${how})\n`);
    end(1);
  });
  return child;
}
