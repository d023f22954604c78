/** The SNMP half of a sweep: who has an agent, which of them are one device, and the inventory of each. */
import { type OutcomeCode, SNMP_PORT } from '@rollcall/shared/model';
import type { HostObservation } from '@rollcall/shared/observation';
import type { ProfileSettings } from '@rollcall/shared/profile';
import { discover, type Found } from '@rollcall/snmp/discover';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { explain, type Failure } from '@rollcall/snmp/engine/failure';
import { Session } from '@rollcall/snmp/engine/session';
import pLimit from 'p-limit';
import type { SweepPace } from '../icmp/sweep.ts';
import type { DeviceFact } from '../walk/inventory.ts';
import { Aliases, fingerprintOf } from './aliases.ts';
import type { Candidates } from './candidates.ts';
import { AdaptiveConcurrency } from './concurrency.ts';
import type { Hosts } from './hosts.ts';
import type { SweepReport, SweepTask, SweepTools } from './task.ts';

/** How often the number of agents read at once is judged. */
const JUDGE_MS = 100;

export interface AgentsDeps {
  task: SweepTask;
  settings: NonNullable<ProfileSettings['snmp']>;
  tools: SweepTools;
  report: SweepReport;
  signal: AbortSignal;
  pace: SweepPace;
  hosts: Hosts;
  /** Ends an address at which something answered. */
  finish: (
    index: number,
    code: OutcomeCode,
    note: string | undefined,
    snmp: HostObservation['snmp'],
    more?: { aliasOf: string } | { unread: string },
  ) => void;
  /** Ends an address that was silent to everything. */
  silent: (index: number) => void;
}

/** Asks the candidates as they come and reads those that answer; resolves when all are finished, or soon after an abort. */
export const askAgents = (deps: AgentsDeps, candidates: Candidates): Promise<void> =>
  new Agents(deps).ask(candidates);

class Agents {
  readonly #deps: AgentsDeps;
  readonly #aliases = new Aliases();
  readonly #concurrency = new AdaptiveConcurrency();
  readonly #limit = pLimit(this.#concurrency.present);
  readonly #pace: SweepPace;
  readonly #readings = new Set<Promise<void>>();

