/**
 * Loaded into a server before its own modules: ends or holds the process when a batch reaches a stage.
 *
 *   CHAOS_STAGE=committed:3        kill -9 the third time that a batch is committed
 *   CHAOS_STAGE=marked:1:hold      stands still there instead, until somebody kills it
 */
import { subscribe } from 'node:diagnostics_channel';
import { STAGES } from '@rollcall/server/kernel/stage';

const [stage, when = '1', what = 'kill'] = (process.env.CHAOS_STAGE ?? '').split(':');
let left = Number(when);

if (stage) {
  subscribe(STAGES, (reached) => {
    if (reached !== stage || --left !== 0) return;
    if (what === 'kill') process.kill(process.pid, 'SIGKILL');
    // The signal is taken by the kernel before this wait ends; holding waits for ever.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
