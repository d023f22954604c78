/**
 * What a collector reports: facts, never conclusions. One observation is one line of the stream, named for ever
 * by (collector, epoch, stream, sequence), stored once.
 *
 * A device found by SNMP is one `device` observation (who it is, all that identity needs) followed by `rows`
 * observations with the same `walk`, one or more per table; the last part of a table says whether the walk saw
 * the whole table. Tables are split so that one observation stays under OBSERVATION_BYTES.
 */
import { z } from 'zod';
import { CAPABILITIES } from './far-end.ts';
import { samples } from './samples.ts';
import { atMost, each, orElse } from './wire.ts';

/** Upper bound of one encoded observation, bytes. A batch holds at least two. */
export const OBSERVATION_BYTES = 96 * 1024;

/** Unix milliseconds by the collector's clock; the server corrects it by the offset of the connection. */
const time = z.int().min(0);
/** Canonical text of an IPv4 or IPv6 address, PostgreSQL's form. */
const address = z.string().max(45);
/** Lower-case colon form of a hardware address of 6 octets. */
const mac = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
/** Text from a device: valid UTF-8, control characters made visible, bounded. */
const text = z.string().max(8192);
const counter = z.int().min(0);
/** What an integer column of the server holds. What comes back to it, as a fence does, is not larger. */
export const INT4 = 2_147_483_647;
const fence = z.int().min(0).max(INT4);
/** A name by reverse DNS or DHCP: lower case, no dot at the end. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/;
/** The name that a text is; undefined: it is none. */
export function hostNameOf(text: string): string | undefined {
  const name = text.replace(/\.$/, '').toLowerCase();
  return HOST_NAME.test(name) ? name : undefined;
}
/** Absent where the reader does not know it; it is always sent. */
const snmpVersion = z.enum(['v1', 'v2c', 'v3']);

/** A job whose facts these are; absent for watch and trap observations. */
const job = z.uuid().optional();

const systemGroup = z.object({
  sysDescr: text.optional(),
  sysObjectId: z.string().max(512).optional(),
  sysName: text.optional(),
  sysLocation: text.optional(),
  sysContact: text.optional(),
  sysServices: z.int().optional(),
  /** Hundredths of a second (RFC 3418 sysUpTime). */
  sysUpTime: z.int().optional(),
});
export type SystemGroup = z.infer<typeof systemGroup>;

const chassis = z.object({
  /** entPhysicalIndex. */
  index: z.int(),
  /** IANA PhysicalClass name: chassis, stack, module, powerSupply … */
  class: z.string().max(40),
  name: text.optional(),
  description: text.optional(),
  model: text.optional(),
  serial: text.optional(),
  manufacturer: text.optional(),
  hardwareRevision: text.optional(),
  firmwareRevision: text.optional(),
  softwareRevision: text.optional(),
  /** entPhysicalVendorType, an OID. */
  vendorType: z.string().max(512).optional(),
  /** entPhysicalContainedIn. */
  parent: z.int().optional(),
  /** entPhysicalParentRelPos: for stack members often the member number. */
  position: z.int().optional(),
  fru: z.boolean().optional(),
});
export type EntityRow = z.infer<typeof chassis>;

/** An address answered, whatever by: the fact that a host is alive there. */
const host = z.object({
  kind: z.literal('host'),
  job,
  at: time,
  address,
  /** Round trip of the answered echo, milliseconds; null when ICMP was asked and silent; absent when not asked. */
  rttMs: z.number().min(0).nullable().optional(),
  snmp: orElse(z.enum(['not-asked', 'silent', 'auth-failed', 'answered']), 'not-asked'),
  /** From the collector's neighbour table, where the address is on its link; at its host's own addresses one for all. */
  mac: mac.optional(),
  /** Reverse DNS name. */
  hostname: z.string().max(255).optional(),
  /** Where this sweep read the same agent, which lists `address` as its own and says the same of itself at both. */
  aliasOf: address.optional(),
  /** Why its agent, which answers, is not read. */
  unread: z.string().max(200).optional(),
});

