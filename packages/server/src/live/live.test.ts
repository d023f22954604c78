import { EventEmitter } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { LiveChange } from '@rollcall/shared/api/service';
import { systemClock } from '@rollcall/shared/clock';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import express from 'express';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { announce } from '../platform/db/notify.ts';
import type { Actor } from '../platform/http/handler.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addDevices, addSite, asCaller, caller, insert, SEEN } from '../testing/rows.ts';
import { type Live, openLive } from './live.ts';
import { Ring } from './ring.ts';
import { BEHIND_MS, Stream } from './stream.ts';

afterAll(closeDatabases);

const log = pino({ level: 'silent' });
const change = (site: string, id = uuidv7()): LiveChange => ({ site, kind: 'device', ids: [id] });

describe('the ring', () => {
  it('tells what came after an id, and knows what it cannot tell', () => {
    const ring = new Ring('a', 6);
    expect(ring.since(ring.lastId)).toEqual([]);
    const entries = Array.from({ length: 5 }, () => ring.push(change('s')));
    const after = (id: string) => ring.since(id)?.map((entry) => entry.id) ?? null;
    expect(after('a-5')).toEqual([]);
    expect(after('a-3')).toEqual(['a-4', 'a-5']);
    expect(after('a-2')).toEqual(['a-3', 'a-4', 'a-5']);
    expect(entries.map(({ id }) => id)).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5']);
    for (const id of ['a-1', 'a-0', 'a-6', 'b-4', '', 'a', 'a-', 'a--1', 'a-1e3', '4'])
      expect(after(id)).toBeNull();
    ring.break();
    expect(after('a-5')).toBeNull();
    expect(after(ring.lastId)).toEqual([]);
    ring.push(change('s'));
    expect(after('a-6')).toHaveLength(1);
  });
});

describe('a client that reads slowly', () => {
  const slow = () => {
    const written: string[] = [];
    const state = { full: false, destroyed: false, now: 0 };
    const sink = {
      write: (text: string) => {
        written.push(text);
        return !state.full;
      },
      end: () => undefined,
      destroy: () => {
        state.destroyed = true;
      },
    };
    const ring = new Ring('a', 20_000);
    const stream = new Stream(
      sink,
      () => true,
      () => state.now,
    );
    return { written, state, ring, stream };
  };

  it('gets what waited, in order', () => {
    const { written, state, ring, stream } = slow();
    state.full = true;
    for (let i = 0; i < 5; i++) stream.send([ring.push(change('s'))]);
    expect(written).toHaveLength(1);
    state.full = false;
    stream.drained(ring.lastId);
    expect(written).toHaveLength(2);
    expect(written.join('').match(/^id: .*$/gm)).toEqual([
      'id: a-1',
      'id: a-2',
      'id: a-3',
      'id: a-4',
      'id: a-5',
    ]);
  });

  it('is told to read everything again when too much waited; nothing piles up', () => {
    const { written, state, ring, stream } = slow();
    state.full = true;
    for (let i = 0; i < 5000; i++) stream.send([ring.push(change('s'))]);
    stream.beat();
    expect(written).toHaveLength(1);
    state.full = false;
    stream.drained(ring.lastId);
    expect(written.slice(1)).toEqual([`id: a-5000\nevent: resync\ndata: {}\n\n`]);
    stream.send([ring.push(change('s'))]);
    expect(written.at(-1)).toContain('id: a-5001\nevent: change');
  });

  it('is written nothing after its end', () => {
    const { written, ring, stream } = slow();
    stream.end();
    stream.send([ring.push(change('s'))]);
    stream.resync(ring.lastId);
    stream.beat();
    expect(written).toEqual([]);
  });

  it('is cut when it stopped reading', () => {
    const { state, ring, stream } = slow();
    state.full = true;
    stream.send([ring.push(change('s'))]);
    state.now = BEHIND_MS;
    stream.beat();
    expect(state.destroyed).toBe(false);
    state.now += 1;
    stream.beat();
    expect(state.destroyed).toBe(true);
  });
});

describe('changes that commit together', () => {
  it('go out in one piece after 50 ms, and at once where there are 64', async () => {
    const clock = new ManualClock();
    let hear: (payload: string) => void = expect.fail;
    const db = {
      listen: (_channel: string, heard: typeof hear) => {
        hear = heard;
        return Promise.resolve(() => Promise.resolve());
      },
    };
    const live = await openLive({ db: db as unknown as Database, clock, log, watch: () => () => undefined });
    const pieces: string[] = [];
    const response = Object.assign(new EventEmitter(), {
      writeHead: () => undefined,
      write: (piece: string) => pieces.push(piece) > 0,
      end: () => undefined,
    });
    const open = live.handlers['stream.open'] as unknown as (
      call: object,
    ) => Promise<{ raw: (to: unknown) => void }>;
    (await open({ actor: caller(), query: {}, header: () => undefined })).raw(response);
    pieces.length = 0;
    const say = (count: number) => {
      for (let i = 0; i < count; i++) hear(JSON.stringify(change(uuidv7())));
    };
    const sent = () => pieces.splice(0).map((piece) => piece.match(/^event: change$/gm)?.length);

    say(3);
    await clock.pass(49);
    expect(sent()).toEqual([]);
    await clock.pass(1);
    expect(sent()).toEqual([3]);
    say(65);
    expect(sent().reduce((all, one = 0) => (all ?? 0) + one, 0)).toBe(64);
    await clock.pass(50);
    expect(sent()).toEqual([1]);
    await live.close();
  });
});

