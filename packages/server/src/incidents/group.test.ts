import { describe, expect, it } from 'vitest';
import { group, type Incoming, type OpenCase, type World } from './group.ts';

const event = (eventId: string, more: Partial<Incoming> = {}): Incoming => ({
  eventId,
  at: 1_000_000,
  message: `${eventId} happened`,
  deviceId: 'd1',
  rootId: null,
  formerCaseId: null,
  opens: true,
  ...more,
});
const open = (id: string, more: Partial<OpenCase> = {}): OpenCase => ({
  id,
  rootDeviceId: null,
  deviceIds: new Set(),
  siteLevel: false,
  begunAt: 900_000,
  ...more,
});
const place = (events: Incoming[], world: Partial<World> = {}) => {
  let ids = 0;
  const { placements, created } = group(events, {
    cases: [],
    links: new Map(),
    waiting: new Map(),
    shadows: new Map(),
    joiners: new Map(),
    grouping: { windowMs: 300_000, minimum: 1, reopenMs: 3_600_000 },
    newId: () => `n${++ids}`,
    ...world,
  });
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
    ['same device', [event('a')], { cases: [open('x', { deviceIds: new Set(['d1']) })] }, { a: 'x: device' }],
    [
      'its device is a root',
      [event('a')],
      { cases: [open('x', { rootDeviceId: 'd1' })] },
      { a: 'x: device' },
    ],
    [
      'behind a root',
      [event('a', { rootId: 'core' })],
      { cases: [open('x', { rootDeviceId: 'core' })] },
      { a: 'x: root' },
    ],
    [
      'linked, in the window',
      [event('a')],
      { cases: [open('x', { deviceIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'x: link' },
    ],
    [
      'linked, after the window locked',
      [event('a', { at: 1_300_000 })],
      { cases: [open('x', { deviceIds: new Set(['d2']) })], links: near('d1', 'd2') },
      { a: 'n1: new' },
    ],
    [
      'same device, long after',
      [event('a', { at: 99_000_000 })],
      { cases: [open('x', { deviceIds: new Set(['d1']) })] },
      { a: 'x: device' },
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
      'the newest of several that fit',
      [event('a')],
      { cases: [open('x', { deviceIds: new Set(['d1']) }), open('y', { deviceIds: new Set(['d1']) })] },
      { a: 'y: device' },
    ],
  ])('%s', (_name, events, world, expected) => {
    expect(place(events, world).placed).toEqual(expected);
  });

  it('takes in what its root explains and was found before it', () => {
    expect(
      place([event('core', { deviceId: 'core' })], { shadows: new Map([['core', ['a', 'b']]]) }).placed,
    ).toEqual({
      core: 'n1: new',
      a: 'n1: root',
      b: 'n1: root',
    });
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
