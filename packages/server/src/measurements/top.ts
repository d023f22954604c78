/** `GET /api/metrics/top`: the highest of the last measurements. */
import { METRICS, type MetricName, type TopEntry, type TopQuery } from '@rollcall/shared/api/measurements';
import { inScope, oneOf, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { isOfInterface } from './aggregate.ts';
import { OF_DEVICE } from './chunk.ts';
import { type SampleRow, seriesOfRows } from './samples.ts';
import { lastOf } from './series.ts';

/** Older measurements are not of now. */
const NOW_MS = 300_000;

interface Row extends SampleRow {
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
  return sql.query<Row & Record<string, unknown>>(
    `SELECT DISTINCT ON (m.site_id, m.device_id, m.part) m.at, m.over_ms AS "overMs", m.data,
       m.device_id AS "deviceId", m.site_id AS "siteId", d.name AS "deviceName"
     FROM samples m JOIN devices d ON d.site_id = m.site_id AND d.id = m.device_id
     WHERE ${where.join(' AND ')} ORDER BY m.site_id, m.device_id, m.part, m.at DESC`,
    p.values,
  );
}

function measured(row: Row, metric: MetricName): Found[] {
  const { deviceId, deviceName, siteId, at } = row;
  return [...seriesOfRows([row])].flatMap(([id, series]) => {
    if ((id === OF_DEVICE) === isOfInterface(metric)) return [];
    const value = lastOf(series, metric);
    if (value === null) return [];
    return [{ deviceId, deviceName, siteId, interfaceId: id || null, value, at: at.getTime() }];
  });
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
