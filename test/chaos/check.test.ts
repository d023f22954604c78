import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPresent } from '@rollcall/server/incidents/conditions/store';
import { createRecorder } from '@rollcall/server/incidents/record';
import { NO_CATALOGUE } from '@rollcall/server/ingest/classification/catalogue';
import { classifier } from '@rollcall/server/ingest/classification/classify';
import { createIngest } from '@rollcall/server/ingest/ingest';
import { storeSamples } from '@rollcall/server/measurements/samples';
import type { Database } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { closeDatabases, databases } from '@rollcall/server/testing/database';
import { systemClock } from '@rollcall/shared/clock';
import { ofStreams, STREAMS, streamOf } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check, type Owner, type Rows, sound, type Verdict } from './check.ts';
import { type Fact, factOf, measuredName } from './facts.ts';
import { LedgerWriter } from './ledger.ts';

/** Enough for every kind of fact, a second version of every device, and both kinds of poison. */
const FACTS = 2100;
const folder = mkdtempSync(join(tmpdir(), 'rollcall-check-'));
afterAll(async () => {
  await closeDatabases();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(databases())('the checker on %s', (name, open) => {
  let db: Database;
  const owners: Owner[] = [];

  beforeAll(async () => {
    db = await open();
    const log = openLog({ logLevel: 'silent' });
    const ingest = createIngest({
      db,
      clock: systemClock,
      log,
      rules: () => ({
        id: 'none',
        classify: classifier({
          id: 'none',
          rules: [],
          vendors: {},
          catalogue: NO_CATALOGUE,
          ruleset: { id: 'none', extra: [] },
        }),
      }),
      applyOutcomes: async () => undefined,
      applySamples: (sql, measured, from) =>
        storeSamples(sql, measured, {
          ...{ ...from, readPresent, now: systemClock.now(), toEngine: false, sampleDays: 14 },
        }),
      applyJobEnd: async () => undefined,
      recordChanges: createRecorder({ db, clock: systemClock }).recordChanges,
    });
    for (const index of [0, 1]) {
      const owner = {
        index,
        collectorId: uuidv7(),
        siteId: uuidv7(),
        ledgerFile: join(folder, `${name}-${index}`),
      };
      owners.push(owner);
      await db.query(`INSERT INTO sites (id, name, networks, exclude) VALUES ($1::uuid, $2, '{}', '{}')`, [
        owner.siteId,
        `site ${index}`,
      ]);
      await db.query(
        `INSERT INTO collectors (id, site_id, name, public_key) VALUES ($1::uuid, $2::uuid, 'c', ''::bytea)`,
        [owner.collectorId, owner.siteId],
      );
      const at = systemClock.now();
      const source = { index, place: 0 };
      const first = factOf(source, 0, at);
      await deliver(ingest.accept, owner, [first]);
      const [device] = await db.query<{ id: string }>(`SELECT id FROM devices WHERE sys_name = $1`, [
        measuredName(source),
      ]);
      const facts = [
        first,
        ...Array.from({ length: FACTS - 1 }, (_, i) =>
          factOf(source, i + 1, at, { deviceId: device?.id ?? '', at: at - FACTS + i }),
        ),
      ];
      const ledger = new LedgerWriter(owner.ledgerFile);
      ledger.observed(facts);
      ledger.kept(0, FACTS - 1);
      ledger.close();
      await deliver(ingest.accept, owner, facts.slice(1));
    }
  });

  const judge = (rows: Rows) => check(rows, owners);

  test('finds nothing where everything was stored', async () => {
    const verdict = await judge(db);
    expect(verdict.examples).toEqual([]);
    expect(verdict).toMatchObject({ observed: 2 * FACTS, kept: 2 * FACTS, reported: 0 });
    expect(sound(verdict)).toBe(true);
  });

  const one = (table: string, where: string) =>
    `(SELECT id FROM ${table} WHERE ${where} ORDER BY id LIMIT 1)`;
  const sample = `(device_id, at) = (SELECT device_id, at FROM samples ORDER BY at LIMIT 1)`;
  const counted = `INSERT INTO gaps (site_id, collector_id, epoch, stream, from_seq, to_seq, count, reason, at)
    SELECT site_id, id, id, 'sample', 0, 0, 1, 'time', now() FROM collectors`;
  const trap = one('events', `kind = 'trap'`);
  const host = one('devices', 'sys_name IS NULL');
  const link = one('events', `kind = 'device.changed'`);
  const copy = (change: string) =>
    `WITH copied AS (
       INSERT INTO devices SELECT (jsonb_populate_record(d, ${change})).* FROM devices d WHERE id = ${host} RETURNING site_id, id)
     INSERT INTO sightings (site_id, device_id, last_seen, rtt_ms)
     SELECT copied.site_id, copied.id, v.last_seen, v.rtt_ms FROM copied, sightings v WHERE v.device_id = ${host}`;

  test.each<[keyof Verdict, string, string]>([
    ['lost', 'a trap', `DELETE FROM events WHERE id = ${trap}`],
    ['lost', 'a host', `DELETE FROM devices WHERE id = ${host}`],
    ['lost', 'a dead letter', 'DELETE FROM dead_letters WHERE seq = (SELECT min(seq) FROM dead_letters)'],
    [
      'lost',
      'a good one among the dead letters',
      `INSERT INTO dead_letters (site_id, collector_id, epoch, stream, seq, reason, body, hash)
      SELECT site_id, collector_id, site_id, 'event', 1, 'mistaken', details::text, '' FROM events WHERE id = ${trap}`,
    ],
    ['lost', 'a sample', `DELETE FROM samples WHERE ${sample}`],
    [
      'doubled',
      'a sample',
      `INSERT INTO samples (site_id, device_id, at, part, over_ms, data)
        SELECT site_id, device_id, at - interval '1 hour', part, over_ms, data FROM samples WHERE ${sample}`,
    ],
    [
      'altered',
      'a sample',
      `UPDATE samples SET data = jsonb_set(data, '{ping,avgMs}', '77') WHERE ${sample}`,
    ],
    [
      'altered',
      'the sensor of a sample',
      `UPDATE samples SET data = jsonb_set(data, '{sensors,sensor}', '[99]') WHERE ${sample}`,
    ],
    ['foreign', 'samples that are here and counted as lost', counted],
    ['doubled', 'a trap', `UPDATE events SET count = 2 WHERE id = ${trap}`],
    ['doubled', 'a host', copy(`'{"id":"00000000-0000-7000-8000-000000000001"}'`)],
    ['doubled', 'a link of a device', `UPDATE events SET count = 2 WHERE id = ${link}`],
    [
      'altered',
      'a trap',
      `UPDATE events SET details = jsonb_set(details, '{after,varbinds,1,value}', '"other"') WHERE id = ${trap}`,
    ],
    ['altered', 'a host', `UPDATE devices SET mac_address = '02:00:00:00:00:00' WHERE id = ${host}`],
    [
      'altered',
      'a host gone back',
      `UPDATE devices SET name = replace(name, 'v1.', 'v0.') WHERE name LIKE '%v1.%'`,
    ],
    ['altered', 'a device gone back', `UPDATE devices SET location = 'v0 x' WHERE sys_name IS NOT NULL`],
    [
      'foreign',
      'a link of a device',
      `UPDATE events SET details = jsonb_set(details, '{before,location}', '"v7 x"') WHERE id = ${link}`,
    ],
    ['misattributed', 'a trap to a collector', `UPDATE events SET collector_id = site_id WHERE id = ${trap}`],
    ['misattributed', 'a host to a collector', `UPDATE devices SET collector_id = NULL WHERE id = ${host}`],
    [
      'misattributed',
      'a trap to a site',
      `UPDATE events SET site_id = (SELECT id FROM sites WHERE id <> events.site_id) WHERE id = ${trap}`,
    ],
    [
      'foreign',
      'a trap',
      `UPDATE events SET details = jsonb_set(details, '{after,trapOid}', '"1.3.6.1.4.1.32473.1.999999"') WHERE id = ${trap}`,
    ],
  ])('%s: %s', async (fault, _what, statement) => {
    const verdict = await tampered(db, statement, judge);
    expect(verdict.examples.join('\n')).toContain(`${fault}: `);
    expect(sound(verdict)).toBe(false);
  });

  test('a sample that is counted as lost is no hole', async () => {
    const one = `DELETE FROM samples WHERE (device_id, at) IN (SELECT device_id, min(at) FROM samples GROUP BY 1)`;
    const verdict = await tampered(db, `WITH gone AS (${one}) ${counted}`, judge);
    expect(verdict.examples).toEqual([]);
    expect(verdict).toMatchObject({ untimely: 2, lost: 0 });
  });
});

/** Judges the database as it would be after a statement, and takes that back. */
async function tampered(
  db: Database,
  statement: string,
  judge: (rows: Rows) => Promise<Verdict>,
): Promise<Verdict> {
  let verdict: Verdict | undefined;
  const undo = new Error('undo');
  await db
    .transaction(async (sql) => {
      await sql.query(statement);
      verdict = await judge(sql);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  if (!verdict) throw new Error('not judged');
  return verdict;
}

async function deliver(
  accept: ReturnType<typeof createIngest>['accept'],
  { collectorId, siteId }: Owner,
  facts: readonly Fact[],
): Promise<void> {
  const epoch = uuidv7();
  const next = ofStreams(() => 0);
  for (let at = 0; at < facts.length; at += 250) {
    for (const stream of STREAMS) {
      const items = facts
        .slice(at, at + 250)
        .map(({ observation }) => observation)
        .filter((observation) => streamOf(observation) === stream)
        .map((observation) => JSON.parse(JSON.stringify(observation)));
      await accept({ collectorId, siteId, epoch, stream, from: next[stream], items, clockOffsetMs: 0 });
      next[stream] += items.length;
    }
  }
}
