/** Measurements over time: stored as they come, folded by the hour, answered at the step that is asked. */
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { currentText } from './current.ts';
import { fold, forgetChunks } from './fold.ts';
import { readMeasurements } from './read.ts';
import { listSensors } from './sensors/list.ts';
import { readTop } from './top.ts';

export function createMeasurementFeature({ db, clock, log }: { db: Database; clock: Clock; log: Logger }) {
  const handlers: Handlers<
    'measurements.get' | 'measurements.top' | 'measurements.current' | 'sensors.list'
  > = {
    'measurements.get': async ({ query, actor }) => ({
      data: await readMeasurements(db, query, { scope: scopeOf(actor), now: clock.now() }),
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
    'sensors.list': async ({ query, actor }) => {
      const { rows, totalCount } = await listSensors(db, query, scopeOf(actor, query.site));
      return { data: rows, totalCount };
    },
  };
  return {
    handlers,
    /** Bounded; to be called again and again. */
    fold: () => fold({ db, clock, log }),
    forget: () => forgetChunks({ db, clock }),
  };
}
