/** Sites, each an address space of its own: who may be there, what may be probed. */

import { ANNOTATED } from '@rollcall/shared/api/annotations';
import type { Site, SiteSettings } from '@rollcall/shared/api/sites';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { storedFilters } from '../platform/db/custom-fields.ts';
import { orConflict, type Sql, type Transaction } from '../platform/db/db.ts';
import { containing, orderBy, Parameters, readPage, unix } from '../platform/db/list.ts';
import { requireMatch } from '../platform/http/etag.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { patched } from '../platform/http/patch.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import { audit } from './audit.ts';
import { canonicalBlocks } from './blocks.ts';
import type { AccountDeps } from './deps.ts';

const COLUMNS = `id, name, networks, exclude, allow_loopback AS "allowLoopback", allow_special AS "allowSpecial", settings,
  ${unix('created_at')} AS "createdAt"`;
const VISIBLE = '($1::uuid[] IS NULL OR id = ANY($1))';
const ORDERS = { name: 'lower(name)', createdAt: 'created_at' };

type Ids = 'sites.list' | 'sites.get' | 'sites.create' | 'sites.update' | 'sites.delete';

export function siteHandlers({ db, forget }: AccountDeps): Handlers<Ids> {
  return {
    'sites.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: 'sites',
        key: ['id'],
        where: VISIBLE,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, id`,
        parameters: new Parameters([visibleSites(actor)]),
        filters: { search: (p, text) => containing(p, text, ['name']) },
        query,
      }),

    'sites.get': async ({ actor, params }) => ({ data: await readSite(db, actor, params.id) }),

    'sites.create': async ({ actor, body, address }) => {
      // The new site would not be among their own: they could neither see nor give it.
      if (actor.sites !== 'all')
        throw new Problem('forbidden', 'only an administrator who sees every site can add one');
      const id = uuidv7();
      const data = await db.transaction(async (sql) => {
        const settings = await storedSettings(sql, body.settings);
        await orConflict(taken(body.name), () =>
          sql.prisma.site.create({ data: { id, name: body.name, ...stored({ ...body, settings }) } }),
        );
        await noteChange(sql, id);
        await audit(sql, {
          actor,
          address,
          action: 'site.create',
          subject: `site ${body.name}`,
          siteId: id,
          detail: { ...body },
        });
        return readSite(sql, actor, id);
      });
      return { data };
    },

    'sites.update': async ({ actor, params, body, address, header }) => {
      const data = await db.transaction(async (sql) => {
        const before = await readSite(sql, actor, params.id, 'FOR UPDATE');
        requireMatch(header('if-match'), before);
        const after = patched(before, body);
        after.settings = await storedSettings(sql, after.settings, before.settings);
        await orConflict(taken(after.name), () =>
          sql.prisma.site.update({ where: { id: params.id }, data: { name: after.name, ...stored(after) } }),
        );
        await noteChange(sql, params.id);
        await audit(sql, {
          actor,
          address,
          action: 'site.update',
          subject: `site ${before.name}`,
          siteId: params.id,
          detail: { ...body },
        });
        return readSite(sql, actor, params.id);
      });
      return { data };
    },

    'sites.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const site = await readSite(sql, actor, params.id, 'FOR UPDATE');
        const [held] = await sql.query<Record<'collectors' | 'devices' | 'scans', boolean>>(
          `SELECT EXISTS (SELECT 1 FROM collectors WHERE site_id = $1) AS collectors,
             EXISTS (SELECT 1 FROM devices WHERE site_id = $1) AS devices,
             EXISTS (SELECT 1 FROM scans WHERE site_id = $1) AS scans`,
          [params.id],
        );
        const left = Object.entries(held ?? {}).flatMap(([what, some]) => (some ? [what] : []));
        if (left.length > 0) throw new Problem('conflict', `the site still has ${left.join(', ')}`);
        await sql.prisma.site.delete({ where: { id: params.id } });
        await noteChange(sql, params.id);
        await audit(sql, {
          actor,
          address,
          action: 'site.delete',
          subject: `site ${site.name}`,
          siteId: params.id,
        });
      });
      // Accounts that had it see one site less.
      forget();
      return { data: null };
    },
  };
}

const taken = (name: string): string => `the name ${name} is taken`;

const stored = (site: Omit<Site, 'id' | 'name' | 'createdAt'>) => ({
  networks: canonicalBlocks('networks', site.networks),
  exclude: canonicalBlocks('exclude', site.exclude),
  allowLoopback: site.allowLoopback,
  allowSpecial: site.allowSpecial,
  settings: site.settings as Prisma.InputJsonObject,
});

/** In the transaction that stores them. @throws Problem where nothing can have the custom field that they name. */
async function storedSettings(
  sql: Transaction,
  { fieldThresholds, ...settings }: SiteSettings,
  before: SiteSettings = {},
): Promise<SiteSettings> {
  if (!fieldThresholds) return settings;
  const fields = await storedFilters(
    sql,
    ANNOTATED,
    fieldThresholds.map(({ field }) => field),
    {
      member: 'settings.fieldThresholds',
      before: (before.fieldThresholds ?? []).map(({ field }) => field),
    },
  );
  if (fields.length < fieldThresholds.length)
    throw invalid('settings.fieldThresholds', 'must name each value once');
  const said = fieldThresholds.map(({ thresholds }, at) => ({ field: fields[at] ?? '', thresholds }));
  return { ...settings, fieldThresholds: said };
}

async function readSite(sql: Sql, actor: Actor, id: string, lock = ''): Promise<Site> {
  const [site] = await sql.query<Site>(`SELECT ${COLUMNS} FROM sites WHERE ${VISIBLE} AND id = $2 ${lock}`, [
    visibleSites(actor),
    id,
  ]);
  if (!site) throw notFound('site');
  return site;
}

const noteChange = (sql: Sql, site: string) =>
  sql.query('SELECT pg_notify($1, $2)', [
    'rollcall_live',
    JSON.stringify({ site, kind: 'site', ids: [site] }),
  ]);
