/** Discovery: scans, their plan and their addresses, schedules. */
import { z } from 'zod';
import { collectorStatus, jobStatus, OUTCOMES, type Outcome, scanStatus } from '../model.ts';
import { profileSettings } from '../profile.ts';
import type { Operation } from './operation.ts';
import { codes, id, idParams, line, paging, resource, siteFilter, sortBy, unixSeconds } from './operation.ts';

const count = z.int().min(0).meta({ example: 254 });
const maybeTime = unixSeconds.nullable();
const seconds = z.number().min(0).meta({ example: 3.5 });

/** Outcomes of an address as words, in the order of their codes. */
const outcome = z.enum(Object.values(OUTCOMES) as [Outcome, ...Outcome[]]).meta({ id: 'Outcome' });

const targets = z.string().max(200_000).meta({
  description:
    'CIDRs, single addresses or `first-last` ranges, IPv4 or IPv6, separated by commas or white space; `!` in front excludes.',
  example: '10.20.0.0/24, !10.20.0.13',
});
const profileName = z.string().max(100).meta({
  description: 'Name of a profile: `ping`, `standard`, `deep`, `snmp`, or one of your own.',
  example: 'standard',
});
const siteChoice = z.string().max(100).meta({
  description:
    'Id or name of a site. Without it: the site whose most specific network contains all targets, of equals the one that the account names as `defaultSite`, else the first; else the only site of the caller.',
  example: 'Berlin',
});

// ── Scan ─────────────────────────────────────────────────────────────────────────────────────────────────────

