import type { Event } from '@rollcall/shared/api/incidents';
import { IconBriefcase, IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction } from '../../action.ts';
import { ask } from '../../api.ts';
import { Acknowledge, UNTIL } from '../../components/acknowledge.tsx';
import { ActButton } from '../../components/act.tsx';
import { Changed, valueText } from '../../components/changed.tsx';
import { DeviceLink } from '../../components/device.tsx';
import { Facts } from '../../components/facts.tsx';
import { Severity } from '../../components/mark.tsx';
import { LoadedSide, Side } from '../../components/side.tsx';
import { EventStatus } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session.tsx';
import { useSiteName } from '../../sites.ts';
import { NewCase } from '../cases/new-case.tsx';

/** One event beside the list: what, since when, what changed, and what can be done about it. */
export function EventSide({ id, onClose }: { id: string; onClose: () => void }) {
  const event = useQuery(ask('events.get', { params: { id } }));
  return (
    <LoadedSide title="Event" query={event} onClose={onClose}>
      {({ data }) => (
        <Side title={data.message} onClose={onClose} actions={<EventActions event={data} />}>
          <EventFacts event={data} />
        </Side>
      )}
    </LoadedSide>
  );
}

const CLOSED: Record<string, string> = {
  cleared: 'by itself: it is no longer so',
  manual: 'by hand',
  expired: 'by age: it did not happen again',
  deleted: 'with what it was about',
};

function EventFacts({ event }: { event: Event }) {
  const siteName = useSiteName();
  const { before, after, ...details } = event.details;
  return (
    <>
      <Facts
        facts={[
          ['Severity', <Severity key="severity" code={event.severity} />],
          ['Status', <EventStatus key="status" status={event.status} />],
          [
            'Device',
            event.deviceId && <DeviceLink id={event.deviceId}>{event.device ?? event.deviceId}</DeviceLink>,
          ],
          [
            'Collector',
            event.collectorId && (
              <Link to="/collectors" search={{ collector: event.collectorId }}>
                Show the collector
              </Link>
            ),
          ],
          ['Site', siteName(event.siteId)],
          [
            'Case',
            event.caseId && (
              <Link to="/cases/$id" params={{ id: event.caseId }}>
                Open the case
              </Link>
            ),
          ],
          [
            'Kind',
            <span key="kind" className="mono">
              {event.kind}
            </span>,
          ],
          ['Source', event.source],
          ['First seen', <Time key="first" at={event.firstSeen} />],
          ['Last seen', <Time key="last" at={event.timestamp} />],
          ['Times', event.count > 1 ? event.count.toLocaleString('en') : undefined],
          [
            'Acknowledged',
            event.acknowledgedAt && (
              <span>
                by {event.acknowledgedBy} <Time at={event.acknowledgedAt} />
                {event.status === 1 &&
                  event.acknowledgedUntil &&
                  `, ${UNTIL[event.acknowledgedUntil].label.toLowerCase()}`}
              </span>
            ),
          ],
          [
            'Maintenance',
            event.status !== 2 && event.maintenanceUntil && (
              <span>
                in no case before <Time at={event.maintenanceUntil} />
              </span>
            ),
          ],
          [
            'Closed',
            event.closedAt && (
              <span>
                <Time at={event.closedAt} /> {CLOSED[event.closeReason ?? ''] ?? ''}
                {event.closedBy && ` (${event.closedBy})`}
              </span>
            ),
          ],
          ...Object.entries(details).map(([name, value]) => [name, valueText(value)] as const),
        ]}
      />
      <Changed before={before} after={after} />
    </>
  );
}

/** Acknowledge, close, make a case: what an operator does with an event. */
export function EventActions({ event }: { event: Event }) {
  const operator = useMay('operator');
  const touches = ['summary', 'cases', 'devices'];
  const close = useAction('events.close', { failed: 'Not closed', touches });
  const [naming, setNaming] = useState(false);
  const params = { id: event.id };
  if (!operator || event.status === 2) return null;
  return (
    <>
      {event.status === 0 && <Acknowledge event={event} />}
      <ActButton icon={IconCheck} loading={close.pending} onClick={() => void close.run({ params })}>
        Close
      </ActButton>
      {!event.caseId && (
        <ActButton icon={IconBriefcase} onClick={() => setNaming(true)}>
          Make a case
        </ActButton>
      )}
      {naming && <NewCase onClose={() => setNaming(false)} event={event} />}
    </>
  );
}
