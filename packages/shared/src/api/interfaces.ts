/** Interfaces of a device, and the links between devices. */
import { z } from 'zod';
import { deviceClass, deviceStatus } from '../model.ts';
import { STP_STATES } from '../observation.ts';
import { address, flag, mac, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, paging, siteFilter, sortBy, wholeNumber } from './operation.ts';

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
const interfaceStatus = z.enum(INTERFACE_STATUSES).nullable();

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
    isPort: flag.meta({ description: '1: a socket of the device, by its type; 0: made by its software.' }),
    lastUsed: maybeTime.meta({
      description: 'When it was up last: seen so last, where it is; null: never, as far as is known.',
    }),
    unusedSince: maybeTime.meta({
      description:
        'Since when it was not up: at least since it was seen first or changed last, where it never was. Null: it is up.',
    }),
    duplex: z
      .enum(['half', 'full', 'unknown'])
      .nullable()
      .meta({ description: 'Read from monitored devices only.', example: 'full' }),
    stp: z.enum(STP_STATES).nullable().meta({
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
        description:
          'Hardware addresses in its forwarding table now, the first three of them with what is known.',
      }),
    firstSeen: time,
    lastSeen: time,
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
const interfaceQuery = z.strictObject({
  deviceId: z.string().min(1).max(200).meta({ description: 'Required: whose interfaces.' }),
  unusedDays: wholeNumber(1, 3650)
    .optional()
    .meta({ description: 'Free ports: sockets that were not up for so many days.', example: 90 }),
  site: siteFilter,
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
