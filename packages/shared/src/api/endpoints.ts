/** Endpoints: MAC addresses that bridges and routers have learnt, and where they enter the network. */
import { z } from 'zod';
import { address, flag, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, idParams, paging, queryTime, siteFilter, sortBy, wholeNumber } from './operation.ts';

/** Without what notations put between the digits: colons, dashes, dots (Cisco), blanks. */
const bare = (text: string): string => text.replace(/[\s:.-]/g, '').toLowerCase();

/** A MAC address of 6 octets in any notation that devices print. */
const anyMac = z
  .string()
  .max(40)
  .transform(bare)
  .pipe(z.string().regex(/^[0-9a-f]{12}$/, 'must be a MAC address of 6 octets'))
  .transform((digits) => digits.replace(/(..)(?=.)/g, '$1:'));

/** Fewest digits of a part of an address: an index finds no fewer. */
const MAC_PART_LEAST = 3;

/** The digits of a part of a MAC address in any notation; null where the text is none. */
export function macPart(text: string): string | null {
  const digits = bare(text);
  return /^[0-9a-f]{3,12}$/.test(digits) ? digits : null;
}

/** Fewest digits of a part of a MAC address that devices are searched by: the last four are what people read from a label. */
const MAC_DIGITS_LEAST = 4;

/**
 * A part of a MAC address in any notation, as it stands in a text of pairs with colons: its first digit may end a
 * pair or begin one; of the fewest digits it begins one: the four of a label are two pairs, and what a pair more splits is in
 * every tenth text (36 ms at 100,000 devices, instead of 4). Empty where the text is none.
 */
export function macTexts(text: string): string[] {
  const digits = isAddressStart(text) && text.includes('.') ? null : macPart(text);
  if (digits === null || digits.length < MAC_DIGITS_LEAST) return [];
  const paired = (some: string) => some.replace(/(..)(?=.)/g, '$1:');
  const within = `${digits.slice(0, 1)}:${paired(digits.slice(1))}`;
  return digits.length === MAC_DIGITS_LEAST ? [paired(digits)] : [paired(digits), within];
}

/** The beginning of an IP address, as far as it is written. */
export const isAddressStart = (text: string): boolean =>
  /^(?=.*[.:])(\d{1,3}(\.\d{0,3}){1,3}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){1,7})$/i.test(text);

const port = {
  deviceId: id,
  device: z.string().meta({ example: 'access-3' }),
  ifIndex: z.int(),
  interfaceId: id.nullable(),
  port: text('Gi1/0/12'),
};
const mac = z.string().meta({ description: 'Lower-case colon form.', example: '00:1b:21:3c:9d:f8' });
const verdict = z.enum(['placed', 'alternatives', 'unknown']).meta({
  id: 'Placement',
  description: 'One port is left; several are; none is.',
});

const nameFrom = z
  .enum(['device', 'lldp', 'dns', 'dhcp'])
  .meta({ id: 'EndpointNameFrom', description: 'Where the name of an endpoint comes from.' })
  .nullable();

/** What is known of an address wherever it is. */
const identity = {
  siteId: id,
  site: z.string(),
  mac,
  maker: text('Intel Corporate').meta({
    description: 'To whom the IEEE assigned its prefix, without the legal form.',
  }),
  locallyAdministered: flag.meta({
    description: 'The address was made up, by a virtual machine or for privacy: no maker assigned it.',
  }),
  name: text('phone-214').meta({
    description:
      'Of the device that has the address, else as it calls itself by LLDP at its port, else of its IP address by reverse DNS, else as it told the DHCP server, where its switch inspects that.',
  }),
  nameFrom: nameFrom.meta({ description: 'Where the name comes from; null: it has none.', example: 'dhcp' }),
  owner: z.strictObject({ deviceId: id, name: z.string() }).nullable().meta({
    description: 'The device of the inventory that has this address, or its IP address.',
    example: null,
  }),
  addresses: z.array(address).meta({ description: 'By ARP tables now, or when it was there last.' }),
  firstSeen: time,
  lastSeen: maybeTime.meta({ description: 'When it was first missing; null: a table has it now.' }),
};

export const endpoint = z
  .strictObject({
    ...identity,
    vlans: z.array(z.int()),
    verdict,
    ports: z.array(z.strictObject(port)).meta({
      description: 'Where it enters the network: one when placed, several as alternatives.',
    }),
  })
  .meta({ id: 'Endpoint' });
export type Endpoint = z.infer<typeof endpoint>;

