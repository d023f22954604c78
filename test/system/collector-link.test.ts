import type { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Collector } from '@rollcall/collector/link/conversation';
import {
  type Identity,
  Keys,
  makeKey,
  prepareFolder,
  publicKeyOf,
  saveIdentity,
} from '@rollcall/collector/link/identity';
import { Link } from '@rollcall/collector/link/link';
import type { LinkState } from '@rollcall/collector/link/states';
import { Outbox } from '@rollcall/collector/outbox/outbox';
import { fastClock } from '@rollcall/collector/testing/fast-clock';
import { recordingLog } from '@rollcall/collector/testing/recording-log';
import { isSigned, type Peer, ScriptedServer, SITE } from '@rollcall/collector/testing/scripted-server';
import { systemClock } from '@rollcall/shared/clock';
import { type Observation, ofStreams, type Stream } from '@rollcall/shared/observation';
import {
  CloseCode,
  type CollectorMessage,
  IN_FLIGHT_BYTES,
  PROTOCOL_VERSION,
  WINDOW,
} from '@rollcall/shared/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const COLLECTOR = '0192f0c0-0000-7000-8000-0000000000c0';
/** Time runs so much faster for the link: 25 s of silence are a second. */
const FACTOR = 25;
/** What the machine kept this process waiting at most, in the link's time, ms: a bound on the link allows for it. */
const machine = monitorEventLoopDelay({ resolution: 10 });
const withheld = () => (machine.max / 1e6) * FACTOR;

