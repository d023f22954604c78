/** `GET /api/sensors`: sensors as they were read last, those of the last complete reading. */
import type { Sensor, SensorQuery } from '@rollcall/shared/api/sensors';
import { SENSOR_UNITS } from '@rollcall/shared/sensors';
import { healthOf, rankOf } from '../../platform/db/health.ts';
import {
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';

const FILTERS: Filters<FilterOf<SensorQuery>, Scope> = {
  // The site by the device: the key of the table begins with it.
  deviceId: (p, deviceId) => {
    const device = p.add(deviceId);
    return `x.device_id = ${device}::uuid AND x.site_id = (SELECT d.site_id FROM devices d WHERE d.id = ${device}::uuid)`;
  },
  kind: (p, kinds) => oneOf(p, 'x.kind', 'text', kinds),
  health: (p, healths) => oneOf(p, 'x.health', 'int', healths.map(rankOf)),
};

interface Row extends Record<string, unknown> {
  id: string;
  siteId: string;
  deviceId: string;
  deviceName: string;
  key: string;
  name: string;
  kind: Sensor['kind'];
  component: Sensor['component'];
  value: number | null;
  usedBytes: number | null;
  totalBytes: number | null;
  state: string | null;
  limits: Partial<Sensor['limits']>;
  interfaceId: string | null;
  interfaceName: string | null;
  health: number;
  reason: string;
  healthSince: Date;
  firstSeen: Date;
  lastSeen: Date;
}

const COLUMNS = `x.id, x.site_id AS "siteId", x.device_id AS "deviceId", d.name AS "deviceName", x.key, x.name, x.kind,
  x.component, x.value, x.used_bytes AS "usedBytes", x.total_bytes AS "totalBytes", x.state, x.limits,
  i.id AS "interfaceId", i.name AS "interfaceName", x.health, x.reason, x.health_since AS "healthSince",
  x.first_seen AS "firstSeen", x.last_seen AS "lastSeen"`;

const toSensor = ({ limits, ...row }: Row): Sensor => ({
  ...row,
  unit: SENSOR_UNITS[row.kind],
  limits: {
    low: limits.low ?? null,
    lowWarning: limits.lowWarning ?? null,
    highWarning: limits.highWarning ?? null,
    high: limits.high ?? null,
  },
  health: healthOf(row.health),
  healthSince: seconds(row.healthSince),
  firstSeen: seconds(row.firstSeen),
  lastSeen: seconds(row.lastSeen),
});

export async function listSensors(sql: Sql, query: SensorQuery, scope: Scope): Promise<Page<Sensor>> {
  const parameters = new Parameters();
  const { data, totalCount }: Page<Row> = await readPage(sql, {
    columns: COLUMNS,
    from: 'sensors x',
    key: ['x.site_id', 'x.device_id', 'x.key'],
    joins: `JOIN devices d ON d.site_id = x.site_id AND d.id = x.device_id
      LEFT JOIN interfaces i ON i.site_id = x.site_id AND i.device_id = x.device_id AND i.if_index = x.if_index`,
    where: `${inScope(parameters, 'x.site_id', scope)} AND x.gone_at IS NULL`,
    parameters,
    filters: FILTERS,
    context: scope,
    query,
    order: 'x.health, x.device_id, x.id',
  });
  return { data: data.map(toSensor), totalCount };
}
