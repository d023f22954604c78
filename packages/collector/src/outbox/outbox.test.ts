import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import {
  type GapObservation,
  type HostObservation,
  type Observation,
  STREAMS,
  type Stream,
} from '@rollcall/shared/observation';
import { open } from 'lmdb';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NotStored, Outbox, OutboxRefused, type OutboxSettings } from './outbox.ts';

const log = pino({ level: 'silent' });
const settings: OutboxSettings = { bytes: 64 * 1024 * 1024, ageMs: 86_400_000, minFreeBytes: 0 };
const JOB = '0192f0c0-0000-7000-8000-000000000001';

const host = (n: number, at = 1): HostObservation => ({
  kind: 'host',
  job: JOB,
  at,
  address: `10.0.${n >> 8}.${n & 255}`,
  rttMs: 1,
  snmp: 'silent',
});
const hosts = (count: number, from = 0) => Array.from({ length: count }, (_, i) => host(from + i));
const trap = (n: number): Observation => ({
  kind: 'trap',
  at: n,
  address: '10.0.0.1',
  snmpVersion: 'v2c',
  trapOid: '1.3.6.1.6.3.1.1.5.3',
  varbinds: [],
});

const DEVICE = '0192f0c0-0000-7000-8000-0000000000d1';
const sample = (n: number): Observation => ({
  kind: 'samples',
  at: n,
  deviceId: DEVICE,
  overMs: 60_000,
  ping: { sent: 4, lost: 0, minMs: 1, avgMs: 2, maxMs: 3 },
});

let folder: string;
const opened: Outbox[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-outbox-'));
});
afterEach(async () => {
  for (const outbox of opened.splice(0)) await outbox.close();
  rmSync(folder, { recursive: true, force: true });
});

const box = () => join(folder, 'outbox');
const openBox = async (more: Partial<OutboxSettings> = {}, clock: Clock = systemClock) => {
  const outbox = await Outbox.open({ folder: box(), settings: { ...settings, ...more }, clock, log });
  opened.push(outbox);
  return outbox;
};
const shut = async (outbox: Outbox) => {
  opened.splice(opened.indexOf(outbox), 1);
  await outbox.close();
};

/** Everything in a stream, by sequence, the way a link reads it. */
const contents = (outbox: Outbox, stream: Stream, after = -1): Map<number, Observation> => {
  const found = new Map<number, Observation>();
  for (let from = after; ; ) {
    const batch = outbox.next(stream, from, 256 * 1024, 2000);
    if (!batch) return found;
    for (const [i, item] of batch.items.entries()) found.set(batch.from + i, JSON.parse(item.toString()));
    from = batch.from + batch.items.length - 1;
  }
};
const data = () => join(box(), 'data.mdb');
/** Flips a bit of the record of each `host(n)`, in place, also where LMDB left an older copy of its page. */
const damage = (...numbers: number[]) => {
  const bytes = readFileSync(data());
  const file = openSync(data(), 'r+');
  for (const n of numbers) {
    const text = `"address":"10.0.${n >> 8}.${n & 255}"`;
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
      writeSync(file, Buffer.of((bytes[at + 14] ?? 0) ^ 1), 0, 1, at + 14);
  }
  closeSync(file);
};
const gapsOf = (outbox: Outbox) =>
  [...contents(outbox, 'event').values()].filter((o): o is GapObservation => o.kind === 'gap');
const until = async (condition: () => boolean, ms = 10_000) => {
  for (const end = Date.now() + ms; !condition(); ) {
    if (Date.now() > end) throw new Error('waited in vain');
    await systemClock.sleep(5);
  }
};
const lostOf = (gaps: GapObservation[], stream: Stream) =>
  gaps.filter((gap) => gap.stream === stream).reduce((sum, gap) => sum + gap.count, 0);

