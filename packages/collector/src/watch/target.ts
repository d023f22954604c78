/** One watched device: what is due, what it last said, and what is reported of it. */
import type { WatchObservation } from '@rollcall/shared/observation';
import type { WatchTarget } from '@rollcall/shared/protocol';
import type { Session } from '@rollcall/snmp/engine/session';
import { phaseOf } from './due-queue.ts';
import { type Liveness, newLiveness } from './liveness.ts';
import { ALL_COLUMNS, type Columns } from './measure/columns.ts';
import { Counters } from './measure/counters.ts';
import { SensorState } from './measure/sensor-state.ts';
import { PingTally } from './measure/tally.ts';
import type { Pinged } from './pinger.ts';
import { Ports } from './ports.ts';
import type { Uptime } from './uptime.ts';

/** A device whose agent answers at another address for so long is there: after an outage ways return in any order. */
const STAYS_MS = 90_000;

export class Target {
  readonly deviceId: string;
  readonly address: string;
  readonly credentialId: string | undefined;
  elsewhere: WatchTarget['elsewhere'];
  /** Its forwarding and ARP tables are read. */
  hasTables: boolean;
  /** Where its agent is read: another of its addresses, while `address` is silent. */
  agentAddress: string;
  #agentSince = 0;
  /** It answered there for so long, and nowhere else, that it is reported to be there. */
  #isElsewhere = false;
  /** Null where the scope refuses the address. */
  readonly pinged: Pinged | null;
  readonly phase: number;
  /** Of its SNMP agent. */
  readonly agent: Liveness = newLiveness();
  /** Why the agent is down. */
  trouble: 'timeout' | 'auth-failed' = 'timeout';
  readonly ports = new Ports();
  /** What was told last of ports in spanning tree and aggregates, by ifIndex; at most as many as `ports`. */
  readonly portStates = new Map<number, string>();
  readonly counters = new Counters();
  /** Which counters its agent has. */
  columns: Columns = ALL_COLUMNS;
  readonly sensors = new SensorState();
  readonly tally = new PingTally();
  /** When its measurements were told last, monotonic milliseconds. */
  sampledAt = 0;
  /** How much longer than asked the time between two readings is, because its agent takes long to answer. */
  lagMs = 0;
  /** Whether readings get to the end of its interfaces. */
  readonly table: Liveness = newLiveness();
  uptime: Uptime | null = null;
  hasBoots = true;
  /** Readings so far, to take some more thoroughly than others. */
  readings = 0;
  summaries = 0;
  /** The reading that is under way. */
  reading: Promise<void> | null = null;
  /** Its agent at other addresses, asked beside the one it has: what is behind it must not be told before it is. */
  askedElsewhere: Promise<Session | undefined> | null = null;
  /** Its next reading, summary and report of pings; others in the queue are out of date. */
  readDue = 0;
  summaryDue = 0;
  sampleDue = 0;
  tablesDue = 0;
  /** A request for its tables that is under way. */
  asking: Promise<void> | null = null;
  gone = false;

  constructor({ deviceId, address, credentialId, elsewhere, tables }: WatchTarget, pinged: Pinged | null) {
    this.deviceId = deviceId;
    this.address = address;
    this.credentialId = credentialId;
    this.elsewhere = elsewhere;
    this.hasTables = tables === true;
    this.agentAddress = address;
    this.pinged = pinged;
    this.phase = phaseOf(deviceId);
  }

  /** As it was told. */
  get wanted(): WatchTarget {
    const { deviceId, address, credentialId, elsewhere } = this;
    return {
      ...{ deviceId, address },
      ...(credentialId === undefined ? {} : { credentialId }),
      ...(elsewhere === undefined ? {} : { elsewhere }),
      ...(this.hasTables ? { tables: true } : {}),
    };
  }

  /** Its agent is read there from now on. */
  readAt(address: string, now: number): void {
    this.agentAddress = address;
    this.#agentSince = now;
    this.#isElsewhere = false;
  }

  /** Its agent answers. @returns whether that proves by now, and did not before, that the device is elsewhere. */
  provesElsewhere(now: number): boolean {
    const already = this.#isElsewhere || this.agentAddress === this.address;
    if (already || !this.isSilent || now - this.#agentSince < STAYS_MS) return false;
    this.#isElsewhere = true;
    return true;
  }

  /** Its address is silent to ping. */
  get isSilent(): boolean {
    return this.pinged?.liveness.state === 'down';
  }

  /** Its measurements since the last summary, which begin anew. */
  summary(now: number): Partial<WatchObservation> {
    const { pinged, uptime } = this;
    const shown = {
      ...(pinged?.rttMs == null ? {} : { rttMs: Math.round(pinged.rttMs * 1000) / 1000 }),
      ...(pinged && pinged.sent > 0
        ? { lossPercent: Math.min(100, Math.round((pinged.lost / pinged.sent) * 1000) / 10) }
        : {}),
      ...(uptime && this.agent.missed === 0
        ? { sysUpTime: Math.round(uptime.ticks + (now - uptime.at) / 10) % 2 ** 32 }
        : {}),
    };
    if (pinged) [pinged.sent, pinged.lost] = [0, 0];
    return shown;
  }

  /** What is known of it, the same members in every report, so that each can be read alone. */
  report(at: number, more: Partial<WatchObservation> = {}): WatchObservation {
    const icmp = this.pinged?.liveness.state ?? 'unknown';
    const snmp = this.agent.state === 'up' ? 'ok' : this.agent.state === 'down' ? this.trouble : undefined;
    // Silence in the making: what the agent said before is no proof of life.
    const doubtful = snmp === 'ok' && this.agent.missed > 0;
    return {
      kind: 'watch',
      at,
      deviceId: this.deviceId,
      ...(icmp === 'unknown' ? {} : { icmp }),
      ...(snmp === undefined || doubtful ? {} : { snmp }),
      ...(snmp === 'ok' && !doubtful && this.#isElsewhere ? { address: this.agentAddress } : {}),
      ...more,
    };
  }
}
