/**
 * Changes into events and cases. `recordChanges` runs inside the transaction that stores what the changes speak of; `evaluateDue`
 * decides by itself what only time decides: hold times, suppressions, flapping, expiry.
 *
 * The stages: signals → what only begins to wait (`conditions/backpressure.ts`: unless deciding is late) → lock the site → conditions →
 * events → cases → announce; one statement per table and verb.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { Change, ChangeOf } from '../changes.ts';
import type { Database } from '../platform/db/db.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Logger } from '../platform/ops/log.ts';
import { placeEvents, refreshCases } from './cases/cases.ts';
import { type Backpressure, createBackpressure } from './conditions/backpressure.ts';
import { isSuppressionAsked, type Suppression, step, type Timing } from './conditions/condition.ts';
import { Ledger, type StoredCondition } from './conditions/ledger.ts';
import { expireNotices } from './conditions/notices.ts';
import { heldUntilNow, repeatNoted } from './conditions/occurrences.ts';
import { type SiteSignal, signalsOf } from './conditions/signals.ts';
import * as store from './conditions/store.ts';
import { readSuppressions, readUnsettled } from './conditions/suppression.ts';
import { followRoots, stillWaiting } from './correlation/late-roots.ts';
import type { Incoming } from './correlation/match.ts';
import { forEach } from './each.ts';
import { unacknowledge } from './events/worsening.ts';
import { ascendingIds } from './ids.ts';
import { type EventCode, isSuppressible, kindOf } from './kinds/kinds.ts';
import { linkTrap } from './kinds/traps.ts';
import { endMaintenance } from './maintenance/end.ts';
import { followMerges } from './merged.ts';
import { type IncidentSettings, readSettings } from './settings.ts';

export interface Recorder {
  /** Opens, counts up and clears events, and makes their cases. Inside the caller's transaction. */
  recordChanges(sql: Sql, changes: readonly Change[]): Promise<void>;
  /** Decides what is due by now. Call it many times a second, by any number of instances. @returns decisions made. */
  evaluateDue(): Promise<number>;
}

/** How often events that expire are looked for: it reads every live event. */
const EXPIRE_EVERY_MS = 60_000;
/** How often ends of maintenance are looked for. */
const ENDED_EVERY_MS = 1_000;

export interface RecorderDeps {
  db: Database;
  clock: Clock;
  /** Hears when deciding is so late that taking in waits for it. */
  log?: Logger;
}

export function createRecorder({ db, clock, log }: RecorderDeps): Recorder {
  const backpressure = createBackpressure({ clock, log });
  const seldom = (everyMs: number, task: (now: number) => Promise<number>) => {
    let last = Number.NEGATIVE_INFINITY;
    return async (now: number): Promise<number> => {
      if (clock.monotonic() - last < everyMs) return 0;
      last = clock.monotonic();
      return task(now);
    };
  };
  const decide = async (now: number): Promise<number> => {
    const sites = await db.query<{ siteId: string }>(
      'SELECT DISTINCT site_id AS "siteId" FROM conditions WHERE due_at <= $1::timestamptz ORDER BY site_id LIMIT 1000',
      [new Date(now)],
      'kept',
    );
    return forEach(sites, async ({ siteId }) => {
      let decided = 0;
      let due = BUSY;
      // In a storm the next are due by now: at once, rather than with the next call.
      for (let round = 0; round < ROUNDS && due >= BUSY; round++, decided += due)
        due = await db.transaction((sql) => evaluateSite(sql, siteId, clock.now()));
      return decided;
    });
  };
  const tasks = [
    seldom(EXPIRE_EVERY_MS, (now) => expireNotices(db, now)),
    seldom(ENDED_EVERY_MS, (now) => endMaintenance(db, now)),
    decide,
  ];
  return {
    async recordChanges(sql, changes) {
      const known = await nameInterfaces(sql, changes);
      const sites = bySite(known);
      for (const siteId of [...sites.keys()].sort()) {
        const own = sites.get(siteId) ?? [];
        await store.lockChanges(sql, siteId);
        const told = await followMerges(sql, siteId, own, clock.now());
        await recordSite(sql, siteId, told.flatMap(signalsOf), clock.now(), backpressure);
      }
    },
    async evaluateDue() {
      const now = clock.now();
      return forEach(tasks, (task) => task(now));
    },
  };
}

function bySite(changes: readonly Change[]): Map<string, Change[]> {
  const sites = new Map<string, Change[]>();
  for (const change of changes) {
    const own = sites.get(change.siteId);
    if (own) own.push(change);
    else sites.set(change.siteId, [change]);
  }
  return sites;
}

/** How kinds are timed at a site. */
const timing =
  ({ holdMs, recoveryMs }: IncidentSettings) =>
  (code: EventCode): Timing => {
    const { explainable = false, blipsCount = true } = kindOf(code);
    return { holdMs: holdMs(code), suppressible: isSuppressible(code), explainable, blipsCount, recoveryMs };
  };

