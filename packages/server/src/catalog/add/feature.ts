/** Devices that people add, one or many. */

import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { ImportedRow, ImportResult } from '@rollcall/shared/api/add-devices';
import type { Device } from '@rollcall/shared/api/inventory';
import type { Clock } from '@rollcall/shared/clock';
import { canonicalAddress } from '@rollcall/shared/ip';
import { readFields, requireFields } from '../../platform/db/custom-fields.ts';
import type { Database } from '../../platform/db/db.ts';
import { inScope, Parameters, type Scope, scopeOf } from '../../platform/db/list.ts';
import type { Sql, Transaction } from '../../platform/db/sql.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { invalid, Problem } from '../../platform/problem.ts';
import type { By } from '../annotations/sql.ts';
import { applyPatch, type EventActions, type Note } from '../edit.ts';
import { type KnownDevice, planRow } from './plan.ts';
import { type Draft, type ReadRow, readCsv } from './read.ts';

export type AddIds = 'devices.create' | 'devices.import';

/** Which device has an address of a site; ingest decides. Addresses are canonical and each once. */
export interface ByAddress {
  find(sql: Sql, siteId: string, addresses: readonly string[]): Promise<Map<string, string>>;
  /** Makes those that are not there. */
  findOrAdd(
    sql: Sql,
    siteId: string,
    addresses: readonly string[],
  ): Promise<Map<string, { id: string; isNew: boolean }>>;
}

export interface AddDeps {
  db: Database;
  clock: Clock;
  devices: ByAddress;
  events: EventActions;
  /** Makes the writer of the audit log. */
  note: (call: { actor: Actor; address: string }, verb: string, detail?: Record<string, unknown>) => Note;
  read: (id: string, actor: Actor) => Promise<Device>;
}

/** Rows of one transaction: how long a site waits for an import. */
const CHUNK = 200;

export function addHandlers(deps: AddDeps): Handlers<AddIds> {
  const { db, clock, devices, events, note, read } = deps;
  const byOf = (actor: Actor): By => ({ name: actor.name, at: clock.now() });
  return {
    'devices.create': async ({ body, actor, address: from }) => {
      const { site, address: text, ...patch } = body;
      const siteId = (await siteFinder(db, scopeOf(actor)))(site);
      if (siteId === undefined) throw new Problem('forbidden', 'no access to this site');
      const address = canonicalAddress(text);
      if (address === null) throw invalid('address', 'must be an IPv4 or IPv6 address');
      if (!identifiesADevice(address, address)) throw invalid('address', 'is the address of no one device');
      const id = await db.transaction(async (sql) => {
        await requireFields(sql, 'device', patch.fields);
        const found = (await devices.findOrAdd(sql, siteId, [address])).get(address);
        if (!found?.isNew)
          throw new Problem('conflict', `a device of this site has the address ${address} already`);
        const device = { id: found.id, siteId, name: address, monitor: false };
        await applyPatch(sql, events, { device, patch, by: byOf(actor) });
        await note({ actor, address: from }, 'create', body)(sql, { ...device, name: patch.name ?? address });
        return found.id;
      });
      return { data: await read(id, actor), headers: { Location: `/api/devices/${id}` } };
    },

    'devices.import': async ({ body: { csv, dryRun, site }, actor, address: from }) => {
      const csvRead = readCsv(csv, await readFields(db, 'device'));
      if (!csvRead.ok) throw invalid('csv', csvRead.reason);
      const placed = placeRows(csvRead.rows, await siteFinder(db, scopeOf(actor)), site);
      const call = { actor, address: from };
      const done: ImportedRow[] = placed.flatMap((row) => (row.siteId === null ? [failed(row)] : []));
      const lines: Lines = new Map();
      for (const chunk of chunksOf(placed)) {
        const plan = (sql: Sql, ids: Found) => planChunk(sql, chunk, ids, lines);
        if (dryRun) {
          const ids = await devices.find(db, chunk.siteId, chunk.addresses);
          done.push(...(await plan(db, (address) => ids.get(address))).map(({ row }) => row));
        } else done.push(...(await db.transaction((sql) => write(sql, chunk, plan, call))));
      }
      return { data: summed(done, { dryRun, ignored: csvRead.ignored }) };
    },
  };

  async function write(
    sql: Transaction,
    { siteId, addresses }: Chunk,
    plan: (sql: Sql, ids: Found) => Promise<Planned[]>,
    call: { actor: Actor; address: string },
  ): Promise<ImportedRow[]> {
    const found = await devices.findOrAdd(sql, siteId, addresses);
    const planned = await plan(sql, (address) => {
      const device = found.get(address);
      return device?.isNew ? undefined : device?.id;
    });
    await requireFields(sql, 'device', Object.assign({}, ...planned.map(({ patch }) => patch.fields)));
    const done: ImportedRow[] = [];
    for (const { row, known, patch } of planned) {
      if (row.action === 'error') {
        done.push(row);
        continue;
      }
      const id = found.get(row.address)?.id ?? null;
      done.push({ ...row, deviceId: id });
      if (id === null || row.action === 'unchanged') continue;
      const device = { id, siteId, name: known?.name ?? row.address, monitor: known?.monitor ?? false };
      await applyPatch(sql, events, { device, patch, by: byOf(call.actor) });
      const verb = row.action === 'create' ? 'create' : 'update';
      await note(call, verb, { by: 'import', ...patch })(sql, { ...device, name: patch.name ?? device.name });
    }
    return done;
  }
}

