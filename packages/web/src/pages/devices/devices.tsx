import { Menu } from '@mantine/core';
import type { Device } from '@rollcall/shared/api/inventory';
import { DEVICE_CLASSES, DEVICE_STATUSES } from '@rollcall/shared/model';
import { SENSOR_STATUS } from '@rollcall/shared/sensors';
import { IconFileImport, IconPlug, IconPlus, IconRadar2 } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChoices, useSiteChoices } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, Filters, Views } from '../../components/filter/index.ts';
import { useCustomFields } from '../../components/form/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Body, Page } from '../../components/page/index.ts';
import { DeviceClassLabel, DeviceStatus, HealthStatus } from '../../components/show/index.ts';
import {
  ColumnsMenu,
  selectColumn,
  useColumns,
  usePagedList,
  useSelection,
  VirtualTable,
} from '../../components/table/index.ts';
import { useMay } from '../../session.tsx';
import { type SearchOf, type SetUrlState, useStableValue, useUrlState } from '../../url-state.ts';
import { AddDevice } from './add-device.tsx';
import { BulkMonitor } from './bulk-monitor.tsx';
import { DEVICE_COLUMNS, fieldColumn } from './columns.tsx';
import { ImportDevices } from './import-devices.tsx';
import { SelectedDevices } from './selected.tsx';

const CLASSES = choicesOf(DEVICE_CLASSES, (name) => <DeviceClassLabel class={name} />);
const STATUSES = choicesOf(DEVICE_STATUSES, (status) => <DeviceStatus status={status} />);
const HEALTHS = choicesOf(SENSOR_STATUS, (health) => <HealthStatus health={health} />);
const MONITORED = [
  { value: '1', label: 'monitored' },
  { value: '0', label: 'not monitored' },
];
const VIEWS = [
  { name: 'All', search: {} },
  { name: 'Monitored', search: { monitor: '1' } },
  { name: 'Network', search: { class: 'router,switch,firewall,wireless,load-balancer' } },
  { name: 'Servers', search: { class: 'server,hypervisor,storage' } },
  { name: 'Down', search: { status: 'down' } },
  { name: 'Health problems', search: { health: 'critical,warning', sort: 'health' } },
  { name: 'New', search: { sort: '-firstSeen' } },
];

export function Devices() {
  const { search, change } = useUrlState('/devices');
  const navigate = useNavigate();
  const source = usePagedList('devices.list', search);
  const defined = useCustomFields('device');
  const all = useMemo(() => [...DEVICE_COLUMNS, ...defined.map(fieldColumn)], [defined]);
  const { shown, ids, choose } = useColumns('devices', all);
  const { sort, new: adding, ...rest } = search;
  const add = (what?: 'one' | 'file') => change({ new: what }, what === undefined);
  const filters = useStableValue(rest);
  const mayAdd = useMay('devices.create');
  const maySelect = useMay('devices.bulk');
  const selection = useSelection<Device>(filters);
  const columns = useMemo(
    () => (maySelect ? [selectColumn(selection, (device) => device.name), ...shown] : shown),
    [maySelect, selection, shown],
  );
  const filtered = Object.values(filters).some(Boolean);
  return (
    <Page
      title="Devices"
      count={source.total}
      fill
      actions={
        <>
          {mayAdd && <AddMenu onChoose={add} />}
          <IconButton
            icon={IconPlug}
            onClick={() =>
              void navigate({ to: '/free-ports', search: { site: search.site, class: search.class } })
            }
          >
            Free ports
          </IconButton>
          <BulkMonitor filters={filters} count={source.total} />
          <ColumnsMenu all={all} ids={ids} onChoose={choose} />
          <ExportMenu id="devices.list" query={search} columns={shown} name="devices" />
        </>
      }
    >
      {mayAdd && adding === 'one' && <AddDevice site={search.site} onClose={() => add()} />}
      {mayAdd && adding === 'file' && <ImportDevices onClose={() => add()} />}
      <DeviceFilters search={search} change={change} />
      {selection.items.length > 0 ? (
        <SelectedDevices selection={selection} query={search} total={source.total} />
      ) : (
        <Views list="devices" search={search} columns={ids} builtIn={VIEWS} onColumns={choose} />
      )}
      <Body>
        <VirtualTable
          label="Devices"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          onSelect={maySelect ? selection.toggle : undefined}
          onOpen={(device) => void navigate({ to: '/devices/$id', params: { id: device.id } })}
          empty={
            filtered ? (
              <Empty title="No device matches these filters">
                Filters are joined by “and”: clear one of them to see more.
              </Empty>
            ) : (
              <NoDevices />
            )
          }
        />
      </Body>
    </Page>
  );
}

const AddMenu = ({ onChoose }: { onChoose: (what: 'one' | 'file') => void }) => (
  <Menu>
    <Menu.Target>
      <IconButton icon={IconPlus}>Add</IconButton>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item leftSection={<IconPlus size={15} />} onClick={() => onChoose('one')}>
        Add a device
      </Menu.Item>
      <Menu.Item leftSection={<IconFileImport size={15} />} onClick={() => onChoose('file')}>
        Import CSV
      </Menu.Item>
    </Menu.Dropdown>
  </Menu>
);

type DeviceSearch = SearchOf<'/devices'>;

function DeviceFilters({ search, change }: { search: DeviceSearch; change: SetUrlState<DeviceSearch> }) {
  const sites = useSiteChoices();
  const collectors = useChoices('collectors.list');
  return (
    <Filters
      search={search}
      change={change}
      filters={[
        { key: 'search', label: 'Search', placeholder: 'Name, address, serial, MAC, location', width: 250 },
        { key: 'Address', label: 'Address or CIDR', placeholder: 'Address or CIDR', width: 140 },
        { key: 'class', label: 'Class', choices: CLASSES, many: true },
        { key: 'status', label: 'Status', choices: STATUSES, many: true },
        { key: 'health', label: 'Health', choices: HEALTHS, many: true },
        { key: 'site', label: 'Site', choices: sites },
        { key: 'collector', label: 'Collector', choices: collectors },
        { key: 'monitor', label: 'Monitored', choices: MONITORED },
        { key: 'tag', label: 'Tag', width: 95 },
        { key: 'field', label: 'Field', placeholder: 'Field:value', width: 115 },
      ]}
    />
  );
}

function NoDevices() {
  const navigate = useNavigate();
  const may = useMay('scans.create');
  return (
    <Empty
      title="No devices yet"
      action={
        may && (
          <IconButton
            variant="filled"
            icon={IconRadar2}
            onClick={() => void navigate({ to: '/discovery', search: { new: '1' } })}
          >
            Start a scan
          </IconButton>
        )
      }
    >
      A scan of one of your sites fills this list; devices appear while it runs.
    </Empty>
  );
}
