/**
 * ENTITY-SENSOR-MIB (RFC 3433) and CISCO-ENTITY-SENSOR-MIB, which has the same columns, and thresholds beside them; and
 * the alarms of ENTITY-STATE-MIB (RFC 4268).
 */
import type { SensorKind, SensorReading, SensorStatus } from '@rollcall/shared/sensors';
import { soundLimits } from './decode.ts';
import type { Names } from './names.ts';
import { columns, type Standard, stateReading } from './standard.ts';
import { canBe, fromUnit, isMarker, rounded, unitOf, type Values } from './values.ts';

const STANDARD = '1.3.6.1.2.1.99.1.1.1';
const CISCO = '1.3.6.1.4.1.9.9.91.1.1.1.1';
const column = { type: 1, scale: 2, precision: 3, value: 4, status: 5, units: 6 };

/** EntitySensorDataType, with what Cisco and others add behind it. */
const TYPES: Record<number, readonly [kind: SensorKind, factor: number]> = {
  3: ['voltage', 1],
  4: ['voltage', 1],
  5: ['current', 1],
  6: ['power', 1],
  7: ['frequency', 1],
  8: ['temperature', 1],
  9: ['humidity', 1],
  10: ['fan', 1],
  // Cubic metres a minute.
  11: ['airflow', 35.3147],
  14: ['signal-power', 1],
};
const STATUS = { ok: 1, unavailable: 2, nonoperational: 3 };

/** EntitySensorDataScale: yocto(1) is 10⁻²⁴, units(9), yotta(17). */
const exponentOf = (scale: number | undefined): number =>
  scale === undefined || scale < 1 || scale > 17 ? 0 : (scale - 9) * 3;

/** Kind of a sensor, and what its value is to be multiplied by. */
function scaleOf(values: Values, entry: string, index: string) {
  const type = values.number(`${entry}.${column.type}`, index) ?? 0;
  const units = values.text(`${entry}.${column.units}`, index);
  const known = TYPES[type];
  const unit = type <= 2 && units !== undefined ? unitOf(units) : undefined;
  if (!known && !unit) return undefined;
  const [kind, factor] = known ?? [unit?.kind as SensorKind, unit?.factor as number];
  const precision = values.number(`${entry}.${column.precision}`, index) ?? 0;
  const exponent =
    exponentOf(values.number(`${entry}.${column.scale}`, index)) - Math.max(-8, Math.min(9, precision));
  const scaled = (raw: number) => rounded(fromUnit(raw * factor * 10 ** exponent, unit?.unit));
  return { kind, scaled };
}

function sensorsIn(
  entry: string,
  values: Values,
  names: Names,
  limitsOf: (index: string, scaled: (raw: number) => number) => SensorReading['limits'] = () => undefined,
): SensorReading[] {
  const found: SensorReading[] = [];
  for (const [index, { value: raw }] of values.column(`${entry}.${column.value}`)) {
    const status = values.number(`${entry}.${column.status}`, index) ?? STATUS.ok;
    const scale = scaleOf(values, entry, index);
    if (!scale || typeof raw !== 'number' || status === STATUS.unavailable) continue;
    const { kind, scaled } = scale;
    const component = names.componentOf(index);
    const head = {
      key: `${entry}.${column.value}.${index}`,
      kind,
      name: (names.entity(index) ?? `Sensor ${index}`).slice(0, 255),
      ...(component ? { component } : {}),
    };
    if (status === STATUS.nonoperational) {
      found.push({ ...head, state: 'nonoperational', status: 'unknown' });
      continue;
    }
    const value = scaled(raw);
    if (isMarker(kind, raw) || !canBe(kind, value)) continue;
    const limits = limitsOf(index, scaled);
    found.push({ ...head, value, ...(limits ? { limits } : {}) });
  }
  return found;
}

export const entitySensor: Standard = {
  columns: columns(STANDARD, ...Object.values(column)),
  entities: true,
  decode: (values, names) => sensorsIn(STANDARD, values, names),
};

