import { expect, it } from 'vitest';
import { guessable } from './password-list.ts';

it.each([
  ['password', /tried first/],
  ['Password1', /tried first/],
  [' QWERTYUIOP', /tried first/],
  ['trustno1', /tried first/],
  ['ada.lovelace', /name of the account/],
  ['Ada.Lovelace2026!', /name of the account/],
  ['Rollcall-2026', /name of this program/],
  ['zzzzzzzzzzzzzzzz', /repeat/],
  ['#@#@#@#@#@#@', /repeat/],
])('refuses %j as a new password', (password, why) =>
  expect(guessable(password, 'ada.lovelace')).toMatch(why),
);

it.each([
  'correct horse battery staple',
  'k7p2m-x4wzt-9bqhr-3fgnd',
  'ada.lovelace likes engines',
  '密码密码是什么东西啊',
])('takes %j', (password) => expect(guessable(password, 'ada.lovelace')).toBeNull());
