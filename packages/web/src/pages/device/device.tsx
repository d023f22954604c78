import { Button, Menu } from '@mantine/core';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import {
  IconArrowMerge,
  IconArrowsSplit,
  IconDots,
  IconEye,
  IconEyeOff,
  IconPencil,
  IconRadar2,
  IconTool,
  IconTopologyStar3,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useAction } from '../../action.ts';
import { ask } from '../../api.ts';
import { DeviceClassMark } from '../../components/device.tsx';
import { Page } from '../../components/page.tsx';
import { ProblemView } from '../../components/problem.tsx';
import { DeviceStatus } from '../../components/status.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { useMay } from '../../session.tsx';
import classes from './device.module.css';
import { DeviceEvents } from './events.tsx';
import { Hardware } from './hardware.tsx';
import { History } from './history.tsx';
import { Identity } from './identity.tsx';
import { Interfaces } from './interfaces.tsx';
import { Neighbours } from './neighbours.tsx';
import { Summary } from './summary.tsx';

const Dialogs = lazy(() => import('./dialogs.tsx').then((module) => ({ default: module.DeviceDialogs })));
export type DeviceDialog = 'edit' | 'merge' | 'split' | 'forget';

const route = getRouteApi('/devices/$id');

export function DevicePage() {
  const { id } = route.useParams();
  const device = useQuery(ask('devices.get', { params: { id } }));
  if (device.data) return <Device device={device.data.data} />;
  if (!device.error) return <Page title="Device">{null}</Page>;
  return (
    <Page title="Device" up={{ to: '/devices', label: 'Devices' }}>
      <ProblemView error={device.error} retry={() => void device.refetch()} />
    </Page>
  );
}

const WITHIN: Record<string, (props: { device: DeviceDetail }) => React.ReactNode> = {
  summary: Summary,
  interfaces: Interfaces,
  hardware: Hardware,
  neighbours: Neighbours,
  events: DeviceEvents,
  history: History,
  identity: Identity,
};

const tabsOf = (device: DeviceDetail): Tab[] => [
  { id: 'summary', label: 'Summary' },
  { id: 'interfaces', label: 'Interfaces', count: device.interfaceCount },
  { id: 'hardware', label: 'Hardware', count: device.entities.length },
  { id: 'neighbours', label: 'Neighbours', count: device.neighbours.length },
  { id: 'events', label: 'Events', count: device.openEvents },
  { id: 'history', label: 'History' },
  { id: 'identity', label: 'Why one device' },
];

function Device({ device }: { device: DeviceDetail }) {
  const { tab = 'summary' } = route.useSearch();
  const Part = WITHIN[tab] ?? Summary;
  return (
    <Page
      title={device.name}
      up={{ to: '/devices', label: 'Devices' }}
      fill={tab === 'interfaces' || tab === 'events'}
      heading={
        <span className={classes.heading}>
          {device.name}
          <span className={classes.marks}>
            <DeviceStatus status={device.status} />
            <DeviceClassMark class={device.class} />
            <span className="mono">{device.address}</span>
            <span>{device.site}</span>
          </span>
        </span>
      }
      actions={<Actions device={device} />}
    >
      <Tabs label="Parts of the device" tabs={tabsOf(device)} active={tab} />
      <Part device={device} />
    </Page>
  );
}

function Actions({ device }: { device: DeviceDetail }) {
  const operator = useMay('operator');
  const admin = useMay('admin');
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<DeviceDialog>();
  const watch = useAction('devices.update', {
    done: device.monitor === 1 ? 'No longer watched' : 'Watched from now on',
    failed: 'Not changed',
    touches: ['summary', 'topology'],
  });
  return (
    <>
      {operator && (
        <>
          <Button
            variant={device.monitor === 1 ? 'default' : 'filled'}
            leftSection={
              device.monitor === 1 ? <IconEyeOff size={14} aria-hidden /> : <IconEye size={14} aria-hidden />
            }
            loading={watch.pending}
            onClick={() =>
              void watch.run({ params: { id: device.id }, body: { monitor: device.monitor === 1 ? 0 : 1 } })
            }
          >
            {device.monitor === 1 ? 'Stop watching' : 'Watch'}
          </Button>
          <Button
            variant="default"
            leftSection={<IconRadar2 size={14} aria-hidden />}
            renderRoot={(props) => (
              <Link
                to="/discovery"
                search={{
                  new: '1',
                  site: device.siteId,
                  targets: device.address ?? undefined,
                  profile: 'deep',
                }}
                {...props}
              />
            )}
          >
            Scan again
          </Button>
        </>
      )}
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<IconDots size={14} aria-hidden />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconTopologyStar3 size={15} />}
            onClick={() =>
              void navigate({ to: '/topology', search: { site: device.siteId, device: device.id } })
            }
          >
            Show on the map
          </Menu.Item>
          {operator && (
            <>
              <Menu.Item
                leftSection={<IconTool size={15} />}
                onClick={() =>
                  void navigate({ to: '/maintenance', search: { edit: 'new', device: device.id } })
                }
              >
                Plan maintenance
              </Menu.Item>
              <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setDialog('edit')}>
                Name and class
              </Menu.Item>
              <Menu.Item leftSection={<IconArrowMerge size={15} />} onClick={() => setDialog('merge')}>
                Merge with another device
              </Menu.Item>
              <Menu.Item
                leftSection={<IconArrowsSplit size={15} />}
                disabled={device.addresses.length < 2}
                onClick={() => setDialog('split')}
              >
                Split addresses off
              </Menu.Item>
            </>
          )}
          {admin && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="var(--bad)"
                leftSection={<IconTrash size={15} />}
                onClick={() => setDialog('forget')}
              >
                Forget the device
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog && (
        <Suspense>
          <Dialogs device={device} dialog={dialog} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </>
  );
}
