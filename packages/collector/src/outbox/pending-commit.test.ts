/** One commit in the making: sums and gaps, against a ledger that counts by hand. */
import { type Observation, observation, STREAMS, type Stream } from '@rollcall/shared/observation';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { PendingCommit, type RecordRef } from './pending-commit.ts';
import { decode, encode, jsonBytes } from './record.ts';
import { type DropReason, freshMeta } from './store.ts';

const EPOCH = '0193a000-0000-7000-8000-000000000009';
const NOW = 1_790_000_000_000;
const host: Observation = { kind: 'host', at: 0, address: '192.0.2.1', snmp: 'silent' };
const SIZE = Buffer.byteLength(JSON.stringify(host));

/** The gaps that leave with a commit. */
const gapsOf = ({ put }: PendingCommit) =>
  put.flatMap(({ stream, seq, record }) => {
    const told = observation.parse(JSON.parse(decode(record, seq)?.json.toString() ?? ''));
    return told.kind === 'gap' ? [{ in: stream, seq, ...told }] : [];
  });

describe('a pending commit', () => {
  let pending: PendingCommit;
  beforeEach(() => {
    pending = new PendingCommit(freshMeta(EPOCH), NOW, 5000);
  });
  const sums = (stream: Stream) => pending.meta.streams[stream];
  const add = (stream: Stream, times = 1) => {
    for (let i = 0; i < times; i++) pending.add(stream, encode(host, 0));
  };

  it('has nothing to commit at first, and takes the age; the meta it began with stays', () => {
    const before = freshMeta(EPOCH);
    const next = new PendingCommit(before, NOW, 5000);
    expect(next.changed).toBe(false);
    expect(next.meta).toEqual({ ...before, age: 5000 });
    next.add('state', encode(host, 0));
    expect(next.changed).toBe(true);
    expect(before).toEqual(freshMeta(EPOCH));
  });

  it('numbers records within their stream, from 0, and seals them', () => {
    add('state', 2);
    add('event');
    expect(pending.put.map(({ stream, seq }) => `${stream} ${seq}`)).toEqual([
      'state 0',
      'state 1',
      'event 0',
    ]);
    for (const { seq, record } of pending.put) expect(decode(record, seq)).not.toBeNull();
    expect(sums('state')).toEqual({ last: 1, acked: -1, count: 2, bytes: 2 * SIZE });
    expect(sums('sample')).toEqual({ last: -1, acked: -1, count: 0, bytes: 0 });
    expect(gapsOf(pending)).toEqual([]);
  });

  it('takes what was delivered, also where nothing of it was left', () => {
    add('state', 3);
    pending.deliver('state', 1, [
      { seq: 0, bytes: SIZE },
      { seq: 1, bytes: SIZE },
    ]);
    expect(pending.remove).toEqual([
      { stream: 'state', seq: 0 },
      { stream: 'state', seq: 1 },
    ]);
    expect(sums('state')).toEqual({ last: 2, acked: 1, count: 1, bytes: SIZE });

    const later = new PendingCommit(pending.meta, NOW, 5000);
    later.deliver('state', 2, []);
    expect(later.changed).toBe(true);
    expect(later.meta.streams.state.acked).toBe(2);
    // A late word of the server never takes an acknowledgement back.
    later.deliver('state', 0, []);
    expect(later.meta.streams.state.acked).toBe(2);
  });

  it('a refused observation uses up its sequence and leaves a gap of one', () => {
    add('state');
    pending.refuse('state', 'disk');
    expect(sums('state')).toEqual({ last: 1, acked: -1, count: 1, bytes: SIZE });
    expect(pending.meta.drops).toEqual({ bytes: 0, age: 0, disk: 1, damaged: 0 });
    expect(gapsOf(pending)).toEqual([
      {
        in: 'event',
        seq: 0,
        kind: 'gap',
        at: NOW,
        stream: 'state',
        fromSeq: 1,
        toSeq: 1,
        count: 1,
        reason: 'disk',
      },
    ]);
  });

  it('dropped records leave one gap from the lowest to the highest, in whatever order they are named', () => {
    add('sample', 6);
    const records = [4, 1, 3].map((seq) => ({ seq, bytes: SIZE }));
    pending.drop('sample', records, 'bytes');
    expect(gapsOf(pending)).toMatchObject([
      { stream: 'sample', fromSeq: 1, toSeq: 4, count: 3, reason: 'bytes' },
    ]);
    expect(pending.remove.map(({ seq }) => seq)).toEqual([4, 1, 3]);
    expect(sums('sample')).toMatchObject({ count: 3, bytes: 3 * SIZE });
    expect(pending.meta.drops.bytes).toBe(3);
  });

  it('dropping nothing is nothing: no gap, nothing to commit', () => {
    pending.drop('state', [], 'age');
    expect(pending.changed).toBe(false);
    expect(pending.put).toEqual([]);
  });

  it('what a damaged outbox took with it is told in its own sequences', () => {
    pending.recordLoss('event', 10, 19, 7);
    expect(gapsOf(pending)).toMatchObject([
      { stream: 'event', fromSeq: 10, toSeq: 19, count: 7, reason: 'damaged' },
    ]);
    expect(pending.meta.drops.damaged).toBe(7);
    expect(pending.changed).toBe(true);
    // The gap itself is an event with the age of the outbox.
    expect(decode(pending.put[0]?.record ?? Buffer.alloc(0), 0)?.age).toBe(5000);
    expect(sums('event')).toMatchObject({ last: 0, count: 1 });
  });
});

