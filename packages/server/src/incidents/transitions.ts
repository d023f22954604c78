/** The states of events and cases, and every move between them. Pure. */
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import { Problem } from '../platform/problem.ts';

const nameOf = (names: Readonly<Record<string, number>>, code: number): string =>
  Object.keys(names).find((name) => names[name] === code) ?? String(code);
export const eventStatusName = (status: number): string => nameOf(EventStatus, status);
export const caseStatusName = (status: number): string => nameOf(CaseStatus, status);

const { open, acknowledged, closed } = EventStatus;
/**
 * By hand, or (to closed) by the opposite observation. One that was acknowledged until it gets worse is open again by
 * itself when it does (events/worsening.ts). A closed event never reopens.
 */
const EVENT_MOVES: Readonly<Record<number, readonly number[]>> = {
  [open]: [acknowledged, closed],
  [acknowledged]: [closed],
  [closed]: [],
};

/** By an operator. Steps may be skipped forwards; closed is final. */
const CASE_MOVES: Readonly<Record<number, readonly number[]>> = {
  [CaseStatus.open]: [CaseStatus.investigating, CaseStatus.resolved, CaseStatus.closed],
  [CaseStatus.investigating]: [CaseStatus.resolved, CaseStatus.closed],
  [CaseStatus.resolved]: [CaseStatus.investigating, CaseStatus.closed],
  [CaseStatus.closed]: [],
};

const forbidden = (what: string, from: string, to: string): Problem =>
  new Problem(
    'conflict',
    from === to ? `the ${what} is ${from} already` : `the ${what} is ${from}: it cannot become ${to}`,
  );

/** @throws Problem `conflict` naming both states where there is no such move. */
export function moveEvent(from: number, to: number): void {
  if (!EVENT_MOVES[from]?.includes(to)) throw forbidden('event', eventStatusName(from), eventStatusName(to));
}

/** Statuses of events that may become `to`. */
export const eventsThatMayBecome = (to: number): number[] =>
  Object.values(EventStatus).filter((from) => EVENT_MOVES[from]?.includes(to));

/** @throws Problem `conflict` naming both states where there is no such move. */
export function moveCase(from: number, to: number): void {
  if (!CASE_MOVES[from]?.includes(to)) throw forbidden('case', caseStatusName(from), caseStatusName(to));
}

/** What the events of a case say of it. */
export interface CaseFacts {
  status: number;
  severity: number;
  /** Somebody set the status by hand: it no longer resolves by itself. */
  manualStatus: boolean;
  /** Whether it has events, whether one of them is not closed, and the worst severity of those. */
  events: boolean;
  live: boolean;
  worst: number | null;
  /** The same of those that something clears: a notice keeps no case open that is about more than notices. */
  conditions: boolean;
  liveConditions: boolean;
}
export type CaseAfterEvents = {
  status: number;
  severity: number;
  reason: 'none' | 'all-clear' | 'event-returned';
};

/** What a case becomes by itself when its events changed. `joined`: an event came to it just now. */
export function caseAfterEvents(facts: CaseFacts, joined: boolean): CaseAfterEvents {
  const severity = facts.worst ?? facts.severity;
  const live = facts.conditions ? facts.liveConditions : facts.live;
  if (joined && live && facts.status === CaseStatus.resolved)
    return { status: CaseStatus.investigating, severity, reason: 'event-returned' };
  const over = facts.events && !live && facts.status < CaseStatus.resolved;
  if (over && !facts.manualStatus) return { status: CaseStatus.resolved, severity, reason: 'all-clear' };
  return { status: facts.status, severity, reason: 'none' };
}
