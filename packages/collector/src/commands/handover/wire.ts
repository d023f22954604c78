/**
 * How a command and the collector that runs on its host speak, over a UNIX socket: a line of JSON asks for a sweep,
 * whatever comes after it asks for its end; lines of JSON answer. Types only: the command must start fast.
 */

/** A sweep, and where its answers are shown. */
export interface SweepRequest {
  /** The words behind `sweep`. */
  argv: string[];
  /** ROLLCALL_…, where credentials may stand. */
  env: Record<string, string>;
  /** Columns of each terminal; null where it is none. */
  out: number | null;
  err: number | null;
}

/** The sweep begins · it is for the command itself · text for standard output or error · the exit code. */
export type SweepAnswer =
  | { taken: true }
  | { alone: true }
  | { out: string }
  | { err: string }
  | { code: number };
