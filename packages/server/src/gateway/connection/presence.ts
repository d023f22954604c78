/** Who is connected, as the row of each collector says it and events tell it. */
import { allOrEach } from '../../platform/db/all-or-each.ts';
import { announce, notifyWatch } from '../../platform/db/notify.ts';
import { ONLINE_SECONDS } from '../../platform/ops/online.ts';
import type { Periodic } from '../../platform/ops/periodic.ts';
import { rateLimitedLog } from '../../platform/ops/rate-limited-log.ts';
import type { CollectorDeps } from '../deps.ts';
import { about, clampInt } from '../identity.ts';
import { changesBetween, type SelfReport } from './self-report.ts';
import type { Session } from './session.ts';

/** What collectors say of themselves is written this often. */
const BEAT_MS = 10_000;
/** A collector that was heard since is on its way back: links break, and a reconnect takes up to 10 s. */
const AWAY_SECONDS = 15;
/** Collectors that are away are looked for this often. */
const AWAY_MS = 5_000;
/** After a start, and after the database was away, everybody is on the way back for this long. */
const RETURN_MS = 60_000;

type Deps = Pick<CollectorDeps, 'db' | 'clock' | 'log' | 'recordChanges'> & {
  instance: string;
  /** Those connected here, by collector. */
  sessions: ReadonlyMap<string, Session>;
};

export type Presence = ReturnType<typeof openPresence>;

export function openPresence(deps: Deps) {
  const { clock, log } = deps;
  const refused = rateLimitedLog(clock, (collector, failures, reason) =>
    log.warn({ collector, err: reason, failures }, 'what a collector said of itself was not written'),
  );

  /**
   * Who is away is said only by an instance that has been here, with its database, for as long as it takes to come back:
   * after a restart nobody is away, everybody is on the way. No step depends on another.
   */
  const work = (): Periodic[] => {
    let since = clock.monotonic();
    let last = since;
    const beat = () =>
      writeBeats(deps, refused).catch((error: unknown) => {
        since = clock.monotonic();
        throw error;
      });
    const lookForAbsent = async () => {
      const now = clock.monotonic();
      if (now - last > 3 * AWAY_MS) since = now;
      last = now;
      if (now - since >= RETURN_MS) await noteAbsent(deps);
    };
    return [
      { what: 'noting who is there', everyMs: BEAT_MS, run: beat },
      { what: 'forgetting dead instances', everyMs: BEAT_MS, run: () => forgetDead(deps) },
      { what: 'looking for who is away', everyMs: AWAY_MS, run: lookForAbsent },
    ];
  };

  return {
    work,
    left: left.bind(null, deps),
    writeBeats: writeBeats.bind(null, deps, refused),
    forgetDead: forgetDead.bind(null, deps),
    noteAbsent: noteAbsent.bind(null, deps),
  };
}

/**
 * Writes that they are there, what they said of themselves, and how their clocks go. A collector that another instance
 * took for gone, because this one could not write for a while, is there again.
 */
async function writeBeats(
  deps: Deps,
  refused: (collector: string, failures: number, reason: string) => void,
): Promise<void> {
  const rows = [...deps.sessions].map(([id, { beat, clockOffsetMs }]) => {
    const { addresses = null, ...health } = beat ?? {};
    return { id, offset: clampInt(clockOffsetMs), health, addresses };
  });
  await allOrEach(
    rows,
    (some) => writeRows(deps, some),
    ({ id }, error) => refused(id, 1, error.message),
  );
}

const writeRows = ({ db, clock, recordChanges, instance }: Deps, rows: readonly object[]): Promise<void> =>
  db.transaction(async (sql) => {
    const written = await sql.query<{
      id: string;
      name: string;
      site_id: string;
      absent: boolean;
      was: SelfReport;
      is: SelfReport;
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
      ...back.map((row) => ({ kind: 'collector.online' as const, ...about(row, clock.now()) })),
      ...written.flatMap((row) =>
        changesBetween(row.absent ? { ...row.was, health: {} } : row.was, row.is).map(
          ({ agoMs, ...turn }) => ({
            ...about(row, clock.now() - agoMs),
            ...turn,
          }),
        ),
      ),
    ];
    if (changes.length > 0) await recordChanges(sql, changes);
  });

/** Forgets what dead instances left behind. */
const forgetDead = ({ db }: Deps): Promise<void> =>
  db.transaction(async (sql) => {
    const dead = await sql.query<{ site_id: string }>(
      `UPDATE collectors SET instance = NULL
       WHERE instance IS NOT NULL AND last_seen_at < now() - interval '${ONLINE_SECONDS} seconds' RETURNING site_id`,
    );
    // What they watched falls to the others of their site.
    for (const siteId of new Set(dead.map((row) => row.site_id))) await notifyWatch(sql, siteId);
  });

/** Says which collectors stay away. */
const noteAbsent = ({ db, clock, recordChanges }: Deps): Promise<void> =>
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
      ...about(row, Math.min(clock.now(), row.last_seen_at.getTime())),
      lastSeen: row.last_seen_at.getTime(),
      reason: 'not connected',
    }));
    if (changes.length > 0) await recordChanges(sql, changes);
    for (const { id, site_id } of rows) await announce(sql, site_id, 'collector', [id]);
  });

/** They ended their connections here, silent for so long before. */
const left = ({ db, instance }: Deps, leaving: readonly { id: string; silentMs: number }[]): Promise<void> =>
  db.transaction(async (sql) => {
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
