import { randomUUID } from 'node:crypto';
import { systemClock } from '@rollcall/shared/clock';
import { JOB_ADDRESSES, OUTCOMES } from '@rollcall/shared/model';
import { profileSettings } from '@rollcall/shared/profile';
import type { Span } from '@rollcall/shared/protocol';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '../changes.ts';
import type { Database } from '../platform/db/db.ts';
import type { ClaimedJob, Lease } from '../ports.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addDevices, addSite, insert, SEEN } from '../testing/rows.ts';
import { createScanFeature, type ScanFeature } from './feature.ts';
import { doneBitmap, mergeOutcomes } from './outcomes.ts';

afterAll(closeDatabases);

describe.each(databases())('the queue of jobs on %s', (_name, open) => {
  let db: Database;
  let feature: ScanFeature;
  let raised: Change[];
  const heard: { channel: string; payload: string }[] = [];

  beforeAll(async () => {
    db = await open();
    raised = [];
    feature = createScanFeature({
      db,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      recordChanges: async (_sql, changes) => {
        raised.push(...changes);
      },
      audit: async () => undefined,
      maxAddresses: 1_048_576,
    });
    await feature.seed();
    for (const channel of ['rollcall_jobs', 'rollcall_links'])
      await db.listen(channel, (payload) => heard.push({ channel, payload }));
  });

  const site = async () => {
    const id = await addSite(db, `site ${randomUUID()}`);
    return { id, a: await addCollector(db, id, 'a'), b: await addCollector(db, id, 'b') };
  };
  const scan = async (siteId: string, targets: string, profile = 'ping') =>
    (
      await feature.scans.create(
        { targets, profile, site: siteId },
        { userId: null, name: 'test', sites: null },
      )
    ).id;
  const claim = (id: string, siteId: string, capacity = 4) => feature.queue.claim({ id, siteId, capacity });
  const sole = async (id: string, siteId: string): Promise<ClaimedJob> => {
    const [first, ...more] = await claim(id, siteId, 1);
    if (!first || more.length > 0) throw new Error(`${more.length + (first ? 1 : 0)} jobs claimed`);
    return first;
  };
  const expire = (job: string) =>
    db.query(`UPDATE jobs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`, [job]);
  const outcomes = (from: { collectorId: string; siteId: string }, lease: Lease, at: number, codes: string) =>
    db.transaction((sql) =>
      feature.applyOutcomes(
        sql,
        { kind: 'outcomes', job: lease.job, fence: lease.fence, at: 0, from: at, codes },
        from,
      ),
    );
  const end = (
    from: { collectorId: string; siteId: string },
    lease: Lease,
    result: 'done' | 'deferred' | 'failed' = 'done',
    reason?: string,
  ) =>
    db.transaction((sql) =>
      feature.applyJobEnd(
        sql,
        {
          kind: 'job-end',
          job: lease.job,
          fence: lease.fence,
          at: 0,
          result,
          counts: {},
          ...(reason ? { reason } : {}),
        },
        from,
      ),
    );
  const statusOf = async (scanId: string) => {
    const { status, statusReason, jobs } = await feature.scans.detail(null, scanId);
    return { status, statusReason, jobs: jobs.map((job) => job.status) };
  };
  /** A device that the scan saw, whose neighbour has these addresses. */
  const hears = async (siteId: string, scanId: string, addresses: string[]) => {
    const name = randomUUID();
    const [device] = await addDevices(db, [{ site_id: siteId, name, last_scan_id: scanId }]);
    await addNeighbour(siteId, device, addresses);
  };
  const addNeighbour = async (
    siteId: string,
    device: string | undefined,
    addresses: string[],
    more: object = {},
  ) => {
    const name = randomUUID();
    await insert(db, 'neighbours', [
      {
        ...more,
        site_id: siteId,
        device_id: device,
        protocol: 'lldp',
        key: name,
        addresses,
        first_seen: SEEN,
        last_seen: SEEN,
      },
    ]);
  };
  const scansOf = (siteId: string) =>
    db.query<{ targets: string; follow: number; created_by_name: string }>(
      `SELECT targets, (settings ->> 'follow')::int AS follow, created_by_name FROM scans
       WHERE site_id = $1::uuid ORDER BY created_at, id`,
      [siteId],
    );

  it('follows the neighbours of an ended scan: inside the networks of the site, as often as told', async () => {
    const id = await addSite(db, `site ${randomUUID()}`, {
      networks: ['10.0.0.0/16', '169.254.0.0/16'],
      exclude: ['10.0.9.9'],
    });
    const from = { collectorId: await addCollector(db, id, 'a'), siteId: id };
    const settings = profileSettings.parse({ follow: 2 });
    await insert(db, 'profiles', [{ id: randomUUID(), name: `follow ${id}`, settings }]);
    await addDevices(db, [{ site_id: id, name: 'known', address: '10.0.2.1' }]);
    const run = async (scanId: string, neighbours: string[]) => {
      const job = await sole(from.collectorId, id);
      await hears(id, scanId, neighbours);
      await outcomes(from, job, 0, '_'.repeat(size(job.spans)));
      await end(from, job);
    };
    const scanId = await scan(id, '10.0.0.1', `follow ${id}`);
    await run(scanId, [
      '10.0.1.1',
      '10.0.2.1',
      '10.0.9.9',
      '10.1.0.1',
      '192.0.2.1',
      '10.0.1.2',
      '169.254.1.1',
    ]);
    const [, second] = await db.query<{ id: string }>(
      'SELECT id FROM scans WHERE site_id = $1::uuid ORDER BY created_at, id',
      [id],
    );
    await run(second?.id ?? '', ['10.0.3.1']);
    const [, , third] = await db.query<{ id: string }>(
      'SELECT id FROM scans WHERE site_id = $1::uuid ORDER BY created_at, id',
      [id],
    );
    await run(third?.id ?? '', ['10.0.4.1']);
    expect(await scansOf(id)).toEqual([
      { targets: '10.0.0.1', follow: 2, created_by_name: 'test' },
      { targets: '10.0.1.1, 10.0.1.2, 10.0.2.1, 10.0.9.9', follow: 1, created_by_name: 'test' },
      { targets: '10.0.3.1', follow: 0, created_by_name: 'test' },
    ]);
    expect((await feature.scans.detail(null, second?.id ?? '')).addressesTotal).toBe(3);
  });

  it('follows through devices that are known: reads them again where they are managed, each once, and no other network', async () => {
    const id = await addSite(db, `site ${randomUUID()}`, { networks: ['10.0.0.0/16'] });
    const from = { collectorId: await addCollector(db, id, 'a'), siteId: id };
    const settings = profileSettings.parse({ follow: 16 });
    await insert(db, 'profiles', [{ id: randomUUID(), name: `follow ${id}`, settings }]);
    const address = (n: number) => (n === 3 ? '192.0.2.3' : `10.0.0.${n}`);
    // 1 ─ 2 ─ 4 ─ 1, 2 ─ 3 (managed in a network that is not the site's), 4 ─ 5 (unknown): all but 5 known for long.
    const devices = await addDevices(
      db,
      [1, 2, 3, 4].map((n) => ({ site_id: id, name: `known ${n}`, address: address(n) })),
    );
    const [first, second, third, fourth] = devices;
    await addNeighbour(id, first, [], { remote_device_id: second });
    await addNeighbour(id, second, ['10.0.0.1', '10.0.0.4'], { remote_device_id: fourth });
    await addNeighbour(id, second, [], { remote_device_id: third });
    await addNeighbour(id, fourth, ['10.0.0.5'], {});
    await addNeighbour(id, fourth, ['10.0.0.1'], { remote_device_id: first });
    const run = async (scanId: string, device?: string) => {
      const job = await sole(from.collectorId, id);
      await db.query('UPDATE sightings SET last_scan_id = $2 WHERE device_id = $1', [device ?? null, scanId]);
      await outcomes(from, job, 0, '_'.repeat(size(job.spans)));
      await end(from, job);
    };
    await scan(id, '10.0.0.1', `follow ${id}`);
    for (const device of [first, second, fourth, undefined]) {
      const [last] = await db.query<{ id: string }>(
        'SELECT id FROM scans WHERE site_id = $1::uuid ORDER BY created_at DESC, id DESC LIMIT 1',
        [id],
      );
      await run(last?.id ?? '', device);
    }
    expect((await scansOf(id)).map(({ targets }) => targets)).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      '10.0.0.4',
      '10.0.0.5',
    ]);
  });

  const size = (spans: Span[]) => spans.reduce((sum, { count }) => sum + count, 0);

  it('gives one job to one of many claimers', async () => {
    const { id, a, b } = await site();
    await scan(id, '10.0.0.0/28');
    const claims = await Promise.all([claim(a, id), claim(b, id), claim(a, id), claim(b, id)]);
    expect(claims.flat()).toHaveLength(1);
    expect(claims.flat()[0]).toMatchObject({ fence: 1, spans: [{ first: '10.0.0.1', count: 14 }] });
  });

  it('hands every job of a large scan out exactly once, to whoever asks', async () => {
    const { id, a, b } = await site();
    const scanId = await scan(id, '10.0.0.0/16');
    const seen = new Set<string>();
    for (let round = 0; seen.size < 16 && round < 50; round++) {
      for (const [claims, by] of await Promise.all(
        [a, b].map(async (by) => [await claim(by, id, 3), by] as const),
      ))
        for (const lease of claims) {
          expect(seen.has(lease.job)).toBe(false);
          seen.add(lease.job);
          const from = { collectorId: by, siteId: id };
          await outcomes(from, lease, 0, '_'.repeat(size(lease.spans)));
          await end(from, lease);
        }
    }
    expect(seen.size).toBe(16);
    expect(await feature.scans.get(db, null, scanId)).toMatchObject({
      status: 'completed',
      addressesTotal: 65_534,
      addressesProbed: 65_534,
      hostsAlive: 0,
    });
  });

  it('gives a lost job to the next collector with a higher fence and only the remaining addresses', async () => {
    const { id, a, b } = await site();
    const scanId = await scan(id, '10.1.0.0/28');
    const first = await sole(a, id);
    await outcomes({ collectorId: a, siteId: id }, first, 0, 'i_s');
    expect(await claim(b, id)).toEqual([]);
    await expire(first.job);
    expect(await feature.queue.reap()).toEqual([{ collector: a, job: first.job, fence: 1 }]);
    const second = await sole(b, id);
    expect(second).toMatchObject({ job: first.job, fence: 2 });
    expect(Buffer.from(second.done ?? '', 'base64')[0]).toBe(0b111);

    // Who lost the lease ends nothing any more, but what it saw still counts.
    await end({ collectorId: a, siteId: id }, first);
    expect((await statusOf(scanId)).jobs).toEqual(['leased']);
    await outcomes({ collectorId: a, siteId: id }, first, 2, '__');
    await outcomes({ collectorId: b, siteId: id }, second, 4, '_'.repeat(10));
    await end({ collectorId: b, siteId: id }, second);
    expect(await statusOf(scanId)).toMatchObject({ status: 'completed', jobs: ['done'] });
    const { data } = await listAll(scanId);
    expect(data.slice(0, 4).map(({ outcome }) => outcome)).toEqual(['icmp', 'silent', 'snmp', 'silent']);
  });

  const listAll = async (scanId: string) => {
    const { listAddresses } = await import('./addresses.ts');
    return listAddresses(db, scanId, { page: 1, pageSize: 1000 });
  };

  it('lets the holder take its job up again when nobody else came, and refuses it when somebody did', async () => {
    const { id, a, b } = await site();
    await scan(id, '10.2.0.0/28');
    const lease = await sole(a, id);
    const progress = { ...lease, probed: 3, alive: 1, devices: 1 };
    await expire(lease.job);
    await feature.queue.reap();
    expect(await feature.queue.extend(a, [progress])).toEqual([]);
    expect(await claim(b, id)).toEqual([]);
    await expire(lease.job);
    await feature.queue.reap();
    await sole(b, id);
    expect(await feature.queue.extend(a, [progress])).toEqual([{ job: lease.job, fence: 1 }]);
  });

  it('accepts the end of a job whose lease ran out while its holder was cut off', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.3.0.0/30');
    const lease = await sole(a, id);
    await expire(lease.job);
    await feature.queue.reap();
    await outcomes({ collectorId: a, siteId: id }, lease, 0, '__');
    await end({ collectorId: a, siteId: id }, lease);
    expect(await statusOf(scanId)).toMatchObject({ status: 'completed', jobs: ['done'] });
  });

  it('takes back a lease that lies far ahead because the clock was set back', async () => {
    const { id, a, b } = await site();
    await scan(id, '10.4.0.0/30');
    const lease = await sole(a, id);
    await db.query(`UPDATE jobs SET lease_expires_at = now() + interval '10 years' WHERE id = $1`, [
      lease.job,
    ]);
    await feature.queue.reap();
    expect(await sole(b, id)).toMatchObject({ job: lease.job, fence: 2 });
  });

  it('takes a job that gets nowhere from a living holder, for good', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.5.0.0/30');
    const lease = await sole(a, id);
    await db.query(`UPDATE jobs SET progress_at = now() - interval '1 hour' WHERE id = $1`, [lease.job]);
    heard.length = 0;
    expect(await feature.queue.reap()).toEqual([{ collector: a, job: lease.job, fence: 1 }]);
    expect(await statusOf(scanId)).toMatchObject({ jobs: ['queued'] });
    expect(await feature.queue.extend(a, [{ ...lease, probed: 1, alive: 0, devices: 0 }])).toHaveLength(1);
    await expect
      .poll(() =>
        heard.filter(({ channel }) => channel === 'rollcall_links').map(({ payload }) => JSON.parse(payload)),
      )
      .toEqual([{ verb: 'cancel', leases: [{ collector: a, job: lease.job, fence: 1 }] }]);
  });

  it('gives up after five attempts without progress, says why, and ends the scan partial', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.6.0.0/30, 2001:db8::/126');
    const good = await sole(a, id);
    await outcomes({ collectorId: a, siteId: id }, good, 0, '_'.repeat(size(good.spans)));
    await end({ collectorId: a, siteId: id }, good);
    raised.length = 0;
    for (let attempt = 1; attempt <= 5; attempt++) {
      const lease = await sole(a, id);
      expect(lease.fence).toBe(attempt);
      await expire(lease.job);
      await feature.queue.reap();
    }
    expect(await claim(a, id)).toEqual([]);
    const told = await feature.scans.detail(null, scanId);
    expect(told.status).toBe('partial');
    expect(told.errors).toEqual([
      {
        jobId: expect.any(String),
        cidr: '2001:db8::/126',
        message: 'failed after 5 attempts: the collector was lost',
      },
    ]);
    expect(raised).toMatchObject([
      { kind: 'scan.failed', siteId: id, scanId, reason: expect.stringContaining('1 of 2') },
    ]);
  });

  it('does not count attempts that got ahead', async () => {
    const { id, a } = await site();
    await scan(id, '10.7.0.0/28');
    for (let i = 0; i < 12; i++) {
      const lease = await sole(a, id);
      await outcomes({ collectorId: a, siteId: id }, lease, i, '_');
      await expire(lease.job);
      await feature.queue.reap();
    }
    expect(await sole(a, id)).toMatchObject({ fence: 13 });
  });

  it('puts a deferred job off for a while and offers it again', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.8.0.0/30');
    const lease = await sole(a, id);
    const from = { collectorId: a, siteId: id };
    expect(await feature.queue.refuse(from, lease, { result: 'deferred', reason: 'no route' })).toBe(true);
    expect((await feature.scans.detail(null, scanId)).jobs[0]).toMatchObject({
      status: 'deferred',
      statusReason: 'no route',
    });
    expect(await claim(a, id)).toEqual([]);
    // A column of milliseconds rounds up: `now()` may lie ahead.
    await db.query(`UPDATE jobs SET not_before = now() - interval '1 ms' WHERE id = $1`, [lease.job]);
    expect(await feature.queue.sitesWithWork()).toContain(id);
    expect(await sole(a, id)).toMatchObject({ fence: 2 });
  });

  it('tries a failed job once more, then lets the scan fail', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.9.0.0/30');
    for (let i = 0; i < 2; i++) {
      await db.query('UPDATE jobs SET not_before = NULL WHERE scan_id = $1', [scanId]);
      await end({ collectorId: a, siteId: id }, await sole(a, id), 'failed', 'sockets refused');
    }
    expect(await statusOf(scanId)).toEqual({
      status: 'failed',
      statusReason: '1 of 1 jobs ended without a result: failed after 2 attempts: sockets refused',
      jobs: ['failed'],
    });
  });

  it('sweeps again what was called done without an outcome: something of it was lost', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.10.0.0/28');
    const lease = await sole(a, id);
    await outcomes({ collectorId: a, siteId: id }, lease, 0, 'iiii');
    await end({ collectorId: a, siteId: id }, lease);
    expect((await feature.scans.detail(null, scanId)).jobs[0]).toMatchObject({
      status: 'deferred',
      statusReason: '10 addresses came without an outcome',
    });
  });

  it('case 56: refuses what a collector says of a job of another site, of another holder, of a lease to come', async () => {
    const one = await site();
    const two = await site();
    const scanId = await scan(one.id, '10.11.0.0/30');
    const lease = await sole(one.a, one.id);
    for (const [from, fence] of [
      [{ collectorId: two.a, siteId: two.id }, 1],
      [{ collectorId: one.b, siteId: one.id }, 1],
      [{ collectorId: one.a, siteId: one.id }, 2],
    ] as const) {
      await expect(outcomes(from, { ...lease, fence }, 0, 'ss')).rejects.toThrow(
        /job .* (site|collector|never leased)/,
      );
      await expect(end(from, { ...lease, fence })).rejects.toThrow();
    }
    expect(await feature.scans.get(db, null, scanId)).toMatchObject({
      addressesProbed: 0,
      status: 'running',
    });
    await expect(outcomes({ collectorId: one.a, siteId: one.id }, lease, 1, 'ss')).rejects.toThrow(
      /job of 2/,
    );
    await expect(outcomes({ collectorId: one.a, siteId: one.id }, lease, 0, '?')).rejects.toThrow(
      /unknown outcome/,
    );
  });

  it('attack: a collector of the site writes no outcome into a job that it never held, whatever fence it names', async () => {
    const { id, a, b } = await site();
    const scanId = await scan(id, '10.12.0.0/29');
    const [mine, thief] = [
      { collectorId: a, siteId: id },
      { collectorId: b, siteId: id },
    ];
    const { job } = await sole(a, id);
    for (const fence of [0, 1]) {
      await expect(outcomes(thief, { job, fence }, 0, 'ssssss')).rejects.toThrow(/another collector/);
      await expect(end(thief, { job, fence })).rejects.toThrow(/another collector/);
    }
    await expire(job);
    await feature.queue.reap();
    await sole(b, id);
    await expect(outcomes(thief, { job, fence: 1 }, 0, 'ssssss')).rejects.toThrow(/another collector/);
    expect(await feature.scans.get(db, null, scanId)).toMatchObject({ addressesProbed: 0 });
    // What its first holder saw counts still.
    await outcomes(mine, { job, fence: 1 }, 0, 'ss');
    expect(await feature.scans.get(db, null, scanId)).toMatchObject({ addressesProbed: 2 });
  });

  it('a small scan never waits behind a large one', async () => {
    const { id, a } = await site();
    await scan(id, '10.0.0.0/12');
    const large = await claim(a, id, 4);
    expect(large).toHaveLength(3);
    const small = await scan(id, '172.16.0.0/28');
    expect(await claim(a, id, 4)).toMatchObject([{ scanId: small }]);
  });

  it('case 22: cancels queued and leased jobs, tells their holders, and keeps what they saw', async () => {
    const { id, a } = await site();
    const scanId = await scan(id, '10.12.0.0/18');
    const leases = await claim(a, id, 3);
    heard.length = 0;
    expect(await feature.scans.cancel(null, scanId)).toMatchObject({ status: 'cancelled' });
    expect((await statusOf(scanId)).jobs).toEqual(Array(4).fill('cancelled'));
    await expect
      .poll(() => heard.flatMap(({ payload }) => (payload.startsWith('{') ? JSON.parse(payload).leases : [])))
      .toHaveLength(leases.length);
    const [lease] = leases;
    if (!lease) throw new Error('nothing was leased');
    expect(await feature.queue.extend(a, [{ ...lease, probed: 1, alive: 1, devices: 1 }])).toHaveLength(1);
    await outcomes({ collectorId: a, siteId: id }, lease, 0, 'ii');
    await end({ collectorId: a, siteId: id }, lease);
    expect(await feature.scans.get(db, null, scanId)).toMatchObject({ status: 'cancelled', hostsAlive: 2 });
    await expect(feature.scans.cancel(null, scanId)).rejects.toThrow('the scan is cancelled already');
  });

  it('gives back what a collector came back without, and takes everything from a revoked one', async () => {
    const { id, a, b } = await site();
    await scan(id, '10.13.0.0/18');
    const leases = await claim(a, id, 3);
    const kept = leases[0]?.job ?? '';
    expect(await feature.queue.giveBack(a, [kept])).toHaveLength(1);
    expect(await claim(b, id, 9)).toHaveLength(3);
    expect(await feature.queue.takeAll(a, 'the collector was revoked')).toMatchObject([{ job: kept }]);
    expect(
      await feature.queue.extend(a, [{ job: kept, fence: 1, probed: 9, alive: 0, devices: 0 }]),
    ).toHaveLength(1);
  });

  it('takes back each lease once, however many instances look', async () => {
    const { id, a } = await site();
    await scan(id, '10.14.0.0/16');
    const leases = await claim(a, id, 9);
    for (const { job } of leases) await expire(job);
    const taken = (await Promise.all([1, 2, 3].map(() => feature.queue.reap()))).flat();
    expect(new Set(taken.map(({ job }) => job))).toEqual(new Set(leases.map(({ job }) => job)));
    expect(taken).toHaveLength(leases.length);
  });

  it('ends a scan once when its last jobs end at the same moment', async () => {
    const { id, a, b } = await site();
    for (let i = 0; i < 5; i++) {
      const scanId = await scan(id, '10.15.0.0/19');
      const leases = [await sole(a, id), await sole(b, id)];
      await Promise.all(
        leases.map(async (lease, n) => {
          const from = { collectorId: n === 0 ? a : b, siteId: id };
          await outcomes(from, lease, 0, '_'.repeat(size(lease.spans)));
          await end(from, lease);
        }),
      );
      expect(await statusOf(scanId)).toMatchObject({ status: 'completed' });
    }
  });
});

