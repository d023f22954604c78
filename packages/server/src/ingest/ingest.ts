/**
 * Observations into the inventory. One batch is one transaction: what it says, the events that follow and the high-water
 * mark of its stream commit together, so that a batch may come any number of times and is stored once.
 *
 * The stages: lock → skip what is known → recognise what came before → read → identify, classify, merge → store →
 * outcomes → record → commit.
 */

import type { Clock } from '@rollcall/shared/clock';
import type {
  JobEndObservation,
  Observation,
  OutcomesObservation,
  RowsObservation,
} from '@rollcall/shared/observation';
import { unstorable } from '@rollcall/shared/storable';
import { uuidv7 } from '@rollcall/shared/uuid';
import { UnknownBySender } from '@rollcall/shared/wire';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import type { Change } from '../changes.ts';
import type { Database } from '../platform/db/db.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { rateLimitedLog } from '../platform/ops/rate-limited-log.ts';
import { reached } from '../platform/ops/stage.ts';
import { inPieces } from '../platform/pieces.ts';
import type { ApplySamples, RecordChanges } from '../ports.ts';
import { storeRefused } from './gaps.ts';
import { type Happened, storeHappened } from './happened.ts';
import { chooseAddresses } from './identity/scan-addresses.ts';
import { digestOf, disturbed, recognise, writeAgain } from './identity/unchanged.ts';
import {
  type Batch,
  correctedTime,
  type Item,
  inOrder,
  notAhead,
  readItem,
  storeDeadLetters,
  toDeadLetter,
  type UnreadItem,
} from './items.ts';
import { countMissed } from './missed.ts';
import { type Observing, observe, type Prepared, prepareDevice, prepareHost, type Rules } from './observe.ts';
import { Faults, Splitting } from './queue/splitting.ts';
import { monitorFound, scanThatEnds } from './scan-end.ts';
import type { Timed } from './tables/rows.ts';
import { save } from './tables/save.ts';
import { mergeTables } from './tables/walked.ts';
import { lockSite, openWorld, type Tracked, type World, walkedDevice } from './world.ts';

/** Whose observation it is, for the functions of other features. */
export interface From {
  siteId: string;
  collectorId: string;
  /** Corrected time, Unix milliseconds. */
  at: number;
}

export interface IngestDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** The compiled rules of this moment. */
  rules: () => Rules;
  applyOutcomes: (sql: Sql, outcomes: OutcomesObservation, from: From) => Promise<void>;
  applyJobEnd: (sql: Sql, end: JobEndObservation, from: From) => Promise<void>;
  /** They wait for no lock of the site. */
  applySamples: ApplySamples;
  /** Turns changes into events and cases, inside the transaction that stores what they speak of. */
  recordChanges: RecordChanges;
  /** Called after a commit that changed what links are made of. */
  relink?: (siteId: string) => void;
}

interface Storing extends IngestDeps {
  /** Windows of state wait here to be merged: no lock is waited for meanwhile. */
  merging: LimitFunction;
  /** Unknown members and values that were logged. */
  logged: UnknownBySender;
}

export interface Ingest {
  /**
   * Stores a batch and answers the highest sequence of its stream that is committed. Fails with
   * `Problem('unavailable')` when the database is away: nothing was stored, nothing may be acknowledged.
   */
  accept(batch: Batch): Promise<{ through: number }>;
}

/** Windows that are identified and merged at once: each keeps the database as busy as the thread. */
const MERGED_AT_ONCE = 2;

export function createIngest(given: IngestDeps): Ingest {
  const deps: Storing = { ...given, merging: pLimit(MERGED_AT_ONCE), logged: new UnknownBySender() };
  const faults = new Faults();
  const told = rateLimitedLog(given.clock, (collector: string, deadLettered) =>
    given.log.warn(
      { collector, deadLettered },
      'observations could not be stored; they are kept as dead letters',
    ),
  );
  return {
    async accept(batch) {
      const items = await inPieces(batch.items, (body, i) => arrive(batch.from + i, body));
      reached('read');
      const splitting = new Splitting(faults, (some) => storeInOne(deps, batch, some));
      const { through, deadLettered } = await splitting.store(items);
      if (deadLettered > 0) told(batch.collectorId, deadLettered);
      return { through };
    },
  };
}