  constructor(deps: AgentsDeps) {
    this.#deps = deps;
    const { pace } = deps;
    this.#pace = {
      get free() {
        return pace.free ?? false;
      },
      take: (count, address) => pace.take(count, address),
      report: (answered, lost) => {
        this.#concurrency.report(answered, lost);
        pace.report?.(answered, lost);
      },
    };
  }

  async ask(candidates: Candidates): Promise<void> {
    const { task, settings, tools } = this.#deps;
    const engine = await tools.snmp();
    const options = {
      ...this.#asking(),
      port: settings.port ?? SNMP_PORT,
      credentials: task.credentials,
      attempts: tools.attempts,
    };
    const stopJudging = this.#adaptConcurrency();
    try {
      await discover(engine, candidates, options, (found) => this.#found(engine, found));
      while (this.#readings.size > 0) await Promise.all(this.#readings);
    } finally {
      stopJudging();
    }
  }

  #adaptConcurrency(): () => void {
    let before = performance.eventLoopUtilization();
    return this.#deps.tools.clock.every(JUDGE_MS, () => {
      const now = performance.eventLoopUtilization();
      this.#limit.concurrency = this.#concurrency.judge(
        performance.eventLoopUtilization(now, before).utilization,
      );
      before = now;
    });
  }

  #asking() {
    const { settings, signal } = this.#deps;
    return { tries: settings.tries, timeoutMs: settings.timeoutMs, pace: this.#pace, signal };
  }

  #found(engine: SnmpEngine, found: Found): void {
    const { task, signal, finish, silent } = this.#deps;
    if (signal.aborted) return;
    const index = task.space.indexOf(found.address);
    switch (found.outcome) {
      case 'snmp':
        this.#track(this.#read(engine, index, { ...found, at: this.#deps.tools.clock.monotonic() }));
        break;
      case 'snmp-auth-failed':
        finish(index, 'a', explanation(found.failure), 'auth-failed');
        break;
      case 'snmp-timeout':
        finish(index, 't', undefined, 'silent');
        break;
      case 'silent':
        silent(index);
        break;
      case 'budget-spent':
        if (found.failure) finish(index, 'b', leftAlone(found), 'auth-failed');
        else this.#notAsked(index, 'b', leftAlone(found));
        break;
      case 'error':
        this.#notAsked(index, 'e', explanation(found.failure));
        break;
      default:
        found satisfies never;
    }
  }

  /** Nothing is known of the agent: whether something is there only the ping tells. */
  #notAsked(index: number, code: OutcomeCode, note: string): void {
    const { hosts, report, finish } = this.#deps;
    if (hosts.rttOf(index) === undefined) report.outcome(index, code, note);
    else finish(index, code, note, 'not-asked');
  }

  #track(reading: Promise<void>): void {
    const tracked = reading.finally(() => this.#readings.delete(tracked));
    this.#readings.add(tracked);
  }

  async #read(engine: SnmpEngine, index: number, found: FoundAgent): Promise<void> {
    const { tools, signal, finish } = this.#deps;
    const refusal = tools.quarantine?.refusal(found.address);
    if (refusal) {
      finish(index, 'e', refusal, 'answered', { unread: refusal });
      return;
    }
    const fingerprint = fingerprintOf(found.system, found.at);
    const reading = this.#aliases.readingOf(fingerprint);
    // Waited for once only: devices that look alike and list nothing must not be read one by one.
    if (reading) await reading;
    if (signal.aborted) return;
    const owner = this.#aliases.ownerOf(found.address, fingerprint);
    if (owner !== null) {
      finish(index, '=', `alias of ${owner}`, 'answered', { aliasOf: owner });
      return;
    }
    await this.#aliases.during(found.address, fingerprint, () => this.#readInTurn(engine, index, found));
  }

  #readInTurn(engine: SnmpEngine, index: number, found: FoundAgent): Promise<readonly string[]> {
    const { tools, signal, report } = this.#deps;
    const { quarantine } = tools;
    const read = () =>
      this.#limit(async () => {
        await report.ready();
        if (signal.aborted) return [];
        const reading = () => this.#readGuarded(engine, index, found);
        return quarantine ? quarantine.whileReading(found.address, reading) : reading();
      });
    return quarantine ? quarantine.inTurn(found.address, read) : read();
  }

  /** A fault of ours at one agent costs that agent, not the sweep. */
  async #readGuarded(engine: SnmpEngine, index: number, found: FoundAgent): Promise<readonly string[]> {
    const { report, signal, finish } = this.#deps;
    try {
      return await this.#readNow(engine, index, found);
    } catch (error) {
      report.fault(found.address, error);
      if (!signal.aborted) finish(index, 'e', 'a fault of the collector; its log says more', 'answered');
      return [];
    }
  }

  /** Reads an agent, reports it, and answers the addresses that it lists. */
  async #readNow(engine: SnmpEngine, index: number, found: FoundAgent): Promise<readonly string[]> {
    const { task, settings, tools, hosts, report, signal } = this.#deps;
    hosts.isAgent(index);
    const target = { address: found.address, port: settings.port ?? SNMP_PORT };
    const rttMs = hosts.rttOf(index) ?? (task.profile.icmp ? null : undefined);
    const names = task.profile.dns ? await tools.names() : undefined;
    const facts = await tools.inventory({
      session: new Session(engine, target, found.credential, this.#asking()),
      system: found.system,
      systemAt: found.at,
      settings,
      extra: task.extra,
      now: () => tools.clock.now(),
      names: names && ((rows) => names.look(rows)),
      ...(rttMs === undefined ? {} : { rttMs }),
      ...(task.job === undefined ? {} : { job: task.job }),
    });
    if (signal.aborted) return [];
    hosts.becameDevice(index);
    for (const fact of facts) report.observe(fact);
    const { code, note } = verdictOf(facts, settings.groups.length);
    report.outcome(index, code, note);
    return facts.flatMap((fact) => (fact.kind === 'device' ? fact.addresses : []));
  }
}

/** An agent, and when it answered: milliseconds of the monotonic clock. */
type FoundAgent = Extract<Found, { outcome: 'snmp' }> & { at: number };

const NOTE_MOST = 200;
const explanation = (failure: Failure): string => explain(failure).slice(0, NOTE_MOST);
/** Why credentials were not tried, so that nobody takes it for the refusal of all. */
const leftAlone = ({ untried, failure }: Extract<Found, { outcome: 'budget-spent' }>): string => {
  const spent = `${untried} ${untried === 1 ? 'credential was' : 'credentials were'} not tried: too many were refused today`;
  return `${spent} (snmp.attempts of the profile)${failure ? `; last: ${explain(failure)}` : ''}`.slice(
    0,
    NOTE_MOST,
  );
};

/** How the reading of an agent went: read, cut by a budget, or fallen silent right away. */
function verdictOf(facts: readonly DeviceFact[], groups: number): { code: OutcomeCode; note?: string } {
  const failed = Object.values(facts.find((fact) => fact.kind === 'device')?.failed ?? {});
  if (groups > 0 && failed.length >= groups && failed.every((reason) => reason === 'timeout')) {
    return { code: 't', note: 'the agent answered once and then fell silent' };
  }
  for (const fact of facts) {
    if (fact.kind === 'rows' && fact.reason?.endsWith('-budget')) {
      return { code: 'b', note: `${fact.table}: ${fact.reason}` };
    }
  }
  return { code: 's' };
}
