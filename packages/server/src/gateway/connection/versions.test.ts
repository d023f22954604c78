/** What collectors of other versions say, and what they are sent. */
import type { ProfileSettings } from '@rollcall/shared/profile';
import {
  type Assignment,
  collectorMessage,
  PROTOCOL_LENIENT,
  PROTOCOL_VERSION,
  type ServerMessage,
} from '@rollcall/shared/protocol';
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
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { taken } from '../../testing/gateway.ts';
import { talkTo } from '../../testing/scripted-collector.ts';
import { LeasedJobs } from './leased-jobs.ts';
import { Session } from './session.ts';
import { shareOf } from './window.ts';

/** A server's side with nothing behind it that believes every hello. */
function listen() {
  const site = { id: '019a8f00-0000-7000-8000-000000000005', name: 'Berlin' };
  const nothing = async () => [];
  return talkTo(
    (link, peer) =>
      new Session(link, peer, {
        clock: new ManualClock(),
        log: pino({ level: 'silent' }),
        accept: async (unread) => taken(unread.gather()),
        credentialsFor: async () => ({ credentials: [], known: {} }),
        ruleset: () => undefined,
        watchList: () => nothing,
        identities: {
          admit: async ({ collector: id, generation, version }) => ({
            ok: true,
            collector: {
              id,
              name: 'berlin-1',
              site,
              version,
              generation: generation + 1,
              changesKey: false,
              through: { state: -1, event: -1, sample: -1 },
            },
          }),
          confirm: async () => true,
          storeKey: async () => true,
        },
        jobs: { claim: nothing, extend: nothing, refuse: async () => true, giveBack: nothing },
        share: () => shareOf(1),
        onReady: () => undefined,
        onClosed: () => undefined,
      }),
  );
}

/** Says all of it; answers what the server had to refuse and the state it is in then. */
async function hear(messages: readonly Saying[]) {
  const { talk, session } = listen();
  let over: unknown;
  void talk.closed.then((end) => {
    over = end;
  });
  for (const message of messages) {
    talk.sayRaw(JSON.stringify(message));
    if (message.type === 'hello') await talk.next('welcome');
    if (message.type !== 'confirm') continue;
    await expect.poll(() => session.state, { interval: 1 }).toBe('ready');
    session.rotate();
  }
  await expect.poll(() => over !== undefined || talk.of('key-stored').length > 0, { interval: 1 }).toBe(true);
  return { state: session.state, over, refused: talk.of('refused').length, acked: talk.of('ack').length };
}

const WELL = { state: 'ready', over: undefined, refused: 0, acked: 3 };

describe('a conversation with a collector of the version before', () => {
  const said = recorded('collector', LATEST_RECORDED);

  it.each(RECORDED)('goes well (version %d)', async (version) => {
    const all = recorded('collector', version);
    const acked = all.filter(({ type }) => type === 'observations').length;
    expect(await hear(all)).toEqual({ ...WELL, acked });
  });

  it('goes as well with an unknown member, wherever it stands', async () => {
    for (const [i, message] of said.entries())
      for (const { path, value } of withLaterMember(message))
        expect(await hear(said.with(i, value)), `${message.type}.${path.join('.')}`).toEqual(WELL);
  });

  it('goes on with an unknown word, wherever it stands', async () => {
    for (const [i, message] of said.entries())
      for (const { path, value } of withLaterWord(collectorMessage, message)) {
        // Without these two there is no conversation, and without this one no end of it here.
        if (['hello', 'confirm', 'new-key'].includes(message.type) && path.join() === 'type') continue;
        const { state, over, refused } = await hear(said.with(i, value));
        expect({ state, over }, `${message.type}.${path.join('.')}`).toEqual({
          state: 'ready',
          over: undefined,
        });
        expect(refused).toBe(path[0] === 'type' || path[0] === 'stream' ? 1 : 0);
      }
  });
});

describe('a conversation with a collector of a later version', () => {
  it('goes on however often it says what this version does not know', async () => {
    const said = recorded('collector', LATEST_RECORDED).map((message) =>
      message.type === 'hello' ? { ...message, version: PROTOCOL_VERSION + 1 } : message,
    );
    const later = Array.from({ length: 10 }, () => ({ type: LATER_WORD }));
    expect(await hear([...said.slice(0, -1), ...later, ...said.slice(-1)])).toEqual({ ...WELL, refused: 10 });
  });
});

const profileIn = (message: Saying): ProfileSettings[] =>
  message.type === 'assign' ? [(message as unknown as { assignment: Assignment }).assignment.profile] : [];

describe('the profile of a job', () => {
  /** As version 2 has it. */
  const [before = {} as ProfileSettings] = recorded('server', 2).flatMap(profileIn);
  /** As a later version of the server has it: members and words that are not known yet. */
  const later = {
    ...before,
    laterMember: 1,
    icmp: { ...before.icmp, laterMember: 1 },
    snmp: { ...before.snmp, laterMember: 1, ask: LATER_WORD, groups: ['interfaces', LATER_WORD] },
    rate: LATER_WORD,
  } as unknown as ProfileSettings;

  const profileSentTo = async (version: number, settings: ProfileSettings) => {
    const sent: ServerMessage[] = [];
    const job = { job: 'j', fence: 1, scanId: 'scan', siteId: 's', spans: [], settings };
    const owner = { id: 'c', siteId: 's', version, capacity: 1, lastState: -1 };
    const nothing = async () => [];
    await new LeasedJobs(owner, {
      jobs: { claim: async () => [job], extend: nothing, refuse: async () => true, giveBack: nothing },
      credentialsFor: async () => ({ credentials: [], known: {} }),
      send: (message) => sent.push(message),
    }).claim();
    return sent.map((message) => (message.type === 'assign' ? message.assignment.profile : undefined))[0];
  };

  it('has for versions 1 and 2 only what they know', async () => {
    for (const version of [1, 2])
      expect(await profileSentTo(version, later)).toStrictEqual({
        ...before,
        snmp: { ...before.snmp, ask: 'alive', groups: ['interfaces'] },
        rate: 2_000,
      });
  });

  it('has for versions 1 and 2 all that they know', async () => {
    for (const profile of recorded('server', 2).flatMap(profileIn))
      expect(await profileSentTo(2, profile)).toStrictEqual(profile);
  });

  it('has everything from version 3 on', async () => {
    expect(await profileSentTo(PROTOCOL_LENIENT, later)).toBe(later);
  });
});
