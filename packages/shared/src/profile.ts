/**
 * Settings of a sweep: which probes, how fast, how often, what is left out. Strict where a person sets them; a collector
 * reads them leniently, and does the less where it does not know a word.
 */
import { z } from 'zod';
import { each, orElse } from './wire.ts';

/** Groups of facts read from an SNMP agent beyond the system group. */
export const FACT_GROUPS = [
  'interfaces',
  'addresses',
  'entities',
  'neighbours',
  'arp',
  'fdb',
  'vlans',
  'vrfs',
] as const;
export type FactGroup = (typeof FACT_GROUPS)[number];

/** Packets per second; `max` lifts the pacing (laboratory only). */
const rate = (standard: number) =>
  orElse(z.union([z.int().min(1).max(1_000_000), z.literal('max')]), standard).default(standard);

/** @setting profile */
export const profileSettings = z.strictObject({
  icmp: z
    .strictObject({
      /** Requests to a silent address, the first included. */
      tries: z.int().min(1).max(10).default(2),
      /** How long an answer to a ping is waited for. */
      timeoutMs: z.int().min(10).max(60_000).default(1_000),
    })
    .nullable()
    .default({ tries: 2, timeoutMs: 1_000 }),
  snmp: z
    .strictObject({
      /** UDP port of the agents; null: the site's, which is 161 unless it says otherwise. */
      port: z.int().min(1).max(65_535).nullable().default(null),
      tries: z.int().min(1).max(10).default(2),
      /** How long an answer of an agent is waited for. */
      timeoutMs: z.int().min(10).max(60_000).default(1_500),
      /** Whom to ask: those that answered ICMP first, then the silent too; or only those alive. */
      ask: orElse(z.enum(['all', 'alive']).meta({ id: 'AskSnmp' }), 'alive').default('all'),
      groups: each(z.array(z.enum(FACT_GROUPS).meta({ id: 'FactGroup' }))).default([
        'interfaces',
        'addresses',
        'entities',
        'neighbours',
      ]),
      /** Requests in flight to one device. */
      perDevice: z.int().min(1).max(4).default(2),
      /** Longest time one device may take, milliseconds. */
      deviceBudgetMs: z.int().min(1_000).max(3_600_000).default(120_000),
      /** Most rows of one table. */
      rows: z.int().min(1).max(1_000_000).default(100_000),
      /** Failed authentications per host and day, since the last accepted one, before it is left alone. */
      attempts: z.int().min(1).max(100).default(10),
    })
    .nullable()
    .default({
      port: null,
      tries: 2,
      timeoutMs: 1_500,
      ask: 'all',
      groups: ['interfaces', 'addresses', 'entities', 'neighbours'],
      perDevice: 2,
      deviceBudgetMs: 120_000,
      rows: 100_000,
      attempts: 10,
    }),
  /** Of a collector for this sweep. */
  rate: rate(2_000),
  /** Into one /24 (IPv6: /64). */
  ratePerNet: rate(500),
  /** Look up names of alive addresses by reverse DNS. */
  dns: z.boolean().default(false),
  /** Rounds in which the neighbours that LLDP and CDP name are scanned too, inside the site's networks. */
  follow: z.int().min(0).max(16).default(0),
  /** Targets left out, in the notation of `targets`. */
  exclude: z.array(z.string().max(200)).max(1000).default([]),
});
export type ProfileSettings = z.infer<typeof profileSettings>;

const standard = profileSettings.parse({});

/** Longest time one device may take in the profile `deep`. */
const DEEP_BUDGET_MS = 300_000;

/** The profiles every installation has. */
export const BUILT_IN_PROFILES = {
  ping: profileSettings.parse({ snmp: null }),
  standard,
  deep: profileSettings.parse({
    snmp: { groups: [...FACT_GROUPS], deviceBudgetMs: DEEP_BUDGET_MS },
    dns: true,
  }),
  snmp: profileSettings.parse({ icmp: null }),
} as const satisfies Record<string, ProfileSettings>;
