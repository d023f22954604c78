/** Sites: the places, each with its own address space. */
import { z } from 'zod';
import { type DeviceClass, deviceClass, SNMP_PORT } from '../model.ts';
import { fieldFilter, TAGS_MOST, tag } from './annotations.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, resource, sortBy, unixSeconds } from './operation.ts';

/** What holds where a site has no setting of its own. @setting site */
export const SITE_DEFAULTS = {
  /** Between two pings of a monitored device. */
  watchIcmpSeconds: 15,
  /** Between two SNMP readings of a monitored device. */
  watchSnmpSeconds: 60,
  /** Between two readings of the neighbours, forwarding and ARP tables of a monitored switch or router. */
  watchTablesSeconds: 900,
  /** How long the name of an endpoint by reverse DNS holds until it is looked up again. */
  watchNamesSeconds: 43_200,
  missedScansUntilGone: 3,
  /** Devices beside each other that go down within this time of the first share its case. */
  caseWindowSeconds: 30,
  snmpPort: SNMP_PORT,
  /** A resolved case takes the same trouble back for this long. */
  caseReopenSeconds: 3_600,
  caseMinimumEvents: 1,
  /** What lies behind a device that came back has this long to come back as well: routes and answers take a while. */
  recoverySeconds: 90,
} as const;
/** Which of the devices that a scan finds first are monitored from then on. The first is what holds without a setting. */
export const MONITOR_FOUND = ['infrastructure', 'all', 'none'] as const;
/** What others depend on: monitored by `infrastructure`. */
export const INFRASTRUCTURE: readonly DeviceClass[] = [
  'router',
  'switch',
  'firewall',
  'wireless',
  'load-balancer',
  'ups',
];
/** How long trouble must last until it is an event, by the kinds whose hold time a site may set. @setting site `holdSeconds` */
export const HOLD_SECONDS = {
  'device.down': 20,
  'snmp.unreachable': 30,
  'snmp.auth-failed': 5,
  'interface.down': 25,
  'collector.offline': 20,
  'interface.utilisation': 300,
  'interface.errors': 300,
  'interface.no-traffic': 900,
  'device.loss': 300,
  'device.latency': 300,
} as const;
/** From where on measurements are told, where nobody says anything else: percent, latency in ms; 0: never. */
export const THRESHOLDS = {
  /** Traffic in one direction, of the speed of the interface. */
  utilisation: 95,
  /** Packets with errors and discarded ones, of all packets of an interface. */
  errors: 1,
  /** Packets a second that an interface usually carries; one that carries none although it is up is told from here on. */
  noTraffic: 1,
  /** Pings of a device without an answer. */
  loss: 20,
  /** Mean round trip of pings, ms. */
  latency: 1000,
} as const;
export type Threshold = keyof typeof THRESHOLDS;
const percent = (threshold: Threshold) =>
  z
    .number()
    .min(0)
    .max(100)
    .meta({ description: `Percent; 0: never raises an event. Default: ${THRESHOLDS[threshold]}.` });
/** Thresholds as a site, a class, a custom field, a tag, a device or an interface says them; what is absent is said by another. */
export const thresholdValues = z
  .strictObject({
    utilisation: percent('utilisation'),
    errors: percent('errors'),
    noTraffic: z
      .number()
      .min(0)
      .max(1_000_000)
      .meta({
        description: `Packets a second that an interface usually carries; one that is up and carries none raises an event from here on. 0: never raises one. Default: ${THRESHOLDS.noTraffic}.`,
      }),
    loss: percent('loss'),
    latency: z
      .number()
      .min(0)
      .max(60_000)
      .meta({
        description: `Milliseconds of a round trip; 0: never raises an event. Default: ${THRESHOLDS.latency}, and what is usual of the device once that is known.`,
      }),
  })
  .partial();
const tagThresholds = z
  .array(z.strictObject({ tag, thresholds: thresholdValues }))
  .max(TAGS_MOST)
  .refine(
    (all) => new Set(all.map((one) => one.tag.toLowerCase())).size === all.length,
    'must name each tag once',
  );
