import { describe, expect, it } from 'vitest';
import { group } from './group.ts';
import type { Incoming, OpenCase, World } from './match.ts';

const event = (eventId: string, more: Partial<Incoming> = {}): Incoming => ({
  eventId,
  at: 1_000_000,
  message: `${eventId} happened`,
  deviceId: 'd1',
  rootId: null,
  formerCaseId: null,
  opens: true,
  down: false,
  interfaceId: null,
  peer: null,
  ...more,
});
const open = (id: string, more: Partial<OpenCase> = {}): OpenCase => ({
  id,
  rootDeviceId: null,
  deviceIds: new Set(),
  downIds: new Set(),
  rootWasDown: false,
  siteLevel: false,
  begunAt: 900_000,
  taken: false,
  resolvedAt: null,
  ...more,
});
const EMPTY: World = {
  cases: [],
  links: new Map(),
  waiting: new Map(),
  suppressed: new Map(),
  joiners: new Map(),
  causes: new Map(),
  farEnds: new Map(),
  sessions: new Map(),
  outage: { devices: new Set(), cases: new Map(), roots: new Set() },
  roots: new Map(),
  grouping: { windowMs: 300_000, minimum: 1, reopenMs: 3_600_000 },
  newId: () => 'n',
};
const place = (events: Incoming[], world: Partial<World> = {}) => {
  let ids = 0;
  const { placements, created } = group(events, { ...EMPTY, newId: () => `n${++ids}`, ...world });
  return {
    placed: Object.fromEntries(placements.map((p) => [p.eventId, `${p.caseId}: ${p.reason}`])),
    created: created.map((c) => [c.id, c.rootDeviceId, c.title, ...c.waiting]),
  };
};
const near = (a: string, b: string) =>
  new Map([
    [a, new Set([b])],
    [b, new Set([a])],
  ]);

