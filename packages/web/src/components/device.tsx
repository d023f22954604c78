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
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './device.module.css';
import type { Icon } from './mark.tsx';

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
export function DeviceClassMark({ class: name, word = true }: { class: DeviceClass; word?: boolean }) {
  const Icon = CLASS_ICONS[name];
  return (
    <span className={classes.mark} title={word ? undefined : name}>
      <Icon size={15} stroke={1.6} aria-hidden />
      <span className={word ? 'cut' : 'hidden'}>{name}</span>
    </span>
  );
}

/** Leads to a device. */
export function DeviceLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/devices/$id" params={{ id }} className="plain">
      {children}
    </Link>
  );
}
