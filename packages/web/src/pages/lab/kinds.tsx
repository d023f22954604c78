import type { FaultKind } from '@rollcall/shared/api/lab';
import {
  IconArrowsShuffle,
  IconGauge,
  IconPlugConnectedX,
  IconPower,
  IconReload,
  IconReplace,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { Icon } from '../../components/show/index.ts';

export interface Next {
  label: string;
  link: Pick<LinkProps, 'to' | 'search'>;
}

export interface Kind {
  title: string;
  icon: Icon;
  /** What it does, and what to expect. */
  what: string;
  /** How it is called once it is done. */
  done: string;
  /** Where it is to be seen, of a device. */
  next: (device: string) => readonly Next[];
}

const device = (search: string): Next => ({ label: search, link: { to: '/devices', search: { search } } });
const map = (q: string): Next => ({ label: 'Topology', link: { to: '/topology', search: { q } } });
const events = (Device: string): Next => ({ label: 'Events', link: { to: '/events', search: { Device } } });
const cases: Next = { label: 'Cases', link: { to: '/cases' } };

export const KINDS: Record<FaultKind, Kind> = {
  box: {
    title: 'Switch a device off',
    icon: IconPower,
    what: 'It and all behind it answer nobody. Within a minute there is one case: its title names the root cause.',
    done: 'is off',
    next: (name) => [cases, map(name), device(name)],
  },
  cable: {
    title: 'Pull a cable',
    icon: IconPlugConnectedX,
    what: 'Both ports lose their link, and what has no other way is unreachable. dist-1 1/1/49 has another way.',
    done: 'is pulled out',
    next: (name) => [cases, map(name), events(name)],
  },
  uplink: {
    title: 'Fill an uplink',
    icon: IconGauge,
    what: 'It carries 97 % of its speed. The chart shows it after a minute, an event follows within three.',
    done: 'is full',
    next: (name) => [device(name), events(name)],
  },
  port: {
    title: 'Let a port flap',
    icon: IconArrowsShuffle,
    what: 'Down for 20 s, up for 20 s. After the third time, within two minutes, one event counts them all.',
    done: 'flaps',
    next: (name) => [events(name), device(name)],
  },
  reboot: {
    title: 'Reboot a device',
    icon: IconReload,
    what: 'Silent for 20 s, then it counts its uptime from the beginning: a reboot, which opens no case.',
    done: 'reboots',
    next: (name) => [events(name), device(name)],
  },
  hardware: {
    title: 'Replace hardware',
    icon: IconReplace,
    what: 'Another serial number answers at its address. The next scan finds it: start one.',
    done: 'has new hardware',
    next: (name) => [
      { label: 'Start a scan', link: { to: '/discovery', search: { new: '1', targets: '127.20.0.0/18' } } },
      { label: 'Changes', link: { to: '/changes' } },
      device(name),
    ],
  },
};
