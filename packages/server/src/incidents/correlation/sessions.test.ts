import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change, SensorTrouble } from '../../changes.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { addDevices, asCaller, caller, insert, SEEN } from '../../testing/rows.ts';
import { maintenanceHandlers } from '../maintenance/handlers.ts';
import { type Cause, explainedBy, type Ground } from './sessions.ts';

afterAll(closeDatabases);

const MIN = 60_000;
const session = { key: 'k', deviceId: 'a', peer: '10.0.0.2', since: 100 * MIN };
const cause = (more: Partial<Cause>): Cause => ({
  ...{ deviceId: 'a', interfaceId: null, since: 100 * MIN, present: true },
  ...more,
});
const ground = (more: Partial<Ground> = {}): Ground => ({
  ...{ ends: new Set(['a', 'b']), beside: new Set(['c']), ports: new Set<string>() },
  ...more,
});
const direct = ground({ ports: new Set(['a1', 'b1']) });

describe('what explains a session', () => {
  it.each<[string, Ground, Cause, boolean]>([
    ['the far end is down, for long', direct, cause({ deviceId: 'b', since: 0 }), true],
    ['a device beside is down', direct, cause({ deviceId: 'c' }), true],
    ['a device beside is down for long', direct, cause({ deviceId: 'c', since: 80 * MIN }), false],
    ['a device elsewhere is down', direct, cause({ deviceId: 'd' }), false],
    ['the port to the far end', direct, cause({ interfaceId: 'a1' }), true],
    ['the port of the far end', direct, cause({ deviceId: 'b', interfaceId: 'b1', since: 0 }), true],
    ['another port', direct, cause({ interfaceId: 'a2' }), false],
    ['any port at that time, over others', ground(), cause({ interfaceId: 'a2', since: 97 * MIN }), true],
    ['a port found a reading later', ground(), cause({ interfaceId: 'a2', since: 101 * MIN }), true],
    ['a port down for long, over others', ground(), cause({ interfaceId: 'a2', since: 80 * MIN }), false],
    ['a port down long after', ground(), cause({ interfaceId: 'a2', since: 103 * MIN }), false],
    ['a port of a device elsewhere', ground(), cause({ deviceId: 'd', interfaceId: 'd1' }), false],
  ])('%s', (_, on, by, expected) => {
    expect(explainedBy(session, on, [by]) !== null).toBe(expected);
  });
});

