import type { Device } from '@rollcall/shared/api/inventory';
import type { DeviceClass } from '@rollcall/shared/model';
import {
  IconBattery4,
  IconBox,
  IconCamera,
  IconDatabase,
  IconDeviceDesktop,
  IconPhone,
  IconPlug,
  IconPrinter,
  IconQuestionMark,
  IconRouter,
  IconScale,
  IconServer,
  IconServer2,
  IconSwitchHorizontal,
  IconTemperature,
  IconWall,
  IconWifi,
} from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { Icon } from './labels.tsx';

export const CLASS_ICONS: Record<DeviceClass, Icon> = {
  router: IconRouter,
  switch: IconSwitchHorizontal,
  firewall: IconWall,
  wireless: IconWifi,
  'load-balancer': IconScale,
  server: IconServer,
  hypervisor: IconServer2,
  storage: IconDatabase,
  printer: IconPrinter,
  ups: IconBattery4,
  pdu: IconPlug,
  camera: IconCamera,
  phone: IconPhone,
  sensor: IconTemperature,
  workstation: IconDeviceDesktop,
  appliance: IconBox,
  unknown: IconQuestionMark,
};

/** What a device is, as icon and word. */
export function DeviceClassLabel({ class: name, word = true }: { class: DeviceClass; word?: boolean }) {
  const Icon = CLASS_ICONS[name];
  return (
    <span className="iconed" title={word ? undefined : name}>
      <Icon size={15} stroke={1.6} color="var(--ink-2)" aria-hidden />
      <span className={word ? 'cut' : 'hidden'}>{name}</span>
    </span>
  );
}

/**
 * Leads to a device. Lists draw many: the router's own Link works out its address again at every step of the page, which
 * is most of what a click on a list's heading costs.
 */
export function DeviceLink({ id, children }: { id: string; children: ReactNode }) {
  const router = useRouter();
  const place = { to: '/devices/$id', params: { id } } as const;
  const follow = (event: MouseEvent) => {
    // Another tab or window is the browser's.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate(place);
  };
  return (
    <a
      href={`/devices/${id}`}
      className="plain"
      onClick={follow}
      onMouseEnter={() => void router.preloadRoute(place)}
    >
      {children}
    </a>
  );
}

/** A device among others to choose from. */
export const DeviceChoice = ({ device }: { device: Pick<Device, 'name' | 'address' | 'class'> }) => (
  <>
    <span className="cut">{device.name}</span>
    <span className="mono">{device.address}</span>
    <DeviceClassLabel class={device.class} word={false} />
  </>
);
