import { PROTOCOL_WATCHES } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../changes.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { addCollector, insert, SEEN } from '../../testing/rows.ts';

afterAll(closeDatabases);

describe.each(databases())('what lies behind what on %s', (_name, open) => {
  const scene = new Scene();
  const { network, tell, down, up, mark, wait, handlers, events, cases, words, devices } = scene;
  beforeEach(() => scene.begin(open));

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
    // All come back but one: after time to recover that one stands for itself, in the same case.
    for (const name of ['core', ...leaves.slice(1)]) await mark(name, 'up');
    await tell(...['core', ...leaves.slice(1)].map(up));
    await wait(80);
    expect((await events()).filter((e) => e.kind === 'device.down')).toHaveLength(1);
    await wait(25);
    const open = (await events()).filter((e) => e.status < 2);
    expect(open.map((e) => `${e.kind} ${e.device}`)).toEqual(['device.down leaf-0']);
    expect(await cases()).toMatchObject([{ status: 0, openEventCount: 1 }]);
    await tell(up('leaf-0'));
    expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });

  describe('a router that is found down later than the host behind it, because the collector is busy', () => {
    const play = async (settled: boolean) => {
      await network(['edge', 'router', 'host'], ['edge>router', 'router>host']);
      const collector = await addCollector(scene.db, scene.site, 'c');
      /** Every other address answered, or is reported silent, since then. */
      const settle = (secondsAgo: number) =>
        scene.db.query(
          `INSERT INTO collector_streams (collector_id, epoch, stream, through, settled_until) VALUES ($1, $1, 'event', 0, $2)
           ON CONFLICT (collector_id, epoch, stream) DO UPDATE SET settled_until = EXCLUDED.settled_until`,
          [collector, new Date(scene.now - secondsAgo * 1000)],
        );
      const silent = async (name: string) => {
        await mark(name, 'down');
        await tell({ ...down(name), collectorId: collector } as Change);
      };
      await silent('host');
      await settle(10);
      await wait(30);
      expect(await events()).toEqual([]);
      if (settled) await settle(0);
      else await silent('router');
      await wait(5);
      if (settled) return;
      await settle(0);
      await wait(20);
    };

    it('is the one that is told', async () => {
      await play(false);
      expect(await words()).toEqual(['device.down router open', 'device.unreachable host open']);
      expect((await cases()).map(({ title }) => title)).toEqual(['router does not answer']);
    });

    it('the host is told where the router proves to answer', async () => {
      await play(true);
      expect(await words()).toEqual(['device.down host open']);
    });

    it('a collector that says nothing more is not waited for longer than a device is found down', async () => {
      await play(true);
      const [{ id } = { id: '' }] = await events();
      expect(id).not.toBe('');
      await mark('router', 'down');
      await tell({
        ...down('router'),
        collectorId:
          (
            await scene.db.query<{ id: string }>('SELECT id FROM collectors WHERE site_id = $1', [scene.site])
          )[0]?.id ?? null,
      } as Change);
      await scene.db.query('UPDATE collector_streams SET settled_until = $1', [new Date(scene.now - 1000)]);
      await wait(55);
      expect((await words()).filter((line) => line.includes('router'))).toEqual([]);
      await wait(10);
      expect((await words()).filter((line) => line.includes('router'))).toEqual(['device.down router open']);
    });
  });

  it('a case about a port is about the device at its far end, once that is down as well', async () => {
    await network(['router', 'core', 'other'], ['router>core', 'router>other']);
    const port = uuidv7();
    const device = devices.get('router');
    const at = { site_id: scene.site, first_seen: SEEN, last_seen: SEEN };
    await insert(scene.db, 'interfaces', [{ ...at, id: port, device_id: device, if_index: 1, name: 'Gi1' }]);
    await scene.db.query('UPDATE neighbours SET if_index = 1 WHERE remote_device_id = $1', [
      devices.get('core'),
    ]);
    await tell(scene.state('router', port, 1, 2));
    await wait(25);
    expect((await cases()).map(({ title }) => title)).toEqual(['Gi1 of router is down']);
    await mark('other', 'down');
    await tell(down('other'));
    await wait(25);
    expect((await cases()).map(({ title }) => title)).toContain('Gi1 of router is down');
    await mark('core', 'down');
    await tell(down('core'));
    await wait(25);
    expect((await cases()).map(({ title, rootDeviceId }) => [title, rootDeviceId])).toEqual([
      ['core does not answer', devices.get('core')],
      ['other does not answer', devices.get('other')],
    ]);
  });

  it('a device that went down before the case of the port to it was resolved takes that case over', async () => {
    await network(['router', 'core'], ['router>core']);
    const port = uuidv7();
    const at = { site_id: scene.site, first_seen: SEEN, last_seen: SEEN };
    const row = { ...at, id: port, device_id: devices.get('router'), if_index: 1, name: 'Gi1' };
    await insert(scene.db, 'interfaces', [row]);
    await scene.db.query('UPDATE neighbours SET if_index = 1 WHERE remote_device_id = $1', [
      devices.get('core'),
    ]);
    await tell(scene.state('router', port, 1, 2));
    await wait(25);
    await mark('core', 'down');
    await tell(down('core'));
    await wait(5);
    await tell(scene.state('router', port, 2, 1));
    expect((await cases()).map(({ title, status }) => [title, status])).toEqual([
      ['Gi1 of router is down', 2],
    ]);
    await wait(20);
    expect((await cases()).map(({ title, status }) => [title, status])).toEqual([
      ['core does not answer', 1],
    ]);
  });

  it('what lies behind a device that came back has time to come back, also where it was not told yet', async () => {
    await network(['router', 'core', 'a', 'b', 'c'], ['router>core', 'core>a', 'a>b', 'core>c']);
    await mark('core', 'down');
    await tell(down('core'));
    await wait(15);
    for (const name of ['a', 'b']) await mark(name, 'down');
    await tell(down('a'), down('b'));
    await mark('core', 'up');
    await tell(up('core'));
    await wait(70);
    expect(await events()).toEqual([]);
    await mark('a', 'up');
    await tell(up('a'));
    // b is behind a, which came back just now.
    await wait(70);
    expect(await events()).toEqual([]);
    await wait(40);
    expect((await events()).map((e) => `${e.kind} ${e.device}`)).toEqual(['device.down b']);
    // What does not lie behind what came back is told at its usual time.
    await mark('router', 'down');
    await tell(down('router'));
    await wait(25);
    expect((await events()).map((e) => `${e.kind} ${e.device}`)).toContain('device.down router');
  });

  it('what lies behind a device is not told while others behind it come back, though it is not heard yet', async () => {
    await network(['gate', 'router', 'switch', 'host'], ['gate>router', 'router>switch', 'switch>host']);
    // Only its agent is asked, and seldom.
    await scene.db.query('UPDATE devices SET icmp_reachable = false WHERE id = $1', [devices.get('switch')]);
    for (const name of ['router', 'host']) await mark(name, 'down');
    await tell(down('router'), down('host'));
    await wait(40);
    await mark('switch', 'down');
    await tell(down('switch'));
    await wait(15);
    await mark('host', 'up');
    await tell(up('host'));
    await wait(20);
    for (const name of ['router', 'switch']) await mark(name, 'up');
    await tell(up('router'), up('switch'));
    expect(await words()).toEqual(['device.down router closed', 'device.unreachable host closed']);
  });

  it('what is known by its agent alone has until its next reading to come back', async () => {
    await network(['gate', 'router', 'switch'], ['gate>router', 'router>switch']);
    await mark('router', 'down');
    await tell(down('router'));
    await wait(40);
    await mark('switch', 'down');
    await tell({ ...down('switch'), before: { snmp: 'ok' } } as Change);
    await wait(25);
    await mark('router', 'up');
    await tell(up('router'));
    await wait(160);
    expect(await words()).toEqual(['device.down router closed', 'device.unreachable switch open']);
    await wait(30);
    expect(await words()).toContain('device.down switch open');
  });

  it('what lay behind a device, and came back before anybody looked, is not told', async () => {
    await network(['router', 'core', 'a', 'lone'], ['router>core', 'core>a']);
    for (const name of ['core', 'a', 'lone']) await mark(name, 'down');
    await tell(...['core', 'a', 'lone'].map(down));
    // Observations came late, all at once: nothing was looked at meanwhile.
    scene.now += 25_000;
    for (const name of ['core', 'a', 'lone']) await mark(name, 'up');
    await tell(...['core', 'a', 'lone'].map(up));
    expect((await events()).map(({ message }) => message).sort()).toEqual([
      'core does not answer',
      'lone does not answer',
    ]);
  });

  it('the agent of a device that came back has time to come back', async () => {
    await network(['a']);
    const agent = (kind: 'device.snmp-lost' | 'device.snmp-restored'): Change =>
      ({ ...scene.about('a'), kind, before: {}, after: { reason: 'timeout' } }) as Change;
    await tell(down('a'), agent('device.snmp-lost'));
    await wait(60);
    await tell(up('a'));
    await wait(60);
    expect((await events()).map(({ kind }) => kind)).toEqual(['device.down']);
    await wait(40);
    expect((await events()).map(({ kind }) => kind)).toContain('snmp.unreachable');
  });

  it('an agent that hangs after its host was down twice comes and goes no more for that', async () => {
    await network(['a', 'b'], ['a>b']);
    const agent = (kind: 'device.snmp-lost' | 'device.snmp-restored'): Change =>
      ({ ...scene.about('a'), kind, before: {}, after: { reason: 'timeout' } }) as Change;
    for (let i = 0; i < 2; i++) {
      await tell(down('a'), agent('device.snmp-lost'));
      await wait(40);
      await tell(up('a'));
      await wait(5);
      await tell(agent('device.snmp-restored'));
      await wait(100);
    }
    await tell(agent('device.snmp-lost'));
    await wait(40);
    expect((await events()).filter(({ status }) => status < 2).map(({ kind }) => kind)).toEqual([
      'snmp.unreachable',
    ]);
  });

  it('a root that is found down late takes the cases over: one, with its name, and a line that says so', async () => {
    await network(['router', 'core', 'a', 'b'], ['router>core', 'core>a', 'core>b']);
    for (const name of ['a', 'b']) await mark(name, 'down');
    await tell(down('a'));
    await wait(10);
    await tell(down('b'));
    await wait(30);
    expect((await cases()).map((c) => c.title)).toEqual(['a does not answer', 'b does not answer']);
    await mark('core', 'down');
    await tell(down('core'));
    await wait(25);
    const [first, second] = await cases();
    expect(first).toMatchObject({
      title: 'core does not answer',
      rootDeviceId: devices.get('core'),
      eventCount: 3,
      openEventCount: 3,
      status: 0,
    });
    expect(second).toMatchObject({ title: 'b does not answer', status: 3, eventCount: 0 });
    const shown = async (id = '') => (await handlers()('cases.get', { params: { id } })).data;
    expect((await shown(first?.id)).activity).toContainEqual(
      expect.objectContaining({
        actor: 'system',
        text: 'recognised the root: core does not answer',
        from: 'a does not answer',
        to: 'core does not answer',
      }),
    );
    expect((await shown(second?.id)).activity.at(-1)).toMatchObject({ kind: 'status', to: 'closed' });
    expect(
      await scene.db.query(`SELECT type FROM case_outbox WHERE site_id = $1 AND case_id = $2 ORDER BY id`, [
        scene.site,
        first?.id,
      ]),
    ).toEqual([{ type: 'case.opened' }, { type: 'case.changed' }]);
    // What comes back and fails again is of the one case; it resolves itself.
    await tell(up('b'));
    await wait(5);
    await tell(down('b'));
    await wait(35);
    expect((await events()).filter((e) => e.status < 2).map((e) => e.caseId)).toEqual(
      Array(3).fill(first?.id),
    );
    for (const name of ['core', 'a', 'b']) await mark(name, 'up');
    await tell(...['core', 'a', 'b'].map(up));
    expect((await cases())[0]).toMatchObject({ status: 2, openEventCount: 0 });
  });

  it.each([
    ['pinged, goes down 40 s', {}, 40, 1],
    ['pinged, goes down 45 s', {}, 45, 2],
    ['asked by its agent alone, goes down 100 s', { snmp: 'ok' as const }, 100, 1],
    ['asked by its agent alone, goes down 105 s', { snmp: 'ok' as const }, 105, 2],
  ])(
    'a device beside it that is %s after one that was down for itself',
    async (_what, before, seconds, count) => {
      await network(['router', 'core', 'a'], ['router>core', 'core>a']);
      await mark('a', 'down');
      await tell(down('a'));
      await wait(seconds);
      await mark('core', 'down');
      await tell({ ...down('core'), before } as Change);
      await wait(60);
      const found = (await cases()).filter(({ status }) => status < 2);
      expect(found.map(({ title }) => title)).toEqual(
        count === 1 ? ['core does not answer'] : ['a does not answer', 'core does not answer'],
      );
      const kind = count === 1 ? 'device.unreachable' : 'device.down';
      expect(await words()).toContain(`${kind} a open`);
    },
  );

  it('a title that somebody wrote stays when the root is recognised, and a case that somebody took stays his', async () => {
    await network(['router', 'core', 'a', 'b'], ['router>core', 'core>a', 'core>b']);
    for (const name of ['a', 'b']) await mark(name, 'down');
    await tell(down('a'));
    await wait(10);
    await tell(down('b'));
    await wait(30);
    const [first, second] = await cases();
    await handlers()('cases.update', { params: { id: first?.id ?? '' }, body: { title: 'Third floor' } });
    await handlers()('cases.update', { params: { id: second?.id ?? '' }, body: { status: 1 } });
    await mark('core', 'down');
    await tell(down('core'));
    await wait(25);
    expect(await cases()).toMatchObject([
      { title: 'Third floor', rootDeviceId: devices.get('core'), eventCount: 2 },
      { title: 'b does not answer', status: 1, eventCount: 1 },
    ]);
  });

  it('a title that somebody wrote stays also where it is the one that the case had by itself', async () => {
    await network(['router', 'core', 'a', 'b'], ['router>core', 'core>a', 'core>b']);
    for (const name of ['a', 'b']) await mark(name, 'down');
    await tell(down('a'), down('b'));
    await wait(30);
    const [first] = await cases();
    for (const title of ['Third floor', 'a does not answer'])
      await handlers()('cases.update', { params: { id: first?.id ?? '' }, body: { title } });
    await mark('core', 'down');
    await tell(down('core'));
    await wait(25);
    expect((await cases())[0]).toMatchObject({
      title: 'a does not answer',
      rootDeviceId: devices.get('core'),
    });
  });

  describe('networks without a word of links', () => {
    /** Devices by name at `address/length`, the first of which is watched; those with a second one forward. */
    async function routed(places: Record<string, string[]>) {
      await network(Object.keys(places));
      const rows = Object.entries(places).flatMap(([name, list]) =>
        list.map((text) => {
          const [address = '', length] = text.split('/');
          return { device_id: devices.get(name), address, prefix_length: Number(length) };
        }),
      );
      await insert(
        scene.db,
        'device_addresses',
        rows.map((row) => ({
          ...row,
          site_id: scene.site,
          origin: 'table',
          first_seen: SEEN,
          last_seen: SEEN,
        })),
      );
      for (const [name, [first = '']] of Object.entries(places))
        await scene.db.query('UPDATE devices SET address = $2::inet WHERE id = $1', [
          devices.get(name),
          first.split('/')[0],
        ]);
    }
    const vendor = (name: string, forwarding: string) =>
      insert(scene.db, 'device_facts', [
        {
          site_id: scene.site,
          device_id: devices.get(name),
          group: 'vendor',
          data: { '1.3.6.1.2.1.4.1.0': forwarding },
          hash: '-',
          seen_at: SEEN,
          complete: true,
        },
      ]);
    async function watchedFrom(...addresses: (string[] | null)[]) {
      for (const [i, own] of addresses.entries()) {
        const id = await addCollector(scene.db, scene.site, `c${i}`);
        await scene.db.query(
          `UPDATE collectors SET instance = 'here', connected_at = now(), protocol = $3, addresses = $2::inet[]
           WHERE id = $1`,
          [id, own, PROTOCOL_WATCHES],
        );
      }
    }
    const fail = async (...names: string[]) => {
      for (const name of names) await mark(name, 'down');
      await tell(...names.map(down));
    };
    const shown = async () =>
      Object.fromEntries((await events()).filter((e) => e.status < 2).map((e) => [e.device, e.message]));
    const PLANT = {
      near: ['10.0.1.7/24'],
      r1: ['10.0.1.1/24', '10.0.2.1/24'],
      h1: ['10.0.2.7/24'],
      h2: ['10.0.2.8/24'],
    };
    const OWN = ['10.0.1.5/24'];

    it('a router dies: one case that names it and says why; it comes back: resolved', async () => {
      await routed(PLANT);
      await vendor('r1', '1');
      await watchedFrom(OWN);
      // Those behind it are seen first, as it may be.
      await fail('h1', 'h2');
      await wait(5);
      await fail('r1');
      await wait(40);
      const told = {
        r1: 'r1 does not answer',
        h1: 'h1 is unreachable behind r1, the only way into 10.0.2.0/24',
        h2: 'h2 is unreachable behind r1, the only way into 10.0.2.0/24',
      };
      expect(await shown()).toEqual(told);
      expect(await cases()).toMatchObject([
        { title: 'r1 does not answer', rootDeviceId: devices.get('r1'), severity: 2, eventCount: 3 },
      ]);
      // A line between server and collector breaks meanwhile: nobody is less behind it.
      await scene.db.query('UPDATE collectors SET instance = NULL WHERE site_id = $1', [scene.site]);
      await wait(20);
      expect(await shown()).toEqual(told);
      // One stays down when the router is back: it stands for itself.
      for (const name of ['r1', 'h1']) await mark(name, 'up');
      await tell(up('r1'), up('h1'));
      await wait(100);
      expect(await shown()).toEqual({ h2: 'h2 does not answer' });
      await tell(up('h2'));
      expect(await cases()).toMatchObject([{ status: 2, openEventCount: 0 }]);
    });

    it.each<[string, () => Promise<void>]>([
      ['another router leads in', () => routed({ ...PLANT, r2: ['10.0.1.2/24', '10.0.2.2/24'] })],
      ['another device of the network answers', () => routed({ ...PLANT, h3: ['10.0.2.9/24'] })],
      [
        'a gateway address is held by one that lives too',
        () => routed({ ...PLANT, r1: [...PLANT.r1, '10.0.2.254/24'], r2: ['10.0.1.2/24', '10.0.2.254/24'] }),
      ],
      ['a device with two addresses forwards nothing', () => routed(PLANT).then(() => vendor('r1', '2'))],
      [
        'a VRF of one that lives has an address in it',
        async () => {
          await routed({ ...PLANT, pe: ['10.0.1.3/24'] });
          await insert(scene.db, 'device_facts', [
            {
              site_id: scene.site,
              device_id: devices.get('pe'),
              group: 'vrfs',
              data: [{ name: 'blue', addresses: [{ address: '10.0.2.3', prefixLength: 24 }] }],
              hash: '-',
              seen_at: SEEN,
              complete: true,
            },
          ]);
        },
      ],
    ])('suppresses nothing where %s', async (_what, make) => {
      await make();
      await watchedFrom(OWN);
      await fail('r1', 'h1', 'h2');
      await wait(40);
      expect((await words()).filter((word) => word.endsWith('open'))).toEqual([
        'device.down h1 open',
        'device.down h2 open',
        'device.down r1 open',
      ]);
    });

    it.each<[string, (string[] | null)[]]>([
      ['a collector of an older version tells nothing', [null]],
      ['one of two tells nothing', [OWN, null]],
      ['no collector watches', []],
      ['another one stands in the network', [OWN, ['10.0.2.5/24']]],
    ])('suppresses nothing where %s', async (_what, collectors) => {
      await routed(PLANT);
      await watchedFrom(...collectors);
      await fail('r1', 'h1', 'h2');
      await wait(40);
      expect((await words()).filter((word) => word.startsWith('device.unreachable'))).toEqual([]);
    });

    it('two dead routers are both named; bridges of container hosts are no way', async () => {
      await routed({
        ...PLANT,
        r2: ['10.0.1.2/24', '10.0.2.2/24'],
        d1: ['10.0.1.40/24', '172.17.0.1/16'],
        d2: ['10.0.2.40/24', '172.17.0.1/16'],
      });
      await watchedFrom(OWN);
      await fail('r1', 'r2', 'h1', 'h2', 'd2');
      await wait(40);
      expect(await shown()).toMatchObject({
        r1: 'r1 does not answer',
        r2: 'r2 does not answer',
        h1: expect.stringMatching(
          /^h1 is unreachable behind (r1|r2): (r1 and r2|r2 and r1) are the only ways into 10\.0\.2\.0\/24$/,
        ),
        d2: expect.stringContaining('only ways into 10.0.2.0/24'),
      });
    });

    it('a switch before the router dies: links name it, and the networks behind the router follow', async () => {
      await network(['u', 'c'], []);
      await routed(PLANT);
      const link = (a: string, b: string) => ({
        site_id: scene.site,
        device_id: devices.get(a),
        remote_device_id: devices.get(b),
        protocol: 'lldp',
        key: `${a}>${b}`,
        addresses: [],
        first_seen: SEEN,
        last_seen: SEEN,
      });
      await insert(scene.db, 'neighbours', [link('u', 'c'), link('c', 'r1')]);
      await watchedFrom(OWN);
      await fail('h1', 'h2', 'r1', 'c');
      await wait(40);
      expect(await shown()).toEqual({
        c: 'c does not answer',
        r1: 'r1 is unreachable behind c',
        h1: 'h1 is unreachable behind c: r1 is the only way into 10.0.2.0/24',
        h2: 'h2 is unreachable behind c: r1 is the only way into 10.0.2.0/24',
      });
      expect(await cases()).toHaveLength(1);
    });

    it('a router that is found down late takes the cases over', async () => {
      await routed(PLANT);
      await watchedFrom(OWN);
      await fail('h1', 'h2');
      await wait(40);
      expect((await cases()).filter((c) => c.status === 0).length).toBeGreaterThan(0);
      await fail('r1');
      await wait(30);
      expect((await cases()).filter((c) => c.status === 0)).toMatchObject([
        { title: 'r1 does not answer', rootDeviceId: devices.get('r1'), eventCount: 5 },
      ]);
    });
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

  it('the power of a site goes whose links nobody knows: one case, resolved by itself', async () => {
    const names = ['a', 'b', 'c', 'd'];
    await network(names);
    // The last of them is found down after the first was raised.
    for (const name of names.slice(0, 3)) await mark(name, 'down');
    await tell(...names.slice(0, 2).map(down));
    await wait(10);
    await tell(down('c'));
    await wait(15);
    await mark('d', 'down');
    await tell(down('d'));
    await wait(40);
    expect((await cases()).filter((c) => c.status < 3)).toMatchObject([
      // Two were told at once: either may be the first.
      { title: expect.stringMatching(/^[ab] does not answer$/), eventCount: 4, openEventCount: 4 },
    ]);
    for (const name of names) await mark(name, 'up');
    await tell(...names.map(up));
    await wait(30);
    expect((await cases()).filter((c) => c.status < 3)).toMatchObject([{ status: 2, openEventCount: 0 }]);
  });

  describe.each([500, 4_000])(
    'the power of a site goes soon after its core was away, %i ms between them',
    (pause) => {
      it.each([
        ['the core first', ['core', 'a', 'b', 'edge', 'lone']],
        ['the core last', ['lone', 'edge', 'a', 'b', 'core']],
        ['what lies behind it first', ['a', 'b', 'lone', 'core', 'edge']],
        ['the core in between', ['edge', 'core', 'a', 'lone', 'b']],
      ])('%s: one case for all', async (_what, order) => {
        const behind = ['core', 'a', 'b'];
        await network([...behind, 'edge', 'lone'], ['core>a', 'core>b']);
        const fail = async (name: string) => {
          await mark(name, 'down');
          await tell(down(name));
        };
        const heal = async (...names: string[]) => {
          for (const name of names) await mark(name, 'up');
          await tell(...names.map(up));
        };
        for (const name of behind) await fail(name);
        await wait(30);
        await heal(...behind);
        await wait(30);
        expect(await cases()).toMatchObject([{ title: 'core does not answer', status: 2 }]);
        for (const name of order) {
          await fail(name);
          await wait(pause / 1000);
        }
        await wait(40);
        const open = async () => (await events()).filter((e) => e.status < 2);
        const told = await open();
        expect(told.map((e) => e.device).sort()).toEqual([...order].sort());
        expect(new Set(told.map((e) => e.caseId)).size).toBe(1);
        await heal(...order);
        expect(await open()).toEqual([]);
      });
    },
  );

  it.each([
    ['proves to lie behind another one', true],
    ['comes back before it is told', false],
  ])('what lies behind one that %s is in the case of that one', async (_what, staysDown) => {
    await network(['gate', 'r2', 'r1', 'x'], ['gate>r2', 'r2>r1', 'r1>x']);
    const fail = async (name: string) => {
      await mark(name, 'down');
      await tell(down(name));
    };
    await fail('x');
    await wait(5);
    await fail('r1');
    // x is told, behind r1; that r1 is down is not.
    await wait(16);
    await fail('r2');
    if (!staysDown) {
      await mark('r1', 'up');
      await tell(up('r1'));
      await scene.db.query(
        `UPDATE neighbours SET remote_device_id = $2 WHERE key = 'r1>x' AND site_id = $1`,
        [scene.site, devices.get('r2')],
      );
      await scene.db.query(`UPDATE neighbours SET device_id = $2 WHERE key = 'r1>x' AND site_id = $1`, [
        scene.site,
        devices.get('x'),
      ]);
    }
    await wait(45);
    const open = (await events()).filter((e) => e.status < 2);
    expect(open.map((e) => e.device).sort()).toEqual(staysDown ? ['r1', 'r2', 'x'] : ['r2', 'x']);
    const [found, ...others] = (await cases()).filter((c) => c.status < 2);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ title: 'r2 does not answer', openEventCount: open.length });
  });

  it('what is acknowledged stays so when it proves to lie behind another; open again when it stands for itself', async () => {
    await network(['gate', 'router', 'host'], ['gate>router', 'router>host']);
    const open = () =>
      scene.db.query(
        `SELECT e.kind || ' ' || d.name AS what, e.status, e.acknowledged_at AS at, e.acknowledged_by AS by, e.acknowledged_until AS until
         FROM events e JOIN devices d ON d.id = e.device_id WHERE e.site_id = $1 AND e.status < 2 ORDER BY 1`,
        [scene.site],
      );
    await mark('host', 'down');
    await tell(down('host'));
    await wait(30);
    const [{ id } = { id: '' }] = await events();
    await handlers()('events.acknowledge', { params: { id }, body: { until: 'worse' } });
    const [first] = await open();
    expect(first).toMatchObject({ what: 'device.down host', status: 1, until: 'worse' });
    await mark('router', 'down');
    await tell(down('router'));
    await wait(60);
    expect(await open()).toEqual([
      expect.objectContaining({ what: 'device.down router', status: 0 }),
      { ...first, what: 'device.unreachable host' },
    ]);
    await mark('router', 'up');
    await tell(up('router'));
    await wait(120);
    expect(await open()).toEqual([{ what: 'device.down host', status: 0, at: null, by: null, until: null }]);
  });

  it('a lost collector is one event and one case', async () => {
    const collectorId = uuidv7();
    const of = { siteId: scene.site, collectorId, collectorName: 'n-1' };
    await tell({ ...of, at: scene.now, kind: 'collector.offline', lastSeen: scene.now, reason: 'silent' });
    await wait(30);
    expect((await events()).map((e) => e.kind)).toEqual(['collector.offline']);
    expect(await cases()).toMatchObject([
      { severity: 1, rootDeviceId: null, title: 'Collector n-1 is offline: silent' },
    ]);
    await tell({ ...of, at: scene.now, kind: 'collector.online' });
    expect(await cases()).toMatchObject([{ status: 2 }]);
    await tell({ ...of, at: scene.now, kind: 'collector.offline', lastSeen: scene.now, reason: 'restart' });
    await wait(10);
    await tell({ ...of, at: scene.now, kind: 'collector.online' });
    await wait(60);
    expect(await events()).toHaveLength(1);
  });

  const collectorOf = (collectorId: string) => ({ siteId: scene.site, collectorId, collectorName: 'n-1' });

  it('what a collector saw last before it was lost is no event of its own: the site is one', async () => {
    await network(['router', 'a', 'b'], ['router>a', 'router>b']);
    const collectorId = await addCollector(scene.db, scene.site, 'n-1');
    // Its own uplink goes: everything is down for it, then it is lost.
    for (const name of devices.keys()) await mark(name, 'down');
    await tell(...[...devices.keys()].map(down));
    await wait(10);
    await tell({
      ...collectorOf(collectorId),
      at: scene.now,
      kind: 'collector.offline',
      lastSeen: scene.now,
      reason: 'silent',
    });
    await wait(120);
    expect(await words()).toEqual(['collector.offline - open']);
    expect(await cases()).toHaveLength(1);
    // It returns; two devices answered again in the meantime, one did not.
    await scene.db.query(`UPDATE collectors SET instance = 'here' WHERE id = $1`, [collectorId]);
    for (const name of ['router', 'a']) await mark(name, 'up');
    await tell(
      { ...collectorOf(collectorId), at: scene.now, kind: 'collector.online' },
      up('router'),
      up('a'),
    );
    await wait(100);
    expect(await words()).toEqual(['collector.offline - closed', 'device.down b open']);
    expect((await cases()).map((c) => [c.title, c.status])).toEqual([
      ['Collector n-1 is offline: silent', 2],
      ['b does not answer', 0],
    ]);
  });

  it('while another collector of the site still looks, a lost one suppresses nothing', async () => {
    await network(['a']);
    await addCollector(scene.db, scene.site, 'n-2');
    await scene.db.query(`UPDATE collectors SET instance = 'here' WHERE site_id = $1`, [scene.site]);
    const lost = {
      ...collectorOf(uuidv7()),
      at: scene.now,
      kind: 'collector.offline' as const,
      lastSeen: scene.now,
      reason: 'x',
    };
    await tell(lost, down('a'));
    await wait(30);
    expect(await words()).toEqual(['collector.offline - open', 'device.down a open']);
  });
});
