/** The operations on scans, thin: rights and shapes here, deeds in `scans.ts`. */

import { oneOf, orderBy, Parameters, scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { visibleSites } from '../platform/http/handler.ts';
import { listAddresses } from './addresses.ts';
import type { ScanDeps } from './deps.ts';
import type { Scans } from './scans.ts';
import { creatorOf } from './schedules.ts';

const ORDERS = {
  createdAt: 's.created_at',
  startedAt: 's.started_at',
  finishedAt: 's.finished_at',
  status: 's.status',
  addressesTotal: 's.addresses_total',
};

/** Targets in the subject of an audit entry, characters. */
const SUBJECT_CHARACTERS = 80;
const shortened = (targets: string): string => {
  const line = targets.trim().replace(/\s+/g, ' ');
  return line.length > SUBJECT_CHARACTERS ? `${line.slice(0, SUBJECT_CHARACTERS - 1)}…` : line;
};

type Ids = 'scans.create' | 'scans.plan' | 'scans.list' | 'scans.get' | 'scans.cancel' | 'scans.addresses';

export function scanHandlers({
  db,
  audit,
  scans,
}: Pick<ScanDeps, 'db' | 'audit'> & { scans: Scans }): Handlers<Ids> {
  return {
    'scans.create': async ({ actor, body, header, address }) => {
      const { targets, profile } = body;
      const data = await scans.create(body, creatorOf(actor), {
        key: header('idempotency-key'),
        note: (sql, { id, siteId }) =>
          audit(sql, {
            ...{ actor, address, action: 'scan.create', subject: `scan of ${shortened(targets)}`, siteId },
            detail: { id, targets: targets.trim().slice(0, 500), profile },
          }),
      });
      const headers = { Location: `/api/discovery/scans/${data.id}` };
      return { data, extra: { scanId: data.id }, headers };
    },

    'scans.plan': async ({ actor, body }) => ({ data: await scans.plan(body, creatorOf(actor)) }),

    'scans.list': ({ actor, query }) =>
      scans.list({
        where: '($1::uuid[] IS NULL OR s.site_id = ANY($1))',
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: {
          status: (p, statuses) => oneOf(p, 's.status', 'text', statuses),
          profile: (p, profile) => `s.profile = ${p.add(profile)}::text`,
        },
        query,
        order: `${orderBy(query.sort ?? '-createdAt', ORDERS)}, s.id DESC`,
      }),

    'scans.get': async ({ actor, params }) => ({
      data: await scans.detail(visibleSites(actor), params.scanId),
    }),

    'scans.cancel': async ({ actor, params, address }) => {
      const data = await scans.cancel(visibleSites(actor), params.scanId, (sql, { id, siteId, targets }) =>
        audit(sql, {
          ...{ actor, address, action: 'scan.cancel', subject: `scan of ${shortened(targets)}`, siteId },
          detail: { id },
        }),
      );
      return { data };
    },

    'scans.addresses': async ({ actor, params, query }) => {
      await scans.get(db, visibleSites(actor), params.scanId);
      return listAddresses(db, params.scanId, query);
    },
  };
}
