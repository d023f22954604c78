/** The states of scans and jobs and every way between them. Statements take their `WHERE status = ANY(…)` from here. */
import type { JobStatus, ScanStatus } from '@rollcall/shared/model';

type Moves<State extends string> = Readonly<Record<State, readonly State[]>>;

/** State → the states it may be entered from. */
export const JOB_MOVES: Moves<JobStatus> = {
  /** The lease ran out, or its holder no longer works on it. */
  queued: ['leased'],
  /** Claimed; or taken up again by its last holder after the lease had run out and before anybody else came. */
  leased: ['queued', 'deferred'],
  /** The collector could not do it now. From `queued`: it said so after its lease had run out. */
  deferred: ['leased', 'queued'],
  done: ['leased', 'queued'],
  /** The attempts are spent, or the collector cannot do it at all. */
  failed: ['leased', 'queued'],
  cancelled: ['queued', 'leased', 'deferred'],
};

export const SCAN_MOVES: Moves<ScanStatus> = {
  queued: [],
  /** The first job was claimed. */
  running: ['queued'],
  /** All jobs ended: all done, some, none. */
  completed: ['queued', 'running'],
  partial: ['queued', 'running'],
  failed: ['queued', 'running'],
  cancelled: ['queued', 'running'],
};

/** States that nothing leaves. */
const final = <State extends string>(moves: Moves<State>): State[] =>
  (Object.keys(moves) as State[]).filter(
    (state) => !Object.values<readonly State[]>(moves).flat().includes(state),
  );

export const JOB_ENDS: readonly JobStatus[] = final(JOB_MOVES);
export const SCAN_ENDS: readonly ScanStatus[] = final(SCAN_MOVES);
/** Scans that still have work. */
export const SCANS_OPEN: readonly ScanStatus[] = (Object.keys(SCAN_MOVES) as ScanStatus[]).filter(
  (state) => !SCAN_ENDS.includes(state),
);