/** An SNMP agent answered and was walked: identity, and what classification reads. */
const device = z.object({
  kind: z.literal('device'),
  job,
  at: time,
  /** Names this walk; `rows` observations refer to it. */
  walk: z.uuid(),
  /** The address it was reached on. */
  address,
  rttMs: z.number().min(0).nullable().optional(),
  snmpVersion: snmpVersion.optional(),
  credentialId: z.uuid().optional(),
  system: systemGroup,
  /** snmpEngineID, lower-case hex. */
  engineId: z.string().max(64).optional(),
  /** The agent's own addresses (ipAddressTable, ipAddrTable): evidence "one device". Bounded at 1,024. */
  addresses: z.array(address).max(1024),
  /** Distinct hardware addresses of its interfaces, bounded at 256. */
  macs: z.array(mac).max(256),
  /** dot1dBaseBridgeAddress. */
  bridgeMac: mac.optional(),
  /** lldpLocChassisId as `subtype:value` (subtype name of LLDP-MIB, MAC in colon form). */
  lldpChassisId: z.string().max(300).optional(),
  /** ENTITY-MIB rows of class chassis or stack (or the rows without parent), bounded at 64. */
  chassis: z.array(chassis).max(64),
  /** Values that rules ask for: OID → value as text (octets as text by MIB meaning, hex with 0x in front else). */
  vendor: atMost(1024, z.record(z.string().max(512), text)),
  /** Texts that are not shown as they came (no UTF-8, control characters): OID → octets in hex, the first 256. */
  raw: atMost(1024, z.record(z.string().max(512), z.string().max(512))).optional(),
  /** Tables that could not be read at all, by name, with the reason. */
  failed: atMost(64, z.record(z.string().max(40), z.string().max(200))).optional(),
});

/** dot1dStpPortState (RFC 4188) by name; index is the number minus 1. */
export const STP_STATES = ['disabled', 'blocking', 'listening', 'learning', 'forwarding', 'broken'] as const;

const portState = {
  /** Null: it is in no spanning tree. */
  stp: z.enum(STP_STATES).nullable().optional(),
  /** The aggregate that it is a member of; `active`: it sends frames for it. Null: it is in none. */
  aggregate: z.object({ ifIndex: z.int(), active: z.boolean() }).nullable().optional(),
};
const interfaceRow = z.object({
  ifIndex: z.int(),
  ifName: text.optional(),
  ifDescr: text.optional(),
  ifAlias: text.optional(),
  /** IANA ifType number. */
  ifType: z.int().optional(),
  /** bit/s from ifHighSpeed where that is larger, else ifSpeed. */
  speedBps: z.number().min(0).optional(),
  mtu: z.int().optional(),
  /** ifPhysAddress: colon form when 6 octets, plain hex else. */
  physAddress: z.string().max(128).optional(),
  adminStatus: z.int().optional(),
  operStatus: z.int().optional(),
  /** sysUpTime at last change, hundredths of a second. */
  lastChange: z.int().optional(),
  ...portState,
});
export type InterfaceRow = z.infer<typeof interfaceRow>;

const addressRow = z.object({
  address,
  prefixLength: z.int().min(0).max(128).optional(),
  ifIndex: z.int().optional(),
  /** ipAddressType/-Origin where known. */
  type: z.enum(['unicast', 'anycast', 'broadcast']).optional(),
});
export type AddressRow = z.infer<typeof addressRow>;

const neighbourRow = z.object({
  protocol: z.enum(['lldp', 'cdp', 'fdp', 'edp', 'ndp', 'mndp']),
  /** Local port: ifIndex where it could be resolved, and its name. */
  ifIndex: z.int().optional(),
  localPort: text.optional(),
  chassisId: z.string().max(300).optional(),
  portId: text.optional(),
  portDescription: text.optional(),
  sysName: text.optional(),
  sysDescr: text.optional(),
  platform: text.optional(),
  version: text.optional(),
  /** Those that are in use. */
  capabilities: each(z.array(z.enum(CAPABILITIES)).max(16), 'known').optional(),
  addresses: z.array(address).max(16).optional(),
});
export type NeighbourRow = z.infer<typeof neighbourRow>;

