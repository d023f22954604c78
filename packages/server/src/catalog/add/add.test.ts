import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../accounts/audit.ts';
import { identityActions } from '../../ingest/identity/actions.ts';
import { answered, asked, openSite, type TestSite } from '../../ingest/testing/site.ts';
import type { Database } from '../../platform/db/db.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { asCaller, caller, insert } from '../../testing/rows.ts';
import { catalogHandlers } from '../feature.ts';

afterAll(closeDatabases);

describe.each(databases())('devices that people add, on %s', (_name, open) => {
  let db: Database;
  let site: TestSite;
  let other: TestSite;
  const as = (actor: Actor = caller('operator')) => {
    const clock = {
      now: site.clock.now,
      monotonic: site.clock.now,
      sleep: async () => undefined,
      every: () => () => undefined,
    };
    const recordChanges = async (_sql: unknown, some: readonly TestSite['changes'][number][]) => {
      site.changes.push(...some);
    };
    const identity = {
      ...identityActions({ db, clock, recordChanges }),
      reclassify: async () => undefined,
      strengthOf: () => 'strong' as const,
    };
    const events = { onMonitoringStopped: async () => undefined, onDevicesDeleted: async () => undefined };
    return asCaller(catalogHandlers({ db, clock, identity, events, audit, makerOf: () => null }), actor);
  };
  const audited = async () =>
    (await db.query<{ action: string }>('SELECT action FROM audit ORDER BY at, id')).map(
      ({ action }) => action,
    );

  beforeAll(async () => {
    db = await open();
    site = await openSite(db);
    other = await openSite(db);
    await insert(db, 'custom_fields', [
      {
        id: uuidv7(),
        applies_to: 'device',
        name: 'Rack',
        type: 'text',
        choices: [],
        created_at: '2026-01-01',
      },
      {
        id: uuidv7(),
        applies_to: 'device',
        name: 'Units',
        type: 'number',
        choices: [],
        created_at: '2026-01-01',
      },
    ]);
  });

  it('are there before they answer, and discovery finds them as the same and overwrites nothing', async () => {
    const { data } = await as()('devices.create', {
      body: {
        ...{ site: site.siteId, address: '10.0.0.7', name: 'pdu-7', class: 'pdu', monitor: 1 },
        ...{
          tags: ['Hall-2', 'hall-2', 'power'],
          note: 'Behind the ladder',
          fields: { Rack: 'A-17', Units: 2 },
        },
      },
    });
    expect(data).toMatchObject({
      ...{ name: 'pdu-7', class: 'pdu', monitor: 1, status: 'unknown', addresses: ['10.0.0.7'] },
      ...{ tags: ['Hall-2', 'power'], note: 'Behind the ladder', fields: { Rack: 'A-17', Units: 2 } },
    });
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.new']);
    await site.send([answered('10.0.0.7')]);
    await site.send([asked({ sysName: 'apc', macs: ['00:c0:b7:00:00:07'] }, '10.0.0.7')]);
    const found = await as()('devices.list', { query: { site: site.siteId } });
    expect(found.data).toEqual([
      expect.objectContaining({
        id: data.id,
        name: 'pdu-7',
        class: 'pdu',
        sysName: 'apc',
        note: 'Behind the ladder',
      }),
    ]);
    const { origins } = (await as()('devices.get', { params: { id: data.id } })).data;
    const at = Math.floor(site.clock.now() / 1000);
    expect(origins).toMatchObject({
      name: { from: 'person', by: 'ada', at },
      class: { from: 'person', by: 'ada', at },
      'fields.Rack': { from: 'person', by: 'ada', at },
      sysName: { from: 'snmp', by: null, at: null },
    });
    await as()('devices.update', { params: { id: data.id }, body: { name: null, fields: { Units: null } } });
    const after = (await as()('devices.get', { params: { id: data.id } })).data;
    expect([after.name, after.origins.name, after.fields]).toEqual([
      'apc',
      origins.sysName,
      { Rack: 'A-17' },
    ]);
    expect(after.origins).not.toHaveProperty('fields.Units');
  });

  it('are refused where the address is another device’s or no device’s, at a site of others, or a value does not fit', async () => {
    const add = (body: object, actor?: Actor) =>
      as(actor)('devices.create', { body: { site: site.siteId, address: '10.0.9.9', ...body } });
    await expect(add({ address: '10.0.0.7' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(add({ address: '224.0.0.5' })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(add({ address: 'ten' })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(add({ fields: { Units: 'two' } })).rejects.toThrow('fields.Units: must be a number');
    await expect(add({ fields: { rack: 'x' } })).rejects.toThrow('did you mean Rack?');
    await expect(add({}, caller('operator', [other.siteId]))).rejects.toMatchObject({ code: 'forbidden' });
    // The same address at another site is another device.
    expect((await add({ site: other.siteId, address: '10.0.0.7' })).data.siteId).toBe(other.siteId);
  });

  it('come from CSV: a dry run says what the run then does, and the file again does nothing', async () => {
    const csv = [
      'address,name,class,tags,field:Rack,monitor',
      '10.0.0.7,pdu-7,,hall-2;power,B-1,',
      '10.0.1.1,new-1,switch,core,A-1,yes',
      '10.0.1.1,twice,,,,',
      '10.0.1.2,,toaster,,,',
    ].join('\r\n');
    const run = (more: object, actor?: Actor) =>
      as(actor)('devices.import', { body: { csv, site: site.siteId, ...more } });
    const dry = (await run({ dryRun: true })).data;
    expect(dry).toMatchObject({ dryRun: true, created: 1, updated: 1, unchanged: 0, failed: 2 });
    expect(dry.rows).toMatchObject([
      {
        ...{ line: 2, action: 'update', address: '10.0.0.7' },
        changes: [
          { column: 'name', from: 'apc', to: 'pdu-7' },
          { column: 'field:Rack', from: 'A-17', to: 'B-1' },
        ],
      },
      {
        line: 3,
        action: 'create',
        deviceId: null,
        changes: [{ column: 'name', from: null }, {}, {}, {}, {}],
      },
      { line: 4, action: 'error', errors: [{ column: 'address', message: 'line 3 has it already' }] },
      { line: 5, action: 'error', errors: [{ column: 'class' }] },
    ]);
    expect((await as()('devices.list', { query: { Address: '10.0.1.0/24' } })).totalCount).toBe(0);
    const before = (await audited()).length;
    const wet = (await run({})).data;
    const told = ({ deviceId: _, ...row }: Record<string, unknown>) => row;
    expect(wet.rows.map(told)).toEqual(dry.rows.map(told));
    expect((await audited()).slice(before)).toEqual(['device.update', 'device.create']);
    const made = (await as()('devices.list', { query: { Address: '10.0.1.1' } })).data;
    expect(made).toEqual([
      expect.objectContaining({
        name: 'new-1',
        class: 'switch',
        tags: ['core'],
        monitor: 1,
        id: wet.rows[1].deviceId,
      }),
    ]);
    expect((await run({})).data).toMatchObject({ created: 0, updated: 0, unchanged: 2, failed: 2 });
    // Of sites of others it does not even tell that they are there.
    const denied = (await run({ dryRun: true }, caller('operator', [other.siteId]))).data;
    expect(denied).toMatchObject({ created: 0, updated: 0, failed: 4 });
  });

  it('come from CSV once each: a second row of a device by another of its addresses is an error', async () => {
    const box = { sysName: 'two', engineId: '800000090300001b54000077', table: ['10.6.0.1', '10.6.0.2'] };
    await site.send([asked(box, '10.6.0.1'), asked(box, '10.6.0.2')]);
    const csv = 'address,name,tags\n10.6.0.1,one,a\n10.6.0.2,two,b\n10.6.0.3,three,c';
    for (const dryRun of [true, false]) {
      const { data } = await as()('devices.import', { body: { csv, site: site.siteId, dryRun } });
      expect(data).toMatchObject({ created: 1, updated: 1, failed: 1 });
      expect(data.rows[1]).toMatchObject({
        ...{ line: 3, action: 'error', deviceId: null, address: '10.6.0.2', changes: [] },
        errors: [{ column: 'address', message: 'line 2 has another address of the same device' }],
      });
    }
    const { data } = await as()('devices.list', { query: { Address: '10.6.0.0/24' } });
    expect(data.map(({ name, tags }: { name: string; tags: string[] }) => [name, tags])).toEqual([
      ['one', ['a']],
      ['three', ['c']],
    ]);
  });

  it('are told apart by site and keep what they have in many rows', async () => {
    const lines = Array.from(
      { length: 450 },
      (_, i) => `${i % 2 ? site.siteId : other.siteId},10.7.${i % 200}.${i % 250},n-${i}`,
    );
    const { data } = await as()('devices.import', {
      body: { csv: ['site,address,name', ...lines].join('\n') },
    });
    expect(data).toMatchObject({ created: 450, failed: 0 });
    expect(
      (await as()('devices.list', { query: { Address: '10.7.0.0/16', site: other.siteId } })).totalCount,
    ).toBe(225);
  });

  it('that prove to be one keep the tags, the note and the fields of both', async () => {
    const ids: string[] = [];
    for (const body of [
      { address: '10.8.0.1', tags: ['a', 'b'], fields: { Rack: 'one' } },
      { address: '10.8.0.2', tags: ['B', 'c'], note: 'second', fields: { Units: 1 } },
      { address: '10.8.0.3', tags: ['d'], note: 'third' },
      { address: '10.8.0.4', note: 'third' },
    ])
      ids.push((await as()('devices.create', { body: { site: site.siteId, ...body } })).data.id);
    const table = ['10.8.0.1', '10.8.0.2', '10.8.0.3', '10.8.0.4'];
    const box = { sysName: 'r', engineId: '800000090300001b54000042', table };
    await site.send([asked(box, '10.8.0.1'), asked(box, '10.8.0.2')]);
    const { data } = await as()('devices.list', { query: { Address: '10.8.0.0/24' } });
    expect(data).toEqual([
      expect.objectContaining({ tags: ['a', 'b', 'c', 'd'], fields: { Rack: 'one', Units: 1 } }),
    ]);
    expect(data[0].note.split('\n').sort()).toEqual(['second', 'third']);
    expect(ids).toContain(data[0].id);
    expect((await as()('devices.list', { query: { search: 'SECOND', tag: ['C', 'a'] } })).totalCount).toBe(1);
  });
});
