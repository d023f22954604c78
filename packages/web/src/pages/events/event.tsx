import type { Event } from '@rollcall/shared/api/incidents';
import { IconBriefcase, IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteName } from '../../choices.ts';
import { Acknowledge, IconButton, UNTIL } from '../../components/controls/index.ts';
import { LoadedSidePanel, SidePanel } from '../../components/page/index.ts';
import {
  CaseLink,
  Changed,
  CollectorLink,
  DeviceLink,
  EventStatus,
  eventText,
  Fact,
  Facts,
  fieldName,
  Severity,
  Time,
  TimeFact,
  Value,
} from '../../components/show/index.ts';
import { count } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { useAction } from '../../use-action.ts';
import { NewCase } from '../cases/new-case.tsx';

/** With the charts, which are loaded where they are drawn. */
const EventChart = lazy(() => import('./event-chart.tsx').then((module) => ({ default: module.EventChart })));

/** One event beside the list: what, since when, what changed, and what can be done about it. */
export function EventSide({ id, onClose }: { id: string; onClose: () => void }) {
  const event = useQuery(apiQuery('events.get', { params: { id } }));
  return (
    <LoadedSidePanel title="Event" query={event} onClose={onClose}>
      {({ data }) => (
        <SidePanel title={eventText(data)} onClose={onClose} actions={<EventActions event={data} />}>
          <EventFacts event={data} />
        </SidePanel>
      )}
    </LoadedSidePanel>
  );
}

const CLOSED: Record<string, string> = {
  cleared: 'by itself: the problem is over',
  manual: 'by hand',
  expired: 'by age: it did not happen again',
  deleted: 'because its device or interface was deleted',
  noted: 'at once: for information only',
};

function EventFacts({ event }: { event: Event }) {
  const siteName = useSiteName();
  const { before, after, ...details } = event.details;
  return (
    <>
      <Facts>
        <Fact name="Severity">
          <Severity code={event.severity} />
        </Fact>
        <Fact name="Status">
          <EventStatus status={event.status} />
        </Fact>
        <Fact name="Device">
          {event.deviceId && <DeviceLink id={event.deviceId}>{event.device ?? event.deviceId}</DeviceLink>}
        </Fact>
        <Fact name="Collector">
          {event.collectorId && <CollectorLink id={event.collectorId}>Show the collector</CollectorLink>}
        </Fact>
        <Fact name="Site">{siteName(event.siteId)}</Fact>
        <Fact name="Case">{event.caseId && <CaseLink id={event.caseId}>Open the case</CaseLink>}</Fact>
        <Fact name="Kind">
          <span className="mono">{event.kind}</span>
        </Fact>
        <Fact name="Source">{event.source}</Fact>
        <TimeFact name="First seen" at={event.firstSeen} />
        <TimeFact name="Last seen" at={event.timestamp} />
        <Fact name="Count">{event.count > 1 && count(event.count)}</Fact>
        {event.acknowledgedAt && (
          <Fact name="Acknowledged">
            by {event.acknowledgedBy} <Time at={event.acknowledgedAt} />
            {event.status === 1 &&
              event.acknowledgedUntil &&
              `, ${UNTIL[event.acknowledgedUntil].label.toLowerCase()}`}
          </Fact>
        )}
        {event.status !== 2 && event.maintenanceUntil && (
          <Fact name="Maintenance">
            opens no case until <Time at={event.maintenanceUntil} />
          </Fact>
        )}
        {event.closedAt && (
          <Fact name="Closed">
            <Time at={event.closedAt} /> {CLOSED[event.closeReason ?? ''] ?? ''}
            {event.closedBy && ` (${event.closedBy})`}
          </Fact>
        )}
        {Object.entries(details).map(([name, value]) => (
          <Fact key={name} name={fieldName(name)}>
            <Value name={name} value={value} />
          </Fact>
        ))}
      </Facts>
      <Suspense>
        <EventChart event={event} />
      </Suspense>
      <Changed before={before} after={after} />
    </>
  );
}

/** Acknowledge, close, create a case: what an operator does with an event. */
function EventActions({ event }: { event: Event }) {
  const may = useMay('events.close');
  const touches = ['summary', 'cases', 'devices'];
  const close = useAction('events.close', { failed: 'Not closed', touches });
  const [naming, setNaming] = useState(false);
  const params = { id: event.id };
  if (!may || event.status === 2) return null;
  return (
    <>
      {event.status === 0 && <Acknowledge event={event} />}
      <IconButton icon={IconCheck} loading={close.pending} onClick={() => void close.run({ params })}>
        Close
      </IconButton>
      {!event.caseId && (
        <IconButton icon={IconBriefcase} onClick={() => setNaming(true)}>
          Create case
        </IconButton>
      )}
      {naming && <NewCase onClose={() => setNaming(false)} events={[event]} />}
    </>
  );
}
