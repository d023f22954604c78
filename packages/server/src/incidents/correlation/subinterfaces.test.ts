import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../changes.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { insert, SEEN } from '../../testing/rows.ts';

afterAll(closeDatabases);

const UP = 1;
const DOWN = 2;

describe.each(databases())('subinterfaces of a port, on %s', (_name, open) => {
  const scene = new Scene();
  const { network, tell, state, wait, cases, events, devices } = scene;
  /** Ids by "r1 eth1.101". */
  const ports = new Map<string, string>();

  const addPorts = async (device: string, names: readonly string[]): Promise<void> => {
    const rows = names.map((name, i) => {
      const id = uuidv7();
      ports.set(`${device} ${name}`, id);
      return {
        ...{ site_id: scene.site, id, device_id: devices.get(device), if_index: i + 1, name },
        ...{ admin_status: 1, oper_status: UP, first_seen: SEEN, last_seen: SEEN },
      };
    });
    await insert(scene.db, 'interfaces', rows);
  };
  /** What a reading does beside telling it. */
  const turn = async (device: string, names: readonly string[], to: number, admin = 1): Promise<Change[]> => {
    const ids = names.map((name) => ports.get(`${device} ${name}`) ?? expect.fail(name));
    const statement = 'UPDATE interfaces SET oper_status = $2, admin_status = $3 WHERE id = ANY($1::uuid[])';
    await scene.db.query(statement, [ids, to, admin]);
    return names.map((name, i) => ({
      ...state(device, ids[i] ?? '', to === UP ? DOWN : UP, to, admin),
      ifName: name,
    }));
  };
  const told = async () =>
    (await events()).map(
      ({ message, kind, status }) => `${kind} ${message} ${status < 2 ? 'open' : 'closed'}`,
    );

  const SUBS = Array.from({ length: 20 }, (_, i) => `eth1.${101 + i}`);
  beforeEach(async () => {
    await scene.begin(open);
    ports.clear();
    await network(['r1', 'r2']);
    // The port and the subinterfaces as a table lists them, either first.
    await addPorts('r1', [...SUBS, 'eth1', 'eth2', 'eth2.7', 'eth11']);
    await addPorts('r2', ['eth1', ...SUBS]);
    const link = { site_id: scene.site, protocol: 'lldp', key: 'eth1', addresses: [] };
    await insert(scene.db, 'neighbours', [
      {
        ...{ ...link, first_seen: SEEN, last_seen: SEEN },
        ...{ device_id: devices.get('r1'), if_index: SUBS.length + 1 },
        ...{ remote_device_id: devices.get('r2'), remote_if_index: 1 },
      },
    ]);
  });

  it('a cut cable is one case of its two ports', async () => {
    await tell(
      ...(await turn('r1', [...SUBS, 'eth1'], DOWN)),
      ...(await turn('r2', ['eth1', ...SUBS], DOWN)),
    );
    await wait(600);
    expect((await told()).sort()).toEqual(
      ['eth1 of r1', 'eth1 of r2'].map((p) => `interface.down ${p} is down open`),
    );
    expect(await cases()).toMatchObject([
      { title: expect.stringMatching(/^eth1 of r[12] is down$/), status: 0 },
    ]);
    await tell(...(await turn('r1', [...SUBS, 'eth1'], UP)), ...(await turn('r2', ['eth1', ...SUBS], UP)));
    await wait(600);
    expect((await told()).sort()).toEqual(
      ['eth1 of r1', 'eth1 of r2'].map((p) => `interface.down ${p} is down closed`),
    );
    expect(await cases()).toMatchObject([{ status: 2 }]);
  });

  it('one that stays down when its port is back is told after it had time to recover', async () => {
    await tell(...(await turn('r1', ['eth1', ...SUBS], DOWN)));
    await wait(60);
    await tell(...(await turn('r1', ['eth1', ...SUBS.slice(1)], UP)));
    await wait(60);
    expect(await told()).toEqual(['interface.down eth1 of r1 is down closed']);
    await wait(60);
    expect((await told()).sort()).toEqual([
      'interface.down eth1 of r1 is down closed',
      'interface.down eth1.101 of r1 is down open',
    ]);
  });

  it('those of a port that somebody shut are not told', async () => {
    await tell(...(await turn('r1', ['eth1'], DOWN, 2)), ...(await turn('r1', SUBS, DOWN)));
    await wait(600);
    expect((await told()).filter((line) => line.startsWith('interface.down'))).toEqual([]);
  });

  it('those of a port that was shut have time to come up when it is opened', async () => {
    await tell(...(await turn('r1', ['eth1'], DOWN, 2)), ...(await turn('r1', SUBS, DOWN)));
    await wait(120);
    const opened =
      'UPDATE interfaces SET admin_status = 1, oper_status = 1, last_change = $2 WHERE id = $1::uuid';
    await scene.db.query(opened, [ports.get('r1 eth1'), new Date(scene.now)]);
    await wait(60);
    expect((await told()).filter((line) => line.startsWith('interface.down'))).toEqual([]);
    await wait(120);
    expect((await told()).filter((line) => line.startsWith('interface.down'))).toHaveLength(SUBS.length);
  });

  it('what is told of no port is told of them: it is not present, or never was up', async () => {
    await scene.db.query('UPDATE interfaces SET oper_status = 6 WHERE id = $1::uuid', [ports.get('r1 eth1')]);
    await tell(...(await turn('r1', ['eth1.101'], DOWN)));
    await wait(60);
    expect(await told()).toEqual(['interface.down eth1.101 of r1 is down open']);
  });

  it('a name that two ports bear explains none', async () => {
    await scene.db.query(`UPDATE interfaces SET name = 'eth1', if_index = 90 WHERE id = $1::uuid`, [
      ports.get('r1 eth2'),
    ]);
    await tell(...(await turn('r1', ['eth1', 'eth1.101'], DOWN)));
    await wait(60);
    expect((await told()).sort()).toEqual(
      ['eth1', 'eth1.101'].map((port) => `interface.down ${port} of r1 is down open`),
    );
  });

  it('a port that comes and goes is flapping, and they are not', async () => {
    for (let i = 0; i < 4; i++) {
      await tell(...(await turn('r1', [...SUBS, 'eth1'], DOWN)));
      await wait(10);
      await tell(...(await turn('r1', [...SUBS, 'eth1'], UP)));
      await wait(10);
    }
    expect(await told()).toEqual([expect.stringContaining('flapping Flapping: eth1 of r1 is down')]);
  });

  it.each([
    ['alone', ['eth1.101']],
    ['of another port', ['eth1', 'eth2.7']],
    ['a port of a like name', ['eth1', 'eth11']],
  ])('one that is down %s is told', async (_what, names) => {
    await tell(...(await turn('r1', names, DOWN)));
    await wait(60);
    expect((await told()).sort()).toEqual(names.map((name) => `interface.down ${name} of r1 is down open`));
  });
});
