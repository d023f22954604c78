import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { uuidv7 } from '@rollcall/shared/uuid';
import { uncompress } from 'snappyjs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPresent } from '../../incidents/conditions/store.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { addDevices, addSite } from '../../testing/rows.ts';
import { storeSamples } from '../samples.ts';
import { createShipper, HERE_MS } from './ship.ts';
import { startingAfter, takeTurns } from './turns.ts';
import { samplesOf, writeRequest } from './write-request.ts';

afterAll(closeDatabases);

const HOUR = 3_600_000;
type Answer = [status: number, text?: string];

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

describe('turns', () => {
  it('begin behind who was last, and go around while somebody has more', async () => {
    expect(startingAfter('b', ['a', 'b', 'c'])).toEqual(['c', 'a', 'b']);
    expect(startingAfter('', ['a', 'b'])).toEqual(['a', 'b']);
    expect(startingAfter('z', ['a', 'b'])).toEqual(['a', 'b']);
    const left = new Map([
      ['a', 3],
      ['b', 1],
      ['c', 2],
    ]);
    const turns: string[] = [];
    await takeTurns([...left.keys()], 1, async (party) => {
      turns.push(party);
      left.set(party, (left.get(party) ?? 0) - 1);
      return (left.get(party) ?? 0) > 0;
    });
    expect(turns.join('')).toBe('abcaca');
  });

  it('that fail are told when the other lanes are done', async () => {
    const done: string[] = [];
    const turns = takeTurns(['a', 'b'], 2, async (party) => {
      if (party === 'a') throw new Error('broken');
      await null;
      done.push(party);
      return false;
    });
    await expect(turns).rejects.toThrow('broken');
    expect(done).toEqual(['b']);
  });
});

describe.each(databases())('samples on their way to an engine, on %s', (_name, open) => {
  const scene = new Scene();
  let server: Server;
  /** What the engine answers to a request of so many samples. */
  let answer: (body: Uint8Array) => Answer | Promise<Answer>;
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
      request.on('end', async () => {
        const bytes = Buffer.concat(parts);
        requests.push({ headers: request.headers, bytes });
        const [status, text] = await answer(bytes);
        response.writeHead(status).end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    write = `http://rollcall:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/write`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const shipper = () => {
    const { db, clock, log } = scene;
    return createShipper({ db, clock, log, recordChanges: scene.recorder.recordChanges, write });
  };
  /** A minute of a device that ended so many minutes ago. */
  const store = (device: string, ...ago: number[]) =>
    storeOf({ siteId: scene.site, deviceId: scene.devices.get(device) ?? uuidv7() }, ...ago);
  const storeOf = ({ siteId, deviceId }: { siteId: string; deviceId: string }, ...ago: number[]) =>
    scene.db.transaction((sql) =>
      storeSamples(
        sql,
        ago.map((minutes) => {
          const at = scene.now - minutes * 60_000;
          const ping = { sent: 4, lost: 0, avgMs: minutes };
          return { at, observation: { kind: 'samples' as const, at, deviceId, overMs: 60_000, ping } };
        }),
        { siteId, collectorId: siteId, now: scene.now, toEngine: true, sampleDays: 14, readPresent },
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
      message: 'Measurements lost: 1 reading of devices (400 out of bounds)',
      details: { count: 1 },
    });
  });

  describe('of one site that has trouble', () => {
    /** Of another site, whose samples came after all of the first one's. */
    const storeOther = async () => {
      const siteId = await addSite(scene.db, uuidv7());
      const [deviceId = ''] = await addDevices(scene.db, [{ site_id: siteId, name: 'c' }]);
      await storeOf({ siteId, deviceId }, 0);
      return { siteId, deviceId };
    };
    const sitesOf = (bytes: Uint8Array) => [...new Set(decoded(bytes).map(({ labels }) => labels.site_id))];
    const waitingOf = async ({ siteId }: { siteId: string }) =>
      (await scene.db.query('SELECT 1 FROM samples WHERE unsent AND site_id = $1', [siteId])).length;
    const many = Array.from({ length: 40 }, (_, i) => i + 1);

    it.each<[what: string, answer: () => Answer]>([
      [
        'the engine refuses, and takes its time over it',
        () => {
          scene.now += 1_000;
          return [400, 'out of bounds'];
        },
      ],
      ['cannot be written', () => [503, 'busy']],
    ])('and %s: they hold up no other', async (_, ofTrouble) => {
      await store('a', ...many);
      const other = await storeOther();
      answer = (bytes) => (sitesOf(bytes).includes(scene.site) ? ofTrouble() : [204]);
      const { ship } = shipper();
      await ship();
      expect(await waitingOf(other)).toBe(0);
      expect(await waiting()).toBeGreaterThan(0);
      for (const { bytes } of requests) expect(sitesOf(bytes)).toHaveLength(1);
    });

    it('and are answered late: others are sent meanwhile', async () => {
      await store('a', 1);
      const other = await storeOther();
      let otherTaken: (() => void) | undefined;
      const taken = new Promise<void>((resolve) => {
        otherTaken = resolve;
      });
      answer = async (bytes) => {
        if (sitesOf(bytes).includes(other.siteId)) otherTaken?.();
        else await taken;
        return [204];
      };
      await shipper().ship();
      expect(await waiting()).toBe(0);
    });

    it('and cannot be written for a minute: told with how many sites', async () => {
      await store('a', 1);
      const other = await storeOther();
      answer = (bytes) => (sitesOf(bytes).includes(scene.site) ? [503, 'busy'] : [204]);
      const { ship } = shipper();
      await ship();
      scene.now += 61_000;
      await storeOf(other, 0);
      await ship();
      const [event] = await scene.db.query<{ message: string }>(
        `SELECT message FROM events WHERE kind = 'server.metrics' AND status = 0`,
      );
      expect(event?.message).toMatch(/^Measurements of 1 of 2 sites cannot be written to .*: 503 busy\./);
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
      {
        kind: 'samples.lost',
        message: 'Measurements lost: 3 readings of devices (not written within a day)',
      },
    ]);
  });
});
