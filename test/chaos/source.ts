/**
 * A collector that sweeps nothing: real outbox, real link, real identity, and observations that it makes up at a given
 * rate, each written to its ledger first. Told what to do over the channel of its parent; see `collector.ts`.
 *
 *   node source.js STATE-FOLDER LEDGER INDEX PLACE RATE OUTBOX-BYTES [--no-link] [--measures=DEVICE-ID]
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Keys, loadIdentity, prepareFolder, saveIdentity } from '@rollcall/collector/link/identity';
import { Link } from '@rollcall/collector/link/link';
import { Outbox } from '@rollcall/collector/outbox/outbox';
import { openLog } from '@rollcall/collector/platform/log';
import { lockFolder } from '@rollcall/host/lock';
import { systemClock as clock } from '@rollcall/shared/clock';
import { type Stream, streamOf } from '@rollcall/shared/observation';
import { factOf } from './facts.ts';
import { LedgerWriter, readLedger } from './ledger.ts';

const [folder = '', ledgerFile = '', index = '', place = '', perSecond = '', bytes = '', ...flags] =
  process.argv.slice(2);
const log = await openLog(process.env.LOG_LEVEL ?? 'info');

/** Appends that may wait for the disk; more would only measure this process's memory. */
const WAITING = 16;
const TICK_MS = 50;
const TELL_MS = 200;
const MEASURES = '--measures=';
/** Intervals ended so long ago: what is estimated of the clock brings none into the future. */
const SETTLED_MS = 1_000;

prepareFolder(folder);
const lock = await lockFolder(folder, 'collector');
if (!lock.ok) {
  log.fatal(`the state folder ${folder} is in use by ${lock.heldBy}`);
  process.exit(3);
}
const loaded = loadIdentity(folder);
if (!loaded) throw new Error('not joined');
let { identity } = loaded;
const keys = new Keys(folder, loaded.key);

const ledger = new LedgerWriter(ledgerFile);
const source = { index: Number(index), place: Number(place) };
let n = (readLedger(ledgerFile).entries.at(-1)?.n ?? -1) + 1;
let rate = Number(perSecond);
/** Stop at this number. */
let until = Number.POSITIVE_INFINITY;
let kept = 0;
let waiting = 0;
/** Words of the parent so far. */
let heard = 0;
/** Only what travels in this stream. */
let only: Stream | undefined;
/** The device that is measured, once the server knows it. */
let measures = flags.find((flag) => flag.startsWith(MEASURES))?.slice(MEASURES.length);
/** End of the last interval that was measured. */
let lastAt = 0;
/** Events on their way: the sequence of each, and when it was observed (monotonic). */
let events: { seq: number; at: number }[] = [];
/** Longest time from an observation of an event to its acknowledgement, since it was last told. */
let lateMs = 0;

const outbox = await Outbox.open({
  folder: join(folder, 'outbox'),
  settings: { bytes: Number(bytes), ageMs: 1e12, minFreeBytes: 0 },
  clock,
  log,
});

const acknowledge = outbox.ack.bind(outbox);
outbox.ack = (stream, through) => {
  const now = clock.monotonic();
  if (stream === 'event') {
    for (const { seq, at } of events) if (seq <= through) lateMs = Math.max(lateMs, now - at);
    events = events.filter(({ seq }) => seq > through);
  }
  acknowledge(stream, through);
};

let state = 'waiting';
const link = flags.includes('--no-link')
  ? undefined
  : new Link({
      clock,
      log,
      collector: {
        outbox,
        identity: () => identity,
        saveGeneration: (generation) => {
          saveIdentity(folder, { ...identity, generation });
          identity = { ...identity, generation };
        },
        key: () => keys.current,
        keyWorks: (key) => keys.works(key),
        makeNextKey: () => keys.makeNext(),
        useNextKey: () => keys.useNext(),
        tryOtherKey: () => keys.tryOther(),
        about: () => ({ software: 'chaos source', hostname: hostname(), capacity: 0, engines: [] }),
        health: () => {
          const { depth, bytes, oldest, drops } = outbox.status();
          return {
            time: clock.now(),
            outbox: { depth, bytes, oldest: oldest === null ? null : Math.max(0, oldest) },
            drops,
          };
        },
        working: () => [],
        assign: () => undefined,
        cancel: () => undefined,
        rules: () => undefined,
        watch: () => undefined,
        sequenceRegression: (reason) => outbox.startAnew(reason),
      },
      random: () => Math.random() * Number(process.env.CHAOS_HASTE ?? 1),
      onState: (next) => {
        state = next;
        tell();
      },
    });

function tell(): void {
  const { depth, paused, drops } = outbox.status();
  process.send?.({ n, kept, depth, waiting, heard, paused, drops, lateMs, link: state, epoch: outbox.epoch });
  lateMs = 0;
}

let owed = 0;
const stopMaking = clock.every(TICK_MS, () => {
  owed = Math.min(owed + (rate * TICK_MS) / 1000, rate);
  const count = Math.min(Math.floor(owed), until - n);
  if (count <= 0 || waiting >= WAITING) return;
  owed -= count;
  observe(count);
});

function observe(count: number): void {
  const first = n;
  const at = clock.monotonic();
  const facts = Array.from({ length: count }, (_, i) => {
    const measured = measures === undefined ? undefined : { deviceId: measures, at: nextEnd() };
    return factOf(source, first + i, clock.now(), measured);
  }).filter(({ observation }) => only === undefined || streamOf(observation) === only);
  n += count;
  ledger.observed(facts);
  waiting += 1;
  outbox
    .append(facts.map(({ observation }) => observation))
    .then(
      () => {
        ledger.kept(first, first + count - 1);
        kept += facts.length;
        events.push({ seq: outbox.last.event, at });
      },
      (error: unknown) => log.warn({ err: error }, 'not kept'),
    )
    .finally(() => {
      waiting -= 1;
    });
}

/** One device has one interval at a time: what a burst measures at once ends a millisecond apart. */
function nextEnd(): number {
  const at = clock.now() - SETTLED_MS;
  lastAt = at <= lastAt && lastAt - at < SETTLED_MS ? lastAt + 1 : at;
  return lastAt;
}

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  stopMaking();
  await link?.stop();
  await outbox.close();
  ledger.close();
  if (lock.ok) await lock.release();
  process.exit(0);
}
process.on('SIGTERM', () => void stop());
process.on('disconnect', () => process.exit(4));
process.on(
  'message',
  (message: { rate?: number; until?: number; only?: Stream | 'all'; measures?: string }) => {
    if (message.rate !== undefined) rate = message.rate;
    if (message.until !== undefined) until = message.until;
    if (message.only !== undefined) only = message.only === 'all' ? undefined : message.only;
    if (message.measures !== undefined) measures = message.measures;
    heard += 1;
    tell();
  },
);

// The first word last: whoever hears it may end this process at once.
tell();
clock.every(TELL_MS, tell);
