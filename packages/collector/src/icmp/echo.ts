/** The seam between a sweep and the ways a host allows it to ask "are you there?". */
import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import type { EngineName } from '../platform/engines.ts';

/** Highest attempt number that fits a request. */
export const MAX_ATTEMPTS = 15;

export interface EchoEvents {
  /** An address answered the request of that attempt (1 is the first); called once per answer, checked. */
  heard(index: number, rttMs: number, attempt: number): void;
  /** The request could not be sent, for a reason that asking again soon does not change (`ENETUNREACH`, …). */
  failed(index: number, code: string): void;
}

/** Why a datagram was not taken for an answer. */
export type WrongReason = 'short' | 'type' | 'id' | 'source' | 'sequence' | 'check';

export interface EchoCounts {
  sent: number;
  /** Requests that could not be sent, by error name. */
  failed: Record<string, number>;
  /** Datagrams that arrived, of any kind. */
  received: number;
  wrong: Record<WrongReason, number>;
  /** Datagrams that the receive buffer had no room for. */
  overflow: number;
}

export const noCounts = (): EchoCounts => ({
  sent: 0,
  failed: {},
  received: 0,
  wrong: { short: 0, type: 0, id: 0, source: 0, sequence: 0, check: 0 },
  overflow: 0,
});

/** One sweep's way out. Nothing here blocks or waits; the sweep decides when to come back. */
export interface Echo {
  readonly counts: EchoCounts;
  /** Most requests of one `send`: what surely fits the receive buffer when all are answered at once. */
  readonly batch: number;
  /**
   * Asks the addresses with these indexes, each for the time `attempts` says. Returns how many are dealt with (sent, or
   * reported `failed`); fewer than all means: not now, offer the rest again.
   */
  send(indexes: Uint32Array, attempts: Uint8Array): number;
  /** Reports what has arrived since. True when more is waiting: come back soon, but let others run first. */
  receive(): boolean;
  close(): void;
}

/** Opens an engine for the addresses of one space; throws an `EchoRefused` when the host no longer allows it. */
export type OpenEcho = (space: AddressSpace, events: EchoEvents, options?: EchoOptions) => Echo;

export interface EchoOptions {
  /** 16 random bytes that nobody on the network knows; made afresh when absent. */
  key?: Uint8Array;
  /** Time an engine that waits by itself (`ping`) gives one request, milliseconds. */
  timeoutMs?: number;
}

/** The host refuses an engine: the reason as the system names it, and what an administrator can do. */
export interface Refusal {
  engine: EngineName;
  family: Family;
  code: string;
  reason: string;
  remedy: string;
}

export class EchoRefused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`ICMP over IPv${refusal.family} by ${refusal.engine}: ${refusal.reason} (${refusal.code})`);
    this.name = 'EchoRefused';
    this.refusal = refusal;
  }
}
