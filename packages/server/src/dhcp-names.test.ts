import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAKERS } from './data.ts';
import { endpointHandlers } from './endpoints/feature.ts';
import { openMakers } from './endpoints/makers.ts';
import { asked, type Box, NOW, openSite, type TestSite, table } from './ingest/testing/site.ts';
import type { Database } from './platform/db/db.ts';
import { closeDatabases, databases } from './testing/database.ts';
import { asCaller, caller } from './testing/rows.ts';

afterAll(closeDatabases);

const PC = '00:1b:21:3c:9d:f8';
const HOUR_MS = 3_600_000;
const access: Box = { sysName: 'access-1', serials: ['FCW1929B68S'], macs: ['00:1b:54:00:00:01'] };
const makers = openMakers(MAKERS);

describe.each(databases())('what DHCP snooping tells of endpoints on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  interface Told {
    /** By DHCP; null: the forwarding table does not have the station. */
    hostname?: string | null;
    /** By reverse DNS of its address, which the same device has in its ARP table; undefined: it has none. */
    dns?: string;
    complete?: false;
    /** The bindings were read to their end: a station without a name has none. */
    hostnames?: true;
  }
  /** What the API answers after the switch told this. */
  const tell = async (site: TestSite, hours: number, { hostname, dns, complete, hostnames }: Told) => {
    const at = NOW + hours * HOUR_MS;
    site.clock.set(at);
    const device = { ...asked(access, '10.0.0.1'), at };
    const learnt = { mac: PC, ifIndex: 7, bridgePort: 7, vlan: 10, ...(hostname && { hostname }) };
    const arp = dns === undefined ? [] : [{ ifIndex: 3, address: '10.0.0.7', mac: PC, name: dns }];
    const read = { at, ...(complete === false && { complete, reason: 'time-budget' }) };
    await site.send([
      device,
      {
        ...table(device, 'fdb', hostname === null ? [] : [learnt]),
        ...read,
        ...(hostnames && { hostnames }),
      },
      { ...table(device, 'arp', arp), at },
    ]);
    const handlers = endpointHandlers({ db, makers, clock: new ManualClock(at) });
    const ask = asCaller(handlers, caller('viewer', [site.siteId]));
    const named = (text: string) => ask('endpoints.list', { query: { search: text, current: '1' } });
    const [found] = (await ask('endpoints.get', { params: { mac: PC } })).data;
    return { found, named };
  };

  it('is the name of a station while the forwarding table has it, and is found by it', async () => {
    const site = await openSite(db);
    const { found, named } = await tell(site, 0, { hostname: 'pc-7' });
    expect(found).toMatchObject({ name: 'pc-7', nameFrom: 'dhcp', owner: null });
    expect(found.sightings).toMatchObject([{ ifIndex: 7, vlan: 10, name: 'pc-7', nameFrom: 'dhcp' }]);
    expect((await named('c-7')).data).toMatchObject([{ mac: PC, name: 'pc-7', nameFrom: 'dhcp' }]);
    const gone = await tell(site, 8, { hostname: null });
    expect(gone.found.lastSeen).toBe((NOW + 8 * HOUR_MS) / 1000);
    expect((await gone.named('c-7')).data).toEqual([]);
    const other = await tell(site, 20, {});
    expect(other.found, 'another time, without a name').toMatchObject({ name: null, nameFrom: null });
  });

  it('gives way to reverse DNS, and stays while nothing is told', async () => {
    const site = await openSite(db);
    const steps: [Told, name: string | null, from: string | null][] = [
      [{}, null, null],
      [{ hostname: 'pc-7' }, 'pc-7', 'dhcp'],
      [{ hostname: 'pc-1', complete: false }, 'pc-1', 'dhcp'],
      [{}, 'pc-1', 'dhcp'],
      [{ hostname: 'pc-8', dns: '' }, 'pc-8', 'dhcp'],
      [{ hostname: 'pc-8', dns: 'pc-8.example.net' }, 'pc-8.example.net', 'dns'],
      [{ hostname: 'pc-9' }, 'pc-9', 'dhcp'],
    ];
    for (const [n, [told, name, nameFrom]] of steps.entries()) {
      const { found } = await tell(site, n, told);
      expect(found, `${n}`).toMatchObject({ name, nameFrom });
      expect(found.sightings.filter((one: { until: number | null }) => one.until === null)).toHaveLength(
        told.dns === undefined ? 1 : 2,
      );
    }
  });

  it('ends when its binding has ended, and no other is found by it', async () => {
    const site = await openSite(db);
    const steps: [Told, name: string | null, from: string | null][] = [
      [{ hostname: 'pc-7', hostnames: true }, 'pc-7', 'dhcp'],
      [{ hostnames: true }, null, null],
      [{}, null, null],
      [{ hostname: 'pc-8', hostnames: true }, 'pc-8', 'dhcp'],
      [{ hostnames: true, complete: false }, null, null],
      [{ hostname: 'pc-9', hostnames: true, dns: 'pc-9.example.net' }, 'pc-9.example.net', 'dns'],
      [{ hostnames: true, dns: 'pc-9.example.net' }, 'pc-9.example.net', 'dns'],
    ];
    for (const [n, [told, name, nameFrom]] of steps.entries()) {
      const { found, named } = await tell(site, n, told);
      expect(found, `${n}`).toMatchObject({ name, nameFrom, lastSeen: null });
      expect((await named('pc-7')).data).toHaveLength(n === 0 ? 1 : 0);
    }
    const letters = await db.query('SELECT 1 FROM dead_letters WHERE site_id = $1::uuid', [site.siteId]);
    expect(letters).toEqual([]);
  });

  it('of one station ends alone: another at the same port keeps its name', async () => {
    const site = await openSite(db);
    const device = asked(access, '10.0.0.1');
    const other = '00:1b:21:3c:9d:f9';
    const row = (mac: string, hostname?: string) => ({
      ...{ mac, ifIndex: 7, bridgePort: 7, vlan: 10 },
      ...(hostname && { hostname }),
    });
    const read = (at: number, ...rows: object[]) =>
      site.send([
        { ...device, at },
        { ...table(device, 'fdb', rows), at, hostnames: true },
      ]);
    await read(NOW, row(PC, 'pc-7'), row(other, 'pc-8'));
    await read(NOW + HOUR_MS, row(PC), row(other, 'pc-8'));
    expect(
      await db.query('SELECT mac, name, until FROM endpoints WHERE site_id = $1::uuid ORDER BY mac', [
        site.siteId,
      ]),
    ).toEqual([
      { mac: PC, name: null, until: null },
      { mac: other, name: 'pc-8', until: null },
    ]);
  });

  it.each(['Pc-7', 'pc-7.', '', "x'; --", '<b>', 'a'.repeat(254), 'pc\n7'])(
    'attack: %j is no name; its table is a dead letter',
    async (hostname) => {
      const site = await openSite(db);
      const device = asked(access, '10.0.0.1');
      await site.send([
        device,
        table(device, 'fdb', [{ mac: PC, ifIndex: 7, bridgePort: 7, vlan: 10, hostname }]),
      ]);
      const letters = await db.query('SELECT reason FROM dead_letters WHERE site_id = $1::uuid', [
        site.siteId,
      ]);
      expect(letters).toEqual([{ reason: expect.stringContaining('rows.0.hostname') }]);
    },
  );
});