describe('the outbox numbers, keeps and hands out', () => {
  test('three streams, each in order with its own sequence, over a restart', async () => {
    const first = await openBox();
    const { epoch } = first;
    await first.append([host(1), trap(1), host(2)]);
    await first.append([trap(2), sample(1), sample(2), sample(3)]);
    expect(first.last).toEqual({ state: 1, event: 1, sample: 2 });
    await shut(first);

    const second = await openBox();
    expect(second.epoch).toBe(epoch);
    expect(second.last).toEqual({ state: 1, event: 1, sample: 2 });
    expect([...contents(second, 'sample')]).toEqual([1, 2, 3].map((n, seq) => [seq, sample(n)]));
    expect([...contents(second, 'state')]).toEqual([
      [0, host(1)],
      [1, host(2)],
    ]);
    expect([...contents(second, 'event')]).toEqual([
      [0, trap(1)],
      [1, trap(2)],
    ]);
    await second.append([host(3)]);
    expect(second.last.state).toBe(2);
  });

  test('a batch holds what fits, at least one', async () => {
    const outbox = await openBox();
    await outbox.append(hosts(100));
    const size = Buffer.byteLength(JSON.stringify(host(0)));
    expect(outbox.next('state', -1, 10 * (size + 1), 2000)?.items).toHaveLength(10);
    expect(outbox.next('state', -1, 1, 2000)?.items).toHaveLength(1);
    expect(outbox.next('state', 89, 1e9, 7)).toMatchObject({ from: 90, items: { length: 7 } });
    expect(outbox.next('state', 99, 1e9, 7)).toBeNull();
  });

  test('what was acknowledged is deleted and stays deleted', async () => {
    const first = await openBox();
    await first.append(hosts(3000));
    first.ack('state', 2499);
    await until(() => first.status().depth === 500);
    await shut(first);
    const second = await openBox();
    expect([...contents(second, 'state').keys()]).toEqual(Array.from({ length: 500 }, (_, i) => 2500 + i));
    expect(second.status()).toMatchObject({ depth: 500, paused: null });
    expect(second.status().bytes).toBe(
      [...contents(second, 'state').values()].reduce((sum, o) => sum + JSON.stringify(o).length, 0),
    );
  });

  test('A14: an acknowledgement repeated or out of order deletes nothing further', async () => {
    const outbox = await openBox();
    await outbox.append(hosts(10));
    outbox.ack('state', 6);
    outbox.ack('state', 3);
    outbox.ack('state', 6);
    await until(() => outbox.status().depth === 3);
    expect([...contents(outbox, 'state').keys()]).toEqual([7, 8, 9]);
  });

  test('A15: an acknowledgement of what was never written is refused', async () => {
    const outbox = await openBox();
    await outbox.append(hosts(10));
    expect(() => outbox.ack('state', 10)).toThrow(RangeError);
    expect(contents(outbox, 'state').size).toBe(10);
  });

  test('reports what it holds, and since when', async () => {
    const outbox = await openBox();
    expect(outbox.status()).toMatchObject({ depth: 0, bytes: 0, oldest: null });
    const before = Date.now();
    await outbox.append(hosts(5));
    const { oldest, depth } = outbox.status();
    expect(depth).toBe(5);
    expect(oldest).toBeGreaterThanOrEqual(before - 50);
    expect(oldest).toBeLessThanOrEqual(Date.now() + 50);
  });

  test('appends that come together share a commit, and each resolves when it is on disk', async () => {
    const outbox = await openBox();
    let news = 0;
    outbox.onWritten(() => {
      news += 1;
    });
    await Promise.all(Array.from({ length: 500 }, (_, i) => outbox.append([host(i)])));
    expect(outbox.last.state).toBe(499);
    expect(news).toBeLessThan(10);
  });

  test('a closed outbox says that nothing was stored', async () => {
    const outbox = await openBox();
    await shut(outbox);
    await expect(outbox.append(hosts(1))).rejects.toBeInstanceOf(NotStored);
  });
});

