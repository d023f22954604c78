/** `GET /api/metrics/current`: the last measurements of every device, for a Prometheus. */
import { METRICS } from '@rollcall/shared/api/measurements';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { interfaceNames, type LastValue, lastValues, OLDEST_MS } from './last.ts';
import { PROMETHEUS } from './names.ts';
import { sensorFamilies } from './sensors/open-metrics.ts';

/** Devices that are read at once: what is in memory of them, with 24 interfaces each, is a few megabytes. */
const PAGE = 500;

/** What of the measurements is told. */
const TOLD = [
  ...(['rtt', 'rttMin', 'rttMax', 'loss', 'in', 'out', 'inUtilisation', 'outUtilisation'] as const),
  ...(['inPackets', 'outPackets', 'inErrors', 'outErrors', 'inDiscards', 'outDiscards'] as const),
];

interface Device {
  id: string;
  siteId: string;
  site: string;
}
interface Now {
  scope: Scope;
  now: number;
  /** Devices that are read at once. */
  page?: number;
}

/**
 * OpenMetrics 1.0 text in pieces. Lines of one family stand together, so the devices are gone through once for each, a page
 * at a time: no more than a page is in memory, however many devices there are.
 */
export async function* currentText(sql: Sql, asked: Now): AsyncGenerator<string> {
  for (const metric of TOLD) {
    const { name, help } = PROMETHEUS[metric];
    yield `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
    for await (const devices of pages(sql, asked)) yield await linesOf(sql, metric, devices, asked);
  }
  yield* sensorFamilies(sql, { ...asked, labelled });
  yield '# EOF\n';
}

/** Devices that were measured lately. */
async function* pages(sql: Sql, { scope, now, page = PAGE }: Now): AsyncGenerator<Device[]> {
  let last: Device | undefined;
  do {
    const p = new Parameters();
    const since = `${p.add(new Date(now - OLDEST_MS))}::timestamptz`;
    const where = [
      inScope(p, 'd.site_id', scope),
      'd.monitor',
      `EXISTS (SELECT 1 FROM samples x WHERE x.site_id = d.site_id AND x.device_id = d.id AND x.at > ${since})`,
      ...(last ? [`(d.site_id, d.id) > (${p.add(last.siteId)}::uuid, ${p.add(last.id)}::uuid)`] : []),
    ];
    const devices = await sql.query<Device & Record<string, unknown>>(
      `SELECT d.id, d.site_id AS "siteId", s.name AS site FROM devices d JOIN sites s ON s.id = d.site_id
       WHERE ${where.join(' AND ')} ORDER BY d.site_id, d.id LIMIT ${page}`,
      p.values,
    );
    if (devices.length > 0) yield devices;
    last = devices.length < page ? undefined : devices.at(-1);
  } while (last);
}

async function linesOf(
  sql: Sql,
  metric: (typeof TOLD)[number],
  devices: readonly Device[],
  { now }: Now,
): Promise<string> {
  const { name, by } = PROMETHEUS[metric];
  const { of } = METRICS[metric];
  const values = await lastValues(sql, metric, {
    ...{ of, now, scope: [...new Set(devices.map(({ siteId }) => siteId))] },
    where: (p) => [`d.id = ANY(${p.add(devices.map(({ id }) => id))}::uuid[])`],
  });
  const sites = new Map(devices.map(({ siteId, site }) => [siteId, site]));
  const names = await interfaceNames(sql, values);
  const line = ({ siteId, deviceId, deviceName, interfaceId, value }: LastValue): string => {
    const port = names.get(interfaceId ?? '');
    if (interfaceId !== null && port === undefined) return '';
    const labels = labelled({
      ...{ site: sites.get(siteId) ?? '', device: deviceName, device_id: deviceId },
      ...(port === undefined ? {} : { interface: port, interface_id: interfaceId ?? '' }),
    });
    return `${name}{${labels}} ${value * by}\n`;
  };
  return values.map(line).join('');
}

const labelled = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

const escaped = (value: string): string =>
  value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
