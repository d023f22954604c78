/**
 * Rule files into one compiled set. The set is read whole: one bad file refuses it, and a holder of an older set
 * keeps that. Operators add folders of their own; their rules come before the product's.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Ruleset } from '@rollcall/shared/protocol';
import { parse } from 'yaml';
import type { z } from 'zod';
import { StartError } from '../../platform/ops/config.ts';
import { type Catalogue, NO_CATALOGUE, openCatalogue } from './catalogue.ts';
import { GENERAL_OIDS, SAMPLED } from './general.ts';
import { type Rule, ruleFile, type VendorTable, vendorFile } from './rule-schema.ts';

/** A compiled set of rules. */
export interface CompiledRules {
  /** Hash of the files. */
  id: string;
  rules: readonly Rule[];
  vendors: VendorTable;
  /** What MIBs say of makers that no rule knows. */
  catalogue: Catalogue;
  /** What collectors must read for them. */
  ruleset: Ruleset;
}

/** Says which file and line is wrong; at a start, one line that says what to do. */
export class RuleError extends StartError {}

/** File of enterprise numbers in a rules folder. */
const VENDORS = 'vendors.yaml';
/** Folder of the catalogue in a rules folder, and its file that what a device says depends on most. */
const CATALOGUE = 'catalogue';
const CATALOGUE_FILES = ['inventory.txt', 'products.txt'];

/**
 * Reads `*.yaml` of each folder, the first folder's rules first. Fails with RuleError: which file, where, why.
 */
export function loadRules(folders: readonly string[]): CompiledRules {
  const hash = createHash('sha256');
  const rules: Rule[] = [];
  const vendors: VendorTable = {};
  const names = new Map<string, string>();
  let catalogue = NO_CATALOGUE;
  for (const folder of folders) {
    const facts = join(folder, CATALOGUE);
    if (existsSync(facts)) {
      for (const name of CATALOGUE_FILES) hash.update(readFileSync(join(facts, name)));
      catalogue = openCatalogue(facts);
    }
    for (const file of yamlFiles(folder)) {
      const text = readFileSync(file, 'utf8');
      hash.update(`${basename(file)}\0${text}\0`);
      const document = readYaml(file, text);
      if (basename(file) === VENDORS) {
        const table = check(file, vendorFile, document).vendors;
        for (const [number, vendor] of Object.entries(table)) vendors[number] ??= vendor;
        continue;
      }
      for (const rule of check(file, ruleFile, document).rules) {
        const other = names.get(rule.name);
        if (other) throw new RuleError(`${file}: the rule ${rule.name} is also in ${other}`);
        names.set(rule.name, file);
        rules.push(rule);
      }
    }
  }
  const id = hash.digest('hex').slice(0, 16);
  return { id, rules, vendors, catalogue, ruleset: { id, extra: extraOids(rules, catalogue) } };
}

/** The set without some of its rules and makers, and what collectors must read for the others. */
export function rulesWithout(
  set: CompiledRules,
  left: (rule: Rule) => boolean,
  unknown: (enterprise: string) => boolean = () => false,
): CompiledRules {
  const rules = set.rules.filter((rule) => !left(rule));
  const vendors = Object.fromEntries(Object.entries(set.vendors).filter(([number]) => !unknown(number)));
  const id = createHash('sha256')
    .update(`${set.id} ${rules.map(({ name }) => name)}`)
    .digest('hex')
    .slice(0, 16);
  const { catalogue } = set;
  return { id, rules, vendors, catalogue, ruleset: { id, extra: extraOids(rules, catalogue) } };
}

function yamlFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    throw new RuleError(`${folder}: ${(error as Error).message}`);
  }
}

function readYaml(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new RuleError(`${file}: ${(error as Error).message}`);
  }
}

function check<T>(file: string, schema: z.ZodType<T>, document: unknown): T {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const { path, message } = closest(result.error.issues);
  throw new RuleError(`${file}: ${path.join('.') || 'file'}: ${message}`);
}

/** Of the ways a value may be written, what is wrong with the one that the writer most likely meant. */
function closest(issues: readonly z.core.$ZodIssue[]): { path: PropertyKey[]; message: string } {
  const [issue] = issues;
  if (!issue) return { path: [], message: 'invalid' };
  if (issue.code !== 'invalid_union') return issue;
  // Not the way that misses a member, nor the one that fails at once.
  const ways = issue.errors
    .map(closest)
    .filter(({ path, message }) => path.length > 0 || !/expected \w+, received/.test(message))
    .sort((a, b) => Number(misses(a)) - Number(misses(b)) || b.path.length - a.path.length);
  const [meant] = ways;
  return meant ? { path: [...issue.path, ...meant.path], message: meant.message } : issue;
}

const misses = ({ message }: { message: string }): boolean => message.endsWith('received undefined');

/** OIDs that a rule reads anything from. */
const oidsOf = (rule: Rule): string[] => [
  ...[...(rule.model ?? []), ...(rule.version ?? []), ...(rule.serial ?? [])].flatMap((source) =>
    'oid' in source ? [source.oid] : [],
  ),
  ...rule.match.flatMap(({ value }) => Object.keys(value ?? {})),
  ...(Array.isArray(rule.class) ? rule.class : []).flatMap(({ when }) => Object.keys(when?.value ?? {})),
  ...(rule.read ?? []),
];

/** Most OIDs and prefixes that the wire carries. */
const OIDS_PER_PREFIX = 64;

/** sysObjectID prefix → OIDs. A rule without a prefix is read for every agent. */
function extraOids(rules: readonly Rule[], catalogue: Catalogue): Ruleset['extra'] {
  const byPrefix = new Map<string, Set<string>>([['', new Set(GENERAL_OIDS)]]);
  for (const rule of rules) {
    const oids = oidsOf(rule);
    const prefixes = rule.match.flatMap(({ sysObjectId }) => sysObjectId ?? ['']);
    for (const prefix of oids.length > 0 ? prefixes : []) {
      const set = byPrefix.get(prefix) ?? new Set();
      for (const oid of oids) set.add(oid);
      byPrefix.set(prefix, set);
    }
  }
  // Behind the rules': a collector reads a bounded number of OIDs, the first ones.
  for (const { prefix, oids } of catalogue.extra)
    byPrefix.set(prefix, new Set([...(byPrefix.get(prefix) ?? []), ...oids]));
  return [...byPrefix].flatMap(([prefix, set]) => {
    const oids = [...set];
    const parts = Array.from({ length: Math.ceil(oids.length / OIDS_PER_PREFIX) }, (_, i) =>
      oids.slice(i * OIDS_PER_PREFIX, (i + 1) * OIDS_PER_PREFIX),
    );
    return parts.map((part, i) => ({
      prefix,
      oids: part,
      ...(prefix === '' && i === 0 ? { sample: SAMPLED } : {}),
    }));
  });
}
