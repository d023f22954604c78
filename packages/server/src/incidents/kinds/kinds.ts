/** Every kind of event. Adding a kind is adding a member to one of these tables. */

import { CHANGE_KINDS } from '@rollcall/shared/api/changes';
import { Severity } from '@rollcall/shared/model';
import { INVENTORY_KINDS } from './inventory.ts';
import type { EventKind } from './kind.ts';
import { MEASURED_KINDS } from './measured.ts';
import { SENSOR_EVENT_KINDS } from './sensors.ts';
import { SERVICE_KINDS } from './service.ts';
import { WATCH_KINDS } from './watch.ts';

export const KINDS = {
  ...WATCH_KINDS,
  ...MEASURED_KINDS,
  ...SENSOR_EVENT_KINDS,
  ...INVENTORY_KINDS,
  ...SERVICE_KINDS,
};

export type EventCode = keyof typeof KINDS;
export const kindOf = (code: EventCode): EventKind => KINDS[code];
/** Kinds that something else may explain; a collector's own troubles are not among them. */
export const isSuppressible = (code: EventCode): boolean => {
  const { explainable = false, suppressedBy = [] } = kindOf(code);
  return explainable || suppressedBy.length > 0;
};
/** Kinds that nothing clears: they say that something happened, not that it is so. */
export const NOTICES: readonly EventCode[] = (Object.keys(KINDS) as EventCode[]).filter(
  (code) => kindOf(code).clears === undefined,
);
/**
 * Notices that are closed when they are made: information without a state, which nobody has to end and which would hide
 * what is open.
 */
export const isClosedAtOnce = (code: EventCode): boolean => {
  const { clears, severity, cases, judged = false } = kindOf(code);
  return clears === undefined && severity === Severity.info && cases === 'none' && !judged;
};
const CHANGES: ReadonlySet<string> = new Set(CHANGE_KINDS);
/** Notices of which every occurrence is kept: `GET /api/changes` tells each. */
export const isChange = (code: EventCode): boolean => CHANGES.has(code) && kindOf(code).clears === undefined;
/** Occurrences of one outcome within `expiresMs` that are kept apart; the next ones count the last of them up. */
export const OCCURRENCES_MOST = 20;
export const isEventCode = (text: string): text is EventCode => Object.hasOwn(KINDS, text);
