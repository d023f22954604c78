/** Three servers as processes of their own on one PostgreSQL behind nginx, by the example of deploy/examples/three-servers. */

import { type Database, openDatabase } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { enrolled, shakeHands, type Talk, talkOver } from '@rollcall/server/testing/scripted-collector';
import { systemClock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { haveNginx } from './balancer.ts';
import { eventually } from './child.ts';
import { databaseKinds, World } from './world.ts';

const SERVERS = 3;
/** Who is not told notices after 15 s. */
const AT_ONCE_MS = 10_000;
const possible = haveNginx && databaseKinds().includes('postgresql');
const round = [0, 1, 2] as const;
const SOUND = { lost: 0, doubled: 0, altered: 0, misattributed: 0, foreign: 0, reported: 0, untimely: 0 };

const missing = 'three servers behind a balancer: install postgresql and nginx-light';
if (!possible && process.env.CI) throw new Error(missing);
if (!possible) skipped(missing);

describe.skipIf(!possible)('three servers', () => {
  let world: World;
  let db: Database;
  beforeAll(async () => {
    world = await World.create({ database: 'postgresql', servers: SERVERS, sources: 6, rate: 100 });
    db = await openDatabase({ url: world.postgres?.url() ?? '' }, openLog({ logLevel: 'silent' }));
  });
  afterAll(async () => {
    await db?.close();
    await world?.destroy();
  });

  const server = (which: number) => {
    const found = world.servers[which % SERVERS];
    if (!found) throw new RangeError(`no server ${which}`);
    return found;
  };
  const since = (from: number) => systemClock.monotonic() - from;
  const allLinked = (forMs: number) =>
    eventually(() => world.sources.every(({ linked }) => linked), forMs, 20);

  /** A stream of live changes, as text so far; `ended` resolves with the moment that it was cut. */
  async function streamAt(which: number, token: string) {
    const response = await fetch(`${server(which).url}/api/stream`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    const stream = { heard: '', ended: Promise.resolve(0) };
    stream.ended = (async () => {
      try {
        const decoder = new TextDecoder();
        for await (const part of response.body ?? []) stream.heard += decoder.decode(part, { stream: true });
      } catch {
        // Cut in the middle: that is what ending a stream looks like from here.
      }
      return systemClock.monotonic();
    })();
    return stream;
  }

  test('collectors that come through the proxy are with all of them', async () => {
    expect(await allLinked(60_000)).toBe(true);
    const instances = await db.query('SELECT DISTINCT instance FROM collectors WHERE instance IS NOT NULL');
    expect(instances).toHaveLength(SERVERS);
  });

  test('what changes at one is told by the streams of all', async () => {
    const streams = await Promise.all(round.map((which) => streamAt(which, server(0).token)));
    for (const which of round) {
      const { data } = await server(which).api<{ data: { id: string } }>('POST', '/api/sites', {
        name: `site of ${which}`,
      });
      const told = () => streams.every(({ heard }) => heard.includes(data.id));
      expect(await eventually(told, AT_ONCE_MS, 20)).toBe(true);
    }
  });

  // Each collector takes one job, so that every server has one to hand on.
  test('a job that is asked for at one reaches its collector wherever it is, and so does its cancellation, at once', async () => {
    const { data: site } = await server(0).api<{ data: { id: string } }>('POST', '/api/sites', {
      name: 'west',
    });
    const talks: Talk[] = [];
    for (const which of round) {
      const disk = await enrolled(db, site.id, `west ${which}`);
      // One at each, past the proxy: who is where must be known here.
      const { talk, host } = talkOver(server(which).url.replace('http', 'ws'));
      await shakeHands(talk, disk, host, { capacity: 1 });
      talks.push(talk);
    }
    for (const asked of round) {
      const ids: string[] = [];
      const from = systemClock.monotonic();
      for (const net of round) {
        const { scanId } = await server(asked + net).api<{ scanId: string }>('POST', '/api/discovery/scan', {
          targets: `10.${asked}.${net}.0/24`,
          profile: 'standard',
          site: site.id,
        });
        ids.push(scanId);
      }
      for (const talk of talks) await talk.next('assign');
      expect(since(from)).toBeLessThan(AT_ONCE_MS);
      const cancelled = systemClock.monotonic();
      for (const [i, id] of ids.entries())
        await server(asked + i + 1).api('POST', `/api/discovery/scans/${id}/cancel`);
      for (const talk of talks) await talk.next('cancel');
      expect(since(cancelled)).toBeLessThan(AT_ONCE_MS);
    }
    for (const talk of talks) talk.hangUp();
  });

  test('a token that is revoked at one ends at all at once, open streams too', async () => {
    for (const revoking of round) {
      const made = await server(revoking).api<{ token: string; data: { id: string } }>(
        'POST',
        '/api/tokens',
        { name: `revoked at ${revoking}` },
      );
      const ask = async (which: number) => {
        const headers = { Authorization: `Bearer ${made.token}` };
        const response = await fetch(`${server(which).url}/api/devices`, { headers });
        await response.arrayBuffer();
        return response.status;
      };
      const streams = await Promise.all(round.map((which) => streamAt(which, made.token)));
      expect(await Promise.all(round.map(ask))).toEqual([200, 200, 200]);
      await server(revoking).api('DELETE', `/api/tokens/${made.data.id}`);
      const from = systemClock.monotonic();
      const refused = async () => (await Promise.all(round.map(ask))).every((status) => status === 401);
      expect(await eventually(refused, AT_ONCE_MS, 20)).toBe(true);
      for (const { ended } of streams) expect((await ended) - from).toBeLessThan(AT_ONCE_MS);
    }
  });

  test('a schedule that is due runs once', async () => {
    const { data: site } = await server(0).api<{ data: { id: string } }>('POST', '/api/sites', {
      name: 'scheduled',
    });
    const { data } = await server(1).api<{ data: { id: string } }>('POST', '/api/discovery/schedules', {
      name: 'rarely',
      targets: '10.9.0.0/24',
      profile: 'standard',
      site: site.id,
      cron: '0 0 1 1 *',
    });
    await db.query(`UPDATE schedules SET next_run_at = now() - interval '1 second' WHERE id = $1::uuid`, [
      data.id,
    ]);
    const scans = () => db.query('SELECT id FROM scans WHERE site_id = $1::uuid', [site.id]);
    expect(await eventually(async () => (await scans()).length > 0, 10_000)).toBe(true);
    // Each looks every 5 s.
    await systemClock.sleep(6_000);
    expect(await scans()).toHaveLength(1);
  });

  test.each(round)(
    'killed -9, number %d loses nobody for more than 10 s, and people who come through the proxy nothing',
    async (which) => {
      expect(await allLinked(60_000)).toBe(true);
      await server(which).kill();
      const from = systemClock.monotonic();
      for (let i = 0; i < 10; i++) {
        const headers = { Authorization: `Bearer ${server(0).token}` };
        const response = await fetch(`http://127.0.0.1:${world.port}/api/devices`, { headers });
        await response.arrayBuffer();
        expect(response.status).toBe(200);
      }
      await systemClock.sleep(300);
      expect(await allLinked(10_000 - since(from))).toBe(true);
      await server(which).startReady();
    },
    90_000,
  );

  test('nothing was lost, doubled, altered or misattributed by any of it', async () => {
    for (const each of world.sources) each.setRate(0);
    expect(await world.drained(180_000)).toEqual([]);
    expect(await world.verdict()).toMatchObject(SOUND);
  });
});
