/**
 * The short way of what comes again (`unchanged.ts`) against the full one: the same random history at two sites, one of
 * which keeps no digests and so recognises nothing. What is stored at the end, and every change that was told, is equal.
 */
import { uuidv7 } from '@rollcall/shared/uuid';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { countMissed } from '../missed.ts';
import { answered, asked, type Box, NOW, openSite, port, type TestSite, table } from '../testing/site.ts';
import { identityActions } from './actions.ts';

afterAll(closeDatabases);

const HOUR = 3600_000;
const ADDRESSES = ['10.0.0.1', '10.0.1.1', '10.0.2.1'];
const MAC = '00:1b:54:00:00:07';

/** Boxes and what they may say: mostly the first, and mostly the same. */
const boxOf = (box: number, says: number): Box =>
  box === 0
    ? {
        sysName: 'sw1',
        serials: [says === 3 ? 'FCW1929B69T' : 'FCW1929B68S'],
        table: says === 2 ? ['10.0.0.1', '10.0.2.1'] : ['10.0.0.1', '10.0.1.1'],
        macs: [MAC, '00:1b:54:00:00:08'],
        ...(says === 1 ? { sysDescr: 'a newer box' } : {}),
      }
    : { sysName: 'printer', serials: ['XX11YY22ZZ'], ...(says === 1 ? { sysDescr: 'a newer printer' } : {}) };
const PORTS = [[port(1, 'a'), port(2, 'b')], [port(1, 'a')], [port(1, 'a'), port(2, 'b', { operStatus: 2 })]];

const address = fc.constantFrom('10.0.0.1', ...ADDRESSES);
const walk = {
  do: 'walk' as const,
  box: 0,
  address: '10.0.0.1',
  says: 0,
  ports: 0,
  complete: true,
  rttMs: 1 as number | null,
  collector: 0,
  inJob: false,
  /** Hours that it waited before it came. */
  late: 0,
  restarted: false,
  /** In batches of their own: the walk, then its ports. */
  apart: false,
};
/** The usual walk but for one or two things. */
const odd = fc
  .record(
    {
      box: fc.constant(1),
      address,
      says: fc.constantFrom(1, 2, 3),
      ports: fc.constantFrom(1, 2),
      complete: fc.constant(false),
      rttMs: fc.constantFrom(50, null),
      collector: fc.constant(1),
      inJob: fc.constant(true),
      late: fc.constant(2),
      restarted: fc.constant(true),
      apart: fc.constant(true),
    },
    { requiredKeys: [] },
  )
  .map((some) => ({ ...walk, ...Object.fromEntries(Object.entries(some).slice(0, 2)) }) as typeof walk);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant(walk) },
  { weight: 6, arbitrary: odd },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('host' as const),
      address: fc.oneof(address, fc.constant('10.0.9.9')),
      mac: fc.boolean(),
      snmp: fc.constantFrom('not-asked' as const, 'silent' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('trap' as const), address }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('monitor' as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'missed' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('split' as const), address }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** Between two walks that find the same: something else, in the batch of the second or in one of its own. */
