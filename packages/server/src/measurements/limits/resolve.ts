/** Which threshold applies, out of what the default, the baseline, site, class, custom fields, tags, device and interface say. Pure. */
import type { Annotations } from '@rollcall/shared/api/annotations';
import {
  type FieldThresholds,
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
import { hasField } from '../../platform/db/custom-fields.ts';

type Values = Partial<Record<Threshold, number | undefined>>;
/** What each says; who is absent says nothing. Of custom fields and tags the first says it. */
export type Said = {
  [Layer in ThresholdLayer]?: Layer extends 'field' | 'interfaceField'
    ? FieldThresholds
    : Layer extends 'tag' | 'interfaceTag'
      ? TagThresholds
      : Values;
};

const ALL = Object.keys(THRESHOLDS) as Threshold[];

type Labelled = Readonly<Pick<Annotations, 'tags' | 'fields'>>;

/** What is said of a device of a class, and of one of its interfaces. `own` values are as they are stored. */
export function saidOf(
  settings: SiteSettings,
  device: Labelled & { class: string; thresholds: unknown },
  port?: Labelled & { thresholds: unknown },
  baseline: Values = {},
): Said {
  const byClass: Readonly<Record<string, Values | undefined>> = settings.classThresholds ?? {};
  return {
    default: THRESHOLDS,
    baseline,
    site: settings.thresholds ?? {},
    class: byClass[device.class] ?? {},
    field: ofFields(settings, device),
    tag: ofTags(settings, device),
    device: ownOf(device.thresholds),
    ...(port && {
      interfaceField: ofFields(settings, port),
      interfaceTag: ofTags(settings, port),
      interface: ownOf(port.thresholds),
    }),
  };
}

/** Whether a site says something of the tags or custom fields of an interface. */
export const isLabelled = (settings: SiteSettings, port: Labelled): boolean =>
  ofFields(settings, port).length > 0 || ofTags(settings, port).length > 0;

/** What a site says of some custom fields, in its order. */
const ofFields = ({ fieldThresholds = [] }: SiteSettings, { fields }: Labelled): FieldThresholds =>
  fieldThresholds.filter(({ field }) => hasField(fields, field));

/** What a site says of some tags, in its order. */
function ofTags({ tagThresholds = [] }: SiteSettings, { tags }: Labelled): TagThresholds {
  if (tagThresholds.length === 0 || tags.length === 0) return [];
  const own = new Set(tags.map((tag) => tag.toLowerCase()));
  return tagThresholds.filter(({ tag }) => own.has(tag.toLowerCase()));
}

/** Stored values; none where they are of a release that this one does not know. */
export const ownOf = (stored: unknown): Values => storedValues.parse(stored ?? {});
const storedValues = thresholdValues.catch({});

/** Each threshold, as the nearest of these sets it: the interface before its tags and fields, the device before its tags and fields, its class, the site, what is usual, the default. */
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
): { value: number; tag?: string; field?: string } | undefined {
  const all = said[from] ?? {};
  for (const { thresholds, ...which } of Array.isArray(all) ? all : [{ thresholds: all }]) {
    const value = thresholds[of];
    if (value !== undefined) return { value, ...which };
  }
  return undefined;
}

/** What applies; 0: never raises an event. */
export function limitsOf(said: Said): Record<Threshold, number> {
  const found = { ...THRESHOLDS } as Record<Threshold, number>;
  for (const { of, value } of resolve(said)) found[of] = value;
  return found;
}