export type TagThresholds = z.infer<typeof tagThresholds>;
const fieldThresholds = z
  .array(z.strictObject({ field: fieldFilter, thresholds: thresholdValues }))
  .max(TAGS_MOST)
  .refine((all) => new Set(all.map((one) => one.field)).size === all.length, 'must name each value once');
export type FieldThresholds = z.infer<typeof fieldThresholds>;
const hold = (kind: keyof typeof HOLD_SECONDS) =>
  z
    .int()
    .min(0)
    .max(3600)
    .meta({ description: `Default: ${HOLD_SECONDS[kind]}.` });
const byDefault = (key: keyof typeof SITE_DEFAULTS): string => `Default: ${SITE_DEFAULTS[key]}.`;

/** Settings of a site; what is absent has its default. */
export const siteSettings = z
  .strictObject({
    watchIcmpSeconds: z
      .int()
      .min(1)
      .max(3600)
      .meta({ description: `Between two pings of a monitored device. ${byDefault('watchIcmpSeconds')}` }),
    watchSnmpSeconds: z
      .int()
      .min(5)
      .max(900)
      .meta({
        description: `Between two SNMP readings of a monitored device. ${byDefault('watchSnmpSeconds')}`,
      }),
    watchTablesSeconds: z
      .literal(0)
      .or(z.int().min(60).max(86_400))
      .meta({
        description: `Between two readings of the neighbours, forwarding and ARP tables of a monitored switch, router, firewall or wireless controller; 0: never. ${byDefault('watchTablesSeconds')}`,
      }),
    watchNamesSeconds: z
      .literal(0)
      .or(z.int().min(600).max(604_800))
      .meta({
        description: `How long the name of an IP address in those ARP tables holds, until the collector looks it up again by reverse DNS; 0: names are not looked up. ${byDefault('watchNamesSeconds')}`,
      }),
    missedScansUntilGone: z
      .int()
      .min(1)
      .max(1000)
      .meta({
        description: `Scans in a row without a device until it counts as gone. ${byDefault('missedScansUntilGone')}`,
      }),
    caseWindowSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .meta({
        description: `Devices beside each other that go down within this time of the first share its case, and other trouble of its device. ${byDefault('caseWindowSeconds')}`,
      }),
    snmpPort: z
      .int()
      .min(1)
      .max(65_535)
      .meta({
        description: `UDP port of the SNMP agents, where a profile names none. ${byDefault('snmpPort')}`,
      }),
    caseReopenSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .meta({
        description: `A resolved case takes the same trouble back for this long. ${byDefault('caseReopenSeconds')}`,
      }),
    caseMinimumEvents: z
      .int()
      .min(1)
      .max(1000)
      .meta({
        description: `Events of a device that are open at once until a case is made. ${byDefault('caseMinimumEvents')}`,
      }),
    recoverySeconds: z
      .int()
      .min(0)
      .max(3600)
      .meta({
        description: `After a device came back: what lies behind it is told as down only if it is still silent then. ${byDefault('recoverySeconds')}`,
      }),
    monitorFound: z.enum(MONITOR_FOUND).meta({
      id: 'MonitorFound',
      description: `Which devices are monitored once a scan has found them; \`infrastructure\`: ${INFRASTRUCTURE.join(', ')}. Default: ${MONITOR_FOUND[0]}.`,
    }),
    thresholds: thresholdValues.meta({
      description: 'From where on measurements are told, by what is measured.',
    }),
    classThresholds: z.partialRecord(deviceClass, thresholdValues).meta({
      description:
        'The same of devices of a class. A device or an interface may say others (`/api/devices/{id}/thresholds`).',
      example: { wireless: { loss: 40 } },
    }),
    tagThresholds: tagThresholds.meta({
      description:
        'The same of devices and interfaces with a tag, whatever its case; before those of the class. Of several tags the first here that says a threshold.',
      example: [{ tag: 'core', thresholds: { loss: 5 } }],
    }),
    fieldThresholds: fieldThresholds.meta({
      description:
        'The same of devices and interfaces with a value of a custom field; before those of the class, after those of tags. Of several the first here that says a threshold.',
      example: [{ field: 'Line:satellite', thresholds: { latency: 900 } }],
    }),
    holdSeconds: z
      .strictObject({
        'device.down': hold('device.down'),
        'snmp.unreachable': hold('snmp.unreachable'),
        'snmp.auth-failed': hold('snmp.auth-failed'),
        'interface.down': hold('interface.down'),
        'collector.offline': hold('collector.offline'),
        'interface.utilisation': hold('interface.utilisation'),
        'interface.errors': hold('interface.errors'),
        'interface.no-traffic': hold('interface.no-traffic'),
        'device.loss': hold('device.loss'),
        'device.latency': hold('device.latency'),
      })
      .partial()
      .meta({ description: 'Seconds that a kind of trouble must last until it is an event, by kind.' }),
  })
  .partial()
  .meta({ id: 'SiteSettings' });