type Step =
  | { do: 'add'; stream: Stream }
  | { do: 'refuse'; stream: Stream; reason: DropReason }
  | { do: 'deliver'; stream: Stream; of: number }
  | { do: 'drop'; stream: Stream; of: number; reason: DropReason };

const stream = fc.constantFrom(...STREAMS);
const reason = fc.constantFrom<DropReason>('bytes', 'age', 'disk');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), stream }),
  fc.record({ do: fc.constant('refuse' as const), stream, reason }),
  fc.record({ do: fc.constant('deliver' as const), stream, of: fc.nat(4) }),
  fc.record({ do: fc.constant('drop' as const), stream, of: fc.nat(4), reason }),
);

describe('over any steps', () => {
  it('sums are those of what is there, and every sequence is there, delivered or in a gap', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const pending = new PendingCommit(freshMeta(EPOCH), NOW, 0);
        const there = { state: new Map<number, number>(), event: new Map(), sample: new Map() };
        const accounted = { state: new Set<number>(), event: new Set<number>(), sample: new Set<number>() };
        let seen = 0;
        const learn = () => {
          for (const { stream, seq, record } of pending.put.slice(seen))
            there[stream].set(seq, jsonBytes(record));
          seen = pending.put.length;
          for (const { stream, fromSeq, toSeq } of gapsOf(pending))
            for (let seq = fromSeq; seq <= toSeq; seq++) accounted[stream as Stream].add(seq);
        };
        const firstOf = (of: Stream, most: number): RecordRef[] =>
          [...there[of]].slice(0, most).map(([seq, bytes]) => ({ seq, bytes }));
        for (const each of steps) {
          if (each.do === 'add') pending.add(each.stream, encode(host, 0));
          else if (each.do === 'refuse') pending.refuse(each.stream, each.reason);
          else {
            const records = firstOf(each.stream, each.of);
            for (const { seq } of records) {
              there[each.stream].delete(seq);
              accounted[each.stream].add(seq);
            }
            if (each.do === 'drop') pending.drop(each.stream, records, each.reason);
            else pending.deliver(each.stream, records.at(-1)?.seq ?? -1, records);
          }
          learn();
        }
        for (const name of STREAMS) {
          const { last, count, bytes } = pending.meta.streams[name];
          expect(count).toBe(there[name].size);
          expect(bytes).toBe([...there[name].values()].reduce((sum, size) => sum + size, 0));
          for (let seq = 0; seq <= last; seq++)
            expect(there[name].has(seq) || accounted[name].has(seq), `${name} ${seq}`).toBe(true);
        }
      }),
    );
  });
});
