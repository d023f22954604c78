import { Button, Select } from '@mantine/core';
import type { Event } from '@rollcall/shared/api/incidents';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { MetricData, MetricName } from '@rollcall/shared/api/measurements';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../api.ts';
import { Chart, hasValues, type Line, lineOf, type Mark, timesOf } from '../../components/chart/index.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { type RangeSearch, rangeOf, TimeRange } from '../../components/filter/index.ts';
import { EntriesPanel, Entry, Panel } from '../../components/page/index.ts';
import { EventLink, Time, useNow } from '../../components/show/index.ts';
import { bitrate } from '../../format.ts';
import { useUrlState } from '../../url-state.ts';
import { BusiestPorts } from './busiest-ports.tsx';
import { Thresholds } from './thresholds.tsx';

/** A chart: which metrics it draws, and how. */
interface Drawing {
  title: string;
  unit: string;
  least?: number;
  lines: readonly (Pick<Line, 'label' | 'colour' | 'isMirrored'> & { metric: MetricName })[];
}

const OF_DEVICE: readonly Drawing[] = [
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
const OF_INTERFACE: readonly Drawing[] = [
  {
    title: 'Traffic',
    unit: 'bit/s',
    least: 1000,
    lines: [
      { metric: 'in', label: 'In', colour: '--chart-1', isMirrored: false },
      { metric: 'out', label: 'Out', colour: '--chart-2', isMirrored: true },
    ],
  },
  { title: 'Errors', unit: '1/s', least: 0.1, lines: both('Errors') },
  { title: 'Discards', unit: '1/s', least: 0.1, lines: both('Discards') },
  { title: 'Packets', unit: '1/s', lines: both('Packets') },
];

const RANGE_USUAL: RangeSearch = { last: '6h' };

/** What was measured of the device and of one of its interfaces, over a time that all charts share. */
export function Performance({ device }: { device: DeviceDetail }) {
  const { search, change } = useUrlState('/devices/$id');
  const chosen = search.last || search.from || search.to ? search : RANGE_USUAL;
  const range = rangeOf(chosen, useNow());
  const set = ({ last, from, to }: RangeSearch) => change({ last, from, to });
  const zoom = (from: number, to: number) => set({ from: String(from), to: String(to) });
  const events = useQuery(
    apiQuery('events.list', { query: { Device: device.id, ...range, pageSize: 20, Severity: '4' } }),
  );
  const marks = useMemo(
    () =>
      (events.data?.data ?? []).map((event) => ({
        at: event.firstSeen,
        colour: `--sev-${event.severity}`,
      })),
    [events.data],
  );
  if (device.monitor !== 1)
    return (
      <Empty title="Nothing is measured while the device is not monitored">
        <p>“Monitor” above starts it: round trip and loss, and the traffic of every interface.</p>
      </Empty>
    );
  return (
    <>
      <div className="strip">
        <TimeRange search={chosen} onChange={set} />
        {chosen.from && (
          <Button variant="subtle" onClick={() => set({})}>
            Zoom out
          </Button>
        )}
        <p>Drag over a chart to zoom in. Dashed lines are events.</p>
      </div>
      <div className="columns">
        <div className="stack">
          <Drawings {...{ range, zoom, marks }} deviceId={device.id} drawings={OF_DEVICE} />
          <Marked query={events} />
          <Thresholds of="devices" id={device.id} name={device.name} />
        </div>
        <div className="stack">
          <OneInterface {...{ device, range, zoom, marks }} />
          <BusiestPorts device={device} range={range} />
        </div>
      </div>
    </>
  );
}

interface Shared {
  range: { from?: string; to?: string };
  zoom: (from: number, to: number) => void;
  marks: readonly Mark[];
}

/** The charts of one interface, chosen by name. */
function OneInterface({ device, ...shared }: Shared & { device: DeviceDetail }) {
  const { search, change } = useUrlState('/devices/$id');
  const interfaces = useQuery(apiQuery('interfaces.list', { query: { deviceId: device.id, pageSize: 1000 } }))
    .data?.data;
  const one = interfaces?.find(({ id }) => id === search.interface) ?? interfaces?.find(isInUse);
  if (!interfaces || !one) return null;
  return (
    <>
      <div className="strip">
        <Select
          aria-label="Interface"
          searchable
          w={300}
          data={interfaces.map(({ id, name, alias }) => ({
            value: id,
            label: alias ? `${name} · ${alias}` : name,
          }))}
          value={one.id}
          onChange={(id) => change({ interface: id ?? undefined })}
        />
        <p>
          {[one.alias, one.speedBps ? bitrate(one.speedBps) : null, one.neighbour?.name]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      <Drawings {...shared} deviceId={device.id} interfaceId={one.id} drawings={OF_INTERFACE} />
      <Thresholds of="interfaces" id={one.id} name={one.name} />
    </>
  );
}

const isInUse = ({ operStatus, type }: { operStatus: string | null; type: string | null }): boolean =>
  operStatus === 'up' && type !== 'softwareLoopback';

function Drawings({
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
  return (
    <Loaded query={measured}>
      {({ data }) => (
        <>
          {drawings.map((drawing) => (
            <Drawn key={drawing.title} {...drawing} {...shared} data={data} />
          ))}
        </>
      )}
    </Loaded>
  );
}

function Drawn({
  title,
  unit,
  least,
  lines,
  data,
  zoom,
  marks,
}: Drawing & Omit<Shared, 'range'> & { data: MetricData }) {
  const times = useMemo(() => timesOf(data), [data]);
  const drawn = useMemo(
    () => lines.map(({ metric, ...look }) => lineOf(data, metric, look)).filter((line) => line !== undefined),
    [data, lines],
  );
  return (
    <Panel title={title}>
      {hasValues(drawn) ? (
        <Chart
          {...{ title, unit, times, marks }}
          {...(least === undefined ? {} : { least })}
          lines={drawn}
          onZoom={zoom}
        />
      ) : (
        <p className="none">Nothing was measured in this time.</p>
      )}
    </Panel>
  );
}

/** The events behind the dashed lines. */
const Marked = ({ query }: { query: UseQueryResult<{ data: Event[] }> }) => (
  <EntriesPanel title="Events in this time" query={query} empty="None.">
    {(event) => (
      <Entry key={event.id} end={<Time at={event.firstSeen} />}>
        <EventLink id={event.id} className="plain" title={event.message}>
          {event.message}
        </EventLink>
      </Entry>
    )}
  </EntriesPanel>
);
