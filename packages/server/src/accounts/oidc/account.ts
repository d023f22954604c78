/** From who the provider says that somebody is to an account here, with the role and the sites that the rules give. */
import type { OidcRefusal } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import { rightsChanged } from '../../platform/access/auth.ts';
import type { Transaction } from '../../platform/db/db.ts';
import type { OidcSettings } from '../../platform/ops/oidc-settings.ts';
import { endSessions } from '../open-session.ts';
import { insertUser, setSites } from '../users.ts';
import type { Person } from './provider.ts';
import { type Grant, grantOf, nameOf } from './rules.ts';

export interface Admitted {
  userId: string;
  name: string;
  role: Role;
  allSites: boolean;
  siteIds: string[];
  /** Sites that the rules name and that do not exist. */
  missing: string[];
}

/** The account of a person, made or found, with today's rights; or why there is none for them. Hold the lock `sign-ins`. */
export async function admit(
  sql: Transaction,
  person: Person,
  settings: OidcSettings,
  address: string,
): Promise<Admitted | { refusal: OidcRefusal }> {
  const { issuer, subject } = person;
  const known = await sql.prisma.user.findFirst({ where: { oidcIssuer: issuer, oidcSubject: subject } });
  const grant = grantOf(settings.rules, person.groups);
  if ('refusal' in grant) {
    // Tokens and sessions of the account must not keep what its groups no longer give.
    if (known) await giveRights(sql, known.id, { role: 'viewer', allSites: false, siteIds: [] });
    return grant;
  }
  const { missing, ...rights } = await rightsOf(sql, grant);
  const user = known ?? (await newAccount(sql, person, rights, { settings, address }));
  if ('refusal' in user) return user;
  if (user.disabledAt) return { refusal: 'disabled' };
  await giveRights(sql, user.id, rights);
  return { userId: user.id, name: user.name, ...rights, missing };
}

type Rights = Pick<Admitted, 'role' | 'allSites' | 'siteIds'>;

async function rightsOf(sql: Transaction, { role, sites }: Grant): Promise<Rights & { missing: string[] }> {
  if (sites === 'all') return { role, allSites: true, siteIds: [], missing: [] };
  const found = await sql.prisma.site.findMany({ where: { name: { in: sites } }, orderBy: { id: 'asc' } });
  const missing = sites.filter((name) => !found.some((site) => site.name === name));
  return { role, allSites: false, siteIds: found.map(({ id }) => id), missing };
}

/**
 * Of somebody who signs in for the first time: the account that an administrator made for their name, or a new one. Never
 * one with a password, nor one of another person: anyone who may choose their name at the provider would take it over.
 */
async function newAccount(
  sql: Transaction,
  person: Person,
  rights: Rights,
  { settings, address }: { settings: OidcSettings; address: string },
) {
  const name = person.name === undefined ? null : nameOf(person.name);
  if (name === null) return { refusal: 'nameless' as const };
  const link = { oidcIssuer: person.issuer, oidcSubject: person.subject };
  const there = await sql.prisma.user.findUnique({ where: { name } });
  if (there) {
    if (there.passwordHash !== null || there.oidcSubject !== null) return { refusal: 'taken' as const };
    return sql.prisma.user.update({ where: { id: there.id }, data: link });
  }
  if (!settings.createAccounts) return { refusal: 'unknown' as const };
  const user = { name, displayName: person.displayName, ...rights };
  const id = await insertUser(sql, user, link, { actor: { name }, address });
  return sql.prisma.user.findUniqueOrThrow({ where: { id } });
}

/** Gives an account these rights and no others. With another role their sessions end. */
async function giveRights(sql: Transaction, id: string, { role, allSites, siteIds }: Rights): Promise<void> {
  const before = await sql.prisma.user.findUniqueOrThrow({ where: { id }, include: { sites: true } });
  const had = before.sites.map(({ siteId }) => siteId).sort();
  const same = before.allSites === allSites && had.join() === [...siteIds].sort().join();
  if (before.role === role && same) return;
  await sql.prisma.user.update({ where: { id }, data: { role, allSites } });
  await setSites(sql, id, siteIds);
  if (before.role !== role) await endSessions(sql, id, {});
  await rightsChanged(sql, id);
}
