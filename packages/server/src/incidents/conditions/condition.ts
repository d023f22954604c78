/**
 * The life of one condition, as a machine without clock or database.
 *
 *   state      onset                        clear                         due
 *   (none)     held, or raised              —                             —
 *   held       held                         cleared (too short: no event) raised; suppressed; or waits on
 *   suppressed suppressed, counted          cleared                       raised when nothing has explained it for so
 *                                                                         long that it had time to recover
 *   raised     raised, counted              cleared                       suppressed when another device proves to
 *                                                                         explain it
 *   cleared    as none                      —                             forgotten
 *   flapping   flapping, counted            flapping, counted             raised or forgotten: it kept still
 *
 * `held` waits for the kind's hold time and for what suppresses it; the third time within the window it is raised as
 * flapping, also where it clears first. `suppressed`: another device that is down explains it, and the event says so.
 * Suppression keeps an event from being raised, never from being cleared.
 */
import type { EventCode } from '../kinds/kinds.ts';

export type ConditionState = 'held' | 'suppressed' | 'raised' | 'cleared' | 'flapping';

export interface Condition<Body = unknown> {
  kind: EventCode;
  state: ConditionState;
  /** Wrong right now, as far as was observed. */
  present: boolean;
  /** The live event, while suppressed, raised or flapping. */
  eventId: string | null;
  /** Times it set in, each within the window of the last. */
  onsets: number;
  /** When it last set in, Unix milliseconds. */
  since: number;
  /** When it last changed. */
  changedAt: number;
  /** When something is to be decided without an observation. */
  dueAt: number | null;
  /** The event as it would be raised. */
  opening: Body;
}

/** What keeps a condition from being raised right now. */
export type Suppression =
  /** Its device is down, and an event says that already. */
  | { by: 'same-device' }
  /** Nobody looks at its site any more: what was seen last proves nothing. */
  | { by: 'collector' }
  | { by: 'path'; root: Root }
  /** The port leads to a device that is down, which is about to be told. */
  | { by: 'far-end' }
  /** A subinterface: its port is down. */
  | { by: 'parent' }
  /** What is beside it answered last before it went down: that is about to be known. */
  | { by: 'doubt' }
  /** Its collector has not heard all others since: what it lies behind may be about to be found down. */
  | { by: 'unsettled' }
  /** What it lies behind came back a moment ago: it gets time to come back as well. */
  | { by: 'recovery' };
/** The device that explains another's suppression. */
export interface Root {
  id: string;
  name: string;
  /** An event says so. */
  told: boolean;
  /** It was found down so much later than the other that this one went down for another reason. */
  late: boolean;
  /** Where that needs saying: why the one lies behind the other; stands behind the name. */
  why?: string;
}

export type Signal<Body = unknown> =
  | { type: 'onset'; at: number; opening: Body }
  /** `suppression`: what would have kept it from being raised, asked where that matters (`isSuppressionAsked`). */
  | { type: 'clear'; at: number; suppression?: Suppression | null }
  | { type: 'due'; at: number; suppression: Suppression | null };

/** How an event is raised: as what it is, as suppressed by another device, or as one that comes and goes. */
export type Raising = 'plain' | 'suppressed' | 'flapping';
export type Effect<Body = unknown> =
  | { type: 'raise'; eventId: string; as: Raising; at: number; opening: Body; root: Root | null }
  | { type: 'count'; eventId: string; at: number }
  | { type: 'close'; eventId: string; at: number };

export interface Step<Body> {
  /** Null: nothing is remembered of it. */
  next: Condition<Body> | null;
  effects: Effect<Body>[];
}

/** What returns within this time is the same trouble. */
export const WINDOW_MS = 600_000;
/** The onset within the window from which on it is flapping. */
export const FLAPPING_ONSETS = 3;
/** How often something suppressed is looked at again. */
export const RECHECK_MS = 10_000;
/** How often is looked whether a collector has heard all others: seconds after the hold, where it is not on time. */
export const SETTLING_MS = 1_000;
/** What is open long is looked at again after this part of its age: the longer it lasts, the less is news. */
const RECHECK_AGE = 0.1;
/** A subinterface that its port explains is looked at again after this long at the latest: the port may be back. */
const PARENT_RECHECK_MOST_MS = 600_000;
/**
 * A device that went down so much later than another is not why that one is down. One whose agent alone is asked, once a
 * minute, is found down so late; one that is pinged sooner.
 */
export const LATE_ROOT_MS = 100_000;

export interface Timing {
  holdMs: number;
  /** It can be suppressed, so that it is looked at before it is raised. */
  suppressible: boolean;
  /** Another device may explain it, also after it was raised. */
  explainable: boolean;
  /** Times too short to be raised count for flapping, and the third within the window is raised as that. */
  blipsCount: boolean;
  /** What lay behind a device has this long to come back after it. */
  recoveryMs: number;
}

