import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { scanOf } from '../testing/scan.ts';
import { type Box, openSite, type TestSite } from '../testing/site.ts';

afterAll(closeDatabases);

const MAC = '00:1b:54:00:00:07';

describe.each(databases())('a device that is renumbered, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  const told = (site: TestSite) =>
    site.changes
      .filter(({ kind }) => kind.startsWith('device.') && !['device.new', 'device.addresses'].includes(kind))
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
    await scanOf(site, [[{ ...router, table: ['10.0.0.1'] }]]);
    await scanOf(site, [['10.0.0.77', { ...router, table: ['10.0.0.77'] }]]);
    expect(await addresses(site)).toEqual(['10.0.0.77']);
    await scanOf(site, [[{ ...router, table: ['10.0.0.1'] }]]);
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.0.77', '10.0.0.77 to 10.0.0.1']);
  });

  it('moves with its hardware address, when the old address is silent', async () => {
    const site = await openSite(db);
    await scanOf(site, [[{ host: '10.0.0.1', mac: MAC }]]);
    await scanOf(site, [[{ host: '10.0.0.1', mac: MAC }], [{ host: '10.0.1.7', mac: MAC }]]);
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    await scanOf(site, [[], [{ host: '10.0.1.7', mac: MAC }]]);
    expect(await addresses(site)).toEqual(['10.0.1.7']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.1.7']);
  });

  it('keeps an address that answers, and one that a single scan missed', async () => {
    const site = await openSite(db);
    const second = { host: '10.0.1.1', aliasOf: '10.0.0.1' };
    for (let day = 0; day < 3; day += 1) await scanOf(site, [[router], [second]]);
    await scanOf(site, [[], [router]], () => '10.0.1.1');
    await scanOf(site, [[router], [second]]);
    await scanOf(site, [['10.0.0.9'], [router]], () => '10.0.1.1');
    expect(await addresses(site)).toEqual(['10.0.0.1', '10.0.0.9']);
    expect(told(site)).toEqual([]);
    await scanOf(site, [['10.0.0.9'], [router]], () => '10.0.1.1');
    expect(await addresses(site)).toEqual(['10.0.0.9', '10.0.1.1']);
    expect(told(site)).toEqual(['10.0.0.1 to 10.0.1.1']);
  });

  it('is found first: its loopback interface is where it is managed, and nothing is told of that', async () => {
    const site = await openSite(db);
    const box = { ...router, table: ['10.0.0.1', '10.0.1.1', '10.0.1.254'] };
    await scanOf(site, [[box], ['10.0.1.1', '10.0.1.254'].map((host) => ({ host, aliasOf: '10.0.0.1' }))]);
    expect(await addresses(site)).toEqual(['10.0.1.254']);
    expect(told(site)).toEqual([]);
  });

  it('leaves an address that another box lists too, and tells nothing of that', async () => {
    const site = await openSite(db);
    const other: Box = { sysName: 'r2', engineId: '80001f8803001b54000008', table: ['10.0.0.3', '10.0.0.1'] };
    await scanOf(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    await scanOf(site, [[other, router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    expect(await addresses(site)).toEqual(['10.0.0.3', '10.0.1.1']);
    expect(told(site)).toEqual([]);
  });

  it('is watched and answers at another of its addresses: it is not down, and managed there', async () => {
    const site = await openSite(db);
    await scanOf(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
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
    await scanOf(site, [[router], [{ host: '10.0.1.1', aliasOf: '10.0.0.1' }]]);
    expect(await addresses(site)).toEqual(['10.0.1.1']);
    expect(told(site)).toHaveLength(1);
  });

  it('is watched: it moves to where it answers at the first sight, and only while the watch does not hear it', async () => {
    const site = await openSite(db);
    await scanOf(site, [[{ ...router, table: ['10.0.0.1'] }]]);
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
    await scanOf(site, [[{ ...router, table: ['10.0.0.1', '10.0.0.9'] }]], () => '10.0.0.9');
    expect(await addresses(site)).toEqual(['10.0.0.1']);
    await watch('down');
    await scanOf(site, [['10.0.0.9']]);
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
