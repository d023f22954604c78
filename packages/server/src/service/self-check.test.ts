/** What a server tells of itself: to people as events, to a service outside as a sign of life. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, describe, expect, it } from 'vitest';
import type { Change } from '../changes.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addSite } from '../testing/rows.ts';
import { tellAlive } from './dead-mans-switch.ts';
import { createSelfCheck, judge } from './self-check.ts';

afterAll(closeDatabases);

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);

describe('a disk', () => {
  const ok = (freeBytes: number, totalBytes: number, wasBad = false) =>
    judge(
      { disk: { freeBytes, totalBytes, folder: '/data' }, certificateEnds: null },
      NOW,
      new Set(wasBad ? ['disk' as const] : []),
    )[0]?.ok;
  it.each([
    ['small', 10 * GIB, 512 * MIB],
    ['large', 10_000 * GIB, 5 * GIB],
  ])('that is %s is nearly full below a bound, and well at twice of it', (_, total, bound) => {
    expect(ok(bound, total)).toBe(true);
    expect(ok(bound - 1, total)).toBe(false);
    expect(ok(2 * bound - 1, total, true)).toBe(false);
    expect(ok(2 * bound, total, true)).toBe(true);
  });
});

it.each<[string, number | null, boolean, RegExp]>([
  ['none', null, true, /./],
  ['that ends in 14 days', NOW + 14 * DAY, true, /./],
  ['that ends sooner', NOW + 14 * DAY - 1, false, /ends in 13 days/],
  ['that has ended', NOW - 1, false, /has ended/],
])('a certificate: %s', (_, certificateEnds, ok, message) => {
  const disk = { freeBytes: GIB, totalBytes: GIB, folder: '/data' };
  const [, check] = judge({ disk, certificateEnds }, NOW, new Set());
  expect(check).toMatchObject({ check: 'certificate', ok });
  expect(check?.message).toMatch(message);
});

describe.each(databases())('checks on %s', (_, open) => {
  it('are told in the first site, all at first, then what turned', async () => {
    const db = await open();
    const told: Change[][] = [];
    const dataFolder = await mkdtemp(join(tmpdir(), 'rollcall-check-'));
    const check = createSelfCheck({
      db,
      clock: new ManualClock(NOW),
      raise: async (_sql, changes) => told.push([...changes]),
      dataFolder,
      certFile: undefined,
    });
    await check();
    expect(told, 'there is no site yet').toEqual([]);
    const site = await addSite(db, 'first');
    await addSite(db, 'second');
    await check();
    await check();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject(
      ['disk', 'certificate'].map((each) => ({ kind: 'server.checked', siteId: site, check: each, at: NOW })),
    );
    await rm(dataFolder, { recursive: true });
  });
});

describe('a sign of life', () => {
  const told: string[] = [];
  const outside = async (status: number, ask: (url: string) => Promise<unknown>) => {
    const server = createServer((request, response) => {
      told.push(request.url ?? '');
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ping/secret`);
    } finally {
      server.close();
    }
  };
  it('is sent while the server works, and only then', async () => {
    await outside(200, (url) => tellAlive(url, null));
    expect(told.splice(0)).toEqual(['/ping/secret']);
    await outside(200, (url) =>
      expect(tellAlive(url, 'the database answers nothing')).rejects.toThrow('answers nothing'),
    );
    expect(told).toEqual([]);
  });
  it('that is refused is an error without the address', async () => {
    await outside(500, (url) => expect(tellAlive(url, null)).rejects.toThrow(/^its answer was 500$/));
  });
});
