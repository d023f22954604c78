/**
 * What a kind of event declares: how bad, what opens it, what clears it, how long it must hold, what suppresses it, and
 * whether it makes a case.
 *
 * A kind that something clears is a condition: it is open while it is so. A kind that nothing clears is a notice: it
 * says that something happened, and closes by itself when it has not happened again for a while; information at once.
 */
import type { EventSource, Severity } from '@rollcall/shared/model';
import type { ChangeKind, ChangeOf } from '../../changes.ts';

/** An event about to be. */
export interface Opening {
  /** Whom it exists once for, within its kind: id of a device, interface, collector. */
  subject: string;
  /** One sentence. */
  message: string;
  /** What to show beside it. */
  details?: Readonly<Record<string, unknown>>;
  /** Where it differs from the kind's. */
  source?: EventSource;
  /** The interface it is about, where the change names none. */
  interfaceId?: string | null;
}

export interface EventKind {
  /** What it means, one sentence for people. */
  about: string;
  severity: Severity;
  source: EventSource;
  /** What opens it, or counts it up; null: not this time. */
  opens: { readonly [K in ChangeKind]?: (change: ChangeOf<K>) => Opening | null };
  /** What clears it, by its subject; null: not this time. Absent: a notice. */
  clears?: { readonly [K in ChangeKind]?: (change: ChangeOf<K>) => string | null };
  /** Information that a person is to judge: it stays open until it expires. */
  judged?: true;
  /** A condition becomes an event when it has held this long. */
  holdMs?: number;
  /** What does not hold so long is chance, however often it comes: it does not count for flapping. */
  blipsCount?: false;
  /** A notice closes when it has not happened again for this long. */
  expiresMs?: number;
  /**
   * Of a change: what is told again within this time happened once, because two ways tell it, or because it is told as long
   * as it is so. Absent: each telling is an occurrence.
   */
  sameWithinMs?: number;
  /** Not raised while the same device has one of these; it waits. */
  suppressedBy?: readonly string[];
  /** Not raised while the device lies behind another that is down, by the links and networks that discovery found. */
  explainable?: boolean;
  /** `opens` a case, only `joins` one that its device has, or `none`. */
  cases: 'opens' | 'joins' | 'none';
}

/** Keeps the names of the members, forgets the rest of their types. */
export const declare = <Code extends string>(
  kinds: Record<Code, EventKind>,
): Readonly<Record<Code, EventKind>> => kinds;

/** Milliseconds. */
export const DAY = 86_400_000;
/** IF-MIB ifAdminStatus. */
export const ADMIN_UP = 1;
export const ADMIN_DOWN = 2;
type Sided = { before: unknown; after: unknown };
export const beforeAndAfter = ({ before, after }: Sided) => ({ before, after });
type OnDevice = { deviceId: string | null; deviceName: string };
/** A notice about a device, one for each distinct outcome. */
export const notice = (change: OnDevice & Sided, outcome: string, message: string): Opening => ({
  subject: `${change.deviceId}${outcome && `:${outcome}`}`,
  message,
  details: beforeAndAfter(change),
});
/** A condition of a device. */
export const condition = (change: OnDevice & Sided, message: string): Opening => ({
  subject: String(change.deviceId),
  message,
  details: beforeAndAfter(change),
});
/** The subject of conditions of a device. */
export const deviceSubject = (change: OnDevice): string => String(change.deviceId);
export const portName = (
  change: ChangeOf<'interface.state' | 'interface.added' | 'interface.removed' | 'interface.changed'>,
) => `${change.ifName || change.interfaceId} of ${change.deviceName}`;
/** Settings of a port whose changes have kinds of their own, where both sides are known. */
type Negotiated = 'speedBps' | 'duplex';
type Value<Field extends Negotiated> = NonNullable<ChangeOf<'interface.changed'>['before'][Field]>;
const isKnown = (value: unknown): boolean => Boolean(value) && value !== 'unknown';

/** One of them before and after; null where it did not change, or a side is not known. */
export function negotiated<Field extends Negotiated>(
  { before, after }: ChangeOf<'interface.changed'>,
  field: Field,
): readonly [Value<Field>, Value<Field>] | null {
  const [was, is] = [before[field], after[field]];
  return isKnown(was) && isKnown(is) ? [was as Value<Field>, is as Value<Field>] : null;
}

/** What an interface's change holds beside those. */
export function otherSettings(change: ChangeOf<'interface.changed'>) {
  const own = (['speedBps', 'duplex'] as const).filter((field) => negotiated(change, field) !== null);
  const rest = (side: object) =>
    Object.fromEntries(Object.entries(side).filter(([field]) => !(own as string[]).includes(field)));
  return { before: rest(change.before), after: rest(change.after) };
}

export const orNone = (value: unknown): string =>
  value === null || value === undefined || value === '' ? 'none' : String(value);
