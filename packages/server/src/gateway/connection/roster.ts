/**
 * Who is connected to this instance, and what reaches them from elsewhere: jobs, cancellations, revocations. Everything
 * is told by NOTIFY and found again by looking, so a lost notification costs a second or a few, never more.
 */
import { CloseCode, type Ruleset } from '@rollcall/shared/protocol';
import { JOBS_CHANNEL, LINKS_CHANNEL, type LinkNotice, WATCH_CHANNEL } from '../../platform/db/notify.ts';
import { startPeriodic } from '../../platform/ops/periodic.ts';
import { rateLimitedLog } from '../../platform/ops/rate-limited-log.ts';
import type { CollectorDeps } from '../deps.ts';
import { openPresence, type Presence } from './presence.ts';
import type { Session } from './session.ts';
import { type Share, shareOf } from './window.ts';

/** Status and holder of every connected collector are looked at this often: a revocation takes no longer. */
const CHECK_MS = 1_000;
/** Jobs are looked for this often besides: deferred ones become due, notifications get lost. */
const OFFER_MS = 5_000;
/** What collectors are to watch is looked at this often besides. */
const WATCH_MS = 60_000;
/** How many collectors may come is counted this often. */
const COUNT_MS = 10_000;

type Deps = Pick<CollectorDeps, 'db' | 'clock' | 'log' | 'recordChanges' | 'jobs'> & {
  instance: string;
  /** Locks out a collector when two copies of it are alive at once. */
  quarantineDuplicate(collectorId: string): Promise<void>;
};

const CODES = { quarantined: CloseCode.quarantined, revoked: CloseCode.revoked } as const;
interface Holder {
  id: string;
  status: 'active' | keyof typeof CODES;
  status_reason: string;
  instance: string | null;
}

