import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Panel } from '../../components/page/index.ts';
import { Bar, duration, Fact, Facts } from '../../components/show/index.ts';
import { percentText } from '../availability/month.ts';

/** How long it was up in the last 30 days. */
export function LastDays({ device }: { device: DeviceDetail }) {
  const query = { of: 'devices', deviceId: device.id } as const;
  const found = useQuery(apiQuery('availability.list', { query }));
  const [entry] = found.data?.data ?? [];
  if (!entry || entry.up + entry.down + entry.maintenance === 0) return null;
  const parts = [
    { label: 'Up', count: entry.up, colour: 'var(--fill-ok)' },
    { label: 'Down', count: entry.down, colour: 'var(--fill-bad)' },
    { label: 'In maintenance', count: entry.maintenance, colour: 'var(--chart-2)' },
    { label: 'Not observed', count: entry.notObserved, colour: 'var(--fill-idle)' },
  ];
  return (
    <Panel
      title="Availability, last 30 days"
      end={
        <Link to="/availability" search={{ site: device.siteId }}>
          Report
        </Link>
      }
    >
      <Facts>
        <Fact name="Available">
          {entry.availability !== null && `${percentText(entry.availability, 3)} %`}
        </Fact>
        <Fact name="Share">
          <Bar parts={parts} />
        </Fact>
        {parts.map(({ label, count }) => (
          <Fact key={label} name={label}>
            {count > 0 && duration(count)}
          </Fact>
        ))}
      </Facts>
    </Panel>
  );
}
