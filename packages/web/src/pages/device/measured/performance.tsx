import { Button, Select } from '@mantine/core';
import type { Event } from '@rollcall/shared/api/incidents';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../../api.ts';
import { Empty } from '../../../components/feedback/index.ts';
import { type RangeSearch, rangeOf, TimeRange } from '../../../components/filter/index.ts';
import { EntriesPanel, Entry } from '../../../components/page/index.ts';
import { EventLink, Time, useNow } from '../../../components/show/index.ts';
import { bitrate } from '../../../format.ts';
import { useUrlState } from '../../../url-state.ts';
import { BusiestPorts } from '../ports/busiest-ports.tsx';
import { Drawings, OF_DEVICE, OF_INTERFACE, type Shared } from './drawings.tsx';
import { Thresholds } from './thresholds.tsx';

const RANGE_USUAL: RangeSearch = { last: '6h' };

/** What was measured of the device and of one of its interfaces, over a time that all charts share. */
export function Performance({ device }: { device: DeviceDetail }) {
  const { search, change } = useUrlState('/devices/$id');
  const chosen = search.last || search.from || search.to ? search : RANGE_USUAL;
  const range = rangeOf(chosen, useNow());
  const set = ({ last, from, to }: RangeSearch) => change({ last, from, to });
  const zoom = (from: number, to: number) => set({ from: String(from), to: String(to) });
  const events = useQuery(
    apiQuery('events.list', { query: { Device: device.id, ...range, pageSize: 20, Severity: '4' } }),
  );
  const marks = useMemo(
    () =>
      (events.data?.data ?? []).map((event) => ({
        at: event.firstSeen,
        colour: `--sev-${event.severity}`,
      })),
    [events.data],
  );
  if (device.monitor !== 1)
    return (
      <Empty title="Nothing is measured while the device is not monitored">
        <p>“Monitor” above starts it: round trip and loss, and the traffic of every interface.</p>
      </Empty>
    );
  return (
    <>
      <div className="strip">
        <TimeRange search={chosen} onChange={set} />
        {chosen.from && (
          <Button variant="subtle" onClick={() => set({})}>
            Zoom out
          </Button>
        )}
        <p>Drag over a chart to zoom in. Dashed lines are events; the band below is its state.</p>
      </div>
      <div className="columns">
        <div className="stack">
          <Drawings {...{ range, zoom, marks }} deviceId={device.id} drawings={OF_DEVICE} />
          <Marked query={events} />
          <Thresholds of="devices" id={device.id} name={device.name} />
        </div>
        <div className="stack">
          <OneInterface {...{ device, range, zoom, marks }} />
          <BusiestPorts device={device} range={range} />
        </div>
      </div>
    </>
  );
}

/** The charts of one interface, chosen by name. */
function OneInterface({ device, ...shared }: Shared & { device: DeviceDetail }) {
  const { search, change } = useUrlState('/devices/$id');
  const interfaces = useQuery(apiQuery('interfaces.list', { query: { deviceId: device.id, pageSize: 1000 } }))
    .data?.data;
  const one = interfaces?.find(({ id }) => id === search.interface) ?? interfaces?.find(isInUse);
  if (!interfaces || !one) return null;
  return (
    <>
      <div className="strip">
        <Select
          aria-label="Interface"
          searchable
          w={300}
          data={interfaces.map(({ id, name, alias }) => ({
            value: id,
            label: alias ? `${name} · ${alias}` : name,
          }))}
          value={one.id}
          onChange={(id) => change({ interface: id ?? undefined })}
        />
        <p>
          {[one.alias, one.speedBps ? bitrate(one.speedBps) : null, one.neighbour?.name]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      <Drawings {...shared} deviceId={device.id} interfaceId={one.id} drawings={OF_INTERFACE} />
      <Thresholds of="interfaces" id={one.id} name={one.name} />
    </>
  );
}

const isInUse = ({ operStatus, type }: { operStatus: string | null; type: string | null }): boolean =>
  operStatus === 'up' && type !== 'softwareLoopback';

/** The events behind the dashed lines. */
const Marked = ({ query }: { query: UseQueryResult<{ data: Event[] }> }) => (
  <EntriesPanel title="Events in this time" query={query} empty="None.">
    {(event) => (
      <Entry key={event.id} end={<Time at={event.firstSeen} />}>
        <EventLink id={event.id} className="plain" title={event.message}>
          {event.message}
        </EventLink>
      </Entry>
    )}
  </EntriesPanel>
);