const arpRow = z.object({
  ifIndex: z.int(),
  address,
  mac,
  /** By reverse DNS. Empty: the address has none; absent: it was not looked up. */
  name: z
    .string()
    .regex(new RegExp(`^$|${HOST_NAME.source}`))
    .optional(),
});
const fdbRow = z.object({
  mac,
  ifIndex: z.int().optional(),
  bridgePort: z.int(),
  vlan: z.int().optional(),
  /** As the station called itself by DHCP, where the switch inspects that. */
  hostname: z.string().regex(HOST_NAME).optional(),
});
const vlanRow = z.object({
  vlan: z.int(),
  name: text.optional(),
  /** ifIndexes of member ports; untagged apart. */
  egress: z.array(z.int()).max(4096).optional(),
  untagged: z.array(z.int()).max(4096).optional(),
});
const vrfRow = z.object({
  name: text,
  /** SNMP context that reaches it; what stands below was read in it. */
  context: z.string().max(64).optional(),
  addresses: z.array(addressRow).max(256).optional(),
  arp: z.array(arpRow).max(600).optional(),
  /** Addresses and ARP entries left out. */
  more: counter.optional(),
});
export type ArpRow = z.infer<typeof arpRow>;
export type FdbRow = z.infer<typeof fdbRow>;
export type VlanRow = z.infer<typeof vlanRow>;
export type VrfRow = z.infer<typeof vrfRow>;

const listOf = <Row extends z.ZodType>(row: Row) => z.array(row).max(5000);
const rowsOf = <Table extends string, Rows extends z.ZodArray>(table: Table, rows: Rows) =>
  z.object({
    kind: z.literal('rows'),
    job,
    at: time,
    walk: z.uuid(),
    address,
    /** The monitored device that was asked: of a walk without a `device` observation. */
    deviceId: z.uuid().optional(),
    table: z.literal(table),
    /** 0-based part number. */
    part: counter,
    last: z.boolean(),
    /** Only on the last part: the walk saw the whole table. False: rows missing here say nothing. */
    complete: z.boolean().optional(),
    reason: z.string().max(200).optional(),
    rows,
  });

const rows = z.discriminatedUnion('table', [
  rowsOf('interfaces', listOf(interfaceRow)),
  rowsOf('addresses', listOf(addressRow)),
  rowsOf('entities', listOf(chassis)),
  rowsOf('neighbours', each(listOf(neighbourRow), 'known')),
  rowsOf('arp', listOf(arpRow)),
  rowsOf('fdb', listOf(fdbRow)).extend({
    /** All names that stations told by DHCP were read: a row without one is of a station that has none. Absent: it says nothing. */
    hostnames: z.boolean().optional(),
  }),
  rowsOf('vlans', listOf(vlanRow)),
  rowsOf('vrfs', listOf(vrfRow)),
]);
export type RowsObservation = z.infer<typeof rows>;
export type TableName = RowsObservation['table'];

/**
 * How addresses of a job ended: the job's durable cursor. It travels behind the facts it speaks of, in the same
 * stream, so a job that is resumed never skips an address whose facts were lost.
 */
const outcomes = z.object({
  kind: z.literal('outcomes'),
  job: z.uuid(),
  fence,
  at: time,
  /** Index of the first code within the job's addresses. */
  from: counter,
  /** One character of OUTCOMES per address; `.` leaves what is stored. */
  codes: z.string().max(4096),
  /** Why, for single addresses: index → short text (`alias of 10.0.0.1`). */
  notes: atMost(4096, z.record(z.string().max(10), z.string().max(200))).optional(),
});

/** The sweep of a job ended. `deferred`: could not be done now (no engine, no route), try again later. */
const jobEnd = z.object({
  kind: z.literal('job-end'),
  job: z.uuid(),
  fence,
  at: time,
  result: orElse(z.enum(['done', 'deferred', 'failed']), 'failed'),
  reason: z.string().max(300).optional(),
  counts: atMost(64, z.record(z.string().max(40), counter)),
});