const THRESHOLD = '1.3.6.1.4.1.9.9.91.1.2.1.1';
const threshold = { severity: 2, relation: 3, value: 4 };
/** CiscoSensorThresholdSeverity, CiscoSensorThresholdRelation. */
const MINOR = 10;
const NOT_SET = -32768;
const HIGH = new Set([3, 4]);
const LOW = new Set([1, 2]);

type Limits = NonNullable<SensorReading['limits']>;

/** Thresholds of each sensor, the least severe first. */
function thresholdsOf(
  values: Values,
): Map<string, { side: 'high' | 'low'; severity: number; raw: number }[]> {
  const found = new Map<string, { side: 'high' | 'low'; severity: number; raw: number }[]>();
  for (const [index, { value: raw }] of values.column(`${THRESHOLD}.${threshold.value}`)) {
    const relation = values.number(`${THRESHOLD}.${threshold.relation}`, index) ?? 0;
    const severity = values.number(`${THRESHOLD}.${threshold.severity}`, index) ?? 0;
    const side = HIGH.has(relation) ? 'high' : LOW.has(relation) ? 'low' : undefined;
    if (!side || typeof raw !== 'number' || raw === NOT_SET || severity < MINOR) continue;
    const sensor = index.split('.')[0] as string;
    found.set(sensor, [...(found.get(sensor) ?? []), { side, severity, raw }]);
  }
  for (const list of found.values()) list.sort((a, b) => a.severity - b.severity);
  return found;
}

export const ciscoEntitySensor: Standard = {
  columns: [...columns(CISCO, 1, 2, 3, 4, 5), ...columns(THRESHOLD, ...Object.values(threshold))],
  entities: true,
  decode(values, names) {
    const thresholds = thresholdsOf(values);
    return sensorsIn(CISCO, values, names, (index, scaled) => {
      const limits: Limits = {};
      for (const side of ['high', 'low'] as const) {
        const list = (thresholds.get(index) ?? []).filter((each) => each.side === side);
        const [least] = list;
        const worst = list.at(-1);
        if (!least || !worst) continue;
        if (list.length > 1 || least.severity <= MINOR) limits[`${side}Warning`] = scaled(least.raw);
        if (list.length > 1 || least.severity > MINOR) limits[side] = scaled(worst.raw);
      }
      return soundLimits(limits);
    });
  },
};

const ENTITY_STATE = '1.3.6.1.2.1.131.1.1.1';
const state = { admin: 2, oper: 3, alarm: 5 };
const OPER: Record<number, string> = { 1: 'unknown', 2: 'disabled', 3: 'enabled', 4: 'testing' };
const LOCKED = 2;
/** AlarmStatus: bits critical(2), major(3), minor(4), warning(5). */
const SEVERE = 0b0011_0000;
const MILD = 0b0000_1100;

export const entityState: Standard = {
  columns: columns(ENTITY_STATE, ...Object.values(state)),
  entities: true,
  decode(values, names) {
    const found: SensorReading[] = [];
    for (const [index, { value }] of values.column(`${ENTITY_STATE}.${state.oper}`)) {
      const component = names.componentOf(index);
      const oper = OPER[Number(value)];
      // Ports have states of their own.
      if (!oper || !component || component === 'optics') continue;
      const alarm = values.column(`${ENTITY_STATE}.${state.alarm}`).get(index);
      const bits = alarm?.type === 'octets' ? (alarm.value[0] ?? 0) : 0;
      const locked = values.number(`${ENTITY_STATE}.${state.admin}`, index) === LOCKED;
      const status: SensorStatus =
        bits & SEVERE || (oper === 'disabled' && !locked)
          ? 'critical'
          : bits & MILD
            ? 'warning'
            : oper === 'enabled'
              ? 'ok'
              : 'unknown';
      const name = names.entity(index) ?? `Entity ${index}`;
      found.push(stateReading(`${ENTITY_STATE}.${state.oper}.${index}`, name, component, [oper, status]));
    }
    return found;
  },
};
