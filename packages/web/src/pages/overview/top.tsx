import { SegmentedControl } from '@mantine/core';
import type { RankedName, TopEntry } from '@rollcall/shared/api/measurements';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { valueText } from '../../components/chart/series.ts';
import { Panel } from '../../components/page/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';

/** What can be ranked, in the words of its button. */
const RANKED = [
  { value: 'inUtilisation', label: 'Traffic in' },
  { value: 'outUtilisation', label: 'Traffic out' },
  { value: 'errors', label: 'Errors' },
  { value: 'rtt', label: 'Latency' },
  { value: 'loss', label: 'Loss' },
] as const satisfies { value: RankedName; label: string }[];

const COLUMNS: readonly Column<TopEntry>[] = [
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(110px, 1fr)',
    narrow: true,
    value: (one) => one.deviceName,
    cell: (one) => (
      <Link
        to="/devices/$id"
        params={{ id: one.deviceId }}
        search={{ tab: 'performance', ...(one.interfaceId ? { interface: one.interfaceId } : {}) }}
        className="plain"
      >
        {one.deviceName}
      </Link>
    ),
  },
  {
    id: 'port',
    title: 'Interface',
    width: 'minmax(90px, 1fr)',
    narrow: true,
    value: (one) => one.interfaceName,
  },
  {
    id: 'value',
    title: 'Now',
    width: '96px',
    numeric: true,
    narrow: true,
    value: (one) => valueText(one.value, one.unit),
  },
];

/** How often it is asked: measurements come every minute. */
const EVERY_MS = 60_000;

/** The highest measurements of this minute. */
export function Top({ site }: { site: string | undefined }) {
  const [metric, setMetric] = useState<RankedName>('inUtilisation');
  const navigate = useNavigate();
  const top = useQuery({
    ...apiQuery('measurements.top', { query: { metric, site, limit: 8 } }),
    refetchInterval: EVERY_MS,
  });
  return (
    <Panel title="Measured now">
      <SegmentedControl
        aria-label="Ranked by"
        data={[...RANKED]}
        value={metric}
        onChange={(value) => setMetric(value as RankedName)}
        fullWidth
        m={8}
      />
      <ShortTable
        label="Highest current values"
        items={top.data?.data ?? []}
        columns={COLUMNS}
        rowKey={(one) => `${one.deviceId}${one.interfaceId}`}
        onOpen={(one) =>
          void navigate({
            to: '/devices/$id',
            params: { id: one.deviceId },
            search: { tab: 'performance', ...(one.interfaceId ? { interface: one.interfaceId } : {}) },
          })
        }
        empty={top.data && <p className="none">Nothing was measured in the last minutes.</p>}
      />
    </Panel>
  );
}
