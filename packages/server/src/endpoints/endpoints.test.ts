import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, insert } from '../testing/rows.ts';
import { placesOf } from './read.ts';

afterAll(closeDatabases);

const HOST = '02:00:00:00:00:aa';
const ACCESS = '00:1b:54:00:00:02';
const AT = '2026-11-20T12:00:00Z';

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
      row(access, HOST, 6, { since: '2026-11-19T12:00:00Z', until: AT }),
    ]);
    await insert(db, 'evidence', [
      {
        ...{ site_id: site, kind: 'mac', value: ACCESS, device_id: access },
        ...{ first_seen: AT, last_seen: AT },
      },
    ]);
    await insert(
      db,
      'device_facts',
      [core, access].map((device_id) => ({
        ...{ site_id: site, device_id, group: 'fdb', data: '[]', hash: '', seen_at: AT },
      })),
    );
    await insert(db, 'interfaces', [
      {
        ...{ site_id: site, device_id: access, id: uuidv7(), if_index: 7, name: 'Gi1/0/7' },
        ...{ first_seen: AT, last_seen: AT },
      },
    ]);
  });

  it('names the port that leads to no other bridge, and where it was before', async () => {
    const [found, ...rest] = await placesOf(db, HOST, null);
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ site: 'a', locallyAdministered: 1, owner: null, addresses: ['10.0.0.9'] });
    expect(found?.placement).toMatchObject({
      verdict: 'placed',
      ports: [{ deviceId: access, device: 'access', ifIndex: 7, port: 'Gi1/0/7', others: 1 }],
    });
    expect(found?.sightings).toHaveLength(4);
    const until = Date.parse(AT) / 1000;
    expect(found?.sightings.at(-1)).toMatchObject({ ifIndex: 6, vlan: 10, until, since: until - 86_400 });
    expect(found?.sightings.find(({ address }) => address)).toMatchObject({ vlan: null, ifIndex: 3 });
  });

  it('says which device of ours has the address', async () => {
    const [found] = await placesOf(db, ACCESS, [site]);
    expect(found).toMatchObject({ owner: { deviceId: access, name: 'access' }, locallyAdministered: 0 });
    expect(found?.placement).toMatchObject({ verdict: 'unknown', ports: [] });
  });

  it('tells nothing of other sites', async () => {
    expect(await placesOf(db, HOST, [other])).toEqual([]);
    expect(await placesOf(db, HOST, [])).toEqual([]);
  });
});
