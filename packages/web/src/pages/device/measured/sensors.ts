/** Sensors as a page shows them. Pure. */
import type { Sensor } from '@rollcall/shared/api/sensors';
import { valueText } from '../../../components/chart/series.ts';
import { bytes } from '../../../format.ts';

const TITLES: Record<Sensor['component'], string> = {
  psu: 'Power supplies',
  fan: 'Fans',
  battery: 'Battery',
  chassis: 'Chassis',
  module: 'Modules',
  redundancy: 'Redundancy',
  cpu: 'Processors',
  memory: 'Memory',
  disk: 'Storage',
  optics: 'Optics',
  session: 'Sessions',
  wireless: 'Wireless',
  other: 'Other',
};

export interface SensorGroup {
  title: string;
  sensors: readonly Sensor[];
}

/** What is wrong, worst first; then everything by what it belongs to, in the order of the list. */
export function groupsOf(sensors: readonly Sensor[]): { wrong: Sensor[]; groups: SensorGroup[] } {
  const wrong = sensors.filter(({ health }) => health === 'critical' || health === 'warning');
  const byName = new Intl.Collator('en', { numeric: true });
  const groups = (Object.keys(TITLES) as Sensor['component'][]).map((component) => ({
    title: TITLES[component],
    sensors: sensors
      .filter((one) => one.component === component)
      .sort((a, b) => byName.compare(a.name, b.name)),
  }));
  return { wrong, groups: groups.filter((group) => group.sensors.length > 0) };
}

/** What it measures, with the word of the device for its state. */
export function readingText({ value, unit, usedBytes, totalBytes, state }: Sensor): string {
  const measured = value === null ? null : valueText(value, unit).trim();
  const room =
    usedBytes !== null && totalBytes !== null ? `${bytes(usedBytes)} of ${bytes(totalBytes)}` : null;
  return [measured, room, state].filter(Boolean).join(', ');
}

/** The limits that the device states, inner ones in brackets: `5 (10) – (60) 70 °C`. */
export function limitsText({ limits: { low, lowWarning, highWarning, high }, unit }: Sensor): string {
  const side = (...parts: (number | null | string)[]) => parts.filter((part) => part !== null).join(' ');
  const warn = (limit: number | null) => (limit === null ? null : `(${limit})`);
  const below = side(low, warn(lowWarning));
  const above = side(warn(highWarning), high);
  if (!below && !above) return '';
  const range = below && above ? `${below} – ${above}` : below ? `≥ ${below}` : `≤ ${above}`;
  return unit ? `${range} ${unit}` : range;
}

/** Values from zero on, for a line without an axis: what differs is seen, whatever the level. */
export function course(values: readonly (number | null)[]): (number | null)[] {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const floor = low - Math.max(high - low, Math.abs(high) * 0.02);
  return values.map((value) => (value === null ? null : value - floor));
}
