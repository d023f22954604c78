import type { MetricData, TopEntry } from '@rollcall/shared/api/measurements';
import type { Summary } from '@rollcall/shared/api/service';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ComponentType, lazy, type ReactNode, Suspense, useRef } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteName } from '../../choices.ts';
import { hasValues, Plot, valueText } from '../../components/chart/index.ts';
import { Severity, Time } from '../../components/show/index.ts';
import { count } from '../../format.ts';
import { percentText } from '../availability/month.ts';
import { TRAFFIC, useDrawn } from '../device/measured/drawings.tsx';
import { useLinkLoad } from '../topology/link-load.ts';
import type { MapHandle } from '../topology/map.tsx';
import { stateOf } from './mood.ts';
import type { PanelName } from './settings.ts';
import classes from './wall.module.css';

const NetworkMap = lazy(() =>
  import('../topology/map.tsx').then((module) => ({ default: module.NetworkMap })),
);

export interface PanelProps {
  site: string | undefined;
  summary: Summary;
}

/** Rows of a list: as many as can be read from afar. */
const ROWS = 8;
/** Charts beside each other. */
const CHARTS = 3;
const MINUTE_MS = 60_000;

/** Lines that can be read from afar: what, and how much or since when. */
function Lines({
  items,
  empty,
}: {
  items: readonly (readonly [key: string, what: ReactNode, end: ReactNode])[] | undefined;
  empty: string;
}) {
  if (items?.length === 0) return <p className={classes.none}>{empty}</p>;
  return (
    <ul className={classes.lines}>
      {items?.map(([key, what, end]) => (
        <li key={key}>
          <span className="cut">{what}</span>
          <b>{end}</b>
        </li>
      ))}
    </ul>
  );
}

function State({ summary }: PanelProps) {
  const { devices, events, cases } = summary;
  const { acknowledged } = stateOf(summary);
  const open = (least: number, most: number) =>
    events.bySeverity.reduce(
      (sum, one) => sum + (one.severity >= least && one.severity <= most ? one.open : 0),
      0,
    );
  const figures = [
    ['down', devices.down],
    ['critical, major', open(1, 2)],
    ['minor, warning', open(3, 4)],
    ['acknowledged', acknowledged],
    ['open cases', cases.open + cases.investigating],
    ['up', devices.up],
  ] as const;
  return (
    <dl className={classes.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dd>{count(value)}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  );
}

function Events({ site }: PanelProps) {
  const query = { site, Status: '0', Severity: '4', sort: 'severity', pageSize: ROWS } as const;
  const { data } = useQuery(apiQuery('events.list', { query }));
  const items = data?.data.map(
    (event) =>
      [
        event.id,
        <>
          <Severity code={event.severity} word={false} /> {event.message}
        </>,
        <Time key="since" at={event.firstSeen} />,
      ] as const,
  );
  return <Lines items={items} empty="Everything is acknowledged." />;
}

function Cases({ site }: PanelProps) {
  const query = { site, status: '0,1', sort: 'severity', pageSize: ROWS } as const;
  const { data } = useQuery(apiQuery('cases.list', { query }));
  const items = data?.data.map(
    (one) =>
      [
        one.id,
        <>
          <Severity code={one.severity} word={false} /> {one.title}
        </>,
        one.assignee ?? 'unassigned',
      ] as const,
  );
  return <Lines items={items} empty="No case is open." />;
}

const useBusiest = (site: string | undefined, limit: number) =>
  useQuery({
    ...apiQuery('measurements.top', { query: { metric: 'inUtilisation', site, limit } }),
    refetchInterval: MINUTE_MS,
  });

function Busiest({ site }: PanelProps) {
  const { data } = useBusiest(site, ROWS);
  const items = data?.data.map(
    (one) =>
      [
        `${one.deviceId}${one.interfaceId}`,
        `${one.deviceName} ${one.interfaceName ?? ''}`,
        valueText(one.value, one.unit),
      ] as const,
  );
  return <Lines items={items} empty="Nothing was measured in the last minutes." />;
}

/** The day of the busiest interfaces. */
function Traffic({ site }: PanelProps) {
  const { data } = useBusiest(site, CHARTS);
  if (data?.data.length === 0)
    return <p className={classes.none}>Nothing was measured in the last minutes.</p>;
  return (
    <div className={classes.charts}>
      {data?.data.map((one) => (
        <DayOf key={`${one.deviceId}${one.interfaceId}`} one={one} />
      ))}
    </div>
  );
}

function DayOf({ one }: { one: TopEntry }) {
  const { deviceId, interfaceId } = one;
  const { data } = useQuery({
    ...apiQuery('measurements.get', {
      query: { deviceId, interfaceId: interfaceId ?? undefined, metrics: 'in,out' },
    }),
    refetchInterval: MINUTE_MS,
    placeholderData: keepPreviousData,
  });
  const title = `${one.deviceName} ${one.interfaceName ?? ''}`;
  return (
    <figure className={classes.chart}>
      <figcaption className="cut">{title}</figcaption>
      {data && <Day title={title} data={data.data} />}
    </figure>
  );
}

function Day({ title, data }: { title: string; data: MetricData }) {
  const { unit, least, lines } = TRAFFIC;
  const { times, drawn } = useDrawn(lines, data);
  if (!hasValues(drawn)) return <p className={classes.none}>Nothing was measured in this time.</p>;
  return <Plot {...{ title, unit, least, times }} lines={drawn} className={classes.day} />;
}

function Availability({ site }: PanelProps) {
  const { data } = useQuery({
    ...apiQuery('availability.list', { query: { of: site ? 'devices' : 'sites', site, pageSize: ROWS } }),
    refetchInterval: 10 * MINUTE_MS,
  });
  const items = data?.data.map(
    (one) =>
      [
        one.deviceId ?? one.siteId,
        one.device ?? one.site,
        one.availability === null ? 'not observed' : `${percentText(one.availability)} %`,
      ] as const,
  );
  return <Lines items={items} empty="No device was monitored." />;
}

const ignore = () => undefined;
/** The smallest that is read from three metres, px. */
const LETTERS = 28;

function NetworkPanel({ site }: PanelProps) {
  const { data } = useQuery(apiQuery('topology.get', { query: { site } }));
  const loadOf = useLinkLoad(site);
  const siteName = useSiteName();
  const handle = useRef<MapHandle>(undefined);
  if (!data) return null;
  const { data: topology } = data;
  return (
    <div className={classes.map}>
      <Suspense>
        <NetworkMap
          {...{ topology, loadOf, handle, siteNames: siteName, picked: undefined, found: undefined }}
          onPick={ignore}
          onOpen={ignore}
          letters={LETTERS}
        />
      </Suspense>
    </div>
  );
}

export const WALL_PANELS: Record<PanelName, { title: string; Panel: ComponentType<PanelProps> }> = {
  state: { title: 'State', Panel: State },
  events: { title: 'Not acknowledged', Panel: Events },
  cases: { title: 'Open cases', Panel: Cases },
  busiest: { title: 'Busiest interfaces', Panel: Busiest },
  traffic: { title: 'Traffic of the busiest interfaces, last 24 hours', Panel: Traffic },
  map: { title: 'Map', Panel: NetworkPanel },
  availability: { title: 'Availability, last 30 days', Panel: Availability },
};