export class Roster {
  readonly presence: Presence;
  readonly #deps: Deps;
  /** Collector → its conversation. */
  readonly #sessions = new Map<string, Session>();
  /** Collectors that are here or nowhere, and may come. */
  #expected = 0;
  readonly #failed: (what: string, failures: number, reason: string) => void;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.presence = openPresence({ ...deps, sessions: this.#sessions });
    this.#failed = rateLimitedLog(deps.clock, (what, failures, reason) =>
      deps.log.warn({ err: reason, failures }, `${what} failed; it is tried again`),
    );
  }

  /** Collectors connected here. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Of one that comes now: everybody who may come is provided for, so that a crowd that returns finds room. */
  share(): Share {
    return shareOf(Math.max(this.#expected, this.size + 1));
  }

  ready(session: Session): void {
    const id = session.collector?.id;
    if (id === undefined) return;
    const older = this.#sessions.get(id);
    this.#sessions.set(id, session);
    if (older) this.#inBackground('looking at a superseded link', () => this.#supersede(older));
  }

  gone(session: Session): void {
    const id = session.collector?.id;
    if (id === undefined || this.#sessions.get(id) !== session) return;
    this.#sessions.delete(id);
    const { silentMs } = session;
    this.#inBackground('noting that a collector went', () => this.presence.left([{ id, silentMs }]));
  }

  /** New rules for all. */
  ruleset(ruleset: Ruleset): void {
    for (const session of this.#sessions.values()) session.ruleset(ruleset);
  }

  async start(): Promise<() => Promise<void>> {
    const { db, clock, log } = this.#deps;
    // An embedded database has one server: a collector that was connected was connected to the one before.
    if (db.kind === 'pglite')
      await db.query('UPDATE collectors SET instance = NULL WHERE instance IS NOT NULL');
    await this.#countExpected();
    const unlisten = [
      await db.listen(JOBS_CHANNEL, (siteId) => {
        if (siteId === '') this.#inBackground('looking for jobs', () => this.#offerWhereWorkIs());
        else this.#offerTo(siteId);
      }),
      await db.listen(LINKS_CHANNEL, (payload) => this.#onNotice(payload)),
      await db.listen(WATCH_CHANNEL, (siteId) => this.#watch(siteId)),
    ];
    const stop = startPeriodic({ clock, log }, [
      { what: 'checking collectors', everyMs: CHECK_MS, run: () => this.#check([...this.#sessions.keys()]) },
      { what: 'looking for jobs', everyMs: OFFER_MS, run: () => this.#offerWhereWorkIs() },
      { what: 'telling what to monitor', everyMs: WATCH_MS, run: async () => this.#watch('') },
      { what: 'counting who may come', everyMs: COUNT_MS, run: () => this.#countExpected() },
      ...this.presence.work(),
    ]);
    return async () => {
      stop();
      for (const stop of unlisten) await stop();
    };
  }

  /** Lets every conversation store what came in, for `ms` at most, then ends it: come again soon. */
  async drain(ms: number): Promise<void> {
    const leaving = [...this.#sessions.values()];
    const limit = new AbortController();
    const drained = Promise.all(leaving.map((session) => session.drain('the server restarts')));
    await Promise.race([drained, this.#deps.clock.sleep(ms, limit.signal).catch(() => undefined)]);
    limit.abort();
    const ids = [...this.#sessions.keys()].map((id) => ({ id, silentMs: 0 }));
    this.#sessions.clear();
    for (const session of leaving) session.close(CloseCode.restart, 'the server restarts');
    if (ids.length > 0)
      await this.presence
        .left(ids)
        .catch((error: Error) => this.#failed('noting that collectors went', 1, error.message));
  }

  /** @param siteId empty: of every site */
  #at(siteId: string): Session[] {
    const all = [...this.#sessions.values()];
    return siteId === '' ? all : all.filter((each) => each.collector?.siteId === siteId);
  }

  #watch(siteId: string): void {
    for (const session of this.#at(siteId)) session.watch();
  }

  #offerTo(siteId: string): void {
    for (const session of this.#at(siteId)) session.offer();
  }

  async #offerWhereWorkIs(): Promise<void> {
    if (this.size === 0) return;
    for (const siteId of await this.#deps.jobs.sitesWithWork()) this.#offerTo(siteId);
  }

  async #countExpected(): Promise<void> {
    const { db, instance } = this.#deps;
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM collectors WHERE status = 'active' AND coalesce(instance, $1) = $1`,
      [instance],
    );
    this.#expected = row?.n ?? 0;
  }

  #onNotice(payload: string): void {
    const sessions = this.#sessions;
    // Empty after a lost connection: anything may have been missed.
    if (payload === '') {
      this.#inBackground('checking collectors', () => this.#check([...sessions.keys()]));
      for (const session of sessions.values()) session.recheck();
      return;
    }
    const notice = JSON.parse(payload) as LinkNotice;
    if (notice.verb === 'cancel')
      for (const { collector, job, fence } of notice.leases) sessions.get(collector)?.cancel({ job, fence });
    else if (!sessions.has(notice.collector)) return;
    else if (notice.verb === 'rotate') sessions.get(notice.collector)?.rotate();
    else this.#inBackground('checking a collector', () => this.#check([notice.collector]));
  }

  /** Closes the conversations that are no longer theirs to hold. */
  async #check(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { db, instance } = this.#deps;
    const asked = ids.flatMap((id) => this.#sessions.get(id) ?? []);
    const rows = await db.query<Holder & Record<string, unknown>>(
      'SELECT id, status, status_reason, instance FROM collectors WHERE id = ANY($1::uuid[])',
      [ids],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const session of asked) {
      const row = byId.get(session.collector?.id ?? '');
      if (!row) session.close(CloseCode.revoked, 'the collector was deleted');
      else if (row.status !== 'active') session.close(CODES[row.status], row.status_reason || row.status);
      // No longer the collector's session: its end is being decided already.
      else if (row.instance !== null && row.instance !== instance && this.#sessions.get(row.id) === session)
        this.#inBackground('looking at a superseded link', () => this.#supersede(session));
    }
  }

  /** A newer connection of its collector took its place: the rest of one that broke, or a second holder of its key? */
  async #supersede(session: Session): Promise<void> {
    const id = session.collector?.id;
    if (id === undefined) return;
    if (this.#sessions.get(id) === session) this.#sessions.delete(id);
    const twice = await session.superseded();
    if (!twice) {
      session.close(CloseCode.replaced, 'another connection of this collector replaced this one');
      return;
    }
    session.close(CloseCode.quarantined, 'two holders of this key were connected at the same time');
    await this.#deps.quarantineDuplicate(id);
  }

  #inBackground(what: string, work: () => Promise<unknown>): void {
    void work().catch((error: unknown) =>
      this.#failed(what, 1, error instanceof Error ? error.message : String(error)),
    );
  }
}