async function recordSite(
  sql: Sql,
  siteId: string,
  signals: readonly SiteSignal[],
  now: number,
  backpressure: Backpressure,
): Promise<void> {
  if (signals.length === 0) return;
  const settings = await readSettings(sql, siteId);
  const timingOf = timing(settings);
  const newId = ascendingIds(now);
  const begins = waiting(signals, timingOf, newId);
  if (begins.size > 0) await backpressure(sql, siteId);
  const begun = await store.beginConditions(sql, siteId, begins);
  const rest = signals.filter(({ key }) => !begun.has(key));
  if (rest.length === 0) return;
  await store.lockIncidents(sql, siteId);
  const ledger = new Ledger();
  const keys = rest.filter(({ type }) => type !== 'notice').map(({ key }) => key);
  const loaded = new Map(
    (await store.loadConditions(sql, siteId, [...new Set(keys)])).map((each) => [each.key, each]),
  );
  const clearing = rest.flatMap(({ type, key, code, at }) => {
    const known = loaded.get(key);
    return type === 'clear' && known && isSuppressionAsked(known.condition, at, timingOf(code))
      ? [known]
      : [];
  });
  const suppressions =
    clearing.length > 0 ? await readSuppressions(sql, siteId, clearing, { now, settings }) : null;
  for (const signal of rest) {
    const { key, code, at } = signal;
    if (signal.type === 'notice') {
      ledger.notice(newId(), key, code, at, signal.opening);
      continue;
    }
    const touched = ledger.conditions.get(key);
    const condition = touched === undefined ? (loaded.get(key)?.condition ?? null) : touched;
    // An event raised in this very transaction cannot have been closed by hand.
    const live = touched === undefined ? (loaded.get(key)?.live ?? true) : true;
    const asked =
      signal.type === 'clear' ? { ...signal, suppression: suppressions?.get(key) ?? null } : signal;
    const { next, effects } = step(condition, asked, code, timingOf(code), live, newId);
    remember(ledger, key, condition, next, effects);
  }
  const stored = new Map([...loaded].map(([key, { condition }]) => [key, condition]));
  await write(sql, siteId, { ledger, stored, waiting: [] }, now, newId);
}

/**
 * Onsets that, of what nothing is known yet, raise no event by now: most of a storm. They touch neither events nor cases
 * and need not wait for those that do.
 */
function waiting(
  signals: readonly SiteSignal[],
  timingOf: (code: EventCode) => Timing,
  newId: () => string,
): Map<string, StoredCondition> {
  const found = new Map<string, StoredCondition>();
  const several = new Set<string>();
  for (const signal of signals) {
    const { key, code } = signal;
    if (several.has(key)) found.delete(key);
    else if (signal.type === 'onset') {
      const { next, effects } = step(null, signal, code, timingOf(code), true, newId);
      if (next && effects.length === 0) found.set(key, { ...next, caseId: null });
    }
    several.add(key);
  }
  return found;
}

/** Examines what is due at one site. @returns how many conditions were. */
async function evaluateSite(sql: Sql, siteId: string, now: number): Promise<number> {
  await store.lockIncidents(sql, siteId);
  const due = await store.dueConditions(sql, siteId, now, DUE_MOST);
  if (due.length === 0) return 0;
  const settings = await readSettings(sql, siteId);
  const unsettled = await readUnsettled(sql, due, { now, settings });
  const settled = due.filter(({ key }) => !unsettled.has(key));
  const suppressions = await readSuppressions(sql, siteId, settled, { now, settings });
  for (const key of unsettled) suppressions.set(key, { by: 'unsettled' });
  const timingOf = timing(settings);
  const newId = ascendingIds(now);
  const ledger = new Ledger();
  for (const { key, condition, live } of due) {
    const suppression: Suppression | null = suppressions.get(key) ?? null;
    const { kind } = condition;
    const { next, effects } = step(
      condition,
      { type: 'due', at: now, suppression },
      kind,
      timingOf(kind),
      live,
      newId,
    );
    remember(ledger, key, condition, next, effects);
  }
  const stored = new Map(due.map(({ key, condition }) => [key, condition]));
  const waiting = await stillWaiting(sql, siteId, due, suppressions);
  await write(sql, siteId, { ledger, stored, waiting }, now, newId);
  return due.length;
}

/** So many at once are a storm. */
const BUSY = 50;
/** Other sites come next. */
const ROUNDS = 10;
/** Conditions examined per transaction: a bound for its duration. The rest comes with the next call. */
const DUE_MOST = 2_000;

function remember(
  ledger: Ledger,
  key: string,
  before: StoredCondition | null,
  next: ReturnType<typeof step<StoredCondition['opening']>>['next'],
  effects: ReturnType<typeof step<StoredCondition['opening']>>['effects'],
): void {
  // The case of what another device explained is about that device: it takes nothing back of this one alone.
  const explained = before?.state === 'suppressed' && next?.state === 'cleared';
  const caseId = explained ? null : (before?.caseId ?? null);
  if (next !== before) ledger.conditions.set(key, next && { ...next, caseId });
  const own = before?.eventId ?? null;
  for (const effect of effects) ledger.apply(key, { caseId, own }, effect);
}

