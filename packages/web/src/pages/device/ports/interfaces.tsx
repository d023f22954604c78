import { FREE_DAYS } from '@rollcall/shared/api/free-ports';
import type { NetworkInterface } from '@rollcall/shared/api/interfaces';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { IconTags } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { apiQuery } from '../../../api.ts';
import { valueText } from '../../../components/chart/series.ts';
import type { MenuAction } from '../../../components/controls/index.ts';
import { Empty } from '../../../components/feedback/index.ts';
import { Filters } from '../../../components/filter/index.ts';
import { AnnotationDialog } from '../../../components/form/index.ts';
import { ExportMenu } from '../../../components/list/index.ts';
import { Body } from '../../../components/page/index.ts';
import { LinkStatus, Tag, Tags, Time, useNow } from '../../../components/show/index.ts';
import {
  type Column,
  ColumnsMenu,
  menuColumn,
  selectColumn,
  timeColumn,
  useColumns,
  usePagedList,
  useSelection,
  VirtualTable,
} from '../../../components/table/index.ts';
import { bitrate, plural } from '../../../format.ts';
import { useMay } from '../../../session.tsx';
import { useUrlState } from '../../../url-state.ts';
import { useSend } from '../../../use-action.ts';
import { LOAD, loadOf, trafficOf } from './busiest.ts';
import { Connected, connectedText } from './connected.tsx';
import { FacePlate } from './face-plate.tsx';
import { DRAWN, isFree, vlansText } from './plate.ts';
import { SelectedInterfaces } from './selected-interfaces.tsx';
import { Traffic } from './traffic.tsx';

/** Seconds of one point of the course beside an interface. */
const TRAFFIC_STEP = 120;
/** Seconds of it. */
const TRAFFIC_TIME = 21_600;
const HOUR = 3600;

/** With those of load and traffic they fit beside the navigation on a screen of 1440 px. */
const COLUMNS: readonly Column<NetworkInterface>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(92px, 0.8fr)',
    sort: 'name',
    narrow: true,
    value: (one) => one.name,
    cell: (one) => (
      <Link to="." search={{ tab: 'performance', interface: one.id }} className="plain">
        {one.name}
      </Link>
    ),
  },
  {
    id: 'status',
    title: 'State',
    width: '122px',
    sort: 'operStatus',
    narrow: true,
    value: (one) => (one.adminStatus === 'down' ? 'disabled' : one.operStatus),
    cell: (one) => <LinkStatus admin={one.adminStatus} oper={one.operStatus} />,
  },
  { id: 'alias', title: 'Alias', width: 'minmax(76px, 1.2fr)', narrow: true },
  {
    id: 'connected',
    title: 'Connected',
    width: 'minmax(118px, 1.5fr)',
    narrow: true,
    value: connectedText,
    cell: (one) => <Connected port={one} />,
  },
  {
    id: 'speed',
    title: 'Speed',
    width: '78px',
    sort: 'speedBps',
    numeric: true,
    value: (one) => one.speedBps,
    cell: (one) => (one.speedBps === null ? '' : bitrate(one.speedBps)),
  },
  {
    id: 'duplex',
    title: 'Duplex',
    width: '58px',
    value: (one) => one.duplex,
    cell: (one) => (one.duplex === 'half' || one.duplex === 'full' ? one.duplex : ''),
  },
  { id: 'vlan', title: 'VLANs', width: 'minmax(48px, 0.5fr)', sort: 'vlan', value: vlansText },
  timeColumn({
    id: 'used',
    title: 'Last used',
    width: '104px',
    sort: 'unusedSince',
    at: (one) => one.lastUsed,
    cell: (one) => <LastUsed port={one} />,
  }),
  {
    id: 'addresses',
    title: 'Addresses',
    width: 'minmax(110px, 0.9fr)',
    mono: true,
    extra: true,
    value: (one) => one.addresses.join(' '),
  },
  {
    id: 'mac',
    title: 'MAC address',
    width: '138px',
    mono: true,
    extra: true,
    value: (one) => one.macAddress,
  },
  timeColumn({
    id: 'change',
    title: 'Last change',
    sort: 'lastChange',
    extra: true,
    at: (one) => one.lastChange,
    fallback: '',
  }),
  {
    id: 'index',
    title: 'ifIndex',
    width: '62px',
    sort: 'ifIndex',
    numeric: true,
    extra: true,
    value: (one) => one.ifIndex,
  },
  { id: 'type', title: 'Type', width: '130px', sort: 'type', extra: true },
  { id: 'mtu', title: 'MTU', width: '56px', numeric: true, extra: true },
  {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(100px, 0.8fr)',
    extra: true,
    value: (one) => one.tags.join(';'),
    cell: (one) => <Tags tags={one.tags} />,
  },
  { id: 'note', title: 'Note', width: 'minmax(140px, 1fr)', extra: true },
  { id: 'stp', title: 'Spanning tree', width: '96px', extra: true },
  {
    id: 'aggregate',
    title: 'LAG',
    width: '110px',
    extra: true,
    value: ({ aggregate }) =>
      aggregate && `${aggregate.name ?? ''}${aggregate.active === 1 ? '' : ' (inactive)'}`,
  },
  { id: 'description', title: 'Description', width: 'minmax(160px, 1fr)', extra: true },
  {
    id: 'admin',
    title: 'Admin state',
    width: '86px',
    sort: 'adminStatus',
    extra: true,
    value: (one) => one.adminStatus,
  },
];