/** A watched device or interface changed state, or its periodic summary. */
const watch = z.object({
  kind: z.literal('watch'),
  at: time,
  deviceId: z.uuid(),
  /** Where its agent answers, where that is not the address it is watched at, which is silent. */
  address: address.optional(),
  /** `down`: so many requests in a row stayed without an answer. */
  icmp: z.enum(['up', 'down']).optional(),
  rttMs: z.number().min(0).optional(),
  lossPercent: z.number().min(0).max(100).optional(),
  snmp: z.enum(['ok', 'timeout', 'auth-failed']).optional(),
  /** Hundredths of a second. */
  sysUpTime: z.int().optional(),
  /** sysUpTime went back, and not by its wrap after 497 days; or snmpEngineBoots grew. */
  restarted: z.boolean().optional(),
  /**
   * Devices reported silent until then may be judged: every other address that is pinged has answered since, or its
   * device was reported silent before this.
   */
  settledUntil: time.optional(),
  interfaces: z
    .array(
      z.object({
        ifIndex: z.int(),
        adminStatus: z.int().optional(),
        operStatus: z.int().optional(),
        speedBps: z.number().optional(),
        duplex: orElse(z.enum(['half', 'full', 'unknown']), 'unknown').optional(),
        stp: portState.stp,
        aggregate: portState.aggregate,
      }),
    )
    .max(1000)
    .optional(),
});

const trap = z.object({
  kind: z.literal('trap'),
  at: time,
  /** Source of the datagram. */
  address,
  /** The sender behind it, where the trap names another: agent-addr of v1, snmpTrapAddress (RFC 3584 section 3). */
  agentAddress: address.optional(),
  /** snmpEngineID of the sender, lower-case hex: only of messages that proved it. */
  engineId: z.string().max(64).optional(),
  snmpVersion: snmpVersion.optional(),
  /** snmpTrapOID; v1 traps translated by RFC 3584. */
  trapOid: z.string().max(512),
  sysUpTime: z.int().optional(),
  varbinds: z.array(z.object({ oid: z.string().max(512), type: z.string().max(20), value: text })).max(128),
  /** Traps of this source dropped by the rate limit since the last one that was told. */
  dropped: counter.optional(),
});

/** Three streams, each in order, each with its own sequence: events overtake a backlog of state, both one of samples. */
export const STREAMS = ['state', 'event', 'sample'] as const;
export type Stream = (typeof STREAMS)[number];

/** One value per stream. */
export const ofStreams = <T>(of: (stream: Stream) => T): Record<Stream, T> => ({
  state: of('state'),
  event: of('event'),
  sample: of('sample'),
});

/** Observations that were lost on purpose (a bound was reached), counted exactly. */
const gap = z.object({
  kind: z.literal('gap'),
  at: time,
  /** Which stream lost them. */
  stream: z.enum(STREAMS),
  fromSeq: counter,
  toSeq: counter,
  count: counter,
  /** `bytes`, `age`, `disk` or `damaged`; a later collector may have more. */
  reason: z.string().max(40),
});

export const observation = z.discriminatedUnion('kind', [
  host,
  device,
  rows,
  outcomes,
  jobEnd,
  watch,
  trap,
  gap,
  samples,
]);
export type Observation = z.infer<typeof observation>;
export type HostObservation = z.infer<typeof host>;
export type DeviceObservation = z.infer<typeof device>;
export type OutcomesObservation = z.infer<typeof outcomes>;
export type JobEndObservation = z.infer<typeof jobEnd>;
export type WatchObservation = z.infer<typeof watch>;
export type TrapObservation = z.infer<typeof trap>;
export type GapObservation = z.infer<typeof gap>;

/**
 * The stream an observation travels in. Events leave first and are dropped last, samples the other way round; state may
 * be superseded.
 */
export function streamOf({ kind }: Observation): Stream {
  if (kind === 'samples') return 'sample';
  return kind === 'watch' || kind === 'trap' || kind === 'gap' ? 'event' : 'state';
}
