/**
 * One sweep: every address of a space is asked by ICMP, then by SNMP (those that answered first, then the silent), each
 * agent is read whole, and every address ends with an outcome. Facts of an address are reported before its outcome.
 */
import { randomBytes } from 'node:crypto';
import type { OutcomeCode } from '@rollcall/shared/model';
import type { HostObservation } from '@rollcall/shared/observation';
import type { ProfileSettings } from '@rollcall/shared/profile';
import { EchoRefused } from '../icmp/echo.ts';
import { Permutation } from '../icmp/permutation.ts';
import { type SweepPace, sweepIcmp } from '../icmp/sweep.ts';
import { Unsent } from '../icmp/unsent.ts';
import { systemReason } from '../platform/refusal.ts';
import { Candidates } from './candidates.ts';
import { Hosts } from './hosts.ts';
import type { SweepEnd, SweepReport, SweepTask, SweepTools } from './task.ts';

/** Sweeps; resolves when every address has its outcome, or soon after the signal. Throws only for faults of ours. */
export async function sweep(
  task: SweepTask,
  tools: SweepTools,
  report: SweepReport,
  signal: AbortSignal,
): Promise<SweepEnd> {
  const run = new SweepRun(task, tools, report, signal);
  try {
    return await run.go();
  } finally {
    run.stop();
  }
}

class SweepRun {
  readonly #task: SweepTask;
  readonly #tools: SweepTools;
  readonly #report: SweepReport;
  readonly #signal: AbortSignal;
  readonly #hosts: Hosts;
  readonly #candidates: Candidates;
  /** Looking up names. */
  readonly #naming = new Set<Promise<void>>();
  /** To whom no ICMP request could be sent. */
  readonly #unsent: Unsent;
  readonly #pace: SweepPace;
  #icmpRefusal: string | undefined;

