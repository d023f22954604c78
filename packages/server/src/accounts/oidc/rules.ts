/** Which role and sites somebody gets, by the groups that the provider told of them. Pure. */
import { ROLES, type Role } from '@rollcall/shared/model';
import type { OidcRule } from '../../platform/ops/oidc-settings.ts';

export interface Grant {
  role: Role;
  /** Names of sites. */
  sites: 'all' | string[];
}

/**
 * Of the rules that fit, those with the highest role count, with the sites of all of these: nobody is an administrator of a
 * site at which a rule makes them a viewer. `groups`: undefined where the provider told none at all.
 */
export function grantOf(
  rules: readonly OidcRule[],
  groups: readonly string[] | undefined,
): Grant | { refusal: 'no-rule' | 'no-groups' } {
  const fitting = rules.filter((rule) =>
    rule.groups.some((group) => group === '*' || (groups ?? []).includes(group)),
  );
  const role = ROLES.findLast((each) => fitting.some((rule) => rule.role === each));
  if (role === undefined) return { refusal: groups === undefined ? 'no-groups' : 'no-rule' };
  const sites = fitting.filter((rule) => rule.role === role).map((rule) => rule.sites);
  return { role, sites: sites.includes('all') ? 'all' : [...new Set(sites.flat())] };
}

/**
 * The sign-in name out of a claim: lower case, without accents, other characters as `-`. Null where nothing is left of it.
 */
export function nameOf(claim: string): string | null {
  const plain = claim
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9._@-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
  return plain === '' ? null : plain;
}