const history = fc
  .array(
    fc.record({
      hours: fc.constantFrom(0.001, 0.01, 1, 1, 1, 30, 200),
      between: step,
      together: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((rounds) => [
    { hours: 0, steps: [walk] as Step[] },
    ...rounds.flatMap(({ hours, between, together }) =>
      together
        ? [{ hours, steps: [between, walk] }]
        : [
            { hours, steps: [between] },
            { hours: 1, steps: [walk] },
          ],
    ),
  ]);
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

describe.each(databases())('random histories on %s', (_name, open) => {
  let db: Database;
  let recognised = 0;
  beforeAll(async () => {
    db = await open();
  });

  /** Observations of a step with the collector that sends them, in their batches. */
  const batchesOf = (
    each: Step,
    at: number,
    uptime: number,
    id: string,
    job: string,
  ): [number, unknown[]][] => {
    if (each.do === 'host')
      return [[0, [answered(each.address, { at, snmp: each.snmp, ...(each.mac ? { mac: MAC } : {}) })]]];
    if (each.do !== 'walk') return [];
    const when = at - each.late * HOUR;
    const sysUpTime = each.restarted ? 100 : uptime - each.late * 360_000;
    const device = asked({ ...boxOf(each.box, each.says), sysUpTime }, each.address, {
      at: when,
      walk: id,
      rttMs: each.rttMs,
      ...(each.inJob ? { job } : {}),
    });
    const rows = table(device, 'interfaces', PORTS[each.ports] as unknown[], {
      at: when,
      complete: each.complete,
      ...(each.inJob ? { job } : {}),
    });
    return each.apart
      ? [
          [each.collector, [device]],
          [each.collector, [rows]],
        ]
      : [[each.collector, [device, rows]]];
  };

  const deviceAt = async (site: TestSite, where: string): Promise<string | undefined> => {
    const [row] = await db.query<{ id: string }>(
      `SELECT device_id AS id FROM evidence WHERE site_id = $1::uuid AND kind = 'address' AND value = $2`,
      [site.siteId, where],
    );
    return row?.id;
  };

  /** What is not an observation of a scan. */
  const happen = async (site: TestSite, each: Step, at: number, job: string): Promise<void> => {
    const clock = { now: () => at } as never;
    if (each.do === 'monitor')
      await db.query('UPDATE devices SET monitor = $2 WHERE site_id = $1::uuid', [site.siteId, each.on]);
    if (each.do === 'missed')
      await db.transaction((sql) => countMissed(sql, site.siteId, job, at, site.collectors[0] as string));
    if (each.do === 'split') {
      const id = await deviceAt(site, each.address);
      const actions = identityActions({ db, clock, recordChanges: async () => undefined });
      if (id)
        await actions
          .split({ userId: uuidv7(), name: 'ada', note: async () => undefined }, id, [each.address])
          .catch(() => undefined);
    }
    if (each.do === 'trap')
      await site.ingest.accept({
        collectorId: site.collectors[0] as string,
        siteId: site.siteId,
        epoch: uuidv7(),
        stream: 'event',
        from: 0,
        items: [
          {
            kind: 'trap',
            at,
            address: each.address,
            snmpVersion: 'v2c',
            trapOid: '1.3.6.1.6.3.1.1.5.3',
            varbinds: [{ oid: '1.3.6.1.2.1.2.2.1.1.2', type: 'Integer', value: '2' }],
          },
        ],
        clockOffsetMs: 0,
      });
  };

  const live = async (batches: History, fully: boolean) => {
    const site = await openSite(db, { collectors: 2 });
    const [scan, job] = [uuidv7(), uuidv7()];
    await db.query(
      `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total) VALUES ($1, $2, '', 'p', '{}', 1)`,
      [scan, site.siteId],
    );
    await db.query(
      `INSERT INTO jobs (id, site_id, scan_id, position, cidr, size, spans, outcomes)
       VALUES ($1, $2, $3, 0, '', 1, '[]', '')`,
      [job, site.siteId, scan],
    );
    let hours = 0;
    let walks = 0;
    const send = async (collector: number, items: unknown[]) => {
      if (fully)
        await db.query(`UPDATE sightings SET received = '{}' WHERE site_id = $1::uuid`, [site.siteId]);
      if (items.length > 0) await site.send(items, site.collectors[collector]);
    };
    for (const { hours: later, steps } of batches) {
      hours += later;
      const at = NOW + hours * HOUR;
      site.clock.set(at);
      // One batch for all that is reported together, where one collector reports it.
      let [collector, items]: [number, unknown[]] = [0, []];
      for (const each of steps) {
        walks += 1;
        const id = `00000000-0000-7000-8000-${String(walks).padStart(12, '0')}`;
        for (const [by, more] of batchesOf(each, at, 1e6 + hours * 360_000, id, job)) {
          const apart = by !== collector || (each.do === 'walk' && each.apart);
          if (apart) await send(collector, items);
          items = apart ? more : [...items, ...more];
          collector = by;
        }
        if (!['walk', 'host'].includes(each.do)) {
          await send(collector, items);
          items = [];
          await happen(site, each, at, job);
        }
      }
      await send(collector, items);
    }
    return stateOf(site, [scan, job]);
  };

  /** Everything that is stored of a site and was told, without what the short way is excused from, names for ids. */
  const stateOf = async (site: TestSite, ids: string[]) => {
    const names = new Map([site.siteId, ...site.collectors, ...ids].map((id, i) => [id, `id${i}`]));
    const devices = await db.query<{ id: string; label: string }>(
      `SELECT d.id, coalesce((SELECT string_agg(kind || ':' || value, ' ' ORDER BY kind, value) FROM evidence e
         WHERE e.site_id = d.site_id AND e.device_id = d.id), d.name || d.first_seen) AS label
       FROM devices d WHERE site_id = $1::uuid`,
      [site.siteId],
    );
    for (const { id, label } of devices) names.set(id, label);
    const read = async (what: string) =>
      (await db.query(what, [site.siteId])).map((row) => JSON.stringify(row));
    const rows = await Promise.all([
      read('SELECT to_jsonb(d) AS device FROM devices d WHERE site_id = $1::uuid'),
      read(
        `SELECT to_jsonb(v) - 'merged_at' - 'received' AS sighting FROM sightings v WHERE site_id = $1::uuid`,
      ),
      read(`SELECT to_jsonb(e) - 'last_seen' AS evidence FROM evidence e WHERE site_id = $1::uuid`),
      read(`SELECT to_jsonb(f) - 'seen_at' AS facts FROM device_facts f WHERE site_id = $1::uuid`),
      read(`SELECT to_jsonb(i) - 'id' AS port FROM interfaces i WHERE site_id = $1::uuid`),
      read('SELECT to_jsonb(a) AS address FROM device_addresses a WHERE site_id = $1::uuid'),
      read('SELECT to_jsonb(w) AS part FROM walk_parts w WHERE site_id = $1::uuid'),
    ]);
    const [seen] = await db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM sightings WHERE site_id = $1::uuid AND merged_at < last_seen',
      [site.siteId],
    );
    const named = (text: string) =>
      text.replace(
        /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
        (id) => names.get(id) ?? (id.startsWith('00000000') ? id : 'an id'),
      );
    return {
      rows: rows.flat().map(named).sort(),
      changes: site.changes.map((change) => named(JSON.stringify(change))).sort(),
      recognised: seen?.n ?? 0,
    };
  };

  it('end the same way', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async (batches) => {
        const { recognised: n, ...short } = await live(batches, false);
        const { recognised: none, ...full } = await live(batches, true);
        expect(short).toEqual(full);
        recognised += n;
      }),
      {
        numRuns: Number(process.env.TEST_RUNS ?? 25),
        ...(process.env.TEST_SEED ? { seed: Number(process.env.TEST_SEED) } : {}),
      },
    );
    expect(recognised, 'something was recognised at all').toBeGreaterThan(0);
  });
});
