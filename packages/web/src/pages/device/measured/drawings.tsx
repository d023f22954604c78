import type { AvailabilityState } from '@rollcall/shared/api/availability';
import type { MetricData, MetricName } from '@rollcall/shared/api/measurements';
import { IconAlertTriangle } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../../api.ts';
import {
  type BandSpan,
  Chart,
  hasValues,
  type Line,
  lineOf,
  type Mark,
  nothing,
  timesOf,
} from '../../../components/chart/index.ts';
import { Loaded } from '../../../components/feedback/index.ts';
import { Panel } from '../../../components/page/index.ts';

/** A chart: which metrics it draws, and how. */
interface Drawing {
  title: string;
  unit: string;
  least?: number;
  lines: readonly (Pick<Line, 'label' | 'colour' | 'isMirrored'> & { metric: MetricName })[];
}

export const OF_DEVICE: readonly Drawing[] = [
  {
    title: 'Round trip',
    unit: 'ms',
    lines: [
      { metric: 'rttMax', label: 'Longest', colour: '--chart-3' },
      { metric: 'rtt', label: 'Mean', colour: '--chart-1' },
      { metric: 'rttMin', label: 'Shortest', colour: '--chart-2' },
    ],
  },
  {
    title: 'Packet loss',
    unit: '%',
    least: 5,
    lines: [{ metric: 'loss', label: 'Pings without an answer', colour: '--fill-bad' }],
  },
];

const both = (of: 'Packets' | 'Errors' | 'Discards') =>
  [
    { metric: `in${of}` as const, label: 'In', colour: '--chart-1', isMirrored: false },
    { metric: `out${of}` as const, label: 'Out', colour: '--chart-2', isMirrored: true },
  ] as const;
export const TRAFFIC = {
  title: 'Traffic',
  unit: 'bit/s',
  least: 1000,
  lines: [
    { metric: 'in', label: 'In', colour: '--chart-1', isMirrored: false },
    { metric: 'out', label: 'Out', colour: '--chart-2', isMirrored: true },
  ],
} as const satisfies Drawing;

export const OF_INTERFACE: readonly Drawing[] = [
  TRAFFIC,
  { title: 'Errors', unit: '1/s', least: 0.1, lines: both('Errors') },
  { title: 'Discards', unit: '1/s', least: 0.1, lines: both('Discards') },
  { title: 'Packets', unit: '1/s', lines: both('Packets') },
];

/** What charts beside each other have in common. */
export interface Shared {
  range: { from?: string; to?: string };
  zoom: (from: number, to: number) => void;
  marks: readonly Mark[];
}

/** Charts of a device, or of one of its interfaces. */
export function Drawings({
  deviceId,
  interfaceId,
  drawings,
  range,
  ...shared
}: Shared & { deviceId: string; interfaceId?: string; drawings: readonly Drawing[] }) {
  const metrics = drawings.flatMap(({ lines }) => lines.map(({ metric }) => metric)).join(',');
  const measured = useQuery({
    ...apiQuery('measurements.get', { query: { deviceId, interfaceId, metrics, ...range } }),
    placeholderData: keepPreviousData,
  });
  const band = useBand(deviceId, interfaceId, range);
  return (
    <Loaded query={measured}>
      {({ data }) => (
        <>
          {!interfaceId && <SlowAgent readings={data.readings} />}
          {drawings.map((drawing) => (
            <Drawn key={drawing.title} {...drawing} {...shared} {...{ data, band }} />
          ))}
        </>
      )}
    </Loaded>
  );
}

const STATES: Record<AvailabilityState, Pick<BandSpan, 'label' | 'colour'>> = {
  up: { label: 'Up', colour: '--fill-ok' },
  down: { label: 'Down', colour: '--fill-bad' },
  maintenance: { label: 'In maintenance', colour: '--chart-2' },
  notObserved: { label: 'Not observed', colour: '--fill-idle' },
};
const NO_BAND: readonly BandSpan[] = [];

/** When it was up, down, in maintenance and not observed: the band under its charts. */
function useBand(deviceId: string, interfaceId: string | undefined, range: Shared['range']) {
  const spans = useQuery({
    ...apiQuery('availability.spans', { query: { deviceId, interfaceId, ...range } }),
    placeholderData: keepPreviousData,
  }).data?.data;
  return useMemo(
    () => spans?.map(({ from, to, state }) => ({ from, to, ...STATES[state] })) ?? NO_BAND,
    [spans],
  );
}

/** That an agent is read less often than the site asks. */
function SlowAgent({ readings: [reading] }: Pick<MetricData, 'readings'>) {
  if (!reading || reading.everySeconds <= reading.askedSeconds) return null;
  return (
    <div className="strip">
      <IconAlertTriangle size={14} aria-hidden />
      <p>
        The agent is read every {reading.everySeconds} s instead of every {reading.askedSeconds} s because it
        answers slowly.
      </p>
    </div>
  );
}

/** The lines of a drawing that were measured. */
export function useDrawn(lines: Drawing['lines'], data: MetricData) {
  const times = useMemo(() => timesOf(data), [data]);
  const drawn = useMemo(
    () => lines.map(({ metric, ...look }) => lineOf(data, metric, look)).filter((line) => line !== undefined),
    [data, lines],
  );
  return { times, drawn };
}

function Drawn({
  title,
  unit,
  least,
  lines,
  data,
  zoom,
  marks,
  band,
}: Drawing & Omit<Shared, 'range'> & { data: MetricData; band: readonly BandSpan[] }) {
  const { times, drawn } = useDrawn(lines, data);
  return (
    <Panel title={title}>
      {hasValues(drawn) ? (
        <Chart
          {...{ title, unit, times, marks, band }}
          {...(least === undefined ? {} : { least })}
          lines={drawn}
          onZoom={zoom}
        />
      ) : (
        <p className="none">{nothing(drawn)}</p>
      )}
    </Panel>
  );
}
