/** What an outbox on disk holds, for tests that broke it. */
import { systemClock } from '@rollcall/shared/clock';
import type { GapObservation, Observation } from '@rollcall/shared/observation';
import { pino } from 'pino';
import { Outbox } from '../outbox/outbox.ts';

/** Opens it as a collector does: the numbers that `outbox-writer` gave it, in order of sequence, and its gaps. */
export async function contentOf(folder: string) {
  const settings = { bytes: 1e9, ageMs: 1e12, minFreeBytes: 0 };
  const log = pino({ level: 'silent' });
  const outbox = await Outbox.open({ folder, settings, clock: systemClock, log });
  const all = { state: [] as [number, Observation][], event: [] as [number, Observation][] };
  for (const stream of ['state', 'event'] as const) {
    for (let after = -1; ; ) {
      const batch = outbox.next(stream, after, 1e6, 2000);
      if (!batch) break;
      for (const [i, item] of batch.items.entries())
        all[stream].push([batch.from + i, JSON.parse(item.toString())]);
      after = batch.from + batch.items.length - 1;
    }
  }
  const { epoch, last } = outbox;
  await outbox.close();
  const numbers = all.state.map(([, o]) => (o.kind === 'job-end' ? o.fence : -1));
  const gaps = all.event.map(([, o]) => o).filter((o): o is GapObservation => o.kind === 'gap');
  return { epoch, last, numbers, sequences: all.state.map(([seq]) => seq), gaps };
}
