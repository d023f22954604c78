import { type DeviceDetail, MERGED_INTO } from '@rollcall/shared/api/inventory';
import {
  IconArrowMerge,
  IconArrowsSplit,
  IconEye,
  IconEyeOff,
  IconPencil,
  IconRadar2,
  IconTags,
  IconTool,
  IconTopologyStar3,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { apiQuery } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { IconButton, type MenuAction, MoreMenu } from '../../components/controls/index.ts';
import { AsOf, AsOfNote, momentOf } from '../../components/filter/index.ts';
import { LoadedPage, Page, type Tab, Tabs } from '../../components/page/index.ts';
import { DeviceClassLabel, DeviceStatus, HealthStatus } from '../../components/show/index.ts';
import { useMay } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { useAction } from '../../use-action.ts';
import { PAST, type PastDevice, PastSummary, pastTabsOf } from './as-of.tsx';
import type { DeviceDialog } from './dialogs.tsx';
import { DeviceEvents } from './events.tsx';
import { Hardware } from './hardware.tsx';
import { History } from './history.tsx';
import { Identity } from './identity.tsx';
import { Neighbours } from './neighbours.tsx';
import { Interfaces } from './ports/interfaces.tsx';
import { Summary } from './summary.tsx';
import { Tables } from './tables.tsx';

/** With the library that draws charts: loaded when it is opened. */
const Performance = lazy(() =>
  import('./measured/performance.tsx').then((module) => ({ default: module.Performance })),
);
const Health = lazy(() => import('./measured/health.tsx').then((module) => ({ default: module.Health })));
const Dialogs = lazy(() => import('./dialogs.tsx').then((module) => ({ default: module.DeviceDialogs })));

const route = getRouteApi('/devices/$id');
const UP = { to: '/devices', label: 'Devices' };

export function DevicePage() {
  const { id } = route.useParams();
  const moment = useMoment();
  const query = moment.at ? { at: moment.at } : {};
  const device = useQuery(apiQuery('devices.get', { params: { id }, query }));
  const into = mergedInto(device.error);
  if (into) return <Navigate to="/devices/$id" params={{ id: into }} search={(all) => all} replace />;
  return (
    <LoadedPage title="Device" up={UP} query={device} above={<AsOfNote {...moment} />}>
      {({ data }) =>
        data.asOf ? <DeviceThen device={{ ...data, asOf: data.asOf }} /> : <Device device={data} />
      }
    </LoadedPage>
  );
}

/** The device that a record of an old link was merged into. */
const mergedInto = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.details.find(({ path }) => path === MERGED_INTO)?.message : undefined;

function useMoment() {
  const { search, change } = useUrlState('/devices/$id');
  return { at: momentOf(search.at), onChange: (at: string | undefined) => change({ at }) };
}

const WITHIN: Record<string, React.ComponentType<{ device: DeviceDetail }>> = {
  summary: Summary,
  health: Health,
  performance: Performance,
  interfaces: Interfaces,
  hardware: Hardware,
  neighbours: Neighbours,
  tables: Tables,
  events: DeviceEvents,
  history: History,
  identity: Identity,
};

/** Links to devices of the inventory, and neighbours that are not in it. */
const connections = ({ links, neighbours }: DeviceDetail): number =>
  links.length + neighbours.filter(({ deviceId }) => deviceId === null).length;

const tabsOf = (device: DeviceDetail): Tab[] => [
  { id: 'summary', label: 'Summary' },
  { id: 'health', label: 'Health' },
  { id: 'performance', label: 'Performance' },
  { id: 'interfaces', label: 'Interfaces', count: device.interfaceCount },
  { id: 'hardware', label: 'Hardware', count: device.entities.length },
  { id: 'neighbours', label: 'Neighbours', count: connections(device) },
  { id: 'tables', label: 'VLANs and ARP' },
  { id: 'events', label: 'Events', count: device.openEvents },
  { id: 'history', label: 'History' },
  { id: 'identity', label: 'Identity evidence' },
];

const isUnwell = ({ health }: DeviceDetail): boolean => health === 'critical' || health === 'warning';

/** The device as it was at the moment that the address names. */
function DeviceThen({ device }: { device: PastDevice }) {
  const {
    search: { tab = 'summary' },
  } = useUrlState('/devices/$id');
  const moment = useMoment();
  const Part = PAST[tab] ?? PastSummary;
  return (
    <Page title={device.name} up={UP} marks={<Marks device={device} />} actions={<AsOf {...moment} />}>
      <AsOfNote {...moment}>Shown as it was then, as far as the recorded changes tell.</AsOfNote>
      <Tabs label="Parts of the device" tabs={pastTabsOf(device)} active={tab in PAST ? tab : 'summary'} />
      <Part device={device} />
    </Page>
  );
}

const Marks = ({ device }: { device: DeviceDetail }) => (
  <>
    <DeviceStatus status={device.status} />
    {isUnwell(device) && (
      <Link to="." search={{ tab: 'health' }} className="plain">
        <HealthStatus health={device.health} />
      </Link>
    )}
    <DeviceClassLabel class={device.class} />
    <span className="mono">{device.address}</span>
    <span>{device.site}</span>
  </>
);

function Device({ device }: { device: DeviceDetail }) {
  const {
    search: { tab = 'summary' },
  } = useUrlState('/devices/$id');
  const moment = useMoment();
  const Part = WITHIN[tab] ?? Summary;
  return (
    <Page
      title={device.name}
      up={UP}
      fill={tab === 'interfaces' || tab === 'events'}
      marks={<Marks device={device} />}
      actions={
        <>
          <AsOf {...moment} />
          <Actions device={device} />
        </>
      }
    >
      <Tabs label="Parts of the device" tabs={tabsOf(device)} active={tab} />
      <Suspense>
        <Part device={device} />
      </Suspense>
    </Page>
  );
}

function Actions({ device }: { device: DeviceDetail }) {
  const mayUpdate = useMay('devices.update');
  const mayDelete = useMay('devices.delete');
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<DeviceDialog>();
  const watch = useAction('devices.update', {
    done: device.monitor === 1 ? 'No longer monitored' : 'Monitored from now on',
    failed: 'Not changed',
    touches: ['summary', 'topology'],
  });
  const monitored = device.monitor === 1;
  const again = { new: '1', site: device.siteId, targets: device.address ?? undefined, profile: 'deep' };
  const map = { site: device.siteId, device: device.id };
  const actions: MenuAction[] = [
    {
      label: 'Show on the map',
      icon: IconTopologyStar3,
      run: () => void navigate({ to: '/topology', search: map }),
    },
  ];
  if (mayUpdate)
    actions.push(
      {
        label: 'Plan maintenance',
        icon: IconTool,
        run: () => void navigate({ to: '/maintenance', search: { edit: 'new', device: device.id } }),
      },
      { label: 'Name and class', icon: IconPencil, run: () => setDialog('edit') },
      { label: 'Tags and fields', icon: IconTags, run: () => setDialog('annotate') },
      { label: 'Merge with another device', icon: IconArrowMerge, run: () => setDialog('merge') },
      {
        label: 'Split addresses off',
        icon: IconArrowsSplit,
        run: () => setDialog('split'),
        disabled: device.addresses.length < 2,
      },
    );
  if (mayDelete)
    actions.push({
      label: 'Delete the device',
      icon: IconTrash,
      run: () => setDialog('delete'),
      danger: true,
    });
  return (
    <>
      {mayUpdate && (
        <>
          <IconButton
            variant={monitored ? 'default' : 'filled'}
            icon={monitored ? IconEyeOff : IconEye}
            loading={watch.pending}
            onClick={() =>
              void watch.run({ params: { id: device.id }, body: { monitor: monitored ? 0 : 1 } })
            }
          >
            {monitored ? 'Stop monitoring' : 'Monitor'}
          </IconButton>
          <IconButton icon={IconRadar2} onClick={() => void navigate({ to: '/discovery', search: again })}>
            Scan again
          </IconButton>
        </>
      )}
      <MoreMenu actions={actions} />
      {dialog && (
        <Suspense>
          <Dialogs device={device} dialog={dialog} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </>
  );
}
