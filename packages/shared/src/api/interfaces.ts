/** Interfaces of a device, and the links between devices. */
import { z } from 'zod';
import { FAR_ENDS } from '../far-end.ts';
import { deviceClass, deviceStatus } from '../model.ts';
import { STP_STATES } from '../observation.ts';
import { annotationBulk, annotationFilters, annotationPatch, annotations } from './annotations.ts';
import { address, flag, mac, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, idParams, ids, paging, siteFilter, sortBy, wholeNumber } from './operation.ts';

// ── Interface ────────────────────────────────────────────────────────────────────────────────────────────────

/** ifAdminStatus and ifOperStatus (IF-MIB) by name; index is the number minus 1. */
export const INTERFACE_STATUSES = [
  'up',
  'down',
  'testing',
  'unknown',
  'dormant',
  'notPresent',
  'lowerLayerDown',
] as const;
export const interfaceStatus = z.enum(INTERFACE_STATUSES).meta({ id: 'InterfaceStatus' }).nullable();

export const networkInterface = z
  .strictObject({
    id,
    deviceId: id,
    ifIndex: z.int().meta({ example: 10_148 }),
    name: z.string().meta({ example: 'Gi1/0/48' }),
    description: text('GigabitEthernet1/0/48'),
    alias: text('uplink to dist-2'),
    type: text('ethernetCsmacd').meta({
      description: 'IANAifType name, or its number where IANA names none.',
    }),
    speedBps: z.number().nullable().meta({ description: 'bit/s.', example: 1_000_000_000 }),
    mtu: z.int().nullable().meta({ example: 1500 }),
    macAddress: mac,
    adminStatus: interfaceStatus,
    operStatus: interfaceStatus,
    lastChange: maybeTime,
    addresses: z.array(address),
    vlan: z.int().nullable().meta({ description: 'In which it is untagged.', example: 20 }),
    taggedVlans: z.array(z.int()).meta({ description: 'Others that it is a member of.', example: [30, 31] }),
    isPort: flag.meta({
      description: '1: a socket of the device, by its type and name; 0: made by its software.',
    }),
    lastUsed: maybeTime.meta({
      description: 'When it was up last: seen so last, where it is; null: never, as far as is known.',
    }),
    unusedSince: maybeTime.meta({
      description:
        'Since when it was not up: at least since it was seen first or changed last, where it never was. Null: it has a link, or its state tells nothing of that (`dormant`, `testing`, `unknown`).',
    }),
    duplex: z
      .enum(['half', 'full', 'unknown'])
      .meta({ id: 'Duplex' })
      .nullable()
      .meta({ description: 'Read from monitored devices only.', example: 'full' }),
    stp: z.enum(STP_STATES).meta({ id: 'StpState' }).nullable().meta({
      description: 'dot1dStpPortState; null: in no spanning tree, or not read.',
      example: 'forwarding',
    }),
    aggregate: z
      .strictObject({ interfaceId: id.nullable(), name: text('Po1'), active: flag })
      .nullable()
      .meta({ description: 'The aggregate (LAG) that it is a member of; `active`: it sends frames for it.' }),
    neighbour: z
      .strictObject({
        deviceId: id.nullable(),
        name: text('dist-2'),
        port: text('Te1/1/1'),
        protocol: z.string().meta({ example: 'lldp' }),
        kind: z.enum(FAR_ENDS).meta({ id: 'FarEnd' }).nullable().meta({
          description: 'What it is, by the capabilities that it tells by LLDP or CDP; null: it does not say.',
          example: 'phone',
        }),
      })
      .nullable(),
    endpoints: z
      .strictObject({
        count: z.int().min(0).meta({ description: 'At most 1,000 are counted.' }),
        shown: z.array(
          z.strictObject({
            mac: z.string().meta({ example: '00:1b:21:3c:9d:f8' }),
            maker: text('Intel Corporate'),
            deviceId: id.nullable(),
            name: text('printer-3'),
            address: address.nullable(),
          }),
        ),
      })
      .meta({
        description: 'MAC addresses in its forwarding table now, the first three of them with what is known.',
      }),
    firstSeen: time,
    lastSeen: time,
    ...annotations,
  })
  .meta({ id: 'Interface' });
export type NetworkInterface = z.infer<typeof networkInterface>;

