import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Body } from '../../components/page.tsx';
import { Empty } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { usePages } from '../../components/source.ts';
import { EVENT_COLUMNS } from '../events/columns.tsx';
import bar from './bar.module.css';

const route = getRouteApi('/devices/$id');
const COLUMNS = EVENT_COLUMNS.filter((column) => column.id !== 'device');

export function DeviceEvents({ device }: { device: DeviceDetail }) {
  const { sort } = route.useSearch();
  const navigate = useNavigate({ from: '/devices/$id' });
  const query = useMemo(() => ({ Device: device.id, sort }), [device.id, sort]);
  const source = usePages('events.list', query);
  return (
    <>
      <div className={bar.bar}>
        <span className="quiet">Everything that was raised about this device</span>
        <Link to="/events" search={{ Device: device.id }}>
          With filters
        </Link>
      </div>
      <Body>
        <Rows
          label="Events"
          source={source}
          columns={COLUMNS}
          sort={sort ?? '-timestamp'}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
          onOpen={(event) => void navigate({ to: '/events', search: { event: event.id, Device: device.id } })}
          rowKey={(event) => event.id}
          empty={<Empty title="Nothing was ever raised about this device" />}
        />
      </Body>
    </>
  );
}
