/** The product's own rules, each against what a device of its kind says (`rules/fixtures`). */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ruleset } from '@rollcall/shared/protocol';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { classifier, DESCRIBING } from './classify.ts';
import type { DeviceFacts } from './facts.ts';
import { loadRules } from './rules.ts';

const RULES = fileURLToPath(new URL('../../../../../rules/', import.meta.url));
const set = loadRules([RULES]);
const classify = classifier(set);

const text = z.string();
/** What a device says, and what is to be made of it. */
const fixture = z.strictObject({
  sysObjectId: text.optional(),
  sysDescr: text.optional(),
  sysName: text.optional(),
  /** Its chassis in ENTITY-MIB. */
  entity: z.record(text, text).optional(),
  /** OID → value. */
  values: z.record(text, text).optional(),
  says: z.strictObject({
    vendor: text.optional(),
    class: text.optional(),
    os: text.optional(),
    model: text.optional(),
    osVersion: text.optional(),
    serial: text.optional(),
  }),
});
type Fixture = z.infer<typeof fixture>;

const folder = join(RULES, 'fixtures');
const fixtures = readdirSync(folder).flatMap((file) =>
  Object.entries(z.record(text, fixture).parse(parse(readFileSync(join(folder, file), 'utf8')))).map(
    ([name, device]) => ({ file, name, device }),
  ),
);

const factsOf = ({ sysObjectId, sysDescr, sysName, entity, values }: Fixture): DeviceFacts => ({
  system: {
    ...(sysObjectId ? { sysObjectId } : {}),
    ...(sysDescr ? { sysDescr } : {}),
    ...(sysName ? { sysName } : {}),
  },
  chassis: entity ? [{ index: 1, class: 'chassis', ...entity }] : [],
  vendor: values ?? {},
});

describe('the product’s rules', () => {
  it('have a fixture each', () => {
    const names = fixtures.map(({ name }) => name);
    expect(set.rules.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]);
    expect(names.filter((name) => !set.rules.some((rule) => rule.name === name))).toEqual([]);
  });

  it.each(fixtures)('$name', ({ name, device }) => {
    const { by, ...found } = classify(factsOf(device));
    const known = Object.entries(found).filter(([, value]) => value !== null && value !== 'unknown');
    expect(Object.fromEntries(known)).toEqual(device.says);
    // Without the rule something here would be missing, or known by something weaker.
    expect(Object.values(by)).toContain(name);
  });

  it('are applied by code whose version is raised when it describes otherwise, so that known devices are described anew', () => {
    // Without rules, which have their own hash: some agents of each file, by what the code alone makes of them.
    const alone = classifier({ ...set, rules: [] });
    const some = readdirSync(folder).flatMap((file) =>
      fixtures.filter((each) => each.file === file).slice(0, 8),
    );
    const described = createHash('sha256').update(
      JSON.stringify(some.map(({ device }) => alone(factsOf(device)))),
    );
    expect(
      [DESCRIBING, described.digest('hex').slice(0, 12)],
      'the code describes these devices otherwise: raise DESCRIBING (classify.ts) and write what it comes to here. ' +
        'Where only fixtures came, write the latter alone',
    ).toEqual([4, 'b7fe8bb86589']);
  });

  it('ask collectors for no more than the wire carries', () => {
    expect(ruleset.safeParse(set.ruleset).success).toBe(true);
    expect(JSON.stringify(set.ruleset).length).toBeLessThan(256 * 1024);
  });
});