/** One signal to one condition. `live`: its event was not closed by hand. `newId` names events. */
export function step<Body>(
  condition: Condition<Body> | null,
  signal: Signal<Body>,
  kind: EventCode,
  timing: Timing,
  live: boolean,
  newId: () => string,
): Step<Body> {
  switch (signal.type) {
    case 'onset':
      return onset(condition, signal, kind, timing, live, newId);
    case 'clear':
      return condition ? clear(condition, signal, timing, newId) : { next: null, effects: [] };
    case 'due':
      return condition ? due(condition, signal, timing, live, newId) : { next: null, effects: [] };
  }
}

function onset<Body>(
  condition: Condition<Body> | null,
  { at, opening }: Extract<Signal<Body>, { type: 'onset' }>,
  kind: EventCode,
  timing: Timing,
  live: boolean,
  newId: () => string,
): Step<Body> {
  if (condition && condition.state !== 'cleared') {
    if (condition.state === 'flapping') return flap(condition, at, true, opening);
    const again = { ...condition, opening };
    if (condition.eventId === null) return { next: again, effects: [] };
    // Closed by hand while it was still so: what happens now is new.
    if (!live) return raise({ ...again, since: at, changedAt: at }, 'plain', at, null, newId);
    return { next: again, effects: [{ type: 'count', eventId: condition.eventId, at }] };
  }
  const recent = condition !== null && at - condition.changedAt <= WINDOW_MS;
  const fresh: Condition<Body> = {
    kind,
    state: 'held',
    present: true,
    eventId: null,
    onsets: recent ? condition.onsets + 1 : 1,
    since: at,
    changedAt: at,
    dueAt: at + timing.holdMs,
    opening,
  };
  if (timing.suppressible || (timing.holdMs > 0 && !(timing.blipsCount && flaps(fresh))))
    return { next: fresh, effects: [] };
  return raiseOwn(fresh, at, at, newId);
}

const flaps = ({ onsets }: Pick<Condition, 'onsets'>): boolean => onsets >= FLAPPING_ONSETS;

/** Raised for its own sake: as what it is, or as flapping. */
const raiseOwn = <Body>(
  condition: Condition<Body>,
  since: number,
  now: number,
  newId: () => string,
): Step<Body> =>
  flaps(condition)
    ? raise({ ...condition, dueAt: now + WINDOW_MS }, 'flapping', since, null, newId)
    : raise(condition, 'plain', since, null, newId, now);

/** Held long enough but never looked at: observations came late, all at once. It was so, and is told so. */
const overlooked = (
  { state, dueAt, since }: Pick<Condition, 'state' | 'dueAt' | 'since'>,
  at: number,
  { holdMs }: Pick<Timing, 'holdMs'>,
): boolean => state === 'held' && dueAt === since + holdMs && at - since >= holdMs;

/** Whether it is to be raised although it clears now, unless something explains it. */
const undecided = (
  condition: Pick<Condition, 'state' | 'dueAt' | 'since' | 'onsets'>,
  at: number,
  timing: Timing,
): boolean =>
  condition.state === 'held' &&
  ((timing.blipsCount && flaps(condition)) || overlooked(condition, at, timing));

/** Whether what suppresses it must be known where it clears: to decide, or because it was looked at and kept silent. */
export const isSuppressionAsked = (
  condition: Pick<Condition, 'state' | 'dueAt' | 'since' | 'onsets'>,
  at: number,
  timing: Timing,
): boolean =>
  undecided(condition, at, timing) ||
  (condition.state === 'held' && condition.dueAt !== condition.since + timing.holdMs);

function clear<Body>(
  condition: Condition<Body>,
  { at, suppression = null }: Extract<Signal<Body>, { type: 'clear' }>,
  timing: Timing,
  newId: () => string,
): Step<Body> {
  if (condition.state === 'cleared') return { next: condition, effects: [] };
  if (condition.state === 'flapping') return flap(condition, at, false, condition.opening);
  const cleared: Condition<Body> = {
    ...condition,
    state: 'cleared',
    present: false,
    eventId: null,
    changedAt: at,
    dueAt: at + WINDOW_MS,
  };
  // What another device explained says nothing of its own. Doubt explains nothing: that another is down was not found.
  const explained = suppression !== null && suppression.by !== 'doubt';
  const blip = condition.eventId === null && !undecided(condition, at, timing);
  if (condition.state === 'suppressed' || explained || (blip && !timing.blipsCount))
    cleared.onsets = Math.max(0, condition.onsets - 1);
  if (condition.eventId !== null)
    return { next: cleared, effects: [{ type: 'close', eventId: condition.eventId, at }] };
  if (explained || !undecided(condition, at, timing)) return { next: cleared, effects: [] };
  if (flaps(condition))
    return raiseOwn({ ...condition, present: false, changedAt: at }, condition.since, at, newId);
  const eventId = newId();
  const { since, opening } = condition;
  return {
    next: cleared,
    effects: [
      { type: 'raise', eventId, as: 'plain', at: since, opening, root: null },
      { type: 'close', eventId, at },
    ],
  };
}

