/** Accounts of people: role, sites, enabled or not. */
import type { User } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import { rightsChanged } from '../platform/access/auth.ts';
import { requireSites } from '../platform/access/scope.ts';
import { orConflict, type Sql, type Transaction } from '../platform/db/db.ts';
import { containing, orderBy, Parameters, readPage, unix } from '../platform/db/list.ts';
import { requireMatch } from '../platform/http/etag.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { patched } from '../platform/http/patch.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { AuditRecord } from '../ports.ts';
import { audit } from './audit.ts';
import type { AccountDeps } from './deps.ts';
import { endSessions } from './open-session.ts';
import { hashPassword } from './password.ts';
import { refuseGuessable } from './password-list.ts';
import { removeFactor } from './second-factor/factor.ts';

const COLUMNS = `id, name, display_name AS "displayName", role, all_sites AS "allSites",
  ARRAY(SELECT site_id::text FROM user_sites WHERE user_id = users.id ORDER BY 1) AS "siteIds",
  CASE WHEN password_hash IS NULL THEN 'oidc' ELSE 'password' END AS "signIn",
  EXISTS (SELECT 1 FROM second_factors WHERE user_id = users.id AND confirmed_at IS NOT NULL) AS "secondFactor",
  ${unix('disabled_at')} AS "disabledAt",
  ${unix('created_at')} AS "createdAt",
  ${unix('last_login_at')} AS "lastLoginAt"`;
/**
 * Accounts that an administrator of the sites $1 may see and change: those that see one of these and no other. One without any
 * site is nobody's but of who sees all: anyone who sets its password now would have it when it is given a site.
 */
const WITHIN = `($1::uuid[] IS NULL OR (NOT all_sites
  AND EXISTS (SELECT 1 FROM user_sites WHERE user_id = users.id)
  AND NOT EXISTS (SELECT 1 FROM user_sites WHERE user_id = users.id AND NOT site_id = ANY($1))))`;
const ORDERS = { name: 'name', role: 'role', createdAt: 'created_at', lastLoginAt: 'last_login_at' };

export interface NewUser {
  name: string;
  displayName: string;
  role: Role;
  allSites: boolean;
  siteIds: readonly string[];
}

type By = Pick<AuditRecord, 'actor' | 'address'>;

/** Adds a user whose password is hashed already, or who signs in with the provider; the caller has the right to. */
export async function insertUser(
  sql: Transaction,
  user: NewUser,
  signIn: { passwordHash?: string; oidcIssuer?: string; oidcSubject?: string },
  by: By,
): Promise<string> {
  const id = uuidv7();
  await orConflict(`the name ${user.name} is taken`, () =>
    sql.prisma.user.create({
      data: {
        id,
        name: user.name,
        displayName: user.displayName,
        role: user.role,
        allSites: user.allSites,
        ...signIn,
      },
    }),
  );
  await setSites(sql, id, user.siteIds);
  await audit(sql, {
    ...by,
    action: 'user.create',
    subject: `user ${user.name}`,
    detail: {
      id,
      signIn: signIn.passwordHash === undefined ? 'oidc' : 'password',
      role: user.role,
      allSites: user.allSites,
      siteIds: user.siteIds,
    },
  });
  return id;
}

export async function setSites(sql: Transaction, userId: string, siteIds: readonly string[]): Promise<void> {
  const wanted = [...new Set(siteIds)];
  await requireSites(sql, wanted);
  await sql.prisma.userSite.deleteMany({ where: { userId } });
  await sql.prisma.userSite.createMany({ data: wanted.map((siteId) => ({ userId, siteId })) });
}

/** Nobody gives away more than they have: an administrator of some sites hands out those sites only. */
function requireReach(
  actor: Actor,
  { allSites, siteIds }: { allSites: boolean; siteIds: readonly string[] },
): void {
  const { sites } = actor;
  if (sites === 'all') return;
  if (allSites || siteIds.some((id) => !sites.includes(id)))
    throw new Problem('forbidden', 'no access to all of these sites');
  if (siteIds.length === 0)
    throw new Problem('forbidden', 'an account without a site is for an administrator of all sites');
}

/**
 * Somebody who can manage everything must stay, and with a password: the way back when the provider of identities is away.
 * Asked after the change, with those who can locked in one order.
 */
async function requireAdmin(sql: Transaction): Promise<void> {
  const admins = { role: 'admin', allSites: true, disabledAt: null, passwordHash: { not: null } };
  if ((await sql.prisma.user.count({ where: admins })) === 0)
    throw new Problem(
      'conflict',
      'this is the last enabled administrator of all sites with a password; make another one first',
    );
}
const lockAdmins = (sql: Sql) =>
  sql.query(
    `SELECT id FROM users WHERE role = 'admin' AND all_sites AND disabled_at IS NULL AND password_hash IS NOT NULL
     ORDER BY id FOR UPDATE`,
  );

async function readUser(sql: Sql, actor: Actor, id: string, lock = ''): Promise<User> {
  const [user] = await sql.query<User>(`SELECT ${COLUMNS} FROM users WHERE ${WITHIN} AND id = $2 ${lock}`, [
    visibleSites(actor),
    id,
  ]);
  if (!user) throw notFound('user');
  return user;
}

type Ids =
  | `users.${'list' | 'get' | 'create' | 'update' | 'delete' | 'resetSecondFactor'}`
  | 'assignees.list';

const HAS_NONE = 'an account that signs in with the provider has none';

function requireProvider(oidc: AccountDeps['oidc']): void {
  if (!oidc)
    throw invalid('signIn', 'there is no provider to sign in with; an administrator sets oidc.issuer');
}

