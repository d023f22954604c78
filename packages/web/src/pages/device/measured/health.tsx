import { Button, Group } from '@mantine/core';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { Sensor } from '@rollcall/shared/api/sensors';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { apiQuery } from '../../../api.ts';
import { Chart, hasValues, lineOf, timesOf } from '../../../components/chart/index.ts';
import { Sparkline } from '../../../components/chart/sparkline.tsx';
import { Empty, Loaded } from '../../../components/feedback/index.ts';
import { type RangeSearch, rangeOf, TimeRange } from '../../../components/filter/index.ts';
import { Panel } from '../../../components/page/index.ts';
import { HealthStatus, Time, useNow } from '../../../components/show/index.ts';
import { type Column, ShortTable } from '../../../components/table/index.ts';
import { count, plural } from '../../../format.ts';
import { useUrlState } from '../../../url-state.ts';
import { course, groupsOf, limitsText, readingText } from './sensors.ts';

/** Sensors are read every five minutes. */
const EVERY_MS = 60_000;
/** Seconds of one point of the course beside a sensor, and of all of it. */
const COURSE_STEP = 600;
const COURSE_TIME = 21_600;
/** As many as a page of the list has at most. */
const MOST = 1000;
const RANGE_USUAL: RangeSearch = { last: '24h' };

/** What the device says of its own health: what is wrong first, then everything by what it belongs to. */
export function Health({ device }: { device: DeviceDetail }) {
  const sensors = useQuery({
    ...apiQuery('sensors.list', { query: { deviceId: device.id, pageSize: MOST } }),
    refetchInterval: EVERY_MS,
  });
  return (
    <Loaded query={sensors}>
      {({ data, totalCount }) =>
        data.length === 0 ? (
          <NoSensors device={device} />
        ) : (
          <Sensors device={device} sensors={data} total={totalCount} />
        )
      }
    </Loaded>
  );
}

const NoSensors = ({ device }: { device: DeviceDetail }) => (
  <Empty title="Nothing is known of its health">
    {device.monitor === 1
      ? 'Sensors are read every five minutes by SNMP. This device has reported none yet.'
      : '“Monitor” above starts it: temperatures, fans, supplies, processors, memory and storage are read.'}
  </Empty>
);

function Sensors({ device, sensors, total }: { device: DeviceDetail; sensors: Sensor[]; total: number }) {
  const { search, change } = useUrlState('/devices/$id');
  const { wrong, groups } = useMemo(() => groupsOf(sensors), [sensors]);
  const columns = useColumnsOf(device);
  const chosen = sensors.find(({ id }) => id === search.sensor);
  const table = (label: string, items: readonly Sensor[]) => (
    <ShortTable
      label={label}
      items={items}
      columns={columns}
      rowKey={(one) => one.id}
      onOpen={(one) => change({ sensor: one.id })}
    />
  );
  return (
    <div className="stack">
      {chosen && <OneSensor device={device} sensor={chosen} />}
      <Panel title="What is wrong" note={wrong.length > 0 ? plural(wrong.length, 'sensor') : undefined}>
        {wrong.length > 0 ? (
          table('What is wrong', wrong)
        ) : (
          <p className="none">The device reports nothing that is wrong.</p>
        )}
      </Panel>
      {groups.map(({ title, sensors: items }) => (
        <Panel key={title} title={title} note={items.length}>
          {table(title, items)}
        </Panel>
      ))}
      {total > sensors.length && (
        <p className="none">
          {count(sensors.length)} of {plural(total, 'sensor is', 'sensors are')} shown.
        </p>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<Sensor>[] = [
  {
    id: 'health',
    title: 'Health',
    width: '104px',
    narrow: true,
    cell: (one) => <HealthStatus health={one.health} />,
  },
  {
    id: 'name',
    title: 'Sensor',
    width: 'minmax(110px, 1.2fr)',
    narrow: true,
    wrap: true,
    cell: (one) => (
      <Link to="." search={{ tab: 'health', sensor: one.id }} className="plain">
        {one.name}
        {one.interfaceName && one.interfaceName !== one.name ? ` (${one.interfaceName})` : ''}
      </Link>
    ),
  },
  {
    id: 'reading',
    title: 'Reading',
    width: 'minmax(96px, 1fr)',
    narrow: true,
    wrap: true,
    value: readingText,
  },
  {
    id: 'limits',
    title: 'Limits (warning)',
    width: 'minmax(130px, 0.8fr)',
    wrap: true,
    value: limitsText,
  },
  {
    id: 'reason',
    title: 'Why',
    width: 'minmax(130px, 1.2fr)',
    wrap: true,
    cell: (one) => <span className={one.health === 'unknown' ? 'quiet' : undefined}>{one.reason}</span>,
  },
  {
    id: 'since',
    title: 'Since',
    width: '84px',
    value: (one) => one.healthSince,
    cell: (one) => <Time at={one.healthSince} />,
  },
];

/** The course of the last hours beside every sensor that has values. */
function useColumnsOf(device: DeviceDetail): readonly Column<Sensor>[] {
  const from = Math.floor(useNow() / (COURSE_STEP * 1000)) * COURSE_STEP - COURSE_TIME;
  const measured = useQuery({
    ...apiQuery('measurements.get', {
      query: { deviceId: device.id, metrics: 'sensor', from, step: COURSE_STEP },
    }),
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const series = new Map(measured.data?.data.series.map((one) => [one.sensorId, one]));
    const column: Column<Sensor> = {
      id: 'course',
      title: '6 h',
      width: '120px',
      value: () => null,
      cell: (one) => {
        const values = series.get(one.id)?.values;
        if (!values || !hasValues([{ values }])) return null;
        return (
          <Sparkline
            label={`Course of ${one.name}`}
            lines={[{ values: course(values), colour: '--chart-1' }]}
          />
        );
      },
    };
    return COLUMNS.toSpliced(3, 0, column);
  }, [measured.data]);
}

/** The chart of one sensor, with its limits in words. */
function OneSensor({ device, sensor }: { device: DeviceDetail; sensor: Sensor }) {
  const { search, change } = useUrlState('/devices/$id');
  const chosen = search.last || search.from || search.to ? search : RANGE_USUAL;
  const range = rangeOf(chosen, useNow());
  const set = ({ last, from, to }: RangeSearch) => change({ last, from, to });
  const measured = useQuery({
    ...apiQuery('measurements.get', {
      query: { deviceId: device.id, sensorId: sensor.id, metrics: 'sensor', ...range },
    }),
    placeholderData: keepPreviousData,
  });
  const data = measured.data?.data;
  const times = useMemo(() => (data ? timesOf(data) : []), [data]);
  const lines = useMemo(() => {
    const line = data && lineOf(data, 'sensor', { label: sensor.name, colour: '--chart-1' });
    return line ? [line] : [];
  }, [data, sensor.name]);
  return (
    <Panel
      title={sensor.name}
      note={[readingText(sensor), limitsText(sensor)].filter(Boolean).join(' · ')}
      end={
        <Button variant="subtle" onClick={() => change({ sensor: undefined })}>
          Close
        </Button>
      }
    >
      <Group p="8px 12px 0">
        <TimeRange search={chosen} onChange={set} />
        <HealthStatus health={sensor.health} />
        <span>{sensor.reason}</span>
      </Group>
      {hasValues(lines) ? (
        <Chart
          title={sensor.name}
          unit={sensor.unit}
          times={times}
          lines={lines}
          onZoom={(from, to) => set({ from: String(from), to: String(to) })}
        />
      ) : (
        <p className="none">It has no values in this time.</p>
      )}
    </Panel>
  );
}
