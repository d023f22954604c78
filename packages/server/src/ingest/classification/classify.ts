/** What is it? Pure: rules and facts in; vendor, class, OS, model, version and serial out, each with what decided it. */
import type { DeviceClass } from '@rollcall/shared/model';
import type { EntityRow } from '@rollcall/shared/observation';
import { enterpriseOf, vendorEnterprise } from '../identity/fingerprint.ts';
import { cleanModel, cleanSerial, cleanVersion } from './clean.ts';
import { macMaker, organisation } from './enterprises.ts';
import type { DeviceFacts } from './facts.ts';
import * as general from './general.ts';
import type { Condition, Rule, Source } from './rule-schema.ts';
import type { CompiledRules } from './rules.ts';

export interface Classification {
  vendor: string | null;
  class: DeviceClass;
  os: string | null;
  osVersion: string | null;
  model: string | null;
  serial: string | null;
  /** Field → name of the rule or the general pattern that decided it. */
  by: Record<string, string>;
}

/**
 * Version of how devices are described. Raise it with a change of code, here or of `describe` in `observe.ts`, that describes a device
 * otherwise: known devices that another version described are described anew (`rule-book.ts`).
 */
export const DESCRIBING = 4;

export type Classify = (facts: DeviceFacts) => Classification;

/** A classifier over a compiled set. Rules are looked up by enterprise number; those without a prefix are always tried. */
export function classifier(set: CompiledRules): Classify {
  const index = indexRules(set.rules);
  const brandIn = brands(set.vendors);
  return (facts) => (facts.host ? classifyHost(facts.host) : classify(set, index, brandIn, facts));
}

/** Names of the rules of a set that hold for a device, the most specific first. */
export function matcher(set: CompiledRules): (facts: DeviceFacts) => string[] {
  const index = indexRules(set.rules);
  return (facts) => matching(index, facts).map(({ rule }) => rule.name);
}

/** What a hardware address and a name tell. */
function classifyHost({ mac, name }: NonNullable<DeviceFacts['host']>): Classification {
  const draft = new Draft();
  draft.offer('vendor', 'mac-prefix', () => mac && macMaker(mac));
  draft.offer('class', 'hostname', () => name && general.classOfHostname(name));
  return result(draft);
}

const result = (draft: Draft): Classification => ({
  vendor: draft.get('vendor'),
  class: (draft.get('class') ?? 'unknown') as DeviceClass,
  os: draft.get('os'),
  osVersion: draft.get('osVersion'),
  model: draft.get('model'),
  serial: draft.get('serial'),
  by: draft.by,
});

type Field = 'vendor' | 'class' | 'os' | 'osVersion' | 'model' | 'serial';

/** Takes the first value that anything has for a field, and notes what it was. */
class Draft {
  readonly by: Record<string, string> = {};
  readonly #values = new Map<Field, string>();