async function ownPassword(password: string | undefined, name: string): Promise<{ passwordHash: string }> {
  if (password === undefined) throw invalid('password', 'is missing (a text is needed)');
  refuseGuessable('password', password, name);
  return { passwordHash: await hashPassword(password) };
}

/** The next sign-in would undo it. */
function refuseOtherRights(before: User, after: Pick<User, 'role' | 'allSites' | 'siteIds'>): void {
  const rights = ({ role, allSites, siteIds }: Pick<User, 'role' | 'allSites' | 'siteIds'>) =>
    JSON.stringify([role, allSites, [...siteIds].sort()]);
  if (rights(before) !== rights(after))
    throw new Problem(
      'conflict',
      `role and sites of ${before.name} follow from the groups at each sign-in; change the groups there or oidc.rules here`,
    );
}

export function userHandlers({ db, clock, forget, oidc }: AccountDeps): Handlers<Ids> {
  return {
    'users.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: 'users',
        key: ['id'],
        where: WITHIN,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, id`,
        parameters: new Parameters([visibleSites(actor)]),
        filters: { search: (p, text) => containing(p, text, ['name', 'display_name']) },
        query,
      }),

    'users.get': async ({ actor, params }) => ({ data: await readUser(db, actor, params.id) }),

    'users.create': async ({ actor, body, address }) => {
      const { password, signIn, ...user } = body;
      requireReach(actor, user);
      if (signIn === 'oidc') requireProvider(oidc);
      if (signIn === 'oidc' && password !== undefined) throw invalid('password', HAS_NONE);
      const own = signIn === 'oidc' ? {} : await ownPassword(password, body.name);
      const data = await db.transaction(async (sql) => {
        const id = await insertUser(sql, user, own, { actor, address });
        return readUser(sql, actor, id);
      });
      return { data };
    },

    'users.update': async ({ actor, params, body, address, header }) => {
      const { password, disabled, signIn, ...changes } = body;
      // It takes the password and the second factor, which a person who finds an open session must not.
      if (signIn === 'oidc' && params.id === actor.userId)
        throw new Problem('conflict', 'another administrator hands your own account over to the provider');
      if (signIn === 'oidc') requireProvider(oidc);
      if (signIn === 'oidc' && password !== undefined) throw invalid('password', HAS_NONE);
      const passwordHash = password === undefined ? null : await hashPassword(password);
      const data = await db.transaction(async (sql) => {
        await lockAdmins(sql);
        const before = await readUser(sql, actor, params.id, 'FOR UPDATE');
        requireMatch(header('if-match'), before);
        if (password !== undefined) refuseGuessable('password', password, before.name);
        const after = patched(before, changes);
        requireReach(actor, after);
        if (before.signIn === 'oidc' && passwordHash === null) refuseOtherRights(before, after);
        const { role, allSites, displayName } = after;
        await sql.prisma.user.update({
          where: { id: params.id },
          data: {
            role,
            allSites,
            displayName,
            ...((passwordHash !== null || signIn) && { passwordHash, oidcIssuer: null, oidcSubject: null }),
            ...(disabled === false && { disabledAt: null }),
            ...(disabled && before.disabledAt === null && { disabledAt: new Date(clock.now()) }),
          },
        });
        // Its provider asks for one from now on.
        if (signIn) await sql.prisma.secondFactor.deleteMany({ where: { userId: params.id } });
        if (body.siteIds) await setSites(sql, params.id, body.siteIds);
        await requireAdmin(sql);
        // A new role or password, or none any more: who is signed in signs in again.
        if (after.role !== before.role || passwordHash !== null || signIn || disabled)
          await endSessions(sql, params.id, {});
        await rightsChanged(sql, params.id);
        await audit(sql, {
          actor,
          address,
          action: 'user.update',
          subject: `user ${before.name}`,
          detail: { id: params.id, ...body, ...(password !== undefined && { password: 'changed' }) },
        });
        return readUser(sql, actor, params.id);
      });
      forget(params.id);
      return { data };
    },

    'users.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        await lockAdmins(sql);
        const user = await readUser(sql, actor, params.id, 'FOR UPDATE');
        await sql.prisma.user.delete({ where: { id: params.id } });
        await requireAdmin(sql);
        await rightsChanged(sql, params.id);
        await audit(sql, {
          actor,
          address,
          action: 'user.delete',
          subject: `user ${user.name}`,
          detail: { id: params.id },
        });
      });
      forget(params.id);
      return { data: null };
    },

    'users.resetSecondFactor': async ({ actor, params, address }) => {
      // A person who finds an open session must not lose its owner the second factor.
      if (params.id === actor.userId)
        throw new Problem('conflict', 'your own second factor is removed with a code of it (Profile)');
      const data = await db.transaction(async (sql) => {
        const user = await readUser(sql, actor, params.id, 'FOR UPDATE');
        await removeFactor(sql, user, { actor, address, action: 'user.reset-second-factor' });
        return readUser(sql, actor, params.id);
      });
      forget(params.id);
      return { data };
    },

    'assignees.list': async ({ actor, query }) =>
      readPage(db, {
        columns: 'id, name, display_name AS "displayName"',
        from: 'users',
        key: ['id'],
        where: `disabled_at IS NULL
          AND ($1::uuid[] IS NULL OR all_sites OR EXISTS (
            SELECT 1 FROM user_sites WHERE user_id = users.id AND site_id = ANY($1)) OR id = $3)
          AND ($2::uuid IS NULL OR all_sites OR EXISTS (
            SELECT 1 FROM user_sites WHERE user_id = users.id AND site_id = $2))`,
        order: 'name, id',
        parameters: new Parameters([visibleSites(actor), query.site ?? null, actor.userId]),
        filters: {},
        query,
      }),
  };
}