export type SiteSettings = z.infer<typeof siteSettings>;

const networks = z
  .array(z.string().trim().max(50))
  .max(1000)
  .meta({
    description: 'CIDRs; a scan that names no site goes to the one that contains its targets.',
    example: ['10.20.0.0/16'],
  });
const allowLoopback = z
  .boolean()
  .meta({ description: 'Allows scans of 127.0.0.0/8 and ::1 (demonstration and tests).' });
const allowSpecial = z.boolean().meta({
  description:
    'Allows scans of multicast, link-local, broadcast and 0.0.0.0/8. A collector scans them only where the `allow` of its own host names them too.',
});
const exclude = z
  .array(z.string().trim().max(100))
  .max(1000)
  .meta({ description: 'Addresses and CIDRs never probed at this site.', example: ['10.20.0.1'] });
export const site = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'Berlin' }),
    networks,
    exclude,
    allowLoopback,
    allowSpecial,
    settings: siteSettings,
    createdAt: unixSeconds,
  })
  .meta({ id: 'Site' });
export type Site = z.infer<typeof site>;
const siteName = line(100).meta({ example: 'Berlin' });

const sites = resource('/api/sites', 'Sites', site);

export const siteOperations = {
  'sites.list': sites.list('viewer', 'List the sites the caller sees', {
    query: z.strictObject({
      ...paging,
      search: z.string().max(200).optional().meta({ description: 'Part of the name.', example: 'ber' }),
      sort: sortBy(['name', 'createdAt']),
    }),
  }),
  'sites.get': sites.get('viewer', 'Get a site'),
  'sites.create': sites.create('admin', 'Add a site', {
    description: 'Only by an administrator who sees every site.',
    body: z.strictObject({
      name: siteName,
      networks: networks.default([]),
      exclude: exclude.default([]),
      allowLoopback: allowLoopback.default(false),
      allowSpecial: allowSpecial.default(false),
      settings: siteSettings.default({}),
    }),
    errors: ['conflict'],
    example: { name: 'Berlin', networks: ['10.20.0.0/16'] },
  }),
  'sites.update': sites.update('admin', 'Change a site', {
    description: 'With `If-Match` (the `ETag` of the read) a change made in between is answered 409.',
    body: z.strictObject({
      name: siteName.optional(),
      networks: networks.optional(),
      exclude: exclude.optional(),
      allowLoopback: allowLoopback.optional(),
      allowSpecial: allowSpecial.optional(),
      settings: siteSettings.optional(),
    }),
    errors: ['conflict'],
    example: { networks: ['10.20.0.0/16', '10.21.0.0/16'] },
  }),
  'sites.delete': sites.remove('admin', 'Delete an empty site', {
    description: 'A site that still has collectors, devices or scans is answered 409.',
    errors: ['conflict'],
  }),
} as const satisfies Record<string, Operation>;