  constructor(task: SweepTask, tools: SweepTools, report: SweepReport, signal: AbortSignal) {
    this.#task = task;
    this.#tools = tools;
    this.#report = report;
    this.#signal = signal;
    this.#unsent = new Unsent(task.space.size);
    this.#pace = alsoWaitingFor(tools.pace, () => report.ready());
    this.#hosts = new Hosts({
      clock: tools.clock,
      job: task.job,
      addressOf: (index) => task.space.at(index),
      macOf: tools.macOf,
      observe: (host) => report.observe(host),
    });
    this.#candidates = new Candidates((index) => {
      const address = task.space.at(index);
      const known = task.known(address);
      return known === undefined ? { address } : { address, known };
    });
  }

  async go(): Promise<SweepEnd> {
    const trouble = await this.#socketTrouble();
    if (trouble !== null) return { result: 'deferred', reason: trouble };
    const asking = this.#askAgents();
    // It is awaited below, perhaps long after it failed.
    asking.catch(() => undefined);
    try {
      if (this.#task.profile.icmp) await this.#icmp(this.#task.profile.icmp);
      else this.#askAll();
    } finally {
      this.#candidates.end();
      await asking;
      while (this.#naming.size > 0) await Promise.all(this.#naming);
    }
    if (this.#signal.aborted) return { result: 'aborted' };
    return this.#icmpRefusal !== undefined && !this.#task.profile.snmp
      ? { result: 'deferred', reason: this.#icmpRefusal }
      : { result: 'done', ...(this.#icmpRefusal === undefined ? {} : { reason: this.#icmpRefusal }) };
  }

  /** Why SNMP cannot be asked now, such as for want of file descriptors; null when it can, or need not. */
  async #socketTrouble(): Promise<string | null> {
    if (!this.#task.profile.snmp) return null;
    return this.#tools.snmp().then(
      () => null,
      (error: unknown) => `SNMP cannot be asked: ${systemReason(error)}`,
    );
  }

  stop(): void {
    this.#hosts.stop();
  }

  async #icmp({ tries, timeoutMs }: NonNullable<ProfileSettings['icmp']>): Promise<void> {
    const { space, skip, profile } = this.#task;
    const { clock, echo } = this.#tools;
    try {
      await sweepIcmp({
        space,
        echo,
        pace: alsoWaitingFor(this.#pace, () => this.#candidates.room()),
        tries,
        timeoutMs,
        signal: this.#signal,
        skip,
        clock,
        onAnswer: (index, _address, rtt) => {
          const rttMs = Math.round(rtt * 1000) / 1000;
          if (!profile.snmp) this.#finish(index, 'i', undefined, 'not-asked', { rttMs });
          else {
            this.#hosts.answered(index, rttMs);
            this.#candidates.alive(index);
          }
        },
        onSilent: (index, _address, unsent) => {
          if (this.#signal.aborted) return;
          if (unsent !== null) this.#unsent.set(index, unsent);
          if (profile.snmp?.ask === 'all') this.#candidates.silent(index);
          else this.#silent(index);
        },
      });
    } catch (error) {
      if (!(error instanceof EchoRefused)) throw error;
      this.#icmpRefusal = error.message;
      if (profile.snmp) this.#askAll();
    }
  }

  /** Without ICMP everybody is asked by SNMP, in an order that spreads over the networks. */
  #askAll(): void {
    const { space, skip } = this.#task;
    const order = new Permutation(space.size, randomBytes(16));
    for (let position = 0; position < space.size; position += 1) {
      const index = order.at(position);
      if (!skip(index)) this.#candidates.silent(index);
    }
  }

  #silent(index: number): void {
    const code = this.#unsent.of(index);
    if (code !== null) {
      this.#report.outcome(index, 'e', `no request could be sent: ${systemReason({ code })}`);
      return;
    }
    const router = this.#tools.routerSilentTowards(this.#task.space.at(index));
    this.#report.outcome(
      index,
      '_',
      router && `nothing gets there: the router ${router} does not answer; is the route right?`,
    );
  }

  /** Reports the host, with its name where names are wanted, then the outcome. */
  #finish(
    index: number,
    code: OutcomeCode,
    note: string | undefined,
    snmp: HostObservation['snmp'],
    { rttMs, ...more }: { rttMs?: number; aliasOf?: string; unread?: string } = {},
  ): void {
    const report = (hostname?: string) => {
      if (this.#signal.aborted) return;
      this.#hosts.finish(index, snmp, rttMs, { hostname, ...more });
      this.#report.outcome(index, code, note);
    };
    if (!this.#task.profile.dns) {
      report();
      return;
    }
    const naming = this.#tools
      .nameOf(this.#task.space.at(index))
      .then(
        (name) => name ?? undefined,
        () => undefined,
      )
      .then(report)
      .finally(() => this.#naming.delete(naming));
    this.#naming.add(naming);
  }

  /** Loaded only for sweeps that ask by SNMP: a ping sweep starts sooner. */
  async #askAgents(): Promise<void> {
    const settings = this.#task.profile.snmp;
    if (!settings) return;
    const { askAgents } = await import('./agents.ts');
    const deps = {
      task: this.#task,
      settings,
      tools: this.#tools,
      report: this.#report,
      signal: this.#signal,
      pace: this.#pace,
      hosts: this.#hosts,
      finish: this.#finish.bind(this),
      silent: this.#silent.bind(this),
    };
    await askAgents(deps, this.#candidates);
  }
}

/** A pace that also waits while somebody else has enough to do. */
const alsoWaitingFor = (pace: SweepPace, busy: () => Promise<void> | undefined): SweepPace => ({
  get free() {
    return (pace.free ?? false) && busy() === undefined;
  },
  take: (count, address) => {
    const [first, second] = [pace.take(count, address), busy()].filter((wait) => wait !== undefined);
    return first && second ? Promise.all([first, second]).then(() => undefined) : first;
  },
  report: (answered, lost) => pace.report?.(answered, lost),
});
