import { OBSERVATION_BYTES, ofStreams, type Stream } from '@rollcall/shared/observation';
import { hearCollectorMessage } from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { expect, it } from 'vitest';
import type { Outbox } from '../outbox/outbox.ts';
import { Sender } from './sender.ts';

const EPOCH = '019a8f00-0000-7000-8000-000000000002';

/** Sends from an outbox that holds so many observations of each stream, one of which fills a batch. */
function sending(held: Record<Stream, number>, { samples = true, window = 16, bytes = 5000 } = {}) {
  const item = Buffer.from(JSON.stringify('x'.repeat(Math.min(bytes, OBSERVATION_BYTES))));
  const outbox = {
    epoch: EPOCH,
    ack: () => undefined,
    next: (stream: Stream, after: number) =>
      after + 1 < held[stream] ? { stream, from: after + 1, items: [item] } : null,
  } as unknown as Outbox;
  const sent: Stream[] = [];
  const wire = {
    bufferedAmount: 0,
    send: (frame: string | Buffer) => {
      const heard = hearCollectorMessage(Buffer.from(frame));
      if (heard.ok && heard.message.type === 'observations') sent.push(heard.message.stream);
    },
  };
  const sender = new Sender(
    { outbox, wire, clock: new ManualClock() },
    ofStreams(() => -1),
    { window, batchBytes: 120 * 1024, samples },
  );
  sender.pump();
  return { sender, sent, held };
}

it('events go first, then state, then samples', () => {
  const { sent } = sending({ state: 2, event: 2, sample: 2 });
  expect(sent).toEqual(['event', 'event', 'state', 'state', 'sample', 'sample']);
});

it('a server that does not know samples is sent none', () => {
  const { sent } = sending({ state: 1, event: 1, sample: 9 }, { samples: false });
  expect(sent).toEqual(['event', 'state']);
});

it.each([
  [16, 100],
  [16, 5000],
  [4, 100],
  [2, 100],
])('a backlog of samples leaves an event room at once (window %d, items of %d bytes)', (window, bytes) => {
  const { sender, sent, held } = sending({ state: 0, event: 0, sample: 1000 }, { window, bytes });
  const before = sent.length;
  expect(before).toBeGreaterThan(0);
  held.event = 1;
  sender.pump();
  expect(sent.slice(before)).toEqual(['event']);
});

it('samples go on when those before were acknowledged, and state before them', () => {
  const { sender, sent, held } = sending({ state: 0, event: 0, sample: 1000 });
  const before = sent.length;
  held.state = 1;
  sender.acknowledged(EPOCH, 'sample', before - 1);
  expect(sent.slice(before, before + 2)).toEqual(['state', 'sample']);
});
