/** Sensors as they were read last, as families of OpenMetrics in base units. */
import { SENSOR_KINDS, type SensorKind } from '@rollcall/shared/sensors';
import { healthOf } from '../../platform/db/health.ts';
import { inScope, Parameters, type Scope } from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { Problem } from '../../platform/problem.ts';

/** Sensors are read every five minutes: older readings are not of now. */
const NOW_MS = 900_000;
/** Most sensors of one answer: about 60 MB. */
export const CURRENT_SENSORS = 200_000;

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
  device: string;
  deviceId: string;
  id: string;
  name: string;
  kind: SensorKind;
  component: string;
  value: number | null;
  health: number;
}

/**
 * Lines of the families, those of one family together.
 * @throws Problem `invalid_request` where there are too many for one answer
 */
export async function sensorLines(
  sql: Sql,
  scope: Scope,
  { now, labelled }: { now: number; labelled: (labels: Record<string, string>) => string },
): Promise<string[]> {
  const p = new Parameters();
  const rows = await sql.query<Row>(
    `SELECT s.name AS site, d.name AS device, d.id AS "deviceId", x.id, x.name, x.kind, x.component, x.value, x.health
     FROM sensors x JOIN devices d ON d.site_id = x.site_id AND d.id = x.device_id JOIN sites s ON s.id = x.site_id
     WHERE ${inScope(p, 'x.site_id', scope)} AND x.gone_at IS NULL AND x.last_seen > ${p.add(new Date(now - NOW_MS))}
     LIMIT ${CURRENT_SENSORS + 1}`,
    p.values,
  );
  if (rows.length > CURRENT_SENSORS)
    throw new Problem(
      'invalid_request',
      `more than ${CURRENT_SENSORS} sensors are read: ask for one site at a time (site=…)`,
    );
  const values = new Map<SensorKind, string[]>(SENSOR_KINDS.map((kind) => [kind, []]));
  const healths: string[] = [];
  for (const { site, device, deviceId, id, name, kind, component, value, health } of rows) {
    const labels = labelled({ site, device, device_id: deviceId, sensor: name, sensor_id: id, component });
    const family = FAMILIES[kind];
    const judged = healthOf(health);
    if (judged !== 'unknown') healths.push(`rollcall_sensor_health{${labels}} ${HEALTH[judged]}`);
    if (family && value !== null)
      values.get(kind)?.push(`rollcall_sensor_${family.name}{${labels}} ${value * family.by}`);
  }
  return [
    '# HELP rollcall_sensor_health How a sensor is judged: 0 ok, 1 warning, 2 critical.',
    '# TYPE rollcall_sensor_health gauge',
    ...healths,
    ...[...values].flatMap(([kind, lines]) => {
      const name = FAMILIES[kind]?.name;
      if (name === undefined || lines.length === 0) return [];
      const full = `rollcall_sensor_${name}`;
      return [
        `# HELP ${full} Sensors of the kind ${kind}, as devices tell them.`,
        `# TYPE ${full} gauge`,
        ...lines,
      ];
    }),
  ];
}
