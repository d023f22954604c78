import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { classifier } from './classify.ts';
import type { DeviceFacts } from './facts.ts';
import { loadRules, RuleError } from './rules.ts';

let folders: string[] = [];
const folder = (files: Record<string, string>): string => {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-rules-'));
  folders.push(path);
  write(path, files);
  return path;
};
const write = (path: string, files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
};
afterEach(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
  folders = [];
});

/** An agent of enterprise 99999, which nobody has registered. */
const agent = (
  more: Partial<DeviceFacts['system']> = {},
  vendor: DeviceFacts['vendor'] = {},
): DeviceFacts => ({
  system: { sysObjectId: '1.3.6.1.4.1.99999.1.7', sysDescr: 'Box 7 running BoxOS 1.2.3', ...more },
  chassis: [],
  vendor,
});
const classify = (files: Record<string, string>, facts = agent(), ...own: Record<string, string>[]) =>
  classifier(loadRules([...own.map(folder), folder(files)]))(facts);
const rules = (...list: string[]) => ({
  'a.yaml': `rules:\n${list.map((rule) => `  - ${rule}\n`).join('')}`,
});
const BOX = '1.3.6.1.4.1.99999';

describe('rules', () => {
  it('say what decided each field', () => {
    const is = classify(
      rules(
        `{ name: box, match: { sysObjectId: ${BOX} }, vendor: Box, os: BoxOS, class: switch,
           model: { sysDescr: '^(Box \\d+)' }, version: { sysDescr: 'BoxOS (\\S+)' } }`,
      ),
    );
    expect(is).toEqual({
      vendor: 'Box',
      class: 'switch',
      os: 'BoxOS',
      osVersion: '1.2.3',
      model: 'Box 7',
      serial: null,
      by: { vendor: 'box', class: 'box', os: 'box', osVersion: 'box', model: 'box' },
    });
  });

  it.each<[string, string[], string]>([
    [
      'a longer prefix before a shorter one',
      [
        `{ name: short, match: { sysObjectId: ${BOX} }, os: Short }`,
        `{ name: long, match: { sysObjectId: ${BOX}.1 }, os: Long }`,
      ],
      'Long',
    ],
    [
      'a prefix before a text',
      [
        `{ name: text, match: { sysDescr: BoxOS }, os: Text }`,
        `{ name: prefix, match: { sysObjectId: ${BOX} }, os: Prefix }`,
      ],
      'Prefix',
    ],
    [
      'a prefix with a text before a longer prefix',
      [
        `{ name: long, match: { sysObjectId: ${BOX}.1.7 }, os: Long }`,
        `{ name: both, match: { sysObjectId: ${BOX}, sysDescr: BoxOS }, os: Both }`,
      ],
      'Both',
    ],
    [
      'the first of two that fit as well',
      [
        `{ name: first, match: { sysDescr: Box }, os: First }`,
        `{ name: second, match: { sysDescr: BoxOS }, os: Second }`,
      ],
      'First',
    ],
    [
      'any other before one that is last',
      [
        `{ name: last, last: true, match: { sysObjectId: ${BOX}.1.7, sysDescr: BoxOS }, os: Last }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
    [
      'no rule whose `not` holds',
      [
        `{ name: not, match: { sysObjectId: ${BOX}, not: { sysDescr: BoxOS } }, os: Not }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
    [
      'two texts before a prefix',
      [
        `{ name: prefix, match: { sysObjectId: ${BOX}.1.7 }, os: Prefix }`,
        `{ name: texts, match: { sysDescr: BoxOS, value: { ${BOX}.9.1.0: x }, entity: Rack }, os: Texts }`,
      ],
      'Texts',
    ],
    [
      'the agent’s own number with all of a rule before a text',
      [
        `{ name: exact, match: { sysObjectId: ${BOX}.1.7 }, os: Exact }`,
        `{ name: text, match: { sysDescr: BoxOS }, os: Text }`,
      ],
      'Exact',
    ],
    [
      'no rule whose `not` is a prefix of the agent’s number',
      [
        `{ name: not, match: { sysDescr: BoxOS, not: { sysObjectId: [${BOX}.1] } }, os: Not }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
    [
      'a rule whose `not` names another number',
      [
        `{ name: not, match: { sysDescr: BoxOS, not: { sysObjectId: [${BOX}.2] } }, os: Not }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Not',
    ],
    [
      'no rule whose value is another',
      [
        `{ name: value, match: { sysDescr: BoxOS, value: { ${BOX}.9.1.0: y } }, os: Value }`,
        `{ name: missing, match: { sysDescr: BoxOS, value: { ${BOX}.9.9.0: . } }, os: Missing }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
    [
      'no rule whose hardware is another',
      [
        `{ name: entity, match: { sysDescr: BoxOS, entity: Blade }, os: Entity }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
    [
      'no prefix that ends inside a number',
      [
        `{ name: inside, match: { sysObjectId: 1.3.6.1.4.1.9999 }, os: Inside }`,
        `{ name: any, match: { sysDescr: Box }, os: Any }`,
      ],
      'Any',
    ],
  ])('take %s', (_what, list, os) => {
    const facts = {
      ...agent({}, { [`${BOX}.9.1.0`]: 'x' }),
      chassis: [{ index: 1, class: 'chassis', description: 'Rack 2' }],
    };
    expect(classify(rules(...list), facts).os).toBe(os);
  });

  it('fill a field from the next rule where the first says nothing of it', () => {
    const is = classify(
      rules(
        `{ name: general, match: { sysObjectId: ${BOX} }, vendor: Box, version: { sysDescr: 'BoxOS (\\S+)' } }`,
        `{ name: special, match: { sysObjectId: ${BOX}.1 }, os: BoxOS Pro, version: ${BOX}.2.1.0 }`,
      ),
    );
    expect(is).toMatchObject({ vendor: 'Box', os: 'BoxOS Pro', osVersion: '1.2.3' });
    expect(is.by).toMatchObject({ vendor: 'general', os: 'special', osVersion: 'general' });
  });

  it('read sources in their order: OIDs, texts, ENTITY-MIB, products', () => {
    const rule = `{ name: box, match: { sysObjectId: ${BOX} },
      model: [${BOX}.2.1.0, { oid: ${BOX}.2.2.0, match: '(B\\d) rev (\\d)', as: '$1-$2' }, { entity: model }],
      products: { 1.7: Box Seven } }`;
    const model = (facts: DeviceFacts) => classify(rules(rule), facts).model;
    expect(model(agent({}, { [`${BOX}.2.1.0`]: 'B1', [`${BOX}.2.2.0`]: 'B2 rev 3' }))).toBe('B1');
    expect(model(agent({}, { [`${BOX}.2.1.0`]: 'n/a', [`${BOX}.2.2.0`]: 'B2 rev 3' }))).toBe('B2-3');
    const chassis = [{ index: 1, class: 'chassis' as const, model: 'B4' }];
    expect(model({ ...agent(), chassis })).toBe('B4');
    expect(model(agent())).toBe('Box Seven');
  });

  it.each<[string, string, Partial<DeviceFacts['system']>, string | null]>([
    ['the first group that took part', `{ sysDescr: 'Crate (\\d+)|(Box) 7' }`, {}, 'Box'],
    ['all of it, without a group', `{ sysDescr: 'Box \\d' }`, {}, 'Box 7'],
    ['the name that the agent gave', `{ sysName: '^(Box\\S+)' }`, { sysName: 'Box12-lab' }, 'Box12-lab'],
    ['nothing, where there is no name', `{ sysName: '^(Box\\S+)' }`, {}, null],
    ['a word of the rule’s own', `{ text: Box 9 }`, {}, 'Box 9'],
    [
      'groups put together, an absent one left out',
      `{ sysDescr: '(Box) (\\d)(x)?', as: '$1-$2$3' }`,
      {},
      'Box-7',
    ],
  ])('read %s', (_what, source, more, model) => {
    const rule = `{ name: box, match: { sysDescr: BoxOS }, model: [${source}, { text: none of it }] }`;
    expect(classify(rules(rule), agent(more)).model).toBe(model ?? 'none of it');
  });

  it.each<[string, DeviceFacts['chassis'], string]>([
    [
      'the chassis before its modules',
      [
        { index: 1, class: 'module', model: 'M1' },
        { index: 2, class: 'chassis', model: 'C1' },
      ],
      'C1',
    ],
    [
      'the members before the stack',
      [
        { index: 1, class: 'stack', model: 'S1' },
        { index: 2, class: 'module', model: 'M1' },
      ],
      'M1',
    ],
    [
      'of two chassis the one that says something',
      [
        { index: 1, class: 'chassis', description: 'x' },
        { index: 2, class: 'chassis', model: 'C2' },
      ],
      'C2',
    ],
    [
      'of two that say as much the first',
      [
        { index: 1, class: 'chassis', model: 'C1' },
        { index: 2, class: 'chassis', model: 'C2' },
      ],
      'C1',
    ],
  ])('of hardware read %s', (_what, chassis, model) => {
    const rule = `{ name: box, match: { sysObjectId: ${BOX} }, model: { entity: model } }`;
    expect(classify(rules(rule), { ...agent(), chassis }).model).toBe(model);
  });

  it('find a product by what stands behind the prefix, and only below it', () => {
    const rule = `{ name: box, match: { sysObjectId: ${BOX}.1 }, products: { 7: Box Seven } }`;
    expect(classify(rules(rule)).model).toBe('Box Seven');
    expect(classify(rules(rule), agent({ sysObjectId: `.${BOX}.1.7` })).model).toBe('Box Seven');
    expect(classify(rules(rule), agent({ sysObjectId: `${BOX}.1.8` })).model).not.toBe('Box Seven');
  });

  it('choose a class by the model that was found', () => {
    const rule = `{ name: box, match: { sysObjectId: ${BOX} }, model: { sysDescr: '^(Box \\d)' },
      class: [{ when: { model: '7' }, is: firewall }, { is: switch }] }`;
    expect(classify(rules(rule)).class).toBe('firewall');
    expect(classify(rules(rule), agent({ sysDescr: 'Box 8' })).class).toBe('switch');
  });

  it('of an operator come first, and may name makers', () => {
    const own = {
      ...rules(`{ name: ours, match: { sysObjectId: ${BOX} }, os: Ours }`),
      'vendors.yaml': 'vendors: { 99999: { name: Our Box, class: printer } }',
    };
    const product = {
      ...rules(`{ name: box, match: { sysObjectId: ${BOX} }, os: BoxOS }`),
      'vendors.yaml': 'vendors: { 99999: Their Box }',
    };
    expect(classify(product, agent(), own)).toMatchObject({
      os: 'Ours',
      vendor: 'Our Box',
      class: 'printer',
      by: { os: 'ours', vendor: 'enterprise-number' },
    });
  });

  it('name the maker whose whole name stands in the words, not one whose name begins alike', () => {
    const vendors = { 'vendors.yaml': 'vendors: { 99997: Acme, 99998: Acme Power }' };
    const netSnmp = { sysObjectId: '1.3.6.1.4.1.8072.3.2.10', sysDescr: 'Acme Power 3' };
    expect(classify(vendors, agent(netSnmp)).vendor).toBe('Acme Power');
  });

  it('of a maker that is only named hold less than those that need no number', () => {
    const files = {
      ...rules(
        `{ name: assumed, match: { sysObjectId: 1.3.6.1.4.1.99997, sysDescr: Acme }, os: Assumed, serial: { text: S77 } }`,
        `{ name: text, match: { sysDescr: Acme }, os: Text }`,
      ),
      'vendors.yaml': 'vendors: { 99997: Acme }',
    };
    expect(classify(files, { system: { sysDescr: 'Acme 3' }, chassis: [], vendor: {} })).toMatchObject({
      ...{ os: 'Text', serial: 'S77' },
    });
  });

  it('of which several conditions hold count by the best', () => {
    const is = classify(
      rules(
        `{ name: any, match: [{ sysDescr: Box }, { sysObjectId: ${BOX}.1, sysDescr: Box }], os: Any, products: { 7: Box Seven } }`,
        `{ name: prefix, match: { sysObjectId: ${BOX}.1.7 }, os: Prefix }`,
      ),
    );
    expect(is).toMatchObject({ os: 'Any', model: 'Box Seven' });
  });

  it('that are last follow each other as others do', () => {
    const is = classify(
      rules(
        `{ name: weak, last: true, match: { sysDescr: Box }, os: Weak }`,
        `{ name: strong, last: true, match: { sysObjectId: ${BOX} }, os: Strong }`,
      ),
    );
    expect(is.os).toBe('Strong');
  });

  it('with several numbers hold by the longest', () => {
    const rule = `{ name: box, match: { sysObjectId: [${BOX}, ${BOX}.1] }, products: { 7: Box Seven } }`;
    expect(classify(rules(rule)).model).toBe('Box Seven');
  });

  it('tell collectors what to read, at most 64 OIDs in one piece', () => {
    const many = Array.from({ length: 70 }, (_, i) => `${BOX}.3.${i}.0`).join(', ');
    const { ruleset } = loadRules([
      folder(
        rules(
          `{ name: a, match: { sysObjectId: [${BOX}.1, ${BOX}.2] }, model: ${BOX}.9.1.0, serial: { oid: ${BOX}.9.2.0 } }`,
          `{ name: b, match: { sysObjectId: ${BOX}.4, value: { ${BOX}.9.3.0: x } }, read: [${many}] }`,
          `{ name: c, match: { sysDescr: x }, version: ${BOX}.9.4.0 }`,
        ),
      ),
    ]);
    const read = (prefix: string) =>
      ruleset.extra.filter((each) => each.prefix === prefix).flatMap(({ oids }) => oids);
    expect(read(`${BOX}.1`)).toEqual([`${BOX}.9.1.0`, `${BOX}.9.2.0`]);
    expect(read(`${BOX}.2`)).toEqual([`${BOX}.9.1.0`, `${BOX}.9.2.0`]);
    expect(read(`${BOX}.4`)).toHaveLength(71);
    expect(read('')).toContain(`${BOX}.9.4.0`);
    expect(ruleset.extra.every(({ oids }) => oids.length <= 64)).toBe(true);
    expect(ruleset.extra.filter(({ sample }) => sample)).toMatchObject([{ prefix: '' }]);
  });
});

describe('rule files with an error', () => {
  it.each<[string, string, RegExp]>([
    ['no YAML', 'rules: [', /a\.yaml/],
    ['a word that is none', 'rules: [{ name: a, match: { sysDescr: x }, vender: X }]', /rules\.0.*vender/],
    ['a pattern that is none', `rules: [{ name: a, match: { sysDescr: '(' } }]`, /not a pattern/],
    [
      'a source that is none',
      'rules: [{ name: a, match: { sysDescr: x }, model: { entity: colour } }]',
      /rules\.0\.model\.entity/,
    ],
    ['an OID that is none', 'rules: [{ name: a, match: { sysObjectId: .1.3.6 } }]', /rules\.0\.match/],
    [
      'a class that is none',
      'rules: [{ name: a, match: { sysDescr: x }, class: toaster }]',
      /rules\.0\.class/,
    ],
    ['nothing to match', 'rules: [{ name: a, match: { not: { sysDescr: x } } }]', /rules\.0\.match/],
    [
      'a name twice',
      'rules: [{ name: a, match: { sysDescr: x } }, { name: a, match: { sysDescr: y } }]',
      /a is also in/,
    ],
  ])('are refused for %s, with file and place', (_what, text, message) => {
    const path = folder({ 'a.yaml': text });
    expect(() => loadRules([path])).toThrow(RuleError);
    expect(() => loadRules([path])).toThrow(message);
  });

  it('refuse a folder that is not there', () => {
    expect(() => loadRules([join(tmpdir(), 'rollcall-no-such-folder')])).toThrow(RuleError);
  });
});
