import {
  CHANGE_KINDS,
  type Change,
  type ChangeKind,
  ENDPOINT_CHANGE_KINDS,
} from '@rollcall/shared/api/changes';
import { IconArrowsDiff, IconList } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import {
  AsOf,
  AsOfNote,
  Filters,
  momentOf,
  rangeOf,
  ViewSwitch,
  Views,
} from '../../components/filter/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Page, SidePanel, Split } from '../../components/page/index.ts';
import {
  Changed,
  ChangeLink,
  ChangeText,
  DeviceLink,
  Fact,
  Facts,
  TimeFact,
} from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import { useUrlState } from '../../url-state.ts';
import { Compare } from './compare.tsx';
import { TimeLine } from './time-line.tsx';

const KINDS: Readonly<Record<ChangeKind, string>> = {
  'device.new': 'New device',
  'device.gone': 'Device gone',
  'device.renumbered': 'Address changed',
  'device.moved': 'Device moved',
  'device.swapped': 'Hardware replaced',
  'device.upgraded': 'Version changed',
  'device.changed': 'Device details',
  'device.addresses': 'Addresses',
  'device.hardware': 'Hardware parts',
  'device.vlans': 'VLANs',
  'device.merged': 'Devices merged',
  'device.split': 'Device split',
  'device.rebooted': 'Reboot',
  'interface.added': 'New interface',
  'interface.removed': 'Interface gone',
  'interface.changed': 'Interface settings',
  'interface.shut': 'Admin state',
  'interface.speed': 'Speed',
  'interface.duplex': 'Duplex',
  'neighbour.changed': 'Neighbour',
  'address.moved': 'Address moved',
  'address.conflict': 'Address conflict',
  'endpoint.added': 'New endpoint',
  'endpoint.moved': 'Endpoint moved',
  'endpoint.removed': 'Endpoint gone',
};
const kindName = (kind: string): string => (KINDS as Record<string, string>)[kind] ?? kind;
const KIND_CHOICES = [...CHANGE_KINDS, ...ENDPOINT_CHANGE_KINDS].map((value) => ({
  value,
  label: KINDS[value],
}));

const COLUMNS: readonly Column<Change>[] = [
  timeColumn({ id: 'at', title: 'When', width: '96px', narrow: true, at: (one) => one.at }),
  {
    id: 'kind',
    title: 'What',
    width: 'minmax(104px, 0.5fr)',
    narrow: true,
    value: (one) => kindName(one.kind),
  },
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(100px, 0.6fr)',
    cell: (one) => (one.deviceId ? <DeviceLink id={one.deviceId}>{one.device}</DeviceLink> : one.device),
  },
  {
    id: 'message',
    title: 'Change',
    width: 'minmax(200px, 2fr)',
    narrow: true,
    cell: (one) => <ChangeText change={one} />,
  },
  { id: 'collector', title: 'Seen by', width: 'minmax(90px, 0.4fr)' },
  { id: 'site', title: 'Site', width: 'minmax(76px, 0.4fr)' },
];
const VIEWS = [
  { name: 'Last 24 hours', search: {} },
  { name: 'Last hour', search: { last: '1h' } },
  { name: 'Versions', search: { kind: 'device.upgraded', last: '30d' } },
  { name: 'Hardware', search: { kind: 'device.swapped', last: '30d' } },
  { name: 'Endpoints that moved', search: { kind: 'endpoint.moved' } },
];

const ENDPOINT_CHOICES = [{ value: '1', label: 'Shown' }];

const MODES = [
  { value: 'list', label: 'List', icon: IconList },
  { value: 'compare', label: 'Compare two moments', icon: IconArrowsDiff },
];

/** What of the inventory came, went or is different, newest first. */
export function Changes() {
  const { search, change } = useUrlState('/changes');
  const sites = useSiteChoices();
  const [picked, setPicked] = useState<Change>();
  const { last, from, to, view, at: typed, ...filters } = search;
  const at = momentOf(typed);
  const moment = { at, onChange: (next: string | undefined) => change({ at: next }) };
  const range = useMemo(() => rangeOf({ last, from, to }, Date.now(), at), [last, from, to, at]);
  const query = { ...filters, ...range };
  const source = usePagedList('changes.list', query);
  const close = useCallback(() => setPicked(undefined), []);
  return (
    <Page
      title="Changes"
      count={source.total}
      fill
      actions={
        <>
          <AsOf {...moment} />
          <ViewSwitch views={MODES} view={view} onChange={(next) => change({ view: next })} />
          <ExportMenu id="changes.list" query={query} columns={COLUMNS} name="changes" />
        </>
      }
    >
      <AsOfNote {...moment}>What had changed until then; later changes are left out.</AsOfNote>
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'kind', label: 'What', choices: KIND_CHOICES, many: true },
          { key: 'endpoints', label: 'Endpoints', choices: ENDPOINT_CHOICES },
          { key: 'site', label: 'Site', choices: sites },
        ]}
        range
      />
      <Views list="changes" search={search} builtIn={VIEWS} />
      <TimeLine query={query} onTime={(time) => change({ last: undefined, ...time })} />
      {view === 'compare' ? (
        <Compare query={query} />
      ) : (
        <Split
          list={
            <VirtualTable
              label="Changes"
              source={source}
              columns={COLUMNS}
              onOpen={setPicked}
              empty={
                <Empty title="Nothing changed">
                  Nothing in this time: the last 24 hours unless you choose another. Scans and monitoring see
                  changes.
                </Empty>
              }
            />
          }
        >
          {picked && <ChangeSide one={picked} onClose={close} />}
        </Split>
      )}
    </Page>
  );
}

function ChangeSide({ one, onClose }: { one: Change; onClose: () => void }) {
  return (
    <SidePanel title={kindName(one.kind)} onClose={onClose}>
      <p>{one.message}</p>
      <Facts>
        <TimeFact name="When" at={one.at} />
        <Fact name="Device">
          {one.deviceId && <DeviceLink id={one.deviceId}>{one.device ?? 'deleted'}</DeviceLink>}
        </Fact>
        <Fact name="Before this">
          {one.deviceId && (
            <Link to="/devices/$id" params={{ id: one.deviceId }} search={{ at: String(one.at - 1) }}>
              the device as it was
            </Link>
          )}
        </Fact>
        <Fact name="Interface">{one.interface}</Fact>
        <Fact name="Site">{one.site}</Fact>
        <Fact name="Seen by">{one.collector}</Fact>
        <Fact name={one.endpoint ? 'Endpoint' : 'Event'}>
          <ChangeLink change={one}>{one.endpoint ?? 'open'}</ChangeLink>
        </Fact>
      </Facts>
      {!one.endpoint && <Changed before={one.before} after={one.after} />}
    </SidePanel>
  );
}
