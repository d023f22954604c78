/** What did not make it into the inventory, and why: dead letters of the server, gaps that collectors report. */
import { type collectorOperations, DEAD_LETTER_SHOWN } from '@rollcall/shared/api/collectors';
import type { z } from 'zod';
import { between, type PageQuery, Parameters, readPage, scopeOf, unix } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { CollectorDeps } from './deps.ts';

const ORIGIN = `l.site_id AS "siteId", s.name AS site, l.collector_id AS "collectorId", c.name AS collector, l.epoch,
  l.stream, l.reason, ${unix('l.at')} AS at`;
const from = (table: 'dead_letters' | 'gaps') =>
  `${table} l JOIN sites s ON s.id = l.site_id LEFT JOIN collectors c ON c.id = l.collector_id`;
const KEY = ['l.site_id', 'l.collector_id', 'l.epoch', 'l.stream'];
const WHERE = '($1::uuid[] IS NULL OR l.site_id = ANY($1))';
/** Of dead letters and gaps alike. */
const FILTERS: PageQuery<
  z.output<(typeof collectorOperations)['gaps.list' | 'deadLetters.list']['query']>
>['filters'] = {
  collector: (p, id) => `l.collector_id = ${p.add(id)}::uuid`,
  ...between('l.at'),
};

export function lossHandlers({ db }: Pick<CollectorDeps, 'db'>): Handlers<'deadLetters.list' | 'gaps.list'> {
  return {
    'deadLetters.list': async ({ actor, query }) =>
      readPage(db, {
        columns: `${ORIGIN}, l.seq, left(l.body, ${DEAD_LETTER_SHOWN}) AS body, l.hash`,
        from: from('dead_letters'),
        key: [...KEY, 'l.seq'],
        where: WHERE,
        order: 'l.at DESC, l.collector_id, l.epoch, l.stream, l.seq DESC',
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: FILTERS,
        query,
      }),

    'gaps.list': async ({ actor, query }) =>
      readPage(db, {
        columns: `${ORIGIN}, l.from_seq AS "fromSeq", l.to_seq AS "toSeq", l.count`,
        from: from('gaps'),
        key: [...KEY, 'l.from_seq'],
        where: WHERE,
        order: 'l.at DESC, l.collector_id, l.epoch, l.stream, l.from_seq DESC',
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: FILTERS,
        query,
      }),
  };
}
