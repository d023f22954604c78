import { ofStreams } from '@rollcall/shared/observation';
import { BATCH_ITEMS } from '@rollcall/shared/protocol';
import { describe, expect, it } from 'vitest';
import type { WaitingBatches } from '../ports.ts';
import type { Ingest } from './ingest.ts';
import { type Batch, storeBatches } from './items.ts';
import { openSiteQueue } from './queue/site-queue.ts';

const WHOSE = {
  collectorId: 'c',
  siteId: 's',
  epoch: 'e',
  stream: 'state',
  clockOffsetMs: 0,
} as const;

const EPOCH = '7f0c1d6e-3a51-4e0e-9a55-0d7a3a1f2b11';
const frameOf = (from: number, items: string) =>
  Buffer.from(`{"type":"observations","epoch":"${EPOCH}","stream":"state","from":${from},"items":${items}}`);

const openReading = (ingest: Ingest, places = 1) => {
  const queue = openSiteQueue(ofStreams(() => places));
  return (waiting: WaitingBatches) => queue(waiting, () => storeBatches(ingest.accept, waiting));
};

/** What reaches ingest of batches, and what is answered. */
async function read(...batches: [from: number, items: string][]) {
  const runs: [from: number, items: readonly unknown[]][] = [];
  const take = openReading({
    accept: async ({ from, items }: Batch) => {
      runs.push([from, items]);
      return { through: from + items.length - 1 };
    },
  });
  const answer = take({
    ...WHOSE,
    gather: () => batches.map(([from, items]) => ({ from, frame: frameOf(from, items) })),
  });
  return { runs, answer: await answer.catch((error: Error) => error) };
}

describe('batches that come unread', () => {
  it('go into one transaction where one goes on where the other ends', async () => {
    const { runs, answer } = await read([0, '[1,2]'], [2, '[3]'], [7, '[8]'], [3, '[4]']);
    expect(runs).toEqual([
      [0, [1, 2, 3]],
      [7, [8]],
      [3, [4]],
    ]);
    expect(answer).toMatchObject({ through: 3, count: 5 });
  });

  it('of events wait for no backlog of state, of whichever collector', async () => {
    const take = openReading(
      {
        accept: ({ stream }) =>
          stream === 'state' ? new Promise(() => undefined) : Promise.resolve({ through: 0 }),
      },
      1,
    );
    for (let i = 0; i < 5; i++)
      void take({ ...WHOSE, gather: () => [{ from: 0, frame: frameOf(0, '[1]') }] });
    const event = {
      ...WHOSE,
      stream: 'event',
      gather: () => [{ from: 0, frame: frameOf(0, '[2]') }],
    } as const;
    expect(await take(event)).toMatchObject({ through: 0, count: 1 });
  });

  it('are gathered when there is room for them, with what came until then; the site with the fewest goes first', async () => {
    const ends = new Map<string, () => void>();
    const take = openReading(
      {
        accept: ({ siteId, items }) =>
          new Promise((resolve) => ends.set(`${siteId} ${items.join()}`, () => resolve({ through: 0 }))),
      },
      2,
    );
    /** What was begun, whichever was read sooner. */
    const begun = () => [...ends.keys()].sort();
    const waiting: Record<string, string[]> = { a1: ['1'], b1: ['2'], a2: ['3'], a3: ['4'], c1: ['5'] };
    for (const [name, items] of Object.entries(waiting))
      void take({
        ...WHOSE,
        siteId: name.charAt(0),
        gather: () => [{ from: 0, frame: frameOf(0, `[${items}]`) }],
      });
    await expect.poll(begun).toEqual(['a 1', 'b 2']);
    waiting.c1?.push('6');
    ends.get('b 2')?.();
    await expect.poll(begun).toEqual(['a 1', 'b 2', 'c 5,6']);
    ends.get('a 1')?.();
    await expect.poll(begun).toEqual(['a 1', 'a 3', 'b 2', 'c 5,6']);
  });

  it('tell of the jobs that ended in them', async () => {
    const { answer } = await read([0, '[{"kind":"job-end","job":"a"},{"kind":"host"},null]']);
    expect(answer).toMatchObject({ ended: ['a'] });
  });

  it('are what their heads say, whatever follows', async () => {
    const { runs } = await read([0, '[1],"from":7,"what":"nobody knows yet"']);
    expect(runs).toEqual([[0, [1]]]);
  });

  it.each([
    ['cut', '[{"kind":'],
    ['no array', '{}'],
    ['another message after all', '[],"type":"working","jobs":[]'],
    ['too many', JSON.stringify(Array(BATCH_ITEMS + 1).fill(0))],
  ])('are refused where one cannot be read, after what came before it is stored: %s', async (_, items) => {
    const { runs, answer } = await read([0, '[1]'], [1, items], [2, '[3]']);
    expect(runs).toEqual([[0, [1]]]);
    expect(answer).toMatchObject({ code: 'invalid_request' });
  });
});
