import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import type { Scope } from '../../platform/db/list.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { FLEET_NOW, fillFleet, fleetId } from '../../testing/fleet.ts';
import { listEvents } from './list.ts';

afterAll(closeDatabases);

const secondsAgo = (days: number) => Math.floor((FLEET_NOW - days * 86_400_000) / 1000) - 1234;

describe.each(databases())('pages of many events on %s', (_name, open) => {
  let db: Database;

  beforeAll(async () => {
    db = await open();
    await fillFleet(db, { devices: 60, interfaces: 1, events: 1_500, cases: 10 });
    await db.query('ANALYZE');
  });

  it.each([
    ['-timestamp', 'timestamp DESC, id DESC'],
    ['severity', 'severity, timestamp DESC, id DESC'],
    ['-severity', 'severity DESC, timestamp DESC, id DESC'],
  ] as const)('by %s: every event once, in order, and as many as are told', async (sort, order) => {
    const spans = [{}, { from: secondsAgo(50) }, { from: secondsAgo(70), to: secondsAgo(20.3) }];
    const filters = [{}, { Severity: 3 as const, Status: [2] as (0 | 1 | 2)[] }];
    const scopes: Scope[] = [null, [fleetId('site', 0)]];
    for (const span of spans as { from?: number; to?: number }[])
      for (const filter of filters)
        for (const scope of scopes) {
          const [truth] = await db.query<{ ids: string[] }>(
            `SELECT coalesce(array_agg(id ORDER BY ${order}), '{}') AS ids FROM events
             WHERE timestamp >= to_timestamp($1) AND timestamp < to_timestamp($2) AND severity <= $3 AND status = ANY($4)
               AND ($5::uuid[] IS NULL OR site_id = ANY($5))`,
            [
              span.from ?? 0,
              (span.to ?? 1e10) + 1,
              'Severity' in filter ? filter.Severity : 5,
              'Status' in filter ? filter.Status : [0, 1, 2],
              scope,
            ],
          );
          expect(truth?.ids.length).toBeGreaterThan(100);
          const ids: string[] = [];
          for (let page = 1; ; page++) {
            const query = { ...span, ...filter, sort, page, pageSize: 333 };
            const { rows, totalCount } = await listEvents(db, query, scope);
            expect(totalCount).toBe(truth?.ids.length);
            if (rows.length === 0) break;
            ids.push(...rows.map(({ id }) => id));
          }
          expect(ids).toEqual(truth?.ids);
        }
  });
});
