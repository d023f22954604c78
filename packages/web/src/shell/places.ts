import type { OperationId } from '@rollcall/shared/api/index';
import {
  IconBell,
  IconBriefcase,
  IconBroadcast,
  IconBuilding,
  IconCalendarStats,
  IconDeviceTvOld,
  IconForms,
  IconGitCommit,
  IconHammer,
  IconHistory,
  IconLayoutDashboard,
  IconListCheck,
  IconPlugConnected,
  IconRadar2,
  IconServer,
  IconTimelineEvent,
  IconTool,
  IconTopologyStar3,
  IconUsers,
} from '@tabler/icons-react';
import type { Icon } from '../components/show/index.ts';

/** A page of the menu. */
export interface Place {
  to: string;
  label: string;
  /** In the command palette. */
  description: string;
  icon: Icon;
  search?: Record<string, string>;
  /** The letter after `g` that leads here. */
  jump?: string;
  /** Number beside it, out of the summary. */
  open?: 'events' | 'cases';
}

/** Who may call this operation is offered the group `manage`. */
export const MANAGES = 'users.list' satisfies OperationId;

/** The menu by its groups. */
export const PLACES = {
  watch: [
    { to: '/', jump: 'o', label: 'Overview', description: 'health by site', icon: IconLayoutDashboard },
    { to: '/devices', jump: 'd', label: 'Devices', description: 'all devices and filters', icon: IconServer },
    {
      to: '/endpoints',
      jump: 'n',
      label: 'Endpoints',
      description: 'which address is on which port, now and before',
      icon: IconPlugConnected,
    },
    { to: '/topology', jump: 't', label: 'Topology', description: 'map of links', icon: IconTopologyStar3 },
    {
      to: '/events',
      jump: 'e',
      label: 'Events',
      description: 'open and past problems',
      icon: IconTimelineEvent,
      open: 'events',
      search: { Status: '0,1', Severity: '4' },
    },
    {
      to: '/changes',
      jump: 'h',
      label: 'Changes',
      description: 'what came, went or is different',
      icon: IconGitCommit,
    },
    {
      to: '/cases',
      jump: 'c',
      label: 'Cases',
      description: 'events that belong together, and the work on them',
      icon: IconBriefcase,
      open: 'cases',
    },
    {
      to: '/availability',
      jump: 'a',
      label: 'Availability',
      description: 'report of a month by site and device',
      icon: IconCalendarStats,
    },
    {
      to: '/wall',
      jump: 'w',
      search: { edit: '1' },
      label: 'Wall',
      description: 'panels for a screen on the wall, and a link to share them',
      icon: IconDeviceTvOld,
    },
  ],
  run: [
    { to: '/discovery', jump: 's', label: 'Discovery', description: 'scans', icon: IconRadar2 },
    {
      to: '/collectors',
      jump: 'l',
      label: 'Collectors',
      description: 'health, add, rotate, revoke',
      icon: IconBroadcast,
    },
    {
      to: '/sites',
      jump: 'i',
      label: 'Sites',
      description: 'places with their own addresses',
      icon: IconBuilding,
    },
    {
      to: '/maintenance',
      jump: 'm',
      label: 'Maintenance',
      description: 'planned work, which opens no case',
      icon: IconTool,
    },
  ],
  manage: [
    {
      to: '/notifications',
      label: 'Notifications',
      description: 'webhooks and mail about cases',
      icon: IconBell,
    },
    {
      to: '/fields',
      label: 'Custom fields',
      description: 'what is kept of devices and interfaces besides tags',
      icon: IconForms,
    },
    { to: '/users', label: 'Users', description: 'accounts, roles and their sites', icon: IconUsers },
    {
      to: '/start',
      label: 'First steps',
      description: 'what is set up, and what comes next',
      icon: IconListCheck,
    },
    { to: '/audit', label: 'Audit', description: 'who did what', icon: IconHistory },
  ],
} as const satisfies Record<string, readonly Place[]>;

/** Only where the server runs as the demonstration. */
export const LAB = {
  to: '/lab',
  label: 'Break something',
  description: 'in the simulated network of the demonstration',
  icon: IconHammer,
} as const satisfies Place;
