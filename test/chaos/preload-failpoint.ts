/**
 * Loaded into a server before its own modules: ends or holds the process when a batch reaches a stage, as a file says.
 *
 *   committed:3        kill -9 the third time that a batch is committed, counted from when this was read
 *   marked:1:hold      stands still there instead, until somebody kills it
 *   merged:2:thread    ends the thread that got there, where that is not the main one
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { STAGES } from '@rollcall/server/platform/ops/stage';

const file = process.env.CHAOS_STAGE_FILE;
const LOOK_MS = 20;

if (file) {
  let order = '';
  let [stage, left, what]: [string | undefined, number, string] = ['', 0, ''];
  const look = () => {
    let found = '';
    try {
      found = readFileSync(file, 'utf8').trim();
    } catch {
      // No order.
    }
    if (found === order) return;
    order = found;
    const [name, when = '1', then = 'kill'] = order.split(':');
    [stage, left, what] = [name, Number(when), then];
  };
  look();
  setInterval(look, LOOK_MS).unref();
  subscribe(STAGES, (reached) => {
    if (reached !== stage || --left !== 0) return;
    if (what === 'kill') process.kill(process.pid, 'SIGKILL');
    if (what === 'thread' && !isMainThread) process.exit(1);
    // The signal is taken by the kernel before this wait ends; holding waits for ever.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
