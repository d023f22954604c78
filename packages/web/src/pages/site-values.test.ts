import type { Site } from '@rollcall/shared/api/sites';
import { expect, it } from 'vitest';
import { siteBody, siteValues } from './site-values.ts';

const SITE = {
  name: 'Berlin',
  networks: ['10.20.0.0/16', 'fd00::/64'],
  exclude: [],
  allowLoopback: false,
  allowSpecial: true,
  settings: {
    thresholds: { loss: 0 },
    classThresholds: { wireless: { loss: 40 } },
    monitorFound: 'all',
    snmpPort: 1_161,
    holdSeconds: { 'device.down': 45 },
  },
} as unknown as Site;

it('a site comes back as it was', () => expect(siteBody(siteValues(SITE))).toEqual(SITE));

it('what is left empty is left to the defaults', () => {
  const { settings, ...values } = siteValues(SITE);
  const emptied = {
    ...settings,
    snmpPort: ' ',
    thresholds: { loss: '' },
    classThresholds: { wireless: { loss: '' } },
    holdSeconds: { 'device.down': '' },
  };
  expect(siteBody({ ...values, monitorFound: 'infrastructure', settings: emptied }).settings).toEqual({});
  expect(siteValues().monitorFound).toBe('infrastructure');
  expect(siteBody(siteValues()).settings).toEqual({});
});
