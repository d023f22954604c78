/** What one transaction will write about events, put together in memory so that each table takes one statement. */
import { EventStatus } from '@rollcall/shared/model';
import { type EventCode, isChange, isClosedAtOnce, kindOf, OCCURRENCES_MOST } from '../kinds/kinds.ts';
import type { Condition, Effect, Root } from './condition.ts';
import { dedupKey, type EventBody } from './signals.ts';

export interface FreshEvent {
  id: string;
  key: string;
  code: EventCode;
  body: EventBody;
  count: number;
  firstSeen: number;
  timestamp: number;
  /** Closed again within the same transaction. */
  closedAt: number | null;
  closeReason: 'cleared' | 'noted' | null;
  root: Root | null;
  /** The condition it is the event of; null for a notice. */
  conditionKey: string | null;
  /** The case that the same trouble was in last. */
  formerCaseId: string | null;
  /** The stored event that it takes the place of: the same trouble, told otherwise. Its acknowledgement stays. */
  replaces: string | null;
}

/** A condition with what the database adds to it. */
export interface StoredCondition extends Condition<EventBody> {
  caseId: string | null;
}

export class Ledger {
  readonly fresh = new Map<string, FreshEvent>();
  /** Stored events that happened again. */
  readonly counts = new Map<string, { n: number; at: number }>();
  /** Stored events that are over. */
  readonly closes = new Map<string, number>();
  /** Conditions as they will be; null: forgotten. */
  readonly conditions = new Map<string, StoredCondition | null>();
  /** Occurrences of changes that are over, beside the live event that later ones count up. */
  readonly occurrences: FreshEvent[] = [];
  readonly #notices = new Map<string, FreshEvent>();
  /** How many occurrences are kept apart, by key. */
  readonly #apart = new Map<string, number>();

  /** A notice: counted up where the same one is live. Of a change each occurrence is kept, up to a bound. */
  notice(id: string, key: string, code: EventCode, at: number, body: EventBody): void {
    const known = this.#notices.get(key);
    const apart = this.#apart.get(key) ?? 1;
    const again = known !== undefined && apart < OCCURRENCES_MOST && isAnother(code, known.timestamp, at);
    if (again) this.#apart.set(key, apart + 1);
    if (known && !(again && isClosedAtOnce(code))) {
      if (again) this.occurrences.push(occurrence(id, known, known.timestamp));
      known.count += 1;
      known.timestamp = Math.max(known.timestamp, at);
      known.body = body;
      return;
    }
    const event = isClosedAtOnce(code)
      ? occurrence(id, { key, code, body }, at)
      : fresh({ id, key, code, body, at, conditionKey: null });
    this.#notices.set(key, event);
    this.fresh.set(id, event);
  }

  /** `own`: the event of the condition until now. */
  apply(
    key: string,
    { caseId, own }: { caseId: string | null; own: string | null },
    effect: Effect<EventBody>,
  ): void {
    if (effect.type === 'raise') this.#raise(key, { caseId, own }, effect);
    else if (effect.type === 'count') this.#count(effect.eventId, effect.at);
    else this.#close(effect.eventId, effect.at);
  }

  #raise(
    key: string,
    { caseId, own }: { caseId: string | null; own: string | null },
    effect: Extract<Effect<EventBody>, { type: 'raise' }>,
  ): void {
    const { code, body } = disguise(key, effect);
    const [, subject = key] = splitKey(key);
    const eventKey = effect.as === 'plain' ? key : dedupKey(code, effect.as === 'flapping' ? key : subject);
    this.fresh.set(effect.eventId, {
      ...fresh({ id: effect.eventId, key: eventKey, code, body, at: effect.at, conditionKey: key }),
      root: effect.root,
      formerCaseId: caseId,
      replaces: own !== null && this.closes.has(own) ? own : null,
    });
  }

  #count(id: string, at: number): void {
    const event = this.fresh.get(id);
    if (event) {
      event.count += 1;
      event.timestamp = Math.max(event.timestamp, at);
      return;
    }
    const known = this.counts.get(id) ?? { n: 0, at };
    this.counts.set(id, { n: known.n + 1, at: Math.max(known.at, at) });
  }

  #close(id: string, at: number): void {
    const event = this.fresh.get(id);
    if (event) Object.assign(event, { closedAt: Math.max(at, event.firstSeen), closeReason: 'cleared' });
    else this.closes.set(id, at);
  }
}

/** Whether what is told of a change at two times happened twice. */
export const isAnother = (code: EventCode, one: number, other: number): boolean =>
  isChange(code) && Math.abs(one - other) > (kindOf(code).sameWithinMs ?? 0);

/** One occurrence of what an event tells, closed when it is made. */
export const occurrence = (
  id: string,
  { key, code, body }: Pick<FreshEvent, 'key' | 'code' | 'body'>,
  at: number,
): FreshEvent => ({
  ...fresh({ id, key, code, body, at, conditionKey: null }),
  ...{ closedAt: at, closeReason: 'noted' },
});

const fresh = (
  event: Pick<FreshEvent, 'id' | 'key' | 'code' | 'body' | 'conditionKey'> & { at: number },
): FreshEvent => ({
  id: event.id,
  key: event.key,
  code: event.code,
  body: event.body,
  count: 1,
  firstSeen: event.at,
  timestamp: event.at,
  closedAt: null,
  closeReason: null,
  root: null,
  conditionKey: event.conditionKey,
  formerCaseId: null,
  replaces: null,
});

const splitKey = (key: string): [string, string] => {
  const colon = key.indexOf(':');
  return [key.slice(0, colon), key.slice(colon + 1)];
};

/** The kind and text an event is raised under: its own, or that of what it is suppressed by or a flapping of. */
function disguise(
  key: string,
  { as, opening, root }: Extract<Effect<EventBody>, { type: 'raise' }>,
): { code: EventCode; body: EventBody } {
  const [own] = splitKey(key);
  if (as === 'flapping')
    return {
      code: 'flapping',
      body: { ...opening, message: `Flapping: ${opening.message}`, details: { ...opening.details, of: own } },
    };
  if (as === 'suppressed') {
    const { severity, source } = kindOf('device.unreachable');
    const message = `${opening.deviceName} is unreachable behind ${root?.name ?? 'another device'}${root?.why ?? ''}`;
    const details = { ...opening.details, rootDeviceId: root?.id ?? null };
    return { code: 'device.unreachable', body: { ...opening, severity, source, message, details } };
  }
  return { code: own as EventCode, body: opening };
}

export const statusOf = (event: FreshEvent): EventStatus =>
  event.closedAt === null ? EventStatus.open : EventStatus.closed;
