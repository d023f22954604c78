/** The jobs that this collector works on: taken, swept side by side, cancelled, ended. */
import { createHash } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import type { Assignment, CollectorMessage, Ruleset, WireCredential } from '@rollcall/shared/protocol';
import { credentialOf, type SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { Logger } from 'pino';
import type { Outbox } from '../outbox/outbox.ts';
import { AttemptBook } from '../sweep/attempts.ts';
import type { Scope } from '../sweep/scope.ts';
import { sweep } from '../sweep/sweep.ts';
import type { SharedTools } from '../sweep/tools.ts';
import { type Order, orderOf } from './job.ts';
import type { Paces } from './paces.ts';
import { Recorder } from './recorder.ts';

export interface RunnerLimits {
  /** Jobs at once. */
  jobs: number;
  scope: Scope;
}

export interface RunnerDeps {
  tools: SharedTools;
  outbox: Pick<Outbox, 'append' | 'status'>;
  clock: Clock;
  log: Logger;
  /** Shared with whatever else this collector sends. */
  paces: Paces;
  limits: RunnerLimits;
  /** Sends a message to the server; false when there is no link. */
  send: (message: CollectorMessage) => boolean;
}

/** How often the progress of jobs is reported to the server. */
const PROGRESS_MS = 1000;
/** Ended jobs remembered, so that one assigned anew before its end arrived is not swept anew. */
const REMEMBERED = 256;

interface Job {
  recorder: Recorder;
  stop: AbortController;
  rate: () => number | 'max';
  /** Resolves when its record is on disk. */
  ended: Promise<void>;
}

export class Runner {
  readonly #deps: RunnerDeps;
  readonly #jobs = new Map<string, Job>();
  readonly #done = new Set<string>();
  readonly #paces: Paces;
  readonly #attempts: AttemptBook;
  readonly #stopReporting: () => void;
  #limits: RunnerLimits;
  #extra: Ruleset['extra'] = [];
  /** Kept while there are jobs: what was computed for a credential lives as long as its object. */
  readonly #credentials = new Map<string, SnmpCredential>();
  #stopped = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#limits = deps.limits;
    this.#paces = deps.paces;
    this.#attempts = new AttemptBook(deps.clock);
    this.#stopReporting = deps.clock.every(PROGRESS_MS, () => this.#reportProgress());
  }

  /** New limits for what comes from now on; jobs in progress keep their scope. */
  limit(limits: RunnerLimits): void {
    this.#limits = limits;
  }

  /** What the rules want read besides the standard tables. */
  rules({ extra }: Ruleset): void {
    this.#extra = extra;
  }

  working(): { job: string; fence: number }[] {
    return [...this.#jobs].map(([job, { recorder }]) => ({ job, fence: recorder.fence }));
  }

  /** Takes a job, or says why not. The same job twice is one sweep: a newer lease of it only changes the fence. */
  assign(assignment: Assignment): void {
    const { job, fence } = assignment;
    const present = this.#jobs.get(job);
    if (present) present.recorder.fence = Math.max(present.recorder.fence, fence);
    else if (this.#done.has(job)) void this.#endAgain(assignment);
    else {
      const refusal = this.#refusal();
      const ordered = refusal === null ? this.#order(assignment) : null;
      if (ordered?.ok) this.#start(assignment, ordered.order);
      else {
        const result = refusal === null ? 'failed' : 'deferred';
        this.#refuse(assignment, result, (ordered?.ok === false ? ordered.reason : refusal) ?? '');
      }
    }
  }

  /** Stops a job; what it has found is kept. */
  cancel(job: string, fence: number): void {
    const present = this.#jobs.get(job);
    if (!present || present.recorder.fence > fence) return;
    this.#deps.log.info({ job }, 'a job was cancelled');
    present.stop.abort();
  }

  /** Stops all jobs and writes down what they found; the next holder of their lease resumes them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopReporting();
    for (const { stop } of this.#jobs.values()) stop.abort();
    await Promise.all([...this.#jobs.values()].map(({ ended }) => ended));
  }

  #refusal(): string | null {
    if (this.#stopped) return 'the collector is stopping';
    if (this.#jobs.size >= this.#limits.jobs) return `it works on ${this.#limits.jobs} jobs already`;
    return this.#deps.outbox.status().paused;
  }

  #order(assignment: Assignment) {
    return orderOf(
      assignment,
      this.#limits.scope,
      assignment.credentials.map((wire) => this.#credential(wire)),
      this.#extra,
    );
  }

  #credential(wire: WireCredential): SnmpCredential {
    const key = createHash('sha256').update(JSON.stringify(wire)).digest('base64');
    const credential = this.#credentials.get(key) ?? credentialOf(wire);
    this.#credentials.set(key, credential);
    return credential;
  }

  #refuse({ job, fence }: Assignment, result: 'deferred' | 'failed', reason: string): void {
    this.#deps.log.warn({ job, result, reason }, 'a job was not taken');
    this.#deps.send({ type: 'outcome', job, fence, result, reason: reason.slice(0, 300) });
  }

  /** Everything about it is on its way already; the new lease only needs its end. */
  async #endAgain({ job, fence, spans }: Assignment): Promise<void> {
    const { outbox, clock } = this.#deps;
    const probed = spans.reduce((sum, { count }) => sum + count, 0);
    const end = { kind: 'job-end', job, fence, at: clock.now(), result: 'done', counts: { probed } } as const;
    await outbox.append([end]).catch(() => undefined);
  }

  #start(assignment: Assignment, order: Order): void {
    const { job, fence } = assignment;
    const { clock, outbox, log } = this.#deps;
    const stop = new AbortController();
    const recorder = new Recorder({
      job,
      fence,
      size: order.task.space.size,
      before: order.before,
      outbox,
      clock,
      signal: stop.signal,
      onLost: (error) => {
        log.error({ job, reason: error.message }, 'results of a job could not be kept');
        stop.abort();
      },
    });
    const { pace, rate, done } = this.#paces.take(assignment.profile);
    log.info({ job, addresses: order.task.space.size, finished: order.before }, 'a job started');
    const ended = this.#run(order, recorder, pace, stop.signal, assignment).finally(() => {
      done();
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) this.#credentials.clear();
    });
    this.#jobs.set(job, { recorder, stop, rate, ended });
  }

  async #run(
    { task, refused }: Order,
    recorder: Recorder,
    pace: Parameters<typeof sweep>[1]['pace'],
    signal: AbortSignal,
    { job, profile }: Assignment,
  ): Promise<void> {
    const { tools, log } = this.#deps;
    for (const { index, reason } of refused) recorder.outcome(index, 'x', reason);
    try {
      const attempts = this.#attempts.within(profile.snmp?.attempts ?? 0);
      const report = {
        observe: recorder.observe.bind(recorder),
        outcome: recorder.outcome.bind(recorder),
        ready: recorder.ready.bind(recorder),
        fault: (address: string, error: unknown) =>
          log.error({ job, address, err: error }, 'reading a device failed'),
      };
      const { result, reason } = await sweep(task, { ...tools, pace, attempts }, report, signal);
      await recorder.end(
        result === 'aborted'
          ? null
          : { result, ...(reason === undefined ? {} : { reason: reason.slice(0, 300) }) },
      );
      if (result === 'done') this.#remember(job);
      log.info({ job, result, reason, ...recorder.counts }, 'a job ended');
    } catch (error) {
      log.error({ job, err: error }, 'a job failed');
      const reason = 'a fault of the collector; its log says more';
      await recorder.end(signal.aborted ? null : { result: 'failed', reason });
    }
  }

  #remember(job: string): void {
    this.#done.add(job);
    for (const oldest of this.#done) {
      if (this.#done.size <= REMEMBERED) break;
      this.#done.delete(oldest);
    }
  }

  #reportProgress(): void {
    for (const [job, { recorder, rate }] of this.#jobs) {
      const now = rate();
      this.#deps.send({
        type: 'progress',
        job,
        fence: recorder.fence,
        ...recorder.counts,
        ...(now === 'max' ? {} : { rate: now }),
      });
    }
  }
}
