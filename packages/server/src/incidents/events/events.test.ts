import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../accounts/audit.ts';
import type { Database } from '../../platform/db/db.ts';
import { compactTallies } from '../../platform/db/tally.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../../testing/rows.ts';
import { incidentHandlers } from '../handlers.ts';
import { cut } from './list.ts';

afterAll(closeDatabases);

const clock = new ManualClock(Date.parse('2026-11-20T12:00:00Z'));
const at = (text: string) => Date.parse(`2026-11-${text}Z`) / 1000;

describe('cutting a span into buckets', () => {
  it('covers every moment exactly once', () => {
    const time = fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined });
    fc.assert(
      fc.property(time, time, (first, end) => {
        fc.pre(first === undefined || end === undefined || first <= end);
        const { whole, ends } = cut({ first, end }, 60);
        const inside = (span: { first?: number; end?: number }, t: number) =>
          t >= (span.first ?? -Infinity) && t < (span.end ?? Infinity);
        for (let t = -10; t < 420; t++) {
          const times = [...(whole ? [whole] : []), ...ends].filter((span) => inside(span, t)).length;
          expect(times).toBe(
            inside({ ...(first !== undefined && { first }), ...(end !== undefined && { end }) }, t) ? 1 : 0,
          );
        }
        for (const border of [whole?.first, whole?.end])
          if (border !== undefined) expect(border % 60).toBe(0);
        for (const span of ends) expect(Math.floor(span.first / 60)).toBe(Math.ceil(span.end / 60) - 1);
      }),
    );
  });
});

