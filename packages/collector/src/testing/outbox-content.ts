/** What an outbox on disk holds, for tests that broke it. */
import { systemClock } from '@rollcall/shared/clock';
import { type GapObservation, type Observation, ofStreams, type Stream } from '@rollcall/shared/observation';
import { openStore } from '../outbox/folder.ts';
import { decode } from '../outbox/record.ts';

/** Opens it as a collector does: the numbers that `outbox-writer` gave it, in order of sequence, and its gaps. */
export async function contentOf(folder: string) {
  const { store, meta } = await openStore(folder, systemClock.now());
  const all = (stream: Stream) =>
    [...store.read(stream, 0, 1e9)].flatMap(({ seq, record }): [number, Observation][] => {
      const json = decode(record, seq)?.json;
      return json ? [[seq, JSON.parse(json.toString())]] : [];
    });
  const [states, events] = [all('state'), all('event')];
  await store.close();
  const numbers = states.map(([, o]) => (o.kind === 'job-end' ? o.fence : -1));
  const gaps = events.map(([, o]) => o).filter((o): o is GapObservation => o.kind === 'gap');
  const last = ofStreams((stream) => meta.streams[stream].last);
  return { epoch: meta.epoch, last, numbers, sequences: states.map(([seq]) => seq), gaps };
}
