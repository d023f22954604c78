import {
  AVAILABILITY_FILE_MOST,
  AVAILABILITY_PAGE_MOST,
  type Availability,
} from '@rollcall/shared/api/availability';
import type { Clock } from '@rollcall/shared/clock';
import { csvLine } from '@rollcall/shared/csv';
import type { Database } from '../../platform/db/db.ts';
import { scopeOf } from '../../platform/db/list.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { Problem } from '../../platform/problem.ts';
import { type Period, periodOf } from './period.ts';
import { readAvailability, readSpans } from './read.ts';

const COLUMNS = ['from', 'to', 'site', 'device', 'interface', 'devices'];
const STATES = ['up', 'down', 'maintenance', 'notObserved', 'availability'] as const;

export function availabilityHandlers({
  db,
  clock,
}: {
  db: Database;
  clock: Clock;
}): Handlers<'availability.list' | 'availability.spans' | 'availability.file'> {
  return {
    'availability.list': async ({ query, actor }) => {
      const period = periodOf(query, clock.now());
      const scope = scopeOf(actor, query.site);
      const page = await readAvailability(db, query, { scope, period });
      return { ...page, extra: { from: period.from, to: period.until } };
    },
    'availability.spans': async ({ query, actor }) => ({
      data: await readSpans(db, query, { scope: scopeOf(actor), period: periodOf(query, clock.now()) }),
    }),
    'availability.file': async ({ query, actor }) => {
      const period = periodOf(query, clock.now());
      const scope = scopeOf(actor, query.site);
      const rows: Availability[] = [];
      for (let page = 1; ; page++) {
        const asked = { ...query, page, pageSize: AVAILABILITY_PAGE_MOST };
        const part = await readAvailability(db, asked, { scope, period });
        if (part.totalCount > AVAILABILITY_FILE_MOST)
          throw new Problem(
            'invalid_request',
            `${part.totalCount} entries are more than ${AVAILABILITY_FILE_MOST}: ask by site, or in pages`,
          );
        rows.push(...part.data);
        if (part.data.length < AVAILABILITY_PAGE_MOST) break;
      }
      return {
        raw: (response) => {
          response.setHeader('Content-Type', 'text/csv; charset=utf-8');
          response.setHeader('Content-Disposition', 'attachment; filename="availability.csv"');
          response.end(csvOf(rows, period));
        },
      };
    },
  };
}

/** Times are ISO 8601 in UTC, states in seconds, availability in percent. */
const csvOf = (rows: readonly Availability[], { from, until }: Period): string =>
  [
    csvLine([...COLUMNS, ...STATES]),
    ...rows.flatMap(({ days, ...entry }) =>
      (days ?? [{ from, to: until, ...entry }]).map((part) =>
        csvLine([
          iso(part.from),
          iso(part.to),
          ...[entry.site, entry.device, entry.interface, entry.devices],
          ...STATES.map((state) => part[state]),
        ]),
      ),
    ),
  ].join('');

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');
