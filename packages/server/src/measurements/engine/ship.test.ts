import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { uuidv7 } from '@rollcall/shared/uuid';
import { uncompress } from 'snappyjs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { storeSamples } from '../samples.ts';
import { createShipper, HERE_MS } from './ship.ts';
import { samplesOf, writeRequest } from './write-request.ts';

afterAll(closeDatabases);

const HOUR = 3_600_000;

/** Series of a request, each as its labels, time and value. */
function decoded(body: Uint8Array): { labels: Record<string, string>; at: number; value: number }[] {
  const reader = new BinaryReader(uncompress(body));
  const message = (of: BinaryReader, each: (field: number, from: BinaryReader) => void) => {
    while (of.pos < of.len) each(of.tag()[0], of);
  };
  const all: ReturnType<typeof decoded> = [];
  message(reader, (_, series) => {
    const one = { labels: {} as Record<string, string>, at: 0, value: 0 };
    message(new BinaryReader(series.bytes()), (field, part) => {
      const inner = new BinaryReader(part.bytes());
      const texts: string[] = [];
      message(inner, (at, value) => {
        if (field === 1) texts.push(value.string());
        else if (at === 1) one.value = value.double();
        else one.at = Number(value.int64());
      });
      if (field === 1) one.labels[texts[0] ?? ''] = texts[1] ?? '';
    });
    all.push(one);
  });
  return all;
}

describe('a write request', () => {
  const row = {
    ...{ siteId: 's', deviceId: 'd', at: new Date(60_000), part: 1, overMs: 30_000 },
    data: { ping: { sent: 4, lost: 1, avgMs: 2 }, ports: { id: ['i'], speedBps: [8000], inOctets: [300] } },
  };
  it('has every value with sorted labels, in base units', () => {
    const of = (name: string, value: number, more: object = {}) => ({
      labels: { __name__: `rollcall_${name}`, device_id: 'd', ...more, site_id: 's' },
      at: 60_000,
      value,
    });
    const series = decoded(writeRequest([row]));
    expect(series).toEqual([
      of('sample_interval_seconds', 30, { part: '1' }),
      of('device_rtt_seconds', 0.002),
      of('device_ping_loss_ratio', 0.25),
      of('interface_receive_bytes_per_second', 10, { interface_id: 'i' }),
      of('interface_receive_utilisation_ratio', 0.01, { interface_id: 'i' }),
    ]);
    for (const { labels } of series) expect(Object.keys(labels)).toEqual(Object.keys(labels).sort());
  });

  it('has nothing of a row that says nothing', () => {
    expect(samplesOf({ ...row, data: {} })).toEqual([]);
  });
});

describe.each(databases())('samples on their way to an engine, on %s', (_name, open) => {
  const scene = new Scene();
  let server: Server;
  /** What the engine answers to a request of so many samples. */
  let answer: (body: Uint8Array) => [status: number, text?: string];
  let requests: { headers: IncomingHttpHeaders; bytes: Uint8Array }[] = [];
  let write = '';
  beforeEach(async () => {
    await scene.begin(open);
    await scene.db.query('DELETE FROM samples');
    await scene.network(['a', 'b']);
    requests = [];
    answer = () => [204];
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => {
        const bytes = Buffer.concat(parts);
        requests.push({ headers: request.headers, bytes });
        const [status, text] = answer(bytes);
        response.writeHead(status).end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    write = `http://rollcall:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/write`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const shipper = () => {
    const { db, clock, log } = scene;
    return createShipper({ db, clock, log, raise: scene.recorder.record, write });
  };
  /** A minute of a device that ended so many minutes ago. */
  const store = (device: string, ...ago: number[]) =>
    scene.db.transaction((sql) =>
      storeSamples(
        sql,
        ago.map((minutes) => {
          const at = scene.now - minutes * 60_000;
          const deviceId = scene.devices.get(device) ?? uuidv7();
          const ping = { sent: 4, lost: 0, avgMs: minutes };
          return { at, observation: { kind: 'samples' as const, at, deviceId, overMs: 60_000, ping } };
        }),
        { siteId: scene.site, collectorId: scene.site, now: scene.now, toEngine: true },
      ),
    );
  /** Minutes whose round trip a request has. */
  const minutesOf = (bytes: Uint8Array) =>
    decoded(bytes).flatMap(({ labels, value }) =>
      labels.__name__ === 'rollcall_device_rtt_seconds' ? [Math.round(value * 1000)] : [],
    );
  const waiting = async () =>
    (await scene.db.query<{ n: number }>('SELECT count(*)::int AS n FROM samples WHERE unsent'))[0]?.n;

  it('go in the order of time, once, as the protocol asks', async () => {
    await store('a', 1, 3);
    await store('b', 2);
    const { ship } = shipper();
    await ship();
    await ship();
    expect(requests.map(({ bytes }) => minutesOf(bytes))).toEqual([[3, 2, 1]]);
    expect(requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('rollcall:p@ss').toString('base64')}`,
      'content-encoding': 'snappy',
      'content-type': 'application/x-protobuf',
      'x-prometheus-remote-write-version': '0.1.0',
    });
    expect(await waiting()).toBe(0);
  });

  it('wait while the engine is away, which is told after a minute, and go on where it stopped', async () => {
    await store('a', 1, 2);
    answer = () => [503, 'busy'];
    const { ship } = shipper();
    await ship();
    await scene.wait(30);
    await ship();
    expect(await scene.words()).toEqual([]);
    await scene.wait(31);
    await ship();
    const own = async () =>
      scene.db.query<{ message: string; status: number }>(
        `SELECT message, status FROM events WHERE kind = 'server.metrics' ORDER BY first_seen DESC LIMIT 1`,
      );
    const [event] = await own();
    expect(event).toMatchObject({ status: 0 });
    expect(event?.message).toMatch(
      /^Measurements cannot be written to http:\/\/127\.0\.0\.1:\d+: 503 busy\./,
    );
    expect(await waiting()).toBe(2);
    answer = () => [204];
    await ship();
    expect(await waiting()).toBe(0);
    expect(await own()).toMatchObject([{ status: 2 }]);
  });

  it('of which the engine refuses one: that one is lost and told, all others arrive', async () => {
    await store('a', 1, 2, 3, 4, 5, 6, 7);
    answer = (bytes) => (minutesOf(bytes).includes(5) ? [400, 'out of bounds'] : [204]);
    await shipper().ship();
    const taken = requests.filter(({ bytes }) => !minutesOf(bytes).includes(5));
    expect(taken.flatMap(({ bytes }) => minutesOf(bytes)).sort()).toEqual([1, 2, 3, 4, 6, 7]);
    expect(await waiting()).toBe(0);
    const [event] = await scene.events();
    expect(event).toMatchObject({
      kind: 'samples.lost',
      message: 'Readings of devices that are lost: 1 (400 out of bounds)',
      details: { count: 1 },
    });
  });

  it('are deleted once they are there and no longer of now; those that waited for a day are told as lost', async () => {
    await store('a', 1);
    const { ship, forget } = shipper();
    await ship();
    expect(await forget()).toBe(0);
    scene.now += HERE_MS + 120_000;
    expect(await forget()).toBe(1);
    await store('a', 1, 2);
    await store('b', 3);
    scene.now += 23 * HOUR;
    expect(await forget()).toBe(0);
    scene.now += HOUR;
    expect(await forget()).toBe(3);
    expect(await scene.events()).toMatchObject([
      { kind: 'samples.lost', message: 'Readings of devices that are lost: 3 (not written within a day)' },
    ]);
  });
});
