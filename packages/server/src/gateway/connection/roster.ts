/**
 * Who is connected to this instance, and what reaches them from elsewhere: jobs, cancellations, revocations. Everything
 * is told by NOTIFY and found again by looking, so a lost notification costs a second or a few, never more.
 */
import { CloseCode, type Ruleset } from '@rollcall/shared/protocol';
import { allOrEach } from '../../platform/db/all-or-each.ts';
import {
  announce,
  JOBS_CHANNEL,
  LINKS_CHANNEL,
  type LinkNotice,
  notifyWatch,
  WATCH_CHANNEL,
} from '../../platform/db/notify.ts';
import { tellNowAndThen } from '../../platform/ops/now-and-then.ts';
import { ONLINE_SECONDS } from '../../platform/ops/online.ts';
import type { CollectorDeps } from '../deps.ts';
import { clampInt } from '../identity.ts';
import { type Said, turnsOf } from './self-report.ts';
import type { Session } from './session.ts';
import { type Share, shareOf } from './window.ts';

/** Status and holder of every connected collector are looked at this often: a revocation takes no longer. */
const CHECK_MS = 1_000;
/** Jobs are looked for this often besides: deferred ones become due, notifications get lost. */
const OFFER_MS = 5_000;
/** What collectors are to watch is looked at this often besides. */
const WATCH_MS = 60_000;
/** What collectors say of themselves is written this often. */
const BEAT_MS = 10_000;
/** A collector that was heard since is on its way back: links break, and a reconnect takes up to 10 s. */
const AWAY_SECONDS = 15;
/** Collectors that are away are looked for this often. */
const AWAY_MS = 5_000;
/** After a start, and after the database was away, everybody is on the way back for this long. */
const RETURN_MS = 60_000;

type Deps = Pick<CollectorDeps, 'db' | 'clock' | 'log' | 'raise' | 'jobs'> & {
  instance: string;
  /** Locks out a collector of which two were alive at once. */
  quarantineDuplicate(collectorId: string): Promise<void>;
};

export type Roster = ReturnType<typeof createRoster>;

