/** Every list in full: each device once, in order, as many as are told, at a size where pages are deep. */

import { catalogHandlers } from '@rollcall/server/catalog/feature';
import type { Database } from '@rollcall/server/platform/db/db';
import { closeDatabases, databases } from '@rollcall/server/testing/database';
import { fillFleet, fleetId } from '@rollcall/server/testing/fleet';
import { asCaller, caller } from '@rollcall/server/testing/rows';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

afterAll(closeDatabases);

const clock = new ManualClock(Date.parse('2026-11-20T11:00:00Z'));

describe.each(databases())('pages of a large list on %s', (_name, open) => {
  let db: Database;
  const unused = () => Promise.reject(new Error('not here'));
  const list = (query: Record<string, string>, actor = caller()) =>
    asCaller(
      catalogHandlers({
        db,
        clock,
        identity: {
          merge: unused,
          split: unused,
          reclassify: unused,
          strengthOf: () => 'strong' as const,
          find: unused,
          findOrAdd: unused,
        },
        events: { onMonitoringStopped: unused, onDevicesDeleted: unused },
        audit: unused,
        makerOf: () => null,
      }),
      actor,
    )('devices.list', { query });

  beforeAll(async () => {
    db = await open();
    await fillFleet(db, { devices: 6_500, interfaces: 1, events: 100, cases: 10 });
    await db.query('ANALYZE');
  });

  it.each<[Record<string, string>, string, string?]>([
    [{}, 'true'],
    [{ sort: '-name' }, 'true', 'name DESC, id DESC'],
    [{ sort: 'vendor' }, 'true', 'vendor, name, id'],
    [{ class: 'switch' }, `class = 'switch'`],
    [
      { class: 'switch,phone,wireless,server,workstation' },
      `class IN ('switch', 'phone', 'wireless', 'server', 'workstation')`,
    ],
    [
      { class: 'switch,phone', sort: '-name', monitor: '1' },
      `class IN ('switch', 'phone') AND monitor`,
      'name DESC, id DESC',
    ],
    [{ class: 'switch,phone', sort: 'address' }, `class IN ('switch', 'phone')`, 'address, id'],
    [{ search: 'software' }, 'true'],
    [{ search: 'software', sort: '-address' }, 'true', 'address DESC, id DESC'],
    [{ search: 'cisco' }, `search_text LIKE '%cisco%'`],
    [{ search: 'switch-0', class: 'switch' }, `search_text LIKE '%switch-0%'`],
    [{ Address: '10.0.0.0/20' }, `address <<= '10.0.0.0/20'`],
    [
      { Address: '172.16.0.0/12', monitor: '1' },
      `monitor AND id IN (SELECT device_id FROM device_addresses WHERE address <<= '172.16.0.0/12')`,
    ],
    [{ collector: 'collector-1' }, `collector_id = (SELECT id FROM collectors WHERE name = 'collector-1')`],
    [{ monitor: '0' }, 'NOT monitor'],
  ])('%j: every device once, in order, and as many as are told', async (query, where, order = 'name, id') => {
    for (const [actor, scope] of [
      [caller(), 'true'],
      [caller('viewer', [fleetId('site', 1)]), `site_id = '${fleetId('site', 1)}'`],
    ] as const) {
      const [truth] = await db.query<{ ids: string[] | null }>(
        `SELECT array_agg(id ORDER BY ${order}) AS ids FROM devices WHERE (${where}) AND ${scope}`,
      );
      const ids: string[] = [];
      for (let page = 1; ; page++) {
        const { data, totalCount } = await list({ ...query, page: String(page), pageSize: '997' }, actor);
        expect(totalCount).toBe(truth?.ids?.length ?? 0);
        if (data.length === 0) break;
        ids.push(...data.map((device: { id: string }) => device.id));
      }
      expect(ids).toEqual(truth?.ids ?? []);
    }
  });
});
