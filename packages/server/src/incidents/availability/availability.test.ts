import {
  AVAILABILITY_STATES,
  type Availability,
  type AvailabilitySpan,
  availabilityOperations,
} from '@rollcall/shared/api/availability';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { csvOf } from '../../platform/http/csv.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { addCollector, addDevices, addSite, asCaller, caller, insert } from '../../testing/rows.ts';
import { maintenanceHandlers } from '../maintenance/handlers.ts';
import { availabilityHandlers } from './handlers.ts';

afterAll(closeDatabases);

/** Before the scene begins, so that everything was watched for long. */
const LONG_AGO = '2026-10-01T00:00:00Z';
const begin = Date.parse('2026-11-20T12:00:00Z') / 1000;
const HOUR = 3600;
const list = availabilityOperations['availability.list'];

describe.each(databases())('availability on %s', (_name, open) => {
  const scene = new Scene();
  const { network, tell, down, up, state, wait, devices } = scene;
  beforeEach(() => scene.begin(open));
  const deps = () => ({ db: scene.db, clock: scene.clock });
  const call = (...as: Parameters<typeof caller>) => asCaller(availabilityHandlers(deps()), caller(...as));
  const read = async (query: Record<string, string>): Promise<Availability[]> => {
    const { data, extra } = await call()('availability.list', { query });
    for (const entry of data) if (entry.deviceId) await adjoin(entry, extra as { from: number; to: number });
    return data;
  };
  /** Its spans cover the period without a hole, and add up to the seconds of the entry. */
  const adjoin = async (entry: Availability, { from, to }: { from: number; to: number }) => {
    const { deviceId, interfaceId } = entry;
    const query = {
      deviceId: deviceId ?? '',
      ...(interfaceId && { interfaceId }),
      from: `${from}`,
      to: `${to}`,
    };
    const spans: AvailabilitySpan[] = (await call()('availability.spans', { query })).data;
    expect([from, ...spans.map((span) => span.to)]).toEqual([...spans.map((span) => span.from), to]);
    const sum = (state: string) =>
      spans.reduce((all, span) => all + (span.state === state ? span.to - span.from : 0), 0);
    expect(AVAILABILITY_STATES.map(sum)).toEqual(of(entry));
  };
  const of = (entry: Availability | undefined) =>
    entry && [entry.up, entry.down, entry.maintenance, entry.notObserved];
  const ofDevice = async (name: string, query: Record<string, string> = {}) =>
    of((await read({ of: 'devices', deviceId: devices.get(name) ?? '', from: `${begin}`, ...query }))[0]);
  /** What was observed, as if since long ago, in place of what the triggers wrote at the time of the test. */
  const observed = async (...times: [from: string, until: string | null][]) => {
    await scene.db.query('DELETE FROM monitoring_history WHERE site_id = $1', [scene.site]);
    const all = [...devices.values()].map((device_id) => ({ device_id, since: LONG_AGO }));
    const own = { site_id: scene.site };
    await insert(
      scene.db,
      'monitoring_history',
      all.map((row) => ({ ...own, ...row })),
    );
    const connected = times.length === 0 ? [[LONG_AGO, null] as const] : times;
    await insert(
      scene.db,
      'connection_history',
      connected.map(([since, until]) => ({ ...own, collector_id: uuidv7(), since, until })),
    );
  };

  it('follows from the events: down, up again, still down', async () => {
    await network(['sw', 'ap']);
    await observed();
    await wait(600);
    await tell(down('sw'));
    await wait(300);
    await tell(up('sw'));
    await wait(2700);
    expect(await ofDevice('sw')).toEqual([3300, 300, 0, 0]);
    await tell(down('ap'));
    await wait(400);
    expect(await ofDevice('ap')).toEqual([HOUR, 400, 0, 0]);
    // A period that ends before is told the same for ever; one that reaches beyond now is cut there.
    expect(await ofDevice('ap', { to: `${begin + HOUR + 100}` })).toEqual([HOUR, 100, 0, 0]);
    expect(await ofDevice('ap', { to: `${begin + 10 * HOUR}` })).toEqual([HOUR, 400, 0, 0]);
    const [site] = await read({ site: scene.site, from: `${begin}` });
    expect(of(site)).toEqual([3300 + 400 + HOUR, 700, 0, 0]);
    expect(site).toMatchObject({ devices: 2, days: null, deviceId: null });
    expect(site?.availability).toBeCloseTo(91.25, 2);
  });

  it('down behind another is down as well; what flaps is down until it kept still', async () => {
    await network(['core', 'edge']);
    await observed();
    const event = {
      id: uuidv7(),
      kind: 'device.unreachable',
      source: 'icmp',
      severity: 4,
      status: 2,
      message: '-',
    };
    const times = { first_seen: begin, timestamp: begin, closed_at: begin + 120 };
    await insert(scene.db, 'events', [
      {
        ...{ ...event, site_id: scene.site, device_id: devices.get('edge'), details: {}, count: 1 },
        dedup_key: `device.unreachable:${devices.get('edge')}`,
        ...Object.fromEntries(Object.entries(times).map(([name, at]) => [name, new Date(at * 1000)])),
      },
    ]);
    await wait(1120);
    expect(await ofDevice('edge')).toEqual([1000, 120, 0, 0]);
    scene.now += 7_200_000 - 1_120_000;
    for (let i = 0; i < 3; i++) {
      await tell(down('core'));
      await wait(5);
      await tell(up('core'));
      await wait(5);
    }
    await wait(1200);
    expect(await scene.words()).toContain('flapping core closed');
    const [, seconds = 0] = (await ofDevice('core', { from: `${begin + 2 * HOUR}` })) ?? [];
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(seconds).toBeLessThanOrEqual(30);
  });

  it('without a collector or monitoring nothing is observed, whatever an open event says', async () => {
    await network(['sw']);
    await observed([LONG_AGO, '2026-11-20T12:10:00Z'], ['2026-11-20T12:40:00Z', null]);
    await tell(down('sw'));
    await wait(HOUR);
    expect(await ofDevice('sw')).toEqual([0, 1800, 0, 1800]);
    await scene.db.query(`UPDATE monitoring_history SET until = '2026-11-20T12:50:00Z' WHERE site_id = $1`, [
      scene.site,
    ]);
    expect(await ofDevice('sw')).toEqual([0, 1200, 0, 2400]);
    expect(await ofDevice('sw', { from: `${begin - 3 * HOUR}`, to: `${begin}` })).toEqual([
      3 * HOUR,
      0,
      0,
      0,
    ]);
  });

  it('maintenance comes first, as the windows were when it happened', async () => {
    await network(['sw', 'ap']);
    await observed(['2026-11-20T12:20:00Z', null]);
    const plan = asCaller(maintenanceHandlers({ ...deps(), audit: async () => undefined }), caller());
    const { data: window } = await plan('maintenance.create', {
      body: {
        siteId: scene.site,
        name: 'work',
        scope: { deviceIds: [devices.get('sw')] },
        times: { kind: 'repeat', cron: '*/30 * * * *', minutes: 10 },
      },
    });
    const move = (column: string, to: string) =>
      scene.db.query(`UPDATE maintenance_history SET ${column} = $2 WHERE site_id = $1`, [scene.site, to]);
    await move('since', LONG_AGO);
    await wait(HOUR);
    expect(await ofDevice('sw')).toEqual([1800, 0, 1200, 600]);
    expect(await ofDevice('ap')).toEqual([2400, 0, 0, 1200]);
    // Changed or deleted later: what was, was.
    await plan('maintenance.delete', { params: { id: window.id } });
    const [row] = await scene.db.query<{ until: Date | null }>(
      'SELECT until FROM maintenance_history WHERE site_id = $1',
      [scene.site],
    );
    expect(row?.until).toBeInstanceOf(Date);
    await move('until', '2026-11-20T12:35:00Z');
    expect(await ofDevice('sw')).toEqual([2100, 0, 900, 600]);
  });

  it('a port is down by its own event and with its device, and not observed while SNMP is silent', async () => {
    await network(['sw']);
    await observed();
    const port = {
      id: uuidv7(),
      device_id: devices.get('sw'),
      site_id: scene.site,
      if_index: 1,
      name: 'Gi1',
    };
    await insert(scene.db, 'interfaces', [
      { ...port, first_seen: '2026-11-20T12:01:00Z', last_seen: LONG_AGO },
    ]);
    await wait(600);
    await tell(state('sw', port.id, 1, 2));
    await wait(120);
    await tell(state('sw', port.id, 2, 1));
    await wait(480);
    const about = scene.about('sw');
    await tell({ ...about, kind: 'device.snmp-lost', before: {}, after: { reason: 'timeout' } });
    await wait(200);
    await tell({ ...scene.about('sw'), kind: 'device.snmp-restored', before: {}, after: {} });
    await wait(100);
    await tell(down('sw'));
    await wait(60);
    await tell(up('sw'));
    await wait(1);
    const asked = { of: 'interfaces', deviceId: devices.get('sw') ?? '', from: `${begin}` };
    const [entry] = await read(asked);
    expect(entry).toMatchObject({ interface: 'Gi1', device: 'sw', interfaceId: port.id });
    expect(of(entry)).toEqual([1561 - 60 - 200 - 180, 180, 0, 60 + 200]);
  });

  it('by calendar day of a time zone, one of 25 hours among them, and as CSV', async () => {
    await network(['=sw']);
    await observed();
    // Clocks in Berlin go back on 2026-10-25.
    const query = {
      ...{ of: 'devices', site: scene.site, timezone: 'Europe/Berlin' },
      ...{ from: '1792792800', to: '1793059200' },
    };
    const [entry] = await read(query);
    expect(entry?.days?.map(({ from, to }) => (to - from) / HOUR)).toEqual([24, 25, 24, 1]);
    expect(entry?.days?.[0]).toMatchObject({ up: 86_400, down: 0, availability: 100 });
    expect(of(entry)).toEqual([74 * HOUR, 0, 0, 0]);
    const csv = async (asked: Record<string, string>) => {
      const { data, extra } = await call()('availability.list', { query: asked });
      return csvOf(list.csv.row, list.csv.rowsOf({ data, ...(extra as { from: number; to: number }) }));
    };
    const lines = (await csv(query)).split('\r\n');
    expect(lines.slice(0, 2)).toEqual([
      'from,to,siteId,site,deviceId,device,interfaceId,interface,devices,up,down,maintenance,notObserved,availability',
      `2026-10-23T22:00:00Z,2026-10-24T22:00:00Z,${entry?.siteId},${entry?.site},${entry?.deviceId},'=sw,,,1,86400,0,0,0,100`,
    ]);
    expect(lines).toHaveLength(6);
    const { timezone: _, ...whole } = query;
    expect((await csv(whole)).split('\r\n')).toEqual([
      lines[0],
      `2026-10-23T22:00:00Z,2026-10-27T00:00:00Z,${entry?.siteId},${entry?.site},${entry?.deviceId},'=sw,,,1,266400,0,0,0,100`,
      '',
    ]);
  });

  it('answers of sites in sight only, and says what is missing', async () => {
    await network(['sw']);
    await observed();
    await wait(60);
    const elsewhere = call('viewer', [await addSite(scene.db, uuidv7())]);
    const deviceId = devices.get('sw') ?? '';
    await expect(elsewhere('availability.list', { query: { of: 'devices', deviceId } })).rejects.toThrow(
      'device',
    );
    expect((await elsewhere('availability.list', {})).data).toHaveLength(1);
    await expect(read({ of: 'interfaces', site: scene.site })).rejects.toThrow('deviceId');
    await expect(read({ of: 'devices' })).rejects.toThrow('`site` or `deviceId`');
    await expect(read({ from: `${begin + HOUR}` })).rejects.toThrow('`from`');
    await expect(read({ from: '1', timezone: 'UTC' })).rejects.toThrow('400 days');
    await expect(read({ timezone: 'Mars' })).rejects.toThrow('IANA');
    const { data, totalCount } = await call()('availability.list', {
      query: { of: 'devices', site: scene.site, page: '2' },
    });
    expect([data, totalCount]).toEqual([[], 1]);
  });
});

