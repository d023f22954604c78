import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { answered, asked, type Box, openSite, port, type TestSite, table } from '../testing/site.ts';

afterAll(closeDatabases);

const HOUR = 3600_000;
const MAC = '00:1b:54:00:00:07';

describe.each(databases())('a device that is renumbered, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  /** A scan of 10.0.0.0/24 and 10.0.1.0/24 in two jobs; what is not found is silent. */
  const scan = async (
    site: TestSite,
    found: readonly (Box | string | { host: string; mac?: string; aliasOf?: string })[][],
    at: (box: Box) => string = ({ table: [first = ''] = [] }) => first,
  ) => {
    const scanId = uuidv7();
    site.clock.set(site.clock.now() + HOUR);
    const now = site.clock.now();
    await db.query(
      `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total, started_at)
       VALUES ($1::uuid, $2::uuid, '', '', '{}', 512, $3)`,
      [scanId, site.siteId, new Date(now - 1000)],
    );
    const jobs = [0, 1].map((net) => ({ id: uuidv7(), net }));
    for (const { id, net } of jobs)
      await db.query(
        `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size, outcomes, started_at, status)
         VALUES ($1::uuid, $2::uuid, $3::uuid, $4, '', $5::jsonb, 256, $6, $7, 'leased')`,
        [
          id,
          scanId,
          site.siteId,
          net,
          `[{"first":"10.0.${net}.0","count":256}]`,
          '_'.repeat(256),
          new Date(now - 1000),
        ],
      );
    for (const { id: job, net } of jobs) {
      const items = (found[net] ?? []).flatMap((each) => {
        if (typeof each === 'string' || 'host' in each) {
          const { host, ...more } = typeof each === 'string' ? { host: each } : each;
          return [answered(host, { at: now, job, ...more })];
        }
        const walk = asked(each, at(each), { at: now, job });
        const ports = (each.table ?? []).map((address, i) =>
          port(i + 1, `p${i}`, address.startsWith('10.0.1.2') ? { ifType: 24 } : {}),
        );
        const rows = (each.table ?? []).map((address, i) => ({ address, ifIndex: i + 1 }));
        return [
          walk,
          table(walk, 'interfaces', ports, { at: now }),
          table(walk, 'addresses', rows, { at: now }),
        ];
      });
      const codes = [...'_'.repeat(256)];
      for (const item of items)
        if (item.kind !== 'rows') codes[Number((item.address as string).split('.')[3])] = 'i';
      await site.send(items);
      await db.query(`UPDATE jobs SET outcomes = $2 WHERE id = $1::uuid`, [job, codes.join('')]);
      await site.send([{ kind: 'job-end', job, fence: 1, at: now, result: 'done', counts: {} }]);
      await db.query(`UPDATE jobs SET status = 'done' WHERE id = $1::uuid`, [job]);
    }
  };
  const told = (site: TestSite) =>
    site.changes
      .filter(({ kind }) => kind.startsWith('device.') && kind !== 'device.new')
      .map((change) =>
        change.kind === 'device.renumbered'
          ? `${change.before.address} to ${change.after.address}`
          : change.kind,
      );
  const addresses = async (site: TestSite) => (await site.devices()).map(({ ip }) => ip);
  const router: Box = {
    sysName: 'r1',
    engineId: '80001f8803001b54000007',
    macs: [MAC],
    table: ['10.0.0.1', '10.0.1.1'],
  };

  it('moves with its agent, although its new address answered before its agent did', async () => {
    const site = await openSite(db);
    await scan(site, [[{ ...router, table: ['10.0.0.1'] }]]);
    await scan(site, [['10.0.0.77', { ...router, table: ['10.0.0.77'] }]]);
    expect(await addresses(site)).toEqual(['10.0.0.77']);
    await scan(site, [[{ ...router, table: ['10.0.0.1'] }]]);
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.0.77', '10.0.0.77 to 10.0.0.1']);
  });

  it('moves with its hardware address, when the old address is silent', async () => {
    const site = await openSite(db);
    await scan(site, [[{ host: '10.0.0.1', mac: MAC }]]);
    await scan(site, [[{ host: '10.0.0.1', mac: MAC }], [{ host: '10.0.1.7', mac: MAC }]]);
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    await scan(site, [[], [{ host: '10.0.1.7', mac: MAC }]]);
    expect(await addresses(site)).toEqual(['10.0.1.7']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.1.7']);
  });

  it('keeps an address that answers, and one that a single scan missed', async () => {
    const site = await openSite(db);
    const second = { host: '10.0.1.1', aliasOf: '10.0.0.1' };
    for (let day = 0; day < 3; day += 1) await scan(site, [[router], [second]]);
    await scan(site, [[], [router]], () => '10.0.1.1');
    await scan(site, [[router], [second]]);
    await scan(site, [['10.0.0.9'], [router]], () => '10.0.1.1');
    expect(await addresses(site)).toEqual(['10.0.0.1', '10.0.0.9']);
    expect(told(site)).toEqual([]);
    await scan(site, [['10.0.0.9'], [router]], () => '10.0.1.1');
    expect(await addresses(site)).toEqual(['10.0.0.9', '10.0.1.1']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.1.1']);
  });

  it('is found first: its loopback interface is where it is managed, and nothing is told of that', async () => {
    const site = await openSite(db);
    const box = { ...router, table: ['10.0.0.1', '10.0.1.1', '10.0.1.254'] };
    await scan(site, [[box], ['10.0.1.1', '10.0.1.254'].map((host) => ({ host, aliasOf: '10.0.0.1' }))]);
    expect(await addresses(site)).toEqual(['10.0.1.254']);
    expect(told(site)).toEqual([]);
  });

  it('leaves an address that another box lists too, and tells nothing of that', async () => {
    const site = await openSite(db);
    const other: Box = { sysName: 'r2', engineId: '80001f8803001b54000008', table: ['10.0.0.3', '10.0.0.1'] };
    await scan(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    await scan(site, [[other, router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    expect(await addresses(site)).toEqual(['10.0.0.3', '10.0.1.1']);
    expect(told(site)).toEqual([]);
  });

  it('is watched and answers at another of its addresses: it is not down, and managed there', async () => {
    const site = await openSite(db);
    await scan(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    const [row] = await site.devices();
    await db.query('UPDATE devices SET monitor = true WHERE id = $1::uuid', [row?.id]);
    const report = { kind: 'watch', deviceId: row?.id, icmp: 'down', snmp: 'ok' };
    await site.ingest.accept({
      ...{ collectorId: site.collectors[0] as string, siteId: site.siteId, epoch: uuidv7(), stream: 'event' },
      ...{ from: 0, clockOffsetMs: 0 },
      items: [
        { ...report, at: site.clock.now(), icmp: 'up' },
        { ...report, at: site.clock.now() + 1, address: '10.9.9.9' },
        { ...report, at: site.clock.now() + 2, address: '10.0.1.1' },
      ],
    });
    expect(await site.devices()).toMatchObject([
      { ip: '10.0.1.1', status: 'up', search_text: expect.stringContaining(MAC) },
    ]);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.1.1']);
    // Both answer again: it stays.
    await scan(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    expect(await addresses(site)).toEqual(['10.0.1.1']);
    expect(told(site)).toHaveLength(1);
  });

  it('is watched: it moves to where it answers at the first sight, and only while the watch does not hear it', async () => {
    const site = await openSite(db);
    await scan(site, [[{ ...router, table: ['10.0.0.1'] }]]);
    const [row] = await site.devices();
    await db.query('UPDATE devices SET monitor = true WHERE id = $1::uuid', [row?.id]);
    let from = 0;
    const epoch = uuidv7();
    const watch = (icmp: 'up' | 'down') =>
      site.ingest.accept({
        ...{ collectorId: site.collectors[0] as string, siteId: site.siteId, epoch, stream: 'event' },
        ...{ from: from++, clockOffsetMs: 0 },
        items: [
          {
            kind: 'watch',
            at: site.clock.now(),
            deviceId: row?.id,
            icmp,
            snmp: icmp === 'up' ? 'ok' : 'timeout',
          },
        ],
      });
    await watch('up');
    await scan(site, [[{ ...router, table: ['10.0.0.1', '10.0.0.9'] }]], () => '10.0.0.9');
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    await watch('down');
    await scan(site, [['10.0.0.9']]);
    await watch('up');
    expect(await site.devices()).toMatchObject([{ ip: '10.0.0.9', status: 'up' }]);
    expect(told(site)).toEqual([
      'device.down',
      'device.snmp-lost',
      '10.0.0.1 to 10.0.0.9',
      'device.up',
      'device.snmp-restored',
    ]);
  });
});