describe.each(databases())('live updates on %s', (_name, open) => {
  let db: Database;
  let live: Live;
  let server: Server;
  let url: string;
  const [north, south] = [uuidv7(), uuidv7()];
  let actor: Actor = caller();
  const watched = new Map<Actor, () => void>();
  const closers: (() => void)[] = [];
  const responses: ServerResponse[] = [];

  beforeAll(async () => {
    db = await open();
    live = await openLive({
      db,
      clock: systemClock,
      log,
      watch: (who, gone) => {
        watched.set(who, gone);
        return () => watched.delete(who);
      },
    });
    const app = express();
    app.get('/api/stream', async (request, response, next) => {
      try {
        const handler = live.handlers['stream.open'] as unknown as (
          call: object,
        ) => Promise<{ raw: (r: unknown) => void }>;
        const site = request.query.site as string | undefined;
        const answer = await handler({
          actor,
          query: site ? { site } : {},
          header: (name: string) => request.get(name),
        });
        responses.push(response);
        answer.raw(response);
      } catch (error) {
        next(error);
      }
    });
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/stream`;
  });
  afterEach(() => {
    for (const close of closers.splice(0)) close();
    actor = caller();
  });
  afterAll(async () => {
    await live.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens a stream; `next()` gives the next block that is no heartbeat, `id` the last event id. */
  async function follow(options: { lastId?: string; query?: string } = {}) {
    const abort = new AbortController();
    closers.push(() => abort.abort());
    const response = await fetch(`${url}${options.query ?? ''}`, {
      signal: abort.signal,
      headers: options.lastId === undefined ? {} : { 'Last-Event-ID': options.lastId },
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const client = {
      response,
      id: '',
      async next(): Promise<{ event?: string; data?: unknown; ended?: true }> {
        for (;;) {
          const end = text.indexOf('\n\n');
          if (end < 0) {
            const { value, done } = await reader.read();
            if (done) return { ended: true };
            text += value;
            continue;
          }
          const lines = text
            .slice(0, end)
            .split('\n')
            .map((line) => line.split(/: (.*)/) as [string, string?]);
          text = text.slice(end + 2);
          const fields = Object.fromEntries(lines);
          if (fields.id) client.id = fields.id;
          if (fields.event) return { event: fields.event, data: JSON.parse(fields.data ?? 'null') };
        }
      },
    };
    return client;
  }

  it('tells what committed, and not what was rolled back', async () => {
    const client = await follow();
    expect(client.response.headers.get('content-type')).toContain('text/event-stream');
    const [lost, kept] = [uuidv7(), uuidv7()];
    await db
      .transaction(async (sql) => {
        await announce(sql, north, 'device', [lost]);
        throw new Error('stop');
      })
      .catch(() => undefined);
    await db.transaction((sql) => announce(sql, north, 'case', [kept]));
    expect(await client.next()).toEqual({
      event: 'change',
      data: { site: north, kind: 'case', ids: [kept] },
    });
  });

  it('leaves ids out when there are too many, and says nothing of nothing', async () => {
    const client = await follow();
    await announce(db, north, 'device', []);
    await announce(
      db,
      north,
      'event',
      Array.from({ length: 10_000 }, () => uuidv7()),
    );
    expect(await client.next()).toEqual({ event: 'change', data: { site: north, kind: 'event' } });
  });

  it('tells only of visible sites', async () => {
    actor = caller('viewer', [south]);
    const client = await follow();
    actor = caller();
    const narrow = await follow({ query: `?site=${north}` });
    await announce(db, north, 'device', [north]);
    await announce(db, south, 'device', [south]);
    await announce(db, north, 'scan', [north]);
    expect(await client.next()).toMatchObject({ data: { site: south } });
    expect(await narrow.next()).toMatchObject({ data: { site: north, kind: 'device' } });
    expect(await narrow.next()).toMatchObject({ data: { site: north, kind: 'scan' } });
    actor = caller('viewer', [south]);
    expect((await fetch(`${url}?site=${north}`)).status).not.toBe(200);
  });

  it('goes on where it was left, exactly', async () => {
    const first = await follow();
    await announce(db, north, 'device', [north]);
    await first.next();
    for (const close of closers.splice(0)) close();
    const missed = [uuidv7(), uuidv7(), uuidv7()];
    for (const id of missed) await announce(db, north, 'device', [id]);
    const second = await follow({ lastId: first.id });
    for (const id of missed)
      expect(await second.next()).toMatchObject({ event: 'change', data: { ids: [id] } });
    const third = await follow({ lastId: second.id });
    await announce(db, south, 'device', [south]);
    expect(await third.next()).toMatchObject({ data: { site: south } });
  });

  it('can be resumed from before the first change', async () => {
    const first = await follow();
    const never = first.next();
    await expect.poll(() => first.id).toBeTruthy();
    const id = first.id;
    await announce(db, north, 'device', [north]);
    await never;
    const again = await follow({ lastId: id });
    expect(await again.next()).toMatchObject({ event: 'change', data: { site: north } });
  });

  it('says resync for an id it does not know', async () => {
    for (const lastId of ['nonsense', 'other-7', '']) {
      const client = await follow({ lastId });
      if (lastId !== '') expect(await client.next()).toMatchObject({ event: 'resync' });
    }
  });

  it('ends when the caller’s rights change', async () => {
    const client = await follow();
    expect(live.size).toBeGreaterThan(0);
    watched.get(actor)?.();
    expect(await client.next()).toEqual({ ended: true });
    await expect.poll(() => watched.has(actor)).toBe(false);
  });

  it('holds no more for a client that does not read than its window', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    closers.push(() => socket.destroy());
    socket.write('GET /api/stream HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const ids = Array.from({ length: 150 }, () => uuidv7());
    // Until the buffers of both sockets are full: no longer, since a client that reads nothing for long is let go.
    const full = () => responses.at(-1)?.writableNeedDrain;
    for (let i = 0; i < 3000 && !full(); i++) await announce(db, north, 'device', ids);
    await expect.poll(full).toBe(true);
    for (let i = 0; i < 100; i++) await announce(db, north, 'device', ids);
    expect(responses.at(-1)?.writableLength).toBeLessThan(64 * 1024);
  });

  it('forgets a stream whose client went away', async () => {
    await expect.poll(() => live.size).toBe(0);
    await follow();
    expect(live.size).toBe(1);
    for (const close of closers.splice(0)) close();
    await expect.poll(() => live.size).toBe(0);
  });

  it('sums everything up, of visible sites only', async () => {
    const [a, b] = [await addSite(db, 'a'), await addSite(db, 'b')];
    const at = { first_seen: SEEN, last_seen: SEEN };
    await addDevices(db, [
      { site_id: a, name: 'x', status: 'up', class: 'switch', monitor: true },
      { site_id: a, name: 'y', status: 'down', class: 'switch' },
      { site_id: b, name: 'z', status: 'unknown', class: 'router' },
    ]);
    const online = await addCollector(db, a, 'one');
    await addCollector(db, b, 'two');
    await db.query('UPDATE collectors SET instance = $2 WHERE id = $1', [online, 'i']);
    const event = (site_id: string, severity: number, status: number) => ({
      site_id,
      id: uuidv7(),
      severity,
      status,
      kind: 'trap',
      source: 'trap',
      message: '',
      dedup_key: uuidv7(),
      first_seen: at.first_seen,
      timestamp: at.last_seen,
    });
    await insert(db, 'events', [event(a, 2, 0), event(a, 1, 1), event(a, 1, 2), event(b, 4, 0)]);
    await insert(
      db,
      'cases',
      [0, 1, 2, 3].map((status) => ({
        site_id: a,
        id: uuidv7(),
        title: '',
        status,
        severity: 1,
        tags: [],
        created_at: SEEN,
        updated_at: SEEN,
      })),
    );
    const ask = async (who: Actor) => (await asCaller(live.handlers, who)('summary.get')).data;
    expect(await ask(caller())).toMatchObject({
      devices: { total: 3, monitored: 1, up: 1, down: 1, unknown: 1 },
      classes: [
        { class: 'switch', count: 2 },
        { class: 'router', count: 1 },
      ],
      events: {
        open: 2,
        acknowledged: 1,
        bySeverity: [
          { open: 0, acknowledged: 1 },
          { open: 1, acknowledged: 0 },
          { open: 0, acknowledged: 0 },
          { open: 1, acknowledged: 0 },
          { open: 0, acknowledged: 0 },
        ],
      },
      cases: { open: 1, investigating: 1, resolved: 1 },
      collectors: { online: 1, offline: 1, quarantined: 0 },
      sites: [
        {
          name: 'a',
          devices: { up: 1, down: 1, unknown: 0 },
          collectors: { online: 1, offline: 0 },
          openEvents: 1,
          worstSeverity: 2,
          openCases: 2,
        },
        { name: 'b', openEvents: 1, worstSeverity: 4, openCases: 0 },
      ],
    });
    expect(await ask(caller('viewer', [b]))).toMatchObject({
      devices: { total: 1 },
      events: { open: 1 },
      cases: { open: 0 },
      sites: [{ name: 'b' }],
    });
    expect(await ask(caller('viewer', []))).toMatchObject({ devices: { total: 0 }, sites: [] });
  });
});
