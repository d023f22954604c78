/** `GET /api/metrics/current`: the last measurements of every device, for a Prometheus. */
import type { MetricName } from '@rollcall/shared/api/measurements';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { Problem } from '../platform/problem.ts';
import { OF_DEVICE } from './chunk.ts';
import { PROMETHEUS } from './names.ts';
import { type SampleRow, seriesOfRows } from './samples.ts';
import { sensorLines } from './sensors/open-metrics.ts';
import { lastOf } from './series.ts';

/** Older measurements are not of now. */
const NOW_MS = 300_000;
/** Most devices of one answer: about 50 MB with 24 interfaces each. */
export const CURRENT_DEVICES = 2_000;

/** What of the measurements is told. */
const TOLD = [
  ...(['rtt', 'loss', 'in', 'out', 'inUtilisation', 'outUtilisation'] as const),
  ...(['inErrors', 'outErrors', 'inDiscards', 'outDiscards'] as const),
];
const FAMILIES = TOLD.map((metric) => ({ metric, ...PROMETHEUS[metric] }));

interface Row extends SampleRow {
  deviceId: string;
  device: string;
  siteId: string;
  site: string;
}

/**
 * OpenMetrics 1.0 text.
 * @throws Problem `invalid_request` where there are too many devices for one answer
 */
export async function currentText(sql: Sql, scope: Scope, now: number): Promise<string> {
  const rows = await lastSamples(sql, scope, new Date(now - NOW_MS));
  const devices = new Set(rows.map(({ deviceId }) => deviceId)).size;
  if (devices > CURRENT_DEVICES)
    throw new Problem(
      'invalid_request',
      `more than ${CURRENT_DEVICES} devices are measured: ask for one site at a time (site=…)`,
    );
  const names = await interfaceNames(sql, rows);
  const lines = new Map<MetricName, string[]>(FAMILIES.map(({ metric }) => [metric, []]));
  // A device whose reading failed between has pings in another part: of each value the last one counts.
  const told = new Set<string>();
  for (const row of [...rows].sort((x, y) => y.at.getTime() - x.at.getTime()))
    for (const [id, series] of seriesOfRows([row])) {
      const port = names.get(id);
      if (id !== OF_DEVICE && port === undefined) continue;
      const labels = labelsOf(row, port === undefined ? {} : { interface: port, interface_id: id });
      for (const { metric, name, by } of FAMILIES) {
        const value = lastOf(series, metric);
        const line = `${name}{${labels}}`;
        if (value === null || told.has(line)) continue;
        told.add(line);
        lines.get(metric)?.push(`${line} ${value * by}`);
      }
    }
  const families = FAMILIES.flatMap(({ metric, name, help }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...(lines.get(metric) ?? []),
  ]);
  const sensors = await sensorLines(sql, scope, { now, labelled });
  return `${[...families, ...sensors, '# EOF'].join('\n')}\n`;
}

const labelsOf = ({ site, device, deviceId }: Row, port: Record<string, string>): string =>
  labelled({ site, device, device_id: deviceId, ...port });

const labelled = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

const escaped = (value: string): string =>
  value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

function lastSamples(sql: Sql, scope: Scope, since: Date): Promise<Row[]> {
  const p = new Parameters();
  const where = [`m.at > ${p.add(since)}`, inScope(p, 'm.site_id', scope)];
  return sql.query<Row & Record<string, unknown>>(
    `WITH chosen AS MATERIALIZED (
       SELECT DISTINCT m.site_id, m.device_id FROM samples m WHERE ${where.join(' AND ')} LIMIT ${CURRENT_DEVICES + 1})
     SELECT DISTINCT ON (m.site_id, m.device_id, m.part) m.at, m.over_ms AS "overMs", m.data,
       m.device_id AS "deviceId", d.name AS device, m.site_id AS "siteId", s.name AS site
     FROM chosen c JOIN samples m ON m.site_id = c.site_id AND m.device_id = c.device_id
     JOIN devices d ON d.site_id = m.site_id AND d.id = m.device_id JOIN sites s ON s.id = m.site_id
     WHERE m.at > $1 ORDER BY m.site_id, m.device_id, m.part, m.at DESC`,
    p.values,
  );
}

async function interfaceNames(sql: Sql, rows: readonly Row[]): Promise<Map<string, string>> {
  const found = await sql.query<{ id: string; name: string }>(
    'SELECT id, name FROM interfaces WHERE site_id = ANY($1::uuid[]) AND device_id = ANY($2::uuid[])',
    [[...new Set(rows.map(({ siteId }) => siteId))], [...new Set(rows.map(({ deviceId }) => deviceId))]],
  );
  return new Map(found.map(({ id, name }) => [id, name]));
}
