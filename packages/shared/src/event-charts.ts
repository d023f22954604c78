/** Which events have a chart of what was measured around them, and of what. */
import type { MetricName } from './api/measurements.ts';

/** The metrics that show what each kind of event tells. */
export const EVENT_CHARTS: Readonly<Record<string, readonly MetricName[]>> = {
  'interface.utilisation': ['inUtilisation', 'outUtilisation'],
  'interface.errors': ['inErrors', 'outErrors', 'inDiscards', 'outDiscards'],
  'interface.no-traffic': ['inPackets', 'outPackets'],
  'device.loss': ['loss'],
  'device.latency': ['rtt', 'rttMax'],
  'sensor.critical': ['sensor'],
  'sensor.warning': ['sensor'],
  'storage.full': ['sensor'],
  'memory.full': ['sensor'],
  'processor.busy': ['sensor'],
};

/** The kind whose chart an event has: that of a `flapping` is the one that flaps. Null: it has none. */
export function chartedKind(kind: string, details: Readonly<Record<string, unknown>>): string | null {
  const own = kind === 'flapping' ? String(details.of) : kind;
  return own in EVENT_CHARTS ? own : null;
}

/** Values of each series, and how many of them lie before the event. */
export const CHART_POINTS = 60;
export const CHART_POINTS_BEFORE = 40;
/** Sensors are read every five minutes. */
export const chartStep = (kind: string): number => (EVENT_CHARTS[kind]?.includes('sensor') ? 300 : 60);
