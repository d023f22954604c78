import type { Event } from '@rollcall/shared/api/incidents';
import { IconBriefcase, IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { Acknowledge, IconButton, UNTIL } from '../../components/controls/index.ts';
import { LoadedSidePanel, SidePanel } from '../../components/page/index.ts';
import {
  Changed,
  DeviceLink,
  EventStatus,
  Facts,
  Severity,
  Time,
  valueAsText,
} from '../../components/show/index.ts';
import { useHasRole } from '../../session.tsx';
import { useSiteName } from '../../sites.ts';
import { useAction } from '../../use-action.ts';
import { NewCase } from '../cases/new-case.tsx';

/** One event beside the list: what, since when, what changed, and what can be done about it. */
export function EventSide({ id, onClose }: { id: string; onClose: () => void }) {
  const event = useQuery(apiQuery('events.get', { params: { id } }));
  return (
    <LoadedSidePanel title="Event" query={event} onClose={onClose}>
      {({ data }) => (
        <SidePanel title={data.message} onClose={onClose} actions={<EventActions event={data} />}>
          <EventFacts event={data} />
        </SidePanel>
      )}
    </LoadedSidePanel>
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
          ...Object.entries(details).map(([name, value]) => [name, valueAsText(value)] as const),
        ]}
      />
      <Changed before={before} after={after} />
    </>
  );
}

/** Acknowledge, close, make a case: what an operator does with an event. */
export function EventActions({ event }: { event: Event }) {
  const operator = useHasRole('operator');
  const touches = ['summary', 'cases', 'devices'];
  const close = useAction('events.close', { failed: 'Not closed', touches });
  const [naming, setNaming] = useState(false);
  const params = { id: event.id };
  if (!operator || event.status === 2) return null;
  return (
    <>
      {event.status === 0 && <Acknowledge event={event} />}
      <IconButton icon={IconCheck} loading={close.pending} onClick={() => void close.run({ params })}>
        Close
      </IconButton>
      {!event.caseId && (
        <IconButton icon={IconBriefcase} onClick={() => setNaming(true)}>
          Make a case
        </IconButton>
      )}
      {naming && <NewCase onClose={() => setNaming(false)} event={event} />}
    </>
  );
}