describe('grouping', () => {
  it.each<[string, Incoming[], Partial<World>, Record<string, string>]>([
    [
      'nothing fits: a new case',
      [event('a')],
      { cases: [open('x', { deviceIds: new Set(['d9']) })] },
      { a: 'n1: new' },
    ],
    [
      'same trouble again',
      [event('a', { formerCaseId: 'x' })],
      { cases: [open('x')] },
      { a: 'x: recurrence' },
    ],
    [
      'same trouble again, of a case that is resolved and was about it',
      [event('a', { formerCaseId: 'x' })],
      { cases: [open('x', { rootDeviceId: 'd1', resolvedAt: 1 })] },
      { a: 'x: recurrence' },
    ],
    [
      'same trouble again, but the case that is resolved was about something else',
      [event('a', { formerCaseId: 'x' })],
      { cases: [open('x', { rootDeviceId: 'd9', deviceIds: new Set(['d1']), resolvedAt: 1 })] },
      { a: 'n1: new' },
    ],
    [
      'a port that was in a case of its own, resolved by now, and leads to what another case says is down',
      [event('a', { formerCaseId: 'x', interfaceId: 'p' })],
      {
        cases: [
          open('y', { rootDeviceId: 'd2', downIds: new Set(['d2']) }),
          open('x', { rootDeviceId: 'd1', resolvedAt: 1 }),
        ],
        farEnds: new Map([['a', new Set(['d2'])]]),
      },
      { a: 'y: far-end' },
    ],
    [
      'the other end of a session that a case is about, two readings after',
      [event('a', { at: 1_500_000 })],
      {
        cases: [open('x', { rootDeviceId: 'd2' })],
        sessions: new Map([
          ['a', new Set(['d1 d2'])],
          ['x', new Set(['d0 d2', 'd1 d2'])],
        ]),
      },
      { a: 'x: far-end' },
    ],
    [
      'the other end of one that has been down for long: new trouble',
      [event('a', { at: 1_500_001 })],
      {
        cases: [open('x', { rootDeviceId: 'd2' })],
        sessions: new Map([
          ['a', new Set(['d1 d2'])],
          ['x', new Set(['d1 d2'])],
        ]),
      },
      { a: 'n1: new' },
    ],
    [
      'the other end of one of two that made a case',
      [event('a'), event('b'), event('c', { deviceId: 'd2' })],
      {
        grouping: { windowMs: 300_000, minimum: 2, reopenMs: 3_600_000 },
        sessions: new Map([
          ['a', new Set(['d1 d2'])],
          ['b', new Set(['d1 d3'])],
          ['c', new Set(['d1 d2'])],
        ]),
      },
      { a: 'null: too-few', b: 'n1: new', c: 'n1: far-end' },
    ],
    [
      'a session with another device, and one that is back',
      [event('a'), event('b', { deviceId: 'd3' })],
      {
        cases: [open('x', { rootDeviceId: 'd2' }), open('y', { rootDeviceId: 'd4', resolvedAt: 1 })],
        sessions: new Map([
          ['a', new Set(['d1 d9'])],
          ['b', new Set(['d3 d4'])],
          ['x', new Set(['d1 d2'])],
          ['y', new Set(['d3 d4'])],
        ]),
      },
      { a: 'n1: new', b: 'n2: new' },
    ],
    [
      'both ends at once, and one more session of a case that they joined',
      [event('a'), event('b', { deviceId: 'd2' }), event('c', { deviceId: 'd3' })],
      {
        sessions: new Map([
          ['a', new Set(['d1 d2'])],
          ['b', new Set(['d1 d2', 'd2 d3'])],
          ['c', new Set(['d2 d3'])],
        ]),
      },
      { a: 'n1: new', b: 'n1: far-end', c: 'n1: far-end' },
    ],
    [
      'other trouble of the device that the case is about',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd1' })] },
      { a: 'x: device' },
    ],
    [
      'other trouble of it, but the case is resolved',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd1', resolvedAt: 990_000 })] },
      { a: 'n1: new' },
    ],
    [
      'other trouble of it that set in before the case was resolved',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd1', resolvedAt: 1_000_000 })] },
      { a: 'x: device' },
    ],
    [
      'a device that was down before the case of the port that leads to it was resolved',
      [event('a', { down: true })],
      {
        cases: [open('x', { rootDeviceId: 'd2', resolvedAt: 1_000_000 })],
        farEnds: new Map([['x', new Set(['d1'])]]),
      },
      { a: 'x: cause' },
    ],
    [
      'a device that was down after the case of the port that leads to it was resolved',
      [event('a', { down: true })],
      {
        cases: [open('x', { rootDeviceId: 'd2', resolvedAt: 999_999 })],
        farEnds: new Map([['x', new Set(['d1'])]]),
      },
      { a: 'n1: new' },
    ],
    [
      'other trouble of a device that only is in the case',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd9', deviceIds: new Set(['d1']) })] },
      { a: 'n1: new' },
    ],
    [
      'what only joins goes to a case that was resolved a moment ago',
      [event('a', { opens: false })],
      { cases: [open('x', { rootDeviceId: 'd9', deviceIds: new Set(['d1']), resolvedAt: 900_000 })] },
      { a: 'x: device' },
    ],
    [
      'what only joins does not go to one that was resolved before',
      [event('a', { opens: false })],
      { cases: [open('x', { rootDeviceId: 'd1', resolvedAt: 899_999 })] },
      { a: 'null: joins-only' },
    ],
    [
      'a port that leads to what the case says is down',
      [event('a', { interfaceId: 'p' })],
      {
        cases: [open('x', { rootDeviceId: 'd2', downIds: new Set(['d2']), begunAt: 1 })],
        farEnds: new Map([['a', new Set(['d2'])]]),
      },
      { a: 'x: far-end' },
    ],
    [
      'the other end of the cable that the case is about',
      [event('a', { interfaceId: 'p' })],
      {
        cases: [open('x', { rootDeviceId: 'd2', deviceIds: new Set(['d2']) })],
        farEnds: new Map([
          ['a', new Set(['d2'])],
          ['x', new Set(['d1'])],
        ]),
      },
      { a: 'x: far-end' },
    ],
    [
      'another port of the device at the far end of the cable that the case is about',
      [event('a', { interfaceId: 'p' })],
      {
        cases: [open('x', { rootDeviceId: 'd2', deviceIds: new Set(['d2']) })],
        farEnds: new Map([
          ['a', new Set(['d9'])],
          ['x', new Set(['d1'])],
        ]),
      },
      { a: 'n1: new' },
    ],
    [
      'behind a root',
      [event('a', { rootId: 'core' })],
      { cases: [open('x', { rootDeviceId: 'core' })] },
      { a: 'x: root' },
    ],
    [
      'down beside one that is down, in the window',
      [event('a', { down: true })],
      { cases: [open('x', { downIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'x: link' },
    ],
    [
      'down beside one that has another trouble',
      [event('a', { down: true })],
      { cases: [open('x', { deviceIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'n1: new' },
    ],
    [
      'linked, after the window locked',
      [event('a', { at: 1_300_000, down: true })],
      { cases: [open('x', { downIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'n1: new' },
    ],
    [
      'same device, long after',
      [event('a', { at: 99_000_000 })],
      { cases: [open('x', { rootDeviceId: 'd1' })] },
      { a: 'n1: new' },
    ],
    [
      'two unrelated in the same minute',
      [event('a'), event('b', { deviceId: 'd2' })],
      {},
      { a: 'n1: new', b: 'n2: new' },
    ],
    [
      'two of the site in the same minute',
      [event('a', { deviceId: null }), event('b', { deviceId: null })],
      {},
      { a: 'n1: new', b: 'n1: site' },
    ],
    [
      'of the site, but the case is of devices',
      [event('a', { deviceId: null })],
      { cases: [open('x')] },
      { a: 'n1: new' },
    ],
    [
      'nothing of the site is up: one outage, whatever links are known',
      [event('a', { down: true }), event('b', { down: true, deviceId: 'd2' })],
      { outage: { devices: new Set(['d1', 'd2']), cases: new Map(), roots: new Set() } },
      { a: 'n1: new', b: 'n1: outage' },
    ],
    [
      'an outage that is in a case already, whatever trouble the device had before',
      [event('a', { down: true })],
      {
        cases: [open('x', { begunAt: 1 }), open('y', { deviceIds: new Set(['d1']) })],
        outage: { devices: new Set(['d1', 'd9']), cases: new Map([['x', 990_000]]), roots: new Set() },
      },
      { a: 'x: outage' },
    ],
    [
      'an outage of the site is not of what one device had before',
      [event('a', { down: true })],
      {
        cases: [open('y', { rootDeviceId: 'd1', deviceIds: new Set(['d1']) })],
        outage: { devices: new Set(['d1', 'd9']), cases: new Map(), roots: new Set() },
      },
      { a: 'n1: new' },
    ],
    [
      'the rest of the site long after the first of it',
      [event('a', { down: true })],
      {
        cases: [open('x', { begunAt: 1 })],
        outage: { devices: new Set(['d1', 'd9']), cases: new Map([['x', 1]]), roots: new Set() },
      },
      { a: 'n1: new' },
    ],
    [
      'behind a root whose trouble is in another case than its own was in last',
      [event('a', { rootId: 'core', formerCaseId: 'x' })],
      { cases: [open('x', { rootDeviceId: 'core' }), open('y')], roots: new Map([['core', 'y']]) },
      { a: 'y: root' },
    ],
    [
      'behind a root that the same batch places elsewhere',
      [
        event('a', { deviceId: 'd2', rootId: 'core', formerCaseId: 'x', opens: false }),
        event('core', { deviceId: 'core', down: true }),
      ],
      { cases: [open('x', { rootDeviceId: 'd9' })], roots: new Map([['core', null]]) },
      { core: 'n1: new', a: 'n1: root' },
    ],
    [
      'behind a root that is about to be told',
      [event('a', { rootId: 'core', formerCaseId: 'x', opens: false })],
      { cases: [open('x')], roots: new Map([['core', null]]) },
      { a: 'null: awaits-root' },
    ],
    [
      'behind a root that is told in this batch, and makes no case',
      [
        event('a', { deviceId: 'd2', rootId: 'core', formerCaseId: 'x', opens: false }),
        event('core', { deviceId: 'core', down: true }),
      ],
      {
        cases: [open('x')],
        roots: new Map([['core', null]]),
        grouping: { windowMs: 300_000, minimum: 2, reopenMs: 3_600_000 },
      },
      { core: 'null: too-few', a: 'x: recurrence' },
    ],
    [
      'behind a root whose case is closed',
      [event('a', { rootId: 'core', formerCaseId: 'x' })],
      { cases: [open('x')], roots: new Map([['core', 'closed']]) },
      { a: 'x: recurrence' },
    ],
    ['one that only joins', [event('a', { opens: false })], {}, { a: 'null: joins-only' }],
    [
      'one that joins what the same batch opens',
      [event('a', { opens: false }), event('b')],
      {},
      { b: 'n1: new', a: 'n1: device' },
    ],
    [
      'the root comes last in time, and first in order',
      [
        event('a', { deviceId: 'd2', rootId: 'core', at: 1, opens: false }),
        event('core', { deviceId: 'core', at: 2 }),
      ],
      {},
      { core: 'n1: new', a: 'n1: root' },
    ],
    [
      'down beside one that joined the case a moment before',
      [event('a', { at: 1_000_000, down: true }), event('b', { at: 1_000_001, deviceId: 'd3', down: true })],
      {
        cases: [open('x', { downIds: new Set(['d2']) })],
        links: new Map([
          ['d1', new Set(['d2'])],
          ['d3', new Set(['d1'])],
        ]),
      },
      { a: 'x: link', b: 'x: link' },
    ],
    [
      'down beside one that joined the case with another trouble',
      [event('a'), event('b', { deviceId: 'd2', down: true })],
      { cases: [open('x', { rootDeviceId: 'd1' })], links: near('d1', 'd2') },
      { a: 'x: device', b: 'n1: new' },
    ],
    [
      'down beside one whose trouble just made a case, but which is not down',
      [event('a', { at: 1 }), event('b', { at: 2, deviceId: 'd2', down: true })],
      { links: near('d1', 'd2') },
      { a: 'n1: new', b: 'n2: new' },
    ],
    [
      'the cause of what a case says is down since a moment ago',
      [event('a', { at: 1_000_000, down: true }), event('core', { at: 1_000_001, deviceId: 'core' })],
      {
        cases: [open('x', { rootDeviceId: 'd1', begunAt: 950_000 })],
        causes: new Map([['d1', 'core']]),
      },
      { a: 'x: device', core: 'x: cause' },
    ],
    [
      'the cause of two that each made a case a moment before: the first of them takes the second',
      [
        event('a', { at: 1, down: true }),
        event('b', { at: 2, deviceId: 'd2', down: true }),
        event('core', { at: 3, deviceId: 'core' }),
      ],
      {
        causes: new Map([
          ['d1', 'core'],
          ['d2', 'core'],
        ]),
      },
      { a: 'n1: new', b: 'n1: new', core: 'n1: cause' },
    ],
    [
      'the cause of a device whose case of a moment before does not say that it is down',
      [event('a', { at: 1 }), event('core', { at: 2, deviceId: 'core' })],
      { causes: new Map([['d1', 'core']]) },
      { a: 'n1: new', core: 'n2: new' },
    ],
    [
      'linked, at the very end of the window',
      [event('a', { at: 1_200_000, down: true })],
      { cases: [open('x', { downIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'x: link' },
    ],
    [
      'nothing of the site is up, just in time for the case of that',
      [event('a', { down: true })],
      {
        cases: [open('x')],
        outage: { devices: new Set(['d1']), cases: new Map([['x', 900_000]]), roots: new Set() },
      },
      { a: 'x: outage' },
    ],
    [
      'nothing of the site is up, but it does not say that its device is down',
      [event('a')],
      {
        cases: [open('x')],
        outage: { devices: new Set(['d1']), cases: new Map([['x', 1_000_000]]), roots: new Set() },
      },
      { a: 'n1: new' },
    ],
    [
      'a device that is down for itself begins no outage',
      [event('a', { at: 1, down: true }), event('b', { at: 2, deviceId: 'd2', down: true })],
      { outage: { devices: new Set(['d2']), cases: new Map(), roots: new Set() } },
      { a: 'n1: new', b: 'n2: new' },
    ],
    [
      'an outage of the site is not of what one beside the device had before',
      [event('a', { down: true })],
      {
        cases: [open('x', { downIds: new Set(['d2']) })],
        links: near('d1', 'd2'),
        outage: { devices: new Set(['d1']), cases: new Map(), roots: new Set() },
      },
      { a: 'n1: new' },
    ],
    [
      'of an outage, but the same trouble again',
      [event('a', { down: true, formerCaseId: 'x' })],
      { cases: [open('x')], outage: { devices: new Set(['d1']), cases: new Map(), roots: new Set() } },
      { a: 'x: recurrence' },
    ],
    [
      'waits while its root is not told',
      [event('a', { rootId: 'core' })],
      { roots: new Map([['core', null]]) },
      { a: 'null: awaits-root' },
    ],
    [
      'goes on waiting where its root has another event',
      [event('core', { deviceId: 'core' }), event('a', { rootId: 'core' })],
      { roots: new Map([['core', null]]) },
      { core: 'n1: new', a: 'null: awaits-root' },
    ],
    [
      'waits no longer when its root is told',
      [event('core', { deviceId: 'core', down: true }), event('a', { rootId: 'core' })],
      { roots: new Map([['core', null]]) },
      { core: 'n1: new', a: 'n1: root' },
    ],
    [
      'waits no longer when its root is told without a case',
      [event('core', { deviceId: 'core', down: true, opens: false }), event('a', { rootId: 'core' })],
      { roots: new Map([['core', null]]) },
      { core: 'null: joins-only', a: 'n1: new' },
    ],
    [
      'of the site, long after',
      [event('a', { deviceId: null, at: 9_000_000 })],
      { cases: [open('x', { siteLevel: true })] },
      { a: 'n1: new' },
    ],
    [
      'of a device, but the case is of the site',
      [event('a')],
      { cases: [open('x', { siteLevel: true })] },
      { a: 'n1: new' },
    ],
    [
      'the newest of several that fit',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd1' }), open('y', { rootDeviceId: 'd1' })] },
      { a: 'y: device' },
    ],
  ])('%s', (_name, events, world, expected) => {
    expect(place(events, world).placed).toEqual(expected);
  });

  const grouped = (events: Incoming[], more: Partial<World> = {}) => group(events, { ...EMPTY, ...more });

  it('says whether a device is new to its case', () => {
    const cases = [open('x', { rootDeviceId: 'd1', deviceIds: new Set(['d1']), siteLevel: true })];
    const newTo = (...events: Incoming[]) =>
      grouped(events, { cases }).placements.map(({ newDevice }) => newDevice);
    expect(newTo(event('a'))).toEqual([false]);
    expect(newTo(event('a', { deviceId: null }))).toEqual([false]);
    const back = { formerCaseId: 'x', deviceId: 'd2' };
    expect(newTo(event('a', back), event('b', back))).toEqual([true, false]);
    expect(newTo(event('a', { deviceId: 'd3' }))).toEqual([true]);
  });

  it('opens a case for the earliest of what belongs together, with what just happened before it', () => {
    const events = [
      event('late', { at: 2000, deviceId: 'd2', down: true }),
      event('early', { at: 1000, down: true }),
    ];
    const { created } = grouped(events, { links: near('d1', 'd2'), joiners: new Map([['d1', ['j']]]) });
    expect(created).toEqual([
      { id: 'n', rootDeviceId: 'd1', begunAt: 1000, title: 'early happened', waiting: ['j'] },
    ]);
  });

  it('takes in what its root explains and was found before it', () => {
    expect(
      place([event('core', { deviceId: 'core' })], { suppressed: new Map([['core', ['a', 'b']]]) }).placed,
    ).toEqual({
      core: 'n1: new',
      a: 'n1: root',
      b: 'n1: root',
    });
  });

  it.each<[string, boolean, number, string[]]>([
    ['is about a device that is down', true, 1, ['core', 'core happened']],
    ['is not about a device that has another trouble', false, 2, []],
  ])('a case about a port %s at its far end', (_, down, cases, root) => {
    const port = event('port', { deviceId: 'd2', interfaceId: 'i', at: 999_000 });
    const core = event('core', { deviceId: 'core', down });
    const { rerooted, created } = group([core, port], {
      ...EMPTY,
      links: near('core', 'd2'),
      farEnds: new Map([['port', new Set(['core'])]]),
    });
    expect(created).toHaveLength(cases);
    expect(rerooted.flatMap((each) => [each.rootDeviceId, each.title])).toEqual(root);
  });

  it('a root that is recognised later takes over the cases of what it explains, the oldest first', () => {
    const taken = (more: Partial<OpenCase> = {}, at = 1_000_000) => {
      const { placements, rerooted, merged, created } = grouped([event('core', { deviceId: 'core', at })], {
        cases: ['x', 'y', 'z'].map((id) =>
          open(id, { rootDeviceId: `leaf-${id}`, rootWasDown: true, ...(id === 'y' && more) }),
        ),
        causes: new Map([
          ['leaf-x', 'core'],
          ['leaf-y', 'core'],
          ['leaf-z', 'another'],
        ]),
      });
      return {
        into: placements.map(({ caseId, reason }) => `${caseId}: ${reason}`),
        rerooted,
        merged: [...merged],
        opened: created.length,
      };
    };
    const rerooted = [{ id: 'x', rootDeviceId: 'core', title: 'core happened' }];
    expect(taken()).toEqual({ into: ['x: cause'], rerooted, merged: [['y', 'x']], opened: 0 });
    // One that somebody works on stays his.
    expect(taken({ taken: true })).toEqual({ into: ['x: cause'], rerooted, merged: [], opened: 0 });
    // One of an agent that hung while its device was reached has another cause.
    expect(taken({ rootWasDown: false })).toEqual({ into: ['x: cause'], rerooted, merged: [], opened: 0 });
    // Long after, it explains nothing of before.
    expect(taken({}, 9_000_000)).toEqual({ into: ['n: new'], rerooted: [], merged: [], opened: 1 });
  });

  it('what proves to lie behind a root takes its case along, unless that began with earlier trouble', () => {
    const merged = (begunAt: number) => [
      ...grouped([event('a', { rootId: 'core', formerCaseId: 'x', opens: false })], {
        cases: [open('x', { rootDeviceId: 'd1', begunAt }), open('y', { rootDeviceId: 'core' })],
        roots: new Map([['core', 'y']]),
      }).merged,
    ];
    expect(merged(990_000)).toEqual([['x', 'y']]);
    expect(merged(800_000)).toEqual([]);
  });

  it('an outage is about the device that others lie behind, whichever was told first', () => {
    const events = [
      event('host', { at: 1000, down: true }),
      event('core', { at: 2000, deviceId: 'core', down: true }),
    ];
    const rerootedBy = (...roots: string[]) =>
      grouped(events, {
        outage: { devices: new Set(['d1', 'core']), cases: new Map(), roots: new Set(roots) },
      }).rerooted.map(({ rootDeviceId }) => rootDeviceId);
    expect(rerootedBy('core')).toEqual(['core']);
    expect(rerootedBy()).toEqual([]);
    expect(rerootedBy('d1', 'core')).toEqual([]);
  });

  it('waits for as many open events as the site wants, then takes them all', () => {
    const grouping = { windowMs: 300_000, minimum: 3, reopenMs: 3_600_000 };
    expect(place([event('c')], { grouping, waiting: new Map([['d1', ['a']]]) })).toEqual({
      placed: { c: 'null: too-few' },
      created: [],
    });
    expect(place([event('c')], { grouping, waiting: new Map([['d1', ['a', 'b']]]) })).toEqual({
      placed: { c: 'n1: new' },
      created: [['n1', 'd1', 'c happened', 'a', 'b']],
    });
    expect(place([event('a'), event('b'), event('c')], { grouping }).created).toEqual([
      ['n1', 'd1', 'c happened', 'a', 'b'],
    ]);
  });
});
