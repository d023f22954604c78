import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { Series } from '@rollcall/shared/api/measurements';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../../api.ts';
import { valueText } from '../../../components/chart/index.ts';
import { Panel } from '../../../components/page/index.ts';
import { type Column, ShortTable } from '../../../components/table/index.ts';
import { useUrlState } from '../../../url-state.ts';
import { type Busy, busiest } from './busiest.ts';
import { Traffic } from './traffic.tsx';

const COLUMNS: readonly Column<Busy>[] = [
  { id: 'name', title: 'Interface', width: 'minmax(90px, 1fr)', narrow: true, value: (one) => one.name },
  {
    id: 'course',
    title: 'In and out',
    width: '120px',
    narrow: true,
    value: (one) => one.mean,
    cell: (one) => <Traffic port={one} />,
  },
  {
    id: 'in',
    title: 'In, mean',
    width: '96px',
    numeric: true,
    narrow: true,
    value: (one) => valueText(one.meanIn, 'bit/s'),
  },
  {
    id: 'out',
    title: 'Out, mean',
    width: '96px',
    numeric: true,
    narrow: true,
    value: (one) => valueText(one.meanOut, 'bit/s'),
  },
];

/** The interfaces of a device with the most traffic in a time. */
export function BusiestPorts({
  device,
  range,
}: {
  device: DeviceDetail;
  range: { from?: string; to?: string };
}) {
  const { change } = useUrlState('/devices/$id');
  const measured = useQuery({
    ...apiQuery('measurements.get', { query: { deviceId: device.id, metrics: 'in,out', ...range } }),
    placeholderData: keepPreviousData,
  });
  const ports = useMemo(() => busiest((measured.data?.data.series ?? []) as Series[]), [measured.data]);
  if (ports.length === 0) return null;
  return (
    <Panel title="Busiest interfaces" note="of this device, in this time">
      <ShortTable
        label="Busiest interfaces"
        items={ports}
        columns={COLUMNS}
        rowKey={(one) => one.id}
        onOpen={(one) => change({ interface: one.id })}
      />
    </Panel>
  );
}
