/** The watch of a site whose collectors are with two servers: real collectors, real cables, servers killed with -9. */

import { join } from 'node:path';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { type Database, openDatabase } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { systemClock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { haveNginx } from '../chaos/balancer.ts';
import { Child, eventually, output } from '../chaos/child.ts';
import { ROOT, type Server } from '../chaos/server.ts';
import { databaseKinds, World } from '../chaos/world.ts';
import { Host } from './hosts.ts';

const COLLECTOR = join(ROOT, 'packages/collector/bin/rollcall-collector.js');
const HOSTS = 6;

interface Event {
  kind: string;
  status: number;
  count: number;
  deviceId: string;
}

const possible = haveNginx && databaseKinds().includes('postgresql') && enterOwnNetwork();
if (!possible) skipped('the watch with two servers: be root, install postgresql and nginx-light');

describe.skipIf(!possible)('the watch with two servers', () => {
  let world: World;
  let db: Database;
  let site: string;
  const hosts: Host[] = [];
  const devices = new Map<Host, string>();
  const collectors = new Map<string, Child>();

  const server = (which: number): Server => world.servers[which] ?? expect.fail(`no server ${which}`);
  /** One that is alive. */
  const any = (): Server => world.servers.find(({ running }) => running) ?? expect.fail('no server runs');
  const get = async <T>(path: string) => (await any().api<{ data: T }>('GET', path)).data;
  const within = async (seconds: number, what: string, holds: () => Promise<boolean>) => {
    const held = await eventually(holds, seconds * 1_000, 100);
    if (held !== true) throw new Error(`not within ${seconds} s: ${what}`);
  };
  const downs = async (): Promise<Event[]> =>
    (await get<Event[]>('/api/events?pageSize=500')).filter(({ kind }) => kind === 'device.down');
  const deviceOf = (host: Host) => devices.get(host) ?? expect.fail(host.name);
  const openIs = async (...expected: Host[]) => {
    const open = (await downs()).filter(({ status }) => status < 2).map(({ deviceId }) => deviceId);
    return open.sort().join() === expected.map(deviceOf).sort().join();
  };
  /** Which collector watches how many. */
  const watches = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (
        await get<{ name: string; online: boolean; health: { watch: { targets: number } | null } | null }[]>(
          '/api/collectors',
        )
      ).map(({ name, online, health }) => [name, online ? (health?.watch?.targets ?? 0) : 0]),
    );
  const allWatched = async (count: number) =>
    Object.values(await watches()).reduce((sum, n) => sum + n, 0) === count;
  /** How many servers have collectors. */
  const serving = async () =>
    (await db.query('SELECT DISTINCT instance FROM collectors WHERE instance IS NOT NULL')).length;
  const here = async () => (await db.query('SELECT 1 FROM collectors WHERE instance IS NOT NULL')).length;
  const run = (name: string) =>
    collectors.set(
      name,
      new Child({
        command: process.execPath,
        args: [COLLECTOR, 'run', '--state', join(world.folder, name)],
        logFile: join(world.folder, `${name}.log`),
      }),
    );
  /** Has one connect again until each server has one: what follows is about servers that know of the other's collector. */
  const spread = async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      await within(60, 'both are connected', async () => (await here()) === 2);
      if ((await serving()) === 2) return;
      await collectors.get('two')?.stop(10_000);
      await within(60, 'one is gone', async () => (await here()) === 1);
      run('two');
    }
    expect.fail('both collectors are with one server, however often one comes again');
  };

  beforeAll(async () => {
    for (let i = 1; i <= HOSTS; i++) hosts.push(new Host(i, `host-${i}`));
    world = await World.create({ database: 'postgresql', servers: 2, sources: 0, rate: 0 });
    db = await openDatabase({ url: world.postgres?.url() ?? '' }, openLog({ logLevel: 'silent' }));
    const made = await any().api<{ data: { id: string } }>('POST', '/api/sites', {
      name: 'plant',
      settings: { watchIcmpSeconds: 2, holdSeconds: { 'device.down': 2 } },
    });
    site = made.data.id;
    for (const name of ['one', 'two']) {
      const { token } = await any().api<{ token: string }>('POST', '/api/collectors/join-tokens', {
        siteId: site,
      });
      const state = join(world.folder, name);
      const url = `http://127.0.0.1:${world.port}`;
      await output(process.execPath, [COLLECTOR, 'join', url, token, '--state', state, '--name', name]);
      run(name);
    }
    await within(60, 'both are online', async () =>
      (await get<{ online: boolean }[]>('/api/collectors')).every(({ online }) => online),
    );
    await spread();
    const { scanId } = await any().api<{ scanId: string }>('POST', '/api/discovery/scan', {
      targets: hosts.map(({ address }) => address).join(' '),
      profile: 'standard',
      site,
    });
    await within(60, 'the scan ends', async () =>
      ['completed', 'partial'].includes(
        (await get<{ status: string }>(`/api/discovery/scans/${scanId}`)).status,
      ),
    );
    for (const { id, address } of await get<{ id: string; address: string }[]>('/api/devices'))
      devices.set(hosts.find((host) => host.address === address) ?? expect.fail(address), id);
    expect(devices.size).toBe(HOSTS);
    await any().api('POST', '/api/devices/bulk', { filter: { site }, set: { monitor: 1 } });
    await within(60, 'all are watched', () => allWatched(HOSTS));
    // Everybody has been asked once.
    await systemClock.sleep(5_000);
  }, 180_000);
  afterAll(async () => {
    await db?.close();
    for (const collector of collectors.values()) await collector.kill();
    await world?.destroy();
    for (const host of hosts) await host.remove();
  });

  test.each([0, 1])(
    'server %d killed -9: its collectors go to the other, what turned meanwhile is told once, the list follows',
    async (which) => {
      const [before, meanwhile, after] = hosts.slice(which * 3, which * 3 + 3) as [Host, Host, Host];
      before.power(false);
      await systemClock.sleep(2_000);
      await server(which).kill();
      meanwhile.power(false);
      await within(60, 'both are with the server that is left', async () => {
        const online = await get<{ online: boolean }[]>('/api/collectors');
        return online.every((each) => each.online) && (await serving()) === 1;
      });
      after.power(false);
      await within(60, 'three are down', () => openIs(before, meanwhile, after));
      const spare = hosts[which === 0 ? HOSTS - 1 : 0] ?? expect.fail('no host');
      for (const monitor of [0, 1]) {
        await any().api('PATCH', `/api/devices/${deviceOf(spare)}`, { monitor });
        await within(60, 'the list follows', () => allWatched(HOSTS - 1 + monitor));
      }
      for (const host of [before, meanwhile, after]) host.power(true);
      await server(which).startReady();
      await within(60, 'all is well', () => openIs());
      // Of every host that was away one event, which happened once.
      expect((await downs()).map(({ deviceId, count }) => [deviceId, count]).sort()).toEqual(
        hosts
          .slice(0, which * 3 + 3)
          .map((host) => [deviceOf(host), 1])
          .sort(),
      );
    },
    180_000,
  );

  test('a collector killed -9 leaves its share to the other, which is with another server', async () => {
    await spread();
    await within(60, 'all are watched', () => allWatched(HOSTS));
    // Six that are shared by hashing are all one's in one of 32 runs: the one that has most always has something to leave.
    const { one = 0, two = 0 } = await watches();
    const [killed, other] = one >= two ? ['one', 'two'] : ['two', 'one'];
    await collectors.get(killed)?.kill();
    await within(60, 'the other has all', async () => (await watches())[other] === HOSTS);
    for (const host of hosts) host.power(false);
    await within(60, 'all are down', () => openIs(...hosts));
  }, 180_000);
});