  get(field: Field): string | null {
    return this.#values.get(field) ?? null;
  }
  /** Looks for the value only where nothing had one yet. */
  offer(field: Field, by: string, find: () => string | null | undefined | false): void {
    if (this.#values.has(field)) return;
    const value = find();
    if (!value) return;
    this.#values.set(field, value);
    this.by[field] = by;
  }
}

type Brand = CompiledRules['vendors'][string] & {
  /** Enterprise numbers of that name. */
  numbers: readonly number[];
};
type BrandIn = (texts: readonly (string | undefined)[]) => Brand | null;

/** Names of makers that are words of their own: short ones and plain words say nothing. */
const NO_BRANDS =
  /^(.{1,3}|alpha|apple|belden|black box|broadcom|compaq|dec|delta|digi|dell|emc|general .*|harris|intel|legend|linksys|net-snmp|oracle|sony|sun|venus|waters|westell|novell|microsoft|freebsd|openbsd|netbsd|realtek|vmware|opengate|appear|advance.*)$/i;

/** Finds the name of a known maker among words; the longest of several at the first place. */
function brands(vendors: CompiledRules['vendors']): BrandIn {
  const known = new Map<string, Brand>();
  for (const [number, vendor] of Object.entries(vendors)) {
    if (NO_BRANDS.test(vendor.name)) continue;
    const name = vendor.name.toLowerCase();
    known.set(name, { ...vendor, numbers: [...(known.get(name)?.numbers ?? []), Number(number)] });
  }
  const words = [...known.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\w.@-])(?:${words.join('|')})(?![\\w.@-])`, 'i');
  return (texts) => {
    for (const text of texts) {
      const found = text && pattern.exec(text)?.[0];
      if (found) return known.get(found.toLowerCase()) ?? null;
    }
    return null;
  };
}

function classify(set: CompiledRules, index: RuleIndex, named: BrandIn, told: DeviceFacts): Classification {
  const draft = new Draft();
  const facts = { ...told, assumed: assumedMaker(named, told) };
  const matched = matching(index, facts);
  for (const { rule, prefix } of matched) {
    draft.offer('vendor', rule.name, () => rule.vendor);
    draft.offer('os', rule.name, () => rule.os);
    draft.offer('model', rule.name, () => firstValue(rule.model, facts, cleanModel));
    draft.offer('model', rule.name, () => product(rule, prefix, facts));
    draft.offer('osVersion', rule.name, () => firstValue(rule.version, facts, cleanVersion));
    draft.offer('serial', rule.name, () => firstValue(rule.serial, facts, cleanSerial));
  }
  const own = vendorEnterprise(facts.system.sysObjectId);
  // A chip maker's number: who built the device took its software and did not change that.
  const brand =
    own === null || CHIP_MAKERS.has(own)
      ? named([...facts.chassis.map((row) => row.manufacturer), facts.system.sysDescr])
      : null;
  draft.offer('vendor', 'brand', () => brand?.name);
  const maker = own ?? makerOfObjects(facts);
  const vendor = maker === null ? undefined : set.vendors[maker];
  const how = own === null ? 'vendor-objects' : 'enterprise-number';
  draft.offer('vendor', how, () => vendor?.name);
  draft.offer('vendor', how, () => maker !== null && organisation(maker));
  general.complete(facts, (field, by, find) => draft.offer(field, by, find), {
    vendor: draft.get('vendor'),
    model: draft.get('model'),
    catalogue: set.catalogue,
  });
  for (const { rule } of matched)
    draft.offer('class', rule.name, () => classOf(rule, facts, draft.get('model')));
  const usual = brand ? { usual: brand.class, how: 'brand' } : { usual: vendor?.class, how };
  general.classHints(facts, draft.get('model'), { maker, ...usual }, (by, find) =>
    draft.offer('class', by, find),
  );
  return result(draft);
}

/** Chip makers whose software runs on devices of others: Broadcom, Realtek, Microchip, Marvell, Vitesse, Aricent, SNMP Research. */
const CHIP_MAKERS = new Set([4413, 27282, 17095, 26696, 6603, 29601, 2076, 99]);

/** Software that runs on anybody's hardware and has objects of its own. */
const NO_MAKERS = new Set([2021, 8072, 9999, 2312, 3582, 12325, 30155]);

/** Of an agent that names no maker: whose objects it has. */
function makerOfObjects(facts: DeviceFacts): number | null {
  const numbers = Object.keys(facts.vendor).map(enterpriseOf);
  return numbers.find((each) => each !== null && !NO_MAKERS.has(each)) ?? null;
}

/** Device with the enterprise numbers that stand in for the sysObjectID that it does not have. */
interface Told extends DeviceFacts {
  assumed?: readonly number[];
}

/** Of an agent without a sysObjectID of any enterprise: the numbers of the maker that sysDescr names. */
const assumedMaker = (named: BrandIn, { system }: DeviceFacts): readonly number[] =>
  enterpriseOf(system.sysObjectId) === null ? (named([system.sysDescr])?.numbers ?? []) : [];

/** A rule of an assumed maker holds by its words, or when it is for all that a maker of one number makes. */
const isAssumed = ({ sysObjectId, sysDescr }: Condition, { assumed = [] }: Told): boolean =>
  sysObjectId?.some(
    (oid) =>
      assumed.some((number) => number === enterpriseOf(oid)) &&
      (sysDescr !== undefined || (assumed.length === 1 && oid.split('.').length === 7)),
  ) === true;

interface RuleIndex {
  byEnterprise: Map<number, Rule[]>;
  everywhere: Rule[];
  /** Position in the files: of two rules that fit as well, the first wins. */
  order: Map<Rule, number>;
}

function indexRules(rules: readonly Rule[]): RuleIndex {
  const index: RuleIndex = { byEnterprise: new Map(), everywhere: [], order: new Map() };
  rules.forEach((rule, i) => {
    index.order.set(rule, i);
    const enterprises = rule.match.map(({ sysObjectId }) => sysObjectId?.map(enterpriseOf));
    if (enterprises.some((each) => each === undefined || each.includes(null))) index.everywhere.push(rule);
    else {
      for (const enterprise of new Set(enterprises.flat() as number[])) {
        index.byEnterprise.set(enterprise, [...(index.byEnterprise.get(enterprise) ?? []), rule]);
      }
    }
  });
  return index;
}

interface Matched {
  rule: Rule;
  /** sysObjectID prefix that matched, '' for none. */
  prefix: string;
}

/**
 * Rules that hold, the most specific first: a sysObjectID prefix counts more than one other condition, two conditions
 * count more than it; then the longer prefix; then the order of the files.
 */
function matching(index: RuleIndex, facts: Told): Matched[] {
  const enterprise = enterpriseOf(facts.system.sysObjectId);
  const makers = enterprise === null ? (facts.assumed ?? []) : [enterprise];
  const candidates = new Set([
    ...makers.flatMap((maker) => index.byEnterprise.get(maker) ?? []),
    ...index.everywhere,
  ]);
  const found = [...candidates].flatMap((rule) => {
    const held = rule.match.flatMap((condition) => {
      const prefix = holds(condition, facts, null);
      return prefix === undefined ? [] : [{ rule, prefix, weight: weightOf(condition, prefix) }];
    });
    return held.sort((a, b) => b.weight - a.weight).slice(0, 1);
  });
  const isLast = ({ rule }: Matched) => Number(rule.last === true);
  const order = ({ rule }: Matched) => index.order.get(rule) as number;
  return found.sort((a, b) => isLast(a) - isLast(b) || b.weight - a.weight || order(a) - order(b));
}

function weightOf(condition: Condition, prefix: string): number {
  const conditions = 100 * Object.keys(condition).length;
  if (prefix !== '') return conditions + 20 + prefix.split('.').length;
  // A number that is only assumed counts less than none.
  return condition.sysObjectId ? conditions - 150 : conditions;
}

/** sysObjectID without the dot that some agents put in front. */
const oidOf = ({ system: { sysObjectId } }: DeviceFacts): string | undefined =>
  sysObjectId?.startsWith('.') ? sysObjectId.slice(1) : sysObjectId;

/** The longest of some prefixes that an OID is, or is below of. */
function under(oid: string | undefined, prefixes: readonly string[]): string | undefined {
  const found = prefixes.filter((prefix) => isUnder(oid, prefix));
  return found.sort((a, b) => b.length - a.length)[0];
}
const isUnder = (oid: string | undefined, prefix: string): boolean =>
  oid?.startsWith(prefix) === true && (oid.length === prefix.length || oid[prefix.length] === '.');

/** The sysObjectID prefix of a condition that holds ('' when it names none), undefined when it does not hold. */
function holds(condition: Condition, facts: Told, model: string | null): string | undefined {
  const { system, chassis, vendor } = facts;
  const oid = oidOf(facts);
  const prefix = condition.sysObjectId
    ? (under(oid, condition.sysObjectId) ?? (isAssumed(condition, facts) ? '' : undefined))
    : '';
  if (prefix === undefined) return undefined;
  if (condition.sysDescr && !condition.sysDescr.test(system.sysDescr ?? '')) return undefined;
  if (condition.sysName && !condition.sysName.test(system.sysName ?? '')) return undefined;
  if (condition.model && !condition.model.test(model ?? '')) return undefined;
  if (condition.entity) {
    const { entity } = condition;
    const texts = chassis.flatMap((row) => [row.model, row.description, row.name, row.manufacturer]);
    if (!texts.some((text) => text !== undefined && entity.test(text))) return undefined;
  }
  for (const each in condition.value) {
    const value = vendor[each];
    if (value === undefined || !condition.value[each]?.test(value)) return undefined;
  }
  if (condition.not?.sysDescr?.test(system.sysDescr ?? '')) return undefined;
  if (condition.not?.sysObjectId && under(oid, condition.not.sysObjectId)) return undefined;
  return prefix;
}

function firstValue(
  sources: readonly Source[] | undefined,
  facts: DeviceFacts,
  clean: (text: string) => string | null,
): string | null {
  for (const source of sources ?? []) {
    for (const text of textsOf(source, facts)) {
      const value = extract(source, text);
      const cleaned = value === null ? null : clean(value);
      if (cleaned) return cleaned;
    }
  }
  return null;
}

const ENTITY_FIELDS = {
  model: 'model',
  serial: 'serial',
  software: 'softwareRevision',
  firmware: 'firmwareRevision',
  hardware: 'hardwareRevision',
  description: 'description',
  name: 'name',
} as const satisfies Record<string, keyof EntityRow>;

function textsOf(source: Source, facts: DeviceFacts): string[] {
  if ('text' in source) return [source.text];
  if ('published' in source) {
    const oid = facts.system.sysObjectId;
    return oid ? [general.publishedModel(oid, null) ?? ''] : [];
  }
  if ('oid' in source) return [facts.vendor[source.oid]].filter((text) => text !== undefined);
  if ('sysDescr' in source) return [facts.system.sysDescr ?? ''];
  if ('sysName' in source) return [facts.system.sysName ?? ''];
  const field = ENTITY_FIELDS[source.entity];
  return general.wholeDevices(facts.chassis).flatMap((row) => row[field] ?? []);
}

function extract(source: Source, text: string): string | null {
  if ('text' in source || 'published' in source) return text;
  const pattern =
    'sysDescr' in source ? source.sysDescr : 'sysName' in source ? source.sysName : source.match;
  if (!pattern) return text;
  const found = pattern.exec(text);
  if (!found) return null;
  if (source.as === undefined) return found.slice(1).find((group) => group !== undefined) ?? found[0];
  return source.as.replace(/\$(\d)/g, (_, n: string) => found[Number(n)] ?? '').trim();
}

function product(rule: Rule, prefix: string, facts: DeviceFacts): string | undefined {
  const oid = oidOf(facts);
  if (!rule.products || prefix === '' || !oid) return undefined;
  return rule.products[oid.slice(prefix.length + 1)];
}

function classOf(rule: Rule, facts: Told, model: string | null): DeviceClass | undefined {
  if (!Array.isArray(rule.class)) return rule.class;
  return rule.class.find(({ when }) => !when || holds(when, facts, model) !== undefined)?.is;
}
