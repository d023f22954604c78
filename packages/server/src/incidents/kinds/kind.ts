/**
 * What a kind of event declares: how bad, what opens it, what clears it, how long it must hold, what silences it, and
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
  /**
   * A notice closes when it has not happened again for this long. One that is closed when it is made (`isClosedAtOnce`)
   * counts up when it happens again within it.
   */
  expiresMs?: number;
  /** Not raised while the same device has one of these; it waits. */
  silencedBy?: readonly string[];
  /** Not raised while the device lies behind another that is down, by the links and networks that discovery found. */
  suppressed?: boolean;
  /** `opens` a case, only `joins` one that its device has, or `none`. */
  cases: 'opens' | 'joins' | 'none';
}

/** Keeps the names of the members, forgets the rest of their types. */
export const declare = <Code extends string>(
  kinds: Record<Code, EventKind>,
): Readonly<Record<Code, EventKind>> => kinds;

/** Milliseconds. */
export const DAY = 86_400_000;
type Sided = { before: unknown; after: unknown };
export const sides = ({ before, after }: Sided) => ({ before, after });
type OnDevice = { deviceId: string | null; deviceName: string };
/** A notice about a device, one for each distinct outcome. */
export const noted = (change: OnDevice & Sided, outcome: string, message: string): Opening => ({
  subject: `${change.deviceId}${outcome && `:${outcome}`}`,
  message,
  details: sides(change),
});
/** A condition of a device. */
export const of = (change: OnDevice & Sided, message: string): Opening => ({
  subject: String(change.deviceId),
  message,
  details: sides(change),
});
/** The subject of conditions of a device. */
export const device = (change: OnDevice): string => String(change.deviceId);
export const port = (
  change: ChangeOf<'interface.state' | 'interface.added' | 'interface.removed' | 'interface.changed'>,
) => `${change.ifName || change.interfaceId} of ${change.deviceName}`;
export const shown = (value: unknown): string =>
  value === null || value === undefined || value === '' ? 'none' : String(value);