/** When a port was up last, and whether it is free. */
function LastUsed({ port }: { port: NetworkInterface }) {
  const now = useNow() / 1000;
  if (port.operStatus === 'up') return <span className="quiet">in use</span>;
  return (
    <>
      {port.lastUsed === null ? <span className="quiet">never</span> : <Time at={port.lastUsed} />}
      {isFree(port, now) && (
        <>
          {' '}
          <Tag>free</Tag>
        </>
      )}
    </>
  );
}

/** How much of each interface is used, and errors, over the last hour, where its device is monitored. */
function useLoadColumns(device: DeviceDetail): readonly Column<NetworkInterface>[] {
  const from = Math.floor(useNow() / 300_000) * 300 - HOUR;
  const measured = useQuery({
    ...apiQuery('measurements.get', {
      query: { deviceId: device.id, metrics: LOAD.join(','), from, step: HOUR },
    }),
    enabled: device.monitor === 1,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const ports = loadOf(measured.data?.data.series ?? []);
    if (ports.size === 0) return [];
    return [
      {
        id: 'use',
        title: 'Load, 1 h',
        width: '70px',
        numeric: true,
        value: (one) => ports.get(one.id)?.utilisation,
        cell: (one) =>
          one.operStatus === 'up' && ports.has(one.id) ? valueText(ports.get(one.id)?.utilisation, '%') : '',
      },
      {
        id: 'errors',
        title: 'Errors, 1 h',
        width: '78px',
        numeric: true,
        value: (one) => ports.get(one.id)?.errors,
        cell: (one) => (ports.get(one.id)?.errors ? valueText(ports.get(one.id)?.errors, '1/s') : ''),
      },
    ];
  }, [measured.data]);
}

/** The course of the last hours beside every interface, where its device is monitored. */
function useTrafficColumn(device: DeviceDetail): readonly Column<NetworkInterface>[] {
  const from = Math.floor(useNow() / (TRAFFIC_STEP * 1000)) * TRAFFIC_STEP - TRAFFIC_TIME;
  const measured = useQuery({
    ...apiQuery('measurements.get', {
      query: { deviceId: device.id, metrics: 'in,out', from, step: TRAFFIC_STEP },
    }),
    enabled: device.monitor === 1,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const ports = new Map(trafficOf(measured.data?.data.series ?? []).map((port) => [port.id, port]));
    if (ports.size === 0) return COLUMNS;
    const column: Column<NetworkInterface> = {
      id: 'traffic',
      title: 'Traffic, 6 h',
      width: '84px',
      value: (one) => ports.get(one.id)?.mean,
      cell: (one) => {
        const port = ports.get(one.id);
        return port && port.mean > 0 && <Traffic port={port} />;
      },
    };
    return COLUMNS.toSpliced(2, 0, column);
  }, [measured.data]);
}

