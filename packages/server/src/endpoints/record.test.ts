import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { openLog } from '../platform/ops/log.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addDevices, addSite, insert } from '../testing/rows.ts';
import { recordEndpointChanges } from './record.ts';

afterAll(closeDatabases);

const log = openLog({ logLevel: 'silent' });
const MAC = '02:00:00:00:00:aa';
const T = Date.parse('2026-11-20T12:00:00Z');
const MINUTE_MS = 60_000;
const time = (minutes: number) => new Date(T + minutes * MINUTE_MS).toISOString();

describe.each(databases())('changes of endpoints on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let ids: Record<string, string>;
  let collector: string;
  const clock = new ManualClock(T);

  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await db.query('DELETE FROM devices');
    site = await addSite(db, uuidv7());
    collector = await addCollector(db, site, 'north');
    const names = ['core', 'a', 'b'];
    const made = await addDevices(
      db,
      names.map((name) => ({ site_id: site, name, collector_id: collector })),
    );
    ids = Object.fromEntries(names.map((name, i) => [name, made[i] ?? '']));
    clock.set(T);
  });

  const learns = (device: string, if_index: number, minutes: number, more: object = {}) =>
    insert(db, 'endpoints', [
      {
        ...{ site_id: site, device_id: ids[device], mac: MAC, if_index, vlan: 10, address: '' },
        ...{ since: time(minutes), ...more },
      },
    ]);
  const forgets = (device: string, if_index: number, minutes: number) =>
    db.query(
      `UPDATE endpoints SET until = $3 WHERE device_id = $1::uuid AND if_index = $2 AND until IS NULL`,
      [ids[device], if_index, time(minutes)],
    );
  /** What is written down by a round at a time: `kind from > to minute`. */
  async function told(minutes: number): Promise<string[]> {
    clock.set(T + minutes * MINUTE_MS);
    await db.query('DELETE FROM endpoint_changes');
    const written = await recordEndpointChanges({ db, clock, log });
    const rows = await db.query<{ kind: string; before: Side; after: Side; at: Date; collector: string }>(
      'SELECT kind, before, after, at, collector_id AS collector FROM endpoint_changes WHERE site_id = $1::uuid ORDER BY at',
      [site],
    );
    expect(rows).toHaveLength(written);
    return rows.map(({ kind, before, after, at }) =>
      [
        kind.slice('endpoint.'.length),
        portsOf(before),
        '>',
        portsOf(after),
        (at.getTime() - T) / MINUTE_MS,
      ].join(' '),
    );
  }
  interface Side {
    ports?: { device: string; ifIndex: number }[];
  }
  const portsOf = ({ ports = [] }: Side) =>
    ports.map(({ device, ifIndex }) => `${device}${ifIndex}`).join('|') || '-';
  const linked = (device: string, if_index: number, to: string) =>
    insert(db, 'neighbours', [
      {
        ...{
          site_id: site,
          device_id: ids[device],
          protocol: 'lldp',
          key: `${if_index}`,
          if_index,
          addresses: [],
        },
        ...{ remote_device_id: ids[to], first_seen: time(0), last_seen: time(0) },
      },
    ]);

  it('tell where one came, to where it moved and when it went, each once, by the collector that reads the switch', async () => {
    await learns('a', 1, 0);
    expect(await told(0)).toEqual([]);
    expect(await told(1)).toEqual(['added - > a1 0']);
    expect(await told(2)).toEqual([]);
    await learns('b', 2, 30);
    // Both have it: it may be at either.
    expect(await told(31)).toEqual([]);
    await forgets('a', 1, 35);
    expect(await told(36)).toEqual(['moved a1 > b2 30']);
    const [{ found } = { found: '' }] = await db.query<{ found: string }>(
      'SELECT collector_id AS found FROM endpoint_changes',
    );
    expect(found).toBe(collector);
    await forgets('b', 2, 50);
    expect(await told(60)).toEqual([]);
    expect(await told(109)).toEqual([]);
    expect(await told(111)).toEqual(['removed b2 > - 50']);
    expect(await told(300)).toEqual([]);
    await learns('b', 2, 400);
    expect(await told(401)).toEqual(['added - > b2 400']);
    await forgets('b', 2, 410);
    expect(await told(471)).toEqual(['removed b2 > - 410']);
    await learns('a', 7, 500);
    expect(await told(501)).toEqual(['moved b2 > a7 500']);
  });

  it('judge an address again for what says where it is, not for its name', async () => {
    const other = '02:00:00:00:00:bb';
    await learns('a', 1, 0, { address: '10.0.0.7' });
    await learns('a', 2, 0, { address: '10.0.0.8', mac: other });
    await told(1);
    const due = async () =>
      (await db.query<{ mac: string }>('SELECT mac FROM endpoint_macs WHERE due_at IS NOT NULL')).map(
        ({ mac }) => mac,
      );
    expect(await due()).toEqual([]);
    await db.query(`UPDATE endpoints SET name = 'printer.example.net'`);
    expect(await due()).toEqual([]);
    // As ingest does it: some are told anew, others are there again.
    await db.query(
      `UPDATE endpoints SET name = 'desk.example.net', resumed_at = CASE WHEN mac = $1 THEN $2::timestamptz END`,
      [other, time(20)],
    );
    expect(await due()).toEqual([other]);
    await told(21);
    await db.query('UPDATE endpoints SET if_index = 9 WHERE mac = $1', [MAC]);
    expect(await due()).toEqual([MAC]);
  });

  it('tell no move where a port is only better known: a link, a switch that is read at last, a port of an aggregate', async () => {
    await learns('core', 50, 0);
    expect(await told(1)).toEqual(['added - > core50 0']);
    await learns('a', 1, 15);
    await linked('core', 50, 'a');
    expect(await told(16)).toEqual([]);
    await forgets('a', 1, 20);
    await learns('a', 2, 20);
    expect(await told(21)).toEqual(['moved a1 > a2 20']);
    await insert(db, 'interfaces', [
      {
        ...{ site_id: site, device_id: ids.a, id: ids.a, if_index: 2, name: 'Gi2', type: 6, aggregate: 9 },
        ...{ aggregate_active: true, first_seen: time(0), last_seen: time(0) },
      },
    ]);
    await forgets('a', 2, 40);
    await learns('a', 9, 40);
    expect(await told(41)).toEqual([]);
  });

  it('tell no move of a cable to each of two switches, whichever has just forgotten the address', async () => {
    await learns('a', 1, 0);
    await learns('b', 2, 0);
    expect(await told(1)).toEqual(['added - > a1|b2 0']);
    await forgets('a', 1, 300);
    expect(await told(301)).toEqual([]);
    await learns('a', 1, 310);
    await forgets('b', 2, 400);
    expect(await told(401)).toEqual([]);
  });

  it('tell a move back within the hour, in which its interval goes on', async () => {
    await learns('b', 2, 0);
    expect(await told(1)).toEqual(['added - > b2 0']);
    await learns('a', 1, 600);
    await forgets('b', 2, 602);
    expect(await told(610)).toEqual(['moved b2 > a1 600']);
    await db.query(
      'UPDATE endpoints SET until = NULL, resumed_at = $2 WHERE device_id = $1::uuid AND if_index = 2',
      [ids.b, time(640)],
    );
    await forgets('a', 1, 645);
    expect(await told(650)).toEqual(['moved a1 > b2 640']);
  });

  it('tell that one went with the switch that was deleted', async () => {
    await learns('core', 1, 0);
    await learns('a', 1, 0);
    await told(1);
    await forgets('core', 1, 5);
    await told(6);
    await db.query('DELETE FROM devices WHERE id = $1::uuid', [ids.a]);
    expect(await told(70)).toEqual(['removed a1|core1 > - 5']);
  });

  it('of one site are written although those of another cannot be, which are tried again', async () => {
    const broken = await addSite(db, uuidv7());
    const [device] = await addDevices(db, [{ site_id: broken, name: 'c' }]);
    await insert(db, 'endpoints', [
      {
        ...{ site_id: broken, device_id: device, mac: MAC, if_index: 1, vlan: 10, address: '' },
        ...{ since: time(0) },
      },
    ]);
    await db.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.site_id = '${broken}' THEN RAISE EXCEPTION 'broken'; END IF; RETURN NEW; END $$`);
    await db.query(
      'CREATE TRIGGER refuse BEFORE INSERT ON endpoint_changes FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    await learns('a', 1, 0);
    await db.query('DELETE FROM endpoint_changes');
    clock.set(T + 2 * MINUTE_MS);
    await expect(recordEndpointChanges({ db, clock, log })).rejects.toThrow('of 1 site');
    const written = async () =>
      (await db.query<{ site: string }>('SELECT site_id AS site FROM endpoint_changes')).map(
        (row) => row.site,
      );
    expect(await written()).toEqual([site]);
    await db.query('DROP TRIGGER refuse ON endpoint_changes');
    clock.set(T + 5 * MINUTE_MS);
    expect(await recordEndpointChanges({ db, clock, log })).toBe(0);
    clock.set(T + 15 * MINUTE_MS);
    expect(await recordEndpointChanges({ db, clock, log })).toBe(1);
    expect((await written()).sort()).toEqual([site, broken].sort());
  });

  it('tell no move from a device that was deleted, and nothing of devices of the inventory', async () => {
    await learns('a', 1, 0);
    expect(await told(1)).toEqual(['added - > a1 0']);
    await db.query('DELETE FROM devices WHERE id = $1::uuid', [ids.a]);
    await learns('b', 2, 10);
    // Nothing was left of it: it is as new.
    expect(await told(11)).toEqual(['added - > b2 10']);
    await insert(db, 'evidence', [
      {
        ...{ site_id: site, kind: 'mac', value: '02:00:00:00:00:bb', device_id: ids.core },
        ...{ first_seen: time(0), last_seen: time(0) },
      },
    ]);
    await learns('b', 3, 20, { mac: '02:00:00:00:00:bb' });
    expect(await told(21)).toEqual([]);
  });
});
