/** Thresholds of measurements: which one applies to a device or an interface, and who said so. */
import { z } from 'zod';
import { id, idParams, type Operation } from './operation.ts';
import { THRESHOLDS, type Threshold, thresholdValues } from './sites.ts';

/**
 * Who may say a threshold; each one before those in front of it. `baseline`: what is usual of the device at this hour of the
 * week; `field` and `tag`: a custom field and a tag of the device; `interfaceField` and `interfaceTag`: of the interface.
 */
export const THRESHOLD_LAYERS = [
  'default',
  'baseline',
  'site',
  'class',
  'field',
  'tag',
  'device',
  'interfaceField',
  'interfaceTag',
  'interface',
] as const;
export type ThresholdLayer = (typeof THRESHOLD_LAYERS)[number];

/** Thresholds of what is measured of an interface; that of pings is the device's. */
export const INTERFACE_THRESHOLDS = [
  'utilisation',
  'errors',
  'noTraffic',
] as const satisfies readonly Threshold[];
const interfaceValues = thresholdValues.pick({ utilisation: true, errors: true, noTraffic: true });

const said = z.strictObject({
  from: z.enum(THRESHOLD_LAYERS).meta({
    id: 'ThresholdLayer',
    description:
      '`field` and `tag`: a custom field and a tag of the device; `interfaceField` and `interfaceTag`: of the interface.',
  }),
  tag: z.string().optional().meta({ description: 'Which tag says it.', example: 'core' }),
  field: z
    .string()
    .optional()
    .meta({ description: 'Which custom field says it.', example: 'Line:satellite' }),
  value: z.number().meta({ description: 'Percent, of `latency` milliseconds; 0: never raises an event.' }),
});
const appliedThreshold = said
  .extend({
    of: z.enum(Object.keys(THRESHOLDS) as [Threshold, ...Threshold[]]).meta({ id: 'Threshold' }),
    /** All that say something, the one that applies last. */
    said: z.array(said),
  })
  .meta({ id: 'AppliedThreshold' });
export type AppliedThreshold = z.infer<typeof appliedThreshold>;

const thresholdState = z
  .strictObject({
    deviceId: id,
    interfaceId: id.nullable(),
    /** What it says itself. */
    own: thresholdValues,
    applied: z.array(appliedThreshold),
  })
  .meta({ id: 'ThresholdState' });
export type ThresholdState = z.infer<typeof thresholdState>;

/** The operations on the thresholds of one thing. */
const of = <const Path extends string, Values extends z.ZodType>(
  path: Path,
  what: string,
  { body, example }: { body: Values; example: z.input<Values> },
) => {
  const one = {
    path: `${path}/{id}/thresholds` as const,
    tag: 'Metrics',
    params: idParams,
    data: thresholdState,
    envelope: 'item',
  } as const;
  return {
    get: { ...one, method: 'GET', access: 'viewer', summary: `Thresholds of ${what}, and who said each` },
    put: {
      ...one,
      method: 'PUT',
      access: 'operator',
      summary: `Set the own thresholds of ${what}`,
      description: 'All of them: what is left out applies as it does without.',
      body,
      example,
    },
    remove: { ...one, method: 'DELETE', access: 'operator', summary: `Clear the own thresholds of ${what}` },
  } as const;
};
const ofDevice = of('/api/devices', 'a device', { body: thresholdValues, example: { loss: 50 } });
const ofInterface = of('/api/interfaces', 'an interface', {
  body: interfaceValues,
  example: { utilisation: 80 },
});

export const thresholdOperations = {
  'devices.thresholds': ofDevice.get,
  'devices.setThresholds': ofDevice.put,
  'devices.clearThresholds': ofDevice.remove,
  'interfaces.thresholds': ofInterface.get,
  'interfaces.setThresholds': ofInterface.put,
  'interfaces.clearThresholds': ofInterface.remove,
} as const satisfies Record<string, Operation>;
