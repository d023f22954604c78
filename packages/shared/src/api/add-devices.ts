/** Devices that people add: one, or many from CSV. Discovery finds them as the same devices by their address. */
import { z } from 'zod';
import { deviceClass } from '../model.ts';
import { annotationPatch } from './annotations.ts';
import { device } from './inventory.ts';
import { flag } from './members.ts';
import { id, line, type Operation, resource } from './operation.ts';

/** Rows of one import; more are sent in pieces. */
export const IMPORT_ROWS = 2000;
/** Columns besides `field:NAME`, one for each custom field. */
export const IMPORT_COLUMNS = ['site', 'address', 'name', 'class', 'monitor', 'tags', 'note'] as const;
export type ImportColumn = (typeof IMPORT_COLUMNS)[number] | `field:${string}`;

const site = line(100).meta({ description: 'Id or name of a site.', example: 'Berlin' });
const importedRow = z
  .strictObject({
    line: z
      .int()
      .meta({ description: 'Where the row begins in the file; the header is line 1.', example: 2 }),
    action: z.enum(['create', 'update', 'unchanged', 'error']).meta({ id: 'ImportAction' }),
    deviceId: id.nullable().meta({ description: 'Null of an error, and of one that would be created.' }),
    address: z.string().meta({ example: '10.20.0.7' }),
    changes: z
      .array(
        z.strictObject({
          column: z.string().meta({ example: 'tags' }),
          from: z.string().nullable().meta({ description: 'As in CSV; null: it has none.' }),
          to: z.string(),
        }),
      )
      .meta({ description: 'What it is given.' }),
    errors: z.array(
      z.strictObject({
        column: z.string().nullable().meta({ description: 'Null: the whole row.' }),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'ImportedRow' });
export type ImportedRow = z.infer<typeof importedRow>;

const importResult = z
  .strictObject({
    dryRun: z.boolean(),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    ignored: z.array(z.string()).meta({ description: 'Columns that are not imported.', example: ['Vendor'] }),
    rows: z.array(importedRow),
  })
  .meta({ id: 'ImportResult' });
export type ImportResult = z.infer<typeof importResult>;

const devices = resource('/api/devices', 'Devices', device);

export const addDeviceOperations = {
  'devices.create': devices.create('operator', 'Add a device by hand', {
    description:
      'It is there before it answers: until then `status` is unknown, and `lastSeen` is when it was added. A scan, or monitoring, finds it as the same device by its address. What is set here is never overwritten by discovery. 409 where a device of the site has the address already.',
    body: z.strictObject({
      site,
      address: z.string().min(1).max(60).meta({ description: 'IPv4 or IPv6.', example: '10.20.0.7' }),
      name: line(200).optional().meta({ description: 'Shown name; without one what discovery finds.' }),
      class: deviceClass.optional(),
      monitor: flag.optional(),
      ...annotationPatch,
    }),
    errors: ['conflict'],
    example: { site: 'Berlin', address: '10.20.0.7', name: 'pdu-7', class: 'pdu', tags: ['hall-2'] },
  }),
  'devices.import': {
    method: 'POST',
    path: '/api/devices/import',
    tag: 'Devices',
    summary: 'Add and change devices from CSV',
    description: `The first line names the columns: ${IMPORT_COLUMNS.join(', ')} and custom fields as \`field:NAME\`, in any order; \`address\` is needed. A device is known by site and address. An empty cell changes nothing; tags are separated by \`;\`. At most ${IMPORT_ROWS.toLocaleString('en')} rows. Rows with errors are left out, the others are written; the same file a second time changes nothing.`,
    access: 'operator',
    body: z.strictObject({
      csv: z
        .string()
        .min(1)
        .max(250_000)
        .meta({ description: 'RFC 4180; separated by commas, semicolons or tabs.' }),
      dryRun: z.boolean().default(false).meta({ description: 'Only say what would happen.' }),
      site: site.optional().meta({ description: 'Of rows that name none: id or name.' }),
    }),
    data: importResult,
    envelope: 'item',
    example: { csv: 'site,address,name,tags\r\nBerlin,10.20.0.7,pdu-7,hall-2;power\r\n', dryRun: true },
  },
} as const satisfies Record<string, Operation>;
