import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { answered, asked, NOW, openSite, port, type TestSite, table } from './testing/site.ts';

afterAll(closeDatabases);

describe.each(databases())('the event stream on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  let seq = 0;
  const epoch = uuidv7();
  const happenBy = (
    site: TestSite,
    more: { collector?: number; clockOffsetMs?: number },
    items: unknown[],
  ) => {
    const from = seq;
    seq += items.length;
    const { collector = 0, clockOffsetMs = 0 } = more;
    return site.ingest.accept({
      collectorId: site.collectors[collector]!,
      siteId: site.siteId,
      epoch,
      stream: 'event',
      from,
      items,
      clockOffsetMs,
    });
  };
  const happen = (site: TestSite, ...items: unknown[]) => happenBy(site, {}, items);
  const device = async () => {
    const site = await openSite(db, { collectors: 2 });
    const walk = asked({ sysName: 'sw1' }, '10.0.0.1');
    await site.send([walk, table(walk, 'interfaces', [port(1, 'a'), port(2, 'b')])]);
    const [row] = await site.devices();
    const id = row?.id as string;
    await db.query('UPDATE devices SET monitor = true WHERE id = $1::uuid', [id]);
    site.changes.length = 0;
    return { site, walk, id };
  };

  it('tells each turn of a watched device once', async () => {
    const { site, id } = await device();
    const watch = (more: object) => ({ kind: 'watch', at: NOW, deviceId: id, ...more });
    await happen(site, watch({ icmp: 'up', snmp: 'ok' }), watch({ icmp: 'down', snmp: 'timeout' }));
    await happen(site, watch({ icmp: 'down', snmp: 'timeout' }));
    expect((await site.devices())[0]).toMatchObject({
      status: 'down',
      icmp_reachable: false,
      snmp_reachable: false,
    });
    await happen(site, watch({ icmp: 'up', snmp: 'ok' }));
    expect((await site.devices())[0]).toMatchObject({ status: 'up' });
    expect(site.changes.map(({ kind }) => kind)).toEqual([
      'device.down',
      'device.snmp-lost',
      'device.up',
      'device.snmp-restored',
    ]);
  });

  it('stores the state of a port, and lets the next scan see it anew', async () => {
    const { site, id } = await device();
    await happen(site, { kind: 'watch', at: NOW, deviceId: id, interfaces: [{ ifIndex: 2, operStatus: 2 }] });
    const oper = async () =>
      (
        await db.query('SELECT oper_status FROM interfaces WHERE device_id = $1::uuid ORDER BY if_index', [
          id,
        ])
      ).map((row) => row.oper_status);
    expect(await oper()).toEqual([1, 2]);
    expect(site.changes).toMatchObject([
      { kind: 'interface.state', ifName: 'b', before: { operStatus: 1 }, after: { operStatus: 2 } },
    ]);
    // The scan finds the table as it was at the last scan; the port came back unseen.
    const walk = asked({ sysName: 'sw1' }, '10.0.0.1');
    await site.send([walk, table(walk, 'interfaces', [port(1, 'a'), port(2, 'b')])]);
    expect(await oper()).toEqual([1, 1]);
    // When each was up last, by anyone who saw that it no longer is.
    const later = { ...asked({ sysName: 'sw1' }, '10.0.0.1'), at: NOW + 1000 };
    site.clock.set(NOW + 1000);
    await site.send([
      later,
      { ...table(later, 'interfaces', [port(1, 'a', { operStatus: 2 }), port(2, 'b')]), at: NOW + 1000 },
    ]);
    const up = await db.query(
      'SELECT last_up_at FROM interfaces WHERE device_id = $1::uuid ORDER BY if_index',
      [id],
    );
    expect(up.map((row) => row.last_up_at)).toEqual([new Date(NOW + 1000), new Date(NOW)]);
  });

  it('leaves the row of a device alone where nothing turned, and notes when the watch spoke', async () => {
    const { site, id } = await device();
    const of = async (columns: string, table: string, key: string) =>
      (await db.query(`SELECT ${columns} FROM ${table} WHERE ${key} = $1::uuid`, [id]))[0];
    const up = (minutesAgo: number) =>
      happen(site, { kind: 'watch', at: NOW - minutesAgo * 60_000, deviceId: id, icmp: 'up', snmp: 'ok' });
    await up(10);
    const before = await of('xmin::text, ctid::text', 'devices', 'id');
    await up(5);
    await up(0);
    expect(await of('xmin::text, ctid::text', 'devices', 'id')).toEqual(before);
    expect(await of('watched_at', 'sightings', 'device_id')).toEqual({ watched_at: new Date(NOW) });
  });

  it('keeps turns apart from what scans see in between', async () => {
    const { site, walk, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, ...more });
    await happen(site, watch(NOW, { icmp: 'down', snmp: 'timeout' }));
    await site.send([{ ...walk, walk: uuidv7(), at: NOW + 1000 }]);
    expect((await site.devices())[0]).toMatchObject({ status: 'down', snmp_reachable: true });
    site.changes.length = 0;
    await happen(site, watch(NOW + 2000, { icmp: 'up', snmp: 'ok' }));
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.up', 'device.snmp-restored']);
  });

  it('judges a device by no report of its ports alone', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, ...more });
    const ports = (operStatus: number) => ({ interfaces: [{ ifIndex: 2, operStatus }] });
    await happen(site, watch(NOW, { icmp: 'down' }));
    // Monitoring is switched off and on again: nobody reported since.
    await db.query('UPDATE sightings SET watched_at = NULL WHERE device_id = $1::uuid', [id]);
    site.changes.length = 0;
    await happen(site, watch(NOW + 1000, ports(2)));
    expect(site.changes.map(({ kind }) => kind)).toEqual(['interface.state']);
    await happen(site, watch(NOW + 2000, { icmp: 'down' }));
    expect(site.changes.map(({ kind }) => kind)).toEqual(['interface.state', 'device.down']);
  });

  it('counts what one collector reports in its order, whatever its clock seems to do', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, ...more });
    const ports = (operStatus: number) => ({ interfaces: [{ ifIndex: 2, operStatus }] });
    site.clock.set(NOW + 60_000);
    // A message was late, and its clock was taken to be two seconds behind.
    await happenBy(site, { clockOffsetMs: 2000 }, [watch(NOW + 5000, { icmp: 'down', ...ports(2) })]);
    await happen(site, watch(NOW + 6000, { icmp: 'up', ...ports(1) }));
    expect((await site.devices())[0]).toMatchObject({ status: 'up' });
    expect(site.changes.map(({ kind, at }) => [kind, at - NOW])).toEqual([
      ['device.down', 7000],
      ['interface.state', 7000],
      ['device.up', 7000],
      ['interface.state', 7000],
    ]);
  });

  it('notes until when silences are settled, on the clock of the server', async () => {
    const { site, id } = await device();
    const settled = async () =>
      (
        await db.query<{ at: Date | null }>(
          'SELECT settled_until AS at FROM collector_streams WHERE collector_id = $1 AND stream = $2',
          [site.collectors[0], 'event'],
        )
      )[0]?.at;
    const watch = (at: number, settledUntil: number) => ({
      ...{ kind: 'watch', at, deviceId: id, icmp: 'down', settledUntil },
    });
    await happenBy(site, { clockOffsetMs: 2000 }, [watch(NOW - 5000, NOW - 6000)]);
    expect(await settled()).toEqual(new Date(NOW - 4000));
    await happen(site, watch(NOW - 4000, NOW - 4500), {
      kind: 'trap',
      at: NOW,
      address: '10.0.0.9',
      trapOid: '1.3',
      varbinds: [],
    });
    expect(await settled()).toEqual(new Date(NOW - 3500));
  });

  it('is not led astray by a word of before, nor by one about a device that nobody watches', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, ...more });
    await happen(site, watch(NOW, { icmp: 'down' }));
    await happenBy(site, { collector: 1 }, [watch(NOW - 60_000, { icmp: 'up' })]);
    expect((await site.devices())[0]).toMatchObject({ status: 'down' });
    await db.query('UPDATE devices SET monitor = false WHERE id = $1::uuid', [id]);
    await happen(site, watch(NOW + 1000, { icmp: 'up' }));
    expect((await site.devices())[0]).toMatchObject({ status: 'down' });
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.down']);
  });

  it('calls up whoever answers SNMP but not ping, and down whoever answers neither', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, ...more });
    await happen(site, watch(NOW, { icmp: 'down', snmp: 'ok' }));
    expect((await site.devices())[0]).toMatchObject({ status: 'up', icmp_reachable: false });
    await happen(site, watch(NOW + 1, { icmp: 'down', snmp: 'timeout' }));
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.down', 'device.snmp-lost']);
    expect(site.changes[0]).toMatchObject({ before: { snmp: 'ok' } });
  });

  it('tells a reboot that the collector saw, however short the time between two', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({ kind: 'watch', at, deviceId: id, snmp: 'ok', ...more });
    await happen(site, watch(NOW, { sysUpTime: 6000 }));
    await happen(site, watch(NOW + 30_000, { sysUpTime: 500, restarted: true }));
    await happen(site, watch(NOW + 60_000, { sysUpTime: 3500 }));
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.restarted']);
  });

  it('tells another speed and duplex of a port that is up', async () => {
    const { site, id } = await device();
    const watch = (at: number, more: object) => ({
      kind: 'watch',
      at,
      deviceId: id,
      interfaces: [{ ifIndex: 1, ...more }],
    });
    await happen(site, watch(NOW, { operStatus: 1, speedBps: 1e9, duplex: 'full' }));
    site.changes.length = 0;
    await happen(site, watch(NOW + 1, { speedBps: 1e8, duplex: 'half' }));
    await happen(site, watch(NOW + 2, { operStatus: 2, speedBps: 0 }));
    expect(site.changes).toMatchObject([
      {
        kind: 'interface.changed',
        before: { speedBps: 1e9, duplex: 'full' },
        after: { speedBps: 1e8, duplex: 'half' },
      },
      { kind: 'interface.state' },
    ]);
  });

  it('keeps what bridges do with their ports, and tells another aggregate by its name', async () => {
    const { site, id } = await device();
    const watch = (at: number, ...interfaces: object[]) =>
      happen(site, { kind: 'watch', at, deviceId: id, interfaces });
    const none = { stp: null, aggregate: null };
    await watch(NOW, { ifIndex: 1, stp: 'forwarding', aggregate: null }, { ifIndex: 99, ...none });
    site.changes.length = 0;
    await watch(NOW + 1, { ifIndex: 1, stp: 'blocking', aggregate: { ifIndex: 2, active: true } });
    const stored = await site.db.query(
      'SELECT stp, aggregate::int, aggregate_active FROM interfaces WHERE device_id = $1::uuid AND if_index = 1',
      [id],
    );
    expect(stored).toEqual([{ stp: 'blocking', aggregate: 2, aggregate_active: true }]);
    await watch(NOW + 2, { ifIndex: 1, operStatus: 1 });
    await watch(NOW + 3, { ifIndex: 1, ...none });
    expect(site.changes.filter(({ kind }) => kind === 'interface.changed')).toMatchObject([
      { ifName: 'a', before: { aggregate: null }, after: { aggregate: 'b' } },
      { ifName: 'a', before: { aggregate: 'b' }, after: { aggregate: null } },
    ]);
  });

  it('writes what link traps say, so that a reading that differs is a change', async () => {
    const { site, id } = await device();
    await happen(site, {
      kind: 'trap',
      at: NOW + 1,
      address: '10.0.0.1',
      snmpVersion: 'v2c',
      trapOid: '1.3.6.1.6.3.1.1.5.3',
      varbinds: [{ oid: '1.3.6.1.2.1.2.2.1.1.2', type: 'integer', value: '2' }],
    });
    expect(site.changes.map(({ kind }) => kind)).toEqual(['trap.received']);
    await happen(site, {
      kind: 'watch',
      at: NOW + 2,
      deviceId: id,
      interfaces: [{ ifIndex: 2, operStatus: 1 }],
    });
    expect(site.changes[1]).toMatchObject({
      kind: 'interface.state',
      ifName: 'b',
      before: { operStatus: 2 },
      after: { operStatus: 1 },
    });
  });

  it('knows the sender of a trap by its engine, then by the address it names, then by its source', async () => {
    const { site } = await device();
    await site.send([asked({ sysName: 'sw2', engineId: '80001f888059dc486145a26322' }, '10.0.0.2')]);
    site.changes.length = 0;
    const trap = (more: object) => ({
      kind: 'trap',
      at: NOW,
      address: '10.9.9.9',
      snmpVersion: 'v2c',
      trapOid: '1.3.6.1.4.1.9.0.1',
      varbinds: [],
      ...more,
    });
    await happen(
      site,
      trap({ address: '10.0.0.1', engineId: '80001f888059dc486145a26322' }),
      trap({ address: '10.0.0.2', agentAddress: '10.0.0.1' }),
      trap({ agentAddress: 'nonsense' }),
    );
    expect(site.changes.map((change) => 'deviceName' in change && change.deviceName)).toEqual([
      'sw2',
      'sw1',
      '',
    ]);
  });

  it('names the device that sent a trap, or the address where none is known', async () => {
    const { site, id } = await device();
    const trap = (address: string) => ({
      kind: 'trap',
      at: NOW,
      address,
      snmpVersion: 'v2c',
      trapOid: '1.3.6.1.6.3.1.1.5.3',
      varbinds: [],
    });
    await happen(site, trap('10.0.0.1'), trap('10.9.9.9'));
    expect(site.changes).toMatchObject([
      { kind: 'trap.received', deviceId: id, deviceName: 'sw1' },
      { kind: 'trap.received', deviceId: null, address: '10.9.9.9' },
    ]);
  });

  it('shows what a collector lost', async () => {
    const { site } = await device();
    await happen(site, {
      kind: 'gap',
      at: NOW,
      stream: 'state',
      fromSeq: 5,
      toSeq: 9,
      count: 5,
      reason: 'bytes',
    });
    expect(
      await db.query('SELECT from_seq, to_seq, count, reason FROM gaps WHERE site_id = $1::uuid', [
        site.siteId,
      ]),
    ).toEqual([{ from_seq: 5, to_seq: 9, count: 5, reason: 'bytes' }]);
    expect(site.changes).toMatchObject([{ kind: 'observations.lost', after: { count: 5 } }]);
  });

  it('counts scans that a device missed, and says when it is gone and when it is back', async () => {
    const site = await openSite(db);
    await db.query(`UPDATE sites SET settings = '{"missedScansUntilGone": 2}' WHERE id = $1::uuid`, [
      site.siteId,
    ]);
    const scan = async (codes: string, ...observations: ((job: string) => object)[]) => {
      const [scanId, job] = [uuidv7(), uuidv7()];
      site.clock.set(site.clock.now() + 3600_000);
      const at = site.clock.now();
      await db.query(
        `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total) VALUES ($1::uuid, $2::uuid, '', '', '{}', 4)`,
        [scanId, site.siteId],
      );
      await db.query(
        `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size, outcomes, started_at)
         VALUES ($1::uuid, $2::uuid, $3::uuid, 0, '', $4::jsonb, 4, $5, $6)`,
        [
          job,
          scanId,
          site.siteId,
          JSON.stringify([
            { first: '10.0.0.1', count: 2 },
            { first: '10.0.0.9', count: 2 },
          ]),
          codes,
          new Date(at - 1000),
        ],
      );
      await site.send([
        ...observations.map((make) => ({ ...make(job), at })),
        { kind: 'job-end', job, fence: 1, at, result: 'done', counts: {} },
      ]);
    };
    const all = ['10.0.0.1', '10.0.0.2', '10.0.0.9', '10.0.0.10'].map(
      (a) => (job: string) => answered(a, { job }),
    );
    await scan('iiii', ...all);
    // .1 silent, .2 answers, .9 ran out of budget, .10 silent.
    await scan('_ib_', all[1]!);
    const missed = async () =>
      (await site.devices()).map(({ missed_scans, gone_at }) => [missed_scans, gone_at !== null]);
    expect(await missed()).toEqual([
      [1, false],
      [0, false],
      [0, false],
      [1, false],
    ]);
    await scan('_iii', all[1]!, all[2]!, all[3]!);
    expect(await missed()).toEqual([
      [2, true],
      [0, false],
      [0, false],
      [0, false],
    ]);
    await scan('iiii', ...all);
    expect(site.changes.slice(4).map(({ kind, ...c }) => [kind, 'address' in c && c.address])).toEqual([
      ['device.gone', '10.0.0.1'],
      ['device.returned', '10.0.0.1'],
    ]);
  });
});
