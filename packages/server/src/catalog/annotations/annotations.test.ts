import { ANNOTATED, CUSTOM_FIELDS_MOST, TAGS_MOST } from '@rollcall/shared/api/annotations';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../accounts/audit.ts';
import { absorbInto } from '../../ingest/tables/save.ts';
import { asked, openSite, port, table } from '../../ingest/testing/site.ts';
import { storedFilters } from '../../platform/db/custom-fields.ts';
import type { Database } from '../../platform/db/db.ts';
import { LIVE_CHANNEL } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { searchAll } from '../../search/search.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../../testing/rows.ts';
import { catalogHandlers } from '../feature.ts';
import { clearValues } from './handlers.ts';

afterAll(closeDatabases);

const clock = new ManualClock(Date.parse('2026-11-20T11:00:00Z'));
const nothing = async () => new Map<never, never>();

describe.each(databases())('tags, notes and custom fields on %s', (_name, open) => {
  let db: Database;
  let north: string;
  let south: string;
  let ids: string[] = [];
  const stopped: string[] = [];
  const as = (actor: Actor = caller('admin')) =>
    asCaller(
      catalogHandlers({
        ...{ db, clock, audit, makerOf: () => null },
        identity: {
          ...{ merge: async () => '', split: async () => [], reclassify: async () => undefined },
          ...{ strengthOf: () => 'strong', find: nothing, findOrAdd: nothing },
        },
        events: {
          onMonitoringStopped: async (_sql, { deviceIds }) => void stopped.push(...deviceIds),
          onDevicesDeleted: async () => undefined,
        },
      }),
      actor,
    );
  const names = async (query: Record<string, string | string[]>, actor?: Actor) =>
    (await as(actor)('devices.list', { query })).data.map(({ name }: { name: string }) => name);
  const define = (body: object, actor?: Actor) => as(actor)('fields.create', { body });

  beforeAll(async () => {
    db = await open();
    north = await addSite(db, 'north');
    south = await addSite(db, 'south');
    ids = await addDevices(db, [
      { site_id: north, name: 'n-1', address: '10.0.0.1', monitor: true },
      { site_id: north, name: 'n-2', address: '10.0.0.2' },
      { site_id: south, name: 's-1', address: '10.1.0.1' },
    ]);
    await define({ appliesTo: 'device', name: 'Rack', type: 'text' });
    await define({
      appliesTo: 'device',
      name: 'Support',
      type: 'choice',
      choices: ['gold', 'silver', 'gold'],
    });
    await define({ appliesTo: 'interface', name: 'Circuit', type: 'text' });
  });

  it('fields are defined by administrators of every site, once by each name, and bounded', async () => {
    await expect(define({ appliesTo: 'device', name: 'Rack', type: 'url' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(
      define({ appliesTo: 'device', name: 'x', type: 'text' }, caller('admin', [north])),
    ).rejects.toMatchObject({ code: 'forbidden' });
    for (const body of [
      { appliesTo: 'device', name: 'a:b', type: 'text' },
      { appliesTo: 'device', name: 'a', type: 'choice' },
      { appliesTo: 'device', name: 'a', type: 'text', choices: ['x'] },
    ])
      await expect(define(body)).rejects.toMatchObject({ code: 'invalid_request' });
    for (let i = 1; i < CUSTOM_FIELDS_MOST; i++)
      await define({ appliesTo: 'interface', name: `f${i}`, type: 'text' });
    await expect(define({ appliesTo: 'interface', name: 'more', type: 'text' })).rejects.toThrow('50 fields');
  });

  it('are set, found by their filters and by search, and cleared', async () => {
    const [first = ''] = ids;
    const set = (body: object) => as(caller('operator'))('devices.update', { params: { id: first }, body });
    const { data } = await set({
      tags: ['Core', 'core', 'a,b'],
      note: ' next to\nthe UPS ',
      fields: { Rack: 'A:17', Support: 'gold' },
    });
    expect(data).toMatchObject({
      tags: ['a,b', 'Core'],
      note: 'next to\nthe UPS',
      fields: { Rack: 'A:17', Support: 'gold' },
    });
    expect(await names({ tag: ['CORE', 'a,b'] })).toEqual(['n-1']);
    expect(await names({ tag: ['core', 'none'] })).toEqual([]);
    expect(await names({ field: ['Rack:A:17', 'Support'] })).toEqual(['n-1']);
    expect(await names({ field: 'Support:silver' })).toEqual([]);
    await expect(names({ field: 'support:gold' })).rejects.toThrow('did you mean Support?');
    for (const search of ['core', 'a:17', 'THE ups', 'gold'])
      expect(await names({ search })).toEqual(['n-1']);
    expect((await searchAll({ db, findEndpoints: async () => [] }, 'the ups', null)).hits).toMatchObject([
      { kind: 'device', title: 'n-1' },
    ]);
    await expect(set({ fields: { Support: 'bronze' } })).rejects.toThrow(
      'fields.Support: must be one of gold, silver',
    );
    await set({ tags: [], note: '', fields: { Rack: null } });
    const cleared = (await as()('devices.get', { params: { id: first } })).data;
    expect(cleared).toMatchObject({ tags: [], note: '', fields: { Support: 'gold' } });
    expect(Object.keys(cleared.origins)).toEqual(expect.arrayContaining(['name', 'fields.Support']));
    expect(cleared.origins).not.toHaveProperty('tags');
    expect(await names({ search: 'the ups' })).toEqual([]);
  });

  it('are set of all that a filter finds, within the sites of the caller, and told who was changed', async () => {
    const bulk = (set: object, actor?: Actor) =>
      as(actor)('devices.bulk', { body: { filter: { Address: '10.0.0.0/8' }, set } });
    const add = { addTags: ['Branch'], note: 'moved', fields: { Rack: 'B' } };
    expect((await bulk(add, caller('operator', [north]))).data).toEqual({ matched: 2, changed: 2 });
    expect((await bulk(add)).data).toEqual({ matched: 3, changed: 1 });
    expect((await bulk({ addTags: ['branch', 'new'], removeTags: ['BRANCH'] })).data.changed).toBe(3);
    expect(await names({ tag: 'new', field: 'Rack:B' })).toEqual(['n-1', 'n-2', 's-1']);
    expect(await names({ tag: 'branch' })).toEqual([]);
    expect((await bulk({ monitor: 0, removeTags: ['new'] })).data.changed).toBe(3);
    // Only that which was monitored.
    expect(stopped).toEqual([ids[0]]);
    const many = Array.from({ length: TAGS_MOST }, (_, i) => `t${i}`);
    await bulk({ addTags: many });
    await expect(bulk({ addTags: ['one more'] })).rejects.toThrow(`more than ${TAGS_MOST} tags`);
  });

  it('are stamped with who set them only where they change', async () => {
    const [first = ''] = ids;
    const update = (actor: Actor, body: object) =>
      as(actor)('devices.update', { params: { id: first }, body });
    const by = async () => {
      const { origins } = (await as()('devices.get', { params: { id: first } })).data;
      const named = ['name', 'class', 'tags', 'note', 'fields.Rack', 'fields.Support'];
      return named.map((name) => (origins[name]?.from === 'person' ? origins[name].by : null));
    };
    const ada = {
      name: 'n-1',
      class: 'switch',
      tags: ['x'],
      note: 'a',
      fields: { Rack: '1', Support: 'gold' },
    };
    const eve = { ...caller('operator'), name: 'eve' };
    await update(caller('operator'), ada);
    const [adas] = await by();
    await update(eve, { ...ada, note: 'b', fields: { Rack: '1', Support: 'silver' } });
    expect(await by()).toEqual([adas, adas, adas, 'eve', adas, 'eve']);
    const filter = { Address: '10.0.0.1/32' };
    const set = { addTags: ['X'], note: 'b', fields: { Rack: '2', Support: null } };
    await as(eve)('devices.bulk', { body: { filter, set } });
    expect(await by()).toEqual([adas, adas, adas, 'eve', 'eve', null]);
    await as(eve)('devices.bulk', { body: { filter, set: { removeTags: ['x'] } } });
    expect(await by()).toEqual([adas, adas, null, 'eve', 'eve', null]);
    await update(eve, { note: '', class: null, fields: { Rack: null } });
  });

  it('of an interface stay when the agent numbers its ports anew', async () => {
    const site = await openSite(db);
    const walk = asked({ sysName: 'sw', macs: ['00:1b:21:00:00:01'] }, '10.3.0.1');
    await site.send([walk, table(walk, 'interfaces', [port(1, 'Gi1'), port(2, 'Gi2'), port(3, 'Gi3')])]);
    const [device] = await site.devices();
    const ports = async () =>
      (await as()('interfaces.list', { query: { deviceId: String(device?.id) } })).data.map(
        ({ ifIndex, name, tags, note, fields }: Record<string, unknown>) => [
          ifIndex,
          name,
          tags,
          note,
          fields,
        ],
      );
    const [one] = (await as()('interfaces.list', { query: { deviceId: String(device?.id) } })).data;
    const patch = { tags: ['uplink'], note: 'dark fibre', fields: { Circuit: 'C-9' } };
    const update = (actor?: Actor) => as(actor)('interfaces.update', { params: { id: one.id }, body: patch });
    await expect(update(caller('operator', [north]))).rejects.toMatchObject({ code: 'not_found' });
    expect((await update(caller('operator'))).data).toEqual({ id: one.id, deviceId: device?.id, ...patch });
    await expect(
      as()('interfaces.update', { params: { id: one.id }, body: { fields: { Rack: 'x' } } }),
    ).rejects.toThrow('no such custom field');
    const again = asked({ sysName: 'sw', macs: ['00:1b:21:00:00:01'] }, '10.3.0.1', { at: walk.at + 60_000 });
    await site.send([
      again,
      table(again, 'interfaces', [port(3, 'Gi1'), port(1, 'Gi2'), port(2, 'Gi3')], { at: walk.at + 60_000 }),
    ]);
    expect(await ports()).toEqual([
      [1, 'Gi2', [], '', {}],
      [2, 'Gi3', [], '', {}],
      [3, 'Gi1', ['uplink'], 'dark fibre', { Circuit: 'C-9' }],
    ]);
    const found = await as()('interfaces.list', {
      query: { deviceId: String(device?.id), tag: 'Uplink', field: 'Circuit:C-9' },
    });
    expect(found.totalCount).toBe(1);
    expect((await searchAll({ db, findEndpoints: async () => [] }, 'dark fib', null)).hits).toMatchObject([
      { kind: 'interface', title: 'sw Gi1' },
    ]);
  });

  it('of all interfaces of a device that a filter matches are changed at once', async () => {
    const [sw = '', other = ''] = await addDevices(
      db,
      ['10.5.0.1', '10.5.0.2'].map((address) => ({ site_id: north, name: address, address })),
    );
    const some = [sw, sw, sw, other].map((device_id, i) => ({
      ...{ site_id: north, id: uuidv7(), device_id, if_index: i, name: `eth${i}` },
      ...{ first_seen: SEEN, last_seen: SEEN, tags: i === 0 ? ['Old', 'core'] : [] },
    }));
    await insert(db, 'interfaces', some);
    const bulk = (filter: object, set: object, more: { expect?: number; actor?: Actor } = {}) =>
      as(more.actor)('interfaces.bulk', {
        body: { filter: { deviceId: sw, ...filter }, set, ...(more.expect && { expect: more.expect }) },
      });
    const tags = async () =>
      (
        await db.query<{ tags: string[] }>(
          'SELECT tags FROM interfaces WHERE device_id = ANY($1::uuid[]) ORDER BY if_index',
          [[sw, other]],
        )
      ).map((row) => row.tags.join());
    const set = { addTags: ['uplink', 'CORE'], removeTags: ['old'], note: 'fibre' };
    await expect(bulk({}, set, { actor: caller('operator', [south]) })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(bulk({}, set, { expect: 2 })).rejects.toThrow('3 interfaces match, not 2');
    expect(await tags()).toEqual(['Old,core', '', '', '']);
    const ids = [some[0]?.id, some[1]?.id, some[3]?.id].join();
    const eve = caller('operator', [north], 'eve');
    expect((await bulk({ ids }, set, { expect: 2, actor: eve })).data).toEqual({ matched: 2, changed: 2 });
    expect(await tags()).toEqual(['core,uplink', 'CORE,uplink', '', '']);
    // A second time it changes nothing, and nothing is audited.
    expect((await bulk({ ids }, set, { actor: eve })).data).toEqual({ matched: 2, changed: 0 });
    expect((await bulk({ tag: ['Core', 'uplink'] }, { removeTags: ['UPLINK'] })).data.changed).toBe(2);
    expect(await tags()).toEqual(['core', 'CORE', '', '']);
    const many = Array.from({ length: TAGS_MOST }, (_, i) => `tag ${i}`);
    await expect(bulk({}, { addTags: many })).rejects.toThrow('eth0 would have more than 50 tags');
    expect(
      await db.query(`SELECT actor, subject FROM audit WHERE action = 'interface.bulk' AND actor = 'eve'`),
    ).toEqual([{ actor: 'eve', subject: '2 interfaces of device 10.5.0.1' }]);
  });

  it('of an interface stay when its device proves to be another record', async () => {
    const site = await openSite(db);
    const [into = '', one = '', two = ''] = await addDevices(
      db,
      ['10.4.0.1', '10.4.0.2', '10.4.0.3'].map((address) => ({
        site_id: site.siteId,
        name: address,
        address,
      })),
    );
    const times = { first_seen: SEEN, last_seen: SEEN };
    const row = (device_id: string, if_index: number, name: string, more: object = {}) => ({
      ...{ site_id: site.siteId, id: uuidv7(), device_id, if_index, name, ...times, ...more },
    });
    const set_by = { note: { by: 'ada', at: 1 } };
    for (const each of [
      row(into, 1, 'Gi1', { note: 'mine', fields: { Circuit: 'C-1' } }),
      row(into, 2, 'Gi2'),
      row(into, 3, 'Gi3'),
      row(one, 2, 'Gi1', { note: 'first', fields: { Circuit: 'C-2', f1: 'x' } }),
      row(two, 1, 'Gi1', { note: 'second', tags: ['uplink'] }),
      row(two, 3, 'port 3', { note: 'by its number', set_by }),
    ])
      await insert(db, 'interfaces', [each]);
    const pairs = [one, two].map((from) => ({ from, into }));
    await db.transaction((sql) => absorbInto(sql, site.siteId, pairs));
    const ports = await db.query(
      'SELECT tags, note, fields, set_by FROM interfaces WHERE site_id = $1::uuid ORDER BY if_index',
      [site.siteId],
    );
    expect(ports).toEqual([
      ...[{ tags: ['uplink'], note: 'mine\nfirst\nsecond', fields: { Circuit: 'C-1', f1: 'x' }, set_by: {} }],
      ...[{ tags: [], note: '', fields: {}, set_by: {} }],
      ...[{ tags: [], note: 'by its number', fields: {}, set_by }],
    ]);
  });

  it('are not set of a field that is being deleted; those of one that is gone can be cleared', async () => {
    const [first = ''] = ids;
    const update = (fields: object) => as()('devices.update', { params: { id: first }, body: { fields } });
    const { data: gone } = await define({ appliesTo: 'device', name: 'Gone', type: 'text' });
    let refused: Promise<unknown> = Promise.resolve();
    await db.transaction(async (sql) => {
      await sql.query('DELETE FROM custom_fields WHERE id = $1::uuid', [gone.id]);
      refused = expect(update({ Gone: 'x' })).rejects.toThrow('no such custom field');
      await new Promise((resolve) => setTimeout(resolve, 200));
    });
    await refused;
    await db.query(`UPDATE devices SET fields = fields || '{"Gone":"x"}' WHERE id = $1::uuid`, [first]);
    expect((await update({ Gone: null })).data.fields).not.toHaveProperty('Gone');
  });

  it.each<[string, 'device' | 'interface', (sql: Sql) => Promise<unknown>]>([
    [
      'subscription gold',
      'interface',
      (sql) =>
        insert(sql, 'subscriptions', [
          {
            id: uuidv7(),
            name: 'gold',
            kind: 'email',
            addresses: ['a@example.net'],
            types: [],
            fields: ['Used:gold'],
          },
        ]),
    ],
    [
      'maintenance window racks',
      'device',
      (sql) =>
        insert(sql, 'maintenance_windows', [
          {
            ...{
              site_id: north,
              id: uuidv7(),
              name: 'racks',
              scope: { field: ['Used:A-17'] },
              timezone: 'UTC',
            },
            ...{ times: { kind: 'once', from: 0, until: 1 }, created_at: SEEN },
          },
        ]),
    ],
    [
      'thresholds of site north',
      'interface',
      (sql) =>
        sql.query(`UPDATE sites SET settings = $2::jsonb WHERE id = $1::uuid`, [
          north,
          JSON.stringify({ fieldThresholds: [{ field: 'Used:x', thresholds: { loss: 5 } }] }),
        ]),
    ],
  ])('a field by which a %s chooses is not deleted', async (named, appliesTo, use) => {
    const id = uuidv7();
    await insert(db, 'custom_fields', [{ id, applies_to: appliesTo, name: 'Used', type: 'text' }]);
    const remove = () => as()('fields.delete', { params: { id } });
    await use(db);
    await expect(remove()).rejects.toMatchObject({
      ...{ code: 'conflict', message: `Used is a filter of ${named}: remove it there first` },
    });
    await db.query('DELETE FROM subscriptions');
    await db.query('DELETE FROM maintenance_windows');
    await db.query(`UPDATE sites SET settings = '{}'`);
    // One that is being stored is waited for.
    let refused: Promise<unknown> = Promise.resolve();
    await db.transaction(async (sql) => {
      await storedFilters(sql, [appliesTo], ['Used:x'], { member: 'fields' });
      refused = expect(remove()).rejects.toMatchObject({ code: 'conflict' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      await use(sql);
    });
    await refused;
    await db.query('DELETE FROM subscriptions');
    await db.query('DELETE FROM maintenance_windows');
    await db.query(`UPDATE sites SET settings = '{}'`);
    await remove();
  });

  it('of devices and interfaces with one name: a filter stays as typed, and serves as long as one of them takes it', async () => {
    const [ofDevices, ofPorts] = [uuidv7(), uuidv7()];
    await insert(db, 'custom_fields', [
      { id: ofDevices, applies_to: 'device', name: 'Both', type: 'number' },
      { id: ofPorts, applies_to: 'interface', name: 'Both', type: 'text' },
    ]);
    const stored = (filter: string) =>
      db.transaction((sql) => storedFilters(sql, ANNOTATED, [filter], { member: 'fields' }));
    expect(await stored('Both: 07')).toEqual(['Both:07']);
    const use = (fields: string[]) =>
      insert(db, 'subscriptions', [
        {
          ...{ id: uuidv7(), name: fields[0], kind: 'email', addresses: ['a@example.net'] },
          types: [],
          fields,
        },
      ]);
    const remove = (id: string) => as()('fields.delete', { params: { id } });
    await use(['Both:A-17']);
    await use(['Both:07']);
    await expect(remove(ofPorts)).rejects.toThrow('Both is a filter of subscription Both:A-17: remove');
    await db.query(`DELETE FROM subscriptions WHERE name = 'Both:A-17'`);
    await remove(ofPorts);
    await expect(remove(ofDevices)).rejects.toThrow('Both is a filter of subscription Both:07: remove');
    await db.query('DELETE FROM subscriptions');
    await remove(ofDevices);
  });

  it('of a deleted field are cleared in steps, which live streams are told of', async () => {
    await db.query(`UPDATE devices SET fields = fields || '{"Old":"x"}' WHERE id = ANY($1::uuid[])`, [ids]);
    const told: string[][] = [];
    const stop = await db.listen(LIVE_CHANNEL, (text) => void told.push(JSON.parse(text).ids));
    await clearValues(db, { appliesTo: 'device', name: 'Old' }, 1);
    await expect.poll(() => told.length).toBe(3);
    await stop();
    expect(told.flat().sort()).toEqual(ids.toSorted());
    expect(told.every((some) => some.length === 1)).toBe(true);
    const left = await db.query(`SELECT id FROM devices WHERE fields ? 'Old'`);
    expect(left).toEqual([]);
  });

  it('go with the field that is deleted; its choices may change', async () => {
    const fields = (await as()('fields.list', { query: { appliesTo: 'device' } })).data;
    const idOf = (name: string) => fields.find((field: { name: string }) => field.name === name).id;
    expect(fields.map(({ name }: { name: string }) => name)).toEqual(['Rack', 'Support']);
    expect(fields[1].choices).toEqual(['gold', 'silver']);
    const { data } = await as()('fields.update', {
      params: { id: idOf('Support') },
      body: { choices: ['bronze'] },
    });
    expect(data.choices).toEqual(['bronze']);
    await expect(
      as()('fields.update', { params: { id: idOf('Rack') }, body: { choices: ['bronze'] } }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(as()('fields.delete', { params: { id: uuidv7() } })).rejects.toMatchObject({
      code: 'not_found',
    });
    await as()('fields.delete', { params: { id: idOf('Rack') } });
    const { data: left } = await as()('devices.list', { query: { search: 'n-2' } });
    expect(left[0].fields).toEqual({});
    const audited = await db.query<{ action: string }>(
      `SELECT DISTINCT action FROM audit WHERE action LIKE 'field.%' ORDER BY 1`,
    );
    expect(audited.map(({ action }) => action)).toEqual(['field.create', 'field.delete', 'field.update']);
  });
});
