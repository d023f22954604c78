/** Measurements over time: stored as they come, rolled up by the hour, answered at the step that is asked. */
import type { Clock } from '@rollcall/shared/clock';
import type { Secret } from '@rollcall/shared/secret';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { MetricDays } from '../platform/ops/config.ts';
import type { Audit, Raise } from '../ports.ts';
import { currentText } from './current.ts';
import { openEngine } from './engine/query.ts';
import { createShipper } from './engine/ship.ts';
import { type LimitIds, limitHandlers } from './limits/handlers.ts';
import { readMeasurements } from './read.ts';
import { forgetChunks, rollUp } from './rollup.ts';
import { listSensors } from './sensors/list.ts';
import { readTop } from './top.ts';

interface Deps {
  db: Database;
  clock: Clock;
  log: Logger;
  raise: Raise;
  audit: Audit;
  /** How long measurements are kept. */
  days: MetricDays;
  /** An engine for time series that keeps measurements; absent: the database does. */
  engine?: { write: Secret; query: Secret } | undefined;
}

export function createMeasurementFeature({ db, clock, log, raise, audit, days, engine: at }: Deps) {
  const engine = at && openEngine(at.query.reveal());
  const shipper = at && createShipper({ db, clock, log, raise, write: at.write.reveal() });
  const handlers: Handlers<
    'measurements.get' | 'measurements.top' | 'measurements.current' | 'sensors.list' | LimitIds
  > = {
    ...limitHandlers({ db, clock, audit }),
    'measurements.get': async ({ query, actor }) => ({
      data: await readMeasurements(db, query, { scope: scopeOf(actor), now: clock.now(), days, engine }),
    }),
    'measurements.top': async ({ query, actor }) => ({
      data: await readTop(db, query, { scope: scopeOf(actor, query.site), now: clock.now() }),
    }),
    'measurements.current': async ({ query, actor }) => {
      const text = await currentText(db, scopeOf(actor, query.site), clock.now());
      return {
        raw: (response) => {
          response.setHeader('Content-Type', 'application/openmetrics-text; version=1.0.0; charset=utf-8');
          response.end(text);
        },
      };
    },
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
    forget: () => forgetChunks({ db, clock, log, days }),
  };
}
