import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { systemClock } from '@rollcall/shared/clock';
import { CloseCode, COLLECTOR_PATH, FRAME_BYTES, PING_MS, SILENCE_MS } from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { mintToken } from '../../platform/access/token.ts';
import { taken } from '../../testing/gateway.ts';
import { type Disk, makeKey, shakeHands, talkOver } from '../../testing/scripted-collector.ts';
import { Session, type SessionDeps } from './session.ts';
import { shareOf } from './window.ts';
import { createGateway, type GatewayDeps, refusal } from './ws.ts';

const SITE = { id: randomUUID(), name: 'Berlin' };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A gateway on a real socket; conversations are real, what is behind them is the least. */
async function gateway(more: Partial<GatewayDeps> & { accept?: SessionDeps['accept'] } = {}) {
  const clock = more.clock ?? systemClock;
  const sessions: Session[] = [];
  const deps: SessionDeps = {
    clock,
    log: pino({ level: 'silent' }),
    accept: more.accept ?? (async (unread) => taken(unread.gather())),
    credentialsFor: async () => ({ credentials: [], known: {} }),
    ruleset: () => undefined,
    watchList: () => async () => [],
    identities: {
      admit: async ({ collector, generation }) => ({
        ok: true,
        collector: {
          id: collector,
          name: 'c',
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
    jobs: {
      claim: async () => [],
      extend: async () => [],
      refuse: async () => true,
      giveBack: async () => [],
    },
    share: () => shareOf(1),
    onReady: () => undefined,
    onClosed: () => undefined,
  };
  const made = createGateway({
    clock,
    log: deps.log,
    open: (link, peer) => {
      const session = new Session(link, peer, deps);
      sessions.push(session);
      return session;
    },
    ...more,
  });
  const server: Server = createServer();
  server.on('upgrade', made.upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closing.push(() => {
    made.close();
    server.closeAllConnections();
    server.close();
  });
  return { made, sessions, port, base: `ws://127.0.0.1:${port}`, host: `127.0.0.1:${port}` };
}

const disk = (): Disk => ({
  id: randomUUID(),
  key: makeKey(),
  generation: 0,
  epoch: randomUUID(),
  last: { state: -1, event: -1 },
});
const over = (base: string, options: Parameters<typeof talkOver>[1] = {}) => {
  const made = talkOver(base, options);
  closing.push(() => made.socket.terminate());
  return made;
};
const ready = async (at: { base: string; host: string }, options: Parameters<typeof talkOver>[1] = {}) => {
  const made = over(at.base, options);
  await shakeHands(made.talk, disk(), at.host);
  return made;
};
/** Status and body of an upgrade that is refused; 101 when it is not. */
const upgrade = (
  port: number,
  headers: Record<string, string>,
  path: string = COLLECTOR_PATH,
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    closing.push(() => socket.terminate());
    socket.on('open', () => resolve({ status: 101, body: '' }));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      let body = '';
      response.on('data', (part) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
/** A bare connection that has shaken hands up to the WebSocket: frames are written byte by byte. */
const bare = async (port: number): Promise<{ socket: Socket; closed: Promise<number> }> => {
  const socket = connect(port, '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.write(
    [
      `GET ${COLLECTOR_PATH} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      '',
      '',
    ].join('\r\n'),
  );
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => {
      // The last frame is the close frame: 0x88, length, code.
      const all = Buffer.concat(chunks);
      const at = all.lastIndexOf(0x88);
      resolve(at >= 0 && all.length >= at + 4 ? all.readUInt16BE(at + 2) : 0);
    });
  });
  return { socket, closed };
};
/** One masked client frame. */
const frame = (first: number, payload: Buffer): Buffer => {
  const mask = Buffer.from([1, 2, 3, 4]);
  const body = Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  const head =
    payload.length < 126
      ? Buffer.from([first, 0x80 | payload.length])
      : Buffer.concat([Buffer.from([first, 0x80 | 127]), u64(payload.length)]);
  return Buffer.concat([head, mask, body]);
};
/** The connection under a WebSocket. */
const tcpOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;
const heartbeat = {
  type: 'heartbeat',
  time: 1,
  outbox: { depth: 0, bytes: 0, oldest: null },
  drops: {},
} as const;
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

describe('opening a link', () => {
  it('case 133: refuses browsers and cookies before the upgrade', async () => {
    const { port, made } = await gateway();
    for (const headers of [
      { Origin: 'https://evil.example.net' },
      { Origin: 'null' },
      { Origin: `http://127.0.0.1:${port}` },
      { Cookie: 'rollcall=abc' },
      { 'Sec-Fetch-Site': 'same-origin' },
    ] as Record<string, string>[])
      expect(await upgrade(port, headers)).toMatchObject({ status: 403 });
    expect(made.size).toBe(0);
    expect(made.counts.refused).toBe(5);
  });

  it('case 65: refuses a personal token, and says what is wrong without repeating it', async () => {
    const { port } = await gateway();
    const { plaintext } = mintToken();
    const { status, body } = await upgrade(port, { Authorization: `Bearer ${plaintext}` });
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'unauthorized' } });
    expect(body).not.toContain(plaintext);
  });

  it('case 137: refuses other paths, wrong versions, missing keys; no header crowd harms it', async () => {
    const { port, base, host } = await gateway();
    expect(await upgrade(port, {}, '/api/stream')).toMatchObject({ status: 404 });
    expect(await upgrade(port, {}, `${COLLECTOR_PATH}?x=1`)).toMatchObject({ status: 404 });
    expect(await upgrade(port, {}, `${COLLECTOR_PATH}/`)).toMatchObject({ status: 404 });
    const raw = (lines: string[]): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        let text = '';
        socket.on('data', (part) => {
          text += part;
        });
        socket.on('error', () => resolve(text));
        socket.on('close', () => resolve(text));
        socket.write(
          [`GET ${COLLECTOR_PATH} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', ...lines, '', ''].join(
            '\r\n',
          ),
        );
      });
    expect(await raw(['Upgrade: websocket', 'Sec-WebSocket-Version: 13'])).toMatch(/^HTTP\/1.1 400/);
    expect(
      await raw([
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 99',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ]),
    ).toMatch(/^HTTP\/1.1 (400|426)/);
    expect(await raw(['Upgrade: h2c'])).toMatch(/^HTTP\/1.1 4/);
    await raw(['Upgrade: websocket', ...Array.from({ length: 3_000 }, (_, i) => `X-${i}: ${i}`)]);
    await ready({ base, host });
  });

  it('goes by the names it was given, when it was given any', () => {
    const request = (host?: string) => ({
      url: COLLECTOR_PATH,
      method: 'GET',
      headers: host === undefined ? {} : { host },
    });
    expect(refusal(request('rollcall.example.net'), ['rollcall.example.net'])).toBeNull();
    expect(refusal(request('Rollcall.Example.Net'), ['rollcall.example.net'])).toBeNull();
    expect(refusal(request('evil.example.net'), ['rollcall.example.net'])).toMatchObject({ status: 403 });
    expect(refusal(request(), undefined)).toMatchObject({ status: 400 });
    expect(refusal(request('any.example.net'))).toBeNull();
  });

  it('case 136: negotiates no compression', async () => {
    const { base, host } = await gateway();
    const { socket } = await ready({ base, host }, { perMessageDeflate: true });
    expect(socket.extensions).toBe('');
  });

  it('case 139: takes so many unauthenticated connections from one address and no more; they are gone after five seconds', async () => {
    const clock = new ManualClock();
    const { port, base, host, made } = await gateway({ clock });
    const unauthenticated = await Promise.all(Array.from({ length: 70 }, () => upgrade(port, {})));
    expect(unauthenticated.filter(({ status }) => status === 101)).toHaveLength(64);
    expect(unauthenticated.filter(({ status }) => status === 503)).toHaveLength(6);
    expect(made.counts.overLimit).toBe(6);
    await clock.pass(8_000);
    await expect.poll(() => made.size).toBe(0);
    await ready({ base, host });
  });

  it('attack: unauthenticated connections of one network leave room for collectors of others', async () => {
    let n = 0;
    let network = '203.0.113';
    const { port, base, host, made } = await gateway({
      clock: new ManualClock(),
      addressOf: () => `${network}.${n++ % 250}`,
    });
    const answers = await Promise.all(Array.from({ length: 300 }, () => upgrade(port, {})));
    expect(answers.filter(({ status }) => status === 101)).toHaveLength(256);
    network = '198.51.100';
    await ready({ base, host });
    expect(made.size).toBe(257);
  });

  it('case 139: counts all unauthenticated connections together too, and those who are known to nobody', async () => {
    let n = 0;
    // Its clock stands: none of them has been here for too long.
    const { port, base, host, made } = await gateway({
      clock: new ManualClock(),
      addressOf: () => `2001:db8:${(n++ >> 4).toString(16)}::1`,
      most: { inAll: 128, network: 256, address: 64 },
    });
    const known = await ready({ base, host });
    const answers = await Promise.all(Array.from({ length: 136 }, () => upgrade(port, {})));
    expect(answers.filter(({ status }) => status === 101)).toHaveLength(128);
    expect(made.size).toBe(129);
    known.talk.say(heartbeat);
    await known.talk.next('heartbeat');
  });
});

describe('a link', () => {
  it('case 134: ends at a frame above 1 MiB, at too many fragments, and at a message that never ends', async () => {
    const { base, host, port } = await gateway();
    const large = await ready({ base, host });
    large.talk.sayRaw('x'.repeat(FRAME_BYTES + 1));
    expect(await large.talk.closed).toMatchObject({ code: CloseCode.tooBig });

    const pieces = await bare(port);
    pieces.socket.write(frame(0x01, Buffer.from('x')));
    pieces.socket.write(Buffer.concat(Array.from({ length: 200 }, () => frame(0x00, Buffer.from('x')))));
    expect([1008, 1009]).toContain(await pieces.closed);

    const announced = await bare(port);
    announced.socket.write(
      Buffer.concat([Buffer.from([0x81, 0xff]), u64(100 * 1024 * 1024), Buffer.from([1, 2, 3, 4])]),
    );
    expect(await announced.closed).toBe(1009);

    const endless = await bare(port);
    const half = frame(0x00, Buffer.alloc(200_000, 0x20));
    endless.socket.write(frame(0x01, Buffer.from('{')));
    for (let i = 0; i < 6; i++) endless.socket.write(half);
    expect(await endless.closed).toBe(1009);
  });

  it('case 142: ends at invalid UTF-8, unmasked frames, reserved bits and unknown opcodes', async () => {
    const { port } = await gateway();
    const text = Buffer.from('{}');
    for (const [bytes, code] of [
      [frame(0x81, Buffer.from([0xff, 0xfe])), 1007],
      [Buffer.concat([Buffer.from([0x81, 2]), text]), 1002],
      [frame(0xf1, text), 1002],
      [frame(0x83, text), 1002],
      [frame(0xc1, text), 1002],
    ] as const) {
      const { socket, closed } = await bare(port);
      socket.write(bytes);
      expect(await closed).toBe(code);
    }
  });

  it('takes text frames only', async () => {
    const { base, host } = await gateway();
    const { talk, socket } = await ready({ base, host });
    socket.send(Buffer.from('{}'), { binary: true });
    expect(await talk.closed).toMatchObject({ code: CloseCode.policy });
  });

  it('case 135: ends a flood of pings and of tiny messages; others do not notice', async () => {
    const { base, host } = await gateway();
    const other = await ready({ base, host });
    const pinging = await ready({ base, host });
    for (let i = 0; i < 3_000; i++) pinging.socket.ping();
    // What it had still under way may reset the connection before it reads why.
    expect([CloseCode.policy, 1006]).toContain((await pinging.talk.closed).code);
    const talking = await ready({ base, host });
    for (let i = 0; i < 3_000; i++)
      talking.talk.say({ type: 'progress', job: randomUUID(), fence: 1, probed: 0, alive: 0, devices: 0 });
    expect([CloseCode.policy, 1006]).toContain((await talking.talk.closed).code);
    other.talk.say(heartbeat);
    await other.talk.next('heartbeat');
  });

  it('case 3: is pinged every ten seconds and ends after 25 of silence', async () => {
    const clock = new ManualClock();
    const { base, host, made } = await gateway({ clock });
    let pings = 0;
    const silent = over(base, { autoPong: false } as object);
    silent.socket.on('ping', () => {
      pings += 1;
    });
    await shakeHands(silent.talk, disk(), host);
    const lively = await ready({ base, host });
    const real = () => new Promise((resolve) => setTimeout(resolve, 20));
    for (let ms = 0; ms < SILENCE_MS + 2_000; ms += 1_000) {
      await clock.pass(1_000);
      // Sockets answer in real time.
      await real();
      if (ms === SILENCE_MS - 2_000) expect(made.size).toBe(2);
    }
    expect(await silent.talk.closed).toMatchObject({ code: CloseCode.silent });
    expect(pings).toBe(Math.floor(SILENCE_MS / PING_MS));
    expect(made.counts.silent).toBe(1);
    expect(made.size).toBe(1);
    expect(lively.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('case 9: is alive as long as bytes arrive, though one message takes very long', async () => {
    const clock = new ManualClock();
    const { base, host, made } = await gateway({ clock });
    const slow = over(base, { autoPong: false } as object);
    await shakeHands(slow.talk, disk(), host);
    const whole = frame(0x81, Buffer.from(JSON.stringify(heartbeat)));
    for (const byte of whole.subarray(0, 10)) {
      tcpOf(slow.socket).write(Buffer.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await clock.pass(10_000);
    }
    expect(made.size).toBe(1);
    tcpOf(slow.socket).write(whole.subarray(10));
    await slow.talk.next('heartbeat');
  });

  it('case 138: cuts off who does not read', async () => {
    const { base, host, made, sessions } = await gateway();
    const { socket } = await ready({ base, host });
    await expect.poll(() => sessions[0]?.state).toBe('ready');
    socket.pause();
    const ruleset = {
      id: 'r',
      extra: Array.from({ length: 1_500 }, () => ({ prefix: '1'.repeat(500), oids: [] })),
    };
    for (let i = 0; i < 40 && made.size > 0; i++) {
      sessions[0]?.ruleset(ruleset);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => made.size).toBe(0);
    expect(made.counts.unread).toBe(1);
  });

  it('hands a small frame on without what was read together with it', async () => {
    const kept: [own: number, held: number][] = [];
    const { base, host } = await gateway({
      accept: async (unread) => {
        for (const { frame } of unread.gather()) kept.push([frame.byteLength, frame.buffer.byteLength]);
        return taken(unread.gather());
      },
    });
    const mine = disk();
    const { talk } = over(base);
    await shakeHands(talk, mine, host);
    for (let from = 0; from < 3; from++)
      talk.say({ type: 'observations', epoch: mine.epoch, stream: 'state', from, items: [{ n: 1 }] });
    await expect.poll(() => kept.length).toBe(3);
    for (const [own, held] of kept) expect(held).toBe(own);
  });

  it('cases 5 and 6: takes frames in any slices, and forgets a frame that was cut', async () => {
    const seen: unknown[] = [];
    const { base, host } = await gateway({
      accept: async (unread) => {
        seen.push(...unread.gather().flatMap(({ frame }) => JSON.parse(Buffer.from(frame).toString()).items));
        return taken(unread.gather());
      },
    });
    const mine = disk();
    const { talk, socket } = over(base);
    await shakeHands(talk, mine, host);
    const text = JSON.stringify({
      type: 'observations',
      epoch: mine.epoch,
      stream: 'state',
      from: 0,
      items: [{ n: 1 }],
    });
    const whole = frame(0x81, Buffer.from(text));
    const tcp = tcpOf(socket);
    for (const byte of whole) tcp.write(Buffer.of(byte));
    expect(await talk.next('ack')).toMatchObject({ through: 0 });
    tcp.write(whole.subarray(0, whole.length - 1));
    tcp.destroy();
    await talk.closed;
    expect(seen).toEqual([{ n: 1 }]);
  });

  it('case 140: half a handshake holds nothing of ours', async () => {
    const { port, made } = await gateway();
    const socket = connect(port, '127.0.0.1');
    closing.push(() => socket.destroy());
    socket.write(`GET ${COLLECTOR_PATH} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(made.size).toBe(0);
  });
});