const scanJob = z
  .strictObject({
    id,
    collectorId: id.nullable().meta({ description: 'Who works or worked on it last.' }),
    collector: z.string().nullable().meta({ example: 'berlin-1' }),
    cidr: z.string().meta({ description: 'A CIDR or `first-last`.', example: '10.20.0.0/24' }),
    addresses: count,
    status: jobStatus,
    statusReason: z.string().meta({ example: '' }),
    attempt: z.int().min(0).meta({ description: 'How often it was handed out.', example: 1 }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Share of its addresses that ended.', example: 0.5 }),
  })
  .meta({ id: 'ScanJob' });
export type ScanJob = z.infer<typeof scanJob>;

const scanError = z
  .strictObject({
    jobId: id.nullable(),
    cidr: z.string().nullable().meta({ example: '10.20.0.0/24' }),
    message: z.string().meta({ example: 'failed after 5 attempts: the collector was lost' }),
  })
  .meta({ id: 'ScanError' });
export type ScanError = z.infer<typeof scanError>;

/** A scan as lists show it. */
export const scan = z
  .strictObject({
    id,
    scanId: id.meta({ description: 'The same as `id`.' }),
    targets,
    profile: profileName,
    siteId: id,
    site: z.string().meta({ example: 'Berlin' }),
    status: scanStatus,
    statusReason: z.string().meta({
      description: 'Why it is so, where that is not plain.',
      example: 'waits: no collector of site Berlin is online',
    }),
    createdBy: z.string().meta({ description: 'Name of the account or schedule.', example: 'ada' }),
    createdAt: unixSeconds,
    startedAt: maybeTime,
    finishedAt: maybeTime,
    addressesTotal: count,
    addressesProbed: count,
    hostsAlive: count,
    devicesFound: count,
    devicesNew: count,
    devicesChanged: count,
    errors: z.array(scanError).max(100).meta({ description: 'Jobs that failed; the first 100.' }),
  })
  .meta({ id: 'Scan' });
export type Scan = z.infer<typeof scan>;

/** One scan with its jobs. */
const scanDetail = z
  .strictObject({
    ...scan.shape,
    settings: profileSettings.meta({ description: 'Of the profile, as they were when it was started.' }),
    jobs: z.array(scanJob),
  })
  .meta({ id: 'ScanDetail' });
export type ScanDetail = z.infer<typeof scanDetail>;

const scanRequest = z.strictObject({ targets, profile: profileName, site: siteChoice.optional() });
export type ScanRequest = z.infer<typeof scanRequest>;

const scanParams = z.strictObject({ scanId: idParams.shape.id });

/** How one address of a scan ended. */
const scanAddress = z
  .strictObject({
    address: z.string().meta({ example: '10.20.0.7' }),
    outcome: outcome.meta({ example: 'snmp' }),
    code: z.string().length(1).meta({ description: 'The outcome as one character.', example: 's' }),
    note: z.string().nullable().meta({ description: 'Why, where there is more to say.', example: null }),
    jobId: id.nullable().meta({ description: 'null: excluded before jobs were made.' }),
  })
  .meta({ id: 'ScanAddress' });
export type ScanAddress = z.infer<typeof scanAddress>;

const scanPlan = z
  .strictObject({
    siteId: id,
    site: z.string().meta({ example: 'Berlin' }),
    profile: profileName,
    addresses: count.meta({ description: 'To be swept, exclusions taken out.' }),
    excluded: count.meta({ description: 'Asked for and taken out, by `!`, the profile or the site.' }),
    jobs: count,
    packetsPerSecond: z.int().nullable().meta({
      description: 'Of the whole scan; null: unlimited (`rate: "max"`).',
      example: 2000,
    }),
    estimatedPackets: count.meta({ description: 'If nothing answers: the most the scan sends.' }),
    estimatedSeconds: seconds.meta({
      description: 'If nothing answers; reading the tables of devices comes on top.',
    }),
    collectors: z
      .array(
        z.strictObject({
          id,
          name: z.string().meta({ example: 'berlin-1' }),
          online: z.boolean(),
          status: collectorStatus,
        }),
      )
      .max(1000)
      .meta({ description: 'Collectors of the site; jobs go to those online.' }),
    overlaps: z
      .array(
        z.strictObject({
          scanId: id,
          targets,
          profile: profileName,
          status: scanStatus,
          addresses: count.meta({ description: 'In both.' }),
        }),
      )
      .max(100)
      .meta({ description: 'Unfinished scans of the site that visit some of the same addresses.' }),
    warnings: z.array(z.string()).max(20),
  })
  .meta({ id: 'ScanPlan' });
export type ScanPlan = z.infer<typeof scanPlan>;

// ── Schedule ─────────────────────────────────────────────────────────────────────────────────────────────────

const cron = z
  .string()
  .max(100)
  .meta({ description: 'Five fields: minute, hour, day, month, weekday.', example: '30 2 * * 1-5' });
const timezone = z.string().max(64).meta({ description: 'IANA name.', example: 'Europe/Berlin' });

export const schedule = z
  .strictObject({
    id,
    siteId: id,
    site: z.string().meta({ example: 'Berlin' }),
    name: z.string().meta({ example: 'every night' }),
    targets,
    profile: profileName,
    cron,
    timezone,
    enabled: z.boolean(),
    createdAt: unixSeconds,
    lastRunAt: maybeTime,
    lastScanId: id.nullable(),
    nextRunAt: maybeTime.meta({ description: 'null while disabled.' }),
  })
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof schedule>;

const scheduleName = line(100).meta({ example: 'every night' });

const schedules = resource('/api/discovery/schedules', 'Schedules', schedule);

export const scanOperations = {
  'scans.create': {
    method: 'POST',
    path: '/api/discovery/scan',
    tag: 'Discovery',
    summary: 'Start a scan',
    description:
      'Accepted at once, swept in the background: read the scan for its progress. With an `Idempotency-Key` header the same key by the same caller within 24 hours answers the first scan again.',
    stable: true,
    access: 'operator',
    body: scanRequest,
    data: scan,
    extra: z.strictObject({ scanId: id }),
    envelope: 'item',
    status: 202,
    errors: ['conflict'],
    example: { targets: '10.20.0.0/24', profile: 'standard' },
  },
  'scans.plan': {
    method: 'POST',
    path: '/api/discovery/plan',
    tag: 'Discovery',
    summary: 'Say what a scan would do, without starting it',
    access: 'operator',
    body: scanRequest,
    data: scanPlan,
    envelope: 'item',
    example: { targets: '10.20.0.0/24', profile: 'standard' },
  },
  'scans.list': {
    method: 'GET',
    path: '/api/discovery/scans',
    tag: 'Discovery',
    summary: 'List scans, newest first',
    access: 'viewer',
    query: z.strictObject({
      ...paging,
      status: codes(scanStatus)
        .optional()
        .meta({ description: 'One status, or several separated by commas.', example: 'queued,running' }),
      profile: profileName.optional(),
      site: siteFilter,
      sort: sortBy(['createdAt', 'startedAt', 'finishedAt', 'status', 'addressesTotal']),
    }),
    data: scan,
    envelope: 'list',
  },
  'scans.get': {
    method: 'GET',
    path: '/api/discovery/scans/{scanId}',
    tag: 'Discovery',
    summary: 'Get a scan with its jobs',
    access: 'viewer',
    params: scanParams,
    data: scanDetail,
    envelope: 'item',
  },
  'scans.cancel': {
    method: 'POST',
    path: '/api/discovery/scans/{scanId}/cancel',
    tag: 'Discovery',
    summary: 'Cancel a scan',
    description:
      'Its collectors stop within two seconds; what was found stays. An ended scan is answered 409.',
    access: 'operator',
    params: scanParams,
    data: scan,
    envelope: 'item',
    errors: ['conflict'],
  },
  'scans.addresses': {
    method: 'GET',
    path: '/api/discovery/scans/{scanId}/addresses',
    tag: 'Discovery',
    summary: 'How each address of a scan ended',
    access: 'viewer',
    params: scanParams,
    query: z.strictObject({
      ...paging,
      outcome: codes(outcome)
        .optional()
        .meta({ description: 'One outcome, or several separated by commas.', example: 'snmp-auth-failed' }),
      address: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'One address or a CIDR.', example: '10.20.0.0/28' }),
    }),
    data: scanAddress,
    envelope: 'list',
  },
  'schedules.list': schedules.list('viewer', 'List schedules', {
    query: z.strictObject({ ...paging, site: siteFilter, sort: sortBy(['name', 'nextRunAt', 'lastRunAt']) }),
  }),
  'schedules.get': schedules.get('viewer', 'Get a schedule'),
  'schedules.create': schedules.create('operator', 'Scan at set times', {
    description: 'A run that is due while the last one is still queued or running is left out.',
    body: z.strictObject({
      name: scheduleName,
      targets,
      profile: profileName,
      site: siteChoice.optional(),
      cron,
      timezone: timezone.default('UTC'),
      enabled: z.boolean().default(true),
    }),
    errors: ['conflict'],
    example: { name: 'every night', targets: '10.20.0.0/24', profile: 'standard', cron: '30 2 * * *' },
  }),
  'schedules.update': schedules.update('operator', 'Change a schedule', {
    body: z.strictObject({
      name: scheduleName.optional(),
      targets: targets.optional(),
      profile: profileName.optional(),
      cron: cron.optional(),
      timezone: timezone.optional(),
      enabled: z.boolean().optional(),
    }),
    errors: ['conflict'],
    example: { enabled: false },
  }),
  'schedules.delete': schedules.remove('operator', 'Delete a schedule', {
    description: 'Scans it started stay.',
  }),
} as const satisfies Record<string, Operation>;
