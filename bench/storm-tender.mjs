// Decides what is due, in a thread beside ingest as in the server. Told to stop, it says how long its rounds and statements took.
import { parentPort, workerData } from 'node:worker_threads';
import { createRecorder } from '@rollcall/server/incidents/record';
import { openDatabase } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { systemClock as clock } from '@rollcall/shared/clock';
import { timing } from './storm-timing.mjs';

const db = await openDatabase({ url: workerData.url }, openLog({ logLevel: 'error' }));
const timed = timing(db);
const recorder = createRecorder({ db: timed.db, clock });
const rounds = [];
let tending = Promise.resolve();
const stop = clock.every(workerData.everyMs, () => {
  tending = (async () => {
    const from = performance.now();
    if ((await recorder.evaluateDue()) > 0) rounds.push(performance.now() - from);
  })();
  return tending;
});
parentPort.once('message', async () => {
  stop();
  await tending;
  await db.close();
  parentPort.postMessage({ rounds, statements: timed.statements() });
});
