import { OIDC_REFUSALS } from '@rollcall/shared/api/accounts';
import { expect, it } from 'vitest';
import { arrivalOf, refusalText } from './sign-in-refusals.ts';

const REQUEST = '019aa3c4-5b00-7000-8000-00000000000f';

it.each([
  ['#signed-in', 'signed-in'],
  [`#sign-in=no-rule.${REQUEST}`, { code: 'no-rule', request: REQUEST }],
  [`#sign-in=made-up.${REQUEST}`, undefined],
  ['#sign-in=no-rule.<b>', undefined],
  ['#ports', undefined],
  ['', undefined],
])('the fragment %s', (hash, arrival) => {
  expect(arrivalOf(hash)).toEqual(arrival);
});

it('tells of every refusal what to do', () => {
  for (const code of OIDC_REFUSALS)
    expect(refusalText(code, 'Work')).toMatch(/[Tt]ry again|[Aa]dministrator|Begin again/);
});