const placedPort = z.strictObject({
  ...port,
  others: z.int().min(0).meta({ description: 'Other MAC addresses that the port has now.' }),
});

const endpointPlaces = z
  .strictObject({
    ...identity,
    placement: z.strictObject({ verdict, reason: z.string(), ports: z.array(placedPort) }),
    places: z
      .array(
        z.strictObject({
          from: time,
          to: maybeTime.meta({ description: 'Null: it is there now.' }),
          verdict,
          reason: z.string(),
          ports: z.array(z.strictObject(port)),
        }),
      )
      .meta({
        description: 'Where it was over time, the latest first; by the links that are known now.',
      }),
    sightings: z
      .array(
        z.strictObject({
          ...port,
          vlan: z.int().nullable(),
          address: address
            .nullable()
            .meta({ description: 'Of an ARP entry; null: of a forwarding table.', example: null }),
          name: z.string().nullable().meta({
            description:
              'Of that IP address by reverse DNS; where there is none, as the station told the DHCP server. As it was last.',
            example: 'phone-214',
          }),
          nameFrom: nameFrom.meta({
            description: 'Where that name comes from, `dns` or `dhcp`; null: there is none.',
            example: 'dhcp',
          }),
          since: time,
          until: maybeTime.meta({ description: 'When it was first missing; null: it is there.' }),
        }),
      )
      .meta({ description: 'Which table had it when, the latest first; at most 1,000.' }),
  })
  .meta({ id: 'EndpointPlaces' });
export type EndpointPlaces = z.infer<typeof endpointPlaces>;

export const ENDPOINT_SORTS = ['mac', 'firstSeen', 'lastSeen'] as const;

const ofTime = {
  current: wholeNumber(0, 1)
    .optional()
    .meta({ description: '1: those that a table has now; 0: those that are gone.', example: 1 }),
  at: queryTime.optional().meta({ description: 'Those that a table had at this time. Unix seconds.' }),
  sort: sortBy(ENDPOINT_SORTS),
  ...paging,
};
const endpointQuery = z.strictObject({
  search: z.string().max(60).optional().meta({
    description:
      'A part of a MAC address in any notation, the beginning of an IP address, the name of a vendor, or a part of its name by LLDP, reverse DNS or DHCP.',
    example: '10.20.',
  }),
  mac: z
    .string()
    .max(40)
    .refine((text) => macPart(text) !== null, `must be ${MAC_PART_LEAST} to 12 hexadecimal digits`)
    .optional()
    .meta({ description: 'A MAC address or a part of one, in any notation.', example: '3c9d.f8' }),
  ip: z.string().max(60).optional().meta({
    description: 'An IP address, by ARP tables.',
    example: '10.20.0.17',
  }),
  vlan: wholeNumber(1, 4095).optional().meta({ description: 'Learnt in this VLAN.', example: 20 }),
  device: z.uuid().optional().meta({ description: 'Learnt by this device.' }),
  interface: z.uuid().optional().meta({ description: 'Learnt at this interface.' }),
  site: siteFilter,
  ...ofTime,
});
export type EndpointQuery = z.output<typeof endpointQuery>;

export const endpointOperations = {
  'endpoints.list': {
    method: 'GET',
    path: '/api/endpoints',
    tag: 'Endpoints',
    summary: 'MAC addresses, each with the port where it enters the network',
    description:
      'Of several filters each holds by itself: some table has it in this VLAN, some device has it. With `at` or `current` each holds at that time.',
    access: 'viewer',
    query: endpointQuery,
    data: endpoint,
    envelope: 'list',
  },
  'endpoints.get': {
    method: 'GET',
    path: '/api/endpoints/{mac}',
    tag: 'Endpoints',
    summary: 'Where a MAC address enters the network, and where it was over time',
    description: 'One answer for each site that knows it. The address may be written in any notation.',
    access: 'viewer',
    params: z.strictObject({
      mac: anyMac.meta({ description: 'In any notation.', example: '001b.213c.9df8' }),
    }),
    query: z.strictObject({ site: siteFilter }),
    data: z.array(endpointPlaces),
    envelope: 'item',
  },
  'interfaces.endpoints': {
    method: 'GET',
    path: '/api/interfaces/{id}/endpoints',
    tag: 'Endpoints',
    summary: 'MAC addresses that an interface has learnt',
    description: 'Those behind it, if it leads to a bridge: their `ports` say where they enter.',
    access: 'viewer',
    params: idParams,
    query: z.strictObject(ofTime),
    data: endpoint,
    envelope: 'list',
  },
} as const satisfies Record<string, Operation>;