/** An item with the digest of what it says, or dead at once where no database stores such a thing. */
function arrive(seq: number, body: unknown): UnreadItem {
  const reason = unstorable(body);
  return reason === null
    ? { seq, body, digest: digestOf(body) }
    : { seq, body, dead: toDeadLetter(body, reason) };
}

interface Stored {
  through: number;
  /** Something that links are made of differs. */
  relink: boolean;
  /** Something is stored that is not a dead letter. */
  stored: boolean;
}

async function storeInOne(deps: Storing, batch: Batch, items: readonly UnreadItem[]): Promise<Stored> {
  const done = await deps.db.ingest.transaction((sql) => storeItems(deps, sql, batch, items));
  reached('committed');
  if (done.relink) deps.relink?.(batch.siteId);
  return done;
}

async function storeItems(
  deps: Storing,
  sql: Sql,
  batch: Batch,
  items: readonly UnreadItem[],
): Promise<Stored> {
  const known = await lockStream(sql, batch);
  reached('locked');
  const unstored = items.filter(({ seq }) => seq > known.through);
  const last = unstored.at(-1);
  if (!last) return { through: known.through, relink: false, stored: false };
  // What waits for a lock waits outside of the queue of merging: here for the site's, below for that of its events.
  const state = batch.stream === 'state';
  if (state) await lockSite(sql, batch.siteId);
  const merge = () => mergeItems(deps, sql, batch, unstored);
  const { fresh, again, world } = await (state ? deps.merging(merge) : merge());
  if (batch.stream === 'sample') notAhead(fresh, deps.clock.now());
  const latest = batch.stream === 'event' ? inOrder(fresh, known.latest) : 0;
  const settledUntil = await storeChanges(deps, sql, batch, fresh, world?.changes ?? []);
  await writeAgain(sql, batch.siteId, again);
  await sql.query(
    `UPDATE collector_streams SET through = $4, updated_at = $5, latest_at = $6::timestamptz,
       settled_until = greatest(settled_until, $7::timestamptz)
     WHERE collector_id = $1::uuid AND epoch = $2::uuid AND stream = $3`,
    [
      batch.collectorId,
      batch.epoch,
      batch.stream,
      last.seq,
      new Date(deps.clock.now()),
      latest === 0 ? null : new Date(latest),
      settledUntil === null ? null : new Date(settledUntil),
    ],
  );
  reached('marked');
  return {
    through: last.seq,
    relink: world?.relink ?? false,
    stored: fresh.length < unstored.length || fresh.some(({ dead }) => !dead),
  };
}

/** Reads items, and merges those that say something new about devices; `again` holds what came again as it was. */
async function mergeItems(deps: Storing, sql: Sql, batch: Batch, items: readonly UnreadItem[]) {
  const now = deps.clock.now();
  const timeOf = (at: number) => correctedTime(at, batch.clockOffsetMs, now);
  const read = async (some: readonly UnreadItem[]) => {
    const fresh = await inPieces(some, (item) => readItem(item, batch, now));
    const state = ofKind(fresh, 'host', 'device', 'rows');
    return { fresh, observed: state.length > 0 ? await observeAll(deps, sql, batch, state) : undefined };
  };
  let { rest, again } = await recognise(sql, items, batch, deps.rules().id, timeOf);
  let { fresh, observed } = await read(rest);
  if (observed && disturbed(again, observed.touched, observed.world.claimed.values())) {
    [rest, again] = [[...items], []];
    ({ fresh, observed } = await read(rest));
  }
  logUnknown(deps, batch, fresh);
  await storeDeadLetters(sql, batch, fresh);
  reached('dead-lettered');
  if (observed) await mergeAll(sql, batch, observed);
  return { fresh, again, world: observed?.world };
}

