import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../../platform/db/db.ts';
import { scopeOf } from '../../platform/db/list.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { periodOf } from './period.ts';
import { readAvailability, readSpans } from './read.ts';

export const availabilityHandlers = ({
  db,
  clock,
}: {
  db: Database;
  clock: Clock;
}): Handlers<'availability.list' | 'availability.spans'> => ({
  'availability.list': async ({ query, actor }) => {
    const period = periodOf(query, clock.now());
    const scope = scopeOf(actor, query.site);
    const page = await readAvailability(db, query, { scope, period });
    return { ...page, extra: { from: period.from, to: period.until } };
  },
  'availability.spans': async ({ query, actor }) => ({
    data: await readSpans(db, query, { scope: scopeOf(actor), period: periodOf(query, clock.now()) }),
  }),
});