describe('bounds: every drop is counted exactly (B30, G4)', () => {
  /** Checks that holes in the sequences, the gaps and the counters tell the same. */
  const account = (outbox: Outbox) => {
    const gaps = gapsOf(outbox);
    for (const stream of STREAMS) {
      const kept = contents(outbox, stream).size;
      expect(lostOf(gaps, stream), stream).toBe(outbox.last[stream] + 1 - kept);
    }
    const { drops } = outbox.status();
    expect(drops.bytes + drops.age + drops.damaged).toBe(gaps.reduce((sum, gap) => sum + gap.count, 0));
    return gaps;
  };

  test('newer state of the same subject goes before anything else', async () => {
    const outbox = await openBox({ bytes: 400_000 });
    for (let round = 0; round < 8; round++) {
      await outbox.append(hosts(1000).map((o) => ({ ...o, at: round })));
      await outbox.append([trap(round)]);
    }
    account(outbox);
    const seen = new Map(
      [...contents(outbox, 'state').values()].map((o) => [(o as HostObservation).address, o.at]),
    );
    expect(seen.size).toBe(1000);
    expect([...seen.values()].filter((at) => at === 7)).toHaveLength(1000);
    const traps = [...contents(outbox, 'event').values()].filter((o) => o.kind === 'trap');
    expect(traps).toHaveLength(8);
    expect(outbox.status().bytes).toBeLessThanOrEqual(400_000);
  });

  test('parts of one walk never replace each other; a later walk goes last', async () => {
    const outbox = await openBox({ bytes: 400_000 });
    const part = (walk: string, n: number): Observation => ({
      kind: 'rows',
      at: 1,
      walk,
      address: '10.0.0.1',
      table: 'vrfs',
      part: n,
      last: n === 9,
      rows: [{ name: 'x'.repeat(6000) }],
    });
    const walks = [1, 2, 3, 4, 5].map((n) => `0192f0c0-0000-7000-8000-00000000000${n}`);
    for (const walk of walks) await outbox.append(Array.from({ length: 10 }, (_, n) => part(walk, n)));
    await outbox.append(hosts(1000));
    account(outbox);
    const left = [...contents(outbox, 'state').values()];
    expect(outbox.status().drops.bytes).toBeGreaterThan(0);
    expect(left.filter((o) => o.kind === 'rows' && o.walk === walks[4])).toHaveLength(10);
    expect(left.filter((o) => o.kind === 'host')).toHaveLength(1000);
  });

  test('samples go first, the oldest of them; each is counted', async () => {
    const outbox = await openBox({ bytes: 300_000 });
    await outbox.append([...hosts(500), ...Array.from({ length: 100 }, (_, i) => trap(i))]);
    for (let i = 0; i < 6; i++)
      await outbox.append(Array.from({ length: 500 }, (_, j) => sample(i * 500 + j)));
    account(outbox);
    expect(contents(outbox, 'state').size).toBe(500);
    const left = [...contents(outbox, 'sample').values()];
    expect(left.length).toBeGreaterThan(500);
    expect(left.at(-1)).toEqual(sample(2999));
    const gaps = gapsOf(outbox);
    expect(new Set(gaps.map(({ stream, reason }) => `${stream} ${reason}`))).toEqual(
      new Set(['sample bytes']),
    );
    expect(left.length + lostOf(gaps, 'sample')).toBe(3000);
  });

  test('then the oldest state, then the oldest events; gaps themselves stay', async () => {
    const outbox = await openBox({ bytes: 300_000 });
    for (let i = 0; i < 6; i++) await outbox.append(hosts(1000, i * 1000));
    await outbox.append(Array.from({ length: 6000 }, (_, i) => trap(i)));
    account(outbox);
    const states = [...contents(outbox, 'state').keys()];
    const events = [...contents(outbox, 'event').values()].filter((o) => o.kind === 'trap');
    expect(states.length).toBe(0);
    expect(events.length).toBeGreaterThan(1000);
    expect(events.at(-1)).toEqual(trap(5999));
    expect(outbox.status().bytes).toBeLessThanOrEqual(300_000);
  });

  test('what may be with the server already is never dropped', async () => {
    const outbox = await openBox({ bytes: 300_000 });
    await outbox.append(hosts(500));
    const inFlight = outbox.next('state', -1, 256 * 1024, 500);
    expect(inFlight?.items).toHaveLength(500);
    for (let i = 1; i < 8; i++) await outbox.append(hosts(1000, i * 1000));
    const kept = [...contents(outbox, 'state').keys()];
    expect(kept.slice(0, 500)).toEqual(Array.from({ length: 500 }, (_, i) => i));
    account(outbox);
  });

  test('the same after a restart, when nobody knows what was sent', async () => {
    const first = await openBox({ bytes: 300_000 });
    await first.append(hosts(500));
    await shut(first);
    const second = await openBox({ bytes: 300_000 });
    for (let i = 1; i < 8; i++) await second.append(hosts(1000, i * 1000));
    expect([...contents(second, 'state').keys()].slice(0, 500)).toEqual(
      Array.from({ length: 500 }, (_, i) => i),
    );
    account(second);
  });

  test('no more is handed out than an opened outbox takes for sent, however long the disk takes to forget', async () => {
    const outbox = await openBox();
    for (let i = 0; i < 12; i++) await outbox.append(hosts(2000, i * 2000));
    damage(...Array.from({ length: 400 }, (_, i) => 100 + i));
    let handed = -1;
    const handOut = () => {
      const batch = outbox.next('state', handed, 256 * 1024, 2000);
      if (batch) handed = batch.from + batch.items.length - 1;
      return batch !== null;
    };
    // Acknowledged at once; what is deleted of it is only as much as was committed.
    while (handOut()) outbox.ack('state', handed);
    expect(handed).toBeGreaterThan(10_000);
    expect(handed).toBeLessThan(24_000 - 1);
    const stored = join(folder, 'copy');
    cpSync(box(), stored, { recursive: true });
    const next = await Outbox.open({
      folder: stored,
      settings: { ...settings, bytes: 2_400_000 },
      clock: systemClock,
      log,
    });
    opened.push(next);
    await next.append(hosts(1, 30_000));
    expect(gapsOf(next).length).toBeGreaterThan(0);
    expect([...contents(next, 'state').keys()].filter((seq) => seq <= handed)).toHaveLength(handed + 1 - 400);

    await expect.poll(handOut).toBe(true);
  });

  test('B28: while it is paused for want of room, what the server has is forgotten, and the rest sent, without a pause', async () => {
    const first = await openBox();
    for (let i = 0; i < 24; i++) await first.append(hosts(2000, i * 2000));
    await shut(first);
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => systemClock.sleep(ms < 1000 ? ms : 1e8, signal),
    };
    const outbox = await openBox({ minFreeBytes: Number.MAX_SAFE_INTEGER }, clock);
    outbox.append([host(1)]).catch(() => undefined);
    await until(() => outbox.status().paused !== null);
    let sent = -1;
    await until(() => {
      const batch = outbox.next('state', sent, 120 * 1024, 2000);
      if (batch) {
        sent = batch.from + batch.items.length - 1;
        outbox.ack('state', sent);
      }
      return sent >= 47_999;
    });
  });

  test.each([256, 120, 7])(
    'what was handed out is again after a restart and after a broken link, in batches of %d KiB, and all follows',
    async (kib) => {
      const first = await openBox();
      for (let i = 0; i < 24; i++) await first.append(hosts(2000, i * 2000));
      await shut(first);
      const outbox = await openBox();
      let committed = -1;
      for (let link = 0; committed < 47_999; link++) {
        expect(link).toBeLessThan(200);
        // Of what a link carries the last batch is not acknowledged unless it is the only one, so that the next begins elsewhere.
        let sent = committed;
        let before = committed;
        for (let n = 0; n < 20 + link; n++) {
          const batch = outbox.next('state', sent, kib * 1024 + link, 2000);
          if (!batch) break;
          expect(batch.from).toBe(sent + 1);
          before = sent;
          sent = batch.from + batch.items.length - 1;
        }
        committed = before > committed ? before : sent;
        if (committed >= 0) outbox.ack('state', committed);
        await expect.poll(() => outbox.status().depth).toBe(47_999 - committed);
      }
    },
  );

  test('old observations go by age, by a clock that nobody can set (G16)', async () => {
    let running = 0;
    let wall = Date.now();
    const clock: Clock = { ...systemClock, monotonic: () => running, now: () => wall };
    const first = await openBox({ ageMs: 10_000 }, clock);
    await first.append(hosts(100));
    wall += 10 * 365 * 86_400_000;
    await shut(first);

    const jumped = await openBox({ ageMs: 10_000 }, clock);
    await jumped.append(hosts(100, 100));
    expect(contents(jumped, 'state').size).toBe(200);
    jumped.ack('state', 99);
    running += 20_000;
    await shut(jumped);

    const later = await openBox({ ageMs: 10_000 }, clock);
    // In flight when the last run ended, as far as anyone knows: kept though old.
    await later.append([trap(1)]);
    expect(contents(later, 'state').size).toBe(100);
  });

  test('age alone drops what was never sent', async () => {
    let running = 0;
    const ticks: (() => void | Promise<void>)[] = [];
    const clock: Clock = {
      ...systemClock,
      monotonic: () => running,
      every: (_ms, task) => {
        ticks.push(task);
        return () => undefined;
      },
    };
    const outbox = await openBox({ ageMs: 10_000 }, clock);
    await outbox.append(hosts(100));
    running += 8_000;
    await outbox.append(hosts(50, 100));
    running += 4_000;
    for (const tick of ticks) await tick();
    await until(() => outbox.status().drops.age > 0);
    expect(account(outbox)).toMatchObject([
      { stream: 'state', fromSeq: 0, toSeq: 99, count: 100, reason: 'age' },
    ]);
  });

  test('A20: one observation larger than allowed is left out, counted, and holds up nothing', async () => {
    const outbox = await openBox();
    const huge: Observation = {
      kind: 'rows',
      at: 1,
      walk: JOB,
      address: '10.0.0.1',
      table: 'vrfs',
      part: 0,
      last: true,
      rows: Array.from({ length: 20 }, () => ({ name: 'x'.repeat(8000) })),
    };
    await outbox.append([host(1), huge, host(2)]);
    expect([...contents(outbox, 'state').keys()]).toEqual([0, 2]);
    expect(account(outbox)).toMatchObject([
      { stream: 'state', fromSeq: 1, toSeq: 1, count: 1, reason: 'bytes' },
    ]);
  });
});

