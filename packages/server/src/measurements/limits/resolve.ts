/** Which threshold applies, out of what the default, the baseline, site, class, tags, device and interface say. Pure. */
import {
  type SiteSettings,
  type TagThresholds,
  THRESHOLDS,
  type Threshold,
  thresholdValues,
} from '@rollcall/shared/api/sites';
import {
  type AppliedThreshold,
  INTERFACE_THRESHOLDS,
  THRESHOLD_LAYERS,
  type ThresholdLayer,
} from '@rollcall/shared/api/thresholds';

type Values = Partial<Record<Threshold, number | undefined>>;
type TagLayer = 'tag' | 'interfaceTag';
/** What each says; who is absent says nothing. Of tags the first says it. */
export type Said = Partial<Record<Exclude<ThresholdLayer, TagLayer>, Values>> &
  Partial<Record<TagLayer, TagThresholds>>;

const ALL = Object.keys(THRESHOLDS) as Threshold[];

interface Tagged {
  tags: readonly string[];
}

/** What is said of a device of a class, and of one of its interfaces. `own` values are as they are stored. */
export function saidOf(
  settings: SiteSettings,
  device: Tagged & { class: string; thresholds: unknown },
  port?: Tagged & { thresholds: unknown },
  baseline: Values = {},
): Said {
  const byClass: Readonly<Record<string, Values | undefined>> = settings.classThresholds ?? {};
  return {
    default: THRESHOLDS,
    baseline,
    site: settings.thresholds ?? {},
    class: byClass[device.class] ?? {},
    tag: ofTags(settings, device),
    device: ownOf(device.thresholds),
    ...(port && { interfaceTag: ofTags(settings, port), interface: ownOf(port.thresholds) }),
  };
}

/** What a site says of some tags, in its order. */
export function ofTags({ tagThresholds = [] }: SiteSettings, { tags }: Tagged): TagThresholds {
  if (tagThresholds.length === 0 || tags.length === 0) return [];
  const own = new Set(tags.map((tag) => tag.toLowerCase()));
  return tagThresholds.filter(({ tag }) => own.has(tag.toLowerCase()));
}

/** Stored values; none where they are of a release that this one does not know. */
export const ownOf = (stored: unknown): Values => thresholdValues.catch({}).parse(stored ?? {});

/** Each threshold, as the nearest of these sets it: the interface before its tags, the device before its tags, its class, the site, what is usual, the default. */
export function resolve(said: Said): AppliedThreshold[] {
  const isInterface = said.interface !== undefined;
  return (isInterface ? INTERFACE_THRESHOLDS : ALL).flatMap((of) => {
    const all = THRESHOLD_LAYERS.flatMap((from) => {
      const found = saidBy(said, from, of);
      return found ? [{ from, ...found }] : [];
    });
    const last = all.at(-1);
    return last ? [{ of, ...last, said: all }] : [];
  });
}

function saidBy(
  said: Said,
  from: ThresholdLayer,
  of: Threshold,
): { value: number; tag?: string } | undefined {
  if (from !== 'tag' && from !== 'interfaceTag') {
    const value = said[from]?.[of];
    return value === undefined ? undefined : { value };
  }
  for (const { tag, thresholds } of said[from] ?? []) {
    const value = thresholds[of];
    if (value !== undefined) return { value, tag };
  }
  return undefined;
}

/** What applies; 0: never raises an event. */
export function limitsOf(said: Said): Record<Threshold, number> {
  const found = { ...THRESHOLDS } as Record<Threshold, number>;
  for (const { of, value } of resolve(said)) found[of] = value;
  return found;
}
