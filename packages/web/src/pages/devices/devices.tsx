import { Button } from '@mantine/core';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { IconRadar2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ask } from '../../api.ts';
import { ColumnsMenu, useColumns } from '../../components/columns.tsx';
import { DeviceClassMark } from '../../components/device.tsx';
import { Body, Page } from '../../components/page.tsx';
import { Pick } from '../../components/pick.tsx';
import { Empty } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { usePages } from '../../components/source.ts';
import { TakeAway } from '../../components/take-away.tsx';
import { Views } from '../../components/views.tsx';
import { listOf, textOf } from '../../search.ts';
import { useMay } from '../../session.tsx';
import { useSiteChoices } from '../../sites.ts';
import { BulkWatch } from './bulk-watch.tsx';
import { DEVICE_COLUMNS } from './columns.tsx';

const route = getRouteApi('/devices');
const CLASSES = DEVICE_CLASSES.map((name) => ({
  value: name,
  label: name,
  mark: <DeviceClassMark class={name} />,
}));
const WATCHED = [
  { value: '1', label: 'watched' },
  { value: '0', label: 'not watched' },
];
const VIEWS = [
  { name: 'All', search: {} },
  { name: 'Watched', search: { monitor: '1' } },
  { name: 'Network', search: { class: 'router,switch,firewall,wireless,load-balancer' } },
  { name: 'Servers', search: { class: 'server,hypervisor,storage' } },
  { name: 'Down first', search: { monitor: '1', sort: '-status' } },
  { name: 'New', search: { sort: '-firstSeen' } },
];

export function Devices() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/devices' });
  const source = usePages('devices.list', search);
  const { shown, ids, choose } = useColumns('devices', DEVICE_COLUMNS);
  const change = (next: typeof search, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const { sort, ...filters } = search;
  const filtered = Object.values(filters).some(Boolean);
  return (
    <Page
      title="Devices"
      count={source.total}
      fill
      actions={
        <>
          <BulkWatch filters={filters} count={source.total} />
          <ColumnsMenu all={DEVICE_COLUMNS} ids={ids} onChoose={choose} />
          <TakeAway id="devices.list" query={search} columns={shown} name="devices" />
        </>
      }
      filters={<Filters search={search} change={change} clearable={filtered} />}
    >
      <Views list="devices" search={search} columns={ids} builtIn={VIEWS} onColumns={choose} />
      <Body>
        <Rows
          label="Devices"
          source={source}
          columns={shown}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          onOpen={(device) => void navigate({ to: '/devices/$id', params: { id: device.id } })}
          rowKey={(device) => device.id}
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

type DeviceSearch = ReturnType<typeof route.useSearch>;

function Filters({
  search,
  change,
  clearable,
}: {
  search: DeviceSearch;
  change: (next: DeviceSearch, replace?: boolean) => void;
  clearable: boolean;
}) {
  const sites = useSiteChoices();
  const collectors = useQuery(ask('collectors.list', { query: { pageSize: 1000, sort: 'name' } }));
  return (
    <>
      <SearchBox
        label="Search"
        placeholder="Name, address, serial, MAC, location"
        main
        value={search.search ?? ''}
        onChange={(text) => change({ search: text || undefined }, true)}
      />
      <SearchBox
        label="Address or CIDR"
        placeholder="10.20.0.0/16"
        width={160}
        value={search.Address ?? ''}
        onChange={(text) => change({ Address: text || undefined }, true)}
      />
      <Pick
        label="Class"
        many
        choices={CLASSES}
        value={listOf(search.class)}
        onChange={(value) => change({ class: textOf(value) })}
      />
      <Pick
        label="Site"
        choices={sites}
        value={listOf(search.site)}
        onChange={(value) => change({ site: textOf(value) })}
      />
      <Pick
        label="Collector"
        choices={(collectors.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={listOf(search.collector)}
        onChange={(value) => change({ collector: textOf(value) })}
      />
      <Pick
        label="Watched"
        choices={WATCHED}
        value={listOf(search.monitor)}
        onChange={(value) => change({ monitor: textOf(value) })}
      />
      {clearable && (
        <Button
          variant="subtle"
          onClick={() =>
            change({
              search: undefined,
              Address: undefined,
              class: undefined,
              site: undefined,
              collector: undefined,
              monitor: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </>
  );
}

function NoDevices() {
  const operator = useMay('operator');
  return (
    <Empty
      title="No devices yet"
      action={
        operator && (
          <Button
            renderRoot={(props) => <Link to="/discovery" search={{ new: '1' }} {...props} />}
            leftSection={<IconRadar2 size={15} aria-hidden />}
          >
            Start a scan
          </Button>
        )
      }
    >
      A scan of one of your sites fills this list; devices appear while it runs.
    </Empty>
  );
}
