import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change, ChangeOf } from '../kernel/change.ts';
import type { Database } from '../kernel/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addDevices, addSite, asCaller, caller, insert, SEEN } from '../testing/rows.ts';
import { forgotten, unwatched } from './device-events.ts';
import { incidentHandlers } from './handlers.ts';
import { maintenanceHandlers } from './maintenance-routes.ts';
import { createRecorder, type Recorder } from './record.ts';
import { TRAPS } from './traps.ts';

afterAll(closeDatabases);

describe.each(databases())('changes into events and cases on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let recorder: Recorder;
  let now: number;
  const devices = new Map<string, string>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async () => undefined,
    every: () => () => undefined,
  };

  beforeEach(async () => {
    db ??= await open();
    now = Date.parse('2026-11-20T12:00:00Z');
    recorder = createRecorder({ db, clock });
    devices.clear();
    site = await addSite(db, uuidv7());
  });

  /** Devices by name, each watched and up. */
  async function network(names: string[], cables: string[] = []) {
    const ids = await addDevices(
      db,
      names.map((name) => ({ site_id: site, name, monitor: true, status: 'up' })),
    );
    for (const [i, name] of names.entries()) devices.set(name, ids[i] ?? '');
    await insert(
      db,
      'neighbours',
      cables.map((cable) => {
        const [a = '', b = ''] = cable.split('>');
        return {
          site_id: site,
          device_id: devices.get(a),
          remote_device_id: devices.get(b),
          protocol: 'lldp',
          key: cable,
          addresses: [],
          first_seen: SEEN,
          last_seen: SEEN,
        };
      }),
    );
  }
  const about = (name: string) => ({
    siteId: site,
    at: now,
    collectorId: null,
    deviceId: devices.get(name) ?? null,
    deviceName: name,
    address: null,
    monitor: true,
  });
  const tell = (...changes: Change[]) => db.transaction((sql) => recorder.record(sql, changes));
  const down = (name: string): Change => ({
    ...about(name),
    kind: 'device.down',
    before: {},
    after: { icmp: 'down' },
  });
  const up = (name: string): Change => ({
    ...about(name),
    kind: 'device.up',
    before: {},
    after: { icmp: 'up' },
  });
  const state = (name: string, id: string, before: number, after: number, admin = 1): Change => ({
    ...about(name),
    kind: 'interface.state',
    interfaceId: id,
    ifName: 'Gi1',
    before: { adminStatus: 1, operStatus: before },
    after: { adminStatus: admin, operStatus: after },
  });
  /** What the watch does beside telling it. */
  const mark = (name: string, status: 'up' | 'down') =>
    db.query('UPDATE devices SET status = $2 WHERE id = $1', [devices.get(name), status]);
  const wait = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 5) {
      now += Math.min(5, seconds - i) * 1000;
      await recorder.tend();
    }
  };
  interface Shown {
    kind: string;
    status: number;
    count: number;
    device: string | null;
    caseId: string | null;
    message: string;
    severity: number;
    closeReason: string | null;
    id: string;
    details: Record<string, unknown>;
    firstSeen: number;
    closedAt: number | null;
    interfaceId: string | null;
    source: string;
    acknowledgedUntil: string | null;
  }
  const handlers = () => asCaller(incidentHandlers({ db, clock }), caller('operator', [site]));
  const events = async (): Promise<Shown[]> =>
    (await handlers()('events.list', { query: { pageSize: '1000', sort: 'timestamp' } })).data;
  const cases = async () =>
    (await handlers()('cases.list', { query: { sort: 'createdAt' } })).data as {
      id: string;
      title: string;
      status: number;
      severity: number;
      eventCount: number;
      openEventCount: number;
      rootDeviceId: string | null;
    }[];
  const words = async () =>
    (await events())
      .map((e) => `${e.kind} ${e.device ?? '-'} ${['open', 'acknowledged', 'closed'][e.status]}`)
      .sort();

  it('opens when it held, counts up, clears; the case resolves itself', async () => {
    await network(['sw']);
    await tell(down('sw'));
    expect(await events()).toEqual([]);
    await wait(25);
    expect(await words()).toEqual(['device.down sw open']);
    const [event] = await events();
    expect(event).toMatchObject({
      severity: 2,
      source: 'icmp',
      count: 1,
      message: 'sw does not answer',
      firstSeen: Date.parse('2026-11-20T12:00:00Z') / 1000,
    });
    expect(await cases()).toMatchObject([
      { title: 'sw does not answer', status: 0, severity: 2, eventCount: 1, rootDeviceId: devices.get('sw') },
    ]);
    await tell(down('sw'), down('sw'));
    expect((await events())[0]).toMatchObject({ count: 3 });
    await tell(up('sw'));
    expect((await events())[0]).toMatchObject({ status: 2, closeReason: 'cleared', closedAt: now / 1000 });
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });

  it('does not cry over a blip, but over many', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(10);
    await tell(up('sw'));
    await wait(60);
    expect(await events()).toEqual([]);
    for (let i = 0; i < 2; i++) {
      await tell(down('sw'));
      await wait(5);
      await tell(up('sw'));
      await wait(5);
    }
    expect(await words()).toEqual(['flapping sw open']);
    expect(await cases()).toHaveLength(1);
    await wait(700);
    expect(await words()).toEqual(['flapping sw closed']);
    expect(await cases()).toMatchObject([{ status: 2 }]);
    expect(await db.query('SELECT * FROM conditions WHERE site_id = $1', [site])).toEqual([]);
  });

  it('a link that flaps a hundred times in ten minutes: one case, at most three events', async () => {
    await network(['sw']);
    const port = uuidv7();
    for (let i = 0; i < 100; i++) {
      await tell(state('sw', port, 1, 2));
      await wait(3);
      await tell(state('sw', port, 2, 1));
      await wait(3);
    }
    const all = await events();
    expect(all.length).toBeLessThanOrEqual(3);
    expect(all.at(-1)).toMatchObject({
      kind: 'flapping',
      status: 0,
      interfaceId: port,
      message: 'Flapping: Gi1 of sw is down',
    });
    expect(all.at(-1)?.count).toBeGreaterThanOrEqual(97);
    expect(await cases()).toHaveLength(1);
    await wait(610);
    expect((await events()).every((e) => e.status === 2)).toBe(true);
    expect(await cases()).toMatchObject([{ status: 2 }]);
  });

  it('the same flapping told all at once, after an outage of the line, is the same', async () => {
    await network(['sw']);
    const port = uuidv7();
    const changes: Change[] = [];
    for (let i = 0; i < 100; i++) {
      changes.push(state('sw', port, 1, 2));
      now += 6_000;
      changes.push(state('sw', port, 2, 1));
      now += 1_000;
    }
    await tell(...changes);
    expect((await events()).length).toBeLessThanOrEqual(3);
    expect(await cases()).toHaveLength(1);
  });

  it('a core switch with what hangs behind it dies: one case that names the root', async () => {
    const leaves = Array.from({ length: 200 }, (_, i) => `leaf-${i}`);
    await network(['router', 'core', ...leaves], ['router>core', ...leaves.map((leaf) => `core>${leaf}`)]);
    // Seen down in any order: half of the leaves before the core.
    for (const leaf of leaves.slice(0, 100)) await mark(leaf, 'down');
    await tell(...leaves.slice(0, 100).map(down));
    await wait(10);
    for (const name of ['core', ...leaves.slice(100)]) await mark(name, 'down');
    await tell(...leaves.slice(100).map(down), down('core'));
    // 45 s after the first was seen down, and 35 s after the switch itself was.
    await wait(35);
    const found = await cases();
    expect(found).toMatchObject([
      { title: 'core does not answer', rootDeviceId: devices.get('core'), severity: 2, eventCount: 201 },
    ]);
    const all = await events();
    expect(all.filter((e) => e.kind === 'device.down').map((e) => e.device)).toEqual(['core']);
    expect(all.find((e) => e.device === 'leaf-7')).toMatchObject({
      kind: 'device.unreachable',
      severity: 4,
      message: 'leaf-7 is unreachable behind core',
      caseId: found[0]?.id,
    });
    // All come back but one: that one stands for itself now, in the same case.
    for (const name of ['core', ...leaves.slice(1)]) await mark(name, 'up');
    await tell(...['core', ...leaves.slice(1)].map(up));
    await wait(15);
    const open = (await events()).filter((e) => e.status < 2);
    expect(open.map((e) => `${e.kind} ${e.device}`)).toEqual(['device.down leaf-0']);
    expect(await cases()).toMatchObject([{ status: 0, openEventCount: 1 }]);
    await tell(up('leaf-0'));
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });

  it('two unrelated failures in one site in the same minute: two cases', async () => {
    await network(['router', 'a', 'b'], ['router>a', 'router>b']);
    await mark('a', 'down');
    await mark('b', 'down');
    await tell(down('a'));
    await wait(20);
    await tell(down('b'));
    await wait(30);
    expect((await cases()).map((c) => c.title)).toEqual(['a does not answer', 'b does not answer']);
  });

  it('the power of a whole site goes and returns: one case, resolved by itself', async () => {
    const names = ['core', 'a', 'b', 'c'];
    await network(names, ['core>a', 'core>b', 'core>c']);
    for (const name of names) await mark(name, 'down');
    await tell(...names.map(down));
    await wait(60);
    expect(await cases()).toMatchObject([{ title: 'core does not answer', eventCount: 4 }]);
    for (const name of names) await mark(name, 'up');
    await tell(...names.map(up));
    await wait(60);
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
    expect((await events()).every((e) => e.status === 2)).toBe(true);
  });

  it('a lost collector is one event and one case', async () => {
    const collectorId = uuidv7();
    const of = { siteId: site, collectorId, collectorName: 'n-1' };
    await tell({ ...of, at: now, kind: 'collector.offline', lastSeen: now, reason: 'silent' });
    await wait(30);
    expect((await events()).map((e) => e.kind)).toEqual(['collector.offline']);
    expect(await cases()).toMatchObject([
      { severity: 1, rootDeviceId: null, title: 'Collector n-1 is offline: silent' },
    ]);
    await tell({ ...of, at: now, kind: 'collector.online' });
    expect(await cases()).toMatchObject([{ status: 2 }]);
    await tell({ ...of, at: now, kind: 'collector.offline', lastSeen: now, reason: 'restart' });
    await wait(10);
    await tell({ ...of, at: now, kind: 'collector.online' });
    await wait(60);
    expect(await events()).toHaveLength(1);
  });

  const collectorOf = (collectorId: string) => ({ siteId: site, collectorId, collectorName: 'n-1' });

  it('what a collector saw last before it was lost is no event of its own: the site is one', async () => {
    await network(['router', 'a', 'b'], ['router>a', 'router>b']);
    const collectorId = await addCollector(db, site, 'n-1');
    // Its own uplink goes: everything is down for it, then it is lost.
    for (const name of devices.keys()) await mark(name, 'down');
    await tell(...[...devices.keys()].map(down));
    await wait(10);
    await tell({
      ...collectorOf(collectorId),
      at: now,
      kind: 'collector.offline',
      lastSeen: now,
      reason: 'silent',
    });
    await wait(120);
    expect(await words()).toEqual(['collector.offline - open']);
    expect(await cases()).toHaveLength(1);
    // It returns; two devices answered again in the meantime, one did not.
    await db.query(`UPDATE collectors SET instance = 'here' WHERE id = $1`, [collectorId]);
    for (const name of ['router', 'a']) await mark(name, 'up');
    await tell({ ...collectorOf(collectorId), at: now, kind: 'collector.online' }, up('router'), up('a'));
    await wait(30);
    expect(await words()).toEqual(['collector.offline - closed', 'device.down b open']);
    expect((await cases()).map((c) => [c.title, c.status])).toEqual([
      ['Collector n-1 is offline: silent', 2],
      ['b does not answer', 0],
    ]);
  });

  it('while another collector of the site still looks, a lost one silences nothing', async () => {
    await network(['a']);
    await addCollector(db, site, 'n-2');
    await db.query(`UPDATE collectors SET instance = 'here' WHERE site_id = $1`, [site]);
    const lost = {
      ...collectorOf(uuidv7()),
      at: now,
      kind: 'collector.offline' as const,
      lastSeen: now,
      reason: 'x',
    };
    await tell(lost, down('a'));
    await wait(30);
    expect(await words()).toEqual(['collector.offline - open', 'device.down a open']);
  });

  it('a stack member reboots: its ports go and come, one case that resolves itself', async () => {
    await network(['stack', 'far'], ['stack>far']);
    const ports = Array.from({ length: 24 }, () => uuidv7());
    await tell(...ports.map((port) => state('stack', port, 1, 2)), trap('stack', TRAPS.coldStart));
    await wait(60);
    expect((await words()).map((w) => w.split(' ')[0])).toEqual([
      'device.rebooted',
      ...ports.map(() => 'interface.down'),
    ]);
    expect(await cases()).toMatchObject([{ rootDeviceId: devices.get('stack'), status: 0, eventCount: 25 }]);
    await tell(...ports.map((port) => state('stack', port, 2, 1)));
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });

  describe('maintenance', () => {
    const plan = (minutes: number, scope: object = {}) =>
      asCaller(maintenanceHandlers({ db, clock, audit: async () => undefined }), caller('operator', [site]))(
        'maintenance.create',
        {
          body: {
            siteId: site,
            name: 'upgrade',
            scope,
            times: { kind: 'once', from: now / 1000, until: now / 1000 + minutes * 60 },
          },
        },
      );

    it('opens no case over a failure; what is still open at its end opens then', async () => {
      await network(['a', 'b']);
      await plan(30);
      for (const name of ['a', 'b']) await mark(name, 'down');
      await tell(down('a'), down('b'));
      await wait(60);
      expect(await words()).toEqual(['device.down a open', 'device.down b open']);
      expect(await events()).toMatchObject([
        { caseId: null, maintenanceUntil: Date.parse('2026-11-20T12:30:00Z') / 1000 },
        { caseId: null },
      ]);
      expect(await cases()).toEqual([]);
      await mark('a', 'up');
      await tell(up('a'));
      expect(await words()).toEqual(['device.down a closed', 'device.down b open']);
      now += 29 * 60_000;
      await wait(60);
      expect(await cases()).toMatchObject([
        { title: 'b does not answer', status: 0, severity: 2, eventCount: 1, rootDeviceId: devices.get('b') },
      ]);
      expect((await events()).map((e) => [e.device, e.caseId === null]).sort()).toEqual([
        ['a', true],
        ['b', false],
      ]);
      await tell(up('b'));
      expect(await cases()).toMatchObject([{ status: 2 }]);
    });

    it('of one device leaves the others alone, and silences what lies behind it', async () => {
      await network(['router', 'core', 'leaf', 'other'], ['router>core', 'core>leaf', 'router>other']);
      await plan(30, { deviceIds: [devices.get('core') ?? ''] });
      for (const name of ['core', 'leaf', 'other']) await mark(name, 'down');
      await tell(down('core'), down('leaf'), down('other'));
      await wait(60);
      expect((await cases()).map((c) => c.title)).toEqual(['other does not answer']);
      now += 29 * 60_000;
      await wait(60);
      expect((await cases()).map((c) => [c.title, c.eventCount])).toEqual([
        ['other does not answer', 1],
        ['core does not answer', 2],
      ]);
    });

    it.each<[string, object, string[]]>([
      ['class', { class: ['printer'] }, ['b']],
      ['search', { search: 'Floor-3' }, ['a']],
      ['address', { Address: '10.3.0.0/16' }, ['c']],
      ['nothing that is there', { search: 'nowhere' }, []],
    ])('by %s', async (_what, scope, covered) => {
      const ids = await addDevices(db, [
        { site_id: site, name: 'a', location: 'floor-3', monitor: true },
        { site_id: site, name: 'b', class: 'printer', monitor: true },
        { site_id: site, name: 'c', address: '10.3.4.5', monitor: true },
      ]);
      for (const [i, name] of ['a', 'b', 'c'].entries()) devices.set(name, ids[i] ?? '');
      await plan(30, scope);
      await tell(...['a', 'b', 'c'].map(down));
      await wait(30);
      expect((await events()).filter((e) => e.caseId === null).map((e) => e.device)).toEqual(covered);
    });

    it('ends when it is taken back, and neither joins nor reopens a case meanwhile', async () => {
      await network(['a']);
      await tell(down('a'));
      await wait(25);
      await tell(up('a'));
      const planned = await plan(300);
      await wait(120);
      await tell(down('a'));
      await wait(60);
      expect(await cases()).toMatchObject([{ status: 2, eventCount: 1 }]);
      await asCaller(
        maintenanceHandlers({ db, clock, audit: async () => undefined }),
        caller('operator', [site]),
      )('maintenance.delete', { params: { id: planned.data.id } });
      await wait(5);
      expect(await cases()).toMatchObject([{ status: 1, eventCount: 2, openEventCount: 1 }]);
    });
  });

  it('acknowledged until worse: open again when it happens again, or worse does on the device', async () => {
    await network(['a', 'b', 'c']);
    const [pa, pb, pc] = [uuidv7(), uuidv7(), uuidv7()];
    await tell(state('a', pa, 1, 2), state('b', pb, 1, 2), state('c', pc, 1, 2));
    await wait(10);
    for (const event of await events())
      await handlers()('events.acknowledge', {
        params: { id: event.id },
        body: event.device === 'c' ? undefined : { until: 'worse' },
      });
    expect((await events()).map((e) => [e.device, e.status, e.acknowledgedUntil]).sort()).toEqual([
      ['a', 1, 'worse'],
      ['b', 1, 'worse'],
      ['c', 1, 'clear'],
    ]);
    await tell(state('a', pa, 1, 2), state('c', pc, 1, 2));
    expect((await events()).map((e) => [e.device, e.status]).sort()).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 1],
    ]);
    await tell(down('b'), down('c'));
    await wait(30);
    expect(await words()).toEqual([
      'device.down b open',
      'device.down c open',
      'interface.down a open',
      'interface.down b open',
      'interface.down c acknowledged',
    ]);
  });

  it('SNMP that broke while ping works is told; while the device is down it is not', async () => {
    await network(['sw']);
    const lost = (reason: 'timeout' | 'auth-failed'): Change => ({
      ...about('sw'),
      kind: 'device.snmp-lost',
      before: {},
      after: { reason },
    });
    const restored = (): Change => ({ ...about('sw'), kind: 'device.snmp-restored', before: {}, after: {} });
    await tell(lost('timeout'));
    await wait(40);
    expect(await words()).toEqual(['snmp.unreachable sw open']);
    await tell(lost('auth-failed'));
    await wait(10);
    expect(await words()).toEqual(['snmp.auth-failed sw open', 'snmp.unreachable sw closed']);
    await tell(restored());
    expect(await cases()).toMatchObject([{ status: 2, eventCount: 2 }]);

    await wait(700);
    await tell(down('sw'), lost('timeout'));
    await wait(300);
    expect((await words()).filter((w) => w.endsWith('open'))).toEqual(['device.down sw open']);
    await tell(up('sw'), restored());
    await wait(60);
    expect((await words()).filter((w) => w.startsWith('snmp.unreachable'))).toHaveLength(1);
  });

  it('a port that an operator shut is no alarm, and ends one', async () => {
    await network(['sw']);
    const [a, b] = [uuidv7(), uuidv7()];
    await tell(state('sw', a, 1, 2, 2));
    await wait(30);
    expect(await events()).toEqual([]);
    await tell(state('sw', b, 1, 2));
    await wait(10);
    expect(await words()).toEqual(['interface.down sw open']);
    await tell(state('sw', b, 2, 2, 2));
    expect(await words()).toEqual(['interface.down sw closed']);
  });

  it('an unwatched device’s port raises nothing', async () => {
    await network(['sw']);
    await tell({ ...(state('sw', uuidv7(), 1, 2) as ChangeOf<'interface.state'>), monitor: false });
    await wait(30);
    expect(await events()).toEqual([]);
  });

  const trap = (name: string | null, trapOid: string, varbinds: [string, string][] = []): Change => ({
    ...about(name ?? ''),
    kind: 'trap.received',
    deviceName: name ?? '',
    before: {},
    after: {
      source: '192.0.2.9',
      trapOid,
      dropped: 0,
      varbinds: varbinds.map(([oid, value]) => ({ oid, type: 'x', value })),
    },
  });

  it('a trap and the watch that see the same link are one event', async () => {
    await network(['sw']);
    const id = uuidv7();
    await insert(db, 'interfaces', [
      {
        site_id: site,
        id,
        device_id: devices.get('sw'),
        if_index: 7,
        name: 'Gi7',
        first_seen: SEEN,
        last_seen: SEEN,
      },
    ]);
    await tell(trap('sw', TRAPS.linkDown, [['1.3.6.1.2.1.2.2.1.1.7', '7']]));
    await wait(10);
    expect(await events()).toMatchObject([
      { kind: 'interface.down', source: 'trap', interfaceId: id, message: 'Gi7 of sw is down' },
    ]);
    await tell({ ...(state('sw', id, 1, 2) as ChangeOf<'interface.state'>) });
    expect(await events()).toMatchObject([{ count: 2 }]);
    await tell(trap('sw', TRAPS.linkUp, [['1.3.6.1.2.1.2.2.1.8.7', '1']]));
    expect(await words()).toEqual(['interface.down sw closed']);
  });

  it('tells reboots, refused credentials, and traps it does not know', async () => {
    await network(['sw']);
    await tell(
      trap('sw', TRAPS.coldStart),
      { ...about('sw'), kind: 'device.restarted', before: { bootedAt: 1 }, after: { bootedAt: now } },
      trap('sw', TRAPS.authenticationFailure),
      trap(null, '1.3.6.1.4.1.9.9.1', [['1.3.6.1.4.1.9.9.1.2', 'hot']]),
      trap(null, '1.3.6.1.4.1.9.9.1'),
      trap('sw', TRAPS.linkDown, [['1.3.6.1.2.1.2.2.1.1.99', '99']]),
    );
    expect((await events()).map((e) => [e.kind, e.count, e.message]).sort()).toEqual([
      ['device.rebooted', 2, 'sw rebooted'],
      ['snmp.authentication-failure', 1, 'sw was asked with a wrong SNMP credential'],
      ['trap', 1, 'sw sent trap linkDown'],
      ['trap', 2, '192.0.2.9, which is no known device, sent trap 1.3.6.1.4.1.9.9.1'],
    ]);
    expect(await cases()).toEqual([]);
  });

  it('tells what scans find, with both sides, once each', async () => {
    await network(['sw']);
    const upgraded = (osVersion: string): Change => ({
      ...about('sw'),
      kind: 'device.upgraded',
      before: { osVersion: '1' },
      after: { osVersion },
    });
    await tell(
      {
        ...about('sw'),
        kind: 'device.new',
        before: {},
        after: { name: 'sw', address: '10.0.0.1', class: 'switch', vendor: 'HP', model: '2530' },
      },
      upgraded('2'),
      upgraded('2'),
      upgraded('3'),
    );
    await tell(upgraded('3'));
    const all = await events();
    expect(all.map((e) => [e.kind, e.count, e.message]).sort()).toEqual([
      ['device.new', 1, 'sw is new: HP 2530'],
      ['device.upgraded', 2, 'sw runs version 2, before 1'],
      ['device.upgraded', 2, 'sw runs version 3, before 1'],
    ]);
    expect(all.find((e) => e.kind === 'device.upgraded')?.details).toEqual({
      before: { osVersion: '1' },
      after: { osVersion: '2' },
    });
    now += 8 * 86_400_000;
    await recorder.tend();
    expect((await events()).map((e) => e.closeReason)).toEqual(['expired', 'expired', 'expired']);
  });

  it('a recurrence joins the case it had, and reopens it', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    await tell(up('sw'));
    await wait(120);
    expect(await cases()).toMatchObject([{ status: 2 }]);
    await tell(down('sw'));
    await wait(25);
    expect(await cases()).toMatchObject([{ status: 1, eventCount: 2, openEventCount: 1 }]);
    const { data } = await handlers()('cases.get', { params: { id: (await cases())[0]?.id ?? '' } });
    expect(
      data.activity.map((a: { kind: string; to: string | null }) =>
        a.kind === 'status' ? `status>${a.to}` : a.kind,
      ),
    ).toEqual(['created', 'event_closed', 'status>resolved', 'event_added', 'status>investigating']);
  });

  it('never attaches to a closed case', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    const [first] = await cases();
    await handlers()('cases.update', { params: { id: first?.id ?? '' }, body: { status: 3 } });
    await tell(up('sw'));
    await wait(60);
    await tell(down('sw'));
    await wait(25);
    expect(await cases()).toMatchObject([
      { status: 3, eventCount: 1 },
      { status: 0, eventCount: 1 },
    ]);
  });

  it('what was closed by hand while it lasts is a new event at its next occurrence', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    await handlers()('events.close', { params: { id: (await events())[0]?.id ?? '' } });
    await wait(60);
    expect(await events()).toHaveLength(1);
    await tell(down('sw'));
    expect(await words()).toEqual(['device.down sw closed', 'device.down sw open']);
    await tell(up('sw'));
    expect(await words()).toEqual(['device.down sw closed', 'device.down sw closed']);
  });

  it('waits for as many open events as the site wants', async () => {
    await db.query(`UPDATE sites SET settings = '{"caseMinimumEvents": 2}' WHERE id = $1`, [site]);
    await network(['sw']);
    await tell(state('sw', uuidv7(), 1, 2));
    await wait(10);
    expect(await cases()).toEqual([]);
    await tell(state('sw', uuidv7(), 1, 2));
    await wait(10);
    expect(await cases()).toMatchObject([{ eventCount: 2 }]);
  });

  it('takes no notice of sites beside its own', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    const other = site;
    site = await addSite(db, uuidv7());
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    expect(await cases()).toHaveLength(1);
    await tell(up('sw'));
    site = other;
    expect(await cases()).toMatchObject([{ status: 0 }]);
  });

  it('follows devices that are unwatched, deleted or merged', async () => {
    await network(['a', 'b', 'c', 'd']);
    await tell(...['a', 'b', 'c'].map(down));
    await wait(25);
    await db.transaction((sql) => unwatched(sql, { siteId: site, deviceIds: [devices.get('a') ?? ''] }, now));
    await db.transaction((sql) =>
      forgotten(sql, { siteId: site, deviceIds: [devices.get('b') ?? ''] }, 'ada', now),
    );
    await tell({
      ...about('d'),
      kind: 'device.merged',
      before: { deviceId: devices.get('c') ?? '', name: 'c' },
      after: { reason: 'same serial number' },
    });
    expect((await events()).map((e) => [e.kind, e.device, e.status, e.closeReason]).sort()).toEqual([
      ['device.down', 'a', 2, 'cleared'],
      ['device.down', 'b', 2, 'deleted'],
      ['device.down', 'd', 2, 'deleted'],
      ['device.merged', 'd', 0, null],
    ]);
    expect(await db.query('SELECT 1 FROM conditions WHERE site_id = $1', [site])).toEqual([]);
    expect((await cases()).map((c) => c.status)).toEqual([2, 2, 2]);
  });

  it('writes nothing of a transaction that is rolled back', async () => {
    await network(['sw']);
    await db
      .transaction(async (sql) => {
        await recorder.record(sql, [down('sw'), trap('sw', TRAPS.coldStart)]);
        throw new Error('stop');
      })
      .catch(() => undefined);
    await wait(60);
    expect(await events()).toEqual([]);
    expect(await db.query('SELECT 1 FROM conditions WHERE site_id = $1', [site])).toEqual([]);
  });

  it('says the same whether one transaction tells it or many at once', async () => {
    await network(['a', 'b', 'c', 'd', 'e', 'f'], ['a>b', 'b>c', 'c>d', 'd>e', 'e>f']);
    for (const name of devices.keys()) await mark(name, 'down');
    await Promise.all([...devices.keys()].map((name) => tell(down(name))));
    now += 30_000;
    await Promise.all([recorder.tend(), recorder.tend(), recorder.tend()]);
    expect(await cases()).toHaveLength(1);
    expect((await events()).length).toBe(6);
    await Promise.all([...devices.keys()].map((name) => tell(up(name))));
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });
});
