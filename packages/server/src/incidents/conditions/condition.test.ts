import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Condition,
  type Effect,
  FLAPPING_ONSETS,
  RECHECK_MS,
  type Signal,
  type Suppression,
  step,
  type Timing,
  WINDOW_MS,
} from './condition.ts';

const HOLD: Timing = {
  holdMs: 20_000,
  suppressible: true,
  explainable: true,
  blipsCount: true,
  recoveryMs: 90_000,
};
const AT_ONCE: Timing = { ...HOLD, holdMs: 0, suppressible: false, explainable: false };
const BY_CHANCE: Timing = { ...HOLD, blipsCount: false };
const ROOT = { id: 'core', name: 'core-1', told: true, late: false };

/** Plays signals; answers the last state and what was done, as short words. */
function play(timing: Timing, signals: (Signal<string> & { live?: boolean })[]) {
  let condition: Condition<string> | null = null;
  let ids = 0;
  const done: string[] = [];
  const names = new Map<string, string>();
  const word = (effect: Effect<string>) => {
    if (effect.type === 'raise') {
      names.set(effect.eventId, effect.as);
      return `raise ${effect.as}@${effect.at / 1000}${effect.root ? ` behind ${effect.root.name}` : ''}`;
    }
    return `${effect.type} ${names.get(effect.eventId)}@${effect.at / 1000}`;
  };
  for (const { live = true, ...signal } of signals) {
    const result: ReturnType<typeof step<string>> = step(
      condition,
      signal as Signal<string>,
      'device.down',
      timing,
      live,
      () => `e${++ids}`,
    );
    condition = result.next;
    done.push(...result.effects.map(word));
  }
  return {
    state: condition ? (condition as Condition<string>).state : null,
    done,
    condition: condition as Condition<string> | null,
  };
}
const on = (s: number): Signal<string> => ({ type: 'onset', at: s * 1000, opening: 'down' });
const off = (s: number, suppression: Suppression | null = null): Signal<string> => ({
  type: 'clear',
  at: s * 1000,
  suppression,
});
const due = (
  s: number,
  suppression: Extract<Signal, { type: 'due' }>['suppression'] = null,
): Signal<string> => ({
  type: 'due',
  at: s * 1000,
  suppression,
});

