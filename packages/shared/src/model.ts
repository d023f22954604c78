/**
 * The words of Rollcall. One word per thing: table, type, route, message and button share it.
 *
 * - site: a place with its own address space; the same 10.0.0.0/8 may exist in two sites
 * - collector: a daemon at one site with its own key pair
 * - credential: an SNMP community or v3 user, sealed at rest, usable at named sites
 * - profile: named settings of a sweep: probes, credentials, rate, retries, exclusions
 * - scan: one request (targets, profile, site); made of jobs
 * - job: a slice of a scan's addresses (4,096 at most) leased to one collector
 * - sweep: what a collector does with a job
 * - observation: one fact a collector reports, named for ever by (collector, epoch, sequence)
 * - device, interface, address, entity, neighbour: the inventory
 * - event: something that is or went wrong or changed, on a device, interface, collector or site
 * - case: events that belong together, with people's work on them
 * - watch: the standing observation of a device whose `monitor` is 1
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
export const deviceClass = z.enum(DEVICE_CLASSES);
export type DeviceClass = z.infer<typeof deviceClass>;

export const DEVICE_STATUSES = ['up', 'down', 'unknown'] as const;
export const deviceStatus = z.enum(DEVICE_STATUSES);
export type DeviceStatus = z.infer<typeof deviceStatus>;

/** Event severity codes of the API document, section 2.2. */
export const Severity = { critical: 1, major: 2, minor: 3, warning: 4, info: 5 } as const;
export type Severity = (typeof Severity)[keyof typeof Severity];

/** Event status codes of the API document, section 2.2. */
export const EventStatus = { open: 0, acknowledged: 1, closed: 2 } as const;
export type EventStatus = (typeof EventStatus)[keyof typeof EventStatus];

/** Case status codes of the API document, section 2.2. */
export const CaseStatus = { open: 0, investigating: 1, resolved: 2, closed: 3 } as const;
export type CaseStatus = (typeof CaseStatus)[keyof typeof CaseStatus];

export const EVENT_SOURCES = ['icmp', 'snmp', 'trap', 'discovery', 'collector', 'api'] as const;
export const eventSource = z.enum(EVENT_SOURCES);
export type EventSource = z.infer<typeof eventSource>;

export const SCAN_STATUSES = ['queued', 'running', 'completed', 'partial', 'failed', 'cancelled'] as const;
export const scanStatus = z.enum(SCAN_STATUSES);
export type ScanStatus = z.infer<typeof scanStatus>;

export const JOB_STATUSES = ['queued', 'leased', 'done', 'deferred', 'failed', 'cancelled'] as const;
export const jobStatus = z.enum(JOB_STATUSES);
export type JobStatus = z.infer<typeof jobStatus>;

export const ROLES = ['viewer', 'operator', 'admin'] as const;
export const role = z.enum(ROLES);
export type Role = z.infer<typeof role>;

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

/** Most addresses in one job: one lease, one bitmap of 512 bytes. */
export const JOB_ADDRESSES = 4096;
/** Most addresses in one scan, default of the setting: a /12. */
export const SCAN_ADDRESSES = 1_048_576;
/** Default SNMP port (RFC 3411 registry). */
export const SNMP_PORT = 161;
