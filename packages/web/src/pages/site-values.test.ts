import type { Site } from '@rollcall/shared/api/sites';
import { expect, it } from 'vitest';
import { forTags, siteBody, siteValues } from './site-values.ts';

const SITE = {
  name: 'Berlin',
  networks: ['10.20.0.0/16', 'fd00::/64'],
  exclude: [],
  allowLoopback: false,
  allowSpecial: true,
  settings: {
    thresholds: { loss: 0 },
    classThresholds: { wireless: { loss: 40 } },
    tagThresholds: [
      { tag: 'hall 2', thresholds: { loss: 60 } },
      { tag: 'core', thresholds: { loss: 5, utilisation: 0 } },
    ],
    fieldThresholds: [{ field: 'Line:satellite', thresholds: { latency: 900 } }],
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
    tagThresholds: [{ tag: 'core', thresholds: { loss: '' } }],
    fieldThresholds: [{ field: 'Line:satellite', thresholds: { latency: '' } }],
    holdSeconds: { 'device.down': '' },
  };
  expect(siteBody({ ...values, monitorFound: 'infrastructure', settings: emptied }).settings).toEqual({});
  expect(siteValues().monitorFound).toBe('infrastructure');
  expect(siteBody(siteValues()).settings).toEqual({});
});

it('tags are kept with what was typed for them, in the order of the tags', () => {
  const { tagThresholds } = siteValues(SITE).settings;
  const [hall, core] = tagThresholds;
  const [first, second, ...none] = forTags(['core', 'new'], tagThresholds);
  expect([first, second?.tag, second?.thresholds.loss, none]).toEqual([core, 'new', '', []]);
  expect(forTags(['hall 2', 'core'], tagThresholds)).toEqual([hall, core]);
});
