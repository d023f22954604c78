/** Where a thing applies: at all sites, or at those that it names. */
import type { Transaction } from '../db/db.ts';
import { type Actor, sees } from '../http/handler.ts';
import { invalid, Problem } from '../problem.ts';

export interface Scope {
  allSites: boolean;
  siteIds: string[];
}

export async function requireSites({ prisma }: Transaction, siteIds: readonly string[]): Promise<void> {
  const known = await prisma.site.count({ where: { id: { in: [...siteIds] } } });
  if (known < siteIds.length) throw invalid('siteIds', 'names a site that does not exist');
}

/** A caller changes only what concerns nobody but sites of theirs. @param verb of the message: `used at` a site. */
export function requireScope(actor: Actor, { allSites, siteIds }: Scope, verb: string): void {
  if (actor.sites === 'all') return;
  if (allSites)
    throw new Problem(
      'forbidden',
      `${verb} all sites: only an administrator who sees every site may do this`,
    );
  if (siteIds.some((site) => !sees(actor, site)))
    throw new Problem('forbidden', `${verb} a site that you have no access to`);
}

/** The scope that a request names, which the caller may give; one without any site is a mistake. */
export async function scopeOfRequest(
  sql: Transaction,
  actor: Actor,
  request: { allSites?: boolean | undefined; siteIds: readonly string[] },
  verb: string,
): Promise<Scope> {
  // In one order: names are unique among those of the same sites.
  const siteIds = [...new Set(request.siteIds)].sort();
  const allSites = request.allSites ?? siteIds.length === 0;
  if (!allSites && siteIds.length === 0) throw invalid('siteIds', 'name at least one site, or set allSites');
  requireScope(actor, { allSites, siteIds }, verb);
  await requireSites(sql, siteIds);
  return { allSites, siteIds };
}
