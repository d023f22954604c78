/** What a sweep is given, works with and answers. */
import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Clock } from '@rollcall/shared/clock';
import type { OutcomeCode } from '@rollcall/shared/model';
import type { Observation } from '@rollcall/shared/observation';
import type { ProfileSettings } from '@rollcall/shared/profile';
import type { Ruleset } from '@rollcall/shared/protocol';
import type { Attempts } from '@rollcall/snmp/discover';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { OpenEcho } from '../icmp/echo.ts';
import type { SweepPace } from '../icmp/sweep.ts';
import type { DeviceFact, Subject } from '../walk/inventory.ts';
import type { CrashQuarantine } from './crash-quarantine.ts';
import type { AddressNames, NameOf } from './names.ts';

/** What is to be swept, and how. */
export interface SweepTask {
  space: AddressSpace;
  /** Addresses that are not visited: finished before, or excluded. */
  skip: (index: number) => boolean;
  profile: ProfileSettings;
  credentials: readonly SnmpCredential[];
  /** Id of the credential that worked last time at an address. */
  known: (address: string) => string | undefined;
  /** Extra OIDs that the rules want read. */
  extra: Ruleset['extra'];
  job?: string;
}

/** What a sweep works with; shared by the sweeps of a collector. */
export interface SweepTools {
  clock: Clock;
  echo: OpenEcho;
  /** Opened when first needed. */
  snmp: () => Promise<SnmpEngine>;
  inventory: (subject: Subject) => Promise<DeviceFact[]>;
  pace: SweepPace;
  attempts: Attempts;
  /** Absent where no process comes after this one. */
  quarantine?: CrashQuarantine;
  macOf: (address: string) => string | undefined;
  /** The router towards an address, where it does not answer on its link. */
  routerSilentTowards: (address: string) => string | undefined;
  /** Reverse DNS, within bounded time. */
  nameOf: NameOf;
  /** Names of the addresses in ARP tables. */
  names: () => Promise<Pick<AddressNames, 'look'>>;
}

/** Where the results go. `observe` and `outcome` are called in order: facts of an address before its outcome. */
export interface SweepReport {
  observe(observation: Observation): void;
  outcome(index: number, code: OutcomeCode, note?: string): void;
  /** The collector failed at an address in a way that it should not. */
  fault(address: string, error: unknown): void;
  /** A promise while the receiver has enough to do; nothing new is read meanwhile. */
  ready(): Promise<void> | undefined;
}

export interface SweepEnd {
  /** `deferred`: could not be done now, for a reason that may pass. */
  result: 'done' | 'aborted' | 'deferred';
  reason?: string;
}
