/**
 * Who is connected to this instance, and what reaches them from elsewhere: jobs, cancellations, revocations. Everything
 * is told by NOTIFY and found again by looking, so a lost notification costs a second or a few, never more.
 */
import { CloseCode, type Ruleset } from '@rollcall/shared/protocol';
import { JOBS_CHANNEL, LINKS_CHANNEL, type LinkNotice, WATCH_CHANNEL } from '../../platform/db/notify.ts';
import { tellNowAndThen } from '../../platform/ops/now-and-then.ts';
import { startPeriodic } from '../../platform/ops/periodic.ts';
import type { CollectorDeps } from '../deps.ts';
import { openPresence } from './presence.ts';
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

type Deps = Pick<CollectorDeps, 'db' | 'clock' | 'log' | 'raise' | 'jobs'> & {
  instance: string;
  /** Locks out a collector of which two were alive at once. */
  quarantineDuplicate(collectorId: string): Promise<void>;
};

export function createRoster({ db, clock, log, raise, jobs, instance, quarantineDuplicate }: Deps) {
  /** Collector → its conversation. */
  const sessions = new Map<string, Session>();
  /** Collectors that are here or nowhere, and may come. */
  let expected = 0;
  const presence = openPresence({ db, clock, log, raise, instance, sessions });
  const at = (siteId: string) => [...sessions.values()].filter((each) => each.collector?.siteId === siteId);

  const CODES = { quarantined: CloseCode.quarantined, revoked: CloseCode.revoked } as const;

  /** A newer connection of its collector took its place: the rest of one that broke, or a second holder of its key? */
  const supersede = async (session: Session): Promise<void> => {
    const id = session.collector?.id;
    if (id === undefined) return;
    if (sessions.get(id) === session) sessions.delete(id);
    const twice = await session.superseded();
    if (!twice) {
      session.close(CloseCode.replaced, 'another connection of this collector replaced this one');
      return;
    }
    session.close(CloseCode.quarantined, 'two holders of this key were connected at the same time');
    await quarantineDuplicate(id);
  };

  /** Closes the conversations that are no longer theirs to hold. */
  const check = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    const asked = ids.flatMap((id) => sessions.get(id) ?? []);
    const rows = await db.query<{
      id: string;
      status: 'active' | keyof typeof CODES;
      status_reason: string;
      instance: string | null;
    }>('SELECT id, status, status_reason, instance FROM collectors WHERE id = ANY($1::uuid[])', [ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const session of asked) {
      const row = byId.get(session.collector?.id ?? '');
      if (!row) session.close(CloseCode.revoked, 'the collector was deleted');
      else if (row.status !== 'active') session.close(CODES[row.status], row.status_reason || row.status);
      // No longer the collector's session: its end is being decided already.
      else if (row.instance !== null && row.instance !== instance && sessions.get(row.id) === session)
        inBackground('looking at a superseded link', () => supersede(session));
    }
  };

  const offerTo = (siteId: string): void => {
    for (const session of at(siteId)) session.offer();
  };

  const onNotice = (payload: string): void => {
    // Empty after a lost connection: anything may have been missed.
    if (payload === '') {
      inBackground('checking collectors', () => check([...sessions.keys()]));
      for (const session of sessions.values()) session.recheck();
      return;
    }
    const notice = JSON.parse(payload) as LinkNotice;
    if (notice.verb === 'cancel')
      for (const { collector, job, fence } of notice.leases) sessions.get(collector)?.cancel({ job, fence });
    else if (!sessions.has(notice.collector)) return;
    else if (notice.verb === 'rotate') sessions.get(notice.collector)?.rotate();
    else inBackground('checking a collector', () => check([notice.collector]));
  };

  const failed = tellNowAndThen(clock, (what, failures, reason) =>
    log.warn({ err: reason, failures }, `${what} failed; it is tried again`),
  );
  const inBackground = (what: string, work: () => Promise<unknown>): void =>
    void work().catch((error: unknown) =>
      failed(what, 1, error instanceof Error ? error.message : String(error)),
    );

  const offerWhereWorkIs = async (): Promise<void> => {
    if (sessions.size === 0) return;
    for (const siteId of await jobs.sitesWithWork()) offerTo(siteId);
  };

  const countExpected = async (): Promise<void> => {
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM collectors WHERE status = 'active' AND coalesce(instance, $1) = $1`,
      [instance],
    );
    expected = row?.n ?? 0;
  };

  return {
    /** Collectors connected here. */
    get size(): number {
      return sessions.size;
    },

    /** Of one that comes now: everybody who may come is provided for, so that a crowd that returns finds room. */
    share: (): Share => shareOf(Math.max(expected, sessions.size + 1)),

    ready: (session: Session): void => {
      const id = session.collector?.id;
      if (id === undefined) return;
      const older = sessions.get(id);
      sessions.set(id, session);
      if (older) inBackground('looking at a superseded link', () => supersede(older));
    },

    gone: (session: Session): void => {
      const id = session.collector?.id;
      if (id === undefined || sessions.get(id) !== session) return;
      sessions.delete(id);
      const { silentMs } = session;
      inBackground('noting that a collector went', () => presence.left([{ id, silentMs }]));
    },

    /** New rules for all. */
    ruleset: (ruleset: Ruleset): void => {
      for (const session of sessions.values()) session.ruleset(ruleset);
    },

    start: async (): Promise<() => Promise<void>> => {
      // An embedded database has one server: whoever was connected was connected to the one before.
      if (db.kind === 'pglite')
        await db.query('UPDATE collectors SET instance = NULL WHERE instance IS NOT NULL');
      await countExpected();
      const unlisten = [
        await db.listen(JOBS_CHANNEL, (siteId) => {
          if (siteId === '') inBackground('looking for jobs', offerWhereWorkIs);
          else offerTo(siteId);
        }),
        await db.listen(LINKS_CHANNEL, onNotice),
        await db.listen(WATCH_CHANNEL, (siteId) => {
          for (const session of siteId === '' ? sessions.values() : at(siteId)) session.watch();
        }),
      ];
      const stop = startPeriodic({ clock, log }, [
        { what: 'checking collectors', everyMs: CHECK_MS, run: () => check([...sessions.keys()]) },
        { what: 'looking for jobs', everyMs: OFFER_MS, run: offerWhereWorkIs },
        {
          what: 'telling what to monitor',
          everyMs: WATCH_MS,
          run: async () => {
            for (const session of sessions.values()) session.watch();
          },
        },
        { what: 'counting who may come', everyMs: COUNT_MS, run: countExpected },
        ...presence.work(),
      ]);
      return async () => {
        stop();
        for (const stop of unlisten) await stop();
      };
    },

    /** Lets every conversation store what came in, for `ms` at most, then ends it: come again soon. */
    drain: async (ms: number): Promise<void> => {
      const leaving = [...sessions.values()];
      const limit = new AbortController();
      const drained = Promise.all(leaving.map((session) => session.drain('the server restarts')));
      await Promise.race([drained, clock.sleep(ms, limit.signal).catch(() => undefined)]);
      limit.abort();
      const ids = [...sessions.keys()].map((id) => ({ id, silentMs: 0 }));
      sessions.clear();
      for (const session of leaving) session.close(CloseCode.restart, 'the server restarts');
      if (ids.length > 0)
        await presence
          .left(ids)
          .catch((error: Error) => failed('noting that collectors went', 1, error.message));
    },

    presence,
  };
}
