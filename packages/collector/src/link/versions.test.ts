/** What servers of other versions say. */
import { generateKeyPairSync } from 'node:crypto';
import { CloseCode, PROTOCOL_VERSION, serverMessage } from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import {
  LATER_WORD,
  LATEST_RECORDED,
  RECORDED,
  recorded,
  type Saying,
  withLaterMember,
  withLaterWord,
} from '@rollcall/shared/testing/wire-messages';
import type { LogDescriptor } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Outbox } from '../outbox/outbox.ts';
import { recordingLog } from '../testing/recording-log.ts';
import { type Collector, Conversation } from './conversation.ts';

/** An outbox of 14 observations of state, as much as the server acknowledges. */
const outbox = {
  epoch: '019a8f00-0000-7000-8000-000000000002',
  last: { state: 13, event: 6, sample: 0 },
  ack: () => undefined,
  onWritten: () => () => undefined,
  next: (stream: string, after: number) =>
    stream === 'state' && after < 0 ? { stream, from: 0, items: Array(14).fill(Buffer.from('{}')) } : null,
} as unknown as Outbox;

/** Hears all of it; answers what the collector was told to do, how it was closed and what was invalid. */
function hear(messages: readonly Saying[]) {
  const { privateKey } = generateKeyPairSync('ed25519');
  const told: unknown[][] = [];
  const closed: number[] = [];
  const logged: LogDescriptor[] = [];
  const collector: Collector = {
    outbox,
    identity: () => ({
      format: 1,
      server: 'https://rollcall.example.net',
      path: '/api/collectors/link',
      collector: '019a8f00-0000-7000-8000-000000000001',
      name: 'c1',
      site: { id: '019a8f00-0000-7000-8000-000000000005', name: 'Berlin' },
      generation: 3,
    }),
    saveGeneration: (generation) => told.push(['generation', generation]),
    key: () => privateKey,
    keyWorks: () => undefined,
    makeNextKey: () => {
      told.push(['rotate']);
      return privateKey;
    },
    useNextKey: () => told.push(['key-stored']),
    tryOtherKey: () => undefined,
    about: () => ({ software: 'test', hostname: 'test', capacity: 4, engines: [] }),
    health: () => ({ time: 0, outbox: { depth: 0, bytes: 0, oldest: null }, drops: {} }),
    working: () => [],
    assign: (assignment) => told.push(['assign', assignment]),
    cancel: (job, fence) => told.push(['cancel', job, fence]),
    rules: (ruleset) => told.push(['ruleset', ruleset]),
    watch: (message) => told.push(['watch', message]),
    sequenceRegression: async (reason) => void told.push(['went back', reason]),
  };
  const conversation = new Conversation({
    collector,
    line: { send: () => undefined, bufferedAmount: 0, close: (code) => closed.push(code) },
    clock: new ManualClock(),
    log: recordingLog(logged),
    enter: () => undefined,
  });
  for (const message of messages) conversation.receive(JSON.stringify(message));
  const words = logged.map(({ msg }) => msg);
  return {
    told,
    closed,
    invalid: words.filter((msg) => /invalid message/.test(msg)),
    unknown: words.filter((msg) => /not know/.test(msg)).length,
  };
}

describe('a conversation with a server of the version before', () => {
  const said = recorded('server', LATEST_RECORDED);
  const well = hear(said);

  it.each(RECORDED)('goes well (version %d)', (version) => {
    const well = hear(recorded('server', version));
    expect(well).toMatchObject({ closed: [CloseCode.normal], invalid: [], unknown: 0 });
    expect(well.told.map(([what]) => what)).toEqual(
      'generation ruleset assign assign assign cancel ruleset watch watch rotate key-stored'.split(' '),
    );
  });

  it('goes as well with an unknown member, wherever it stands', () => {
    for (const [i, message] of said.entries())
      for (const { path, value } of withLaterMember(message))
        expect(hear(said.with(i, value)), `${message.type}.${path.join('.')}`).toEqual({
          ...well,
          // A setting was meant to do something; what else is new may be left unread.
          unknown: path.includes('profile') ? 1 : 0,
        });
  });

  it('goes on with an unknown word, wherever it stands', () => {
    for (const [i, message] of said.entries())
      for (const { path, value } of withLaterWord(serverMessage, message)) {
        const unread = path[0] === 'type' || path[0] === 'stream';
        // Without these two there is no conversation.
        if (unread && ['challenge', 'welcome'].includes(message.type)) continue;
        const { told, invalid, closed, unknown } = hear(said.with(i, value));
        const place = `${message.type}.${path.join('.')}`;
        expect({ invalid, unknown }, place).toEqual({ invalid: [], unknown: 1 });
        expect(closed, place).toEqual(message.type === 'key-stored' ? [] : [CloseCode.normal]);
        const others = (all: unknown[][]) => all.filter(([what]) => what !== message.type);
        expect(others(told), place).toEqual(others(well.told));
        if (!unread) expect(told.length, place).toBe(well.told.length);
      }
  });
});

it('a server of a later version may say what is not known here, however often', () => {
  const said = recorded('server', LATEST_RECORDED).map((message) =>
    'version' in message ? { ...message, version: PROTOCOL_VERSION + 1 } : message,
  );
  const later = Array.from({ length: 10 }, () => ({ type: LATER_WORD }));
  expect(hear([...said, ...later])).toMatchObject({ closed: [CloseCode.normal], invalid: [], unknown: 10 });
});