/** Logs once what a newer collector reports and this version does not know. */
function logUnknown({ logged, log }: Storing, { collectorId }: Batch, items: readonly Item[]): void {
  for (const item of items) {
    if (item.dead) continue;
    const unknown = logged.untold(collectorId, item.observation.kind, item.unknown);
    if (unknown.length > 0) log.warn({ unknown }, 'a collector reports what this version does not know');
  }
}

/**
 * Locks the stream and answers its high-water mark: of two copies of a batch one waits, then finds nothing to do. And the
 * time of its last observation.
 */
async function lockStream(sql: Sql, batch: Batch): Promise<{ through: number; latest: number }> {
  const key = [batch.collectorId, batch.epoch, batch.stream];
  const read = () =>
    sql.query<{ through: number; latestAt: Date | null }>(
      `SELECT through, latest_at AS "latestAt" FROM collector_streams
       WHERE collector_id = $1::uuid AND epoch = $2::uuid AND stream = $3 FOR UPDATE`,
      key,
    );
  const known = await read();
  if (known.length === 0)
    await sql.query(
      `INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES ($1::uuid, $2::uuid, $3, -1)
     ON CONFLICT DO NOTHING`,
      key,
    );
  const [row] = known.length === 0 ? await read() : known;
  return { through: row?.through ?? -1, latest: row?.latestAt?.getTime() ?? 0 };
}

interface Of<Kind extends Observation['kind']> {
  seq: number;
  observation: Extract<Observation, { kind: Kind }>;
  at: number;
  digest: string | undefined;
}
function ofKind<Kind extends Observation['kind']>(items: readonly Item[], ...kinds: Kind[]): Of<Kind>[] {
  const wanted = (o: Observation): o is Extract<Observation, { kind: Kind }> =>
    kinds.includes(o.kind as Kind);
  return items.flatMap(({ observation, ...item }) =>
    observation && wanted(observation) && 'at' in item
      ? [{ seq: item.seq, observation, at: item.at, digest: item.digest }]
      : [],
  );
}

/** What is not about the inventory, and the events that follow from all of it. @returns until when silences are settled. */
async function storeChanges(
  deps: IngestDeps,
  sql: Sql,
  batch: Batch,
  items: readonly Item[],
  ofInventory: readonly Change[],
): Promise<number | null> {
  const changes = [...ofInventory];
  let settledUntil: number | null = null;
  for (const { observation, at } of ofKind(items, 'outcomes', 'job-end')) {
    const from = { siteId: batch.siteId, collectorId: batch.collectorId, at };
    if (observation.kind === 'outcomes') await deps.applyOutcomes(sql, observation, from);
    else changes.push(...(await endJob(deps, sql, observation, from)));
  }
  const samples = ofKind(items, 'samples');
  if (samples.length > 0) {
    const from = { siteId: batch.siteId, collectorId: batch.collectorId };
    const applied = await deps.applySamples(sql, samples, from);
    const refused = samples.filter((one) => applied.refused.includes(one));
    changes.push(...applied.changes, ...(await storeRefused(sql, batch, refused, deps.clock.now())));
  }
  const happened = ofKind(items, 'watch', 'trap', 'gap');
  if (happened.length > 0) {
    const {
      changes: more,
      devices,
      interfaces,
      settled,
    } = await storeHappened(sql, batch, happened as Happened[]);
    changes.push(...more);
    settledUntil = settled;
    await announce(sql, batch.siteId, 'device', devices);
    await announce(sql, batch.siteId, 'interface', interfaces);
  }
  reached('merged');
  if (changes.length > 0) await deps.recordChanges(sql, changes);
  reached('recorded');
  return settledUntil;
}

