import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useNow } from '../../components/show/index.ts';
import { Drawings, OF_DEVICE, OF_INTERFACE } from '../device/measured/drawings.tsx';
import { EventChart, isCharted } from '../events/event-chart.tsx';
import { courseOf } from './course.ts';

/** Before the trouble began and after it was over, seconds. */
const MARGIN_S = 1_800;
/** Charts that grow are drawn anew this often at most, seconds. */
const GRAIN_S = 300;

/** Charts that were kept with the first events of a case. */
const KEPT_MOST = 2;

/** What was measured around the trouble: kept with its events, and of the interface that it began with, else of the device. */
export function Around({ one }: { one: CaseDetail }) {
  const navigate = useNavigate();
  const now = Math.ceil(useNow() / 1000 / GRAIN_S) * GRAIN_S;
  const first = one.events.reduce<CaseDetail['events'][number] | undefined>(
    (best, event) => (event.deviceId && (!best || event.firstSeen < best.firstSeen) ? event : best),
    undefined,
  );
  const deviceId = one.rootDeviceId ?? first?.deviceId;
  const interfaceId = first?.deviceId === deviceId ? (first?.interfaceId ?? undefined) : undefined;
  const marks = useMemo(
    () => one.events.map(({ firstSeen, severity }) => ({ at: firstSeen, colour: `--sev-${severity}` })),
    [one.events],
  );
  const measured = one.events
    .filter(isCharted)
    .sort((a, b) => a.firstSeen - b.firstSeen)
    .slice(0, KEPT_MOST);
  if (!deviceId) return null;
  const { begunAt, lasted } = courseOf(one, now);
  const range = {
    from: String(begunAt - MARGIN_S),
    to: String(Math.min(now, begunAt + lasted + MARGIN_S)),
  };
  const zoom = (from: number, to: number) =>
    void navigate({
      to: '/devices/$id',
      params: { id: deviceId },
      search: { tab: 'performance', interface: interfaceId, from: String(from), to: String(to) },
    });
  return (
    <>
      {measured.map((event) => (
        <EventChart key={event.id} event={event} title={event.message} />
      ))}
      <Drawings
        {...{ deviceId, range, zoom, marks }}
        {...(interfaceId && { interfaceId })}
        drawings={(interfaceId ? OF_INTERFACE : OF_DEVICE).slice(0, 2)}
      />
    </>
  );
}
