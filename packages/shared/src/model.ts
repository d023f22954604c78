/**
 * The words of Rollcall. A thing has one word, in tables, types, routes, messages and the application.
 *
 * Places and programs
 * - site: a place with its own address space; the same 10.0.0.0/8 may exist at two sites
 * - collector: a daemon at one site, with its own key pair
 * - server: the program that stores and answers; several may share one database
 * - link: the WebSocket of a collector to a server; a session is the server's side of it
 * - join token: lets a host enrol as a collector, once
 * - generation: a number that grows with each link of a collector; two holders of one key show different ones
 * - quarantine: a collector whose key or state looks copied is refused until a person decides
 *
 * Discovery
 * - credential: an SNMP community or v3 user, sealed in the database, usable at named sites
 * - profile: named settings of a sweep: probes, rate, retries, exclusions
 * - scan: a request to sweep targets at a site with a profile; it consists of jobs
 * - schedule: starts a scan again and again, by a cron pattern
 * - job: a slice of a scan's addresses (at most 4,096)
 * - lease: gives a job to one collector for some seconds; its fence is a number that grows with every lease of the job
 * - sweep: what a collector does with a job: it probes every address
 * - outcome: how the probe of one address ended, one character
 * - walk: the reading of one device's tables by SNMP
 * - rule: knowledge about device types, as data; rules classify devices
 *
 * Delivery
 * - observation: one fact that a collector reports, identified by (collector, epoch, stream, sequence)
 * - epoch, stream: an epoch is one life of an outbox; its streams, `state`, `event` and `sample`, are each in order
 * - outbox: keeps observations on the collector's disk until they are acknowledged
 * - batch, window: a batch is observations of one message; a window is the batches not yet acknowledged
 * - gap: observations that a collector had to drop, counted
 * - dead letter: an observation that could not be read or stored, with the reason
 * - ingest: takes batches, identifies devices, stores and records changes
 *
 * Inventory
 * - device: one box, however many addresses it has
 * - evidence: what identifies a device: engine id, serial number, MAC, address …
 * - sighting: when and in which walk a device was last seen
 * - interface, address, entity (hardware part), neighbour, fact: what a walk found of a device
 * - tally: counts kept beside a large table
 *
 * Monitoring
 * - watch, monitoring: pings and short SNMP readings of a device whose `monitor` is 1
 * - status report: what the watch of a device reports, on each change and every five minutes
 * - trap: an SNMP notification that a device sent
 *
 * Incidents
 * - event: something that is or went wrong, or changed, on a device, interface, collector or site
 * - kind: the definition of a sort of event: severity, what opens, clears and suppresses it
 * - condition, notice: a condition lasts and clears; a notice happened and closes by itself
 * - hold: how long a condition must last until it is an event
 * - flapping: something that came and went again and again in a short time
 * - root cause: the device whose failure explains other events; it suppresses them
 * - case: events that belong together, with people's work on them; its timeline records what happened to it
 * - maintenance: a planned time in which events go into no case
 * - subscription, delivery: a subscription sends cases to a webhook or by mail; a delivery is one message of it
 *
 * Access
 * - user, role, session, token: who may do what, signed in by password or by an API token
 * - audit row: who changed what, and when
 */
import { z } from 'zod';

export const DEVICE_CLASSES = [
  'router',
  'switch',
  'firewall',
  'wireless',
  'load-balancer',
  'server',
  'hypervisor',
  'storage',
  'printer',
  'ups',
  'pdu',
  'camera',
  'phone',
  'sensor',
  'workstation',
  'appliance',
  'unknown',
] as const;
export const deviceClass = z.enum(DEVICE_CLASSES).meta({ id: 'DeviceClass' });
export type DeviceClass = z.infer<typeof deviceClass>;

export const DEVICE_STATUSES = ['up', 'down', 'unknown'] as const;
export const deviceStatus = z.enum(DEVICE_STATUSES).meta({ id: 'DeviceStatus' });

/** As stored: what only a newer version knows is unknown. Made once, as a schema costs more to make than a row to read. */
export const knownClass = deviceClass.catch('unknown');
export const knownStatus = deviceStatus.catch('unknown');

/** Event severity codes of the API document, section 2.2. */
export const Severity = { critical: 1, major: 2, minor: 3, warning: 4, info: 5 } as const;
export type Severity = (typeof Severity)[keyof typeof Severity];

/** The name of a code of such a table; the code itself where it has none. */
export const nameOfCode = (codes: Readonly<Record<string, number>>, code: number): string =>
  Object.keys(codes).find((name) => codes[name] === code) ?? String(code);

/** Event status codes of the API document, section 2.2. */
export const EventStatus = { open: 0, acknowledged: 1, closed: 2 } as const;
export type EventStatus = (typeof EventStatus)[keyof typeof EventStatus];

