/** Accounts that no caller of the API makes: the first one, and those of the command line. */
import type { Database, Transaction } from '../platform/db/db.ts';
import { Problem } from '../platform/problem.ts';
import { audit } from './audit.ts';
import { endSessions } from './open-session.ts';
import { generatePassword, hashPassword } from './password.ts';
import { refuseGuessable } from './password-list.ts';
import { removeFactor } from './second-factor/factor.ts';
import { createToken } from './tokens.ts';
import { insertUser, type NewUser } from './users.ts';

const COMMAND_LINE = { actor: { name: 'command line' } };
const SYSTEM = { actor: { name: 'system' } };

/** Where there is no account at all, makes `admin` and answers its password: the only time it is known. */
export async function ensureFirstAdmin(db: Database): Promise<{ name: string; password: string } | null> {
  if ((await db.prisma.user.count()) > 0) return null;
  const password = generatePassword();
  const passwordHash = await hashPassword(password);
  const admin: NewUser = {
    name: 'admin',
    displayName: '',
    role: 'admin',
    allSites: true,
    siteIds: [],
  };
  return db.transaction(async (sql) => {
    // Two servers that start together: one of them makes it.
    await sql.query('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
    if ((await sql.prisma.user.count()) > 0) return null;
    await insertUser(sql, admin, { passwordHash }, SYSTEM);
    return { name: admin.name, password };
  });
}

/** `user add`: answers the new user's id. Names of sites that do not exist are refused. */
export async function addUser(
  db: Database,
  { sites, password, ...user }: Omit<NewUser, 'siteIds'> & { password: string; sites: readonly string[] },
): Promise<string> {
  refuseGuessable('password', password, user.name);
  const passwordHash = await hashPassword(password);
  return db.transaction(async (sql) => {
    const found = await sql.prisma.site.findMany({ where: { name: { in: [...sites] } } });
    const missing = sites.find((name) => !found.some((site) => site.name === name));
    if (missing !== undefined) throw new Problem('not_found', `there is no site named ${missing}`);
    return insertUser(sql, { ...user, siteIds: found.map(({ id }) => id) }, { passwordHash }, COMMAND_LINE);
  });
}

interface ListedUser {
  id: string;
  name: string;
  role: string;
  allSites: boolean;
  sites: string[];
  signIn: string;
  disabled: boolean;
}

/** `user list`: everybody, by name. */
export async function listUsers({ prisma }: Database): Promise<ListedUser[]> {
  const users = await prisma.user.findMany({
    orderBy: { name: 'asc' },
    include: { sites: { select: { site: { select: { name: true } } }, orderBy: { site: { name: 'asc' } } } },
  });
  return users.map(({ id, name, role, allSites, disabledAt, passwordHash, sites }) => ({
    id,
    name,
    role,
    allSites,
    signIn: passwordHash === null ? 'oidc' : 'password',
    disabled: disabledAt !== null,
    sites: sites.map(({ site }) => site.name),
  }));
}

/** `user passwd`: signs the user out everywhere. An account of the provider of identities is a local one from then on. */
export async function setPassword(db: Database, name: string, password: string): Promise<void> {
  refuseGuessable('password', password, name);
  const passwordHash = await hashPassword(password);
  await db.transaction(async (sql) => {
    const user = await userNamed(sql, name);
    await sql.prisma.user.update({
      where: { id: user.id },
      data: { passwordHash, oidcIssuer: null, oidcSubject: null },
    });
    await endSessions(sql, user.id, {});
    await audit(sql, {
      ...COMMAND_LINE,
      action: 'user.update',
      subject: `user ${name}`,
      detail: { password: 'changed' },
    });
  });
}

/** `user reset-second-factor`: the password alone signs in again. False: there was none. */
export async function resetSecondFactor(db: Database, name: string): Promise<boolean> {
  return db.transaction(async (sql) => {
    const { id } = await userNamed(sql, name);
    return removeFactor(sql, { id, name }, { ...COMMAND_LINE, action: 'user.reset-second-factor' });
  });
}

/** `token create`: a token for a user, by name; answers its plaintext. */
export async function issueToken(
  db: Database,
  { user, name, expiresAt }: { user: string; name: string; expiresAt: number | null },
  now: number,
): Promise<string> {
  return db.transaction(async (sql) => {
    const { id } = await userNamed(sql, user);
    const { plaintext } = await createToken(sql, { userId: id, name, expiresAt }, COMMAND_LINE, now);
    return plaintext;
  });
}

async function userNamed({ prisma }: Transaction, name: string) {
  const user = await prisma.user.findUnique({ where: { name } });
  if (!user) throw new Problem('not_found', `there is no user named ${name}`);
  return user;
}
