import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change, ChangeOf } from '../changes.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { Scene } from '../testing/incident-scene.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../testing/rows.ts';
import { onDevicesDeleted, onMonitoringStopped } from './device-events.ts';
import { TRAPS } from './kinds/traps.ts';
import { maintenanceHandlers } from './maintenance/handlers.ts';

afterAll(closeDatabases);

describe.each(databases())('changes into events and cases on %s', (_name, open) => {
  const scene = new Scene();
  const { network, about, tell, down, up, state, mark, wait, handlers, events, cases, words, devices } =
    scene;
  beforeEach(() => scene.begin(open));

  it('trouble at one site keeps no other waiting', async () => {
    await network(['broken']);
    await tell(down('broken'));
    await scene.db.query(`UPDATE conditions SET opening = 'null' WHERE site_id = $1`, [scene.site]);
    const broken = scene.site;
    // A later one: sites have their turn in the order of their ids.
    scene.site = await addSite(scene.db, uuidv7());
    expect(scene.site > broken).toBe(true);
    await network(['well']);
    await tell(down('well'));
    scene.now += 60_000;
    await expect(scene.recorder.evaluateDue()).rejects.toThrow();
    expect(await scene.db.query('SELECT kind FROM events WHERE site_id = $1', [scene.site])).toEqual([
      { kind: 'device.down' },
    ]);
    await scene.db.query('DELETE FROM conditions WHERE site_id = $1', [broken]);
  });

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
    expect((await events())[0]).toMatchObject({
      status: 2,
      closeReason: 'cleared',
      closedAt: scene.now / 1000,
    });
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
    expect(await scene.db.query('SELECT * FROM conditions WHERE site_id = $1', [scene.site])).toEqual([]);
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
      scene.now += 6_000;
      changes.push(state('sw', port, 2, 1));
      scene.now += 1_000;
    }
    await tell(...changes);
    expect((await events()).length).toBeLessThanOrEqual(3);
    expect(await cases()).toHaveLength(1);
  });

  it('holds for as long as the site says, by kind', async () => {
    await network(['sw', 'other']);
    await scene.db.query(
      `UPDATE sites SET settings = '{"holdSeconds": {"device.down": 120}}' WHERE id = $1`,
      [scene.site],
    );
    await tell(down('sw'), state('other', uuidv7(), 1, 2));
    await wait(100);
    expect(await words()).toEqual(['interface.down other open']);
    await wait(25);
    expect(await words()).toEqual(['device.down sw open', 'interface.down other open']);
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
      asCaller(
        maintenanceHandlers({ db: scene.db, clock: scene.clock, audit: async () => undefined }),
        caller('operator', [scene.site]),
      )('maintenance.create', {
        body: {
          siteId: scene.site,
          name: 'upgrade',
          scope,
          times: { kind: 'once', from: scene.now / 1000, until: scene.now / 1000 + minutes * 60 },
        },
      });

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
      scene.now += 29 * 60_000;
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

    it('of one device leaves the others alone, and suppresses what lies behind it', async () => {
      await network(['router', 'core', 'leaf', 'other'], ['router>core', 'core>leaf', 'router>other']);
      await plan(30, { deviceIds: [devices.get('core') ?? ''] });
      for (const name of ['core', 'leaf', 'other']) await mark(name, 'down');
      await tell(down('core'), down('leaf'), down('other'));
      await wait(60);
      expect((await cases()).map((c) => c.title)).toEqual(['other does not answer']);
      scene.now += 29 * 60_000;
      await wait(60);
      expect((await cases()).map((c) => [c.title, c.eventCount])).toEqual([
        ['other does not answer', 1],
        ['core does not answer', 2],
      ]);
    });

    it.each<[string, object, string[]]>([
      ['class', { class: ['printer'] }, ['b']],
      ['search', { search: 'Floor-3' }, ['a']],
      ['search with more white space than was stored', { search: ' floor-3  ' }, ['a']],
      ['tag', { tag: ['CORE'] }, ['c']],
      ['custom field', { field: ['Rack:A-17'] }, ['b']],
      ['custom fields, all of which it has', { field: ['Rack:A-17', 'Floor:3'] }, []],
      ['tags, all of which it has', { tag: ['core', 'new'] }, []],
      ['search that finds a tag, as the list of devices does', { search: 'core' }, ['c']],
      ['address', { Address: '10.3.0.0/16' }, ['c']],
      ['nothing that is there', { search: 'nowhere' }, []],
    ])('by %s', async (_what, scope, covered) => {
      const ids = await addDevices(scene.db, [
        { site_id: scene.site, name: 'a', location: 'floor-3', monitor: true, tags: [], fields: {} },
        {
          ...{ site_id: scene.site, name: 'b', class: 'printer', monitor: true },
          ...{ tags: ['new'], fields: { Rack: 'A-17' } },
        },
        { site_id: scene.site, name: 'c', address: '10.3.4.5', monitor: true, tags: ['Core'], fields: {} },
      ]);
      for (const [i, name] of ['a', 'b', 'c'].entries()) devices.set(name, ids[i] ?? '');
      await scene.db.query(
        `INSERT INTO custom_fields (id, applies_to, name, type) VALUES
           (gen_random_uuid(), 'device', 'Rack', 'text'), (gen_random_uuid(), 'device', 'Floor', 'number')
         ON CONFLICT DO NOTHING`,
      );
      await plan(30, scope);
      await tell(...['a', 'b', 'c'].map(down));
      await wait(30);
      expect((await events()).filter((e) => e.caseId === null).map((e) => e.device)).toEqual(covered);
    });

    it('refuses a custom field that devices do not have', async () => {
      await insert(scene.db, 'custom_fields', [
        { id: uuidv7(), applies_to: 'interface', name: 'Circuit', type: 'text' },
      ]);
      await expect(plan(30, { field: ['Circuit:A'] })).rejects.toMatchObject({
        ...{ code: 'invalid_request', message: expect.stringContaining('no such custom field') },
      });
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
        maintenanceHandlers({ db: scene.db, clock: scene.clock, audit: async () => undefined }),
        caller('operator', [scene.site]),
      )('maintenance.delete', { params: { id: planned.data.id } });
      await wait(5);
      expect(await cases()).toMatchObject([{ status: 1, eventCount: 2, openEventCount: 1 }]);
    });
  });

  it('acknowledged until worse: open again when it happens again, or worse does on the device', async () => {
    await network(['a', 'b', 'c']);
    const [pa, pb, pc] = [uuidv7(), uuidv7(), uuidv7()];
    await tell(state('a', pa, 1, 2), state('b', pb, 1, 2), state('c', pc, 1, 2));
    await wait(30);
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
    // A case that is resolved takes back the same trouble only.
    expect(await cases()).toMatchObject([
      { status: 2, eventCount: 1 },
      { status: 2, eventCount: 1 },
    ]);

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
    const shut = 'interface.shut sw closed';
    expect(await words()).toEqual([shut]);
    await tell(state('sw', b, 1, 2));
    await wait(30);
    expect((await words()).sort()).toEqual(['interface.down sw open', shut]);
    await tell(state('sw', b, 2, 2, 2));
    expect((await words()).sort()).toEqual(['interface.down sw closed', shut, shut]);
  });

  it('a port that was shut or opened is told, monitored or not; one that only lost its link is not', async () => {
    await network(['sw']);
    const id = uuidv7();
    const turn = (before: number | null, after: number | null): Change => ({
      ...about('sw'),
      ...{ monitor: false, kind: 'interface.state', interfaceId: id, ifName: 'Gi1' },
      before: { adminStatus: before, operStatus: 2 },
      after: { adminStatus: after, operStatus: 2 },
    });
    await tell(turn(null, 2), turn(2, 2), turn(1, 3), turn(1, 2), turn(2, 1));
    expect((await events()).map(({ message, details }) => [message, details]).sort()).toEqual([
      [
        'Gi1 of sw was enabled by an administrator',
        { before: { adminStatus: 2 }, after: { adminStatus: 1 } },
      ],
      [
        'Gi1 of sw was shut down by an administrator',
        { before: { adminStatus: 1 }, after: { adminStatus: 2 } },
      ],
    ]);
  });

  it('of one outcome that is told without end, a bounded number is kept apart, and every one is counted', async () => {
    await network(['sw']);
    const id = uuidv7();
    const shut = (n: number): Change => ({
      ...about('sw'),
      ...{ at: scene.now + n * 1000, kind: 'interface.state', interfaceId: id, ifName: 'Gi1' },
      before: { adminStatus: 1, operStatus: 2 },
      after: { adminStatus: 2, operStatus: 2 },
    });
    for (let batch = 0; batch < 4; batch++) {
      await tell(...Array.from({ length: 30 }, (_, n) => shut(n)));
      await wait(60);
    }
    const all = await events();
    expect(all.length).toBeGreaterThanOrEqual(20);
    expect(all.length).toBeLessThanOrEqual(40);
    expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(120);
  });

  it('each setting of a port is told by one event, whatever changed with it', async () => {
    await network(['sw']);
    const id = uuidv7();
    const changed = (before: object, after: object): Change => ({
      ...about('sw'),
      ...{ kind: 'interface.changed', interfaceId: id, ifName: 'Gi1', before, after },
    });
    const told = async (change: Change) => {
      const known = new Set((await events()).map((event) => event.id));
      await tell(change);
      return (await events())
        .filter((event) => !known.has(event.id))
        .map(({ kind, details }) => [kind, details.after])
        .sort();
    };
    expect(await told(changed({ duplex: 'full' }, { duplex: 'half' }))).toEqual([
      ['interface.duplex', { duplex: 'half' }],
    ]);
    expect(await told(changed({ speedBps: 1e9, alias: 'a' }, { speedBps: 1e8, alias: 'b' }))).toEqual([
      ['interface.changed', { alias: 'b' }],
      ['interface.speed', { speedBps: 1e8 }],
    ]);
    expect(await told(changed({ duplex: 'half', speedBps: 1e8 }, { duplex: 'full', speedBps: 1e7 }))).toEqual(
      [
        ['interface.duplex', { duplex: 'full' }],
        ['interface.speed', { speedBps: 1e7 }],
      ],
    );
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
    await insert(scene.db, 'interfaces', [
      {
        site_id: scene.site,
        id,
        device_id: devices.get('sw'),
        if_index: 7,
        name: 'Gi7',
        first_seen: SEEN,
        last_seen: SEEN,
      },
    ]);
    await tell(trap('sw', TRAPS.linkDown, [['1.3.6.1.2.1.2.2.1.1.7', '7']]));
    await wait(30);
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
      { ...about('sw'), kind: 'device.restarted', before: { bootedAt: 1 }, after: { bootedAt: scene.now } },
      trap('sw', TRAPS.authenticationFailure),
      trap(null, '1.3.6.1.4.1.9.9.1', [['1.3.6.1.4.1.9.9.1.2', 'hot']]),
      trap(null, '1.3.6.1.4.1.9.9.1'),
      trap('sw', TRAPS.linkDown, [['1.3.6.1.2.1.2.2.1.1.99', '99']]),
    );
    expect((await events()).map((e) => [e.kind, e.count, e.message]).sort()).toEqual([
      ['device.rebooted', 2, 'sw rebooted'],
      ['snmp.authentication-failure', 1, 'sw received an SNMP request with a wrong credential'],
      ['trap', 1, 'sw sent trap linkDown: ifIndex 99'],
      ['trap', 2, '192.0.2.9, which is no known device, sent trap 1.3.6.1.4.1.9.9.1'],
    ]);
    expect(await cases()).toEqual([]);
  });

  it('tells what scans find, with both sides, once each', async () => {
    await network(['sw', 'ap']);
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
      {
        ...about('ap'),
        kind: 'device.new',
        before: {},
        after: {
          name: 'ap',
          address: '10.0.0.2',
          class: 'wireless',
          vendor: 'Cisco',
          model: 'Cisco AIR-2702',
        },
      },
      upgraded('2'),
      upgraded('2'),
      upgraded('3'),
    );
    await tell(upgraded('3'));
    const all = await events();
    expect(all.map((e) => [e.kind, e.count, e.message]).sort()).toEqual([
      ['device.new', 1, 'ap is new: Cisco AIR-2702'],
      ['device.new', 1, 'sw is new: HP 2530'],
      ['device.upgraded', 2, 'sw changed its version from 1 to 2'],
      ['device.upgraded', 2, 'sw changed its version from 1 to 3'],
    ]);
    expect(all.find((e) => e.kind === 'device.upgraded')?.details).toEqual({
      before: { osVersion: '1' },
      after: { osVersion: '2' },
    });
    expect(all.map((e) => [e.status, e.closeReason, e.closedAt])).toEqual(
      Array(4).fill([2, 'noted', scene.now / 1000]),
    );
  });

  it('a change that is an alarm stays one; each time that it came before is kept beside it, once', async () => {
    await network(['sw']);
    const id = uuidv7();
    const slower = (before = 1e9): Change => ({
      ...about('sw'),
      ...{ kind: 'interface.changed', interfaceId: id, ifName: 'Gi1' },
      ...{ before: { speedBps: before }, after: { speedBps: 1e8 } },
    });
    const rebooted = (): Change => ({
      ...about('sw'),
      ...{ kind: 'device.restarted', before: { bootedAt: 1 }, after: { bootedAt: scene.now } },
    });
    const told = async (kind: string) =>
      (await events())
        .filter((event) => event.kind === kind)
        .map(({ status, count, firstSeen, details }) => [status, count, firstSeen - begun, details.before]);
    const begun = scene.now / 1000;
    await tell(slower());
    scene.now += 60_000;
    await tell(slower(1e7), { ...slower(4e7), at: scene.now + 1000 });
    expect(await told('interface.speed')).toEqual([
      [2, 1, 0, { speedBps: 1e9 }],
      [2, 1, 60, { speedBps: 1e7 }],
      [0, 3, 0, { speedBps: 4e7 }],
    ]);
    await tell(rebooted(), trap('sw', TRAPS.coldStart));
    scene.now += 60_000;
    await tell(rebooted());
    expect(await told('device.rebooted'), 'a trap and sysUpTime tell one start').toHaveLength(1);
    scene.now += 3_600_000;
    await tell(rebooted());
    expect((await told('device.rebooted')).map(([status, count]) => [status, count])).toEqual([
      [2, 1],
      [0, 4],
    ]);
  });

  it('information without a state is closed when it is made; each time is kept, of what comes very often the last ones count', async () => {
    await network(['sw']);
    const changed = (location: string): Change => ({
      ...about('sw'),
      kind: 'device.changed',
      before: { location: 'hall 1' },
      after: { location },
    });
    const told = async () =>
      (await events()).map(({ kind, count, status, closeReason }) => [kind, count, status, closeReason]);
    const days = async (n: number) => {
      scene.now += n * 86_400_000;
      await scene.recorder.evaluateDue();
    };
    await tell(changed('hall 2'));
    await tell(changed('hall 2'), changed('hall 2'));
    expect(await told()).toEqual([['device.changed', 3, 2, 'noted']]);
    const { data } = await handlers()('events.list', { query: { Status: '0', page: '1', pageSize: '100' } });
    expect(data.filter((e: { siteId: string }) => e.siteId === scene.site)).toEqual([]);
    const again = async (times: number, everyDays: number) => {
      for (let i = 0; i < times; i++) {
        await days(everyDays);
        await tell(changed('hall 2'));
      }
    };
    const one = ['device.changed', 1, 2, 'noted'];
    await again(19, 0.01);
    expect(await told()).toEqual([['device.changed', 3, 2, 'noted'], ...Array(19).fill(one)]);
    await again(2, 1);
    expect((await told()).slice(18), 'more than twenty within seven days').toEqual([
      one,
      ['device.changed', 3, 2, 'noted'],
    ]);
    await again(1, 8);
    expect((await told()).slice(19)).toEqual([['device.changed', 3, 2, 'noted'], one]);
    // What a person is to judge, or is worse than information, stays open until it expires.
    await tell(trap('sw', TRAPS.authenticationFailure));
    expect((await told()).filter(([, , status]) => status === 0)).toEqual([
      ['snmp.authentication-failure', 1, 0, null],
    ]);
    await days(2);
    expect(await told()).toContainEqual(['snmp.authentication-failure', 1, 2, 'expired']);
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
    await scene.db.query(`UPDATE sites SET settings = '{"caseMinimumEvents": 2}' WHERE id = $1`, [
      scene.site,
    ]);
    await network(['sw']);
    await tell(state('sw', uuidv7(), 1, 2));
    await wait(30);
    expect(await cases()).toEqual([]);
    await tell(state('sw', uuidv7(), 1, 2));
    await wait(30);
    expect(await cases()).toMatchObject([{ eventCount: 2 }]);
  });

  it('takes no notice of sites beside its own', async () => {
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    const other = scene.site;
    scene.site = await addSite(scene.db, uuidv7());
    await network(['sw']);
    await tell(down('sw'));
    await wait(25);
    expect(await cases()).toHaveLength(1);
    await tell(up('sw'));
    scene.site = other;
    expect(await cases()).toMatchObject([{ status: 0 }]);
  });

  it('follows devices that are unwatched, deleted or merged', async () => {
    await network(['a', 'b', 'c', 'd']);
    await tell(...['a', 'b', 'c'].map(down));
    await wait(25);
    await scene.db.transaction((sql) =>
      onMonitoringStopped(sql, { siteId: scene.site, deviceIds: [devices.get('a') ?? ''] }, scene.now),
    );
    await scene.db.transaction((sql) =>
      onDevicesDeleted(sql, { siteId: scene.site, deviceIds: [devices.get('b') ?? ''] }, 'ada', scene.now),
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
      ['device.merged', 'd', 2, 'noted'],
    ]);
    expect(await scene.db.query('SELECT 1 FROM conditions WHERE site_id = $1', [scene.site])).toEqual([]);
    expect((await cases()).map((c) => c.status)).toEqual([2, 2, 2]);
  });

  it.each([
    ['neither of which is told where a scan made the record itself', 2, 'c1', 'c1', []],
    ['which is told of a record that people have seen', 60, 'c1', 'c1', ['device.merged']],
    ['which is told of a record that a person added', 2, null, 'c1', ['device.merged']],
    ['which is told where a person did it', 2, 'c1', null, ['device.merged']],
  ])('a record came and was merged, %s', async (_what, minutes, madeBy, by, kinds) => {
    await network(['h2', '10.0.0.9']);
    await tell({
      ...about('10.0.0.9'),
      collectorId: madeBy && uuidv7(),
      kind: 'device.new',
      before: {},
      after: { name: '10.0.0.9', address: '10.0.0.9', class: 'unknown', vendor: null, model: null },
    });
    await wait(minutes * 60);
    await tell({
      ...about('h2'),
      collectorId: by && uuidv7(),
      kind: 'device.merged',
      before: { deviceId: devices.get('10.0.0.9') ?? '', name: '10.0.0.9' },
      after: { reason: 'address' },
    });
    expect((await events()).map(({ kind }) => kind)).toEqual(kinds);
  });

  it('writes nothing of a transaction that is rolled back', async () => {
    await network(['sw']);
    await scene.db
      .transaction(async (sql) => {
        await scene.recorder.recordChanges(sql, [down('sw'), trap('sw', TRAPS.coldStart)]);
        throw new Error('stop');
      })
      .catch(() => undefined);
    await wait(60);
    expect(await events()).toEqual([]);
    expect(await scene.db.query('SELECT 1 FROM conditions WHERE site_id = $1', [scene.site])).toEqual([]);
  });

  it('says the same whether one transaction tells it or many at once', async () => {
    await network(['a', 'b', 'c', 'd', 'e', 'f'], ['a>b', 'b>c', 'c>d', 'd>e', 'e>f']);
    for (const name of devices.keys()) await mark(name, 'down');
    await Promise.all([...devices.keys()].map((name) => tell(down(name))));
    scene.now += 30_000;
    await Promise.all([
      scene.recorder.evaluateDue(),
      scene.recorder.evaluateDue(),
      scene.recorder.evaluateDue(),
    ]);
    expect(await cases()).toHaveLength(1);
    expect((await events()).length).toBe(6);
    await Promise.all([...devices.keys()].map((name) => tell(up(name))));
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });
});
