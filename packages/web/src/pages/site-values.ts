import {
  HOLD_SECONDS,
  MONITOR_FOUND,
  SITE_DEFAULTS,
  type Site,
  type SiteSettings,
  THRESHOLDS,
} from '@rollcall/shared/api/sites';
import { splitWords } from '../search.ts';

/** Numbers as they are typed; empty: the default. */
type Texts = Readonly<Record<string, string>>;
const textsOf = (keys: object, values: Readonly<Record<string, unknown>>): Texts =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, String(values[key] ?? '')]));
const numbersOf = (texts: Texts): Record<string, number> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([key, text]) => (text.trim() === '' ? [] : [[key, Number(text)]])),
  );

/** Of a class or a tag that is chosen in the form: nothing typed yet. */
export const noThresholds = (): Texts => textsOf(THRESHOLDS, {});

/** A site as its form has it. */
export function siteValues(site?: Site) {
  const {
    holdSeconds = {},
    thresholds = {},
    classThresholds = {},
    tagThresholds = [],
    fieldThresholds = [],
    monitorFound,
    ...settings
  }: SiteSettings = site?.settings ?? {};
  return {
    name: site?.name ?? '',
    networks: site?.networks.join('\n') ?? '',
    exclude: site?.exclude.join('\n') ?? '',
    allowLoopback: site?.allowLoopback ?? false,
    allowSpecial: site?.allowSpecial ?? false,
    monitorFound: monitorFound ?? MONITOR_FOUND[0],
    settings: {
      ...textsOf(SITE_DEFAULTS, settings),
      thresholds: textsOf(THRESHOLDS, thresholds),
      classThresholds: Object.fromEntries(
        Object.entries(classThresholds).map(([kind, values]) => [kind, textsOf(THRESHOLDS, values)]),
      ),
      tagThresholds: tagThresholds.map(({ tag, thresholds: values }) => ({
        tag,
        thresholds: textsOf(THRESHOLDS, values),
      })),
      fieldThresholds: fieldThresholds.map(({ field, thresholds: values }) => ({
        field,
        thresholds: textsOf(THRESHOLDS, values),
      })),
      holdSeconds: textsOf(HOLD_SECONDS, holdSeconds),
    },
  };
}

type TypedTag = ReturnType<typeof siteValues>['settings']['tagThresholds'][number];
/** Thresholds for these tags, in their order: what was typed for one stays while it is among them. */
export const forTags = (tags: readonly string[], typed: readonly TypedTag[]): TypedTag[] =>
  tags.map((tag) => typed.find((one) => one.tag === tag) ?? { tag, thresholds: noThresholds() });

type TypedField = ReturnType<typeof siteValues>['settings']['fieldThresholds'][number];
/** The same for values of custom fields. */
export const forFields = (fields: readonly string[], typed: readonly TypedField[]): TypedField[] =>
  fields.map((field) => typed.find((one) => one.field === field) ?? { field, thresholds: noThresholds() });

/** Of tags or custom fields, what is typed as numbers; nothing of those without any. */
const saidBy = <One extends { thresholds: Texts }>(typed: readonly One[]) =>
  typed
    .map((one) => ({ ...one, thresholds: numbersOf(one.thresholds) }))
    .filter(({ thresholds }) => Object.keys(thresholds).length > 0);

/** What the form holds, as the body of a request. */
export function siteBody({
  networks,
  exclude,
  monitorFound,
  settings,
  ...values
}: ReturnType<typeof siteValues>) {
  const { holdSeconds, thresholds, classThresholds, tagThresholds, fieldThresholds, ...texts } = settings;
  const [held, limits] = [numbersOf(holdSeconds), numbersOf(thresholds)];
  const byClass = Object.entries(classThresholds)
    .map(([kind, typed]) => [kind, numbersOf(typed)] as const)
    .filter(([, numbers]) => Object.keys(numbers).length > 0);
  const [byTag, byField] = [saidBy(tagThresholds), saidBy(fieldThresholds)];
  return {
    ...values,
    networks: splitWords(networks),
    exclude: splitWords(exclude),
    settings: {
      ...numbersOf(texts as Texts),
      ...(monitorFound !== MONITOR_FOUND[0] && { monitorFound }),
      ...(Object.keys(limits).length > 0 && { thresholds: limits }),
      ...(byClass.length > 0 && { classThresholds: Object.fromEntries(byClass) }),
      ...(byTag.length > 0 && { tagThresholds: byTag }),
      ...(byField.length > 0 && { fieldThresholds: byField }),
      ...(Object.keys(held).length > 0 && { holdSeconds: held }),
    } as SiteSettings,
  };
}