/** Case status codes of the API document, section 2.2. */
export const CaseStatus = { open: 0, investigating: 1, resolved: 2, closed: 3 } as const;
export type CaseStatus = (typeof CaseStatus)[keyof typeof CaseStatus];

export const EVENT_SOURCES = ['icmp', 'snmp', 'trap', 'discovery', 'collector', 'api'] as const;
export const eventSource = z.enum(EVENT_SOURCES).meta({ id: 'EventSource' });
export type EventSource = z.infer<typeof eventSource>;

export const SCAN_STATUSES = ['queued', 'running', 'completed', 'partial', 'failed', 'cancelled'] as const;
export const scanStatus = z.enum(SCAN_STATUSES).meta({ id: 'ScanStatus' });
export type ScanStatus = z.infer<typeof scanStatus>;

export const JOB_STATUSES = ['queued', 'leased', 'done', 'deferred', 'failed', 'cancelled'] as const;
export const jobStatus = z.enum(JOB_STATUSES).meta({ id: 'JobStatus' });
export type JobStatus = z.infer<typeof jobStatus>;

export const COLLECTOR_STATUSES = ['active', 'quarantined', 'revoked'] as const;
export const collectorStatus = z.enum(COLLECTOR_STATUSES).meta({ id: 'CollectorStatus' });

/** Each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export const role = z.enum(ROLES).meta({ id: 'Role' });
export type Role = z.infer<typeof role>;
/** A role and all above it. */
export const rolesFrom = (least: Role): Role[] => ROLES.slice(ROLES.indexOf(least));

/**
 * How an address of a job ended, one character each so that 4,096 addresses take 4 KiB.
 * `.` means not probed yet; every other code is final.
 */
export const OUTCOMES = {
  '.': 'not-probed',
  x: 'excluded',
  _: 'silent',
  i: 'icmp',
  s: 'snmp',
  a: 'snmp-auth-failed',
  t: 'snmp-timeout',
  '=': 'alias',
  b: 'budget-spent',
  e: 'error',
} as const;
export type OutcomeCode = keyof typeof OUTCOMES;
export type Outcome = (typeof OUTCOMES)[OutcomeCode];

interface OutcomeMeaning {
  /** What answered: nothing, a further address of a device, a device. */
  answered: 'nothing' | 'address' | 'device';
  /** Nothing was left out: a device that was not recognised at the address is not there. */
  conclusive: boolean;
}
const MEANING: Record<OutcomeCode, OutcomeMeaning> = {
  '.': { answered: 'nothing', conclusive: false },
  x: { answered: 'nothing', conclusive: false },
  _: { answered: 'nothing', conclusive: true },
  i: { answered: 'device', conclusive: true },
  s: { answered: 'device', conclusive: true },
  a: { answered: 'device', conclusive: true },
  t: { answered: 'device', conclusive: false },
  '=': { answered: 'address', conclusive: true },
  b: { answered: 'device', conclusive: false },
  e: { answered: 'nothing', conclusive: false },
};
const codesThat = (means: (meaning: OutcomeMeaning) => boolean): OutcomeCode[] =>
  (Object.keys(MEANING) as OutcomeCode[]).filter((code) => means(MEANING[code]));
/** Codes of addresses at which something answered. */
export const ALIVE_CODES = codesThat(({ answered }) => answered !== 'nothing').join('');
/** Codes of addresses at which a device answered, and not only a further address of one. */
export const DEVICE_CODES = codesThat(({ answered }) => answered === 'device').join('');
/** Codes that say of every device that was not recognised at the address that it is not there. */
export const CONCLUSIVE_CODES: readonly OutcomeCode[] = codesThat(({ conclusive }) => conclusive);
/** Nothing answers at the address. */
export const SILENT_CODE = '_' satisfies OutcomeCode;

/** Algorithms of SNMPv3 (RFC 3414, 7860, 3826); `aes192r` and `aes256r` localise keys as Cisco does (Reeder). */
export const AUTH_PROTOCOLS = ['none', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const;
export const PRIV_PROTOCOLS = ['none', 'des', 'aes128', 'aes192', 'aes256', 'aes192r', 'aes256r'] as const;

export const SUBSCRIPTION_KINDS = ['webhook', 'email', 'syslog'] as const;
export type SubscriptionKind = (typeof SUBSCRIPTION_KINDS)[number];

/** Most addresses in one job: one lease, one bitmap of 512 bytes. */
export const JOB_ADDRESSES = 4096;
/** Most addresses in one scan, default of the setting: a /12. */
export const SCAN_ADDRESSES = 1_048_576;
/** Default SNMP port (RFC 3411 registry). */
export const SNMP_PORT = 161;
