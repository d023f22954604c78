/** Maintenance windows: planned work, during which nothing opens a case. */
import { z } from 'zod';
import { deviceClass } from '../model.ts';
import { fieldFilter, TAGS_MOST, tag } from './annotations.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, resource, siteFilter, sortBy, unixSeconds } from './operation.ts';

const time = unixSeconds;
const windowName = line(100).meta({ example: 'Core upgrade' });
const timezone = z.string().min(1).max(100).meta({
  description: 'Name of the IANA time zone database; the pattern means local time there.',
  example: 'Europe/Berlin',
});

/** Which devices of the site; several members are joined by AND, none at all means the whole site. */
export const maintenanceScope = z
  .strictObject({
    deviceIds: z.array(z.uuid().toLowerCase()).min(1).max(1000).optional(),
    class: z.array(deviceClass).min(1).max(20).optional(),
    tag: z
      .array(tag)
      .min(1)
      .max(TAGS_MOST)
      .optional()
      .meta({ description: 'Devices that have all of these tags, whatever their case.', example: ['core'] }),
    field: z
      .array(fieldFilter)
      .min(1)
      .max(TAGS_MOST)
      .optional()
      .meta({
        description: 'Devices that have all of these values of custom fields.',
        example: ['Rack:A-17'],
      }),
    search: z.string().trim().min(1).max(200).optional().meta({
      description:
        'Part of name, address, description, vendor, model, serial number, location, of a tag, the note or the value of a custom field.',
      example: 'floor-3',
    }),
    Address: z.string().trim().min(1).max(50).optional().meta({
      description: 'An address, or a CIDR that contains one of the device.',
      example: '10.20.3.0/24',
    }),
  })
  .meta({ id: 'MaintenanceScope', description: 'Empty: the whole site, its collectors with it.' });
export type MaintenanceScope = z.infer<typeof maintenanceScope>;

/** A window of minutes is elapsed time: four hours are four hours in the night the clocks change, too. */
const REPEAT_MINUTES_MOST = 7 * 24 * 60;
export const maintenanceTimes = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('once'),
      from: time,
      until: time.meta({ description: 'After `from`.' }),
    }),
    z.strictObject({
      kind: z.literal('repeat'),
      cron: z.string().min(1).max(200).meta({
        description: 'When each begins: minute, hour, day, month, weekday.',
        example: '0 2 * * 0',
      }),
      minutes: z.int().min(1).max(REPEAT_MINUTES_MOST).meta({ description: 'How long each lasts, elapsed.' }),
      until: time.nullable().default(null).meta({ description: 'None begins after this.' }),
    }),
  ])
  .meta({ id: 'MaintenanceTimes' });
export type MaintenanceTimes = z.output<typeof maintenanceTimes>;

const span = z.strictObject({ from: time, until: time });
export const maintenanceWindow = z
  .strictObject({
    id,
    siteId: id,
    site: z.string().meta({ example: 'Berlin' }),
    name: z.string().meta({ example: 'Core upgrade' }),
    note: z.string(),
    scope: maintenanceScope,
    timezone: z.string().meta({ example: 'Europe/Berlin' }),
    times: maintenanceTimes,
    enabled: z.boolean(),
    active: span.nullable().meta({ description: 'The one that is running now.' }),
    next: span.nullable().meta({ description: 'The next one to begin.' }),
    createdBy: z.string().meta({ example: 'ada' }),
    createdAt: time,
  })
  .meta({ id: 'MaintenanceWindow' });
export type MaintenanceWindow = z.infer<typeof maintenanceWindow>;

const note = z.string().normalize('NFC').max(2000);

const maintenance = resource('/api/maintenance', 'Maintenance', maintenanceWindow);

export const maintenanceOperations = {
  'maintenance.list': maintenance.list('viewer', 'List maintenance windows', {
    query: z.strictObject({ ...paging, site: siteFilter, sort: sortBy(['name', 'createdAt']) }),
  }),
  'maintenance.get': maintenance.get('viewer', 'Get a maintenance window'),
  'maintenance.create': maintenance.create('operator', 'Plan maintenance', {
    description:
      'While it runs, events are kept as ever and close as ever, but none opens or joins a case. What is still open at its end does so then.',
    body: z.strictObject({
      siteId: z.uuid().toLowerCase(),
      name: windowName,
      note: note.default(''),
      scope: maintenanceScope.default({}),
      timezone: timezone.default('UTC'),
      times: maintenanceTimes,
      enabled: z.boolean().default(true),
    }),
    errors: ['not_found', 'conflict'],
    example: {
      siteId: '019aa3c4-5b00-7000-8000-000000000001',
      name: 'Sunday updates',
      scope: { class: ['server'] },
      timezone: 'Europe/Berlin',
      times: { kind: 'repeat', cron: '0 2 * * 0', minutes: 180 },
    },
  }),
  'maintenance.update': maintenance.update('operator', 'Change a maintenance window', {
    description: 'To end one that is running, set `enabled` to false.',
    body: z
      .strictObject({
        name: windowName.optional(),
        note: note.optional(),
        scope: maintenanceScope.optional(),
        timezone: timezone.optional(),
        times: maintenanceTimes.optional(),
        enabled: z.boolean().optional(),
      })
      .refine((patch) => Object.keys(patch).length > 0, 'nothing to change'),
    example: { enabled: false },
  }),
  'maintenance.delete': maintenance.remove('operator', 'Delete a maintenance window', {
    description: 'One that is running ends.',
  }),
} as const satisfies Record<string, Operation>;