interface Decided {
  ledger: Ledger;
  /** Conditions as they are stored. */
  stored: ReadonlyMap<string, StoredCondition>;
  /** Stored events that wait for a case. */
  waiting: readonly Incoming[];
}

/**
 * Writes a ledger: cases, then events with their cases, then the conditions that point at both. An event is written
 * once: it has a dozen indexes, and giving it its case afterwards would cost as much again.
 */
async function write(
  sql: Sql,
  siteId: string,
  { ledger, stored, waiting }: Decided,
  now: number,
  newId: () => string,
): Promise<void> {
  const made = [...ledger.fresh.values()];
  const passed = [...ledger.occurrences, ...(await heldUntilNow(sql, siteId, made, newId))];
  const noted = made.filter(({ closeReason }) => closeReason === 'noted');
  const repeated = await repeatNoted(sql, siteId, [...noted, ...passed]);
  const fresh = made.filter(({ id }) => !repeated.has(id));
  // Their live events are in the cases.
  const kept = await store.insertEvents(
    sql,
    siteId,
    passed.filter(({ id }) => !repeated.has(id)),
    NOWHERE,
  );
  await store.countEvents(sql, siteId, ledger.counts);
  const cleared = await store.clearEvents(sql, siteId, ledger.closes);
  const live = await store.liveEvents(sql, siteId, fresh);
  const own = fresh.filter((event) => event.closedAt !== null || !live.has(event.key));
  const placed = await placeEvents(sql, siteId, own, waiting, now, newId);
  const holders = await store.insertEvents(sql, siteId, fresh, placed);
  const charted = fresh.filter(({ id }) => holders.get(id) === id);
  await store.askCharts(sql, siteId, charted, now);
  const { caseOf } = placed;
  for (const { id, conditionKey } of own) {
    const condition = conditionKey === null ? null : ledger.conditions.get(conditionKey);
    const caseId = caseOf.get(id);
    if (condition && caseId) condition.caseId = caseId;
  }
  for (const condition of ledger.conditions.values()) {
    if (!condition?.eventId) continue;
    // One that waited for its root may be looked at again right when the root takes it in.
    condition.caseId = caseOf.get(condition.eventId) ?? condition.caseId;
    condition.eventId = holders.get(condition.eventId) ?? condition.eventId;
  }
  await store.saveConditions(sql, siteId, ledger.conditions, stored);
  await followRoots(sql, siteId, placed, now, newId);
  const closed = [
    ...cleared,
    ...own.flatMap(({ id, closedAt, body }) =>
      closedAt === null ? [] : [{ id, caseId: caseOf.get(id) ?? null, message: body.message }],
    ),
  ];
  // Of those that counted up, some through an insert that met a live one.
  const again = [
    ...ledger.counts.keys(),
    ...fresh.flatMap(({ id }) => (holders.get(id) === id ? [] : (holders.get(id) ?? []))),
  ];
  const worse = await unacknowledge(sql, siteId, { again, fresh: own }, now, newId);
  await refreshCases(sql, siteId, { joined: new Set(caseOf.values()), closed }, now, newId);
  await announce(sql, siteId, 'event', [
    ...new Set([
      ...holders.values(),
      ...kept.values(),
      ...repeated.values(),
      ...ledger.counts.keys(),
      ...cleared.map(({ id }) => id),
      ...worse,
    ]),
  ]);
}

const NOWHERE = { caseOf: new Map<string, string>(), maintenance: new Map<string, number>() };

/** Link traps name an ifIndex; this finds the interfaces they mean, all by one statement. */
async function nameInterfaces(sql: Sql, changes: readonly Change[]): Promise<Change[]> {
  const ports = changes.flatMap((change) => {
    const ifIndex = change.kind === 'trap.received' ? (linkTrap(change)?.ifIndex ?? null) : null;
    if (ifIndex === null || change.kind !== 'trap.received') return [];
    return change.deviceId === null || change.interfaceId
      ? []
      : [{ siteId: change.siteId, deviceId: change.deviceId, ifIndex }];
  });
  if (ports.length === 0) return [...changes];
  const rows = await sql.query<{ id: string; name: string; deviceId: string; ifIndex: number }>(
    `SELECT i.id, i.name, i.device_id AS "deviceId", i.if_index AS "ifIndex"
     FROM (SELECT DISTINCT * FROM jsonb_to_recordset($1::jsonb) AS r("siteId" uuid, "deviceId" uuid, "ifIndex" bigint)) r
     JOIN interfaces i ON i.site_id = r."siteId" AND i.device_id = r."deviceId" AND i.if_index = r."ifIndex"`,
    [JSON.stringify(ports)],
  );
  const found = new Map(rows.map((row) => [`${row.deviceId} ${row.ifIndex}`, row]));
  return changes.map((change) => (change.kind === 'trap.received' ? withInterface(change, found) : change));
}

function withInterface(
  change: ChangeOf<'trap.received'>,
  found: ReadonlyMap<string, { id: string; name: string }>,
): Change {
  const row = found.get(`${change.deviceId} ${linkTrap(change)?.ifIndex}`);
  return row ? { ...change, interfaceId: row.id, ifName: row.name } : change;
}
