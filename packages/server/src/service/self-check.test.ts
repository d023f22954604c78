/** What a server tells of itself: to people as events, to a service outside as a sign of life. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, describe, expect, it } from 'vitest';
import type { Change } from '../changes.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addSite } from '../testing/rows.ts';
import { reportHealth } from './dead-mans-switch.ts';
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
      recordChanges: async (_sql, changes) => told.push([...changes]),
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
      ['disk', 'certificate'].map((each) => ({
        kind: 'server.checked',
        siteId: site,
        check: each,
        at: NOW,
      })),
    );
    await rm(dataFolder, { recursive: true });
  });
});

describe('a sign of life', () => {
  const told: string[] = [];
  /** Answers with each status once, then with the last one. */
  const outside = async (statuses: number[], ask: (url: string) => Promise<unknown>) => {
    const server = createServer((request, response) => {
      told.push(request.url ?? '');
      response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ping/secret`);
    } finally {
      server.close();
    }
  };
  const clock: Clock = Object.assign(new ManualClock(), { sleep: async () => undefined });
  const well = { clock, servingReason: () => null };

  it('is sent while the server works, and only then', async () => {
    await outside([200], (url) => reportHealth(url, well));
    expect(told.splice(0)).toEqual(['/ping/secret']);
    const away = { clock, servingReason: () => 'the database is away since 30 s' };
    await outside([200], (url) => expect(reportHealth(url, away)).rejects.toThrow('is away'));
    expect(told).toEqual([]);
  });
  it('that gets lost is sent again, as long as the server works', async () => {
    await outside([503, 200], (url) => reportHealth(url, well));
    expect(told.splice(0)).toHaveLength(2);
    const reasons = [null, 'the database is away since 30 s'];
    await outside([503], (url) =>
      expect(reportHealth(url, { clock, servingReason: () => reasons.shift() ?? null })).rejects.toThrow(
        'away',
      ),
    );
    expect(told.splice(0)).toHaveLength(1);
  });
  it('that is refused is an error without the address', async () => {
    await outside([500], (url) => expect(reportHealth(url, well)).rejects.toThrow(/^its answer was 500$/));
    expect(told.splice(0)).toHaveLength(3);
  });
});
