import { demoSite } from '@rollcall/lab/demo';
import { type LiveSite, startSite } from '@rollcall/lab/start';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, Installation, oneDatabase, type RunningCollector, until } from './harness.ts';

/**
 * The whole path as one story. Two sites use the same addresses; each has a collector of its own, and north has a
 * second one that takes over when the first is killed in the middle of a scan.
 */

interface Device {
  id: string;
  site: string;
  name: string;
  address: string;
  addresses: string[];
  interfaceCount: number;
  sysName: string | null;
}

describe.each(databases)('the flow on %s', (name, url) => {
  let world: Installation;
  let north: LiveSite;
  let south: LiveSite;
  let northId: string;
  let southId: string;
  let first: RunningCollector;

  beforeAll(async () => {
    world = await Installation.start({ databaseUrl: await url() });
    north = await startSite(demoSite(), { port: 16_181 });
    south = await startSite(demoSite(), { port: 16_182 });
    world.onStop(() => north.stop());
    world.onStop(() => south.stop());
    northId = await world.site('north', 16_181, north.truth.credentials);
    southId = await world.site('south', 16_182, south.truth.credentials);
    // Slow enough to be killed in the middle.
    await world.api('POST', '/api/discovery/profiles', {
      name: 'slow',
      settings: { rate: 200, icmp: { tries: 1, timeoutMs: 500 }, snmp: { tries: 2, timeoutMs: 400 } },
    });
  }, 120_000);
  afterAll(() => world?.stop());

  it('waits for a collector, and says so', async () => {
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: '127.20.0.1',
      profile: 'ping',
      site: 'south',
    });
    const { data } = await world.api<{ status: string; statusReason: string }>(
      'GET',
      `/api/discovery/scans/${scanId}`,
    );
    expect(data).toMatchObject({ status: 'queued', statusReason: expect.stringContaining('south') });
    await world.api('POST', `/api/discovery/scans/${scanId}/cancel`);
  });

  it('scans a site: every device once, with all its interfaces, the first while the sweep goes on', async () => {
    first = await world.collector(northId, 'north-1');
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: north.truth.targets,
      profile: 'standard',
      site: 'north',
    });
    await until(
      20_000,
      'a first device',
      async () => (await world.api('GET', '/api/devices')).totalCount > 0,
    );
    // How soon is measured by bench:sweep; here it is that nobody waits for the end.
    const { data } = await world.api<{ status: string }>('GET', `/api/discovery/scans/${scanId}`);
    expect(data.status).toBe('running');
    const scan = await world.scanEnd(scanId);
    expect(scan).toMatchObject({ status: 'completed', devicesNew: north.truth.devices.length });
    expect(scan.addressesProbed).toBe(scan.addressesTotal);
    await expectTruth('north');
  }, 120_000);

  it('raises one event for each new device', async () => {
    const events = await world.all<{ kind: string; deviceId: string }>(`/api/events?Source=discovery`);
    const fresh = events.filter((event) => event.kind === 'device.new');
    expect(new Set(fresh.map((event) => event.deviceId)).size).toBe(fresh.length);
    expect(fresh.length).toBe(north.truth.devices.length);
  });

  it('finds nothing new in the same world', async () => {
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: north.truth.targets,
      profile: 'standard',
      site: 'north',
    });
    expect(await world.scanEnd(scanId)).toMatchObject({ status: 'completed', devicesNew: 0 });
    await expectTruth('north');
  }, 60_000);

  it('names a station as a switch heard it by DHCP, until the binding ends', async () => {
    const access = north.box('access-3');
    const [bound, ...others] = access.device.bindings;
    const names = async () => {
      const { scanId } = await world.api('POST', '/api/discovery/scan', {
        targets: access.device.addresses[0]?.address,
        profile: 'deep',
        site: 'north',
      });
      expect(await world.scanEnd(scanId)).toMatchObject({ status: 'completed', devicesNew: 0 });
      const asked = [bound, others[0]].map(async (each) => {
        const { data } = await world.api<{ name: string | null; nameFrom: string | null }[]>(
          'GET',
          `/api/endpoints/${each?.mac}?site=${northId}`,
        );
        return data.map(({ name, nameFrom }) => [name, nameFrom]);
      });
      return Promise.all(asked);
    };
    const kept = [[others[0]?.hostname.toLowerCase(), 'dhcp']];
    expect(await names()).toEqual([[[bound?.hostname.toLowerCase(), 'dhcp']], kept]);
    access.device.bindings = others;
    access.refresh();
    expect(await names()).toEqual([[[null, null]], kept]);
  }, 120_000);

  it('keeps the same addresses of another site apart', async () => {
    await world.collector(southId, 'south-1');
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: south.truth.targets,
      profile: 'standard',
      site: 'south',
    });
    expect(await world.scanEnd(scanId)).toMatchObject({ status: 'completed' });
    await expectTruth('south');
    await expectTruth('north');
  }, 120_000);

  // Who takes over is decided by leases, a minute of waiting, and in the same way on each database.
  if (oneDatabase.some(([each]) => each === name)) {
    it('goes on with another collector of the site when one is killed in the middle of a scan', async () => {
      const { scanId } = await world.api('POST', '/api/discovery/scan', {
        targets: north.truth.targets,
        profile: 'slow',
        site: 'north',
      });
      await until(30_000, 'a part of the scan', async () => {
        const { data } = await world.api<{ addressesProbed: number }>(
          'GET',
          `/api/discovery/scans/${scanId}`,
        );
        return data.addressesProbed > 5;
      });
      await first.kill();
      await world.collector(northId, 'north-2');
      const scan = await world.scanEnd(scanId, 120_000);
      expect(scan).toMatchObject({ status: 'completed', devicesNew: 0 });
      expect(scan.jobs.map((job) => job.collector)).toEqual(['north-2']);
      await expectTruth('north');
    }, 180_000);

    it('takes the killed collector back where it stopped', async () => {
      first.start();
      await world.online('north-1', true);
      expect(await first.stop()).toBe(0);
    }, 60_000);
  }

  it('shows a token of one site nothing of the other', async () => {
    const { data: user } = await world.api<{ id: string }>('POST', '/api/users', {
      name: 'nora',
      password: 'a long enough password',
      role: 'viewer',
      siteIds: [northId],
    });
    expect(user.id).toBeTruthy();
    const signIn = await fetch(`${world.server.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: world.server.url },
      body: JSON.stringify({ name: 'nora', password: 'a long enough password' }),
    });
    const cookie = signIn.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ');
    const devices = (await (
      await fetch(`${world.server.url}/api/devices?pageSize=1000`, { headers: { Cookie: cookie } })
    ).json()) as { data: Device[] };
    expect(new Set(devices.data.map((device) => device.site))).toEqual(new Set(['north']));
  });

  /** What the API says of a site equals the lab's truth. */
  async function expectTruth(site: 'north' | 'south'): Promise<void> {
    const { truth } = site === 'north' ? north : south;
    const id = site === 'north' ? northId : southId;
    const devices = await world.all<Device>(`/api/devices?site=${id}`);
    const byAddress = new Map(
      devices.flatMap((device) => device.addresses.map((address) => [address, device] as const)),
    );
    const seen = truth.devices.map(({ name, addresses, interfaces, snmp }) => {
      const found = new Set(addresses.map((address) => byAddress.get(address)?.id));
      const device = byAddress.get(addresses[0] ?? '');
      return { name, boxes: found.size, interfaces: snmp ? device?.interfaceCount : interfaces };
    });
    expect(seen).toEqual(truth.devices.map(({ name, interfaces }) => ({ name, boxes: 1, interfaces })));
    expect(devices.length).toBe(truth.devices.length);
  }
});
