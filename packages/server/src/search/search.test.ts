import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../testing/rows.ts';
import { searchHandlers } from './feature.ts';

afterAll(closeDatabases);

const MAC = '00:1b:54:3c:9d:f8';

describe.each(databases())('search over everything on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let other: string;

  beforeAll(async () => {
    db = await open();
    site = await addSite(db, 'a');
    other = await addSite(db, 'b');
    const [core = ''] = await addDevices(db, [
      { site_id: site, name: 'core-1', address: '10.0.0.1', vendor: 'Cisco', serial_number: 'FCW1929B68S' },
      { site_id: site, name: 'old core-1', address: '10.0.0.2' },
      { site_id: other, name: 'core-1', address: '10.0.0.1' },
      { site_id: site, name: 'r1' },
      { site_id: site, name: 'r10' },
    ]);
    await db.query(
      `UPDATE devices SET search_text = search_text || E'\\nfcw1929b68s\\n${MAC}' WHERE id = $1`,
      [core],
    );
    await db.query('UPDATE device_addresses SET if_index = 7 WHERE device_id = $1', [core]);
    const seen = { first_seen: SEEN, last_seen: SEEN };
    await insert(db, 'evidence', [{ site_id: site, kind: 'mac', value: MAC, device_id: core, ...seen }]);
    await insert(db, 'interfaces', [
      {
        ...{
          site_id: site,
          device_id: core,
          id: uuidv7(),
          if_index: 7,
          name: 'Vlan10',
          alias: 'Users, floor 3',
        },
        ...{ mac_address: MAC, ...seen },
      },
      ...['GigabitEthernet1/0/1', 'GigabitEthernet1/0/12', 'TenGigabitEthernet1/0/12', 'Slot 1 Port 2'].map(
        (name, n) => ({
          ...{ site_id: site, device_id: core, id: uuidv7(), if_index: 100 + n, name, ...seen },
        }),
      ),
    ]);
    await insert(db, 'entities', [
      { site_id: site, device_id: core, index: 3, class: 'module', serial: 'JAE2230077X', ...seen },
    ]);
    await insert(db, 'cases', [
      {
        ...{
          site_id: site,
          id: uuidv7(),
          number: 42,
          title: 'core-1 does not answer',
          description: '',
          tags: [],
        },
        ...{ status: 0, severity: 1, priority: 1, created_at: SEEN, updated_at: SEEN },
        search_text: 'core-1 does not answer',
      },
    ]);
  });

  const phone = {
    ...{
      siteId: '',
      site: 'a',
      mac: '02:00:00:00:00:77',
      name: 'phone-7',
      maker: null,
      addresses: ['10.0.0.77'],
    },
    ports: [{ deviceId: uuidv7(), device: 'access-1', interfaceId: null, port: 'Gi1/0/7' }],
  };
  const ask = async (q: string, sites: string[] | 'all' = 'all') => {
    const findEndpoints = async (text: string) => (text === '10.0.0.77' ? [{ ...phone, siteId: site }] : []);
    const { data } = await asCaller(searchHandlers({ db, findEndpoints }), caller('viewer', sites))(
      'search.get',
      {
        query: { q },
      },
    );
    return data;
  };
  const titles = async (...call: Parameters<typeof ask>) =>
    (await ask(...call)).hits.map(
      ({ kind, title, site }: Record<string, string>) => `${kind} ${title} (${site})`,
    );

  it.each([
    [
      'a name, the closest first',
      'core-1',
      [
        'device core-1 (a)',
        'device core-1 (b)',
        'device old core-1 (a)',
        'case #42 core-1 does not answer (a)',
      ],
    ],
    ['an address', '10.0.0.2', ['device old core-1 (a)']],
    [
      'the address of an interface',
      '10.0.0.1',
      ['device core-1 (a)', 'device core-1 (b)', 'interface core-1 Vlan10 (a)'],
    ],
    ['a hardware address', '001B.543C.9DF8', ['device core-1 (a)', 'interface core-1 Vlan10 (a)']],
    ['a part of it that begins within an octet', 'c9-df8', ['device core-1 (a)']],
    ['a part of a serial number', '1929b6', ['device core-1 (a)']],
    ['a part of the serial number of a module', 'e22300', ['device core-1 (a)']],
    ['a device and its port', 'core-1 GigabitEthernet1/0/12', ['interface core-1 GigabitEthernet1/0/12 (a)']],
    ['a device and its port in short', 'CORE-1 gi1/0/12', ['interface core-1 GigabitEthernet1/0/12 (a)']],
    ['a port whose name has blanks', 'core-1 slot 1 port 2', ['interface core-1 Slot 1 Port 2 (a)']],
    ['what stands on an interface', 'floor 3', ['interface core-1 Vlan10 (a)']],
    ['the number of a case', '#42', ['case #42 core-1 does not answer (a)']],
    ['an endpoint', '10.0.0.77', ['endpoint phone-7 (02:00:00:00:00:77) (a)']],
    ['nothing', '100%', []],
    // A device that is called so; of what only has it within an index finds nothing.
    ['two characters', 'R1', ['device r1 (a)']],
  ])('finds by %s', async (_what, q, expected) => {
    expect((await titles(q)).sort()).toEqual([...expected].sort());
    expect((await titles(q))[0]).toBe(expected[0]);
  });

  it.each(['00:1', '001', '1b5'])('looks for no device by %s: too few digits of an address', async (q) => {
    const texts: unknown[] = [];
    const spied: Database = {
      ...db,
      query: (text, params = [], kept) => {
        texts.push(...params);
        return db.query(text, params, kept);
      },
    };
    await asCaller(searchHandlers({ db: spied, findEndpoints: async () => [] }), caller('viewer', 'all'))(
      'search.get',
      { query: { q } },
    );
    expect(texts).toContain(`%${q}%`);
    expect(
      texts.filter((text) => /^%[0-9a-f]?(:?[0-9a-f])+%$/.test(String(text)) && text !== `%${q}%`),
    ).toEqual([]);
  });

  it('tells where an endpoint is plugged in', async () => {
    expect((await ask('10.0.0.77')).hits).toMatchObject([{ detail: 'access-1 Gi1/0/7 · 10.0.0.77 · a' }]);
  });

  it('tells nothing of other sites', async () => {
    expect(await titles('core-1', [other])).toEqual(['device core-1 (b)']);
    expect(await titles('floor 3', [other])).toEqual([]);
    expect(await titles('#42', [other])).toEqual([]);
  });

  it('says of which kind there are more', async () => {
    await addDevices(
      db,
      Array.from({ length: 9 }, (_, i) => ({ site_id: site, name: `printer-${i}` })),
    );
    const { hits, more } = await ask('printer');
    expect(hits).toHaveLength(6);
    expect(more).toEqual(['device']);
  });
});
