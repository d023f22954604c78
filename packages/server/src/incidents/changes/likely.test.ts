import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIGURED_TRAPS, LOOKED_BACK_MS, likelyChanges, type Nearby, type Subject } from './likely.ts';

const BEGUN = Date.UTC(2026, 10, 26, 12);
const MINUTE = 60_000;
const SUBJECT: Subject = { begunAt: BEGUN, devices: new Set(['core']), interfaces: new Set(['core/1']) };
const change = (kind: string, minutesBefore: number, more: Partial<Nearby> = {}): Nearby => ({
  kind,
  at: BEGUN - minutesBefore * MINUTE,
  deviceId: 'core',
  device: 'core-1',
  interfaceId: null,
  interface: null,
  trapOid: null,
  fields: [],
  ...more,
});
const order = (changes: Nearby[]) =>
  likelyChanges(changes, SUBJECT).map(([{ kind, deviceId }]) => `${deviceId} ${kind}`);

describe('changes before a case', () => {
  it.each<[string, Nearby, Nearby]>([
    [
      'an upgrade weighs more than a new interface',
      change('device.upgraded', 20),
      change('interface.added', 20),
    ],
    [
      'the device itself more than a neighbour',
      change('device.rebooted', 20),
      change('device.rebooted', 20, { deviceId: 'edge' }),
    ],
    ['just before more than long before', change('interface.changed', 2), change('interface.changed', 50)],
    [
      'its own port more than another',
      change('interface.speed', 20, { interfaceId: 'core/1' }),
      change('interface.speed', 20, { interfaceId: 'core/2' }),
    ],
    [
      'settings more than words',
      change('interface.changed', 30, { fields: ['type'] }),
      change('interface.changed', 1, { fields: ['alias'] }),
    ],
    ['a shut port more than a new neighbour', change('interface.shut', 20), change('neighbour.changed', 20)],
    [
      'VLANs of a trunk more than its type',
      change('interface.changed', 20, { fields: ['taggedVlans'] }),
      change('interface.changed', 10, { fields: ['type'] }),
    ],
    [
      'a changed configuration most',
      change('trap', 20, { trapOid: CONFIGURED_TRAPS[0] ?? '' }),
      change('device.upgraded', 20),
    ],
  ])('%s', (_what, more, less) => {
    const first = likelyChanges([less, more], SUBJECT)[0]?.[0];
    expect(first).toBe(more);
    expect(likelyChanges([more, less], SUBJECT)[0]?.[0]).toBe(more);
  });

  it('leave out what came after, what is long ago, other traps and what says nothing of a cause', () => {
    expect(
      order([
        change('device.upgraded', -1),
        change('device.upgraded', LOOKED_BACK_MS / MINUTE + 1),
        change('trap', 5, { trapOid: '1.3.6.1.4.1.99999.0.1' }),
        change('device.merged', 5),
        change('device.upgraded', 5, { deviceId: null }),
      ]),
    ).toEqual([]);
  });

  it('say why', () => {
    const verdicts = likelyChanges(
      [
        change('interface.duplex', 4, { interfaceId: 'core/1', interface: 'Gi1/0/1' }),
        change('device.upgraded', 0, { deviceId: 'edge', device: 'edge-7' }),
      ],
      SUBJECT,
    ).map(([, verdict]) => verdict);
    expect(verdicts).toEqual([
      {
        place: 'port',
        likelihood: 73,
        reasons: ['duplex changed', 'on Gi1/0/1 of core-1, which the case is about', '4 min before'],
      },
      {
        place: 'neighbour',
        likelihood: 57,
        reasons: ['OS version changed', 'on edge-7, which has a link to it', 'less than a minute before'],
      },
    ]);
  });

  it('are told at most twenty, the likeliest first', () => {
    const kinds = fc.constantFrom(
      'device.new',
      'interface.changed',
      'device.upgraded',
      'neighbour.changed',
      'trap',
    );
    const any = fc.record({
      kind: kinds,
      minutes: fc.integer({ min: -5, max: 90 }),
      deviceId: fc.constantFrom('core', 'edge', null),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 60 }), (list) => {
        const told = likelyChanges(
          list.map(({ kind, minutes, deviceId }) => change(kind, minutes, { deviceId })),
          SUBJECT,
        ).map(([, { likelihood }]) => likelihood);
        expect(told.length).toBeLessThanOrEqual(20);
        expect(told).toEqual([...told].sort((a, b) => b - a));
        for (const each of told) expect(each).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

/** A case by a seed: one change that led to it, minutes before, among what changes in a network anyway. */
function outage(seed: number): { changes: Nearby[]; cause: Nearby } {
  const draw = fc.sample(
    fc.record({
      cause: fc.record({
        kind: fc.constantFrom(
          'device.upgraded',
          'device.swapped',
          'interface.duplex',
          'interface.shut',
          'interface.removed',
          'device.renumbered',
          'address.conflict',
          'trap',
        ),
        minutes: fc.integer({ min: 0, max: 30 }),
        deviceId: fc.constantFrom('core', 'core', 'core', 'edge'),
      }),
      noise: fc.array(
        fc.record({
          kind: fc.constantFrom(
            'device.new',
            'device.changed',
            'interface.added',
            'interface.changed',
            'neighbour.changed',
            'device.moved',
            'trap',
          ),
          minutes: fc.integer({ min: 0, max: 60 }),
          deviceId: fc.constantFrom('core', 'edge', 'edge', 'edge'),
          fields: fc.constantFrom([], ['alias'], ['location']),
        }),
        { minLength: 5, maxLength: 30 },
      ),
    }),
    { seed, numRuns: 1 },
  )[0];
  if (!draw) throw new Error('nothing drawn');
  const { kind, minutes, deviceId } = draw.cause;
  const cause = change(kind, minutes, {
    deviceId,
    ...(kind === 'trap' ? { trapOid: CONFIGURED_TRAPS[seed % CONFIGURED_TRAPS.length] ?? '' } : {}),
  });
  const noise = draw.noise.map(({ kind, minutes, ...more }) => change(kind, minutes, more));
  return { changes: [...noise, cause], cause };
}

it('the cause of 100 outages is among the first three in 95 of them', () => {
  const first = Array.from({ length: 100 }, (_, seed) => outage(seed)).filter(({ changes, cause }) =>
    likelyChanges(changes, SUBJECT)
      .slice(0, 3)
      .some(([each]) => each === cause),
  );
  expect(first.length).toBeGreaterThanOrEqual(95);
});
