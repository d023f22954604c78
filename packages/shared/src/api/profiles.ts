/** Profiles: named settings of a sweep. */
import { z } from 'zod';
import { profileSettings } from '../profile.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, resource, unixSeconds } from './operation.ts';

const ownName = line(60)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, 'must be letters, digits, blanks and . _ - only')
  .meta({ description: 'Letters and digits of any language, blanks and . _ - only.', example: 'night' });

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

const profiles = resource('/api/discovery/profiles', 'Profiles', profile);

export const profileOperations = {
  'profiles.list': profiles.list('viewer', 'List profiles, those of the product first', {
    query: z.strictObject({ ...paging }),
  }),
  'profiles.get': profiles.get('viewer', 'Get a profile'),
  'profiles.create': profiles.create('admin', 'Add a profile', {
    description: 'Only by an administrator who sees every site. What `settings` leaves out has its default.',
    body: z.strictObject({ name: ownName, settings: profileSettings }),
    errors: ['conflict'],
    example: { name: 'night', settings: { rate: 500, exclude: ['10.20.0.1'] } },
  }),
  'profiles.update': profiles.update('admin', 'Change a profile', {
    description:
      'Scans already started keep the settings they were started with. `settings` replaces all settings. The profiles of the product are answered 409.',
    body: z.strictObject({ name: ownName.optional(), settings: profileSettings.optional() }),
    errors: ['conflict'],
    example: { name: 'late night' },
  }),
  'profiles.delete': profiles.remove('admin', 'Delete a profile', {
    description: 'A profile of the product, or one that a schedule uses, is answered 409.',
    errors: ['conflict'],
  }),
} as const satisfies Record<string, Operation>;
