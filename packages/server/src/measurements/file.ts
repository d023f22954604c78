/** `GET /api/metrics/csv`: measurements as a file. */
import type { MetricData } from '@rollcall/shared/api/measurements';
import { csvLine } from '@rollcall/shared/csv';

const COLUMNS = ['from', 'to', 'device', 'interface', 'sensor', 'metric', 'unit', 'value', 'notMeasured'];

/** Times are ISO 8601 in UTC; `notMeasured` says why there is no value. */
export function* csvOf({ from, step, series }: MetricData): Generator<string> {
  yield csvLine(COLUMNS);
  for (const { deviceName, interfaceName, sensorName, metric, unit, values, gaps } of series)
    for (const [i, value] of values.entries()) {
      const [begin, end] = [from + i * step, from + (i + 1) * step];
      const gap = value === null && gaps.find((one) => one.from < end && one.to > begin);
      yield csvLine([
        ...[iso(begin), iso(end), deviceName, interfaceName, sensorName],
        ...[metric, unit, value, gap ? gap.message : null],
      ]);
    }
}

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
