/** Which records go when the outbox is full or old, compared with the same rules said in one pass over a list. */
import type { Observation, Stream } from '@rollcall/shared/observation';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toExpire, toFree } from './eviction.ts';
import { decode, encode, jsonBytes, seal } from './record.ts';

const WALKS = ['0193a000-0000-7000-8000-000000000001', '0193a000-0000-7000-8000-000000000002'];

const host = (n: number): Observation => ({
  kind: 'host',
  at: 0,
  address: `192.0.2.${n}`,
  snmp: 'silent',
});
const rows = (n: number, walk: number, part: number): Observation => ({
  kind: 'rows',
  at: 0,
  walk: WALKS[walk] ?? '',
  address: `192.0.2.${n}`,
  table: 'vlans',
  part,
  last: false,
  rows: [],
});
const down = (n: number): Observation => ({
  kind: 'watch',
  at: n,
  deviceId: WALKS[0] ?? '',
  icmp: 'down',
});
const gap: Observation = {
  kind: 'gap',
  at: 0,
  stream: 'state',
  fromSeq: 1,
  toSeq: 1,
  count: 1,
  reason: 'age',
};

interface Kept {
  observation: Observation;
  age?: number;
  damaged?: boolean;
}
type Content = Partial<Record<Stream, Kept[]>>;

/** Sequences begin with 1, as those of a new outbox. */
function holding(content: Content) {
  const records = (stream: Stream) =>
    (content[stream] ?? []).map(({ observation, age = 0, damaged }, at) => {
      const record = encode(observation, age);
      seal(record, damaged ? -1 : at + 1);
      return { seq: at + 1, record };
    });
  const streams = { state: records('state'), event: records('event'), sample: records('sample') };
  const sizes = { ...streams };
  return {
    *read(stream: Stream, start: number, limit: number, reverse = false) {
      const all = streams[stream];
      const from = reverse
        ? all.filter(({ seq }) => seq <= start).reverse()
        : all.filter(({ seq }) => seq >= start);
      yield* from.slice(0, limit);
    },
    remove(stream: Stream, gone: readonly { seq: number }[]) {
      const sequences = new Set(gone.map(({ seq }) => seq));
      streams[stream] = streams[stream].filter(({ seq }) => !sequences.has(seq));
    },
    bytes: (stream: Stream, seq: number) => jsonBytes(sizes[stream][seq - 1]?.record ?? Buffer.alloc(24)),
  };
}

const NONE = { state: 0, event: 0, sample: 0 };
type Floor = typeof NONE;

/** `state 3`, in the order in which they go; each is gone before the next is asked for, as in the outbox. */
async function names(
  store: ReturnType<typeof holding>,
  evictions: ReturnType<typeof toFree>,
): Promise<string[]> {
  const all: string[] = [];
  for await (const { stream, records } of evictions) {
    expect(records).not.toEqual([]);
    all.push(...records.map(({ seq }) => `${stream} ${seq}`));
    store.remove(stream, records);
  }
  return all;
}
const freed = (content: Content, need: number, floor: Floor = NONE) => {
  const store = holding(content);
  return names(store, toFree(store, need, floor));
};
const expired = (content: Content, before: number, floor: Floor = NONE) => {
  const store = holding(content);
  return names(store, toExpire(store, before, floor));
};

const ALL = Number.MAX_SAFE_INTEGER;
const of = (...observations: Observation[]): Kept[] => observations.map((observation) => ({ observation }));

describe('a full outbox drops', () => {
  it('samples, then replaced state, then the oldest state, then the oldest events', async () => {
    const content = {
      sample: of(down(1), down(2)),
      state: of(host(1), host(2), host(1)),
      event: of(down(1), down(2)),
    };
    expect(await freed(content, ALL)).toEqual([
      'sample 1',
      'sample 2',
      'state 1',
      'state 2',
      'state 3',
      'event 1',
      'event 2',
    ]);
  });

  it.each<[string, number, string[]]>([
    ['no more than the bytes that are needed', 1, ['sample 1']],
    ['exactly as many as the need', 0, ['sample 1', 'sample 2']],
    ['one more where a byte is missing', 1, ['sample 1', 'sample 2', 'sample 3']],
  ])('%s', async (_, more, gone) => {
    const content = { sample: of(down(1), down(2), down(3)), event: of(down(4)) };
    const one = holding(content).bytes('sample', 1);
    expect(await freed(content, (gone.length - Math.sign(more)) * one + more)).toEqual(gone);
  });

  it('counts what went of one stream before it goes on with the next', async () => {
    const content = { sample: of(down(1)), state: of(host(1)), event: of(down(2)) };
    const store = holding(content);
    const need = store.bytes('sample', 1) + store.bytes('state', 1);
    expect(await freed(content, need)).toEqual(['sample 1', 'state 1']);
    expect(await freed(content, need + 1)).toEqual(['sample 1', 'state 1', 'event 1']);
  });

  it('nothing that may be with the server, no gap, and what is damaged', async () => {
    const content = {
      state: [{ observation: host(1) }, { observation: host(2), damaged: true }, { observation: host(3) }],
      event: of(down(1), gap, down(3)),
      sample: of(down(1), down(2)),
    };
    expect(await freed(content, ALL, { state: 1, event: 0, sample: 2 })).toEqual([
      'state 2',
      'state 3',
      'event 1',
      'event 3',
    ]);
  });
});

