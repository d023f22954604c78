import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../testing/database.ts';
import { addCollector, addDevices, addSite, insert, SEEN } from '../testing/rows.ts';
import { createWatch } from './watch.ts';

afterAll(closeDatabases);

describe.each(databases())('the devices of a watch on %s', (_name, open) => {
  it('come with the other addresses of their agents, without those that two devices have or the site excludes', async () => {
    const db = await open();
    const siteId = await addSite(db, 'north', { exclude: ['10.0.3.0/24'] });
    const id = await addCollector(db, siteId, 'c1');
    await db.query('UPDATE collectors SET instance = $2, protocol = 2 WHERE id = $1::uuid', [id, 'i']);
    const agent = { site_id: siteId, monitor: true, credential_id: uuidv7() };
    const [r1 = '', r2 = '', host = ''] = await addDevices(db, [
      { ...agent, name: 'r1', sys_name: 'r1', address: '10.0.0.1', addresses: ['10.0.2.1', '10.0.9.1'] },
      { ...agent, name: 'r2', sys_name: 'r2', address: '10.0.0.2', addresses: ['10.0.9.1'] },
      { site_id: siteId, monitor: true, name: 'host', address: '10.0.0.3' },
    ]);
    const seen = { site_id: siteId, first_seen: SEEN, last_seen: SEEN };
    const at = (device_id: string, ...values: string[]) =>
      values.map((value) => ({ ...seen, kind: 'address', value, device_id }));
    await insert(db, 'evidence', [
      ...at(r1, '10.0.0.1', '10.0.10.1', '10.0.2.1', '10.0.3.1', '10.0.9.1'),
      ...at(r2, '10.0.0.2'),
      ...at(host, '10.0.0.3', '10.0.2.3'),
      { ...seen, kind: 'engine-id', value: '80001f88', device_id: r1 },
    ]);
    const watch = createWatch({ db, log: pino({ level: 'silent' }), credentialsOf: async () => [] });
    const [message] = await watch.follow({ id, siteId })();
    const credentialId = agent.credential_id;
    const elsewhere = { addresses: ['10.0.2.1', '10.0.10.1'], sysName: 'r1', engineId: '80001f88' };
    expect(new Map(message?.set.map((target) => [target.deviceId, target]))).toEqual(
      new Map<string, object>([
        [r1, { deviceId: r1, address: '10.0.0.1', credentialId, elsewhere }],
        [r2, { deviceId: r2, address: '10.0.0.2', credentialId }],
        [host, { deviceId: host, address: '10.0.0.3' }],
      ]),
    );
  });

  it('are read for what they have learnt where they are bridges or routers, as often as the site wants', async () => {
    const db = await open();
    const siteId = await addSite(db, 'south', {});
    const id = await addCollector(db, siteId, 'c1');
    await db.query('UPDATE collectors SET instance = $2, protocol = 2 WHERE id = $1::uuid', [id, 'i']);
    const agent = { site_id: siteId, monitor: true, credential_id: uuidv7() };
    const [sw = ''] = await addDevices(db, [
      { ...agent, name: 'sw', class: 'switch', address: '10.0.0.1' },
      { ...agent, name: 'printer', class: 'printer', address: '10.0.0.2' },
      { site_id: siteId, monitor: true, name: 'no agent', class: 'switch', address: '10.0.0.3' },
    ]);
    const watch = createWatch({ db, log: pino({ level: 'silent' }), credentialsOf: async () => [] });
    const told = watch.follow({ id, siteId });
    const [message] = await told();
    expect(message?.set.filter(({ tables }) => tables).map(({ deviceId }) => deviceId)).toEqual([sw]);
    expect(message?.intervals).toMatchObject({ tablesMs: 900_000, namesMs: 43_200_000 });
    await db.query(
      `UPDATE sites SET settings = '{"watchTablesSeconds": 0, "watchNamesSeconds": 0}' WHERE id = $1::uuid`,
      [siteId],
    );
    await db.query(`UPDATE devices SET class = 'router' WHERE id <> $1::uuid AND credential_id IS NOT NULL`, [
      sw,
    ]);
    const [next] = await told();
    expect(next?.set).toMatchObject([{ tables: true }]);
    expect(next?.intervals).not.toHaveProperty('tablesMs');
    expect(next?.intervals).not.toHaveProperty('namesMs');
  });
});
