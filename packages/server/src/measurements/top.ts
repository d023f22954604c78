/** `GET /api/metrics/top`: the highest of the last measurements. */
import { METRICS, type MetricName, type TopEntry, type TopQuery } from '@rollcall/shared/api/measurements';
import { inScope, oneOf, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { isOfInterface } from './aggregate.ts';
import { columnsOf, ofSample } from './series.ts';

/** Older measurements are not of now. */
const NOW_MS = 300_000;

interface Row {
  at: Date;
  overMs: number;
  /** Of interfaces their ids, then what the metric follows from, in the order of `columnsOf`. */
  columns: unknown[];
  deviceId: string;
  deviceName: string;
  siteId: string;
}
type Found = Omit<TopEntry, 'interfaceName' | 'unit' | 'at'> & { at: number };

export async function readTop(
  sql: Sql,
  query: TopQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<TopEntry[]> {
  const rows = await lastSamples(sql, query, scope, new Date(now - NOW_MS));
  const best = rows
    .flatMap((row) => measured(row, query.metric))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || (a.deviceName < b.deviceName ? -1 : 1))
    .slice(0, query.limit);
  const names = await namesOf(sql, best);
  return best.map(({ at, ...entry }) => ({
    ...entry,
    interfaceName: names.get(entry.interfaceId ?? '') ?? null,
    unit: METRICS[query.metric].unit,
    at: Math.floor(at / 1000),
  }));
}

function lastSamples(sql: Sql, query: TopQuery, scope: Scope, since: Date): Promise<Row[]> {
  const p = new Parameters();
  const where = [
    `m.at > ${p.add(since)}`,
    inScope(p, 'm.site_id', scope),
    ...(query.class ? [oneOf(p, 'd.class', 'text', query.class)] : []),
  ];
  const of = isOfInterface(query.metric) ? 'ports' : 'ping';
  const columns = `jsonb_build_array(${[...(of === 'ports' ? ['id'] : []), ...columnsOf(query.metric)]
    .map((column) => `m.data->'${of}'->'${column}'`)
    .join(', ')})`;
  return sql.query<Row & Record<string, unknown>>(
    // The last of each by the index alone; only what the metric follows from leaves the database: the rest is far more.
    `WITH last AS MATERIALIZED (
       SELECT DISTINCT ON (m.site_id, m.device_id, m.part) m.site_id, m.device_id, m.part, m.at, d.name
       FROM samples m JOIN devices d ON d.site_id = m.site_id AND d.id = m.device_id
       WHERE ${where.join(' AND ')} ORDER BY m.site_id, m.device_id, m.part, m.at DESC)
     SELECT l.at, m.over_ms AS "overMs", ${columns} AS columns,
       l.device_id AS "deviceId", l.site_id AS "siteId", l.name AS "deviceName"
     FROM last l JOIN samples m ON m.site_id = l.site_id AND m.device_id = l.device_id AND m.part = l.part AND m.at = l.at`,
    p.values,
  );
}

function measured(row: Row, metric: MetricName): Found[] {
  const { deviceId, deviceName, siteId, at, overMs, columns } = row;
  const names = columnsOf(metric);
  const found = (interfaceId: string | null, valueIn: (column: unknown) => unknown): Found[] => {
    const value = ofSample(
      metric,
      (name) => {
        const one = valueIn(columns.at(names.indexOf(name) - names.length));
        return typeof one === 'number' ? one : null;
      },
      overMs,
    );
    return value === null ? [] : [{ deviceId, deviceName, siteId, interfaceId, value, at: at.getTime() }];
  };
  if (!isOfInterface(metric)) return found(null, (column) => column);
  const [ids] = columns;
  return Array.isArray(ids)
    ? ids.flatMap((id: string, i) => found(id, (column) => (Array.isArray(column) ? column[i] : null)))
    : [];
}

async function namesOf(sql: Sql, found: readonly Found[]): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; name: string }>(
    'SELECT id, name FROM interfaces WHERE site_id = ANY($1::uuid[]) AND id = ANY($2::uuid[])',
    [
      [...new Set(found.map(({ siteId }) => siteId))],
      found.flatMap(({ interfaceId }) => (interfaceId === null ? [] : [interfaceId])),
    ],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
