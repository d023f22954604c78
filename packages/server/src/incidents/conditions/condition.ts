/**
 * The life of one condition, as a machine without clock or database.
 *
 *   state      onset                        clear                         due
 *   (none)     held, or raised              —                             —
 *   held       held                         cleared (too short: no event) raised; suppressed; or waits on
 *   suppressed suppressed, counted          cleared                       raised when nothing explains it any more,
 *                                                                         and it had time to recover
 *   raised     raised, counted              cleared                       —
 *   cleared    as none; flapping the third  —                             forgotten
 *              time within the window
 *   flapping   flapping, counted            flapping, counted             raised or forgotten: it kept still
 *
 * `held` waits for the kind's hold time and for what silences it. `suppressed`: another device that is down explains it,
 * and the event says so. Silence keeps an event from being raised, never from being cleared.
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
export type Silence =
  /** Its device is down, and an event says that already. */
  | { by: 'same-device' }
  /** Nobody looks at its site any more: what was seen last proves nothing. */
  | { by: 'collector' }
  | { by: 'path'; root: Root }
  /** What it lies behind came back a moment ago: it gets time to come back as well. */
  | { by: 'recovery' };
/** The device that explains another's silence. */
export interface Root {
  id: string;
  name: string;
  /** Where that needs saying: why the one lies behind the other; stands behind the name. */
  why?: string;
}

export type Signal<Body = unknown> =
  | { type: 'onset'; at: number; opening: Body }
  /** `silence`: what would have kept it from being raised, asked where nobody looked at it in time (`overlooked`). */
  | { type: 'clear'; at: number; silence?: Silence | null }
  | { type: 'due'; at: number; silence: Silence | null };

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
/** How often something silenced is looked at again. */
export const RECHECK_MS = 10_000;

export interface Timing {
  holdMs: number;
  /** It can be silenced or suppressed, so that it is looked at before it is raised. */
  silenceable: boolean;
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
      return condition ? due(condition, signal.at, signal.silence, newId) : { next: null, effects: [] };
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
  if (fresh.onsets >= FLAPPING_ONSETS)
    return raise({ ...fresh, dueAt: at + WINDOW_MS }, 'flapping', at, null, newId);
  if (timing.holdMs > 0 || timing.silenceable) return { next: fresh, effects: [] };
  return raise(fresh, 'plain', at, null, newId);
}

/** Held long enough but never looked at: observations came late, all at once. It was so, and is told so. */
export const overlooked = (
  { state, dueAt, since }: Pick<Condition, 'state' | 'dueAt' | 'since'>,
  at: number,
  { holdMs }: Timing,
): boolean => state === 'held' && dueAt === since + holdMs && at - since >= holdMs;

function clear<Body>(
  condition: Condition<Body>,
  { at, silence = null }: Extract<Signal<Body>, { type: 'clear' }>,
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
  if (condition.eventId !== null)
    return { next: cleared, effects: [{ type: 'close', eventId: condition.eventId, at }] };
  if (silence || !overlooked(condition, at, timing)) return { next: cleared, effects: [] };
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
  at: number,
  silence: Silence | null,
  newId: () => string,
): Step<Body> {
  switch (condition.state) {
    case 'held':
      if (silence?.by === 'path')
        return raise(condition, 'suppressed', condition.since, silence.root, newId, at);
      if (silence) return { next: { ...condition, dueAt: at + RECHECK_MS }, effects: [] };
      return raise(condition, 'plain', condition.since, null, newId);
    case 'suppressed': {
      if (silence) return { next: { ...condition, dueAt: at + RECHECK_MS }, effects: [] };
      const raised = raise(condition, 'plain', condition.since, null, newId);
      return condition.eventId === null
        ? raised
        : { ...raised, effects: [{ type: 'close', eventId: condition.eventId, at }, ...raised.effects] };
    }
    case 'flapping': {
      const close: Effect<Body>[] =
        condition.eventId === null ? [] : [{ type: 'close', eventId: condition.eventId, at }];
      if (!condition.present) return { next: null, effects: close };
      const raised = raise({ ...condition, onsets: 1 }, 'plain', condition.changedAt, null, newId);
      return { ...raised, effects: [...close, ...raised.effects] };
    }
    case 'cleared':
      return { next: null, effects: [] };
    case 'raised':
      return { next: { ...condition, dueAt: null }, effects: [] };
  }
}

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
