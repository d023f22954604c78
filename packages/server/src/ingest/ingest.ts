/**
 * Observations into the inventory. One batch is one transaction: what it says, the events that follow and the high-water
 * mark of its stream commit together, so that a batch may come any number of times and is stored once.
 *
 * The stages: read → lock → skip what is known → identify, classify, merge → store → outcomes → record → commit.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { JobEndObservation, Observation, OutcomesObservation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Logger } from 'pino';
import { type Database, sqlState } from '../kernel/db.ts';
import { Problem } from '../kernel/problem.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Change, RecordChanges } from './changes.ts';
import { type Batch, bury, type Item, letter, readItems } from './items.ts';
import { type Observing, observe, type Prepared, prepareDevice, prepareHost, type Rules } from './observe.ts';
import { save } from './save.ts';
import { mergeTables, type Timed } from './walked.ts';
import { lockSite, openWorld } from './world.ts';

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
  record: RecordChanges;
}

export interface Ingest {
  /**
   * Stores a batch and answers the highest sequence of its stream that is committed. Fails with
   * `Problem('unavailable')` when the database is away: nothing was stored, nothing may be acknowledged.
   */
  accept(batch: Batch): Promise<{ through: number }>;
}

export function createIngest(deps: IngestDeps): Ingest {
  return {
    async accept(batch) {
      const items = readItems(batch, deps.clock.now());
      return { through: await storeOrSplit(deps, batch, items) };
    },
  };
}

/**
 * Stores items in one transaction. Where the database refuses them, halves them until the one that it refuses stands
 * alone, and buries that one with the reason: the stream goes on.
 */
async function storeOrSplit(deps: IngestDeps, batch: Batch, items: readonly Item[]): Promise<number> {
  try {
    return await deps.db.ingest.transaction((sql) => storeItems(deps, sql, batch, items));
  } catch (error) {
    if (!isPoison(error)) throw error;
    if (items.length > 1) {
      const middle = items.length >> 1;
      await storeOrSplit(deps, batch, items.slice(0, middle));
      return storeOrSplit(deps, batch, items.slice(middle));
    }
    const [item] = items;
    if (!item || item.letter) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    deps.log.warn({ collector: batch.collectorId, seq: item.seq, reason }, 'observation buried');
    const dead = letter(batch.items[item.seq - batch.from], `not stored: ${reason}`);
    return storeOrSplit(deps, batch, [{ seq: item.seq, letter: dead }]);
  }
}

/**
 * Whether an error is about the rows rather than about the database: bad data (22), a constraint (23), a limit (54), or
 * a fault of ours. Everything else, a missing column as much as a full disk, is cured by whoever runs the server; until
 * then the collector keeps what it has.
 */
function isPoison(error: unknown): boolean {
  if (error instanceof Problem) return false;
  const state = sqlState(error);
  return state === undefined ? error instanceof Error : /^(22|23|54)/.test(state);
}

async function storeItems(deps: IngestDeps, sql: Sql, batch: Batch, items: readonly Item[]): Promise<number> {
  const known = await lockStream(sql, batch);
  const fresh = items.filter(({ seq }) => seq > known);
  const last = fresh.at(-1);
  if (!last) return known;
  await bury(sql, batch, fresh);
  await storeState(deps, sql, batch, fresh);
  await sql.query(
    `UPDATE collector_streams SET through = $4, updated_at = $5
     WHERE collector_id = $1::uuid AND epoch = $2::uuid AND stream = $3`,
    [batch.collectorId, batch.epoch, batch.stream, last.seq, new Date(deps.clock.now())],
  );
  return last.seq;
}

/** Locks the stream and answers its high-water mark: of two copies of a batch one waits, then finds nothing to do. */
async function lockStream(sql: Sql, batch: Batch): Promise<number> {
  const key = [batch.collectorId, batch.epoch, batch.stream];
  const read = () =>
    sql.query<{ through: number }>(
      `SELECT through FROM collector_streams
       WHERE collector_id = $1::uuid AND epoch = $2::uuid AND stream = $3 FOR UPDATE`,
      key,
    );
  const [row] = await read();
  if (row) return row.through;
  await sql.query(
    `INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES ($1::uuid, $2::uuid, $3, -1)
     ON CONFLICT DO NOTHING`,
    key,
  );
  return (await read())[0]?.through ?? -1;
}

type Of<Kind extends Observation['kind']> = { observation: Extract<Observation, { kind: Kind }>; at: number };
function ofKind<Kind extends Observation['kind']>(items: readonly Item[], ...kinds: Kind[]): Of<Kind>[] {
  const wanted = (o: Observation): o is Extract<Observation, { kind: Kind }> =>
    kinds.includes(o.kind as Kind);
  return items.flatMap(({ observation, ...item }) =>
    observation && wanted(observation) && 'at' in item ? [{ observation, at: item.at }] : [],
  );
}

async function storeState(deps: IngestDeps, sql: Sql, batch: Batch, items: readonly Item[]): Promise<void> {
  const state = ofKind(items, 'host', 'device', 'rows');
  const ends = ofKind(items, 'outcomes', 'job-end');
  const changes = state.length > 0 ? await merged(deps, sql, batch, state) : [];
  for (const { observation, at } of ends) {
    const from = { siteId: batch.siteId, collectorId: batch.collectorId, at };
    if (observation.kind === 'outcomes') await deps.applyOutcomes(sql, observation, from);
    else await deps.applyJobEnd(sql, observation, from);
  }
  if (changes.length > 0) await deps.record(sql, changes);
}

/** Identify, classify, merge, store. */
async function merged(
  deps: IngestDeps,
  sql: Sql,
  batch: Batch,
  state: readonly Of<'host' | 'device' | 'rows'>[],
): Promise<Change[]> {
  const context: Observing = { rules: deps.rules(), collectorId: batch.collectorId, newId: uuidv7 };
  const prepared = state.flatMap(({ observation, at }): Prepared[] => {
    if (observation.kind === 'host') return [prepareHost(observation, at)];
    return observation.kind === 'device' ? [prepareDevice(observation, at, context.rules)] : [];
  });
  await lockSite(sql, batch.siteId);
  const world = await openWorld(
    sql,
    batch.siteId,
    state.map(({ observation }) => observation),
    prepared.map(({ print }) => print),
  );
  for (const each of prepared) observe(world, each, context);
  const rows = state.filter((each): each is Timed => each.observation.kind === 'rows');
  const writes = await mergeTables(sql, world, rows, context.newId);
  const saved = await save(sql, world, writes);
  await notify(sql, batch.siteId, 'device', saved.devices);
  return world.changes;
}

/** A notification holds 8,000 bytes; more ids than fit are left out, and listeners read the whole list again. */
const NOTIFIED_IDS = 150;

async function notify(
  sql: Sql,
  site: string,
  kind: 'device' | 'interface',
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const message = { site, kind, ...(ids.length <= NOTIFIED_IDS ? { ids } : {}) };
  await sql.query(`SELECT pg_notify('rollcall_live', $1)`, [JSON.stringify(message)]);
}
