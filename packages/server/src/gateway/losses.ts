/** What did not make it into the inventory, and why: dead letters of the server, gaps that collectors report. */
import { DEAD_LETTER_SHOWN, type DeadLetter, type Gap } from '@rollcall/shared/api/collectors';
import { scopeOf } from '../platform/db/list.ts';
import { page, unix } from '../platform/db/page.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { CollectorDeps } from './deps.ts';

const ORIGIN = `l.site_id AS "siteId", s.name AS site, l.collector_id AS "collectorId", c.name AS collector, l.epoch,
  l.stream, l.reason, ${unix('l.at')} AS at`;
const from = (table: 'dead_letters' | 'gaps') =>
  `${table} l JOIN sites s ON s.id = l.site_id LEFT JOIN collectors c ON c.id = l.collector_id`;
const WHERE = `($1::uuid[] IS NULL OR l.site_id = ANY($1)) AND ($2::uuid IS NULL OR l.collector_id = $2)
  AND ($3::int8 IS NULL OR l.at >= to_timestamp($3)) AND ($4::int8 IS NULL OR l.at < to_timestamp($4 + 1))`;

export function lossHandlers({ db }: Pick<CollectorDeps, 'db'>): Handlers<'deadLetters.list' | 'gaps.list'> {
  return {
    'deadLetters.list': async ({ actor, query }) =>
      page<DeadLetter>(db, {
        columns: `${ORIGIN}, l.seq, left(l.body, ${DEAD_LETTER_SHOWN}) AS body, l.hash`,
        from: from('dead_letters'),
        where: WHERE,
        order: 'l.at DESC, l.collector_id, l.epoch, l.stream, l.seq DESC',
        params: [scopeOf(actor, query.site), query.collector ?? null, query.from ?? null, query.to ?? null],
        page: query.page,
        pageSize: query.pageSize,
      }),

    'gaps.list': async ({ actor, query }) =>
      page<Gap>(db, {
        columns: `${ORIGIN}, l.from_seq AS "fromSeq", l.to_seq AS "toSeq", l.count`,
        from: from('gaps'),
        where: WHERE,
        order: 'l.at DESC, l.collector_id, l.epoch, l.stream, l.from_seq DESC',
        params: [scopeOf(actor, query.site), query.collector ?? null, query.from ?? null, query.to ?? null],
        page: query.page,
        pageSize: query.pageSize,
      }),
  };
}
