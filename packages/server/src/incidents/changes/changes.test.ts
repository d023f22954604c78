import { CHANGE_KINDS, type Change, type LikelyChange } from '@rollcall/shared/api/changes';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { addSite, asCaller, caller, insert } from '../../testing/rows.ts';
import { INVENTORY_KINDS } from '../kinds/inventory.ts';
import { KINDS } from '../kinds/kinds.ts';
import { changeHandlers } from './handlers.ts';

afterAll(closeDatabases);

it('each kind of a change is a kind of event, and what scans find is a change, or trouble', () => {
  expect(CHANGE_KINDS.filter((kind) => !(kind in KINDS))).toEqual([]);
  const changes: readonly string[] = CHANGE_KINDS;
  const trouble = ['device.unread', 'identity.conflict'];
  expect(Object.keys(INVENTORY_KINDS).filter((kind) => !changes.includes(kind))).toEqual(trouble);
});

describe.each(databases())('changes on %s', (_name, open) => {
  const scene = new Scene();
  const { network, tell, down, wait, devices } = scene;
  beforeEach(() => scene.begin(open));
  const call = (...as: Parameters<typeof caller>) =>
    asCaller(changeHandlers({ db: scene.db, clock: scene.clock }), caller(...as));
  const list = async (query: Record<string, string | string[]> = {}, as = call()): Promise<Change[]> =>
    (await as('changes.list', { query })).data;
  const before = async (id: string, as = call()): Promise<LikelyChange[]> =>
    (await as('cases.changes', { params: { id } })).data;
  const now = () => Math.floor(scene.clock.now() / 1000);

  /** An event of a change, so many seconds ago. */
  async function changed(
    kind: string,
    device: string,
    secondsAgo: number,
    more: object = {},
  ): Promise<string> {
    const id = uuidv7();
    const at = new Date(scene.clock.now() - secondsAgo * 1000);
    await insert(scene.db, 'events', [
      {
        site_id: scene.site,
        id,
        device_id: devices.get(device),
        kind,
        source: 'discovery',
        severity: 5,
        status: 2,
        message: `${device}: ${kind}`,
        details: { before: { osVersion: '1.0' }, after: { osVersion: '1.1' } },
        dedup_key: id,
        first_seen: at,
        timestamp: at,
        closed_at: at,
        close_reason: 'noted',
        ...more,
      },
    ]);
    return id;
  }

  it('are told newest first, of a day where no time is given, with both sides', async () => {
    await network(['core', 'edge']);
    await changed('device.upgraded', 'core', 60);
    await changed('interface.added', 'edge', 3600);
    await changed('device.upgraded', 'edge', 90_000);
    await changed('device.down', 'edge', 30);
    const data = await list();
    expect(data.map(({ message }) => message)).toEqual(['core: device.upgraded', 'edge: interface.added']);
    expect((await call()('changes.list', { query: { pageSize: '1' } })).totalCount).toBe(2);
    expect(data[0]).toMatchObject({
      device: 'core',
      at: now() - 60,
      before: { osVersion: '1.0' },
      after: { osVersion: '1.1' },
      collector: null,
    });
    const told = async (query: Record<string, string | string[]>) =>
      (await list(query)).map(({ message }) => message);
    expect(await told({ device: devices.get('edge') ?? '' })).toEqual(['edge: interface.added']);
    expect(await told({ kind: ['device.upgraded'] })).toEqual(['core: device.upgraded']);
    expect(await told({ from: `${now() - 100_000}`, to: `${now() - 80_000}` })).toEqual([
      'edge: device.upgraded',
    ]);
    await expect(told({ from: '20', to: '10' })).rejects.toThrow(/from/);
  });

  it('are counted by time and kind, in spans that suit the time', async () => {
    await network(['core', 'edge']);
    await changed('device.upgraded', 'core', 60);
    await changed('device.upgraded', 'edge', 60);
    await changed('interface.added', 'edge', 7200);
    await changed('device.upgraded', 'edge', 90_000);
    const counts = async (query: Record<string, string>, as = call()) =>
      (await as('changes.counts', { query: { site: scene.site, ...query } })).data;
    const span = (secondsAgo: number, step: number) => Math.floor((now() - secondsAgo) / step) * step;
    expect(await counts({})).toEqual({
      ...{ from: now() - 86_400, to: now(), step: 900 },
      counts: [
        { at: span(7200, 900), kind: 'interface.added', count: 1 },
        { at: span(60, 900), kind: 'device.upgraded', count: 2 },
      ],
    });
    const from = `${now() - 30 * 86_400}`;
    expect((await counts({ from })).step).toBe(28_800);
    expect(
      (await counts({ from, kind: 'device.upgraded', device: devices.get('edge') ?? '' })).counts,
    ).toEqual([90_000, 60].map((ago) => ({ at: span(ago, 28_800), kind: 'device.upgraded', count: 1 })));
    expect((await counts({ from: '0' })).step % 604_800).toBe(0);
    await expect(counts({ from: '20', to: '10' })).rejects.toThrow(/from/);
    const other = await addSite(scene.db, uuidv7());
    expect((await call('viewer', [other])('changes.counts', { query: {} })).data.counts).toEqual([]);
  });

  /** Endpoint `mac` moved so many seconds ago. */
  const moved = (mac: string, from: string, to: string, secondsAgo: number, more: object = {}) => {
    const port = (device: string) => ({
      ports: [{ deviceId: devices.get(device), device, ifIndex: 7, interfaceId: null, port: 'Gi7' }],
    });
    return insert(scene.db, 'endpoint_changes', [
      {
        ...{ site_id: scene.site, id: uuidv7(), mac, kind: 'endpoint.moved' },
        ...{ at: new Date(scene.clock.now() - secondsAgo * 1000), device_id: devices.get(to) },
        ...{ from_device_id: devices.get(from), before: port(from), after: { ...port(to), name: 'phone-7' } },
        ...more,
      },
    ]);
  };

  it('of endpoints are among them in the order of time, where they are asked for', async () => {
    await network(['core', 'edge', 'far']);
    await changed('device.upgraded', 'core', 60);
    await moved('02:00:00:00:00:0a', 'edge', 'core', 90);
    await changed('interface.added', 'edge', 120);
    await moved('02:00:00:00:00:0b', 'far', 'edge', 150);
    const told = async (query: Record<string, string | string[]>) =>
      (await list({ site: scene.site, ...query })).map(({ endpoint, kind }) => endpoint ?? kind);
    const [a, b] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
    expect(await told({})).toEqual(['device.upgraded', 'interface.added']);
    expect(await told({ endpoints: '1' })).toEqual(['device.upgraded', a, 'interface.added', b]);
    const paged = { site: scene.site, endpoints: '1', pageSize: '1', page: '2' };
    const second = await call()('changes.list', { query: paged });
    expect(second).toMatchObject({ totalCount: 4, data: [{ endpoint: a }] });
    expect(await told({ endpoints: '0' })).toEqual(['device.upgraded', 'interface.added']);
    expect(await told({ kind: ['endpoint.moved'] })).toEqual([a, b]);
    expect(await told({ endpoints: '1', kind: ['device.upgraded'] })).toEqual(['device.upgraded']);
    expect(await told({ kind: ['endpoint.moved', 'device.upgraded'] })).toEqual(['device.upgraded', a, b]);
    // From there or to there.
    expect(await told({ device: devices.get('edge') ?? '', endpoints: '1' })).toEqual([
      a,
      'interface.added',
      b,
    ]);
    expect((await list({ kind: ['endpoint.moved'], site: scene.site }))[0]).toMatchObject({
      ...{ message: `${a} (phone-7) moved from edge Gi7 to core Gi7`, device: 'core', at: now() - 90 },
    });
    expect(await told({ site: await addSite(scene.db, uuidv7()) })).toEqual([]);
  });

  it('before a case: an endpoint only where it came to a port that the case is about', async () => {
    await network(['edge']);
    const theCase = uuidv7();
    const [port, other] = [uuidv7(), uuidv7()];
    const seen = new Date(scene.clock.now());
    await insert(scene.db, 'cases', [
      {
        ...{
          site_id: scene.site,
          id: theCase,
          title: 'errors',
          severity: 3,
          root_device_id: devices.get('edge'),
        },
        ...{ begun_at: seen, created_at: seen, updated_at: seen, tags: [] },
      },
    ]);
    await changed('interface.state', 'edge', 0, { case_id: theCase, interface_id: port });
    await moved('02:00:00:00:00:0a', 'edge', 'edge', 60, { interface_id: port });
    await moved('02:00:00:00:00:0b', 'edge', 'edge', 60, { interface_id: other });
    await moved('02:00:00:00:00:0c', 'edge', 'edge', 60, { interface_id: port, kind: 'endpoint.removed' });
    expect(
      (await before(theCase)).map(({ endpoint, place, reasons }) => [endpoint, place, reasons[0]]),
    ).toEqual([['02:00:00:00:00:0a', 'port', 'endpoint moved there']]);
  });

  it('of other sites are not told', async () => {
    await network(['core']);
    await changed('device.upgraded', 'core', 60);
    const other = await addSite(scene.db, uuidv7());
    expect(await list({}, call('viewer', [other]))).toEqual([]);
  });

  it('before a case: on its root and the devices with a link to it, with reasons', async () => {
    await network(['core', 'edge', 'far'], ['core>edge']);
    await changed('device.upgraded', 'edge', 600);
    await changed('interface.changed', 'core', 300);
    await changed('device.swapped', 'far', 60);
    await changed('device.upgraded', 'edge', 7200);
    await changed('trap', 'edge', 500, {
      details: { after: { trapOid: '1.3.6.1.4.1.9.9.43.2.0.1' } },
    });
    await tell(down('edge'));
    await wait(120);
    const [theCase] = await scene.db.query<{ id: string }>('SELECT id FROM cases WHERE site_id = $1', [
      scene.site,
    ]);
    const data = await before(theCase?.id ?? '');
    expect(data.map(({ message, place }) => [message, place])).toEqual([
      ['edge: trap', 'root'],
      ['edge: device.upgraded', 'root'],
      ['core: interface.changed', 'neighbour'],
    ]);
    expect(data[0]?.reasons[0]).toBe('configuration changed');
    // What the case is made of is no cause of it.
    await scene.db.query('UPDATE events SET case_id = $1::uuid WHERE id = $2::uuid', [
      theCase?.id,
      data[1]?.id,
    ]);
    expect((await before(theCase?.id ?? '')).map(({ message }) => message)).toEqual([
      'edge: trap',
      'core: interface.changed',
    ]);
    const other = await addSite(scene.db, uuidv7());
    await expect(before(theCase?.id ?? '', call('viewer', [other]))).rejects.toThrow(/case/);
  });

  it('before a case: the ports at both ends of its links weigh more than others', async () => {
    await network(['edge', 'core', 'far'], ['core>edge']);
    await scene.db.query(
      'UPDATE neighbours SET if_index = 7, remote_if_index = 23 WHERE site_id = $1::uuid',
      [scene.site],
    );
    const port = async (device: string, ifIndex: number) => {
      const id = uuidv7();
      await insert(scene.db, 'interfaces', [
        {
          ...{ site_id: scene.site, id, device_id: devices.get(device), if_index: ifIndex },
          ...{ name: `Gi${ifIndex}`, first_seen: new Date(scene.now), last_seen: new Date(scene.now) },
        },
      ]);
      return id;
    };
    for (const [device, ifIndex] of [
      ['core', 7],
      ['core', 8],
      ['edge', 23],
      ['edge', 24],
    ] as const)
      await changed('interface.shut', device, 60, { interface_id: await port(device, ifIndex) });
    await tell(down('edge'));
    await wait(120);
    const [theCase] = await scene.db.query<{ id: string }>('SELECT id FROM cases WHERE site_id = $1', [
      scene.site,
    ]);
    expect(
      (await before(theCase?.id ?? ''))
        .map(({ device, interface: name, place }) => `${device} ${name} ${place}`)
        .sort(),
    ).toEqual(['core Gi7 link', 'core Gi8 neighbour', 'edge Gi23 link', 'edge Gi24 root']);
  });

  it('the index holds the kinds that are asked for', async () => {
    const [index] = await scene.db.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'events_changes'`,
    );
    const kinds = [...(index?.indexdef ?? '').matchAll(/'([a-z.]+)'/g)].map(([, kind]) => kind);
    expect(kinds.sort()).toEqual([...CHANGE_KINDS].sort());
  });
});
