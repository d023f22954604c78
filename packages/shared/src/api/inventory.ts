/** Devices: what they are, what happened to them, why they are one. */
import { z } from 'zod';
import { deviceClass, deviceStatus } from '../model.ts';
import { annotationBulk, annotationFilters, annotationPatch, annotations, origins } from './annotations.ts';
import { deviceAsOf } from './as-of.ts';
import { closeReason } from './incidents.ts';
import { address, flag, mac, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import {
  codes,
  id,
  idParams,
  ids,
  line,
  paging,
  queryTime,
  resource,
  siteFilter,
  sortBy,
  wholeNumber,
} from './operation.ts';
import { health } from './sensors.ts';

// ── Device ───────────────────────────────────────────────────────────────────────────────────────────────────

/** A device as lists show it. Null: not known. */
export const device = z
  .strictObject({
    id,
    siteId: id,
    site: z.string().meta({ example: 'headquarters' }),
    collectorId: id.nullable(),
    collector: text('hq-1'),
    name: z.string().meta({ example: 'core-1' }),
    address: address.nullable(),
    addresses: z.array(address),
    macAddress: mac,
    class: deviceClass,
    vendor: text('Cisco'),
    model: text('WS-C3850-48T'),
    os: text('IOS-XE'),
    osVersion: text('16.12.4'),
    serialNumber: text('FOC1932X0KZ'),
    sysName: text('core-1.example.net'),
    sysDescr: text('Cisco IOS Software, Version 16.12.4'),
    sysObjectId: text('1.3.6.1.4.1.9.1.1745'),
    location: text('Rack 4'),
    contact: text('noc@example.net'),
    uptimeSeconds: z
      .int()
      .nullable()
      .meta({ description: 'Seconds since it booted, as of now.', example: 86_400 }),
    monitor: flag.meta({ description: '1: monitored.' }),
    status: deviceStatus,
    reachable: z
      .strictObject({ icmp: z.boolean().nullable(), snmp: z.boolean().nullable() })
      .meta({ description: 'What answered last; null when it was not asked.' }),
    rttMs: z.number().nullable().meta({ example: 0.42 }),
    interfaceCount: z.int().meta({ example: 52 }),
    health: health.meta({ description: 'The worst of its sensors; unknown: none is judged.' }),
    openEvents: z.int().meta({ description: 'Events on it that are not closed.', example: 0 }),
    firstSeen: time,
    lastSeen: time,
    lastScanId: id.nullable(),
    ...annotations,
  })
  .meta({ id: 'Device' });
export type Device = z.infer<typeof device>;

/** A far end seen from one device. */
const deviceNeighbour = z
  .strictObject({
    protocol: z.string().meta({ example: 'lldp' }),
    interfaceId: id.nullable(),
    ifIndex: z.int().nullable(),
    localPort: text('Gi1/0/48'),
    deviceId: id.nullable().meta({ description: 'The device at the far end, once it is known and visible.' }),
    name: z.string().nullable().meta({
      example: 'dist-2',
      description:
        'Name of that device; while it is unknown what the far end calls itself, else how it describes itself.',
    }),
    sysName: z.string().nullable().meta({
      example: 'dist-2.example.net',
      description: 'What the far end calls itself.',
    }),
    port: text('Te1/1/1'),
    platform: text('cisco WS-C3850'),
    addresses: z.array(address),
    firstSeen: time,
    lastSeen: time,
  })
  .meta({ id: 'DeviceNeighbour' });
export type DeviceNeighbour = z.infer<typeof deviceNeighbour>;

/** A cable between this device and another, whichever of the two told of it. */
const deviceLink = z
  .strictObject({
    interfaceId: id.nullable(),
    port: text('Gi1/0/48'),
    deviceId: id.meta({ description: 'The device at the far end.' }),
    name: z.string().meta({ example: 'dist-2' }),
    farPort: text('Te1/1/1'),
    protocols: z.array(z.string()).meta({ example: ['cdp', 'lldp'] }),
    status: deviceStatus.meta({ description: 'Up when both known ends are up.' }),
    lastSeen: time,
  })
  .meta({ id: 'DeviceLink' });
export type DeviceLink = z.infer<typeof deviceLink>;

/** A piece of hardware (ENTITY-MIB entPhysicalTable). */
export const entity = z
  .strictObject({
    index: z.int().meta({ description: 'entPhysicalIndex.' }),
    parent: z.int().nullable().meta({ description: 'Index of what it sits in.' }),
    position: z.int().nullable(),
    class: z.string().meta({ description: 'IANA PhysicalClass name.', example: 'powerSupply' }),
    name: text('Switch 1 Power Supply A'),
    description: text('350W AC Power Supply'),
    model: text('PWR-C1-350WAC'),
    serialNumber: text('LIT19320ABC'),
    manufacturer: text('Cisco Systems, Inc.'),
    hardwareRevision: text('V01'),
    firmwareRevision: z.string().nullable(),
    softwareRevision: z.string().nullable(),
    replaceable: z.boolean().nullable(),
  })
  .meta({ id: 'Entity' });
export type Entity = z.infer<typeof entity>;

/** A case as its devices show it. */
const caseBrief = z
  .strictObject({
    id,
    number: z.int().meta({ example: 1042 }),
    title: z.string(),
    status: z.int().min(0).max(3),
    severity: z.int().min(1).max(5),
    priority: z.int().min(1).max(4),
    updatedAt: time,
  })
  .meta({ id: 'CaseBrief' });

/** One device with what hangs on it. */
const deviceDetail = z
  .strictObject({
    ...device.shape,
    neighbours: z.array(deviceNeighbour),
    links: z.array(deviceLink).meta({ description: 'To devices of the inventory, each once; by port.' }),
    entities: z.array(entity),
    openCases: z.array(caseBrief),
    origins: origins.meta({
      description:
        'Where what is known comes from, by the name of the member (`fields.NAME` of a custom field). What a person set is never overwritten by discovery.',
      example: { name: { from: 'person', by: 'ada', at: 1_763_700_000 } },
    }),
    asOf: deviceAsOf.optional().meta({ description: 'Only with `at`.' }),
  })
  .meta({ id: 'DeviceDetail' });
export type DeviceDetail = z.infer<typeof deviceDetail>;

/** Of the details of a 404: the id of the device that the record was merged into. */
export const MERGED_INTO = 'mergedInto';

export const DEVICE_SORTS = [
  'name',
  'address',
  'class',
  'vendor',
  'model',
  'status',
  'health',
  'firstSeen',
  'lastSeen',
] as const;

/** Devices that are named one by one. */
const DEVICE_IDS_MOST = 200;

/** Filters of the device list, by the names of the customer's document. */
export const deviceFilters = {
  search: z.string().max(200).optional().meta({
    description:
      'Case-insensitive substring of name, address, description, vendor, model, serial number, location or MAC address, of a tag, the note or the value of a custom field; a MAC address, or four digits and more of it, in any notation.',
    example: 'core',
  }),
  ids: ids(DEVICE_IDS_MOST)
    .optional()
    .meta({
      description: `Exactly these devices: ids separated by commas, at most ${DEVICE_IDS_MOST}.`,
      example: '019aa4a5-6f3b-7c0e-9d51-3f2f6f0b7a12',
    }),
  Address: z.string().min(1).max(60).optional().meta({
    description: 'One address (any of the device’s) or a CIDR that contains one; IPv4 or IPv6.',
    example: '10.20.0.0/16',
  }),
  class: codes(deviceClass).optional().meta({
    description: 'One class, or several separated by commas.',
    example: 'switch,router',
  }),
  status: codes(deviceStatus).optional().meta({
    description: 'One state, or several separated by commas.',
    example: 'down',
  }),
  health: codes(health).optional().meta({
    description: 'Worst of its sensors: one, or several separated by commas.',
    example: 'critical,warning',
  }),
  collector: z.string().min(1).max(200).optional().meta({
    description: 'Id or exact name of the collector that saw it last.',
    example: 'hq-1',
  }),
  ...annotationFilters,
  site: siteFilter,
};
const deviceQuery = z.strictObject({
  ...deviceFilters,
  monitor: wholeNumber(0, 1)
    .optional()
    .meta({ description: '1: monitored devices; 0: the others.', example: 1 }),
  sort: sortBy(DEVICE_SORTS),
  ...paging,
});
export type DeviceQuery = z.output<typeof deviceQuery>;

/** The same filters in a body; there `monitor` is a number. */
const deviceFilter = z.strictObject({ ...deviceFilters, monitor: flag.optional() });

// ── History and explanation ──────────────────────────────────────────────────────────────────────────────────

/** One thing that happened to a device, with both sides where something changed. */
const deviceHistoryEntry = z
  .strictObject({
    eventId: id,
    at: time,
    kind: z.string().meta({ example: 'device.upgraded' }),
    severity: z.int().min(1).max(5),
    status: z.int().min(0).max(2),
    message: z.string().meta({ example: 'core-1 changed its version from 16.9.1 to 16.12.4' }),
    interfaceId: id.nullable(),
    count: z.int(),
    lastAt: time,
    closedAt: maybeTime,
    closeReason: closeReason.nullable(),
    before: z.unknown().meta({ description: 'What was; null when nothing was.' }),
    after: z.unknown().meta({ description: 'What is since.' }),
  })
  .meta({ id: 'DeviceHistoryEntry' });
export type DeviceHistoryEntry = z.infer<typeof deviceHistoryEntry>;

const evidenceClaim = z.strictObject({ kind: z.string().meta({ example: 'serial' }), value: z.string() });

/** Why this is one device, and why it is what it is. */
const deviceExplanation = z
  .strictObject({
    deviceId: id,
    /** What identifies the device. */
    evidence: z.array(
      evidenceClaim.extend({
        strength: z.enum(['strong', 'supporting', 'decision']).meta({ id: 'EvidenceStrength' }),
        firstSeen: time,
        lastSeen: time,
      }),
    ),
    decisions: z.array(
      z.strictObject({
        id,
        verb: z.enum(['merge', 'split']).meta({ id: 'IdentityDecision' }),
        otherId: id,
        other: z.string().nullable(),
        by: z.string().nullable(),
        at: time,
        undoneAt: maybeTime,
        evidence: z.array(evidenceClaim),
      }),
    ),
    conflicts: z.array(z.strictObject({ eventId: id, message: z.string(), at: time })),
    /** Field → the rule that filled it. */
    classification: z.record(z.string(), z.unknown()),
    overrides: z.strictObject({ name: z.string().nullable(), class: deviceClass.nullable() }),
    /** What was read, and when it was last seen whole. */
    facts: z.array(z.strictObject({ group: z.string(), seenAt: time, complete: z.boolean() })),
    raw: z.record(z.string(), z.string()).meta({
      description:
        'Texts that are not shown as the agent sent them (no UTF-8, control characters): OID → its octets in hex.',
      example: { '1.3.6.1.2.1.1.6.0': '4dfc6e6368656e' },
    }),
  })
  .meta({ id: 'DeviceExplanation' });
export type DeviceExplanation = z.infer<typeof deviceExplanation>;

// ── Operations ───────────────────────────────────────────────────────────────────────────────────────────────

const devicePatch = z
  .strictObject({
    monitor: flag.optional(),
    name: line(200)
      .nullable()
      .optional()
      .meta({ description: 'Shown name; null gives it back to discovery.' }),
    class: deviceClass.nullable().optional().meta({ description: 'Class; null gives it back to the rules.' }),
    ...annotationPatch,
  })
  .refine((patch) => Object.keys(patch).length > 0, 'nothing to change');
const merged = z.strictObject({ id, address: address.nullable(), name: z.string() });

const devices = resource('/api/devices', 'Devices', device);

export const inventoryOperations = {
  'devices.list': devices.list('viewer', 'List devices', { stable: true, query: deviceQuery }),
  'devices.get': devices.get('viewer', 'One device, with neighbours, hardware and open cases', {
    stable: true,
    description:
      'With `at` as it was at that second, as far as the changes since then are kept; `asOf.notKnown` says what cannot be said. Of a device that was merged into another the 404 has the id of that one in `details`, at the path `mergedInto`.',
    query: z.strictObject({
      at: queryTime.optional().meta({ description: 'Unix seconds; now when absent.' }),
    }),
    data: deviceDetail,
  }),
  'devices.update': devices.update(
    'operator',
    'Monitor a device or stop, set name, class, tags, note or custom fields',
    {
      body: devicePatch,
      example: { monitor: 1, name: 'core-1', tags: ['core'] },
    },
  ),
  'devices.delete': devices.remove('admin', 'Forget a device', {
    description:
      'Its open events are closed, its history is kept. A later scan that finds it makes it a new device.',
  }),
  'devices.bulk': {
    method: 'POST',
    path: '/api/devices/bulk',
    tag: 'Devices',
    summary: 'Change every device that a filter matches',
    description:
      'The filter takes the parameters of the list. `expect` refuses with 409 when another number matches.',
    access: 'operator',
    body: z.strictObject({
      filter: deviceFilter,
      set: z
        .strictObject({ monitor: flag.optional(), ...annotationBulk })
        .refine((set) => Object.keys(set).length > 0, 'nothing to change'),
      expect: z.int().min(0).optional(),
    }),
    data: z.strictObject({ matched: z.int(), changed: z.int() }),
    envelope: 'item',
    errors: ['conflict'],
    example: { filter: { class: 'switch', Address: '10.20.0.0/16' }, set: { monitor: 1 } },
  },
  'devices.merge': devices.act('merge')('operator', 'Say that another device is this one', {
    description: 'Remembered: later scans keep them one. Undone by a split.',
    body: z.strictObject({ deviceId: z.uuid().toLowerCase() }),
    errors: ['conflict'],
    example: { deviceId: '019aa4a5-6f3b-7c0e-9d51-3f2f6f0b7a12' },
  }),
  'devices.split': devices.act('split')('operator', 'Say that some addresses are another device', {
    description: 'Remembered: later scans keep them apart. Undone by a merge.',
    body: z.strictObject({ addresses: z.array(z.string().min(1).max(45)).min(1).max(1024) }),
    data: z.strictObject({ devices: z.array(merged) }),
    errors: ['conflict'],
    example: { addresses: ['10.20.0.7'] },
  }),
  'devices.history': {
    method: 'GET',
    path: '/api/devices/{id}/history',
    tag: 'Devices',
    summary: 'What happened to a device, newest first',
    description: 'By when it happened last, or, of trouble that is over, by when it was over.',
    access: 'viewer',
    params: idParams,
    query: z.strictObject({ ...paging }),
    data: deviceHistoryEntry,
    envelope: 'list',
  },
  'devices.explain': {
    method: 'GET',
    path: '/api/devices/{id}/explain',
    tag: 'Devices',
    summary: 'Why it is one device, and why it is classified so',
    access: 'viewer',
    params: idParams,
    data: deviceExplanation,
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