describe.each(databases())('sensors as events, on %s', (_name, open) => {
  const scene = new Scene();
  const { network, about, tell, down, state, wait, cases, words, devices } = scene;
  beforeEach(() => scene.begin(open));

  const unhealthy = (name: string, of: SensorTrouble, sensorId = uuidv7(), peer?: string): Change => ({
    ...about(name),
    kind: 'sensor.unhealthy',
    before: {},
    after: {
      ...{
        of,
        sensorId,
        name: 'PSU 1',
        kind: 'state',
        component: 'psu',
        value: null,
        reason: 'state: failed',
      },
      ...(peer === undefined ? {} : { peer }),
    },
  });
  const well = (name: string, sensorId: string): Change => ({
    ...about(name),
    kind: 'sensor.healthy',
    before: {},
    after: { sensorId },
  });
  /** Two routers with a cable of the network 10.0.0.0/30. */
  const cable = async (): Promise<string[]> => {
    await network(['r1', 'r2'], ['r1>r2']);
    const ports = [uuidv7(), uuidv7()];
    for (const [i, name] of ['r1', 'r2'].entries()) {
      const owner = { site_id: scene.site, device_id: devices.get(name), first_seen: SEEN, last_seen: SEEN };
      await insert(scene.db, 'interfaces', [{ ...owner, id: ports[i], if_index: 1, name: 'Gi1' }]);
      const address = { address: `10.0.0.${i + 1}`, prefix_length: 30, if_index: 1, origin: 'table' };
      await insert(scene.db, 'device_addresses', [{ ...owner, ...address }]);
    }
    return ports;
  };

  it('a part that failed opens, and closes when it is well', async () => {
    await network(['sw']);
    const id = uuidv7();
    await tell(unhealthy('sw', 'hardware.failed', id));
    await wait(35);
    expect(await words()).toEqual(['hardware.failed sw open']);
    await tell(well('sw', id));
    expect(await words()).toEqual(['hardware.failed sw closed']);
    expect(await cases()).toMatchObject([{ title: 'PSU 1 of sw failed (state: failed)', status: 2 }]);
  });

  it('what gets worse ends the one and begins the other', async () => {
    await network(['sw']);
    const id = uuidv7();
    await tell(unhealthy('sw', 'sensor.warning', id));
    await wait(100);
    await tell(unhealthy('sw', 'sensor.critical', id));
    await wait(100);
    expect((await words()).sort()).toEqual(['sensor.critical sw open', 'sensor.warning sw closed']);
  });

  it('one cable under 40 sessions is one case', async () => {
    const [port = ''] = await cable();
    await tell(
      ...Array.from({ length: 20 }, () => unhealthy('r1', 'session.down', uuidv7(), '10.0.0.2')),
      ...Array.from({ length: 20 }, () => unhealthy('r2', 'session.down', uuidv7(), '10.0.0.1')),
    );
    await wait(20);
    await tell(state('r1', port, 1, 2));
    await wait(300);
    expect(await words()).toEqual(['interface.down r1 open']);
    expect(await cases()).toHaveLength(1);
  });

  it('a silent cable under 40 sessions is one case, minutes between the readings of its ends', async () => {
    await cable();
    const ends = (name: string, peer: string) =>
      Array.from({ length: 20 }, () => unhealthy(name, 'session.down', uuidv7(), peer));
    await tell(...ends('r1', '10.0.0.2'));
    await wait(400);
    await tell(...ends('r2', '10.0.0.1'));
    await wait(120);
    expect(await words()).toHaveLength(40);
    expect(await cases()).toHaveLength(1);
    // Read at once.
    await scene.begin(open);
    await cable();
    await tell(...ends('r2', '10.0.0.1'), ...ends('r1', '10.0.0.2'));
    await wait(120);
    expect(await words()).toHaveLength(40);
    expect(await cases()).toHaveLength(1);
  });

  it('both ends of a session are one case, also where one is back before the other is told', async () => {
    await cable();
    const id = uuidv7();
    await tell(unhealthy('r1', 'session.down', id, '10.0.0.2'));
    await wait(280);
    const late = unhealthy('r2', 'session.down', uuidv7(), '10.0.0.1');
    await tell(late);
    await wait(20);
    await tell(well('r1', id));
    await wait(200);
    expect(await words()).toEqual(expect.arrayContaining(['session.down r2 open']));
    expect(await cases()).toHaveLength(1);
  });

  it('both ends of a session that flaps are one case', async () => {
    await cable();
    const id = uuidv7();
    for (let i = 0; i < 4; i++) {
      await tell(unhealthy('r1', 'session.down', id, '10.0.0.2'));
      await wait(95);
      await tell(well('r1', id));
      await wait(5);
    }
    expect(await words()).toContain('flapping r1 open');
    await tell(unhealthy('r2', 'session.down', uuidv7(), '10.0.0.1'));
    await wait(120);
    expect(await words()).toContain('session.down r2 open');
    expect(await cases()).toHaveLength(1);
  });

  it('both ends of a session are one case where a maintenance ends that silenced them', async () => {
    await cable();
    const [from, until] = [scene.now / 1000, scene.now / 1000 + 600];
    const deps = { db: scene.db, clock: scene.clock, audit: async () => undefined };
    await asCaller(maintenanceHandlers(deps), caller('admin'))('maintenance.create', {
      body: { siteId: scene.site, name: 'fibre', timezone: 'UTC', times: { kind: 'once', from, until } },
    });
    await tell(unhealthy('r1', 'session.down', uuidv7(), '10.0.0.2'));
    await tell(unhealthy('r2', 'session.down', uuidv7(), '10.0.0.1'));
    await wait(590);
    expect(await words()).toHaveLength(2);
    expect(await cases()).toEqual([]);
    await wait(60);
    expect(await cases()).toHaveLength(1);
  });

  it('an address that two devices have says nothing', async () => {
    await cable();
    const owner = { site_id: scene.site, first_seen: SEEN, last_seen: SEEN };
    const [third = ''] = await addDevices(scene.db, [{ site_id: scene.site, name: 'r3' }]);
    const address = { address: '10.0.0.1', prefix_length: 30, origin: 'table' };
    await insert(scene.db, 'device_addresses', [{ ...owner, ...address, device_id: third }]);
    await tell(unhealthy('r1', 'session.down', uuidv7(), '10.0.0.2'));
    await wait(120);
    await tell(unhealthy('r2', 'session.down', uuidv7(), '10.0.0.1'));
    await wait(120);
    expect(await cases()).toHaveLength(2);
  });

  it('sessions of two devices with others are two cases', async () => {
    await cable();
    await tell(unhealthy('r1', 'session.down', uuidv7(), '10.0.0.99'));
    await wait(400);
    await tell(unhealthy('r2', 'session.down', uuidv7(), '10.0.0.98'));
    await wait(120);
    expect(await cases()).toHaveLength(2);
  });

  it('a session over a link that is up is told, and one to a device that is down is not', async () => {
    await cable();
    await tell(unhealthy('r1', 'session.down', uuidv7(), '10.0.0.2'));
    await wait(120);
    expect(await words()).toEqual(['session.down r1 open']);
    await scene.begin(open);
    await cable();
    await tell(down('r2'), unhealthy('r1', 'session.down', uuidv7(), '10.0.0.2'));
    await wait(200);
    expect(await words()).toEqual(['device.down r2 open']);
  });
});
