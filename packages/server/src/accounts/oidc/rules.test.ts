import { describe, expect, it } from 'vitest';
import type { OidcRule } from '../../platform/ops/oidc-settings.ts';
import { grantOf, nameOf } from './rules.ts';

const RULES: OidcRule[] = [
  { groups: ['it'], role: 'viewer', sites: 'all' },
  { groups: ['noc-berlin', 'noc'], role: 'operator', sites: ['Berlin'] },
  { groups: ['noc-hamburg', 'noc'], role: 'operator', sites: ['Hamburg', 'Berlin'] },
  { groups: ['lead-berlin'], role: 'admin', sites: ['Berlin'] },
];
const EVERYBODY: OidcRule = { groups: ['*'], role: 'viewer', sites: ['Berlin'] };

describe('grantOf', () => {
  it.each([
    ['one rule', RULES, ['it'], { role: 'viewer', sites: 'all' }],
    ['one of its groups', RULES, ['noc-berlin', 'x'], { role: 'operator', sites: ['Berlin'] }],
    [
      'the sites of all rules with one role',
      RULES,
      ['noc'],
      { role: 'operator', sites: ['Berlin', 'Hamburg'] },
    ],
    [
      'the highest role with its own sites only',
      RULES,
      ['it', 'lead-berlin'],
      { role: 'admin', sites: ['Berlin'] },
    ],
    ['no group that a rule names', RULES, ['sales'], { refusal: 'no-rule' }],
    ['another spelling', RULES, ['IT'], { refusal: 'no-rule' }],
    ['no group at all', RULES, [], { refusal: 'no-rule' }],
    ['no word about groups', RULES, undefined, { refusal: 'no-groups' }],
    ['a rule for everybody', [EVERYBODY], undefined, { role: 'viewer', sites: ['Berlin'] }],
    ['a group that calls itself *', RULES, ['*'], { refusal: 'no-rule' }],
  ])('%s', (_what, rules, groups, grant) => {
    expect(grantOf(rules, groups)).toEqual(grant);
  });
});

describe('nameOf', () => {
  it.each([
    ['Ada', 'ada'],
    ['ada@example.net', 'ada@example.net'],
    ['WORK\\ada', 'work-ada'],
    ['Jürgen Müller', 'jurgen-muller'],
    ['-_.ada', 'ada'],
    ['日本', null],
    ['', null],
    ['a'.repeat(80), 'a'.repeat(64)],
  ])('of %s', (claim, name) => {
    expect(nameOf(claim)).toBe(name);
  });
});
