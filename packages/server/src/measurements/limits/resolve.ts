/** Which threshold applies, out of what the default, the baseline, site, class, device and interface say. Pure. */
import { type SiteSettings, THRESHOLDS, type Threshold, thresholdValues } from '@rollcall/shared/api/sites';
import {
  type AppliedThreshold,
  INTERFACE_THRESHOLDS,
  THRESHOLD_LAYERS,
  type ThresholdLayer,
} from '@rollcall/shared/api/thresholds';

type Values = Partial<Record<Threshold, number | undefined>>;
/** What each says; who is absent says nothing. */
export type Said = Partial<Record<ThresholdLayer, Values>>;

const ALL = Object.keys(THRESHOLDS) as Threshold[];

/** What is said of a device of a class, and of one of its interfaces. `own` values are as they are stored. */
export function saidOf(
  settings: SiteSettings,
  device: { class: string; thresholds: unknown },
  port?: { thresholds: unknown },
  baseline: Values = {},
): Said {
  const byClass: Readonly<Record<string, Values | undefined>> = settings.classThresholds ?? {};
  return {
    default: THRESHOLDS,
    baseline,
    site: settings.thresholds ?? {},
    class: byClass[device.class] ?? {},
    device: ownOf(device.thresholds),
    ...(port && { interface: ownOf(port.thresholds) }),
  };
}

/** Stored values; none where they are of a release that this one does not know. */
export const ownOf = (stored: unknown): Values => thresholdValues.catch({}).parse(stored ?? {});

/** Each threshold, said last by whoever is nearest: the interface before the device, its class, the site, what is usual, the default. */
export function resolve(said: Said): AppliedThreshold[] {
  const isInterface = said.interface !== undefined;
  return (isInterface ? INTERFACE_THRESHOLDS : ALL).flatMap((of) => {
    const all = THRESHOLD_LAYERS.flatMap((from) => {
      const value = said[from]?.[of];
      return value === undefined ? [] : [{ from, value }];
    });
    const last = all.at(-1);
    return last ? [{ of, ...last, said: all }] : [];
  });
}

/** What applies; 0: never raises an event. */
export function limitsOf(said: Said): Record<Threshold, number> {
  const found = { ...THRESHOLDS } as Record<Threshold, number>;
  for (const { of, value } of resolve(said)) found[of] = value;
  return found;
}
