/** Profiles: named settings of a sweep. */
import { z } from 'zod';
import { profileSettings } from '../profile.ts';
import type { Operation } from './operation.ts';
import { id, idParams, line, paging, unixSeconds } from './operation.ts';

const ownName = line(60)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, 'must be letters, digits, blanks and . _ - only')
  .meta({ example: 'night' });

export const profile = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'standard' }),
    settings: profileSettings,
    builtIn: z.boolean().meta({ description: 'Part of the product: cannot be changed, only copied.' }),
    createdAt: unixSeconds,
    updatedAt: unixSeconds,
  })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof profile>;

export const profileOperations = {
  'profiles.list': {
    method: 'GET',
    path: '/api/discovery/profiles',
    tag: 'Profiles',
    summary: 'List profiles, those of the product first',
    access: 'viewer',
    query: z.strictObject({ ...paging }),
    data: profile,
    envelope: 'list',
  },
  'profiles.get': {
    method: 'GET',
    path: '/api/discovery/profiles/{id}',
    tag: 'Profiles',
    summary: 'Get a profile',
    access: 'viewer',
    params: idParams,
    data: profile,
    envelope: 'item',
  },
  'profiles.create': {
    method: 'POST',
    path: '/api/discovery/profiles',
    tag: 'Profiles',
    summary: 'Add a profile',
    description: 'Only by an administrator who sees every site. What `settings` leaves out has its default.',
    access: 'admin',
    body: z.strictObject({ name: ownName, settings: profileSettings }),
    data: profile,
    envelope: 'item',
    status: 201,
    errors: ['conflict'],
    example: { name: 'night', settings: { rate: 500, exclude: ['10.20.0.1'] } },
  },
  'profiles.update': {
    method: 'PATCH',
    path: '/api/discovery/profiles/{id}',
    tag: 'Profiles',
    summary: 'Change a profile',
    description:
      'Scans already started keep the settings they were started with. `settings` replaces all settings. The profiles of the product are answered 409.',
    access: 'admin',
    params: idParams,
    body: z.strictObject({ name: ownName.optional(), settings: profileSettings.optional() }),
    data: profile,
    envelope: 'item',
    errors: ['conflict'],
    example: { name: 'late night' },
  },
  'profiles.delete': {
    method: 'DELETE',
    path: '/api/discovery/profiles/{id}',
    tag: 'Profiles',
    summary: 'Delete a profile',
    description: 'A profile of the product, or one that a schedule uses, is answered 409.',
    access: 'admin',
    params: idParams,
    data: z.null(),
    envelope: 'item',
    errors: ['conflict'],
  },
} as const satisfies Record<string, Operation>;
