import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import type { Classify } from './classification/classify.ts';
import { answered, asked, openSite, type TestSite } from './testing/site.ts';

afterAll(closeDatabases);

describe.each(databases())('the end of a scan, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  const HOUR = 3600_000;
  /** A scan of two jobs; the first finds a switch at 10.0.0.1 and a host, the second another host. */
  async function scan(site: TestSite, ends: number): Promise<void> {
    site.clock.set(site.clock.now() + HOUR);
    const [scanId, now] = [uuidv7(), site.clock.now()];
    await db.query(
      `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total, started_at)
       VALUES ($1::uuid, $2::uuid, '', '', '{}', 512, $3)`,
      [scanId, site.siteId, new Date(now - 1000)],
    );
    const jobs = [0, 1].map((net) => ({ job: uuidv7(), net }));
    for (const { job, net } of jobs)
      await db.query(
        `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size, outcomes, started_at, status)
         VALUES ($1::uuid, $2::uuid, $3::uuid, $4, '', $5::jsonb, 256, '', $6, 'leased')`,
        [job, scanId, site.siteId, net, `[{"first":"10.0.${net}.0","count":256}]`, new Date(now - 1000)],
      );
    for (const { job, net } of jobs.slice(0, ends)) {
      const box = { sysName: 'sw1', engineId: '80001f8803001b54000007', macs: ['00:1b:54:00:00:07'] };
      await site.send([
        ...(net === 0 ? [asked(box, '10.0.0.1', { at: now, job })] : []),
        answered(`10.0.${net}.9`, { at: now, job }),
        { kind: 'job-end', job, fence: 1, at: now, result: 'done', counts: {} },
      ]);
      await db.query(`UPDATE jobs SET status = 'done' WHERE id = $1::uuid`, [job]);
    }
  }
  const classify: Classify = ({ host }) => ({
    ...{ vendor: null, os: null, osVersion: null, model: null, serial: null, by: {} },
    class: host ? 'workstation' : 'switch',
  });
  const siteThat = async (monitorFound?: string) => {
    const site = await openSite(db, { classify });
    if (monitorFound !== undefined)
      await db.query(
        `UPDATE sites SET settings = jsonb_build_object('monitorFound', $2::text) WHERE id = $1::uuid`,
        [site.siteId, monitorFound],
      );
    return site;
  };
  const monitored = async (site: TestSite) =>
    (await site.devices()).filter(({ monitor }) => monitor).map(({ ip }) => ip);

  it.each([
    [undefined, ['10.0.0.1']],
    ['none', []],
    ['infrastructure', ['10.0.0.1']],
    ['all', ['10.0.0.1', '10.0.0.9', '10.0.1.9']],
  ])('monitors what it found where the site says %s', async (rule, expected) => {
    const site = await siteThat(rule);
    await scan(site, 2);
    expect(await monitored(site)).toEqual(expected);
  });

  it('monitors nothing before its last job has ended', async () => {
    const site = await siteThat('all');
    await scan(site, 1);
    expect(await monitored(site)).toEqual([]);
  });

  it('leaves what an earlier scan found as people left it', async () => {
    const site = await siteThat('all');
    await scan(site, 2);
    await db.query('UPDATE devices SET monitor = false WHERE site_id = $1::uuid AND address = $2::inet', [
      site.siteId,
      '10.0.0.1',
    ]);
    await scan(site, 2);
    expect(await monitored(site)).toEqual(['10.0.0.9', '10.0.1.9']);
  });
});