describe('outcomes', () => {
  const code = fc.constantFrom(...(Object.keys(OUTCOMES) as string[]));
  const codes = (most: number) =>
    fc.array(code, { minLength: 1, maxLength: most }).map((list) => list.join(''));

  it('never lose a code: merging in any order leaves an address without one only if nobody gave one', () => {
    fc.assert(
      fc.property(
        codes(40).chain((stored) =>
          fc.tuple(
            fc.constant(stored),
            fc.array(
              fc
                .tuple(fc.nat(stored.length - 1), codes(stored.length), fc.boolean())
                .map(([from, text, earlier]) => ({
                  from,
                  codes: text.slice(0, stored.length - from),
                  earlier,
                })),
              { maxLength: 6 },
            ),
          ),
        ),
        ([stored, writes]) => {
          const merged = writes.reduce((now, write) => mergeOutcomes(now, write), stored);
          expect(merged).toHaveLength(stored.length);
          for (let i = 0; i < stored.length; i++) {
            const given = [stored[i], ...writes.map(({ from, codes: text }) => text[i - from])];
            expect(merged[i] === '.').toBe(given.every((each) => each === undefined || each === '.'));
            if (merged[i] !== '.') expect(given).toContain(merged[i]);
          }
        },
      ),
    );
  });

  it('become a bitmap that says of each address whether it is done', () => {
    fc.assert(
      fc.property(codes(100), (text) => {
        const bits = Buffer.from(doneBitmap(text) ?? '', 'base64');
        for (let i = 0; i < text.length; i++)
          expect(((bits[i >> 3] ?? 0) >> (i & 7)) & 1).toBe(text[i] === '.' ? 0 : 1);
      }),
    );
    expect(doneBitmap('.'.repeat(JOB_ADDRESSES))).toBeUndefined();
    expect(doneBitmap('_'.repeat(JOB_ADDRESSES))?.length).toBeLessThanOrEqual(700);
  });
});