describe('state is replaced', () => {
  /** All may go: what newer state replaced first, the youngest of it first, then the rest from the oldest on. */
  const order = async (state: Kept[], floor = 0) =>
    (await freed({ state }, ALL, { ...NONE, state: floor })).map((name) => Number(name.split(' ')[1]));
  it.each<[string, Kept[], number[]]>([
    ['by newer state of the same host', of(host(1), host(2), host(1), host(1)), [3, 1, 2, 4]],
    ['by another walk of the same table', of(rows(1, 0, 0), rows(1, 0, 1), rows(1, 1, 0)), [2, 1, 3]],
    ['not by parts of the same walk', of(host(2), rows(1, 0, 0), rows(1, 0, 1), host(2)), [1, 2, 3, 4]],
    ['not by that of another device', of(host(2), rows(1, 0, 0), rows(2, 1, 0), host(2)), [1, 2, 3, 4]],
    ['not where it is news for ever', of(host(2), down(1), down(1), host(2)), [1, 2, 3, 4]],
    ['not by what is damaged', [...of(host(1)), { observation: host(1), damaged: true }], [1, 2]],
  ])('%s', async (_, state, gone) => {
    expect(await order(state)).toEqual(gone);
  });
  it('not where it may be with the server', async () => {
    const state = of(host(2), host(1), host(3), host(1), host(3), host(1));
    expect(await order(state, 2)).toEqual([4, 3, 5, 6]);
  });
});

describe('an old outbox drops', () => {
  const aged = (...ages: number[]): Kept[] => ages.map((age) => ({ observation: down(age), age }));
  it('what was written before an age, of every stream, and stops at the first that is younger', async () => {
    const content = { state: aged(1, 5, 9), event: aged(4, 5, 6), sample: aged(5) };
    expect(await expired(content, 5)).toEqual(['state 1', 'event 1']);
    expect((await expired(content, 6)).toSorted()).toEqual([
      'event 1',
      'event 2',
      'sample 1',
      'state 1',
      'state 2',
    ]);
  });
  it('nothing that may be with the server', async () => {
    expect(await expired({ state: aged(1, 2, 3) }, 10, { ...NONE, state: 2 })).toEqual(['state 3']);
  });
});

it('more records than are looked at in one turn go as few do', async () => {
  const MANY = 4_500;
  const state = Array.from({ length: MANY }, (_, n) => ({ observation: host(n % 3), age: n }));
  const gone = await freed({ state }, ALL);
  // All but the last of each host are replaced, the youngest first; what goes then is all, the oldest first.
  const sequences = gone.map((name) => Number(name.split(' ')[1]));
  const last = MANY - 3;
  expect(sequences.slice(0, last)).toEqual(Array.from({ length: last }, (_, n) => last - n));
  expect(sequences.slice(last)).toEqual([MANY - 2, MANY - 1, MANY]);
  expect(await expired({ state }, 4_200)).toHaveLength(4_200);
});

it('whatever is held, what goes is enough or all that may go, the cheapest first', async () => {
  const kept = fc.record({
    observation: fc.oneof(
      fc.nat(2).map(host),
      fc.tuple(fc.nat(1), fc.nat(1), fc.nat(1)).map(([n, walk, part]) => rows(n, walk, part)),
      fc.nat(3).map(down),
      fc.constant(gap),
    ),
    damaged: fc.boolean(),
  });
  const list = fc.array(kept, { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ state: list, event: list, sample: list }),
      fc.integer({ min: 1, max: 3_000 }),
      fc.nat(4),
      async (content, need, floor) => {
        const store = holding(content);
        const gone = new Set(await freed(content, need, { state: floor, event: floor, sample: floor }));
        const mayGo = (['sample', 'state', 'event'] as const).flatMap((stream) =>
          content[stream].flatMap(({ observation, damaged }, at) =>
            at + 1 > floor && (damaged || observation.kind !== 'gap') ? [`${stream} ${at + 1}`] : [],
          ),
        );
        for (const name of gone) expect(mayGo).toContain(name);
        const sum = [...gone].reduce((total, name) => {
          const [stream, seq] = name.split(' ');
          return total + store.bytes(stream as Stream, Number(seq));
        }, 0);
        if (sum < need) expect(gone.size).toBe(mayGo.length);
        // An event goes only where no sample and no state is left that may.
        if ([...gone].some((name) => name.startsWith('event')))
          expect(mayGo.filter((name) => !name.startsWith('event') && !gone.has(name))).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

it('a record is what was written only under its own sequence', () => {
  const record = encode(host(1), 7);
  seal(record, 3);
  expect(decode(record, 3)).toMatchObject({ age: 7, walk: 0 });
  expect(decode(record, 4)).toBeNull();
  expect(decode(Buffer.alloc(24), 1)).toBeNull();
});
