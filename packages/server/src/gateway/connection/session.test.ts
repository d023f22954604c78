import { randomUUID } from 'node:crypto';
import { profileSettings } from '@rollcall/shared/profile';
import {
  CloseCode,
  type CollectorMessage,
  FRAME_BYTES,
  type UnreadBatch,
  WINDOW,
} from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { Problem } from '../../platform/problem.ts';
import type { ClaimedJob } from '../../ports.ts';
import { taken } from '../../testing/gateway.ts';
import {
  type Disk,
  HOST,
  hello,
  makeKey,
  newKey,
  shakeHands,
  talkTo,
} from '../../testing/scripted-collector.ts';
import { Session, type SessionDeps } from './session.ts';
import { shareOf } from './window.ts';

const SITE = { id: randomUUID(), name: 'Berlin' };

function stage(over: Partial<SessionDeps> = {}) {
  const clock = new ManualClock();
  const disk: Disk = {
    id: randomUUID(),
    key: makeKey(),
    generation: 3,
    epoch: randomUUID(),
    last: { state: -1, event: -1 },
  };
  const jobs = {
    claim: vi.fn<SessionDeps['jobs']['claim']>(async () => []),
    extend: vi.fn<SessionDeps['jobs']['extend']>(async () => []),
    refuse: vi.fn<SessionDeps['jobs']['refuse']>(async () => true),
    giveBack: vi.fn<SessionDeps['jobs']['giveBack']>(async () => []),
  };
  const accept = vi.fn<SessionDeps['accept']>(async (unread) => taken(unread.gather()));
  const deps: SessionDeps = {
    clock,
    log: pino({ level: 'silent' }),
    accept,
    credentialsFor: async () => ({ credentials: [], known: {} }),
    ruleset: () => undefined,
    watchList: () => async () => [],
    identities: {
      admit: async ({ collector, generation }) => ({
        ok: true,
        collector: {
          id: collector,
          name: 'berlin-1',
          site: SITE,
          version: 1,
          generation: generation + 1,
          changesKey: false,
          through: { state: -1, event: -1, sample: -1 },
        },
      }),
      confirm: async () => true,
      storeKey: async () => true,
    },
    jobs,
    share: () => shareOf(1),
    onReady: vi.fn(),
    onClosed: vi.fn(),
    ...over,
  };
  const { talk, session, link } = talkTo((made, peer) => new Session(made, peer, deps));
  return { clock, disk, jobs, accept, deps, talk, session, link };
}

async function ready(over: Partial<SessionDeps> = {}, more: Parameters<typeof shakeHands>[3] = {}) {
  const all = stage(over);
  await shakeHands(all.talk, all.disk, HOST, more);
  await expect
    .poll(() => all.jobs.giveBack.mock.calls.length + all.jobs.claim.mock.calls.length)
    .toBeGreaterThan(0);
  return all;
}

