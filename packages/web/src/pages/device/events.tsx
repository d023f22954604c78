import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { Link, useNavigate } from '@tanstack/react-router';
import { Empty } from '../../components/feedback/index.ts';
import { Body } from '../../components/page/index.ts';
import { usePagedList, VirtualTable } from '../../components/table/index.ts';
import { useUrlState } from '../../url-state.ts';
import { EVENT_COLUMNS } from '../events/columns.tsx';

const COLUMNS = EVENT_COLUMNS.filter((column) => column.id !== 'device');

export function DeviceEvents({ device }: { device: DeviceDetail }) {
  const {
    search: { sort },
    change,
  } = useUrlState('/devices/$id');
  const navigate = useNavigate();
  const source = usePagedList('events.list', { Device: device.id, sort });
  return (
    <>
      <div className="strip">
        <p>All events of this device</p>
        <Link to="/events" search={{ Device: device.id }}>
          Filter them
        </Link>
      </div>
      <Body>
        <VirtualTable
          label="Events"
          source={source}
          columns={COLUMNS}
          sort={sort ?? '-timestamp'}
          onSort={(next) => change({ sort: next })}
          onOpen={(event) => void navigate({ to: '/events', search: { event: event.id, Device: device.id } })}
          empty={<Empty title="No event of this device yet" />}
        />
      </Body>
    </>
  );
}
