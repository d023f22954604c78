/**
 * A process that fills an outbox and says on stdout what it was told is on disk; tests kill it, or its disk.
 * Arguments: folder, most bytes kept, observations per append, least free bytes.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '@rollcall/shared/clock';
import type { Observation } from '@rollcall/shared/observation';
import { pino } from 'pino';
import { Outbox } from '../outbox/outbox.ts';

const [folder = '', bytes = '', perAppend = '1', minFree = '0'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

const outbox = await Outbox.open({
  folder,
  settings: { bytes: Number(bytes), ageMs: 1e12, minFreeBytes: Number(minFree) },
  clock: systemClock,
  log: pino({ level: 'silent' }),
});
say(`open ${outbox.epoch} ${outbox.last.state}`);

let stopping = false;
process.on('SIGTERM', () => {
  stopping = true;
});
let paused: string | null = null;
setInterval(() => {
  const now = outbox.status().paused;
  if (now !== paused) say(now ? `paused ${now}` : 'goes on');
  paused = now;
}, 10).unref();

// Several appends under way at once, as of a sweep and a watch.
let next = outbox.last.state + 1;
await Promise.all(
  Array.from({ length: 4 }, async () => {
    while (!stopping) {
      const items = Array.from({ length: Number(perAppend) }, (): Observation => {
        const n = next++;
        return {
          kind: 'job-end',
          job: '0192f0c0-0000-7000-8000-000000000001',
          fence: n,
          at: 1,
          result: 'done',
          counts: { n },
        };
      });
      await outbox.append(items);
      say(`stored ${items.map((o) => (o.kind === 'job-end' ? o.fence : '')).join(',')}`);
    }
  }),
);
await outbox.close();
say(`closed ${JSON.stringify(outbox.last)}`);
