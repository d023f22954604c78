import { randomUUID } from 'node:crypto';
import { operations } from '@rollcall/shared/api/index';
import { responseBody } from '@rollcall/shared/api/operation';
import { BUILT_IN_PROFILES, profileSettings } from '@rollcall/shared/profile';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import type { Call } from '../platform/http/handler.ts';
import { nextRun } from '../platform/ops/recurrence.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addSite, addUser } from '../testing/rows.ts';
import { createScanFeature, type ScanFeature } from './feature.ts';

afterAll(closeDatabases);

describe.each(databases())('scans, profiles and schedules on %s', (_name, open) => {
  let db: Database;
  let feature: ScanFeature;
  let clock: ManualClock;
  let ada: {
    userId: string;
    name: string;
    role: 'admin';
    sites: 'all' | string[];
    via: { kind: 'token'; tokenId: string };
  };
  let siteId: string;
  const audited: string[] = [];

  const newFeature = () =>
    createScanFeature({
      db,
      clock,
      log: pino({ level: 'silent' }),
      recordChanges: async () => undefined,
      audit: async (_sql, { action, subject }) => {
        audited.push(`${action}: ${subject}`);
      },
      maxAddresses: 1_048_576,
    });

  beforeAll(async () => {
    db = await open();
    clock = new ManualClock();
    feature = newFeature();
    await feature.seed();
  });
  beforeEach(async () => {
    const name = `ada-${randomUUID()}`;
    ada = {
      userId: await addUser(db, name),
      name,
      role: 'admin',
      sites: 'all',
      via: { kind: 'token', tokenId: randomUUID() },
    };
    siteId = await addSite(db, `site ${randomUUID()}`);
  });

  const call = (more: object): never =>
    ({
      params: {},
      query: { page: 1, pageSize: 25 },
      actor: ada,
      address: '192.0.2.9',
      header: () => undefined,
      ...more,
    }) as unknown as Call<never> as never;
  /** Calls a handler and checks that its answer is what the operation promises. */
  const ask = async <Id extends keyof ScanFeature['handlers']>(
    id: Id,
    more: object,
  ): Promise<Awaited<ReturnType<ScanFeature['handlers'][Id]>>> => {
    const operation = operations[id];
    const answer = (await feature.handlers[id](call(more))) as {
      data: unknown;
      extra?: object;
      totalCount?: number;
    };
    const { data, extra, totalCount } = answer;
    const paged = totalCount === undefined ? {} : { totalCount, page: 1, pageSize: 25 };
    responseBody(operation).parse(JSON.parse(JSON.stringify({ success: true, ...extra, data, ...paged })));
    return answer as never;
  };
  const request = (more: object = {}) => ({ targets: '10.0.0.0/28', profile: 'ping', site: siteId, ...more });
  const create = (more: object = {}, key?: string) =>
    ask('scans.create', {
      body: request(more),
      header: (name: string) => (name === 'idempotency-key' ? key : undefined),
    });

  describe('scans', () => {
    it('are created with their jobs and say where they are', async () => {
      const { data, extra, headers } = await create();
      expect(data).toMatchObject({
        scanId: data.id,
        targets: '10.0.0.0/28',
        profile: 'ping',
        siteId,
        status: 'queued',
        createdBy: ada.name,
        addressesTotal: 14,
        addressesProbed: 0,
        errors: [],
      });
      expect(extra).toEqual({ scanId: data.id });
      expect(headers).toEqual({ Location: `/api/discovery/scans/${data.id}` });
      const detail = await ask('scans.get', { params: { scanId: data.id } });
      expect(detail.data).toMatchObject({
        settings: { snmp: null },
        jobs: [
          { cidr: '10.0.0.0/28', addresses: 14, status: 'queued', attempt: 0, progress: 0, collector: null },
        ],
      });
    });

    it.each([
      [
        { profile: 'fast' },
        'invalid_request',
        /profile: there is no such profile; there are deep, ping, snmp, standard/,
      ],
      [{ targets: '10.0.0.256' }, 'invalid_request', /targets: 10.0.0.256/],
      [{ targets: '' }, 'invalid_request', /targets: names no address/],
      [{ targets: '10.0.0.0/8' }, 'invalid_request', /16777214 addresses; one scan takes at most 1048576/],
      [{ targets: '127.0.0.1' }, 'invalid_request', /loopback/],
      [{ targets: '10.0.0.1; rm -rf /' }, 'invalid_request', /targets/],
      [{ targets: '-iL /etc/passwd' }, 'invalid_request', /targets/],
      [{ site: 'Nowhere' }, 'invalid_request', /site: no such site/],
    ])('are refused with a reason: %o', async (body, code, message) => {
      await expect(create(body)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
      expect(await db.query('SELECT 1 FROM scans WHERE site_id = $1', [siteId])).toEqual([]);
    });

    it('go to a site that the caller sees, and read as unknown to others', async () => {
      const { data } = await create();
      const other = await addSite(db, `other ${randomUUID()}`);
      ada = { ...ada, sites: [other] };
      await expect(create()).rejects.toMatchObject({ code: 'forbidden' });
      for (const id of ['scans.get', 'scans.cancel', 'scans.addresses'] as const)
        await expect(ask(id, { params: { scanId: data.id } })).rejects.toMatchObject({ code: 'not_found' });
      expect(await ask('scans.list', {})).toMatchObject({ data: [], totalCount: 0 });
      expect((await create({ site: undefined })).data.siteId).toBe(other);
    });

    it('answer the first scan again to the same key by the same caller, for a day', async () => {
      const key = randomUUID();
      const [a, b] = await Promise.all([create({}, key), create({}, key)]);
      expect(a.data.id).toBe(b.data.id);
      expect((await create({}, key)).data.id).toBe(a.data.id);
      await expect(create({ targets: '10.0.1.0/28' }, key)).rejects.toMatchObject({
        code: 'conflict',
        message: `this Idempotency-Key belongs to scan ${a.data.id}, which asks for something else`,
      });
      ada = { ...ada, userId: await addUser(db, `bob-${randomUUID()}`) };
      expect((await create({}, key)).data.id).not.toBe(a.data.id);
      await db.query(`UPDATE scans SET created_at = now() - interval '25 hours' WHERE created_by = $1`, [
        ada.userId,
      ]);
      const later = await create({}, key);
      expect((await create({}, key)).data.id).toBe(later.data.id);
      expect(await db.query('SELECT 1 FROM scans WHERE created_by = $1', [ada.userId])).toHaveLength(2);
      await expect(create({}, 'k'.repeat(201))).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it("go to the caller's default site, where networks of several contain the targets", async () => {
      const networks = ['198.51.100.0/24'];
      const twins = [
        await addSite(db, randomUUID(), { networks }),
        await addSite(db, randomUUID(), { networks }),
      ];
      ada = { ...ada, sites: twins };
      const begun = async () =>
        (await create({ targets: '198.51.100.7', profile: 'ping', site: undefined })).data.siteId;
      for (const site of twins) {
        await db.prisma.user.update({ where: { id: ada.userId }, data: { settings: { defaultSite: site } } });
        expect(await begun()).toBe(site);
      }
    });

    it('case 144: are bounded in number per caller', async () => {
      await db.query(
        `INSERT INTO scans (id, site_id, targets, profile, settings, created_by, addresses_total)
         SELECT gen_random_uuid(), $1, 'x', 'ping', '{}', $2, 1 FROM generate_series(1, 100)`,
        [siteId, ada.userId],
      );
      await expect(create()).rejects.toMatchObject({
        code: 'rate_limited',
        headers: { 'Retry-After': '60' },
      });
    });

    it('cannot be cancelled twice', async () => {
      const { data } = await create();
      expect((await ask('scans.cancel', { params: { scanId: data.id } })).data).toMatchObject({
        status: 'cancelled',
      });
      await expect(ask('scans.cancel', { params: { scanId: data.id } })).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(audited).toContain(`scan.cancel: scan of ${data.targets}`);
    });

    it('tell how each address ended', async () => {
      const { data } = await create();
      const { data: before } = await ask('scans.addresses', { params: { scanId: data.id } });
      expect(before).toHaveLength(14);
      expect(before[0]).toMatchObject({ address: '10.0.0.1', outcome: 'not-probed', code: '.', note: null });
      await db.query(
        `UPDATE jobs SET outcomes = 's=____________', notes = '{"1": "alias of 10.0.0.1"}' WHERE scan_id = $1`,
        [data.id],
      );
      const query = { page: 1, pageSize: 25, outcome: ['alias'] };
      expect(await ask('scans.addresses', { params: { scanId: data.id }, query })).toMatchObject({
        data: [{ address: '10.0.0.2', outcome: 'alias', note: 'alias of 10.0.0.1' }],
        totalCount: 1,
      });
    });

    it('tell of the excluded addresses, behind all others', async () => {
      const { data } = await create({ targets: '10.0.0.0/29, !10.0.0.3' });
      const shown = async (query: object) =>
        ask('scans.addresses', { params: { scanId: data.id }, query: { page: 1, pageSize: 4, ...query } });
      const { totalCount } = await shown({});
      expect(totalCount).toBe(6);
      expect((await shown({ page: 2 })).data).toMatchObject([
        { address: '10.0.0.6', outcome: 'not-probed' },
        { address: '10.0.0.3', outcome: 'excluded', note: 'by ! in the targets', jobId: null },
      ]);
      expect(await shown({ outcome: ['excluded'] })).toMatchObject({
        data: [{ address: '10.0.0.3' }],
        totalCount: 1,
      });
      expect((await shown({ address: '10.0.0.0/31' })).totalCount).toBe(1);
    });

    it('can be planned without being started', async () => {
      await addCollector(db, siteId, 'one');
      await create({ targets: '10.0.0.0/29' });
      const { data } = await ask('scans.plan', { body: request({ targets: '10.0.0.0/28, !10.0.0.3' }) });
      expect(data).toMatchObject({
        siteId,
        addresses: 13,
        excluded: 1,
        jobs: 1,
        packetsPerSecond: 500,
        estimatedPackets: 26,
        collectors: [{ name: 'one', online: false, status: 'active' }],
        overlaps: [{ targets: '10.0.0.0/29', addresses: 5 }],
        warnings: [
          expect.stringMatching(/no collector .* is online/),
          expect.stringMatching(/same addresses/),
        ],
      });
      expect(await db.query('SELECT 1 FROM scans WHERE site_id = $1', [siteId])).toHaveLength(1);
    });
  });

  describe('profiles', () => {
    it('of the product are there and stay as they are', async () => {
      const { data } = await ask('profiles.list', {});
      expect(data.filter(({ builtIn }) => builtIn).map(({ name }) => name)).toEqual(
        Object.keys(BUILT_IN_PROFILES).sort(),
      );
      const ping = data.find(({ name }) => name === 'ping');
      await expect(
        ask('profiles.update', { params: { id: ping?.id }, body: { name: 'x' } }),
      ).rejects.toMatchObject({ code: 'conflict' });
      await expect(ask('profiles.delete', { params: { id: ping?.id } })).rejects.toMatchObject({
        code: 'conflict',
      });
    });

    it('are added, used, changed without touching running scans, and deleted', async () => {
      const name = `night ${randomUUID()}`;
      const settings = profileSettings.parse({ rate: 50, snmp: null });
      const { data: made } = await ask('profiles.create', { body: { name, settings } });
      await expect(ask('profiles.create', { body: { name, settings } })).rejects.toMatchObject({
        code: 'conflict',
      });
      const { data: scan } = await create({ profile: name });
      const faster = { ...settings, rate: 999 };
      await ask('profiles.update', { params: { id: made.id }, body: { settings: faster } });
      expect((await ask('scans.get', { params: { scanId: scan.id } })).data.settings.rate).toBe(50);
      expect((await ask('profiles.get', { params: { id: made.id } })).data.settings.rate).toBe(999);
      await ask('profiles.delete', { params: { id: made.id } });
      await expect(ask('profiles.get', { params: { id: made.id } })).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    it('are kept while a schedule uses them, and renamed in it', async () => {
      const { data: made } = await ask('profiles.create', {
        body: { name: `p ${randomUUID()}`, settings: profileSettings.parse({}) },
      });
      const { data: schedule } = await ask('schedules.create', {
        body: {
          ...request({ profile: made.name }),
          name: 's',
          cron: '0 0 * * *',
          timezone: 'UTC',
          enabled: true,
        },
      });
      await expect(ask('profiles.delete', { params: { id: made.id } })).rejects.toMatchObject({
        code: 'conflict',
      });
      const name = `renamed ${randomUUID()}`;
      await ask('profiles.update', { params: { id: made.id }, body: { name } });
      expect((await ask('schedules.get', { params: { id: schedule.id } })).data.profile).toBe(name);
      await ask('schedules.delete', { params: { id: schedule.id } });
    });

    it('refuse exclusions that cannot be read, and administrators of some sites', async () => {
      const settings = profileSettings.parse({ exclude: ['10.0.0.0/24', '10.0.0.999'] });
      await expect(ask('profiles.create', { body: { name: 'x', settings } })).rejects.toThrow(
        /settings.exclude.1/,
      );
      ada = { ...ada, sites: [siteId] };
      await expect(
        ask('profiles.create', { body: { name: 'x', settings: profileSettings.parse({}) } }),
      ).rejects.toMatchObject({ code: 'forbidden' });
    });
  });

  describe('schedules', () => {
    const schedule = (more: object = {}) => ({
      body: {
        ...request(),
        name: `s ${randomUUID()}`,
        cron: '*/10 * * * *',
        timezone: 'UTC',
        enabled: true,
        ...more,
      },
    });

    it.each([
      ['30 2 * * *', 'Europe/Berlin', '2026-11-21T00:00:00Z', '2026-11-21T01:30:00.000Z'],
      ['30 2 * * 1-5', 'UTC', '2026-11-20T03:00:00Z', '2026-11-23T02:30:00.000Z'],
      // Half past two does not exist in that night; it is run when the clock has jumped.
      ['30 2 * * *', 'Europe/Berlin', '2027-03-28T00:00:00Z', '2027-03-28T01:00:00.000Z'],
    ])('know the next time of %s in %s', (cron, zone, now, next) => {
      expect(nextRun(cron, zone, Date.parse(now)).toISOString()).toBe(next);
    });
    it.each([
      ['* * * * * *', 'UTC', /five fields/],
      ['@daily', 'UTC', /five fields/],
      ['61 * * * *', 'UTC', /cannot be read/],
      ['0 0 30 2 *', 'UTC', /matches no date/],
      ['0 0 * * *', 'Mars/Olympus', /time zone/],
    ])('refuse %s in %s', (cron, zone, reason) => {
      expect(() => nextRun(cron, zone, 0)).toThrow(reason);
    });

    it('run once when they are due, on one of many instances, and not while the last run is under way', async () => {
      const { data } = await ask('schedules.create', schedule());
      expect(data.nextRunAt).toBeGreaterThan(clock.now() / 1000);
      expect(await feature.runSchedules()).toEqual([]);
      await clock.pass(10 * 60_000);
      const others = [newFeature(), newFeature()];
      const runs = (await Promise.all([feature, ...others].map(({ runSchedules }) => runSchedules()))).flat();
      expect(runs).toHaveLength(1);
      expect((await ask('schedules.get', { params: { id: data.id } })).data).toMatchObject({
        lastScanId: runs[0],
      });
      expect((await ask('scans.get', { params: { scanId: runs[0] } })).data.createdBy).toBe(
        `schedule ${data.name}`,
      );
      await clock.pass(10 * 60_000);
      expect(await feature.runSchedules()).toEqual([]);
      await ask('scans.cancel', { params: { scanId: runs[0] } });
      // However long the server was away: once.
      await clock.pass(24 * 3_600_000);
      expect(await feature.runSchedules()).toHaveLength(1);
      expect(await feature.runSchedules()).toEqual([]);
      await ask('schedules.delete', { params: { id: data.id } });
    });

    it('leave a failed scan with the reason when their request no longer stands', async () => {
      const { data } = await ask('schedules.create', schedule());
      await db.query(`UPDATE schedules SET profile = 'gone' WHERE id = $1`, [data.id]);
      await clock.pass(10 * 60_000);
      expect(await feature.runSchedules()).toEqual([]);
      const { data: after } = await ask('schedules.get', { params: { id: data.id } });
      const { data: scan } = await ask('scans.get', { params: { scanId: after.lastScanId } });
      expect(scan).toMatchObject({
        status: 'failed',
        statusReason: expect.stringContaining('no such profile'),
        jobs: [],
      });
      expect(after.nextRunAt).toBeGreaterThan(clock.now() / 1000);
    });

    it('do not run while disabled, and check what they are given', async () => {
      const { data } = await ask('schedules.create', schedule({ enabled: false }));
      expect(data.nextRunAt).toBeNull();
      await expect(ask('schedules.create', schedule({ targets: '127.0.0.1' }))).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(ask('schedules.create', schedule({ name: data.name }))).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(
        ask('schedules.update', { params: { id: data.id }, body: { cron: 'x' } }),
      ).rejects.toMatchObject({ code: 'invalid_request' });
      expect(
        (await ask('schedules.update', { params: { id: data.id }, body: { enabled: true } })).data.nextRunAt,
      ).not.toBeNull();
    });
  });
});
