/** Sessions with the agents that are watched, over one engine that is opened with the first of them. */
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Session } from '@rollcall/snmp/engine/session';
import type { Logger } from 'pino';
import type { SweepPace } from '../icmp/sweep.ts';
import type { SharedTools } from '../sweep/tools.ts';

/** How long an agent that is watched may take to answer one request. */
const SNMP_TIMEOUT_MS = 1500;
const SNMP_TRIES = 2;

export interface SessionsDeps {
  tools: Pick<SharedTools, 'snmp'>;
  pace: Pick<SweepPace, 'take'>;
  log: Logger;
  signal: AbortSignal;
}

export class Sessions {
  readonly #deps: SessionsDeps;
  #engine: SnmpEngine | null = null;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** Null where there is no socket; that is logged. */
  async with(target: { address: string; port: number }, credential: SnmpCredential): Promise<Session | null> {
    const { tools, pace, log, signal } = this.#deps;
    try {
      this.#engine ??= await tools.snmp();
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'no socket for SNMP; it is tried again');
      return null;
    }
    return new Session(this.#engine, target, credential, {
      timeoutMs: SNMP_TIMEOUT_MS,
      tries: SNMP_TRIES,
      signal,
      pace: { take: (count, to) => pace.take(count, to) },
    });
  }
}
