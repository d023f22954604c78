/** Endpoints: hardware addresses that bridges and routers have learnt, and where they enter the network. */
import { z } from 'zod';
import { address, flag, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, siteFilter } from './operation.ts';

/** A hardware address of 6 octets in any notation that devices print: colons, dashes, dots (Cisco), or none. */
const anyMac = z
  .string()
  .max(40)
  .transform((text) => text.replace(/[\s:.-]/g, '').toLowerCase())
  .pipe(z.string().regex(/^[0-9a-f]{12}$/, 'must be a hardware address of 6 octets'))
  .transform((digits) => digits.replace(/(..)(?=.)/g, '$1:'));

const port = {
  deviceId: id,
  device: z.string().meta({ example: 'access-3' }),
  ifIndex: z.int(),
  interfaceId: id.nullable(),
  port: text('Gi1/0/12'),
};
const mac = z.string().meta({ description: 'Lower-case colon form.', example: '00:1b:21:3c:9d:f8' });

export const endpointPlace = z
  .strictObject({
    siteId: id,
    site: z.string(),
    mac,
    locallyAdministered: flag.meta({
      description: 'The address was made up, by a virtual machine or for privacy: no maker assigned it.',
    }),
    owner: z
      .strictObject({ deviceId: id, name: z.string() })
      .nullable()
      .meta({ description: 'The device of the inventory that has this address.' }),
    addresses: z.array(address).meta({ description: 'By ARP tables now.' }),
    placement: z.strictObject({
      verdict: z.enum(['placed', 'alternatives', 'unknown']),
      reason: z.string(),
      ports: z.array(
        z.strictObject({
          ...port,
          others: z.int().min(0).meta({ description: 'Other hardware addresses on this port.' }),
        }),
      ),
    }),
    sightings: z
      .array(
        z.strictObject({
          ...port,
          vlan: z.int().nullable(),
          address: address.nullable().meta({ description: 'Of an ARP entry; null: of a forwarding table.' }),
          since: time,
          until: maybeTime.meta({ description: 'When it was first missing; null: it is there.' }),
        }),
      )
      .meta({ description: 'Where it was learnt over time, the latest first; at most 1,000.' }),
  })
  .meta({ id: 'EndpointPlace' });
export type EndpointPlace = z.infer<typeof endpointPlace>;

export const endpointOperations = {
  'endpoints.place': {
    method: 'GET',
    path: '/api/endpoints/place',
    tag: 'Endpoints',
    summary: 'Where a hardware address enters the network, and where it was learnt over time',
    description: 'One answer for each site that knows it.',
    access: 'viewer',
    query: z.strictObject({
      mac: anyMac.meta({ description: 'In any notation.', example: '001b.213c.9df8' }),
      site: siteFilter,
    }),
    data: z.array(endpointPlace),
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
