import type { Summary } from '@rollcall/shared/api/service';
import type { LinkProps } from '@tanstack/react-router';
import { count, plural } from '../../format.ts';

/** What there is in this installation. */
export interface Facts {
  summary: Summary;
  sites: number;
  /** Of any status. */
  collectors: number;
  credentials: number;
  scans: number;
  subscriptions: number;
  users: number;
}

export interface Step {
  id: 'site' | 'collector' | 'credentials' | 'scan' | 'monitor' | 'tell' | 'people' | 'elsewhere';
  title: string;
  /** What it is for. */
  why: string;
  done: boolean;
  /** How far it is. */
  state: string;
  /** Not needed for the first result. */
  optional?: true;
  action: { label: string; link: Pick<LinkProps, 'to' | 'search'> };
}

const number = (value: number, one: string, many?: string): string =>
  value === 0 ? `no ${one} yet` : plural(value, one, many);

/** The first steps of an installation in their order, and which of them are done. */
export function stepsOf(facts: Facts): Step[] {
  const { summary, sites, collectors, credentials, scans, subscriptions, users } = facts;
  const { online } = summary.collectors;
  const { total, monitored } = summary.devices;
  return [
    {
      id: 'site',
      title: 'Create a site',
      why: 'A place with an address space of its own, and the networks in it.',
      done: sites > 0,
      state: number(sites, 'site'),
      action: { label: 'New site', link: { to: '/sites', search: { edit: 'new' } } },
    },
    {
      id: 'collector',
      title: 'Add a collector',
      why: 'It scans and monitors at the site. The first one may run on this host.',
      done: online > 0,
      state: online > 0 ? `${online} online` : collectors > 0 ? 'none is online' : 'no collector yet',
      action: { label: 'Add a collector', link: { to: '/collectors', search: { new: '1' } } },
    },
    {
      id: 'credentials',
      title: 'Enter SNMP credentials',
      why: 'With them a scan finds what a device is; without them only that it is there. Test them on one address.',
      done: credentials > 0,
      state: number(credentials, 'credential'),
      action: {
        label: 'New credential',
        link: { to: '/discovery', search: { tab: 'credentials', edit: 'new' } },
      },
    },
    {
      id: 'scan',
      title: 'Scan the first network',
      why: 'Before it starts, the form says how many addresses that are and how long it takes.',
      done: total > 1,
      state: total > 0 ? number(total, 'device') : scans > 0 ? 'no device found yet' : 'no scan yet',
      action: { label: 'Start a scan', link: { to: '/discovery', search: { new: '1' } } },
    },
    {
      id: 'monitor',
      title: 'Choose what is monitored',
      why: 'Ping and SNMP around the clock. In the form of a site, “Monitor what scans find” does it for every device that a scan finds.',
      done: monitored > 0,
      state: monitored > 0 ? `${count(monitored)} monitored` : 'monitoring is off',
      action: { label: 'Choose devices', link: { to: '/devices', search: { monitor: '0' } } },
    },
    {
      id: 'tell',
      title: 'Set up notifications',
      why: 'A case is sent by mail, or to Slack, Teams, PagerDuty and others by webhook.',
      done: subscriptions > 0,
      state: number(subscriptions, 'subscription'),
      action: { label: 'New subscription', link: { to: '/notifications', search: { edit: 'new' } } },
    },
    {
      id: 'people',
      title: 'Add a second user',
      why: 'Everybody has an account of their own: as viewer, operator or administrator, of some sites or all.',
      done: users > 1,
      state: number(users, 'user'),
      action: { label: 'New user', link: { to: '/users', search: { edit: 'new' } } },
    },
    {
      id: 'elsewhere',
      title: 'Add a collector elsewhere',
      why: 'One line on a host of another site, or a second one here: two share the work, and when one fails the other does it alone.',
      done: collectors > 1,
      state: number(collectors, 'collector'),
      optional: true,
      action: { label: 'Add a collector', link: { to: '/collectors', search: { new: '1' } } },
    },
  ];
}

/** What comes next: the first that is needed and not done. */
export const nextOf = (steps: readonly Step[]): Step | undefined =>
  steps.find(({ done, optional }) => !done && !optional);
