import { describe, expect, it } from 'vitest';
import { limitsOf, resolve, type Said, saidOf } from './resolve.ts';

const DEFAULT = { utilisation: 95, errors: 1, loss: 20 };
const shown = (said: Said) =>
  resolve({ default: DEFAULT, ...said }).map(({ of, value, from }) => `${of} ${value} ${from}`);

describe('who is nearest says the threshold', () => {
  it.each<[what: string, said: Said, expected: string[]]>([
    ['nobody else', {}, ['utilisation 95 default', 'errors 1 default', 'loss 20 default']],
    ['the site', { site: { loss: 30 } }, ['utilisation 95 default', 'errors 1 default', 'loss 30 site']],
    [
      'what is usual before the default only',
      { baseline: { loss: 35 }, site: { errors: 2 } },
      ['utilisation 95 default', 'errors 2 site', 'loss 35 baseline'],
    ],
    [
      'the class before the site',
      { site: { loss: 30, errors: 2 }, class: { loss: 40 } },
      ['utilisation 95 default', 'errors 2 site', 'loss 40 class'],
    ],
    [
      'a tag before the class, the first of several that says it',
      {
        class: { loss: 40, errors: 3 },
        tag: [
          { tag: 'core', thresholds: { loss: 5 } },
          { tag: 'hall 2', thresholds: { loss: 60, utilisation: 70 } },
        ],
      },
      ['utilisation 70 tag', 'errors 3 class', 'loss 5 tag'],
    ],
    [
      'the device before its tags, a tag of the interface before the device',
      {
        tag: [{ tag: 'core', thresholds: { utilisation: 70, errors: 4 } }],
        device: { utilisation: 80 },
        interfaceTag: [{ tag: 'uplink', thresholds: { errors: 6 } }],
        interface: {},
      },
      ['utilisation 80 device', 'errors 6 interfaceTag'],
    ],
    [
      'a tag before a custom field before the class, the first of several that says it',
      {
        class: { loss: 40, errors: 3, utilisation: 60 },
        field: [
          { field: 'Line:satellite', thresholds: { loss: 5, errors: 4 } },
          { field: 'Hall:2', thresholds: { loss: 60, errors: 5 } },
        ],
        tag: [{ tag: 'core', thresholds: { errors: 9 } }],
      },
      ['utilisation 60 class', 'errors 9 tag', 'loss 5 field'],
    ],
    [
      'a tag of the interface before a custom field of it, that before the device',
      {
        device: { utilisation: 80, errors: 2 },
        interfaceField: [{ field: 'Circuit:A', thresholds: { utilisation: 40, errors: 3 } }],
        interfaceTag: [{ tag: 'uplink', thresholds: { errors: 6 } }],
        interface: {},
      },
      ['utilisation 40 interfaceField', 'errors 6 interfaceTag'],
    ],
    [
      'the interface before its tags',
      { interfaceTag: [{ tag: 'uplink', thresholds: { errors: 6 } }], interface: { errors: 7 } },
      ['utilisation 95 default', 'errors 7 interface'],
    ],
    [
      'the device before its class, with 0 too',
      { site: { loss: 30 }, class: { loss: 40 }, device: { loss: 0, utilisation: 80 } },
      ['utilisation 80 device', 'errors 1 default', 'loss 0 device'],
    ],
    [
      'the interface before its device, of what is measured of interfaces',
      { class: { errors: 3 }, device: { utilisation: 80, loss: 5 }, interface: { utilisation: 99 } },
      ['utilisation 99 interface', 'errors 3 class'],
    ],
    [
      'an interface that says nothing has what its device says',
      { device: { utilisation: 80 }, interface: {} },
      ['utilisation 80 device', 'errors 1 default'],
    ],
  ])('%s', (_, said, expected) => expect(shown(said)).toEqual(expected));
});

it('tells all that say something, in their order', () => {
  const tag = [{ tag: 'core', thresholds: { loss: 5 } }];
  const said = { default: DEFAULT, site: { loss: 30 }, tag, device: { loss: 60 } };
  expect(resolve(said).find(({ of }) => of === 'loss')?.said).toEqual([
    { from: 'default', value: 20 },
    { from: 'site', value: 30 },
    { from: 'tag', value: 5, tag: 'core' },
    { from: 'device', value: 60 },
  ]);
});

it('what is stored is read with care: what this release does not know says nothing', () => {
  const settings = { thresholds: { errors: 2 }, classThresholds: { switch: { loss: 40 } } };
  const of = (thresholds: unknown, kind = 'switch') =>
    limitsOf(saidOf(settings, { class: kind, tags: [], fields: {}, thresholds }));
  expect(of(null)).toEqual({ utilisation: 95, errors: 2, loss: 40, latency: 1000, noTraffic: 1 });
  expect(of(null, 'router')).toEqual({ utilisation: 95, errors: 2, loss: 20, latency: 1000, noTraffic: 1 });
  expect(of({ loss: 60 })).toEqual({ utilisation: 95, errors: 2, loss: 60, latency: 1000, noTraffic: 1 });
  expect(of({ jitter: 3 })).toEqual({ utilisation: 95, errors: 2, loss: 40, latency: 1000, noTraffic: 1 });
  expect(
    limitsOf(
      saidOf(
        settings,
        { class: 'switch', tags: [], fields: {}, thresholds: { utilisation: 50 } },
        { tags: [], fields: {}, thresholds: null },
      ),
    ),
  ).toEqual({ utilisation: 50, errors: 2, loss: 20, latency: 1000, noTraffic: 1 });
});