function due<Body>(
  condition: Condition<Body>,
  { at, suppression }: Extract<Signal<Body>, { type: 'due' }>,
  timing: Timing,
  live: boolean,
  newId: () => string,
): Step<Body> {
  const own = condition.eventId;
  const close: Effect<Body>[] = own === null ? [] : [{ type: 'close', eventId: own, at }];
  const later = { ...condition, dueAt: at + RECHECK_MS };
  switch (condition.state) {
    case 'held':
      if (suppression?.by === 'path')
        return raise(
          { ...condition, changedAt: at },
          'suppressed',
          condition.since,
          suppression.root,
          newId,
          at,
        );
      if (suppression?.by === 'unsettled')
        return { next: { ...condition, dueAt: at + SETTLING_MS }, effects: [] };
      // A port may stay shut for months.
      if (suppression?.by === 'parent')
        return {
          next: { ...condition, dueAt: at + Math.min(PARENT_RECHECK_MOST_MS, ageOf(condition, at)) },
          effects: [],
        };
      if (suppression) return { next: later, effects: [] };
      return lookedAtAgain(raiseOwn(condition, condition.since, at, newId), timing, at);
    case 'suppressed': {
      // When it was explained last stands in `changedAt`.
      if (suppression)
        return { next: suppression.by === 'recovery' ? later : { ...later, changedAt: at }, effects: [] };
      if (at < condition.changedAt + timing.recoveryMs) return { next: later, effects: [] };
      const raised = lookedAtAgain(raise(condition, 'plain', condition.since, null, newId, at), timing, at);
      return { ...raised, effects: [...close, ...raised.effects] };
    }
    case 'raised': {
      const age = ageOf(condition, at);
      if (!timing.explainable || !live) return { next: { ...condition, dueAt: null }, effects: [] };
      // Until the root is told, its case is not there to be joined.
      if (suppression?.by !== 'path' || !suppression.root.told || suppression.root.late)
        return { next: { ...condition, dueAt: at + age }, effects: [] };
      const now = { ...condition, changedAt: at };
      const suppressed = raise(now, 'suppressed', condition.since, suppression.root, newId, at);
      return { ...suppressed, effects: [...close, ...suppressed.effects] };
    }
    case 'flapping': {
      if (!condition.present) return { next: null, effects: close };
      const raised = raise({ ...condition, onsets: 1 }, 'plain', condition.changedAt, null, newId);
      return { ...raised, effects: [...close, ...raised.effects] };
    }
    case 'cleared':
      return { next: null, effects: [] };
  }
}

/** The longer something lasts, the more seldom it is looked at again. */
const ageOf = ({ since }: { since: number }, at: number): number =>
  Math.max(RECHECK_MS, (at - since) * RECHECK_AGE);

/** Of what another device may explain, that may prove after it was raised. */
const lookedAtAgain = <Body>(
  { next, effects }: Step<Body>,
  { explainable }: Timing,
  at: number,
): Step<Body> => ({
  next: next?.state === 'raised' && explainable ? { ...next, dueAt: at + RECHECK_MS } : next,
  effects,
});

/** Every change counts, and starts the time again that it has to keep still. */
function flap<Body>(condition: Condition<Body>, at: number, present: boolean, opening: Body): Step<Body> {
  const changed = condition.present !== present;
  return {
    next: {
      ...condition,
      present,
      opening,
      onsets: condition.onsets + (changed && present ? 1 : 0),
      changedAt: changed ? at : condition.changedAt,
      dueAt: changed ? at + WINDOW_MS : condition.dueAt,
    },
    effects:
      changed && present && condition.eventId !== null
        ? [{ type: 'count', eventId: condition.eventId, at }]
        : [],
  };
}

function raise<Body>(
  condition: Condition<Body>,
  as: Raising,
  at: number,
  root: Root | null,
  newId: () => string,
  now: number = at,
): Step<Body> {
  const eventId = newId();
  const dueAt = { plain: null, suppressed: now + RECHECK_MS, flapping: condition.dueAt }[as];
  return {
    next: { ...condition, state: as === 'plain' ? 'raised' : as, eventId, dueAt },
    effects: [{ type: 'raise', eventId, as, at, opening: condition.opening, root }],
  };
}
