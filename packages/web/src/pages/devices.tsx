import { Button, CloseButton, MultiSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { Device } from '@rollcall/shared/api/inventory';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { IconRadar2, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../api.ts';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/problem.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { DeviceStatus } from '../components/status.tsx';
import { Time } from '../components/time.tsx';

const route = getRouteApi('/devices');

const columns: Column<Device>[] = [
  {
    id: 'status',
    title: 'Status',
    width: '86px',
    sort: 'status',
    cell: (d) => <DeviceStatus status={d.status} />,
  },
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(180px, 1.4fr)',
    sort: 'name',
    cell: (d) => (
      <Link to={'/devices/$id' as string} params={{ id: d.id } as never} className="plain">
        {d.name}
      </Link>
    ),
  },
  {
    id: 'address',
    title: 'Address',
    width: '130px',
    sort: 'address',
    cell: (d) => <span className="mono">{d.address}</span>,
  },
  { id: 'class', title: 'Class', width: '110px', sort: 'class', cell: (d) => d.class },
  { id: 'vendor', title: 'Vendor', width: 'minmax(110px, 0.8fr)', sort: 'vendor', cell: (d) => d.vendor },
  { id: 'model', title: 'Model', width: 'minmax(130px, 1fr)', sort: 'model', cell: (d) => d.model },
  {
    id: 'os',
    title: 'System',
    width: 'minmax(130px, 1fr)',
    cell: (d) => [d.os, d.osVersion].filter(Boolean).join(' '),
  },
  { id: 'interfaces', title: 'Ports', width: '56px', numeric: true, cell: (d) => d.interfaceCount || '' },
  { id: 'events', title: 'Events', width: '60px', numeric: true, cell: (d) => d.openEvents || '' },
  { id: 'seen', title: 'Last seen', width: '110px', sort: 'lastSeen', cell: (d) => <Time at={d.lastSeen} /> },
];

export function Devices() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/devices' });
  const [count, setCount] = useState<number>();
  const [text, setText] = useState(search.search ?? '');
  const change = (next: Partial<Record<keyof typeof search, string | undefined>>) =>
    void navigate({ search: (old) => ({ ...old, ...next }) as typeof old, replace: true });
  const changeText = useDebouncedCallback((value: string) => change({ search: value || undefined }), 250);
  const sites = useQuery(ask('sites.list', { query: { pageSize: 1000 } }));
  const { sort, monitor, class: classes, ...filters } = search;
  const filtered = Object.keys(search).some((key) => key !== 'sort');

  return (
    <Page
      title="Devices"
      count={count}
      fill
      filters={
        <>
          <TextInput
            aria-label="Search"
            placeholder="Name, address, serial, MAC, location…"
            w={280}
            leftSection={<IconSearch size={14} aria-hidden />}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              changeText(event.currentTarget.value);
            }}
            rightSection={
              text ? (
                <CloseButton
                  size="xs"
                  aria-label="Clear search"
                  onClick={() => {
                    setText('');
                    change({ search: undefined });
                  }}
                />
              ) : null
            }
          />
          <MultiSelect
            aria-label="Class"
            placeholder={classes ? '' : 'Class'}
            data={[...DEVICE_CLASSES]}
            value={classes?.split(',') ?? []}
            onChange={(values) => change({ class: values.join(',') || undefined })}
            clearable
            w={200}
          />
          <Select
            aria-label="Site"
            placeholder="Site"
            data={(sites.data?.data ?? []).map((site) => ({ value: site.id, label: site.name }))}
            value={search.site ?? null}
            onChange={(value) => change({ site: value ?? undefined })}
            clearable
            searchable
            w={150}
          />
          <Select
            aria-label="Watched"
            placeholder="Watched"
            data={[
              { value: '1', label: 'watched' },
              { value: '0', label: 'not watched' },
            ]}
            value={monitor ?? null}
            onChange={(value) => change({ monitor: value ?? undefined })}
            clearable
            w={130}
          />
          {filtered && (
            <Button
              variant="subtle"
              onClick={() => {
                setText('');
                void navigate({ search: sort ? { sort } : {}, replace: true });
              }}
            >
              Clear filters
            </Button>
          )}
        </>
      }
    >
      <Rows<Device>
        label="Devices"
        load={(page, pageSize) =>
          ask('devices.list', {
            query: { ...filters, monitor, class: classes, sort, page, pageSize } as never,
          })
        }
        columns={columns}
        sort={sort ?? 'name'}
        onSort={(next) => change({ sort: next })}
        onOpen={(d) => void navigate({ to: `/devices/${d.id}` as string })}
        rowKey={(d) => d.id}
        onCount={setCount}
        empty={
          filtered ? (
            <Empty title="No device matches these filters" />
          ) : (
            <Empty
              title="No devices yet"
              action={
                <Button component={Link} to={'/discovery' as string} leftSection={<IconRadar2 size={15} />}>
                  Start a scan
                </Button>
              }
            >
              A scan of one of your sites fills this list; devices appear while it runs.
            </Empty>
          )
        }
      />
    </Page>
  );
}
