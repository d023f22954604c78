/** Changes into what they mean for events: onsets and clears of conditions, and notices. Pure. */
import type { EventSource, Severity } from '@rollcall/shared/model';
import type { Change, ChangeKind } from '../../changes.ts';
import type { EventKind, Opening } from '../kinds/kind.ts';
import { type EventCode, isEventCode, KINDS } from '../kinds/kinds.ts';

/** An event as it would be raised, ready to be stored. */
export interface EventBody {
  message: string;
  severity: Severity;
  source: EventSource;
  deviceId: string | null;
  deviceName: string;
  interfaceId: string | null;
  collectorId: string | null;
  details: Readonly<Record<string, unknown>>;
}

export type SiteSignal =
  | { type: 'onset'; key: string; code: EventCode; at: number; opening: EventBody }
  | { type: 'clear'; key: string; code: EventCode; at: number }
  | { type: 'notice'; key: string; code: EventCode; at: number; opening: EventBody };

export const dedupKey = (code: EventCode, subject: string): string => `${code}:${subject}`;

/** Change kind → the event kinds it may open or clear. */
const LISTENERS: ReadonlyMap<ChangeKind, EventCode[]> = (() => {
  const listeners = new Map<ChangeKind, EventCode[]>();
  for (const code of Object.keys(KINDS).filter(isEventCode)) {
    const kind: EventKind = KINDS[code];
    for (const change of new Set([
      ...Object.keys(kind.opens),
      ...Object.keys(kind.clears ?? {}),
    ] as ChangeKind[]))
      listeners.set(change, [...(listeners.get(change) ?? []), code]);
  }
  return listeners;
})();

/** What one change means, clears first: what turns from one trouble into another ends the first. */
export function signalsOf(change: Change): SiteSignal[] {
  const clears: SiteSignal[] = [];
  const opens: SiteSignal[] = [];
  for (const code of LISTENERS.get(change.kind) ?? []) {
    const kind: EventKind = KINDS[code];
    const subject = ask(kind.clears?.[change.kind], change);
    if (subject !== null) clears.push({ type: 'clear', key: dedupKey(code, subject), code, at: change.at });
    const opening = ask(kind.opens[change.kind], change);
    if (opening === null) continue;
    const type = kind.clears ? 'onset' : 'notice';
    opens.push({
      type,
      key: dedupKey(code, opening.subject),
      code,
      at: change.at,
      opening: bodyOf(kind, opening, change),
    });
  }
  return [...clears, ...opens];
}

/** The table's functions are indexed by the kind of change they take; that they fit is checked where it is declared. */
const ask = <Answer>(
  decide: ((change: never) => Answer | null) | undefined,
  change: Change,
): Answer | null => (decide ? decide(change as never) : null);

function bodyOf(kind: EventKind, opening: Opening, change: Change): EventBody {
  const about = 'deviceName' in change ? change : null;
  return {
    message: opening.message.slice(0, 1000),
    severity: kind.severity,
    source: opening.source ?? kind.source,
    deviceId: about?.deviceId ?? null,
    deviceName: about?.deviceName ?? '',
    interfaceId: opening.interfaceId ?? about?.interfaceId ?? null,
    collectorId: 'collectorId' in change ? change.collectorId : null,
    details: opening.details ?? {},
  };
}