let folder: string;
let server: ScriptedServer;
let stops: (() => Promise<void> | void)[];
beforeEach(async () => {
  machine.enable();
  machine.reset();
  folder = mkdtempSync(join(tmpdir(), 'rollcall-link-'));
  stops = [() => rmSync(folder, { recursive: true, force: true })];
  server = await ScriptedServer.start();
  stops.push(() => server.stop());
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

const trap = (n: number): Observation => ({
  kind: 'trap',
  at: n,
  address: '10.0.0.1',
  snmpVersion: 'v2c',
  trapOid: '1.3',
  varbinds: [],
});
const host = (n: number): Observation => ({
  kind: 'host',
  at: n,
  address: `10.0.${n >> 8}.${n & 255}`,
  snmp: 'silent',
});
const hosts = (count: number, from = 0) => Array.from({ length: count }, (_, i) => host(from + i));

interface Running {
  link: Link;
  outbox: Outbox;
  keys: Keys;
  states: LinkState[];
  logged: Parameters<typeof recordingLog>[0];
  calls: unknown[][];
  identity: () => Identity;
}

const start = async (
  more: Partial<Identity> = {},
  working: () => { job: string; fence: number }[] = () => [],
  over: {
    saveGeneration?: () => void;
    onState?: (state: LinkState, now: number) => void;
    factor?: number;
  } = {},
): Promise<Running> => {
  const state = join(folder, 'state');
  prepareFolder(state);
  const key = makeKey(state);
  let identity: Identity = {
    format: 1,
    server: more.server ?? server.url,
    path: '/api/collectors/link',
    collector: COLLECTOR,
    name: 'c1',
    site: SITE,
    generation: 0,
    ...more,
  };
  saveIdentity(state, identity);
  const logged: Parameters<typeof recordingLog>[0] = [];
  const log = recordingLog(logged);
  const settings = { bytes: 256 * 1024 * 1024, ageMs: 1e12, minFreeBytes: 0 };
  const outbox = await Outbox.open({ folder: join(state, 'outbox'), settings, clock: systemClock, log });
  const keys = new Keys(state, key);
  const calls: unknown[][] = [];
  const note = (...call: unknown[]) => void calls.push(call);
  let anew = 0;
  const collector: Collector = {
    outbox,
    identity: () => identity,
    saveGeneration: (generation) => {
      over.saveGeneration?.();
      identity = { ...identity, generation };
      saveIdentity(state, identity);
    },
    key: () => keys.current,
    keyWorks: (used) => keys.works(used),
    makeNextKey: () => keys.makeNext(),
    useNextKey: () => keys.useNext(),
    tryOtherKey: () => keys.tryOther(),
    about: () => ({ software: 'test', hostname: 'test', capacity: 4, engines: [] }),
    health: () => {
      const { depth, bytes, oldest, drops } = outbox.status();
      return { time: Date.now(), outbox: { depth, bytes, oldest }, drops };
    },
    working,
    assign: (assignment) => note('assign', assignment.job, assignment.fence),
    cancel: (job, fence) => note('cancel', job, fence),
    rules: (rules) => note('rules', rules.id),
    watch: () => note('watch'),
    sequenceRegression: async (reason) => {
      anew += 1;
      if (anew === 1) await outbox.startAnew(reason);
    },
  };
  const states: LinkState[] = [];
  const clock = fastClock(over.factor ?? FACTOR);
  const onState = (next: LinkState) => {
    states.push(next);
    over.onState?.(next, clock.monotonic());
  };
  const link = new Link({ collector, clock, log, onState });
  stops.push(() => outbox.close());
  stops.push(() => link.stop());
  return { link, outbox, keys, states, logged, calls, identity: () => identity };
};

/** A server that keeps what it is sent, each sequence once, and acknowledges it. */
class Store {
  readonly kept = ofStreams(() => new Map<number, unknown>());
  readonly order: string[] = [];
  duplicates = 0;
  epoch = '';

  through(): Record<Stream, number> {
    return ofStreams((stream) => Math.max(-1, ...this.kept[stream].keys()));
  }

  take(peer: Peer, message: CollectorMessage, ack = true): void {
    if (message.type !== 'observations') return;
    this.epoch = message.epoch;
    for (const [i, item] of message.items.entries()) {
      const seq = message.from + i;
      if (this.kept[message.stream].has(seq)) this.duplicates += 1;
      this.kept[message.stream].set(seq, item);
      this.order.push(`${message.stream} ${seq}`);
    }
    if (ack) peer.ack(message.epoch, message.stream, message.from + message.items.length - 1);
  }
}

/** Serves every connection until the test ends. */
const serve = (store: Store, onPeer: (peer: Peer) => void = () => undefined) => {
  let over = false;
  stops.push(() => {
    over = true;
  });
  void (async () => {
    while (!over) {
      const peer = await server.peer();
      onPeer(peer);
      peer.onMessage = (message) => store.take(peer, message);
      peer.greet(store.through()).catch(() => undefined);
    }
  })();
};

const until = async (condition: () => boolean, what = 'it', ms = 15_000) => {
  for (const end = Date.now() + ms; !condition(); ) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await systemClock.sleep(5);
  }
};
const words = (run: Running) => run.logged.map(({ msg }) => String(msg)).join('\n');

describe('greeting', () => {
  test('D58, D63: the hello signs this challenge for this server; the generation is on disk before it is confirmed', async () => {
    const run = await start();
    const peer = await server.peer();
    peer.challenge();
    const hello = await peer.hear('hello');
    expect(hello).toMatchObject({
      collector: COLLECTOR,
      generation: 0,
      last: { state: -1, event: -1 },
      epoch: run.outbox.epoch,
    });
    const publicKey = publicKeyOf(run.keys.current);
    const address = `127.0.0.1:${server.port}`;
    expect(isSigned(hello, peer.nonce, address, publicKey)).toBe(true);
    expect(isSigned(hello, 'another nonce', address, publicKey)).toBe(false);
    expect(isSigned(hello, peer.nonce, 'elsewhere', publicKey)).toBe(false);

    let onDisk = -1;
    peer.onMessage = (message) => {
      if (message.type === 'confirm')
        onDisk = JSON.parse(readFileSync(join(folder, 'state', 'identity.json'), 'utf8')).generation;
    };
    peer.welcome({ state: -1, event: -1 }, 7);
    expect(await peer.hear('confirm')).toMatchObject({ generation: 7 });
    expect(onDisk).toBe(7);
    expect(await peer.hear('working')).toMatchObject({ jobs: [] });
    const order = peer.heard.map(({ type }) => type);
    expect(order.indexOf('confirm')).toBeLessThan(order.indexOf('working'));
    expect(run.link.state).toBe('ready');
  });

  test('A22: after a reconnect it says what it works on, and hears of cancellations', async () => {
    const job = '0192f0c0-0000-7000-8000-000000000010';
    const run = await start({}, () => [{ job, fence: 3 }]);
    const first = await server.peer();
    await first.greet();
    first.raw.destroy();
    const second = await server.peer();
    await second.greet();
    expect(await second.hear('working')).toMatchObject({ jobs: [{ job, fence: 3 }] });
    second.send({ type: 'cancel', job, fence: 3 });
    await until(() => run.calls.length > 0);
    expect(run.calls).toEqual([['cancel', job, 3]]);
  });

  test('A21: a server too old is told which versions are spoken; unknown messages do no harm', async () => {
    const run = await start();
    const peer = await server.peer();
    peer.challenge(0);
    const { code, reason } = await peer.gone();
    expect(code).toBe(CloseCode.version);
    expect(reason).toMatch(new RegExp(`speaks versions 1 to ${PROTOCOL_VERSION}, the server 0`));

    const next = await server.peer();
    await next.greet();
    for (let i = 0; i < 5; i++) next.send({ type: 'something-new', shiny: true });
    next.send({ type: 'ruleset', ruleset: { id: 'r1', extra: [] } });
    await until(() => run.calls.length > 0);
    expect(run.calls).toEqual([['rules', 'r1']]);
    expect(next.closed).toBeNull();
  });

  test('nonsense is counted, and the third time closes', async () => {
    const run = await start();
    const peer = await server.peer();
    await peer.greet();
    for (let i = 0; i < 3; i++) peer.socket.send('{"type":"ack"}');
    expect((await peer.gone()).code).toBe(CloseCode.badMessage);
    expect(words(run)).toMatch(/sent an invalid message/);
  });
});

describe('delivery', () => {
  test('A1: a batch whose acknowledgement is lost is sent again under the same names', async () => {
    const run = await start();
    await run.outbox.append(hosts(10));
    const first = await server.peer();
    await first.greet();
    const sent = await first.hear('observations');
    first.raw.destroy();
    const second = await server.peer();
    await second.greet({ state: -1, event: -1 }, 2);
    const again = await second.hear('observations');
    expect(again).toEqual(sent);
    expect(again).toMatchObject({ stream: 'state', from: 0, items: { length: 10 } });
    second.ack(again.epoch, 'state', 9);
    await until(() => run.outbox.status().depth === 0);
  });

  test('A1: what the server has committed although the acknowledgement was lost is not sent again', async () => {
    const run = await start();
    await run.outbox.append(hosts(10));
    const first = await server.peer();
    await first.greet();
    await first.hear('observations');
    first.raw.destroy();
    const second = await server.peer();
    await second.greet({ state: 6, event: -1 });
    expect(await second.hear('observations')).toMatchObject({ from: 7, items: { length: 3 } });
    await until(() => run.outbox.status().depth === 3);
  });

  test('A10: ten outages in a row while more is collected: everything arrives, in order, once', async () => {
    const run = await start();
    const store = new Store();
    let peer: Peer | undefined;
    serve(store, (next) => {
      peer = next;
    });
    for (let round = 0; round < 10; round++) {
      await run.outbox.append(hosts(300, round * 300));
      await until(() => run.link.state === 'ready');
      await systemClock.sleep(Math.random() * 30);
      peer?.raw.destroy();
      await until(() => run.link.state !== 'ready');
    }
    await until(() => run.outbox.status().depth === 0, 'delivery');
    expect([...store.kept.state.values()]).toEqual(hosts(3000));
    expect(store.order.filter((each, i) => store.order.indexOf(each) === i)).toEqual(
      Array.from({ length: 3000 }, (_, i) => `state ${i}`),
    );
  });

  test('A14: acknowledgements repeated, out of order or of another epoch delete nothing', async () => {
    const run = await start();
    await run.outbox.append(hosts(10));
    const peer = await server.peer();
    const { epoch } = await peer.greet();
    await peer.hear('observations');
    peer.ack(epoch, 'state', 5);
    peer.ack(epoch, 'state', 2);
    peer.ack(epoch, 'state', 5);
    peer.ack('0192f0c0-0000-7000-8000-00000000dead', 'state', 9);
    await until(() => run.outbox.status().depth === 4);
    await systemClock.sleep(50);
    expect(run.outbox.status().depth).toBe(4);
    expect(words(run)).toMatch(/sent an invalid message/);
    expect(run.link.state).toBe('ready');
  });

  test('A15: an acknowledgement of what was never sent deletes nothing and closes', async () => {
    const run = await start();
    await run.outbox.append(hosts(10));
    const peer = await server.peer();
    const { epoch } = await peer.greet();
    await peer.hear('observations');
    peer.ack(epoch, 'state', 5000);
    expect((await peer.gone()).code).toBe(CloseCode.badMessage);
    expect(run.outbox.status().depth).toBe(10);
  });

  test('A18: a server that acknowledges nothing gets a window full and no more', async () => {
    const run = await start({}, undefined, { factor: 1 });
    const peer = await server.peer();
    const { epoch } = await peer.greet();
    const job = '0192f0c0-0000-7000-8000-000000000001';
    const ofJob = (from: number) => hosts(2000, from).map((each) => ({ ...each, job, rttMs: 0.123456 }));
    for (let i = 0; i < 60; i++) await run.outbox.append(ofJob(i * 2000));
    let acked = -1;
    // Quick acknowledgements open the window; then none come.
    for (let i = 0; i < 12; i++) {
      const batch = await peer.hear('observations', ({ from }) => from === acked + 1);
      acked = batch.from + batch.items.length - 1;
      peer.ack(epoch, 'state', acked);
    }
    const unheard = () => peer.heard.filter((said) => said.type === 'observations' && said.from > acked);
    const together = () =>
      unheard()
        .flatMap((said) => (said.type === 'observations' ? said.items : []))
        .reduce((sum: number, item) => sum + JSON.stringify(item).length, 0);
    await until(() => together() > IN_FLIGHT_BYTES / 2);
    await systemClock.sleep(300);
    const waiting = unheard();
    expect(waiting.length).toBeLessThanOrEqual(WINDOW);
    const bytes = waiting.map((said) => Buffer.byteLength(JSON.stringify(said)));
    expect(Math.max(...bytes)).toBeLessThanOrEqual(256 * 1024 + 200);
    expect(together()).toBeLessThanOrEqual(IN_FLIGHT_BYTES);
    await until(() => run.outbox.status().depth === 120_000 - acked - 1);
  });

  test('events overtake a backlog of state', async () => {
    const run = await start({}, undefined, { factor: 1 });
    const store = new Store();
    const peer = await server.peer();
    peer.onMessage = (message) => store.take(peer, message, false);
    const { epoch } = await peer.greet();
    for (let i = 0; i < 20; i++) await run.outbox.append(hosts(2000, i * 2000));
    await run.outbox.append([trap(1)]);
    // Nothing was acknowledged until now: what is on its way is all that can come before the event.
    await until(() => store.kept.state.size > 0);
    peer.onMessage = (message) => store.take(peer, message);
    peer.ack(epoch, 'state', store.through().state);
    await until(() => run.outbox.status().depth === 0);
    expect(store.order.indexOf('event 0')).toBeGreaterThan(0);
    expect(store.order.indexOf('event 0')).toBeLessThan(3_000);
    expect(store.kept.state.size).toBe(40_000);
  });

  test('B35: a server that knows more than the outbox ever gave: a new epoch is begun, once', async () => {
    const run = await start();
    await run.outbox.append(hosts(5));
    const first = await server.peer();
    const { epoch } = await first.greet({ state: 400, event: -1 }).catch(() => ({ epoch: '' }));
    await first.gone();
    const second = await server.peer();
    const hello = await second.greet();
    expect(hello.epoch).not.toBe(epoch);
    const gap = await second.hear('observations', ({ stream }) => stream === 'event');
    expect(gap.items).toMatchObject([{ kind: 'gap', reason: 'damaged', count: 5 }]);
    second.raw.destroy();
    const third = await server.peer();
    third.challenge();
    expect((await third.hear('hello')).epoch).toBe(hello.epoch);
    third.welcome({ state: 400, event: 400 });
    await third.gone();
    const fourth = await server.peer();
    fourth.challenge();
    expect((await fourth.hear('hello')).epoch).toBe(hello.epoch);
  });
});

describe('a bad line', () => {
  /** A proxy on the way; `pass` gets each piece and may hold it up, cut it or the line. */
  const proxy = async (pass: (piece: Buffer, out: Socket, cut: () => void, upstream: boolean) => void) => {
    const relay: Server = createServer((near) => {
      const far = new Socket();
      const cut = () => {
        near.destroy();
        far.destroy();
      };
      far.connect(server.port, '127.0.0.1');
      near.on('data', (piece) => pass(piece, far, cut, true));
      far.on('data', (piece) => pass(piece, near, cut, false));
      for (const socket of [near, far]) {
        socket.on('error', () => undefined);
        socket.on('close', cut);
      }
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => relay.close(() => resolve())));
    const address = relay.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  };

  test('A5, A7: cut after any number of bytes, in the middle of frames: everything arrives once', async () => {
    const CUTS = 15;
    let cuts = 0;
    let left = 900;
    const url = await proxy((piece, out, cut, upstream) => {
      if (!upstream || cuts >= CUTS) {
        out.write(piece);
        return;
      }
      out.write(piece.subarray(0, Math.max(0, left)));
      const wasOpen = left > 0;
      left -= piece.length;
      if (left > 0 || !wasOpen) return;
      setTimeout(() => {
        cuts += 1;
        left = 700 + Math.floor(Math.random() * 6000);
        cut();
      }, 2);
    });
    const run = await start({ server: url });
    await run.outbox.append(hosts(2000));
    const store = new Store();
    serve(store);
    await until(() => run.outbox.status().depth === 0, 'delivery', 25_000);
    expect([...store.kept.state.values()]).toEqual(hosts(2000));
    expect(cuts).toBe(CUTS);
  });

  test('A6: sliced into single bytes: the same, only slower', async () => {
    const url = await proxy((piece, out) => {
      for (const byte of piece) out.write(Buffer.from([byte]));
    });
    const run = await start({ server: url });
    await run.outbox.append(hosts(100));
    const store = new Store();
    serve(store);
    await until(() => run.outbox.status().depth === 0);
    expect([...store.kept.state.values()]).toEqual(hosts(100));
  });

  test('A3: a line that goes silent is given up after 25 s of silence, and taken up again', async () => {
    let dead = false;
    const url = await proxy((piece, out) => {
      if (!dead) out.write(piece);
    });
    // Slower than elsewhere: a second that a busy machine withholds is not taken for silence.
    const factor = 10;
    const run = await start({ server: url }, undefined, { factor });
    const store = new Store();
    serve(store, (peer) => {
      const timer = setInterval(() => peer.socket.ping(), 100);
      peer.socket.on('close', () => clearInterval(timer));
    });
    await until(() => run.link.state === 'ready');
    // Pings alone keep it: longer than the silence allowed.
    await systemClock.sleep(3_500);
    expect(run.link.state).toBe('ready');
    dead = true;
    const since = Date.now();
    await until(() => run.link.state !== 'ready');
    const took = (Date.now() - since) * factor;
    expect(took).toBeGreaterThan(20_000);
    expect(took).toBeLessThan(40_000 + withheld());
    await run.outbox.append(hosts(5));
    dead = false;
    await until(() => run.outbox.status().depth === 0, 'delivery after the silence');
    expect(words(run)).toMatch(/nothing was heard of the server for too long/);
  });

  test('A9: on a slow line heartbeats are still heard in time', async () => {
    const factor = 5;
    // 64 kbit/s: a whole batch would take half a minute.
    let line = Promise.resolve();
    const url = await proxy((piece, out, _cut, upstream) => {
      if (!upstream) {
        out.write(piece);
        return;
      }
      line = line.then(async () => {
        await systemClock.sleep(((piece.length / 8192) * 1000) / factor);
        out.write(piece);
      });
    });
    const run = await start({ server: url }, undefined, { factor });
    for (let i = 0; i < 10; i++) await run.outbox.append(hosts(2000, i * 2000));
    const store = new Store();
    const beats: number[] = [];
    serve(store, (peer) => {
      const timer = setInterval(() => peer.socket.ping(), 200);
      peer.socket.on('close', () => clearInterval(timer));
      peer.socket.on('message', (data) => {
        if (data.toString().startsWith('{"type":"heartbeat"')) beats.push(Date.now());
      });
    });
    await until(() => beats.length >= 6, 'heartbeats', 60_000);
    const waits = beats.slice(1).map((at, i) => (at - (beats[i] ?? 0)) * factor);
    expect(Math.max(...waits)).toBeLessThan(25_000);
    expect(run.states.filter((state) => state === 'ready')).toHaveLength(1);
  }, 90_000);
});

describe('who refuses us, and what follows', () => {
  /** Milliseconds of the link's time between the end of one connection and the next try. */
  const nextTry = async (): Promise<number> => {
    const since = Date.now();
    const before = server.requests.length;
    await until(() => server.requests.length > before, 'another try', 30_000);
    return (Date.now() - since) * FACTOR;
  };

  test('D59: revoked: it stops for good and keeps its outbox', async () => {
    const run = await start();
    await run.outbox.append(hosts(3));
    const peer = await server.peer();
    peer.challenge();
    await peer.hear('hello');
    peer.socket.close(CloseCode.revoked, 'revoked');
    await until(() => run.link.state === 'stopped');
    await systemClock.sleep(300);
    expect(server.requests).toHaveLength(1);
    expect(run.outbox.status().depth).toBe(3);
    expect(words(run)).toMatch(/revoked.*stays in its outbox.*join with a new token/);
  });

  test.each([
    [CloseCode.quarantined, /quarantined.*exist twice/],
    [CloseCode.unauthorized, /does not know this collector/],
    [CloseCode.version, /no common protocol version \(spoken: 9 to 9\).*update/],
    [CloseCode.replaced, /another connection of this collector/],
  ])('close code %i: tried again at the slowest pace, with words that help', async (code, expected) => {
    const run = await start();
    const peer = await server.peer();
    peer.challenge();
    await peer.hear('hello');
    peer.socket.close(code, 'spoken: 9 to 9');
    await peer.gone();
    expect(await nextTry()).toBeGreaterThan(14_000);
    expect(words(run)).toMatch(expected);
  });

  test.each([
    CloseCode.restart,
    CloseCode.goingAway,
    CloseCode.internal,
    CloseCode.helloTimeout,
    CloseCode.silent,
    CloseCode.tryLater,
  ])('close code %i: tried again soon', async (code) => {
    await start();
    const peer = await server.peer();
    await peer.greet();
    peer.socket.close(code, '');
    await peer.gone();
    expect(await nextTry()).toBeLessThan(5000 + withheld());
  });

  test.each([
    ['A12', 'HTTP/1.1 401 Unauthorized\r\n\r\n', 14_000, /refuses the link \(status 401\)/],
    ['A12', 'HTTP/1.1 403 Forbidden\r\n\r\n', 14_000, /refuses the link \(status 403\)/],
    ['A13', 'HTTP/1.1 503 Busy\r\nRetry-After: 20\r\n\r\n', 19_500, /busy \(status 503\)/],
    [
      'D63',
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x\r\n\r\n',
      14_000,
      /sends us on to .*not followed/,
    ],
    ['', 'HTTP/1.1 404 Not Found\r\n\r\n', 14_000, /no Rollcall server answers/],
  ])('%s: %j: no hot loop, a clear line', async (_case, text, least, expected) => {
    server.refuseUpgrade = text;
    const run = await start();
    await until(() => server.requests.length === 1);
    expect(await nextTry()).toBeGreaterThan(least);
    expect(words(run)).toMatch(expected);
    // The same trouble again is not told again.
    await nextTry();
    expect(run.logged.filter(({ level, msg }) => level >= 40 && expected.test(String(msg)))).toHaveLength(1);
  });

  test('A11: a server that takes the connection and says nothing is left after 10 s', async () => {
    server.mute = true;
    const run = await start();
    await until(() => server.requests.length === 1);
    const since = Date.now();
    await until(() => run.link.state === 'waiting');
    expect((Date.now() - since) * FACTOR).toBeLessThan(35_000 + withheld());
    expect(words(run)).toMatch(/did not open the link in time/);
  });

  test('A11: so is one that opens the link and never greets', async () => {
    const run = await start();
    const peer = await server.peer();
    await peer.gone();
    expect(words(run)).toMatch(/did not greet in time/);
  });

  test('A11: waits grow with full jitter, up to 10 s', async () => {
    const { port, url } = server;
    await server.stop();
    const run = await start({ server: url });
    await until(() => run.states.filter((state) => state === 'connecting').length >= 8, 'tries', 20_000);
    expect(words(run)).toMatch(/nobody listens there/);
    server = await ScriptedServer.start(port);
    const peer = await server.peer();
    await peer.greet();
    expect(run.link.state).toBe('ready');
  });

  test('G5: however long the outage was, the next try comes within 10 s, at random', async () => {
    const { url } = server;
    await server.stop();
    const at: number[] = [];
    let waitingSince = 0;
    await start({ server: url }, () => [], {
      onState: (state, now) => {
        if (state === 'waiting') waitingSince = now;
        else if (waitingSince > 0) at.push(now - waitingSince);
      },
    });
    await until(() => at.length >= 40, 'tries', 25_000);
    const long = at.slice(5);
    // What a timer of a busy machine is late, this clock makes a multiple of.
    expect(long.sort((a, b) => a - b)[Math.floor(long.length * 0.8)]).toBeLessThan(11_000);
    expect(Math.max(...long)).toBeGreaterThan(5000);
    expect(Math.min(...long)).toBeLessThan(5000);
    server = await ScriptedServer.start();
  }, 40_000);

  test('B28: where the generation cannot be written down it is not confirmed: later again, and it does not die', async () => {
    let full = true;
    const run = await start({}, () => [], {
      saveGeneration: () => {
        if (full) throw Object.assign(new Error('write'), { code: 'ENOSPC' });
      },
    });
    const peer = await server.peer();
    peer.greet().catch(() => undefined);
    await peer.gone();
    expect(peer.heard.map(({ type }) => type)).toEqual(['hello']);
    await until(() => /state folder cannot be written: the disk is full/.test(words(run)));
    full = false;
    await (await server.peer()).greet();
    expect(run.link.state).toBe('ready');
  });

  test('B36: told to stop, it closes and tries no more', async () => {
    const run = await start();
    const peer = await server.peer();
    await peer.greet();
    await run.link.stop();
    expect((await peer.gone()).code).toBe(CloseCode.goingAway);
    expect(run.link.state).toBe('stopped');
    await systemClock.sleep(300);
    expect(server.requests).toHaveLength(1);
  });

  test('a server about to go gets nothing new; what is on its way is acknowledged', async () => {
    const run = await start();
    await run.outbox.append(hosts(5));
    const peer = await server.peer();
    const { epoch } = await peer.greet();
    await peer.hear('observations');
    peer.send({ type: 'drain', reason: 'update' });
    await until(() => run.link.state === 'draining');
    await run.outbox.append(hosts(5, 5));
    peer.ack(epoch, 'state', 4);
    await until(() => run.outbox.status().depth === 5);
    await systemClock.sleep(100);
    expect(peer.heard.filter(({ type }) => type === 'observations')).toHaveLength(1);
  });
});

describe('D60: a new key', () => {
  const raw = (key: Parameters<typeof createPublicKey>[0]) => publicKeyOf(key as never);

  test('made when asked, proved, used for the next hello, and then the only one', async () => {
    const run = await start();
    const old = raw(run.keys.current as never);
    const first = await server.peer();
    await first.greet();
    first.send({ type: 'rotate' });
    const { publicKey } = await first.hear('new-key');
    expect(publicKey).not.toBe(old);
    first.send({ type: 'key-stored', publicKey });
    await first.gone();
    const second = await server.peer();
    const hello = await second.greet();
    const address = `127.0.0.1:${server.port}`;
    expect(isSigned(hello, second.nonce, address, publicKey)).toBe(true);
    await until(() => run.link.state === 'ready');
    expect(raw(run.keys.current as never)).toBe(publicKey);
    expect(readFileSync(join(folder, 'state', 'key.pem'), 'utf8')).toContain('PRIVATE KEY');
  });

  test('a link cut before the server stored it: the old one still signs; refused, the other one is tried', async () => {
    const run = await start();
    const old = raw(run.keys.current as never);
    const address = `127.0.0.1:${server.port}`;
    const first = await server.peer();
    await first.greet();
    first.send({ type: 'rotate' });
    const { publicKey } = await first.hear('new-key');
    first.raw.destroy();
    const second = await server.peer();
    second.challenge();
    expect(isSigned(await second.hear('hello'), second.nonce, address, old)).toBe(true);
    second.socket.close(CloseCode.unauthorized, '');
    const third = await server.peer();
    third.challenge();
    expect(isSigned(await third.hear('hello'), third.nonce, address, publicKey)).toBe(true);
    third.socket.close(CloseCode.unauthorized, '');
    const fourth = await server.peer();
    fourth.challenge();
    expect(isSigned(await fourth.hear('hello'), fourth.nonce, address, old)).toBe(true);
  });
});