describe('a condition', () => {
  it.each<[string, Timing, (Signal<string> & { live?: boolean })[], string | null, string[]]>([
    ['without hold time is raised at once', AT_ONCE, [on(0)], 'raised', ['raise plain@0']],
    ['counts while it lasts', AT_ONCE, [on(0), on(5)], 'raised', ['raise plain@0', 'count plain@5']],
    ['clears', AT_ONCE, [on(0), off(9)], 'cleared', ['raise plain@0', 'close plain@9']],
    ['clear without onset is nothing', AT_ONCE, [off(0)], null, []],
    ['waits for its hold time', HOLD, [on(0)], 'held', []],
    ['is raised when it held, as of its onset', HOLD, [on(0), due(20)], 'raised', ['raise plain@0']],
    ['too short is no event', HOLD, [on(0), off(5)], 'cleared', []],
    [
      'told late but long enough is an event that is over',
      HOLD,
      [on(0), off(60)],
      'cleared',
      ['raise plain@0', 'close plain@60'],
    ],
    [
      'that held for just its hold time is one',
      HOLD,
      [on(0), off(20)],
      'cleared',
      ['raise plain@0', 'close plain@20'],
    ],
    ['too short at a later time is no event either', HOLD, [on(100), off(105)], 'cleared', []],
    [
      'of a kind that can be suppressed is looked at first',
      { ...AT_ONCE, suppressible: true },
      [on(0)],
      'held',
      [],
    ],
    ['of a kind that only waits, waits', { ...AT_ONCE, holdMs: 1 }, [on(0)], 'held', []],
    [
      'stays suppressed while another explains it',
      HOLD,
      [on(0), due(20, { by: 'path', root: ROOT }), due(30, { by: 'path', root: ROOT })],
      'suppressed',
      ['raise suppressed@0 behind core-1'],
    ],
    [
      'that comes back at the end of the window counts as again',
      AT_ONCE,
      [on(1000), off(1001), on(1601), off(1602), on(1603)],
      'flapping',
      ['raise plain@1000', 'close plain@1001', 'raise plain@1601', 'close plain@1602', 'raise flapping@1603'],
    ],
    [
      'that comes back after the window does not',
      AT_ONCE,
      [on(1000), off(1001), on(1601.1), off(1602), on(1603)],
      'raised',
      ['raise plain@1000', 'close plain@1001', 'raise plain@1601.1', 'close plain@1602', 'raise plain@1603'],
    ],
    [
      'waits while its device explains it',
      HOLD,
      [on(0), due(20, { by: 'same-device' }), due(30)],
      'raised',
      ['raise plain@0'],
    ],
    [
      'is never raised when what suppressed it outlived it',
      HOLD,
      [on(0), due(20, { by: 'same-device' }), off(60)],
      'cleared',
      [],
    ],
    [
      'behind another is raised as suppressed by it',
      HOLD,
      [on(0), due(20, { by: 'path', root: ROOT })],
      'suppressed',
      ['raise suppressed@0 behind core-1'],
    ],
    [
      'suppressed clears all the same',
      HOLD,
      [on(0), due(20, { by: 'path', root: ROOT }), off(60)],
      'cleared',
      ['raise suppressed@0 behind core-1', 'close suppressed@60'],
    ],
    [
      'no longer suppressed stands for itself when it had time to recover',
      HOLD,
      [on(0), due(20, { by: 'path', root: ROOT }), due(30, { by: 'path', root: ROOT }), due(119.9), due(120)],
      'raised',
      ['raise suppressed@0 behind core-1', 'close suppressed@120', 'raise plain@0'],
    ],
    [
      'recovers from when it was explained last, not from when its root had time as well',
      HOLD,
      [on(0), due(20, { by: 'path', root: ROOT }), due(100, { by: 'recovery' }), due(110)],
      'raised',
      ['raise suppressed@0 behind core-1', 'close suppressed@110', 'raise plain@0'],
    ],
    [
      'that was raised and proves to lie behind another is suppressed by it',
      HOLD,
      [on(0), due(20), due(30, { by: 'path', root: ROOT })],
      'suppressed',
      ['raise plain@0', 'close plain@30', 'raise suppressed@0 behind core-1'],
    ],
    [
      'that was raised long before another went down stands for itself',
      HOLD,
      [on(0), due(20), due(130, { by: 'path', root: { ...ROOT, late: true } })],
      'raised',
      ['raise plain@0'],
    ],
    [
      'that was raised waits until that other is told',
      HOLD,
      [on(0), due(20), due(30, { by: 'path', root: { ...ROOT, told: false } })],
      'raised',
      ['raise plain@0'],
    ],
    [
      'that was raised and closed by hand stays so',
      HOLD,
      [on(0), due(20), { ...due(30, { by: 'path', root: ROOT }), live: false }],
      'raised',
      ['raise plain@0'],
    ],
    [
      'closed by hand while it lasts is new at its next occurrence',
      AT_ONCE,
      [on(0), { ...on(5), live: false }],
      'raised',
      ['raise plain@0', 'raise plain@5'],
    ],
    [
      'that comes back in time is a new event',
      AT_ONCE,
      [on(0), off(1), on(60)],
      'raised',
      ['raise plain@0', 'close plain@1', 'raise plain@60'],
    ],
    [
      'that comes back late starts afresh',
      AT_ONCE,
      [on(0), off(1), on(700), off(701), on(1400)],
      'raised',
      ['raise plain@0', 'close plain@1', 'raise plain@700', 'close plain@701', 'raise plain@1400'],
    ],
    [
      'the third time is flapping',
      AT_ONCE,
      [on(0), off(1), on(2), off(3), on(4)],
      'flapping',
      ['raise plain@0', 'close plain@1', 'raise plain@2', 'close plain@3', 'raise flapping@4'],
    ],
    [
      'of blips below the hold time is flapping too',
      HOLD,
      [on(0), off(1), on(2), off(3), on(4), off(5)],
      'flapping',
      ['raise flapping@4'],
    ],
    [
      'of blips that chance makes is nothing, however often',
      BY_CHANCE,
      [on(0), off(1), on(2), off(3), on(4), off(5), on(6), due(26)],
      'raised',
      ['raise plain@6'],
    ],
    [
      'that held and was raised each time flaps, though its blips are chance',
      BY_CHANCE,
      [on(0), due(20), off(30), on(31), due(51), off(60), on(61), due(81)],
      'flapping',
      ['raise plain@0', 'close plain@30', 'raise plain@31', 'close plain@60', 'raise flapping@61'],
    ],
    [
      'that was raised twice does not flap by a blip of chance',
      BY_CHANCE,
      [on(0), due(20), off(30), on(31), due(51), off(60), on(61), off(62)],
      'cleared',
      ['raise plain@0', 'close plain@30', 'raise plain@31', 'close plain@60'],
    ],
    [
      'that held flaps also where nobody looked meanwhile',
      BY_CHANCE,
      [on(0), off(30), on(31), off(60), on(61), off(90)],
      'flapping',
      ['raise plain@0', 'close plain@30', 'raise plain@31', 'close plain@60', 'raise flapping@61'],
    ],
    [
      'that stays the third time is flapping when it held',
      HOLD,
      [on(0), off(1), on(2), off(3), on(4), due(24)],
      'flapping',
      ['raise flapping@4'],
    ],
    [
      'that flaps behind another does so only because of it',
      HOLD,
      [on(0), off(1), on(2), off(3), on(4), off(5, { by: 'path', root: ROOT }), on(6), off(7)],
      'flapping',
      ['raise flapping@6'],
    ],
    [
      'that flaps beside what may be down flaps',
      HOLD,
      [on(0), off(1, { by: 'doubt' }), on(2), off(3, { by: 'doubt' }), on(4), off(5, { by: 'doubt' })],
      'flapping',
      ['raise flapping@4'],
    ],
    [
      'that another explains is no time that counts',
      HOLD,
      [on(0), off(1), on(2), due(22, { by: 'path', root: ROOT }), off(30), on(31), off(32)],
      'cleared',
      ['raise suppressed@2 behind core-1', 'close suppressed@30'],
    ],
    [
      'flapping counts its onsets only',
      AT_ONCE,
      [on(0), off(1), on(2), off(3), on(4), off(5), on(6), on(6.5)],
      'flapping',
      [
        'raise plain@0',
        'close plain@1',
        'raise plain@2',
        'close plain@3',
        'raise flapping@4',
        'count flapping@6',
      ],
    ],
    [
      'flapping that kept still clear is over',
      AT_ONCE,
      [on(0), off(1), on(2), off(3), on(4), off(5), due(605)],
      null,
      [
        'raise plain@0',
        'close plain@1',
        'raise plain@2',
        'close plain@3',
        'raise flapping@4',
        'close flapping@605',
      ],
    ],
    [
      'flapping that kept still broken is what it is',
      AT_ONCE,
      [on(0), off(1), on(2), off(3), on(4), due(604)],
      'raised',
      [
        'raise plain@0',
        'close plain@1',
        'raise plain@2',
        'close plain@3',
        'raise flapping@4',
        'close flapping@604',
        'raise plain@4',
      ],
    ],
    [
      'is forgotten when it stayed away',
      AT_ONCE,
      [on(0), off(1), due(601)],
      null,
      ['raise plain@0', 'close plain@1'],
    ],
  ])('%s', (_name, timing, signals, state, done) => {
    const played = play(timing, signals);
    expect(played.done).toEqual(done);
    expect(played.state).toBe(state);
  });

  it('makes at most three events of a link that flaps a hundred times in ten minutes', () => {
    const signals = Array.from({ length: 100 }, (_, i) => [on(i * 6), off(i * 6 + 3)]).flat();
    const { done, condition } = play(AT_ONCE, signals);
    expect(done.filter((word) => word.startsWith('raise'))).toHaveLength(FLAPPING_ONSETS);
    expect(condition?.onsets).toBe(100);
  });

  it('never leaves an event open that nothing points at, whatever comes in whatever order', () => {
    const signal = fc.oneof(
      fc.record({ type: fc.constant('onset' as const), at: fc.integer({ min: 0, max: 5000 }) }),
      fc.record({ type: fc.constant('clear' as const), at: fc.integer({ min: 0, max: 5000 }) }),
      fc.record({
        type: fc.constant('due' as const),
        at: fc.integer({ min: 0, max: 5000 }),
        quiet: fc.integer({ min: 0, max: 3 }),
      }),
    );
    const SILENCES = [{ by: 'same-device' }, { by: 'path', root: ROOT }, { by: 'recovery' }] as const;
    fc.assert(
      fc.property(fc.array(signal, { maxLength: 60 }), fc.constantFrom(HOLD, AT_ONCE), (signals, timing) => {
        let condition: Condition<string> | null = null;
        let ids = 0;
        const open = new Set<string>();
        for (const s of signals) {
          const at = s.at * 1000;
          const as: Signal<string> =
            s.type === 'onset'
              ? { type: 'onset', at, opening: '' }
              : s.type === 'clear'
                ? { type: 'clear', at }
                : { type: 'due', at, suppression: SILENCES[s.quiet] ?? null };
          const result: ReturnType<typeof step<string>> = step(
            condition,
            as,
            'device.down',
            timing,
            true,
            () => `e${++ids}`,
          );
          for (const effect of result.effects) {
            if (effect.type === 'raise') open.add(effect.eventId);
            if (effect.type === 'close') expect(open.delete(effect.eventId)).toBe(true);
            if (effect.type === 'count') expect(open.has(effect.eventId)).toBe(true);
          }
          condition = result.next;
          expect([...open]).toEqual(condition?.eventId ? [condition.eventId] : []);
          if (condition?.state === 'cleared') expect(condition.present).toBe(false);
        }
      }),
    );
  });

  it('is looked at again until it is decided', () => {
    expect(play(HOLD, [on(0)]).condition?.dueAt).toBe(20_000);
    expect(play(HOLD, [on(0), due(20, { by: 'same-device' })]).condition?.dueAt).toBe(30_000);
    expect(play(HOLD, [on(0), due(20, { by: 'unsettled' })]).condition).toMatchObject({
      state: 'held',
      dueAt: 21_000,
    });
    expect(play({ ...HOLD, explainable: false }, [on(0), due(20)]).condition?.dueAt).toBeNull();
    // What another may explain, as long as it is open: the longer, the less often.
    expect(play(HOLD, [on(0), due(20)]).condition?.dueAt).toBe(20_000 + RECHECK_MS);
    expect(play(HOLD, [on(0), due(20), due(30)]).condition?.dueAt).toBe(40_000);
    expect(play(HOLD, [on(0), due(20), due(1000)]).condition?.dueAt).toBe(1_100_000);
    expect(play(AT_ONCE, [on(0), off(1)]).condition?.dueAt).toBe(1000 + WINDOW_MS);
    expect(play(AT_ONCE, [on(0), off(1), off(5)]).condition).toMatchObject({
      changedAt: 1000,
      dueAt: 1000 + WINDOW_MS,
    });
    const path = { by: 'path', root: ROOT } as const;
    expect(play(HOLD, [on(0), due(20, path)]).condition?.dueAt).toBe(20_000 + RECHECK_MS);
    expect(play(HOLD, [on(0), due(20, path), due(30, path)]).condition?.dueAt).toBe(30_000 + RECHECK_MS);
  });

  it('flapping waits a window from its last turn, then starts to count anew', () => {
    const flapping = [on(0), off(1), on(2), off(3), on(4)];
    expect(play(AT_ONCE, flapping).condition).toMatchObject({ changedAt: 4000, dueAt: 4000 + WINDOW_MS });
    expect(play(AT_ONCE, [...flapping, off(9)]).condition).toMatchObject({
      changedAt: 9000,
      dueAt: 9000 + WINDOW_MS,
    });
    expect(play(AT_ONCE, [...flapping, on(9)]).condition).toMatchObject({
      changedAt: 4000,
      dueAt: 4000 + WINDOW_MS,
    });
    expect(play(AT_ONCE, [...flapping, due(604)]).condition).toMatchObject({ state: 'raised', onsets: 1 });
  });
});
