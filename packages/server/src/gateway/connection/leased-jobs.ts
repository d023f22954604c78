/** The jobs that are leased to one collector, as far as its session knows: what it is given, keeps, gives back. */
import { FRAME_BYTES, type ServerMessage } from '@rollcall/shared/protocol';
import type { Lease, Progress } from '../../ports.ts';
import type { CollectorDeps, Jobs } from '../deps.ts';
import type { Admitted, Hello } from '../identity.ts';
import { profileFor } from './profile-for.ts';
import type { Share } from './window.ts';

/** Most jobs that one collector is given at once, whatever it says it can take. */
export const JOBS_MOST = 16;

interface Owner {
  id: string;
  siteId: string;
  /** Of the protocol. */
  version: number;
  /** Jobs it takes at once. */
  capacity: number;
  /** Highest state sequence it had written when it connected: when that is stored, all earlier ends are known. */
  lastState: number;
}
interface LeasedJobsDeps extends Pick<CollectorDeps, 'credentialsFor'> {
  jobs: Pick<Jobs, 'claim' | 'extend' | 'refuse' | 'giveBack'>;
  send(message: ServerMessage): void;
}

/** A collector whose hello was checked, and what it may take. */
export interface Greeted {
  hello: Hello;
  collector: Admitted;
  leasedJobs: LeasedJobs;
  share: Share;
}

export class LeasedJobs {
  readonly #owner: Owner;
  readonly #deps: LeasedJobsDeps;
  /** Job → fence. */
  readonly #held = new Map<string, number>();
  /** Progress not yet written, the latest of each job. */
  readonly #progress = new Map<string, Progress>();
  /** Whether it said what it works on; reconciled: what it came back without was given back. */
  #working: 'unsaid' | 'said' | 'reconciled' = 'unsaid';

  constructor(owner: Owner, deps: LeasedJobsDeps) {
    this.#owner = owner;
    this.#deps = deps;
  }

  /** Nothing is offered before it is known what it works on. */
  get known(): boolean {
    return this.#working !== 'unsaid';
  }

  /** It says what it works on: leases it holds go on, others it stops. */
  async reconcile(jobs: readonly Lease[], throughState: number): Promise<void> {
    const leases = jobs.map((lease) => ({ ...lease, probed: 0, alive: 0, devices: 0 }));
    const over = new Set((await this.#deps.jobs.extend(this.#owner.id, leases)).map(({ job }) => job));
    for (const lease of jobs)
      if (over.has(lease.job)) this.cancel(lease);
      else this.#held.set(lease.job, lease.fence);
    this.assume();
    await this.giveBack(throughState);
  }

  /** It did not say: whatever it works on comes to light with its progress. */
  assume(): void {
    if (this.#working === 'unsaid') this.#working = 'said';
  }

  /**
   * Jobs that were leased to it and that it came back without go to others, once everything that it had collected
   * before has arrived: the end of a job may still be on its way.
   */
  async giveBack(throughState: number): Promise<void> {
    if (this.#working !== 'said' || throughState < this.#owner.lastState) return;
    this.#working = 'reconciled';
    await this.#deps.jobs.giveBack(this.#owner.id, [...this.#held.keys()]);
  }

  /** Claims and assigns as many jobs as it can take. */
  async claim(): Promise<void> {
    const { id, siteId, version } = this.#owner;
    const capacity = Math.min(this.#owner.capacity, JOBS_MOST);
    if (capacity === 0) return;
    for (const job of await this.#deps.jobs.claim({ id, siteId, capacity })) {
      const { credentials, known } = await this.#deps.credentialsFor(job);
      this.#held.set(job.job, job.fence);
      const { fence, spans, done } = job;
      const assignment = {
        job: job.job,
        fence,
        spans,
        profile: profileFor(version, job.settings),
        credentials,
        ...(done === undefined ? {} : { done }),
      };
      const whole: ServerMessage = { type: 'assign', assignment: { ...assignment, known } };
      // What is known is a hint; an assignment that would not fit a frame goes without.
      const fits = Buffer.byteLength(JSON.stringify(whole)) <= FRAME_BYTES;
      this.#deps.send(fits ? whole : { type: 'assign', assignment });
    }
  }

  /** Keeps the latest progress of a job until it is written. */
  note({ job, fence, probed, alive, devices }: Progress): void {
    this.#progress.set(job, { job, fence, probed, alive, devices });
  }

  /** Writes progress and extends the leases that made it. */
  async extend(): Promise<void> {
    const leases = [...this.#progress.values()];
    this.#progress.clear();
    if (leases.length === 0) return;
    const over = new Set((await this.#deps.jobs.extend(this.#owner.id, leases)).map(({ job }) => job));
    for (const lease of leases)
      if (over.has(lease.job)) this.cancel(lease);
      else this.#held.set(lease.job, lease.fence);
  }

  /** Extends what it holds, without progress: what it does not hold any more comes to light. */
  async recheck(): Promise<void> {
    for (const [job, fence] of this.#held)
      if (!this.#progress.has(job)) this.note({ job, fence, probed: 0, alive: 0, devices: 0 });
    await this.extend();
  }

  /** It refused a job before it collected anything. */
  async refuse({ job, fence }: Lease, end: { result: 'deferred' | 'failed'; reason: string }): Promise<void> {
    const { id: collectorId, siteId } = this.#owner;
    this.#held.delete(job);
    const { result, reason } = end;
    await this.#deps.jobs.refuse({ collectorId, siteId }, { job, fence }, { result, reason });
  }

  /** A lease is over: it stops if it still works on it. */
  cancel({ job, fence }: Lease): void {
    if (this.#held.get(job) === fence) this.#held.delete(job);
    this.#progress.delete(job);
    this.#deps.send({ type: 'cancel', job, fence });
  }

  /** The ends of these jobs are stored: that was its last word on them. True when there are any. */
  ended(jobs: readonly string[]): boolean {
    for (const job of jobs) this.#held.delete(job);
    return jobs.length > 0;
  }
}
