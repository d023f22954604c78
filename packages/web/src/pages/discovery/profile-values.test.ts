import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { expect, it } from 'vitest';
import { profileSettings, profileValues } from './profile-values.ts';

it.each(Object.entries(BUILT_IN_PROFILES))('%s comes back as it was', (_, settings) => {
  expect(profileSettings(profileValues(settings))).toEqual(settings);
});

it('what is switched off is left out, and comes back with what was typed', () => {
  const values = { ...profileValues(), ping: false, read: false };
  expect(profileSettings(values)).toMatchObject({ icmp: null, snmp: null });
  expect(profileSettings({ ...values, read: true }).snmp).toEqual(BUILT_IN_PROFILES.standard.snmp);
});

it('sends what is no number, for the server to object to; a rate may have no limit', () => {
  const values = profileValues();
  const typed = { ...values, rate: ' max ', ratePerNet: '', icmp: { ...values.icmp, tries: 'three' } };
  expect(profileSettings(typed)).toMatchObject({
    rate: 'max',
    ratePerNet: Number.NaN,
    icmp: { tries: Number.NaN },
  });
});

it('an empty port is the site’s; groups keep their order', () => {
  const { snmp, ...values } = profileValues();
  const changed = { ...values, snmp: { ...snmp, port: '1161', groups: ['fdb', 'interfaces'] } };
  expect(profileSettings(changed).snmp).toMatchObject({ port: 1_161, groups: ['interfaces', 'fdb'] });
  expect(profileSettings({ ...values, snmp: { ...snmp, port: '' } }).snmp?.port).toBeNull();
});