export const INTERFACE_SORTS = [
  'ifIndex',
  'name',
  'type',
  'speedBps',
  'adminStatus',
  'operStatus',
  'lastChange',
  'vlan',
  'unusedSince',
] as const;
/** Interfaces that are named one by one. */
const INTERFACE_IDS_MOST = 200;
export const UNUSED_DAYS_MOST = 3650;
const FREE_PORTS = { description: 'Free ports: sockets that were not up for so many days.', example: 90 };
const interfaceFilters = {
  deviceId: z.string().min(1).max(200).meta({ description: 'Required: whose interfaces.' }),
  ids: ids(INTERFACE_IDS_MOST)
    .optional()
    .meta({
      description: `Exactly these interfaces: ids separated by commas, at most ${INTERFACE_IDS_MOST}.`,
      example: '019aa4a5-6f3b-7c0e-9d51-3f2f6f0b7a12',
    }),
  unusedDays: wholeNumber(1, UNUSED_DAYS_MOST).optional().meta(FREE_PORTS),
  ...annotationFilters,
  site: siteFilter,
};
/** The same filters in a body; there `unusedDays` is a number. */
const interfaceFilter = z.strictObject({
  ...interfaceFilters,
  unusedDays: z.int().min(1).max(UNUSED_DAYS_MOST).optional().meta(FREE_PORTS),
});
const interfaceQuery = z.strictObject({
  ...interfaceFilters,
  sort: sortBy(INTERFACE_SORTS),
  ...paging,
});
export type InterfaceQuery = z.output<typeof interfaceQuery>;

// ── Topology ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Most devices in one answer of the topology; more is cut, and said. */
export const TOPOLOGY_NODES = 20_000;

const linkEnd = z.strictObject({
  deviceId: id,
  interfaceId: id.nullable(),
  ifIndex: z.int().nullable(),
  port: text('Te1/1/1'),
});
export const topology = z
  .strictObject({
    nodes: z.array(
      z.strictObject({
        id,
        siteId: id,
        name: z.string(),
        address: address.nullable(),
        class: deviceClass,
        status: deviceStatus,
        monitor: flag,
        worstSeverity: z.int().min(1).max(5).nullable().meta({ description: 'Of its open events.' }),
      }),
    ),
    links: z.array(
      z.strictObject({
        a: linkEnd,
        b: linkEnd,
        protocols: z.array(z.string()),
        status: deviceStatus.meta({ description: 'Up when both known ends are up.' }),
        speedBps: z.number().nullable(),
        lastSeen: time,
      }),
    ),
    /** Far ends that were named but are no device we know. */
    strangers: z.array(
      z.strictObject({
        from: linkEnd,
        name: z.string().nullable(),
        port: z.string().nullable(),
        protocol: z.string(),
        lastSeen: time,
      }),
    ),
    truncated: z.boolean().meta({ description: `More than ${TOPOLOGY_NODES} devices: ask by site.` }),
  })
  .meta({ id: 'Topology' });
export type Topology = z.infer<typeof topology>;

// ── Operations ──────────────────────────────────────────────────────────────────────────────────────────────

export const interfaceOperations = {
  'interfaces.list': {
    method: 'GET',
    path: '/api/interfaces',
    tag: 'Interfaces',
    summary: 'List the interfaces of a device',
    stable: true,
    access: 'viewer',
    query: interfaceQuery,
    data: networkInterface,
    envelope: 'list',
    errors: ['not_found'],
  },
  'interfaces.update': {
    method: 'PATCH',
    path: '/api/interfaces/{id}',
    tag: 'Interfaces',
    summary: 'Set tags, note or custom fields of an interface',
    access: 'operator',
    params: idParams,
    body: z
      .strictObject(annotationPatch)
      .refine((patch) => Object.keys(patch).length > 0, 'nothing to change'),
    data: z.strictObject({ id, deviceId: id, ...annotations }),
    envelope: 'item',
    example: { tags: ['uplink'], note: 'Dark fibre 12' },
  },
  'interfaces.bulk': {
    method: 'POST',
    path: '/api/interfaces/bulk',
    tag: 'Interfaces',
    summary: 'Change every interface of a device that a filter matches',
    description:
      'The filter takes the parameters of the list. `expect` refuses with 409 when another number matches.',
    access: 'operator',
    body: z.strictObject({
      filter: interfaceFilter,
      set: z.strictObject(annotationBulk).refine((set) => Object.keys(set).length > 0, 'nothing to change'),
      expect: z.int().min(0).optional(),
    }),
    data: z.strictObject({ matched: z.int(), changed: z.int() }),
    envelope: 'item',
    errors: ['not_found', 'conflict'],
    example: {
      filter: { deviceId: '019aa4a5-6f3b-7c0e-9d51-3f2f6f0b7a12', unusedDays: 90 },
      set: { addTags: ['free'] },
    },
  },
  'topology.get': {
    method: 'GET',
    path: '/api/topology',
    tag: 'Topology',
    summary: 'Devices and the links between them',
    access: 'viewer',
    query: z.strictObject({ site: siteFilter }),
    data: topology,
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