describe.each(databases())('histories on %s', (_name, open) => {
  it('are written by whatever changes monitoring, connections and windows', async () => {
    const db = await open();
    const siteId = await addSite(db, uuidv7());
    const [device = ''] = await addDevices(db, [{ site_id: siteId, name: 'sw', monitor: true }]);
    const rows = (table: string) =>
      db.query<{ open: boolean; seconds: number }>(
        `SELECT until IS NULL AS open, floor(extract(epoch FROM until - since))::int AS seconds FROM ${table}
         WHERE site_id = $1 ORDER BY since`,
        [siteId],
      );
    const monitor = (on: boolean) => db.query('UPDATE devices SET monitor = $2 WHERE id = $1', [device, on]);
    expect(await rows('monitoring_history')).toMatchObject([{ open: true }]);
    await monitor(true);
    expect(await rows('monitoring_history')).toHaveLength(1);
    await monitor(false);
    expect(await rows('monitoring_history')).toMatchObject([{ open: false }]);
    await monitor(true);
    expect(await rows('monitoring_history')).toMatchObject([{ open: false }, { open: true }]);

    const collector = await addCollector(db, siteId, 'c');
    const set = (to: string) => db.query(`UPDATE collectors SET ${to} WHERE id = $1`, [collector]);
    expect(await rows('connection_history')).toEqual([]);
    await set(`connected_at = now(), last_seen_at = now()`);
    expect(await rows('connection_history')).toMatchObject([{ open: true }]);
    // Connects again at once: it was not away.
    await set(`connected_at = now() + interval '1 minute'`);
    expect(await rows('connection_history')).toHaveLength(1);
    await db.query(`UPDATE connection_history SET since = now() - interval '1 hour' WHERE site_id = $1`, [
      siteId,
    ]);
    // Was heard 1000 s ago, and nobody said meanwhile that it is away.
    await db.query(`UPDATE collectors SET last_seen_at = now() - interval '1000 s' WHERE id = $1`, [
      collector,
    ]);
    await set(`connected_at = now(), last_seen_at = now()`);
    expect(await rows('connection_history')).toMatchObject([{ open: false, seconds: 2600 }, { open: true }]);
    await set('connected_at = NULL');
    expect(await rows('connection_history')).toMatchObject([{ open: false }, { open: false }]);
    await set(`connected_at = now(), last_seen_at = now()`);
    await set(`status = 'revoked'`);
    expect(await rows('connection_history')).toHaveLength(3);
    expect((await rows('connection_history')).every(({ open }) => !open)).toBe(true);
    await db.query('DELETE FROM collectors WHERE id = $1', [collector]);
    await db.query('DELETE FROM devices WHERE id = $1', [device]);
    expect(await rows('connection_history')).toHaveLength(3);
    expect(await rows('monitoring_history')).toEqual([]);
  });
});
