/** The last measurements of devices, as long as they are of now. */
import type { RankedName } from '@rollcall/shared/api/measurements';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import { settingsOf } from '../platform/db/site-settings.ts';
import type { Sql } from '../platform/db/sql.ts';
import { PART_OF } from './row.ts';
import { type At, columnsOf, ofSample } from './series.ts';

/** A measurement is of now for so many intervals of its device: one reading may fail, and one be on its way. */
export const INTERVALS = 3;
/** No device is measured less often. */
export const LONGEST_MS = 900_000;
/** No measurement is of now for longer. */
export const OLDEST_MS = INTERVALS * LONGEST_MS;
/** Every measurement is of now for so long, however short the intervals are: samples travel in batches. */
export const LEAST_MS = 60_000;

/** Whether a measurement is of now. @param intervalMs what the site asks for; a slow agent has longer ones */
export const isOfNow = (
  { at, overMs }: { at: Date; overMs: number },
  { now, intervalMs }: { now: number; intervalMs: number },
): boolean =>
  at.getTime() > now - Math.max(LEAST_MS, INTERVALS * Math.min(LONGEST_MS, Math.max(overMs, intervalMs)));

/** A value of a device, or of one of its interfaces. */
export interface LastValue {
  deviceId: string;
  deviceName: string;
  siteId: string;
  interfaceId: string | null;
  value: number;
  at: Date;
}

interface Row extends Pick<LastValue, 'deviceId' | 'deviceName' | 'siteId' | 'at'> {
  overMs: number;
  /** Of interfaces their ids, then what the metric follows from, in the order of `columnsOf`. */
  columns: unknown[];
}

interface Asked {
  of: 'device' | 'interface';
  scope: Scope;
  now: number;
  /** Conditions over `devices d` besides. */
  where?: (p: Parameters) => string[];
}

/** The last values of a metric, of every device that has them now, in order of devices. */
export async function lastValues(sql: Sql, metric: RankedName, asked: Asked): Promise<LastValue[]> {
  const rows = await ofNow(sql, await lastRows(sql, metric, asked), asked);
  return rows.flatMap((row) => valuesOf(row, metric, asked.of));
}

/** The `limit` highest of the last values of a metric above 0; of the same value, in order of the names of their devices. */
export async function highestValues(
  sql: Sql,
  metric: RankedName,
  { limit, ...asked }: Asked & { limit: number },
): Promise<LastValue[]> {
  const { key, from, p } = lastOfEach(asked);
  const rows = await sql.query<Place & { value: number; overMs: number } & Record<string, unknown>>(
    `SELECT ${PLACE}, m.over_ms AS "overMs", (m.highest->'${key}'->'${metric}')::float8 AS value
     ${from} AND m.highest->'${key}' ? '${metric}'`,
    p.values,
  );
  // The highest values are in no more rows than there are of them, and in those that come first: only these are read whole.
  const first = (await ofNow(sql, rows, asked)).sort(byValue).slice(0, limit);
  const all = await valuesAt(sql, metric, { of: asked.of, places: first });
  return all
    .filter(({ value }) => value > 0)
    .sort(byValue)
    .slice(0, limit);
}

/** Those of the rows that are of now. */
async function ofNow<T extends { siteId: string; at: Date; overMs: number }>(
  sql: Sql,
  rows: readonly T[],
  { scope, now }: Pick<Asked, 'scope' | 'now'>,
): Promise<T[]> {
  const intervals = await intervalsOf(sql, scope);
  return rows.filter((row) => isOfNow(row, { now, intervalMs: intervals.get(row.siteId) ?? 0 }));
}

const byValue = (a: Ranked, b: Ranked): number =>
  b.value - a.value || (a.deviceName === b.deviceName ? 0 : a.deviceName < b.deviceName ? -1 : 1);
type Ranked = Pick<LastValue, 'value' | 'deviceName'>;

/** A row of samples. */
interface Place extends Pick<LastValue, 'deviceId' | 'deviceName' | 'siteId' | 'at'> {
  part: string;
}
const PLACE = `m.at, m.part::text AS part, d.id AS "deviceId", d.site_id AS "siteId", d.name AS "deviceName"`;

/**
 * The last reading of each monitored device `d` that has the part asked for, as rows `m`: several where there are many interfaces.
 * @returns the name of the part, and the FROM and WHERE of a statement with its parameters
 */
function lastOfEach({ of, scope, now, where }: Asked): { key: string; from: string; p: Parameters } {
  const key = PART_OF[of];
  const p = new Parameters();
  const since = `${p.add(new Date(now - OLDEST_MS))}::timestamptz`;
  // Nothing else is measured: where most devices are not monitored, none of them is looked up.
  const conditions = [inScope(p, 'd.site_id', scope), 'd.monitor', ...(where?.(p) ?? [])].join(' AND ');
  const from = `FROM devices d CROSS JOIN LATERAL (
       SELECT at, part, over_ms, data, highest FROM samples
       WHERE site_id = d.site_id AND device_id = d.id AND at > ${since} AND highest ? '${key}'
       ORDER BY at DESC FETCH FIRST ROW WITH TIES) m
     WHERE ${conditions}`;
  return { key, from, p };
}

