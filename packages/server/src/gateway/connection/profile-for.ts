/** Profiles for collectors that read strictly: one setting that they do not know, and they refuse the whole job. */
import type { ProfileSettings } from '@rollcall/shared/profile';
import { PROTOCOL_LENIENT } from '@rollcall/shared/protocol';
import { each, orElse, readWire } from '@rollcall/shared/wire';
import { z } from 'zod';

const asItIs = z.unknown();
const GROUPS = ['interfaces', 'addresses', 'entities', 'neighbours', 'arp', 'fdb', 'vlans', 'vrfs'] as const;

/** What versions 1 and 2 know: as it was, whatever `profileSettings` learns. It goes when they are no longer spoken. */
const beforeLenient = z.object({
  icmp: z.object({ tries: asItIs, timeoutMs: asItIs }).nullable(),
  snmp: z
    .object({
      port: asItIs,
      tries: asItIs,
      timeoutMs: asItIs,
      ask: orElse(z.enum(['all', 'alive']), 'alive'),
      groups: each(z.array(z.enum(GROUPS))),
      perDevice: asItIs,
      deviceBudgetMs: asItIs,
      rows: asItIs,
      attempts: asItIs,
    })
    .nullable(),
  rate: orElse(z.number().or(z.literal('max')), 2_000),
  ratePerNet: orElse(z.number().or(z.literal('max')), 500),
  dns: asItIs,
  follow: asItIs,
  exclude: asItIs,
});

/** The settings as a collector that speaks `version` can read them. */
export function profileFor(version: number, settings: ProfileSettings): ProfileSettings {
  if (version >= PROTOCOL_LENIENT) return settings;
  const known = readWire(beforeLenient, settings);
  // Not read by `profileSettings`, which would fill in what was left out.
  return known.ok ? (known.message as ProfileSettings) : settings;
}