const FILTERS = [
  {
    key: 'unusedDays',
    label: 'Free ports',
    choices: [30, FREE_DAYS, 365].map((days) => ({
      value: String(days),
      label: `Not used for ${plural(days, 'day')}`,
    })),
  },
  { key: 'tag', label: 'Tag', width: 110 },
] as const;

export function Interfaces({ device }: { device: DeviceDetail }) {
  const { search, change } = useUrlState('/devices/$id');
  const { sort, unusedDays, tag } = search;
  const query = { deviceId: device.id, sort, unusedDays, tag };
  const source = usePagedList('interfaces.list', query);
  const all = useQuery(apiQuery('interfaces.list', { query: { deviceId: device.id, pageSize: DRAWN } }));
  const traffic = useTrafficColumn(device);
  const load = useLoadColumns(device);
  const columns = useMemo(
    () => traffic.toSpliced(traffic.findIndex(({ id }) => id === 'vlan') + 1, 0, ...load),
    [traffic, load],
  );
  const { shown, ids, choose } = useColumns('interfaces', columns);
  const operator = useMay('interfaces.update');
  const [annotating, setAnnotating] = useState<NetworkInterface>();
  const send = useSend();
  const selection = useSelection<NetworkInterface>({ device: device.id, unusedDays, tag });
  const withMenu = useMemo(
    () =>
      operator
        ? [
            selectColumn(selection, (one: NetworkInterface) => one.name),
            ...shown,
            menuColumn<NetworkInterface>((one) => [annotate(one, setAnnotating)]),
          ]
        : shown,
    [operator, selection, shown],
  );
  return (
    <>
      <FacePlate ports={all.data?.data ?? []} />
      {selection.items.length > 0 ? (
        <SelectedInterfaces selection={selection} query={query} total={source.total} />
      ) : (
        <Filters search={search} change={change} filters={FILTERS}>
          <p>Sorted by {sort ? 'the column' : 'ifIndex'}</p>
          <ColumnsMenu all={columns} ids={ids} onChoose={choose} />
          <ExportMenu
            id="interfaces.list"
            query={query}
            columns={shown}
            name={`interfaces of ${device.name}`}
          />
        </Filters>
      )}
      <Body>
        <VirtualTable
          label="Interfaces"
          source={source}
          columns={withMenu}
          sort={sort ?? 'ifIndex'}
          onSort={(next) => change({ sort: next })}
          onSelect={operator ? selection.toggle : undefined}
          empty={
            tag ? (
              <Empty title="No interface has this tag">Tags are given in the menu of an interface.</Empty>
            ) : unusedDays ? (
              <Empty title="No port is free">Every port was up at some moment of this time.</Empty>
            ) : (
              <Empty title="No interfaces are known">
                They are read by SNMP: this device was not asked yet, or did not answer.
              </Empty>
            )
          }
        />
      </Body>
      {annotating && (
        <AnnotationDialog
          name={annotating.name}
          of="interface"
          one={annotating}
          onClose={() => setAnnotating(undefined)}
          onSave={(body) => send('interfaces.update', { params: { id: annotating.id }, body })}
        />
      )}
    </>
  );
}

const annotate = (one: NetworkInterface, open: (one: NetworkInterface) => void): MenuAction => ({
  label: 'Tags and fields',
  icon: IconTags,
  run: () => open(one),
});
