/**
 * What the web application is looked at with, in three steps: an office with people, sites and nothing found yet; its
 * network, the demonstration site, with a real collector; that network swept twice and watched, with a switch replaced,
 * an uplink down and work under way. Everything in it came in by the wire or by REST.
 */
import { demoSite } from '@rollcall/lab/demo';
import { portNamed } from '@rollcall/lab/device';
import { type LiveSite, startSite } from '@rollcall/lab/start';
import type { Topology } from '@rollcall/shared/api/interfaces';
import { anyDatabase, Installation, until } from '../system/harness.ts';
import type { Account } from './browser.ts';

const PASSWORD = 'correct horse battery staple';

export interface Office {
  installation: Installation;
  url: string;
  admin: Account;
  operator: Account;
  /** Sees the branch only. */
  viewer: Account;
  site: string;
  /** Where nothing is, and nobody to look. */
  branch: string;
  stop: () => Promise<void>;
}

export interface Network extends Office {
  lab: LiveSite;
  scan: (targets: string, profile: string) => Promise<string>;
}

export interface World extends Network {
  /** Id of a device by its name. */
  device: (name: string) => Promise<string>;
}

export async function startOffice(lab?: LiveSite, port = 161): Promise<Office> {
  const installation = await Installation.start({ databaseUrl: await anyDatabase() });
  const { server } = installation;
  const site = await installation.site('Head office', port, lab?.truth.credentials ?? []);
  const branch = await installation.site('Branch', port, []);
  const office: Office = {
    installation,
    url: server.url,
    admin: server.firstAdmin as Account,
    operator: { name: 'grace', password: PASSWORD },
    viewer: { name: 'katherine', password: PASSWORD },
    site,
    branch,
    stop: () => installation.stop(),
  };
  await people(office);
  return office;
}

export async function startNetwork(port: number): Promise<Network> {
  const lab = await startSite(demoSite(), { port });
  const office = await startOffice(lab, port);
  const { installation, site } = office;
  installation.onStop(() => lab.stop());
  await installation.api('PATCH', `/api/sites/${site}`, {
    settings: { snmpPort: port, watchSnmpSeconds: 5, watchNamesSeconds: 0, monitorFound: 'none' },
  });
  const collector = await installation.collector(site, 'head-office-1');
  const scan = async (targets: string, profile: string) => {
    const { scanId } = await installation.api('POST', '/api/discovery/scan', {
      targets,
      profile,
      site: 'Head office',
    });
    await installation.scanEnd(scanId);
    return scanId;
  };
  const stop = async () => {
    await collector.stop();
    await office.stop();
  };
  return { ...office, lab, scan, stop };
}

/** Switches whose hardware is replaced before the second scan, with their new serial numbers; the first has a case. */
const REPLACED = { 'access-3': 'FOC2741X0EX', 'access-5': 'CN27FP40EX', 'access-7': 'NW3619410EX' };

export async function startWorld(port: number): Promise<World> {
  const network = await startNetwork(port);
  const { installation, lab, scan } = network;
  await scan(lab.truth.targets, 'deep');
  const device = async (name: string) => {
    const { data } = await installation.api<{ id: string; name: string }[]>(
      'GET',
      `/api/devices?search=${name}&pageSize=100`,
    );
    const found = data.find((one) => one.name === name);
    if (!found) throw new Error(`no device ${name}`);
    return found.id;
  };
  const world = { ...network, device };
  // What the second scan finds different.
  for (const [name, serial] of Object.entries(REPLACED))
    await lab.change(name, (device) => {
      for (const [oid, value] of Object.entries(device.objects))
        if (value === device.serial) device.objects[oid] = serial;
      device.serial = serial;
      for (const entity of device.entities) if (entity.class === 3) entity.serial = serial;
    });
  await Promise.all([scan(lab.truth.targets, 'standard'), trouble(world)]);
  await work(world);
  await linked(world, 'core-1', 'dist-1');
  return world;
}

/** Links are found behind ingest, a pass at a time. */
async function linked({ installation, site, device }: World, ...names: [string, string]): Promise<void> {
  const ends = await Promise.all(names.map(device));
  await until(120_000, `a link of ${names.join(' and ')}`, async () => {
    const { data } = await installation.api<Topology>('GET', `/api/topology?site=${site}`);
    return data.links.some(({ a, b }) => ends.includes(a.deviceId) && ends.includes(b.deviceId));
  });
}

/** An uplink that fails, as the watch sees it: an event, and a case of its own. */
async function trouble({ installation, lab, device }: World): Promise<void> {
  await installation.api('PATCH', `/api/devices/${await device('access-2')}`, { monitor: 1 });
  await lab.change('access-2', (box) => {
    portNamed(box, 'Te1/1/1').oper = 'down';
  });
  await until(120_000, 'a case of the uplink that is down', async () => {
    const { data } = await installation.api('GET', '/api/cases?severity=3');
    return data.length > 0;
  });
}

async function people({ installation, branch, operator, viewer }: Office): Promise<void> {
  const user = (body: object) => installation.api('POST', '/api/users', body);
  await user({ ...operator, displayName: 'Grace Hopper', role: 'operator', allSites: true });
  await user({
    ...viewer,
    displayName: 'Katherine Johnson',
    role: 'viewer',
    allSites: false,
    siteIds: [branch],
  });
}

async function work({ installation, site, device }: World): Promise<void> {
  const api = installation.api.bind(installation);
  await api('POST', '/api/discovery/schedules', {
    name: 'every night',
    targets: '127.20.0.0/29',
    profile: 'standard',
    site,
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
  });
  await api('POST', '/api/discovery/profiles', { name: 'gentle', settings: { rate: 100, ratePerNet: 20 } });
  let changes: { id: string }[] = [];
  await until(60_000, 'an event of the switch that was replaced', async () => {
    changes = (
      await api<{ id: string }[]>(
        'GET',
        `/api/events?Severity=4&Source=discovery&Device=${await device('access-3')}`,
      )
    ).data;
    return changes.length > 0;
  });
  const { data: one } = await api<{ id: string }>('POST', '/api/cases', {
    title: 'Switch on floor 2 was replaced',
    description: 'The serial number changed between two scans. Who did it, and is the spare booked out?',
    siteId: site,
    priority: 2,
    tags: ['hardware', 'floor-2'],
  });
  await api('PATCH', `/api/cases/${one.id}`, { status: 1 });
  // Afterwards: what is in a case that somebody begins to work on is acknowledged.
  await api('POST', `/api/cases/${one.id}/events`, { eventIds: changes.map(({ id }) => id) });
  await api('POST', `/api/cases/${one.id}/comments`, { text: 'Called the site lead: replaced on Friday.' });
}