describe('damage is moved aside, reported, and never fatal', () => {
  const filled = async () => {
    const outbox = await openBox();
    await outbox.append(hosts(2000));
    await outbox.append([trap(1), trap(2)]);
    const { epoch } = outbox;
    await shut(outbox);
    return epoch;
  };

  const ways: [string, () => void, number | null][] = [
    ['B32: a truncated file', () => truncateSync(data(), 100_000), null],
    ['B32: an empty file', () => writeFileSync(data(), ''), null],
    ['B32: a foreign file', () => writeFileSync(data(), 'not a database at all '.repeat(5000)), null],
    [
      'zeroed root pages',
      () => writeFileSync(data(), Buffer.concat([Buffer.alloc(8192), readFileSync(data()).subarray(8192)])),
      null,
    ],
    ['a missing file', () => rmSync(data()), null],
    [
      'B32: a symlink in its place',
      () => {
        rmSync(data());
        symlinkSync('/etc/passwd', data());
      },
      null,
    ],
    [
      'B32: a file instead of the folder',
      () => {
        rmSync(box(), { recursive: true });
        writeFileSync(box(), 'x');
      },
      null,
    ],
    ['a folder that is not ours', () => rmSync(join(box(), 'FORMAT')), null],
  ];
  test.each(ways)('%s', async (_name, damage) => {
    const epoch = await filled();
    damage();
    const outbox = await openBox();
    expect(outbox.epoch).not.toBe(epoch);
    expect(gapsOf(outbox).map((gap) => gap.reason)).toContain('damaged');
    expect(contents(outbox, 'state').size).toBe(0);
    await outbox.append([host(1)]);
    expect(contents(outbox, 'state').size).toBe(1);
    expect(readdirSync(folder).filter((name) => name.startsWith('outbox.damaged-'))).toHaveLength(1);
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  test('wrong sums: what the store says it held is what the gap says was lost', async () => {
    await filled();
    const env = open({ path: box(), maxDbs: 4, encoding: 'binary' });
    await env.openDB('state', { encoding: 'binary' }).remove(5);
    await env.close();
    const outbox = await openBox();
    expect(lostOf(gapsOf(outbox), 'state')).toBe(2000);
    expect(lostOf(gapsOf(outbox), 'event')).toBe(2);
  });

  test('B31: a flipped bit costs one record, which is kept aside and counted; the rest is delivered', async () => {
    const epoch = await filled();
    const seq = 3 * 256 + 77;
    damage(seq);
    const outbox = await openBox();
    expect(outbox.epoch).toBe(epoch);
    expect(contents(outbox, 'state').size).toBe(1999);
    expect(contents(outbox, 'state').has(seq)).toBe(false);
    await until(() => outbox.status().drops.damaged === 1);
    expect(gapsOf(outbox)).toMatchObject([
      { stream: 'state', fromSeq: seq, toSeq: seq, count: 1, reason: 'damaged' },
    ]);
    expect(existsSync(join(folder, `outbox.record-state-${seq}`))).toBe(true);
  });

  test('B31: also where it is the last of what an opened outbox takes for sent: the rest follows', async () => {
    const first = await openBox();
    for (let i = 0; i < 24; i++) await first.append(hosts(2000, i * 2000));
    await shut(first);
    const looked = await openBox();
    const seq = Math.max(...contents(looked, 'state').keys());
    expect(seq).toBeLessThan(47_000);
    await shut(looked);
    damage(seq);
    const outbox = await openBox();
    let sent = -1;
    let delivered = 0;
    await until(() => {
      for (let batch = outbox.next('state', sent, 120 * 1024, 2000); batch; ) {
        sent = batch.from + batch.items.length - 1;
        delivered += batch.items.length;
        outbox.ack('state', sent);
        batch = outbox.next('state', sent, 120 * 1024, 2000);
      }
      return sent === 47_999;
    });
    expect(delivered).toBe(47_999);
    expect(outbox.status().drops.damaged).toBe(1);
  });

  test('B31: one that goes by its age before it is counted as damaged is counted once', async () => {
    const first = await openBox();
    for (let i = 0; i < 24; i++) await first.append(hosts(2000, i * 2000));
    const { epoch } = first;
    await shut(first);
    const seq = 47_000;
    damage(seq);
    const outbox = await openBox({ ageMs: 1 });
    outbox.next('state', seq - 1, 1000, 2);
    expect(existsSync(join(folder, `outbox.record-state-${seq}`))).toBe(true);
    await until(() => outbox.status().drops.age > 1000);
    await outbox.append([host(1)]);
    expect(outbox.status().drops.damaged).toBe(0);
    await shut(outbox);
    expect((await openBox()).epoch).toBe(epoch);
  });

  test('B40: written by a newer version: refused, untouched, with what to do', async () => {
    await filled();
    writeFileSync(join(box(), 'FORMAT'), 'rollcall outbox 3\n');
    const before = readFileSync(data());
    await expect(openBox()).rejects.toThrow(OutboxRefused);
    await expect(openBox()).rejects.toThrow(/newer version.*install that version again/);
    expect(readFileSync(data()).equals(before)).toBe(true);
  });

  test('written by the version before, which had no samples: opened, and marked as no longer its', async () => {
    const epoch = await filled();
    writeFileSync(join(box(), 'FORMAT'), 'rollcall outbox 1\n');
    const env = open({ path: box(), maxDbs: 5, encoding: 'binary' });
    const table = env.openDB<string, string>('meta', { encoding: 'string' });
    const { streams, ...rest } = JSON.parse(table.get('meta') ?? '');
    const { sample: _, ...before } = streams;
    await table.put('meta', JSON.stringify({ ...rest, format: 1, streams: before }));
    await env.openDB('sample', { encoding: 'binary' }).drop();
    await env.close();

    const outbox = await openBox();
    expect(outbox.epoch).toBe(epoch);
    expect(outbox.last).toEqual({ state: 1999, event: 1, sample: -1 });
    expect(readFileSync(join(box(), 'FORMAT'), 'utf8')).toBe('rollcall outbox 2\n');
    await outbox.append([sample(1)]);
    expect([...contents(outbox, 'sample')]).toEqual([[0, sample(1)]]);
    expect(contents(outbox, 'state').size).toBe(2000);
  });

  test('a crash between the two renames of a replacement is finished at the next start', async () => {
    await filled();
    truncateSync(data(), 100_000);
    const outbox = await openBox();
    const { epoch } = outbox;
    await shut(outbox);
    const { renameSync } = await import('node:fs');
    renameSync(box(), `${box()}.new`);
    const again = await openBox();
    expect(again.epoch).toBe(epoch);
    expect(gapsOf(again)).toHaveLength(1);
  });

  test('B35: a disk that went back in time begins a new epoch and reports what it set aside', async () => {
    await filled();
    const outbox = await openBox();
    const { epoch } = outbox;
    await outbox.startAnew('the server knows more');
    expect(outbox.epoch).not.toBe(epoch);
    expect(lostOf(gapsOf(outbox), 'state')).toBe(2000);
    await outbox.append([host(1)]);
    expect(outbox.last.state).toBe(0);
  });

  test('at most three damaged outboxes are kept', async () => {
    for (let i = 0; i < 5; i++) {
      const outbox = await openBox({}, { ...systemClock, now: () => 1_700_000_000_000 + i * 1000 });
      await outbox.append(hosts(1));
      await shut(outbox);
      writeFileSync(data(), 'junk');
    }
    await openBox();
    expect(readdirSync(folder).filter((name) => name.startsWith('outbox.damaged-'))).toHaveLength(3);
  });
});