/** Only what the metric follows from leaves the database: the rest is far more. */
const columnsIn = (of: Asked['of'], metric: RankedName): string => {
  const columns = [...(of === 'interface' ? ['id'] : []), ...columnsOf(metric)];
  return `jsonb_build_array(${columns.map((column) => `m.data->'${PART_OF[of]}'->'${column}'`).join(', ')})`;
};

function lastRows(sql: Sql, metric: RankedName, asked: Asked): Promise<Row[]> {
  const { from, p } = lastOfEach(asked);
  return sql.query<Row & Record<string, unknown>>(
    `SELECT ${PLACE}, m.over_ms AS "overMs", ${columnsIn(asked.of, metric)} AS columns ${from} ORDER BY d.site_id, d.id`,
    p.values,
  );
}

async function valuesAt(
  sql: Sql,
  metric: RankedName,
  { of, places }: { of: Asked['of']; places: readonly Place[] },
): Promise<LastValue[]> {
  const rows = await sql.query<Row & Record<string, unknown>>(
    `SELECT ${PLACE}, m.over_ms AS "overMs", ${columnsIn(of, metric)} AS columns
     FROM jsonb_to_recordset($1::jsonb) AS r("siteId" uuid, "deviceId" uuid, at timestamptz, part int8)
     JOIN samples m ON m.site_id = r."siteId" AND m.device_id = r."deviceId" AND m.at = r.at AND m.part = r.part
     JOIN devices d ON d.site_id = m.site_id AND d.id = m.device_id`,
    [JSON.stringify(places)],
  );
  return rows.flatMap((row) => valuesOf(row, metric, of));
}

/** How often the agent of a device is read, if it answers now. */
export async function readReadings(
  sql: Sql,
  { id, siteId }: { id: string; siteId: string },
  now: number,
): Promise<{ deviceId: string; askedSeconds: number; everySeconds: number }[]> {
  const [row] = await sql.query<{ at: Date; overMs: number; lagMs: number | null }>(
    // The first part of a reading says it.
    `SELECT at, over_ms AS "overMs", (data->>'lagMs')::int AS "lagMs" FROM samples
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND at > $3 AND data ?| '{ports,gap}' ORDER BY at DESC, part LIMIT 1`,
    [siteId, id, new Date(now - OLDEST_MS)],
  );
  const intervalMs = (await intervalsOf(sql, [siteId])).get(siteId) ?? 0;
  if (!row || !isOfNow(row, { now, intervalMs: intervalMs + (row.lagMs ?? 0) })) return [];
  const everySeconds = (intervalMs + (row.lagMs ?? 0)) / 1000;
  return [{ deviceId: id, askedSeconds: intervalMs / 1000, everySeconds }];
}

/** Milliseconds between two readings, by site. */
export async function intervalsOf(sql: Sql, scope: Scope): Promise<Map<string, number>> {
  const p = new Parameters();
  const sites = await sql.query<{ id: string; settings: unknown }>(
    `SELECT s.id, s.settings FROM sites s WHERE ${inScope(p, 's.id', scope)}`,
    p.values,
  );
  return new Map(sites.map(({ id, settings }) => [id, settingsOf(settings).watchSnmpSeconds * 1000]));
}

function valuesOf(row: Row, metric: RankedName, of: Asked['of']): LastValue[] {
  const { deviceId, deviceName, siteId, at, overMs, columns } = row;
  const names = columnsOf(metric);
  const found = (interfaceId: string | null, valueIn: (column: unknown) => unknown): LastValue[] => {
    const known: At = (name) => {
      const one = valueIn(columns.at(names.indexOf(name) - names.length));
      return typeof one === 'number' ? one : null;
    };
    const value = ofSample(metric, known, overMs);
    return value === null ? [] : [{ deviceId, deviceName, siteId, interfaceId, value, at }];
  };
  if (of === 'device') return found(null, (column) => column);
  const [ids] = columns;
  return Array.isArray(ids)
    ? ids.flatMap((id: string, i) => found(id, (column) => (Array.isArray(column) ? column[i] : null)))
    : [];
}

/** Names of interfaces by their ids. */
export async function interfaceNames(
  sql: Sql,
  values: readonly Pick<LastValue, 'siteId' | 'interfaceId'>[],
): Promise<Map<string, string>> {
  const ids = values.flatMap(({ interfaceId }) => interfaceId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: string; name: string }>(
    'SELECT id, name FROM interfaces WHERE site_id = ANY($1::uuid[]) AND id = ANY($2::uuid[])',
    [[...new Set(values.map(({ siteId }) => siteId))], ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