/** From the id or name of a site to its id, where the caller sees it. */
async function siteFinder(sql: Sql, scope: Scope): Promise<(text: string) => string | undefined> {
  const p = new Parameters();
  const sites = await sql.query<{ id: string; name: string }>(
    `SELECT id, name FROM sites WHERE ${inScope(p, 'id', scope)}`,
    p.values,
  );
  const byText = new Map(sites.flatMap(({ id, name }) => [[id, id] as const, [name, id] as const]));
  return (text) => byText.get(text) ?? byText.get(text.toLowerCase());
}

interface Placed extends ReadRow {
  /** Null: it has errors. */
  siteId: string | null;
}
/** Gives each row its site, and the errors that only the whole file shows. */
function placeRows(
  rows: readonly ReadRow[],
  siteOf: (text: string) => string | undefined,
  usual: string | undefined,
): Placed[] {
  const lines = new Map<string, number>();
  return rows.map((row) => {
    const name = row.draft.site ?? usual;
    const siteId = name === undefined ? undefined : siteOf(name);
    const errors = [...row.errors];
    if (errors.some(({ column }) => column === null) && row.draft.address === undefined)
      return { ...row, siteId: null };
    if (name === undefined) errors.push({ column: 'site', message: 'is missing' });
    else if (siteId === undefined)
      errors.push({ column: 'site', message: 'there is no such site, or you have no access to it' });
    const key = `${siteId} ${row.draft.address}`;
    const first = lines.get(key);
    if (row.draft.address !== undefined && first !== undefined)
      errors.push({ column: 'address', message: `line ${first} has it already` });
    lines.set(key, first ?? row.line);
    return { ...row, errors, siteId: errors.length > 0 ? null : (siteId ?? null) };
  });
}

const failed = ({ line, draft, errors }: ReadRow): ImportedRow => ({
  ...{ line, action: 'error', deviceId: null, address: draft.address ?? '', changes: [], errors },
});

interface Chunk {
  siteId: string;
  rows: { line: number; draft: Draft & { address: string } }[];
  addresses: string[];
}
/** Rows without errors, by site: each chunk is one transaction. */
function chunksOf(rows: readonly Placed[]): Chunk[] {
  const bySite = new Map<string, Chunk['rows']>();
  for (const { siteId, line, draft } of rows) {
    const { address } = draft;
    if (siteId !== null && address !== undefined)
      bySite.set(siteId, [...(bySite.get(siteId) ?? []), { line, draft: { ...draft, address } }]);
  }
  return [...bySite].flatMap(([siteId, all]) =>
    Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, i) => {
      const some = all.slice(i * CHUNK, (i + 1) * CHUNK);
      return { siteId, rows: some, addresses: some.map(({ draft }) => draft.address) };
    }),
  );
}

/** The device that an address had before; undefined: none. */
type Found = (address: string) => string | undefined;
type Planned = ReturnType<typeof planRow> & { row: ImportedRow; known: KnownDevice | null };

/** The line that has a device first, by its id: a device has several addresses, and its rows would undo each other. */
type Lines = Map<string, number>;

async function planChunk(
  sql: Sql,
  { siteId, rows, addresses }: Chunk,
  idOf: Found,
  lines: Lines,
): Promise<Planned[]> {
  const ids = addresses.flatMap((address) => idOf(address) ?? []);
  const known = new Map(
    (
      await sql.query<KnownDevice & { id: string }>(
        `SELECT id, name, class, monitor, tags, note, fields FROM devices
         WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) ORDER BY id`,
        [siteId, ids],
      )
    ).map((device) => [device.id, device]),
  );
  return rows.map(({ line, draft }) => {
    const { address } = draft;
    const id = idOf(address);
    const before = (id !== undefined && known.get(id)) || null;
    const first = id === undefined ? line : (lines.get(id) ?? line);
    if (first !== line) {
      const errors = [{ column: 'address', message: `line ${first} has another address of the same device` }];
      return { row: failed({ line, draft, errors }), known: before, changes: [], patch: {} };
    }
    if (id !== undefined) lines.set(id, line);
    const { changes, patch } = planRow(draft, before);
    const action = before === null ? 'create' : changes.length > 0 ? 'update' : 'unchanged';
    const row: ImportedRow = { line, action, deviceId: before && (id ?? null), address, changes, errors: [] };
    return { row, known: before, changes, patch };
  });
}

function summed(rows: readonly ImportedRow[], about: Pick<ImportResult, 'dryRun' | 'ignored'>): ImportResult {
  const count = (action: ImportedRow['action']) => rows.filter((row) => row.action === action).length;
  return {
    ...about,
    created: count('create'),
    updated: count('update'),
    unchanged: count('unchanged'),
    failed: count('error'),
    rows: rows.toSorted((a, b) => a.line - b.line),
  };
}