export function createRoster({ db, clock, log, raise, jobs, instance, quarantineDuplicate }: Deps) {
  /** Collector → its conversation. */
  const sessions = new Map<string, Session>();
  /** Collectors that are here or nowhere, and may come. */
  let expected = 0;
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
        quietly('looking at a superseded link', () => supersede(session));
    }
  };

  const offerTo = (siteId: string): void => {
    for (const session of at(siteId)) session.offer();
  };

  const onNotice = (payload: string): void => {
    // Empty after a lost connection: anything may have been missed.
    if (payload === '') {
      quietly('checking collectors', () => check([...sessions.keys()]));
      for (const session of sessions.values()) session.recheck();
      return;
    }
    const notice = JSON.parse(payload) as LinkNotice;
    if (notice.verb === 'cancel')
      for (const { collector, job, fence } of notice.leases) sessions.get(collector)?.cancel({ job, fence });
    else if (!sessions.has(notice.collector)) return;
    else if (notice.verb === 'rotate') sessions.get(notice.collector)?.rotate();
    else quietly('checking a collector', () => check([notice.collector]));
  };

  const failed = tellNowAndThen(clock, (what, failures, reason) =>
    log.warn({ err: reason, failures }, `${what} failed; it is tried again`),
  );
  const round =
    (what: string, work: () => Promise<unknown>, onFailed: () => void = () => undefined) =>
    async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        failed(what, 1, error instanceof Error ? error.message : String(error));
        onFailed();
      }
    };
  const quietly = (what: string, work: () => Promise<unknown>): void => void round(what, work)();

  const offerWhereWorkIs = async (): Promise<void> => {
    if (sessions.size === 0) return;
    for (const siteId of await jobs.sitesWithWork()) offerTo(siteId);
  };

  /**
   * Writes that they are there, what they said of themselves, and how their clocks go. Whoever another instance took for
   * gone, because this one could not write for a while, is there again.
   */
  const writeBeats = async (): Promise<void> => {
    const rows = [...sessions].map(([id, { beat, clockOffsetMs }]) => {
      const { addresses = null, ...health } = beat ?? {};
      return { id, offset: clampInt(clockOffsetMs), health, addresses };
    });
    await allOrEach(rows, writeRows, ({ id }, error) =>
      failed(`noting what collector ${id} said of itself`, 1, error.message),
    );
  };

  const writeRows = (rows: readonly object[]): Promise<void> =>
    db.transaction(async (sql) => {
      const written = await sql.query<{
        id: string;
        name: string;
        site_id: string;
        absent: boolean;
        was: Said;
        is: Said;
      }>(
        `WITH said AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, "offset" int, health jsonb, addresses inet[])),
           before AS (SELECT c.id, c.connected_at IS NULL AS absent,
             jsonb_build_object('offset', c.clock_offset_ms, 'health', c.health) AS was
             FROM collectors c JOIN said ON said.id = c.id ORDER BY c.id FOR NO KEY UPDATE OF c)
         UPDATE collectors c SET last_seen_at = now(), clock_offset_ms = said."offset", instance = $2,
           connected_at = coalesce(c.connected_at, now()), health = c.health || said.health,
           addresses = CASE WHEN said.health = '{}' THEN c.addresses ELSE said.addresses END
         FROM said JOIN before ON before.id = said.id
         WHERE c.id = said.id AND c.status = 'active' AND coalesce(c.instance, $2) = $2
         RETURNING c.id, c.name, c.site_id, before.absent, before.was,
           jsonb_build_object('offset', c.clock_offset_ms, 'health', said.health) AS is`,
        [JSON.stringify(rows), instance],
      );
      const back = written.filter(({ absent }) => absent);
      const changes = [
        ...back.map((row) => ({ kind: 'collector.online' as const, ...about(row) })),
        ...written.flatMap((row) =>
          turnsOf(row.absent ? { ...row.was, health: {} } : row.was, row.is).map((turn) => ({
            ...about(row),
            ...turn,
          })),
        ),
      ];
      if (changes.length > 0) await raise(sql, changes);
    });

  const about = ({ id, name, site_id }: { id: string; name: string; site_id: string }) => ({
    siteId: site_id,
    at: clock.now(),
    collectorId: id,
    collectorName: name,
  });

  /** Forgets what dead instances left behind. */
  const forgetDead = (): Promise<void> =>
    db.transaction(async (sql) => {
      const dead = await sql.query<{ site_id: string }>(
        `UPDATE collectors SET instance = NULL
         WHERE instance IS NOT NULL AND last_seen_at < now() - interval '${ONLINE_SECONDS} seconds' RETURNING site_id`,
      );
      // What they watched falls to the others of their site.
      for (const siteId of new Set(dead.map((row) => row.site_id))) await notifyWatch(sql, siteId);
    });

  /** Says which collectors stay away. */
  const noteAbsent = (): Promise<void> =>
    db.transaction(async (sql) => {
      const rows = await sql.query<{ id: string; name: string; site_id: string; last_seen_at: Date }>(
        `UPDATE collectors SET connected_at = NULL WHERE id IN (
           SELECT id FROM collectors WHERE status = 'active' AND connected_at IS NOT NULL AND instance IS NULL
             AND last_seen_at < now() - interval '${AWAY_SECONDS} seconds' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
         RETURNING id, name, site_id, last_seen_at`,
      );
      // Since its last word: the hold time of the event counts from there.
      const changes = rows.map((row) => ({
        kind: 'collector.offline' as const,
        ...about(row),
        at: Math.min(clock.now(), row.last_seen_at.getTime()),
        lastSeen: row.last_seen_at.getTime(),
        reason: 'not connected',
      }));
      if (changes.length > 0) await raise(sql, changes);
      for (const { id, site_id } of rows) await announce(sql, site_id, 'collector', [id]);
    });

  /**
   * Who is away is said only by an instance that has been here, with its database, for as long as it takes to come back:
   * after a restart nobody is away, everybody is on the way. No step depends on another.
   */
  const presence = () => {
    let since = clock.monotonic();
    let last = since;
    const back = () => {
      since = clock.monotonic();
    };
    return [
      clock.every(BEAT_MS, round('noting who is there', writeBeats, back)),
      clock.every(BEAT_MS, round('forgetting dead instances', forgetDead)),
      clock.every(
        AWAY_MS,
        round('looking for who is away', async () => {
          const now = clock.monotonic();
          if (now - last > 3 * AWAY_MS) back();
          last = now;
          if (now - since >= RETURN_MS) await noteAbsent();
        }),
      ),
    ];
  };

  const countExpected = async (): Promise<void> => {
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM collectors WHERE status = 'active' AND coalesce(instance, $1) = $1`,
      [instance],
    );
    expected = row?.n ?? 0;
  };

  const away = async (leaving: readonly { id: string; silentMs: number }[]): Promise<void> => {
    await db.transaction(async (sql) => {
      const rows = await sql.query<{ id: string; site_id: string }>(
        `UPDATE collectors c SET instance = NULL, last_seen_at = now() - gone.ms * interval '1 millisecond'
         FROM unnest($1::uuid[], $3::float8[]) AS gone(id, ms) WHERE c.id = gone.id AND c.instance = $2
         RETURNING c.id, c.site_id`,
        [leaving.map(({ id }) => id), instance, leaving.map(({ silentMs }) => Math.max(0, silentMs))],
      );
      for (const { id, site_id } of rows) {
        await announce(sql, site_id, 'collector', [id]);
        await notifyWatch(sql, site_id);
      }
    });
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
      if (older) quietly('looking at a superseded link', () => supersede(older));
    },

    gone: (session: Session): void => {
      const id = session.collector?.id;
      if (id === undefined || sessions.get(id) !== session) return;
      sessions.delete(id);
      const { silentMs } = session;
      quietly('noting that a collector went', () => away([{ id, silentMs }]));
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
          if (siteId === '') quietly('looking for jobs', offerWhereWorkIs);
          else offerTo(siteId);
        }),
        await db.listen(LINKS_CHANNEL, onNotice),
        await db.listen(WATCH_CHANNEL, (siteId) => {
          for (const session of siteId === '' ? sessions.values() : at(siteId)) session.watch();
        }),
      ];
      const stops = [
        clock.every(
          CHECK_MS,
          round('checking collectors', () => check([...sessions.keys()])),
        ),
        clock.every(OFFER_MS, round('looking for jobs', offerWhereWorkIs)),
        clock.every(WATCH_MS, () => {
          for (const session of sessions.values()) session.watch();
        }),
        ...presence(),
        clock.every(BEAT_MS, round('counting who may come', countExpected)),
      ];
      return async () => {
        for (const stop of stops) stop();
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
      if (ids.length > 0) await away(ids).catch(() => undefined);
    },

    // Rounds by hand, for those who wait for no clock.
    writeBeats,
    forgetDead,
    noteAbsent,
  };
}
