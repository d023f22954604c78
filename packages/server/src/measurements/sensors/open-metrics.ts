/** Sensors as they were read last, as families of OpenMetrics in base units. */
import { SENSOR_KINDS, type SensorKind } from '@rollcall/shared/sensors';
import { healthOf } from '../../platform/db/health.ts';
import { inScope, Parameters, type Scope } from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';

/** Sensors are read every five minutes: older readings are not of now. */
const NOW_MS = 900_000;
/** Sensors that are read at once. */
const PAGE = 10_000;

/** Name behind `rollcall_sensor_`, with its base unit, and what the value is multiplied by. */
const FAMILIES: Readonly<Record<SensorKind, { name: string; by: number } | null>> = {
  temperature: { name: 'temperature_celsius', by: 1 },
  humidity: { name: 'humidity_ratio', by: 1e-2 },
  voltage: { name: 'voltage_volts', by: 1 },
  current: { name: 'current_amperes', by: 1 },
  power: { name: 'power_watts', by: 1 },
  energy: { name: 'energy_joules', by: 3.6e6 },
  frequency: { name: 'frequency_hertz', by: 1 },
  fan: { name: 'fan_speed_revolutions_per_minute', by: 1 },
  'signal-power': { name: 'signal_power_dbm', by: 1 },
  snr: { name: 'signal_to_noise_decibels', by: 1 },
  airflow: { name: 'airflow_cubic_feet_per_minute', by: 1 },
  pressure: { name: 'pressure_pascals', by: 1e3 },
  'power-factor': { name: 'power_factor_ratio', by: 1 },
  bitrate: { name: 'bitrate_bits_per_second', by: 1 },
  'chromatic-dispersion': { name: 'chromatic_dispersion_seconds_per_meter', by: 1e-3 },
  processor: { name: 'processor_usage_ratio', by: 1e-2 },
  memory: { name: 'memory_usage_ratio', by: 1e-2 },
  storage: { name: 'storage_usage_ratio', by: 1e-2 },
  load: { name: 'load_ratio', by: 1e-2 },
  charge: { name: 'battery_charge_ratio', by: 1e-2 },
  runtime: { name: 'battery_runtime_seconds', by: 60 },
  supply: { name: 'supply_level_ratio', by: 1e-2 },
  count: { name: 'things', by: 1 },
  percent: { name: 'share_ratio', by: 1e-2 },
  state: null,
};
const HEALTH = { ok: 0, unknown: 0, warning: 1, critical: 2 } as const;

interface Row extends Record<string, unknown> {
  site: string;
  siteId: string;
  device: string;
  key: string;
  deviceId: string;
  id: string;
  name: string;
  kind: SensorKind;
  component: string;
  value: number | null;
  health: number;
}

interface Asked {
  scope: Scope;
  now: number;
  labelled: (labels: Record<string, string>) => string;
  /** Sensors that are read at once. */
  page?: number;
}

/** Families of OpenMetrics in pieces, the lines of each together; no more than a page of sensors is in memory. */
export async function* sensorFamilies(sql: Sql, asked: Asked): AsyncGenerator<string> {
  yield '# HELP rollcall_sensor_health How a sensor is judged: 0 ok, 1 warning, 2 critical.\n';
  yield '# TYPE rollcall_sensor_health gauge\n';
  const kinds = new Set<SensorKind>();
  for await (const sensors of pages(sql, asked)) {
    for (const { kind } of sensors) kinds.add(kind);
    yield linesOf(sensors, asked, ({ health }) => {
      const judged = healthOf(health);
      return judged === 'unknown' ? null : { name: 'rollcall_sensor_health', value: HEALTH[judged] };
    });
  }
  for (const kind of SENSOR_KINDS) {
    const family = FAMILIES[kind];
    if (!family || !kinds.has(kind)) continue;
    const name = `rollcall_sensor_${family.name}`;
    yield `# HELP ${name} Sensors of the kind ${kind}, as devices tell them.\n# TYPE ${name} gauge\n`;
    for await (const sensors of pages(sql, asked, kind))
      yield linesOf(sensors, asked, ({ value }) =>
        value === null ? null : { name, value: value * family.by },
      );
  }
}

/** Sensors that were read lately, in pages by their key. */
async function* pages(
  sql: Sql,
  { scope, now, page = PAGE }: Asked,
  kind?: SensorKind,
): AsyncGenerator<Row[]> {
  let last: Row | undefined;
  do {
    const p = new Parameters();
    const since = `${p.add(new Date(now - NOW_MS))}::timestamptz`;
    const where = [
      inScope(p, 'x.site_id', scope),
      `x.gone_at IS NULL AND x.last_seen > ${since}`,
      ...(kind ? [`x.kind = ${p.add(kind)}::text`] : []),
      ...(last
        ? [
            `(x.site_id, x.device_id, x.key) > (${p.add(last.siteId)}::uuid, ${p.add(last.deviceId)}::uuid, ${p.add(last.key)}::text)`,
          ]
        : []),
    ];
    const sensors = await sql.query<Row>(
      `SELECT s.name AS site, d.name AS device, x.site_id AS "siteId", x.device_id AS "deviceId", x.key, x.id, x.name, x.kind,
         x.component, x.value, x.health
       FROM sensors x JOIN devices d ON d.site_id = x.site_id AND d.id = x.device_id JOIN sites s ON s.id = x.site_id
       WHERE ${where.join(' AND ')} ORDER BY x.site_id, x.device_id, x.key LIMIT ${page}`,
      p.values,
    );
    if (sensors.length > 0) yield sensors;
    last = sensors.length < page ? undefined : sensors.at(-1);
  } while (last);
}

function linesOf(
  sensors: readonly Row[],
  { labelled }: Asked,
  told: (sensor: Row) => { name: string; value: number } | null,
): string {
  return sensors
    .map((sensor) => {
      const one = told(sensor);
      if (one === null) return '';
      const { site, device, deviceId, name, id, component } = sensor;
      const labels = labelled({ site, device, device_id: deviceId, sensor: name, sensor_id: id, component });
      return `${one.name}{${labels}} ${one.value}\n`;
    })
    .join('');
}
