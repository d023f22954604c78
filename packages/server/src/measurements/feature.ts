/** Measurements over time: stored as they come, rolled up by the hour, answered at the step that is asked. */
import { pipeline } from 'node:stream/promises';
import type { MetricQuery } from '@rollcall/shared/api/measurements';
import type { Clock } from '@rollcall/shared/clock';
import type { Secret } from '@rollcall/shared/secret';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import { type Scope, scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { MetricDays } from '../platform/ops/config.ts';
import type { Audit, RecordChanges } from '../ports.ts';
import { currentText } from './current.ts';
import { openEngine } from './engine/query.ts';
import { createShipper } from './engine/ship.ts';
import { keepEventCharts, readEventChart } from './event-charts.ts';
import { csvOf } from './file.ts';
import { type LimitIds, limitHandlers } from './limits/handlers.ts';
import { readMeasurements } from './read.ts';
import { forgetChunks, rollUp } from './rollup.ts';
import { listSensors } from './sensors/list.ts';
import { readTop } from './top.ts';

interface Deps {
  db: Database;
  clock: Clock;
  log: Logger;
  recordChanges: RecordChanges;
  audit: Audit;
  /** How long measurements are kept. */
  days: MetricDays;
  /** An engine for time series that keeps measurements; absent: the database does. */
  engine?: { write: Secret; query: Secret } | undefined;
}

export function createMeasurementFeature({ db, clock, log, recordChanges, audit, days, engine: at }: Deps) {
  const engine = at && openEngine(at.query.reveal());
  const shipper = at && createShipper({ db, clock, log, recordChanges, write: at.write.reveal() });
  const read = (query: MetricQuery, scope: Scope) =>
    readMeasurements(db, query, { scope, now: clock.now(), days, engine });
  const handlers: Handlers<
    | 'measurements.get'
    | 'measurements.file'
    | 'measurements.top'
    | 'measurements.current'
    | 'sensors.list'
    | 'events.chart'
    | LimitIds
  > = {
    ...limitHandlers({ db, clock, audit }),
    'measurements.get': async ({ query, actor }) => ({ data: await read(query, scopeOf(actor)) }),
    'measurements.file': async ({ query, actor }) => {
      const data = await read(query, scopeOf(actor));
      return {
        raw: async (response) => {
          response.setHeader('Content-Type', 'text/csv; charset=utf-8');
          response.setHeader('Content-Disposition', 'attachment; filename="measurements.csv"');
          // Who has enough ends the connection.
          await pipeline(csvOf(data), response).catch(() => undefined);
        },
      };
    },
    'measurements.top': async ({ query, actor }) => ({
      data: await readTop(db, query, { scope: scopeOf(actor, query.site), now: clock.now() }),
    }),
    'measurements.current': async ({ query, actor }) => {
      const text = currentText(db, { scope: scopeOf(actor, query.site), now: clock.now() });
      return {
        raw: async (response) => {
          response.setHeader('Content-Type', 'application/openmetrics-text; version=1.0.0; charset=utf-8');
          // At the pace of the reader. A failure ends the connection: without its last line a scrape counts as failed.
          await pipeline(text, response).catch((error: Error) =>
            log.warn({ reason: error.message }, 'a scrape of the measurements was not answered to its end'),
          );
        },
      };
    },
    'events.chart': async ({ params: { id }, actor }) => ({
      data: await readEventChart(db, { id, scope: scopeOf(actor), read }),
    }),
    'sensors.list': async ({ query, actor }) => listSensors(db, query, scopeOf(actor, query.site)),
  };
  return {
    handlers,
    /** Bounded; to be called again and again. */
    rollUp: () => rollUp({ db, clock, log, ...(engine && { only: 'unsent IS NULL' }) }),
    /** Sends what waits to the engine, where there is one, and deletes what it has. */
    ship: async () => {
      await shipper?.ship();
      await shipper?.forget();
    },
    /** Bounded; to be called again and again. */
    keepEventCharts: () => keepEventCharts(db, clock, read),
    forget: () => forgetChunks({ db, clock, log, days }),
  };
}
