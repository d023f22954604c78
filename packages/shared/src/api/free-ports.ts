/** Free ports: sockets that are not used, over all devices of a site. */
import { z } from 'zod';
import { deviceClass } from '../model.ts';
import { interfaceStatus, UNUSED_DAYS_MOST } from './interfaces.ts';
import { text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { codes, id, paging, siteFilter, sortBy, wholeNumber } from './operation.ts';

/** Days after which a port that was not up is called free, unless somebody asks for others. */
export const FREE_DAYS = 90;
/** Days within which a port must have been read for anything to be said of it. */
export const READ_DAYS = 14;

const freePort = z
  .strictObject({
    id,
    siteId: id,
    site: z.string(),
    deviceId: id,
    device: z.string().meta({ example: 'access-3' }),
    class: deviceClass,
    ifIndex: z.int(),
    port: z.string().meta({ example: 'Gi1/0/12' }),
    alias: text('spare, floor 3'),
    speedBps: z.number().nullable().meta({ description: 'bit/s.', example: 1_000_000_000 }),
    adminStatus: interfaceStatus,
    operStatus: interfaceStatus,
    unusedSince: time.meta({ description: 'Since when it was not up, at least.' }),
    reason: z.enum(['wentDown', 'unchanged', 'neverUp']).meta({
      id: 'FreePortReason',
      description:
        'How that is known. `wentDown`: it went down then. `unchanged`: its agent says that its state changed last then, before it was known here. `neverUp`: it was seen first then, and was up at no reading since.',
    }),
    readAt: time.meta({
      description: `When its state was read last, to 7 days; of a port that was not read for ${READ_DAYS} days nothing is said.`,
    }),
  })
  .meta({ id: 'FreePort' });
export type FreePort = z.infer<typeof freePort>;

export const FREE_PORT_SORTS = ['device', 'unusedSince', 'speedBps'] as const;

const freePortQuery = z.strictObject({
  unusedDays: wholeNumber(1, UNUSED_DAYS_MOST)
    .default(FREE_DAYS)
    .meta({ description: 'Ports that were not up for so many days.', example: FREE_DAYS }),
  class: codes(deviceClass).optional().meta({
    description: 'Of devices of one class, or several separated by commas.',
    example: 'switch,router',
  }),
  search: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'A part of the name of the device, or of the name or alias of the port.' }),
  site: siteFilter,
  sort: sortBy(FREE_PORT_SORTS),
  ...paging,
});
export type FreePortQuery = z.output<typeof freePortQuery>;

export const freePortOperations = {
  'interfaces.free': {
    method: 'GET',
    path: '/api/interfaces/free',
    tag: 'Interfaces',
    summary: 'List the ports that are free',
    description:
      'Sockets (by their type) of all devices that are there, which are down and were not up for so many days.',
    access: 'viewer',
    query: freePortQuery,
    data: freePort,
    envelope: 'list',
  },
} as const satisfies Record<string, Operation>;