async function endJob(
  deps: IngestDeps,
  sql: Sql,
  end: JobEndObservation,
  from: From,
): Promise<readonly Change[]> {
  await deps.applyJobEnd(sql, end, from);
  if (end.result !== 'done') return [];
  const missed = await countMissed(sql, from.siteId, end.job, from.at, from.collectorId);
  const scan = await scanThatEnds(sql, from.siteId, end.job);
  if (!scan) {
    await announce(sql, from.siteId, 'device', missed.devices);
    return missed.changes;
  }
  const chosen = await chooseAddresses(sql, from.siteId, scan, from.at, from.collectorId);
  const monitored = await monitorFound(sql, from.siteId, scan);
  await announce(sql, from.siteId, 'device', [
    ...new Set([...missed.devices, ...chosen.devices, ...monitored]),
  ]);
  return [...missed.changes, ...chosen.changes];
}

/** What a batch comes to, in memory. */
interface Observed {
  world: World;
  walks: Walks;
  /** Devices that were observed or became part of another. */
  touched: ReadonlySet<string>;
}

/** Identify, classify, merge; nothing is stored yet. */
async function observeAll(
  deps: IngestDeps,
  sql: Sql,
  batch: Batch,
  state: readonly Of<'host' | 'device' | 'rows'>[],
): Promise<Observed> {
  const context: Observing = { rules: deps.rules(), collectorId: batch.collectorId, newId: uuidv7 };
  const prepared = await inPieces(state, ({ observation, at, digest }): Prepared | null => {
    if (observation.kind === 'host') return prepareHost(observation, at);
    return observation.kind === 'device' ? prepareDevice(observation, at, context.rules, digest) : null;
  });
  const world = await openWorld(
    sql,
    batch.siteId,
    state.map(({ observation }) => observation),
    prepared.flatMap((each) => each?.print ?? []),
  );
  const walks = new Walks(world);
  const touched = new Set<string>();
  await inPieces(state, ({ observation, at, digest }, i) => {
    const one = prepared[i];
    if (one) {
      const device = observe(world, one, context);
      walks.began(device);
      touched.add(device.row.id);
    } else if (observation.kind === 'rows') walks.add(observation, at, digest);
  });
  for (const { deviceId } of world.left) touched.add(deviceId);
  for (const id of world.absorbed.keys()) touched.add(id);
  return { world, walks, touched };
}

/** Merges the tables of walks and stores everything. */
async function mergeAll(sql: Sql, batch: Batch, { world, walks }: Observed): Promise<void> {
  const saved = new Set<string>();
  for (const rows of walks.rounds) {
    const writes = await mergeTables(sql, world, rows, uuidv7);
    for (const id of await save(sql, world, writes)) saved.add(id);
  }
  await announce(sql, batch.siteId, 'device', [...saved]);
}

/**
 * The rows of a batch in rounds: a second walk of one device is merged after the first is stored, because each is
 * compared with what the one before it left. Nearly always there is one round.
 */
class Walks {
  readonly rounds: Timed[][] = [[]];
  readonly #world: World;
  readonly #round = new Map<string, number>();
  readonly #withRows = new Set<string>();
  /** Whose rows came last. */
  readonly #walk = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A device was seen, perhaps by a new walk. */
  began(device: Tracked): void {
    const { id } = device.row;
    if (this.#withRows.delete(id)) this.#round.set(id, (this.#round.get(id) ?? 0) + 1);
  }

  /** Rows of a walk that a newer one replaced, or of a deleted device, are left out. */
  add(observation: RowsObservation, at: number, digest: string | undefined): void {
    const device = walkedDevice(this.#world, observation);
    if (!device) return;
    const { id } = device.row;
    if (this.#walk.get(id) !== observation.walk) this.began(device);
    this.#walk.set(id, observation.walk);
    const round = this.#round.get(id) ?? 0;
    this.#withRows.add(id);
    while (this.rounds.length <= round) this.rounds.push([]);
    this.rounds[round]?.push({ device: id, observation, at, digest });
  }
}