describe.each(databases())('the event list on %s', (_name, open) => {
  let db: Database;
  let north: string;
  let south: string;
  const devices: Record<string, string> = {};
  const ids: Record<string, string> = {};
  const gone = uuidv7();
  const as = (actor: Actor = caller()) => asCaller(incidentHandlers({ db, clock, audit }), actor);
  const list = async (query: Record<string, string>, actor?: Actor) => {
    const { data, totalCount } = await as(actor)('events.list', { query });
    const byId = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    return { names: data.map(({ id }: { id: string }) => byId.get(id)).join(' '), totalCount };
  };

  beforeAll(async () => {
    db = await open();
    north = await addSite(db, 'north');
    south = await addSite(db, 'south');
    const added = await addDevices(db, [
      { site_id: north, name: 'core-1', address: '10.0.0.1', addresses: ['2001:db8::1'] },
      { site_id: south, name: 'core-1', address: '10.0.0.1' },
      { site_id: north, name: '10.0.0.9', address: '10.0.0.2' },
    ]);
    [devices.north = '', devices.south = '', devices.odd = ''] = added;
    const rows: [
      name: string,
      site: string,
      device: string | null,
      severity: number,
      status: number,
      source: string,
      time: string,
    ][] = [
      ['a', north, devices.north, 1, 0, 'icmp', '2026-11-20T10:00:00.000Z'],
      ['b', north, devices.north, 2, 1, 'snmp', '2026-11-20T10:00:00.999Z'],
      ['c', north, devices.odd, 3, 2, 'trap', '2026-11-20T10:00:01.000Z'],
      ['d', south, devices.south, 4, 2, 'discovery', '2026-11-19T23:59:59.500Z'],
      ['e', south, null, 5, 2, 'collector', '2026-11-18T00:00:00.000Z'],
      ['f', south, gone, 5, 0, 'api', '2026-11-17T12:30:00.000Z'],
    ];
    for (const [name] of rows) ids[name] = uuidv7();
    await insert(
      db,
      'events',
      rows.map(([name, site_id, device_id, severity, status, source, timestamp]) => ({
        site_id,
        id: ids[name],
        device_id,
        severity,
        status,
        source,
        timestamp,
        first_seen: timestamp,
        kind: 'device.down',
        message: name,
        dedup_key: name,
      })),
    );
  });

  // What each filter keeps, and in which order, is the matter of lists.test.ts; here what its values may look like.
  it.each<[Record<string, string>, string]>([
    [{ Status: ' 1 , 2' }, 'c b d e'],
    [{ from: String(at('20T10:00:00')) }, 'c b a'],
    [{ from: String(at('20T10:00:01')) }, 'c'],
    [{ to: String(at('20T10:00:00')) }, 'b a d e f'],
    [{ to: String(at('20T09:59:59')) }, 'd e f'],
    [{ from: String(at('20T10:00:00')), to: String(at('20T10:00:00')) }, 'b a'],
    [{ from: String(at('18T00:00:00')), to: String(at('19T23:59:59')) }, 'd e'],
    [{ from: String(at('18T00:00:01')), to: String(at('19T23:59:58')) }, ''],
    [{ Device: '2001:DB8::0001' }, 'b a'],
    [{ Device: '10.0.0.9' }, 'c'],
    [{ Device: 'core' }, ''],
    [{ Device: 'CORE-1' }, ''],
    [{ Device: "x' OR '1'='1" }, ''],
    [{ page: '1000000000', pageSize: '1000' }, ''],
  ])('answers %j with "%s"', async (query, names) => {
    expect((await list(query)).names).toBe(names);
  });

  it('finds a device by its id, also one that is gone', async () => {
    expect((await list({ Device: devices.north ?? '' })).names).toBe('b a');
    expect((await list({ Device: gone })).names).toBe('f');
    expect((await list({ Device: uuidv7() })).totalCount).toBe(0);
  });

  it('shows only events of visible sites', async () => {
    const southern = caller('viewer', [south]);
    await expect(list({ site: north }, southern)).rejects.toMatchObject({ code: 'forbidden' });
    for (const id of [ids.a ?? '', uuidv7()])
      await expect(as(southern)('events.get', { params: { id } })).rejects.toMatchObject({
        code: 'not_found',
        message: 'no such event',
      });
  });

  it('refuses what is not documented', async () => {
    await expect(list({ from: '20', to: '10' })).rejects.toMatchObject({ code: 'invalid_request' });
    for (const query of [
      { severity: '1' },
      { Severity: '0' },
      { Severity: '6' },
      { Status: '3' },
      { Source: 'ICMP' },
      { from: '-1' },
      { from: '1e3' },
      { sort: 'message' },
      { page: '0' },
      { pageSize: '1001' },
    ])
      await expect(list(query as Record<string, string>)).rejects.toThrow();
  });

  it('tells one event in the form of the document', async () => {
    const { data } = await as()('events.get', { params: { id: ids.b ?? '' } });
    expect(data).toEqual({
      id: ids.b,
      siteId: north,
      deviceId: devices.north,
      device: 'core-1',
      interfaceId: null,
      collectorId: null,
      caseId: null,
      kind: 'device.down',
      source: 'snmp',
      severity: 2,
      status: 1,
      message: 'b',
      details: {},
      dedupKey: 'b',
      count: 1,
      firstSeen: at('20T10:00:00'),
      timestamp: at('20T10:00:00'),
      acknowledgedAt: null,
      acknowledgedBy: null,
      acknowledgedUntil: null,
      closedAt: null,
      closedBy: null,
      closeReason: null,
      maintenanceUntil: null,
    });
  });

  it('moves open → acknowledged → closed, and no other way', async () => {
    const post = (verb: 'acknowledge' | 'close', name: string, actor?: Actor) =>
      as(actor)(`events.${verb}`, { params: { id: ids[name] ?? '' } });
    const acknowledged = await post('acknowledge', 'a', caller('operator', [north], 'grace'));
    expect(acknowledged.data).toMatchObject({
      status: 1,
      acknowledgedBy: 'grace',
      acknowledgedAt: clock.now() / 1000,
    });
    await expect(post('acknowledge', 'a')).rejects.toMatchObject({
      code: 'conflict',
      message: 'the event is acknowledged already',
    });
    const closed = await post('close', 'a');
    expect(closed.data).toMatchObject({
      status: 2,
      closedBy: 'ada',
      closeReason: 'manual',
      acknowledgedBy: 'grace',
    });
    await expect(post('close', 'a')).rejects.toMatchObject({ code: 'conflict' });
    await expect(post('acknowledge', 'a')).rejects.toMatchObject({
      message: 'the event is closed: it cannot become acknowledged',
    });
    await expect(post('close', 'f', caller('operator', [north]))).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await list({ Status: '0' })).names).toBe('f');
    expect(await db.query('SELECT actor, action, site_id AS site FROM audit ORDER BY id')).toEqual([
      { actor: 'grace', action: 'event.acknowledge', site: north },
      { actor: 'ada', action: 'event.close', site: north },
    ]);
  });

  it('keeps every count exact whatever happens to the rows', async () => {
    const random = { sites: [north, south], sources: ['icmp', 'snmp', 'api'] };
    for (let round = 0; round < 4; round++) {
      await db.query(
        `INSERT INTO events (site_id, id, kind, source, severity, status, message, dedup_key, first_seen, timestamp)
         SELECT ($1::uuid[])[1 + g % 2], gen_random_uuid(), 'trap', ($2::text[])[1 + g % 3], 1 + g % 5, g % 3, '', gen_random_uuid()::text,
           t, t FROM generate_series(1, 500) g, LATERAL (SELECT '2026-11-01T00:00:00Z'::timestamptz + g * interval '37 minutes' + $3::int * interval '7 seconds' AS t) x`,
        [random.sites, random.sources, round],
      );
      await db.query(
        `UPDATE events SET status = 2, timestamp = timestamp + interval '90 minutes' WHERE severity = 1 + $1::int AND kind = 'trap'`,
        [round],
      );
      await db.query(`DELETE FROM events WHERE kind = 'trap' AND severity = 5 AND status = $1::int`, [
        round % 3,
      ]);
      if (round % 2) await compactTallies(db);
      for (const query of [
        {},
        { Severity: '2' },
        { Status: '2', Source: 'snmp' },
        { from: String(at('03T01:02:03')), to: String(at('09T20:00:00')) },
        { site: south, Severity: '4' },
      ] as Record<string, string>[]) {
        const everything = await list({ ...query, pageSize: '1000' });
        const deep: string[] = [];
        let totalCount = -1;
        for (let page = 1; ; page++) {
          const { data, ...answer } = await as()('events.list', {
            query: { ...query, pageSize: '97', page: String(page) },
          });
          totalCount = answer.totalCount ?? -1;
          if (data.length === 0) break;
          deep.push(...data.map((event: { id: string }) => event.id));
        }
        const [truth] = await db.query<{ ids: string[] }>(
          `SELECT array_agg(id ORDER BY timestamp DESC, id DESC) AS ids FROM events WHERE severity <= $1 AND ($2::int IS NULL OR status = $2)
             AND ($3::text IS NULL OR source = $3) AND timestamp >= to_timestamp($4) AND timestamp < to_timestamp($5) AND ($6::uuid IS NULL OR site_id = $6)`,
          [
            query.Severity ?? 5,
            query.Status ?? null,
            query.Source ?? null,
            query.from ?? 0,
            Number(query.to ?? 4e9) + 1,
            query.site ?? null,
          ],
        );
        expect(deep).toEqual(truth?.ids);
        expect([totalCount, everything.totalCount]).toEqual([deep.length, deep.length]);
      }
    }
    const [wrong] = await db.query<{ n: number }>(
      `SELECT count(*) AS n FROM (
         SELECT site_id, event_day(timestamp), status, severity, source, count(*) FROM events GROUP BY 1, 2, 3, 4, 5
         UNION ALL SELECT NULL, event_hour(timestamp), status, severity, source, count(*) FROM events GROUP BY 2, 3, 4, 5
         EXCEPT ALL SELECT site_id, bucket, status, severity, source, sum(n)::int8 FROM event_tally GROUP BY 1, 2, 3, 4, 5) x`,
    );
    expect(wrong?.n).toBe(0);
  });
});