const observations = (disk: Disk, from: number, items: unknown[] = [{}], more = {}): CollectorMessage => ({
  type: 'observations',
  epoch: disk.epoch,
  stream: 'state',
  from,
  items,
  ...more,
});
const heartbeat = (time: number): CollectorMessage => ({
  type: 'heartbeat',
  time,
  outbox: { depth: 0, bytes: 0, oldest: null },
  drops: {},
});
const job = (more: Partial<ClaimedJob> = {}): ClaimedJob => ({
  job: randomUUID(),
  fence: 1,
  scanId: randomUUID(),
  siteId: SITE.id,
  spans: [{ first: '10.0.0.1', count: 4 }],
  settings: profileSettings.parse({}),
  ...more,
});
/** A promise to be settled by hand. */
function later<T>() {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
const turns = async (n = 5) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a conversation with a collector', () => {
  it('begins with challenge, hello, welcome, confirm', async () => {
    const { talk, disk, session, link, deps } = await ready();
    expect(session.state).toBe('ready');
    expect(link.admitted).toBe(true);
    expect(deps.onReady).toHaveBeenCalledOnce();
    expect(talk.of('welcome')[0]).toMatchObject({
      version: 1,
      generation: 4,
      site: SITE,
      through: { state: -1, event: -1, sample: -1 },
      limits: { window: WINDOW },
    });
    expect(session.collector).toEqual({ id: disk.id, siteId: SITE.id, name: 'berlin-1' });
  });

  it('ends when no hello comes in 5 seconds, and when the welcome is not confirmed in 5', async () => {
    const silent = stage();
    await silent.clock.pass(4_999);
    expect(silent.session.state).toBe('challenged');
    await silent.clock.pass(1);
    expect(await silent.talk.closed).toMatchObject({ code: CloseCode.helloTimeout });

    const slow = stage();
    const { nonce } = await slow.talk.next('challenge');
    slow.talk.say(hello(slow.disk, { nonce }, HOST));
    await slow.talk.next('welcome');
    await slow.clock.pass(5_000);
    expect(await slow.talk.closed).toMatchObject({ code: CloseCode.helloTimeout });
    expect(slow.deps.onReady).not.toHaveBeenCalled();
    expect(slow.link.admitted).toBe(false);
  });

  it('ends with the code and reason of a refused hello, cut to what a close frame holds', async () => {
    const identities = {
      admit: async () => ({ ok: false as const, code: CloseCode.quarantined, reason: 'ü'.repeat(100) }),
      confirm: async () => true,
      storeKey: async () => true,
    };
    const { talk, disk } = stage({ identities });
    const { nonce } = await talk.next('challenge');
    talk.say(hello(disk, { nonce }, HOST));
    const { code, reason } = await talk.closed;
    expect(code).toBe(CloseCode.quarantined);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(reason).toMatch(/^ü+$/);
  });

  it('case 143: refuses number, null, array, unknown type, missing id; the third closes', async () => {
    for (const frame of [
      '5',
      'null',
      '[]',
      '{"type":"reboot"}',
      '{"type":"progress"}',
      'not json',
      '"hello"',
    ]) {
      const { talk, session } = await ready();
      talk.sayRaw(frame);
      expect((await talk.next('refused')).reason).not.toBe('');
      talk.sayRaw(frame);
      await talk.next('refused');
      expect(session.state).toBe('ready');
      talk.sayRaw(frame);
      expect(await talk.closed).toMatchObject({ code: CloseCode.badMessage });
    }
  });

  it('gives an unknown collector no second try', async () => {
    for (const frame of ['x', '{"type":"heartbeat"}', JSON.stringify(heartbeat(1))]) {
      const { talk } = stage();
      talk.sayRaw(frame);
      expect(await talk.closed).toMatchObject({ code: CloseCode.badMessage });
    }
  });

  it('hears nothing of work before the generation is confirmed', async () => {
    const { talk, disk, accept, jobs } = stage();
    const { nonce } = await talk.next('challenge');
    talk.say(hello(disk, { nonce }, HOST));
    await talk.next('welcome');
    talk.say(observations(disk, 0));
    talk.say({ type: 'working', jobs: [] });
    await talk.next('refused');
    talk.say({ type: 'confirm', generation: 99 });
    talk.say(observations(disk, 0));
    talk.say({ type: 'working', jobs: [] });
    expect(await talk.closed).toMatchObject({ code: CloseCode.badMessage });
    expect(accept).not.toHaveBeenCalled();
    expect(jobs.claim).not.toHaveBeenCalled();
  });

  it('acknowledges only what is committed, one batch after the other', async () => {
    const stores: { batches: readonly UnreadBatch[]; settle(through: number): void }[] = [];
    const { talk, disk } = await ready({
      accept: ({ gather }) => {
        const { promise, settle } = later<{ through: number; ended: string[] }>();
        stores.push({ batches: gather(), settle: (through) => settle({ through, ended: [] }) });
        return promise;
      },
    });
    talk.say(observations(disk, 0, [{}, {}]));
    talk.say(observations(disk, 2));
    await turns();
    expect(stores).toHaveLength(1);
    expect(talk.of('ack')).toEqual([]);
    stores[0]?.settle(1);
    expect(await talk.next('ack')).toMatchObject({ epoch: disk.epoch, stream: 'state', through: 1 });
    await turns();
    expect(stores).toHaveLength(2);
    stores[1]?.settle(2);
    expect(await talk.next('ack')).toMatchObject({ through: 2 });
  });

  it('case 56: takes collector and site from the connection, whatever the batch says', async () => {
    const { talk, disk, accept } = await ready();
    const more = {
      collector: randomUUID(),
      collectorId: randomUUID(),
      siteId: randomUUID(),
      site: randomUUID(),
    };
    talk.sayRaw(JSON.stringify({ ...observations(disk, 0), ...more }));
    await talk.next('ack');
    expect(accept.mock.calls[0]?.[0]).toMatchObject({ collectorId: disk.id, siteId: SITE.id });
  });

  it('stores events while a batch of state takes its time; together they are no more than the window', async () => {
    const { talk, disk } = await ready({
      accept: (unread) =>
        unread.stream === 'state' ? new Promise(() => undefined) : Promise.resolve(taken(unread.gather())),
    });
    for (let i = 0; i < WINDOW - 1; i++) talk.say(observations(disk, i));
    talk.say(observations(disk, 0, [{}], { stream: 'event' }));
    expect(await talk.next('ack')).toMatchObject({ stream: 'event', through: 0 });
    for (let i = 0; i < 2; i++) talk.say(observations(disk, WINDOW + i));
    expect(await talk.closed).toMatchObject({ code: CloseCode.policy });
  });

  it('refuses observations of another epoch than the hello', async () => {
    const { talk, disk, accept } = await ready();
    talk.say(observations(disk, 0, [{}], { epoch: randomUUID() }));
    expect((await talk.next('refused')).reason).toMatch(/epoch/);
    expect(accept).not.toHaveBeenCalled();
  });

  it('ends when more batches come than the window holds', async () => {
    const { talk, disk } = await ready({ accept: () => new Promise(() => undefined) });
    for (let i = 0; i <= WINDOW; i++) talk.say(observations(disk, i));
    expect(await talk.closed).toMatchObject({ code: CloseCode.policy });
  });

  it('holds a collector to the share that the welcome told it, where there are many', async () => {
    const { talk, disk } = await ready({
      share: () => shareOf(5_000),
      accept: () => new Promise(() => undefined),
    });
    expect(talk.of('welcome')[0]).toMatchObject({ limits: { window: 2, batchBytes: 16 * 1024 } });
    for (let i = 0; i <= 2; i++) talk.say(observations(disk, i));
    expect(await talk.closed).toMatchObject({ code: CloseCode.policy });
  });

  it('case 43: acknowledges nothing while the database is away, and stores in order as soon as it is back', async () => {
    const away = new Problem('unavailable', 'the database is away');
    const stored: number[][] = [];
    const accept = vi.fn<SessionDeps['accept']>(async ({ gather }) => {
      stored.push(gather().map(({ from }) => from));
      if (stored.length <= 20) throw away;
      return taken(gather());
    });
    const { talk, disk, clock } = await ready({ accept });
    talk.say(observations(disk, 0));
    talk.say(observations(disk, 1));
    await clock.pass(3000);
    expect(talk.of('ack')).toEqual([]);
    talk.say(heartbeat(clock.now()));
    await talk.next('heartbeat');
    await clock.pass(20_000);
    expect((await talk.next('ack')).through).toBe(1);
    // What came while it was away goes along.
    expect(stored).toEqual([[0], ...Array(20).fill([0, 1])]);
  });

  it('case 43: ends, without an acknowledgement, where the link ends before the database is back', async () => {
    const accept = vi
      .fn<SessionDeps['accept']>()
      .mockRejectedValue(new Problem('unavailable', 'the database is away'));
    const { talk, disk, clock, session } = await ready({ accept });
    talk.say(observations(disk, 0));
    talk.say(observations(disk, 1));
    await clock.pass(2000);
    session.close(CloseCode.restart, 'the server restarts');
    await turns();
    const asked = accept.mock.calls.length;
    await clock.pass(5000);
    expect(accept).toHaveBeenCalledTimes(asked);
    expect(talk.of('ack')).toEqual([]);
  });

  it.each([CloseCode.quarantined, CloseCode.restart])(
    'attack: what waits of a link that ended takes no place in the store: %s',
    async (code) => {
      const turn = later<void>();
      const gathered: unknown[] = [];
      const { talk, disk, session } = await ready({
        accept: async ({ gather }) => {
          await turn.promise;
          try {
            return taken(gather());
          } catch (error) {
            gathered.push((error as Problem).code);
            throw error;
          }
        },
      });
      talk.say(observations(disk, 0));
      await turns();
      session.close(code, 'it ends');
      turn.settle();
      await turns();
      expect(gathered).toEqual(['unavailable']);
      expect(talk.of('ack')).toEqual([]);
    },
  );

  it('ends, to be sent everything again, where batches were lost on their way into the store', async () => {
    const accept = vi.fn<SessionDeps['accept']>(async ({ gather }) => {
      const [batch = expect.fail('no batch')] = gather();
      batch.frame = new Uint8Array();
      throw new Problem('unavailable', 'it ended by itself');
    });
    const { talk, disk } = await ready({ accept });
    talk.say(observations(disk, 0));
    expect(await talk.closed).toMatchObject({ code: CloseCode.tryLater });
    talk.say(observations(disk, 1));
    await turns();
    expect(accept).toHaveBeenCalledTimes(1);
    expect(talk.of('ack')).toEqual([]);
  });

  it('ends without detail when something else goes wrong', async () => {
    const { talk, disk } = await ready({
      accept: async () => Promise.reject(new Error('column "x" does not exist')),
    });
    talk.say(observations(disk, 0));
    expect(await talk.closed).toEqual({
      code: CloseCode.internal,
      reason: 'something went wrong on the server',
    });
  });

  it('case 9: answers heartbeats and extends leases while a batch takes its time', async () => {
    const { talk, disk, jobs, clock } = await ready({ accept: () => new Promise(() => undefined) });
    talk.say(observations(disk, 0));
    talk.say(heartbeat(clock.now() - 5));
    expect(await talk.next('heartbeat')).toEqual({
      type: 'heartbeat',
      time: clock.now(),
      echo: clock.now() - 5,
    });
    const lease = { job: randomUUID(), fence: 2 };
    talk.say({ type: 'progress', ...lease, probed: 1, alive: 1, devices: 0 });
    await expect
      .poll(() => jobs.extend.mock.calls.at(-1)?.[1])
      .toEqual([{ ...lease, probed: 1, alive: 1, devices: 0 }]);
  });

  it('writes progress once a second at most, the latest of each job', async () => {
    const { talk, jobs, clock } = await ready();
    await clock.pass(10_000);
    jobs.extend.mockClear();
    const lease = { job: randomUUID(), fence: 1 };
    for (let probed = 1; probed <= 50; probed++)
      talk.say({ type: 'progress', ...lease, probed, alive: 0, devices: 0 });
    await turns(60);
    expect(jobs.extend.mock.calls.length).toBe(1);
    await clock.pass(1_000);
    expect(jobs.extend.mock.calls.length).toBe(2);
    expect(jobs.extend.mock.calls[1]?.[1]).toMatchObject([{ probed: 50 }]);
  });

  it('cancels what the collector no longer holds', async () => {
    const { talk, jobs } = await ready();
    const lease = { job: randomUUID(), fence: 1 };
    jobs.extend.mockResolvedValueOnce([lease]);
    talk.say({ type: 'progress', ...lease, probed: 1, alive: 0, devices: 0 });
    expect(await talk.next('cancel')).toEqual({ type: 'cancel', ...lease });
  });

  it('goes on with the jobs it works on, stops the others, and takes nothing back before its backlog is stored', async () => {
    const { talk, disk, jobs } = stage();
    disk.last = { state: 7, event: -1 };
    const kept = { job: randomUUID(), fence: 1 };
    const lost = { job: randomUUID(), fence: 4 };
    jobs.extend.mockResolvedValueOnce([lost]);
    await shakeHands(talk, disk, HOST, {}, [kept, lost]);
    expect(await talk.next('cancel')).toMatchObject(lost);
    await expect.poll(() => jobs.claim.mock.calls.length).toBe(1);
    talk.say(observations(disk, 0, [{}, {}]));
    await talk.next('ack');
    await turns();
    expect(jobs.giveBack).not.toHaveBeenCalled();
    talk.say(observations(disk, 2, Array(6).fill({})));
    await talk.next('ack');
    await expect.poll(() => jobs.giveBack.mock.calls).toEqual([[disk.id, [kept.job]]]);
  });

  it('offers jobs once it knows what the collector works on, or after two seconds', async () => {
    const { talk, disk, jobs, clock } = stage();
    const { nonce } = await talk.next('challenge');
    talk.say(hello(disk, { nonce }, HOST, { capacity: 50 }));
    const { generation } = await talk.next('welcome');
    jobs.claim.mockResolvedValueOnce([job()]);
    talk.say({ type: 'confirm', generation });
    await turns();
    expect(jobs.claim).not.toHaveBeenCalled();
    await clock.pass(2_000);
    expect(jobs.claim.mock.calls).toEqual([[{ id: disk.id, siteId: SITE.id, capacity: 16 }]]);
    expect((await talk.next('assign')).assignment).toMatchObject({
      fence: 1,
      spans: [{ first: '10.0.0.1', count: 4 }],
    });
  });

  it('claims again when a job ended, and when one was refused', async () => {
    const { talk, disk, jobs } = await ready();
    jobs.claim.mockClear();
    const lease = { job: randomUUID(), fence: 1 };
    talk.say(observations(disk, 0, [{ kind: 'job-end', ...lease }]));
    await expect.poll(() => jobs.claim.mock.calls.length).toBe(1);
    talk.say({ type: 'outcome', ...lease, result: 'deferred', reason: 'no engine' });
    await expect.poll(() => jobs.claim.mock.calls.length).toBe(2);
    expect(jobs.refuse.mock.calls[0]).toEqual([
      { collectorId: disk.id, siteId: SITE.id },
      lease,
      { result: 'deferred', reason: 'no engine' },
    ]);
  });

  it('sends an assignment that fits a frame, without hints where they are too much', async () => {
    const known = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [`2001:db8::${i.toString(16)}`, randomUUID()]),
    );
    const { talk, jobs, session } = await ready({ credentialsFor: async () => ({ credentials: [], known }) });
    jobs.claim.mockResolvedValueOnce([job()]);
    session.offer();
    const { assignment } = await talk.next('assign');
    expect(assignment.known).toBeUndefined();
    expect(JSON.stringify(assignment).length).toBeLessThan(FRAME_BYTES);
  });

  it('offers nothing to a collector that does not read', async () => {
    const { jobs, session, link } = await ready();
    jobs.claim.mockClear();
    link.buffered = 3 * FRAME_BYTES;
    session.offer();
    await turns();
    expect(jobs.claim).not.toHaveBeenCalled();
  });

  it('case 50: when draining stores what came in, offers nothing, and resolves when all is stored', async () => {
    const store = later<{ through: number; ended: string[] }>();
    const { talk, disk, session, jobs } = await ready({ accept: () => store.promise });
    talk.say(observations(disk, 0));
    await turns();
    jobs.claim.mockClear();
    let drained = false;
    const done = session.drain('the server restarts').then(() => {
      drained = true;
    });
    await talk.next('drain');
    session.offer();
    await turns();
    expect(drained).toBe(false);
    store.settle({ through: 0, ended: [] });
    await done;
    expect(talk.of('ack')).toHaveLength(1);
    expect(jobs.claim).not.toHaveBeenCalled();
  });

  it('case 135: ends a flood of messages', async () => {
    const { talk, session, clock } = await ready();
    for (let i = 0; i < 1_100; i++) session.receive(Buffer.from(JSON.stringify(heartbeat(clock.now()))));
    expect(await talk.closed).toMatchObject({ code: CloseCode.policy });
  });

  it('estimates the clock of the other side', async () => {
    const { talk, session, clock, accept, disk } = await ready();
    const off = -10 * 365 * 86_400_000;
    for (let i = 0; i < 3; i++) talk.say(heartbeat(clock.now() + off));
    await talk.next('heartbeat');
    await turns();
    expect(session.clockOffsetMs).toBe(-off);
    talk.say(observations(disk, 0));
    await talk.next('ack');
    expect(accept.mock.calls[0]?.[0]).toMatchObject({ clockOffsetMs: -off });
  });

  it('stores a new key that was asked for', async () => {
    const storeKey = vi.fn(async () => true);
    const { identities } = stage().deps;
    const { talk, session, disk } = await ready({ identities: { ...identities, storeKey } });
    session.rotate();
    await talk.next('rotate');
    const key = makeKey();
    const [challenge] = talk.of('challenge');
    talk.say(newKey(disk, challenge?.nonce ?? '', key));
    expect(await talk.next('key-stored')).toEqual({
      type: 'key-stored',
      publicKey: key.raw.toString('base64'),
    });
    expect(storeKey).toHaveBeenCalledWith(disk.id, challenge?.nonce, expect.anything());
  });

  it('attack: a key that nobody asked for is refused', async () => {
    const storeKey = vi.fn(async () => true);
    const { identities } = stage().deps;
    const { talk, session, disk } = await ready({ identities: { ...identities, storeKey } });
    const [challenge] = talk.of('challenge');
    const say = () => talk.say(newKey(disk, challenge?.nonce ?? '', makeKey()));
    say();
    expect((await talk.next('refused')).reason).toMatch(/nobody asked/);
    session.rotate();
    await talk.next('rotate');
    say();
    await talk.next('key-stored');
    // One request is worth one key.
    say();
    await talk.next('refused');
    expect(storeKey).toHaveBeenCalledTimes(1);
  });

  it('says nothing any more once it is closed', async () => {
    const store = later<{ through: number; ended: string[] }>();
    const { talk, disk, session, deps } = await ready({ accept: () => store.promise });
    talk.say(observations(disk, 0));
    await turns();
    session.close(CloseCode.revoked, 'revoked');
    store.settle({ through: 0, ended: [] });
    await turns();
    expect(talk.of('ack')).toEqual([]);
    session.close(CloseCode.internal, 'again');
    session.closed(1006);
    expect(deps.onClosed).toHaveBeenCalledOnce();
    expect(await talk.closed).toEqual({ code: CloseCode.revoked, reason: 'revoked' });
  });

  it('survives any frames in any order, and never stores before it is ready', async () => {
    const frame = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          type: fc.constantFrom(
            'hello',
            'confirm',
            'working',
            'progress',
            'outcome',
            'observations',
            'heartbeat',
            'new-key',
          ),
          generation: fc.integer({ min: -1, max: 5 }),
          jobs: fc.constant([]),
          items: fc.array(fc.jsonValue(), { maxLength: 3 }),
          from: fc.nat(5),
          epoch: fc.uuid(),
          stream: fc.constantFrom('state', 'event'),
        })
        .map((message) => JSON.stringify(message)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 12 }), fc.boolean(), async (frames, known) => {
        const { session, accept, deps } = known ? await ready() : stage();
        for (const text of frames) session.receive(Buffer.from(text));
        await turns(3);
        if (!known) expect(accept).not.toHaveBeenCalled();
        expect(vi.mocked(deps.onClosed).mock.calls.length).toBe(session.state === 'closed' ? 1 : 0);
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});
