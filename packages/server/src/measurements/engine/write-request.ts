/**
 * Samples as one request of Prometheus remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/): a
 * `WriteRequest` in Protocol Buffers, compressed by Snappy (block format). Pure.
 */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { METRIC_NAMES } from '@rollcall/shared/api/measurements';
import { compress } from 'snappyjs';
import { OF_DEVICE } from '../chunk.ts';
import { GAP, INTERVAL, PROMETHEUS } from '../names.ts';
import { type SampleRow, seriesOfRows } from '../row.ts';
import { lastOf } from '../series.ts';

/** A row of `samples`. */
export interface Waiting extends SampleRow {
  siteId: string;
  deviceId: string;
  part: number;
}

/** Tags: field number and wire type of `WriteRequest`, `TimeSeries`, `Label` and `Sample`. */
const LENGTH_DELIMITED = 2;
const tag = (field: number, type: number): number => (field << 3) | type;
const TIMESERIES = tag(1, LENGTH_DELIMITED);
const LABELS = tag(1, LENGTH_DELIMITED);
const SAMPLES = tag(2, LENGTH_DELIMITED);
const LABEL_NAME = tag(1, LENGTH_DELIMITED);
const LABEL_VALUE = tag(2, LENGTH_DELIMITED);
const SAMPLE_VALUE = tag(1, 1);
const SAMPLE_TIMESTAMP = tag(2, 0);

interface Sample {
  /** In the order of their names, as the protocol asks. */
  labels: readonly (readonly [name: string, value: string])[];
  value: number;
  /** Unix milliseconds. */
  at: number;
}

/** In the order of the rows: those of one series must be in the order of time. */
export function writeRequest(rows: readonly Waiting[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { labels, value, at } of rows.flatMap(samplesOf)) {
    writer.uint32(TIMESERIES).fork();
    for (const [name, text] of labels)
      writer.uint32(LABELS).fork().uint32(LABEL_NAME).string(name).uint32(LABEL_VALUE).string(text).join();
    writer.uint32(SAMPLES).fork();
    writer.uint32(SAMPLE_VALUE).double(value).uint32(SAMPLE_TIMESTAMP).int64(at);
    writer.join().join();
  }
  return compress(writer.finish());
}

/** Everything that a row says, each value with the labels of its series. */
export function samplesOf(row: Waiting): Sample[] {
  const at = row.at.getTime();
  const device = ['device_id', row.deviceId] as const;
  const site = ['site_id', row.siteId] as const;
  const interval: Sample = {
    labels: [['__name__', INTERVAL], device, ['part', String(row.part)], site],
    value: row.overMs / 1000,
    at,
  };
  const series = [...seriesOfRows([row])];
  const measured = series.flatMap(([id, one]) =>
    METRIC_NAMES.flatMap((metric): Sample[] => {
      const value = lastOf(one, metric);
      if (value === null) return [];
      const { name, by } = PROMETHEUS[metric];
      const part =
        id === OF_DEVICE ? [] : [[metric === 'sensor' ? 'sensor_id' : 'interface_id', id] as const];
      return [{ labels: [['__name__', name], device, ...part, site], value: value * by, at }];
    }),
  );
  const gaps = series.flatMap(([id, { gaps = [] }]) =>
    gaps.map(({ begins, ends, reason }): Sample => {
      const part = id === OF_DEVICE ? [] : [['interface_id', id] as const];
      const labels = [['__name__', GAP] as const, device, ...part, ['reason', reason] as const, site];
      return { labels, value: (ends - begins) / 1000, at };
    }),
  );
  return measured.length === 0 ? gaps : [interval, ...measured, ...gaps];
}
