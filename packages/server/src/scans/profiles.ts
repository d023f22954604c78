/** Profiles: named settings of a sweep. Those of the product are written at every start and cannot be changed. */

import type { Profile } from '@rollcall/shared/api/profiles';
import { BUILT_IN_PROFILES, type ProfileSettings, profileSettings } from '@rollcall/shared/profile';
import { parseTargets } from '@rollcall/shared/targets';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { orConflict, type Transaction } from '../platform/db/db.ts';
import { readPage, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Actor, Handlers } from '../platform/http/handler.ts';
import { patched } from '../platform/http/patch.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { ScanDeps } from './deps.ts';

const COLUMNS = `id, name, settings, built_in AS "builtIn", ${unix('created_at')} AS "createdAt",
  ${unix('updated_at')} AS "updatedAt"`;

/** Writes the profiles that every installation has, as this version knows them. */
export async function seedProfiles(sql: Sql): Promise<void> {
  const rows = Object.entries(BUILT_IN_PROFILES).map(([name, settings]) => ({
    id: uuidv7(),
    name,
    settings,
  }));
  await sql.query(
    `INSERT INTO profiles (id, name, settings, built_in)
     SELECT r.id, r.name, r.settings, true FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, name text, settings jsonb)
     ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, built_in = true, updated_at = now()
     WHERE profiles.settings <> excluded.settings OR NOT profiles.built_in`,
    [JSON.stringify(rows)],
  );
}

/** Settings of a profile by its name; an unknown one is refused with the names that exist. */
export async function settingsOf({ prisma }: Transaction, name: string): Promise<ProfileSettings> {
  const found = await prisma.profile.findUnique({ where: { name } });
  if (found) return profileSettings.parse(found.settings);
  const known = await prisma.profile.findMany({ orderBy: [{ builtIn: 'desc' }, { name: 'asc' }], take: 100 });
  throw invalid('profile', `there is no such profile; there are ${known.map((row) => row.name).join(', ')}`);
}

/** Exclusions are read when they are written, so that no scan fails over them later. */
function checkExclusions({ exclude }: ProfileSettings): void {
  for (const [i, text] of exclude.entries()) {
    const parsed = parseTargets('2001:db8::', { exclude: [text] });
    const problem = parsed.ok ? undefined : parsed.problems.find(({ code }) => code === 'malformed');
    if (problem) throw invalid(`settings.exclude.${i}`, problem.reason);
  }
}

const requireAll = (actor: Actor): void => {
  if (actor.sites !== 'all')
    throw new Problem(
      'forbidden',
      'profiles are for all sites: only an administrator who sees every site changes them',
    );
};

type Ids = 'profiles.list' | 'profiles.get' | 'profiles.create' | 'profiles.update' | 'profiles.delete';

export function profileHandlers({ db, audit }: Pick<ScanDeps, 'db' | 'audit'>): Handlers<Ids> {
  const read = async (sql: Sql, id: string): Promise<Profile> => {
    const [row] = await sql.query<Profile>(`SELECT ${COLUMNS} FROM profiles WHERE id = $1::uuid`, [id]);
    if (!row) throw notFound('profile');
    return row;
  };
  /** Locks a profile that may be changed. */
  const own = async (sql: Sql, id: string): Promise<Profile> => {
    await sql.query('SELECT 1 FROM profiles WHERE id = $1::uuid FOR UPDATE', [id]);
    const profile = await read(sql, id);
    if (profile.builtIn)
      throw new Problem('conflict', `${profile.name} is built in; copy it under another name`);
    return profile;
  };
  const unique = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    orConflict(`there is a profile ${name} already`, work);

  return {
    'profiles.list': async ({ query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: 'profiles',
        key: ['id'],
        where: 'true',
        order: 'built_in DESC, lower(name), id',
        filters: {},
        query,
      }),

    'profiles.get': async ({ params }) => ({ data: await read(db, params.id) }),

    'profiles.create': async ({ actor, body, address }) => {
      requireAll(actor);
      checkExclusions(body.settings);
      const id = uuidv7();
      const data = await unique(body.name, () =>
        db.transaction(async (sql) => {
          const settings = body.settings as Prisma.InputJsonObject;
          await sql.prisma.profile.create({ data: { id, name: body.name, settings } });
          await audit(sql, { actor, address, action: 'profile.create', subject: `profile ${body.name}` });
          return read(sql, id);
        }),
      );
      return { data, headers: { Location: `/api/discovery/profiles/${id}` } };
    },

    'profiles.update': async ({ actor, params, body, address }) => {
      requireAll(actor);
      if (body.settings) checkExclusions(body.settings);
      const data = await unique(body.name ?? '', () =>
        db.transaction(async (sql) => {
          const before = await own(sql, params.id);
          const { name, settings } = patched(before, body);
          await sql.prisma.profile.update({
            where: { id: params.id },
            data: { name, settings: settings as Prisma.InputJsonObject, updatedAt: new Date() },
          });
          if (name !== before.name)
            await sql.prisma.schedule.updateMany({
              where: { profile: before.name },
              data: { profile: name },
            });
          await audit(sql, {
            actor,
            address,
            action: 'profile.update',
            subject: `profile ${name}`,
            detail: { fields: Object.keys(body) },
          });
          return read(sql, params.id);
        }),
      );
      return { data };
    },

    'profiles.delete': async ({ actor, params, address }) => {
      requireAll(actor);
      await db.transaction(async (sql) => {
        const { name } = await own(sql, params.id);
        const schedule = await sql.prisma.schedule.findFirst({
          where: { profile: name },
          orderBy: { name: 'asc' },
        });
        if (schedule) throw new Problem('conflict', `the schedule ${schedule.name} uses this profile`);
        await sql.prisma.profile.delete({ where: { id: params.id } });
        await audit(sql, { actor, address, action: 'profile.delete', subject: `profile ${name}` });
      });
      return { data: null };
    },
  };
}
