import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAKERS } from '../data.ts';
import type { Database } from '../platform/db/db.ts';
import { compactTallies } from '../platform/db/tally.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../testing/rows.ts';
import { endpointHandlers } from './feature.ts';
import { readIdentities } from './identity.ts';
import { findEndpoints } from './list.ts';
import { openMakers } from './makers.ts';

afterAll(closeDatabases);

const HOST = '02:00:00:00:00:aa';
const ACCESS = '00:1b:54:00:00:02';
const PHONE = '00:1b:54:00:00:77';
const AT = '2026-11-20T12:00:00Z';
const T = Date.parse(AT) / 1000;
const DAY = 86_400;
const GI7 = uuidv7();
const makers = openMakers(MAKERS);
const clock = new ManualClock(T * 1000);

describe.each(databases())('places of an address on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let other: string;
  let core: string;
  let access: string;

  beforeAll(async () => {
    db = await open();
    site = await addSite(db, 'a');
    other = await addSite(db, 'b');
    [core = '', access = ''] = await addDevices(db, [
      { site_id: site, name: 'core' },
      { site_id: site, name: 'access' },
    ]);
    const row = (device_id: string, mac: string, if_index: number, more = {}) => ({
      ...{ site_id: site, device_id, mac, if_index, vlan: 10, address: '', since: AT, ...more },
    });
    await insert(db, 'endpoints', [
      row(core, HOST, 50),
      row(core, ACCESS, 50),
      row(core, HOST, 3, { vlan: 0, address: '10.0.0.9' }),
      row(access, HOST, 7),
      row(access, '00:00:5e:00:00:01', 7),
      row(access, PHONE, 7, { vlan: 20 }),
      row(access, HOST, 6, { since: '2026-11-19T12:00:00Z', until: AT }),
    ]);
    await insert(db, 'neighbours', [
      {
        ...{ site_id: site, device_id: access, protocol: 'lldp', key: 'k', if_index: 7, addresses: [] },
        ...{
          chassis_id: 'networkAddress:10.0.0.77',
          port_id: PHONE,
          sys_name: 'phone-7',
          capabilities: ['bridge', 'phone'],
        },
        ...{ first_seen: AT, last_seen: AT },
      },
    ]);
    await insert(db, 'evidence', [
      {
        ...{ site_id: site, kind: 'mac', value: ACCESS, device_id: access },
        ...{ first_seen: AT, last_seen: AT },
      },
    ]);
    await insert(db, 'interfaces', [
      {
        ...{ site_id: site, device_id: access, id: GI7, if_index: 7, name: 'Gi1/0/7' },
        ...{ first_seen: AT, last_seen: AT },
      },
    ]);
  });

  /** What a caller that sees these sites is answered. */
  const ask = (
    id: 'endpoints.list' | 'endpoints.get' | 'interfaces.endpoints',
    request: object,
    sites = [site],
  ) => asCaller(endpointHandlers({ db, makers, clock }), caller('viewer', sites))(id, request);
  const placesOf = async (mac: string) => (await ask('endpoints.get', { params: { mac } })).data;
  const macs = async (query: object) => {
    const { data, totalCount } = await ask('endpoints.list', { query });
    expect(totalCount).toBe(data.length);
    return data.map(({ mac }: { mac: string }) => mac);
  };

  it('names the port that leads to no other bridge, and where it was before', async () => {
    const [found, ...rest] = await placesOf(HOST);
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ site: 'a', locallyAdministered: 1, maker: null, addresses: ['10.0.0.9'] });
    expect(found).toMatchObject({ firstSeen: T - DAY, lastSeen: null });
    expect(found?.placement).toMatchObject({
      verdict: 'placed',
      ports: [{ deviceId: access, device: 'access', ifIndex: 7, port: 'Gi1/0/7', others: 2 }],
    });
    expect(found.places).toMatchObject([
      { from: T, to: null, verdict: 'placed', ports: [{ device: 'access', ifIndex: 7 }] },
      { from: T - DAY, to: T, verdict: 'placed', ports: [{ device: 'access', ifIndex: 6 }] },
    ]);
    expect(found?.sightings).toHaveLength(4);
    expect(found?.sightings.at(-1)).toMatchObject({ ifIndex: 6, vlan: 10, until: T, since: T - DAY });
    expect(found?.sightings.find(({ address }: { address: string }) => address)).toMatchObject({
      ...{ vlan: null, ifIndex: 3 },
    });
  });

  it('finds what calls itself so by LLDP, a part of the name, within the sites that the caller sees', async () => {
    const found = async (text: string, scope: string[] | null = null) =>
      (await findEndpoints(db, text, { scope, most: 7, makers, now: T })).map(({ mac, name }) => [mac, name]);
    expect(await found('HONE-7')).toEqual([[PHONE, 'phone-7']]);
    expect(await found('phone-8')).toEqual([]);
    expect(await found('phone-7', [other])).toEqual([]);
  });

  describe('with names by reverse DNS', () => {
    const HEX = '02:00:00:00:00:ca';
    const entry = (mac: string, address: string, name: string | null, more = {}) => ({
      ...{ site_id: site, device_id: core, mac, if_index: 3, vlan: 0, address, name, since: AT, ...more },
    });
    beforeAll(async () => {
      await insert(db, 'endpoints', [
        entry(PHONE, '10.0.0.77', 'dhcp-phone-77.example.net'),
        entry(HEX, '10.0.0.50', 'cafe-1.example.net'),
        entry(HEX, '10.0.0.51', 'cafe-2.example.net', { since: '2026-11-20T13:00:00Z' }),
        entry(HEX, '', 'a-cafe', { if_index: 7, since: '2026-11-20T15:00:00Z' }),
        entry(HEX, '10.0.0.52', null, { since: '2026-11-20T14:00:00Z' }),
        entry(HEX, '10.0.0.49', 'old.example.net', { since: '2026-11-01T12:00:00Z', until: AT }),
      ]);
    });
    afterAll(async () => {
      await db.query(`DELETE FROM endpoints WHERE mac = $1 OR mac = $2 AND address <> ''`, [HEX, PHONE]);
    });

    it('goes by the latest of them where LLDP tells none, by DHCP only where DNS has none, and says so', async () => {
      const { data } = await ask('endpoints.list', { query: { mac: HEX } });
      expect(data).toMatchObject([{ name: 'cafe-2.example.net', nameFrom: 'dns', owner: null }]);
      const before = await ask('endpoints.list', { query: { mac: HEX, at: `${T - 1}` } });
      expect(before.data).toMatchObject([{ name: 'old.example.net', nameFrom: 'dns' }]);
      const [place] = await placesOf(HEX);
      expect(place).toMatchObject({ name: 'cafe-2.example.net', nameFrom: 'dns' });
      expect(
        place.sightings.map((one: Record<string, string>) => [one.address, one.name, one.nameFrom]),
      ).toEqual([
        [null, 'a-cafe', 'dhcp'],
        ['10.0.0.52', null, null],
        ['10.0.0.51', 'cafe-2.example.net', 'dns'],
        ['10.0.0.50', 'cafe-1.example.net', 'dns'],
        ['10.0.0.49', 'old.example.net', 'dns'],
      ]);
      expect((await placesOf(PHONE))[0]).toMatchObject({ name: 'phone-7', nameFrom: 'lldp' });
      expect((await placesOf(ACCESS))[0]).toMatchObject({ name: 'access', nameFrom: 'device' });
      expect((await placesOf(HOST))[0]).toMatchObject({ name: null, nameFrom: null });
    });

    it('finds a part of a name once, whichever it is of, within the sites that the caller sees', async () => {
      const found = async (text: string, scope: string[] | null = null) =>
        (await findEndpoints(db, text, { scope, most: 7, makers, now: T })).map(({ mac }) => mac);
      for (const ways of [found, async (search: string) => macs({ search })]) {
        expect(await ways('AFE-2.Exam')).toEqual([HEX]);
        expect(await ways('example.net')).toEqual([PHONE, HEX]);
        expect(await ways('phone-7')).toEqual([PHONE]);
        expect(await ways('afe_2')).toEqual([]);
      }
      expect(await found('cafe-2', [other])).toEqual([]);
      expect((await ask('endpoints.list', { query: { search: 'cafe-2' } }, [other])).data).toEqual([]);
    });

    it('lists all of a name that is a vendor too, however many there are', async () => {
      const count = async () =>
        (await ask('endpoints.list', { query: { search: 'Cisco', pageSize: '1' } })).totalCount;
      expect(await count(), 'by their vendor').toBe(2);
      for (const [most, many] of [
        [3, 5],
        [1100, 1102],
      ]) {
        await db.query(
          `INSERT INTO endpoints (site_id, mac, device_id, if_index, vlan, address, name, since)
           SELECT $1::uuid, '02:00:00:03:' || regexp_replace(lpad(to_hex(n), 4, '0'), '(..)(..)', '\\1:\\2'), $2::uuid, 3, 0,
             host('10.3.0.0'::inet + n), 'cisco-' || n || '.example.net', $3::timestamptz
           FROM generate_series(1, $4::int) n ON CONFLICT DO NOTHING`,
          [site, core, AT, most],
        );
        expect(await count()).toBe(many);
      }
      await db.query(`DELETE FROM endpoints WHERE mac LIKE '02:00:00:03:%'`);
    });

    it.each<[string, object, string[]]>([
      ['digits of a MAC address, a vendor and a name', { search: '0ca' }, [HEX]],
      ['a name that one has now', { search: 'cafe-1', current: '1' }, [HEX]],
      ['a name that none has now', { search: 'old.ex', current: '1' }, []],
      ['a name at a time before', { search: 'old.ex', at: `${T - 1}` }, [HEX]],
      ['a name before it was there', { search: 'cafe-1', at: `${T - 1}` }, []],
    ])('lists by %s', async (_what, query, expected) => {
      expect(await macs(query)).toEqual(expected);
    });
  });

  it('finds by the beginning of a hardware address, a part of it and the beginning of an IP address', async () => {
    const found = async (text: string, scope: string[] | null = null) =>
      (await findEndpoints(db, text, { scope, most: 7, makers, now: T })).map(({ mac }) => mac);
    expect(await found('00-1B-54-0')).toEqual([ACCESS, PHONE]);
    expect(await found('1b54')).toEqual([ACCESS, PHONE]);
    // Begins one and is within another.
    expect(await found('0000')).toEqual(['00:00:5e:00:00:01', ACCESS, PHONE, HOST]);
    expect(await found('0200.0000')).toEqual([HOST]);
    expect(await found('0200.0000.00aa')).toEqual([HOST]);
    expect(await found('10.0.0.')).toEqual([HOST]);
    expect(await found('02:00:00:00:00:0')).toEqual([]);
    for (const text of ['00:1b', '1b54', '10.0.0.']) expect(await found(text, [other])).toEqual([]);
  });

  it('puts the one with exactly this IP address first, however many addresses begin so', async () => {
    const wide = await addSite(db, 'wide');
    const [sw = ''] = await addDevices(db, [{ site_id: wide, name: 'wide' }]);
    const row = (n: number, address: string) => ({
      ...{ site_id: wide, device_id: sw, if_index: 1, vlan: 0, address, since: AT },
      mac: `02:00:00:01:${[n >> 8, n & 255].map((octet) => octet.toString(16).padStart(2, '0')).join(':')}`,
    });
    // One has left, and has the highest hardware address: by time and address it would come last.
    const hosts = Array.from({ length: 1100 }, (_, n) => row(n, `10.9.1.1${n}`));
    await insert(db, 'endpoints', [...hosts, { ...row(2000, '10.9.1.1'), until: AT }]);
    const found = async (text: string) =>
      (await findEndpoints(db, text, { scope: [wide], most: 2, makers, now: T })).map(({ mac }) => mac);
    expect(await found('10.9.1.1')).toEqual([row(2000, '').mac, row(0, '').mac]);
    // As people write it; tables have it in short.
    await insert(db, 'endpoints', [row(2001, '2001:db8::7')]);
    expect(await found('2001:DB8:0::7')).toEqual([row(2001, '').mac]);
    await db.query('DELETE FROM devices WHERE id = $1', [sw]);
  });

  it('asks the index for the last digits of a long part, and finds what has all of it', async () => {
    const params: unknown[] = [];
    const spied: Database = {
      ...db,
      query: (text, values = [], kept) => {
        params.push(...values);
        return db.query(text, values, kept);
      },
    };
    const found = async (text: string) =>
      (await findEndpoints(spied, text, { scope: null, most: 7, makers, now: T })).map(({ mac }) => mac);
    expect(await found('1b54.0000.77')).toEqual([PHONE]);
    expect(params).toContain('%000077%');
    expect(await found('1b55.0000.77')).toEqual([]);
    expect(await macs({ mac: '1b-54-00-00' })).toEqual([ACCESS, PHONE]);
    expect(await macs({ mac: '1c-54-00-00' })).toEqual([]);
  });

  it('looks for a part within addresses only where few begin with it', async () => {
    const many = await addSite(db, 'many');
    const [sw = ''] = await addDevices(db, [{ site_id: many, name: 'many' }]);
    const row = (mac: string) => ({ site_id: many, device_id: sw, mac, if_index: 1, vlan: 0, address: '' });
    const begun = Array.from({ length: 200 }, (_, i) => `ab:cd:ef:00:01:${(i + 16).toString(16)}`);
    const rows = [...begun.slice(1), '02:00:00:ab:cd:ef'].map((mac) => ({ ...row(mac), since: AT }));
    await insert(db, 'endpoints', rows);
    const found = async () =>
      (await findEndpoints(db, 'abcdef', { scope: [many], most: 300, makers, now: T })).map(({ mac }) => mac);
    expect(await found()).toContain('02:00:00:ab:cd:ef');
    await insert(db, 'endpoints', [{ ...row(begun[0] ?? ''), since: AT }]);
    expect(await found()).toEqual(begun);
    await db.query('DELETE FROM devices WHERE id = $1', [sw]);
  });

  it('counts as many as there are, whatever comes and goes', async () => {
    const brief = await addSite(db, 'brief');
    const [sw = ''] = await addDevices(db, [{ site_id: brief, name: 'brief' }]);
    const macs = ['02:00:00:00:01:01', '02:00:00:00:01:02', '02:00:00:00:01:03'];
    const rows = macs.map((mac) => ({
      site_id: brief,
      device_id: sw,
      mac,
      if_index: 1,
      vlan: 0,
      address: '',
    }));
    const total = async () => (await ask('endpoints.list', { query: { pageSize: '1' } }, [brief])).totalCount;
    await insert(
      db,
      'endpoints',
      rows.map((row) => ({ ...row, since: AT })),
    );
    expect(await total()).toBe(3);
    // Known already: counted once.
    await insert(db, 'endpoints', [{ ...rows[0], if_index: 2, since: AT }]);
    expect(await total()).toBe(3);
    await db.query('DELETE FROM endpoints WHERE mac = $1', [macs[1]]);
    expect(await total()).toBe(2);
    await compactTallies(db);
    expect(await total()).toBe(2);
    await db.query('DELETE FROM devices WHERE id = $1', [sw]);
    expect(await total()).toBe(0);
  });

  it('says which device of ours has the address', async () => {
    const [found] = await placesOf(ACCESS);
    expect(found).toMatchObject({ owner: { deviceId: access, name: 'access' }, locallyAdministered: 0 });
    expect(found).toMatchObject({ name: 'access', maker: 'Cisco Systems' });
    // Behind the port is the bridge that has the address, and no other.
    expect(found?.placement).toMatchObject({ verdict: 'placed', ports: [{ device: 'core', ifIndex: 50 }] });
  });

  it('says what stands at the port by its capabilities: a phone, and what is behind it', async () => {
    const reasonOf = async (mac: string) => (await placesOf(mac))[0]?.placement.reason;
    expect(await reasonOf(PHONE)).toMatch(
      /; it is the phone phone-7 itself, .*, and 2 other addresses are behind it$/,
    );
    expect(await reasonOf(HOST)).toMatch(/; it is behind the phone phone-7, /);
  });

  it('names a pair of linked switches with an aggregate each, and takes an aggregate and its members for one place', async () => {
    const mac = '02:00:00:00:00:dd';
    const ids = await addDevices(db, [
      { site_id: site, name: 'pair-a' },
      { site_id: site, name: 'pair-b' },
    ]);
    const [a = '', b = ''] = ids;
    const seen = { first_seen: AT, last_seen: AT };
    const lag = (device_id: string) => ({
      site_id: site,
      device_id,
      id: uuidv7(),
      if_index: 50,
      name: 'Po50',
      type: 161,
      ...seen,
    });
    await insert(db, 'interfaces', [
      ...ids.map(lag),
      { ...lag(a), id: uuidv7(), if_index: 1, name: 'Gi1', type: 6, aggregate: 50, aggregate_active: true },
    ]);
    const at = (device_id: string, if_index: number) => ({
      ...{ site_id: site, device_id, mac, if_index, vlan: 10, address: '', since: AT },
    });
    await insert(db, 'endpoints', [at(a, 1), at(a, 50)]);
    expect((await placesOf(mac))[0]?.placement).toMatchObject({
      verdict: 'placed',
      ports: [{ device: 'pair-a', ifIndex: 50 }],
    });
    expect((await ask('endpoints.list', { query: { mac } })).data).toMatchObject([
      { verdict: 'placed', ports: [{ ifIndex: 50 }] },
    ]);
    await insert(db, 'endpoints', [at(b, 50)]);
    expect((await placesOf(mac))[0]?.placement.reason).toMatch(/a link between these switches is not known$/);
    await insert(db, 'neighbours', [
      {
        site_id: site,
        device_id: b,
        protocol: 'lldp',
        key: 'peer',
        if_index: 47,
        addresses: [],
        remote_device_id: a,
        ...seen,
      },
    ]);
    expect((await placesOf(mac))[0]?.placement).toMatchObject({
      ...{ verdict: 'alternatives', reason: expect.stringMatching(/\(MLAG\), so both are right$/) },
    });
    await db.query('DELETE FROM devices WHERE id = ANY($1::uuid[])', [ids]);
    await db.query('DELETE FROM endpoints WHERE mac = $1', [mac]);
  });

  it('takes no device for a bridge whose forwarding table is empty', async () => {
    const mac = '02:00:00:00:00:cc';
    const [box = ''] = await addDevices(db, [{ site_id: site, name: 'access-point' }]);
    await insert(db, 'neighbours', [
      {
        ...{ site_id: site, device_id: access, protocol: 'lldp', key: 'ap', if_index: 8, addresses: [] },
        ...{ remote_device_id: box, first_seen: AT, last_seen: AT },
      },
    ]);
    const row = { site_id: site, device_id: access, mac, if_index: 8, vlan: 30, address: '', since: AT };
    await insert(db, 'endpoints', [row]);
    expect((await placesOf(mac))[0]?.placement).toMatchObject({ verdict: 'placed', ports: [{ ifIndex: 8 }] });
    await insert(db, 'endpoints', [{ ...row, device_id: box, mac: '02:00:00:00:00:cd' }]);
    expect((await placesOf(mac))[0]?.placement).toMatchObject({
      ...{ verdict: 'unknown', reason: expect.stringMatching(/access-point$/) },
    });
    await db.query('DELETE FROM devices WHERE id = $1', [box]);
    await db.query('DELETE FROM endpoints WHERE mac = $1', [mac]);
  });

  it('links the device that is known by its IP address alone, unless several have it', async () => {
    const asked = { siteId: site, mac: HOST, owner: null, addresses: ['10.0.0.9'], ports: [] };
    const printer = { ...asked, told: { name: 'printer-9.example.net', nameFrom: 'dns' as const } };
    const unknown = { owner: null, name: 'printer-9.example.net', nameFrom: 'dns' };
    expect(await readIdentities(db, [printer])).toEqual([unknown]);
    const [first] = await addDevices(db, [{ site_id: site, name: 'printer', address: '10.0.0.9' }]);
    expect(await readIdentities(db, [printer])).toMatchObject([
      { owner: { deviceId: first }, name: 'printer', nameFrom: 'device' },
    ]);
    const [second] = await addDevices(db, [{ site_id: site, name: 'another', address: '10.0.0.9' }]);
    expect(await readIdentities(db, [printer])).toEqual([unknown]);
    await db.query('DELETE FROM devices WHERE id = ANY($1::uuid[])', [[first, second]]);
  });

  it('lists each address once, with its port, its name and its maker', async () => {
    const { data } = await ask('endpoints.list', { query: {} });
    expect(data.map(({ mac }: { mac: string }) => mac)).toEqual(['00:00:5e:00:00:01', ACCESS, PHONE, HOST]);
    expect(data[3]).toMatchObject({
      ...{ verdict: 'placed', ports: [{ device: 'access', port: 'Gi1/0/7', interfaceId: GI7 }] },
      ...{ vlans: [10], addresses: ['10.0.0.9'], lastSeen: null, firstSeen: T - DAY },
    });
    expect(data[2]).toMatchObject({ name: 'phone-7', owner: null, maker: 'Cisco Systems' });
    expect(data[1]).toMatchObject({ owner: { name: 'access' }, ports: [{ device: 'core', ifIndex: 50 }] });
  });

  it.each<[string, object, string[]]>([
    ['a part of an address, in any notation', { mac: '5400.0077' }, [PHONE]],
    ['an address, in any notation', { mac: '001B-5400-0077' }, [PHONE]],
    ['the beginning of an IP address', { search: '10.0.' }, [HOST]],
    ['a part of an address in the search', { search: '54:00:00' }, [ACCESS, PHONE]],
    ['the name of a maker', { search: 'cisco sys' }, [ACCESS, PHONE]],
    ['a word that means nothing', { search: 'zzz' }, []],
    ['an IP address', { ip: '10.0.0.9' }, [HOST]],
    ['an IP address at a time before', { ip: '10.0.0.9', at: `${T - 1}` }, []],
    ['a time before', { at: `${T - 1}` }, [HOST]],
    ['a VLAN', { vlan: '20' }, [PHONE]],
  ])('finds by %s', async (_what, query, expected) => {
    expect(await macs(query)).toEqual(expected);
  });

  it('says where an address was at a time', async () => {
    const { data } = await ask('endpoints.list', { query: { at: `${T - 1}` } });
    expect(data).toMatchObject([{ mac: HOST, ports: [{ device: 'access', ifIndex: 6 }] }]);
  });

  it('tells what a port has learnt', async () => {
    const { data } = await ask('interfaces.endpoints', { params: { id: GI7 }, query: {} });
    expect(data.map(({ mac }: { mac: string }) => mac)).toEqual(['00:00:5e:00:00:01', PHONE, HOST]);
    expect(await macs({ device: core, current: '1' })).toEqual([ACCESS, HOST]);
    await expect(ask('interfaces.endpoints', { params: { id: core }, query: {} })).rejects.toThrow(
      /interface/,
    );
  });

  it('tells nothing of other sites', async () => {
    expect((await ask('endpoints.list', { query: {} }, [other])).data).toEqual([]);
    await expect(ask('endpoints.get', { params: { mac: HOST } }, [other])).rejects.toThrow(/endpoint/);
    await expect(ask('interfaces.endpoints', { params: { id: GI7 }, query: {} }, [other])).rejects.toThrow();
  });

  it('knows what is gone, and forgets what no interval has any more', async () => {
    const [gone = ''] = await addDevices(db, [{ site_id: site, name: 'gone' }]);
    const mac = '02:00:00:00:00:bb';
    const row = { site_id: site, device_id: gone, mac, if_index: 1, vlan: 0, address: '', since: AT };
    await insert(db, 'endpoints', [row, { ...row, device_id: core, until: '2026-11-21T12:00:00Z' }]);
    expect(await macs({ mac, current: '1' })).toEqual([mac]);
    await db.query('DELETE FROM devices WHERE id = $1', [gone]);
    expect((await ask('endpoints.list', { query: { mac, current: '0' } })).data).toMatchObject([
      { lastSeen: T + DAY, verdict: 'placed', ports: [{ device: 'core', ifIndex: 1 }] },
    ]);
    await db.query('DELETE FROM endpoints WHERE mac = $1', [mac]);
    expect(await macs({ mac })).toEqual([]);
  });
});
