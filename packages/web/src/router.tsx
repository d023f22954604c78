import type { OperationId } from '@rollcall/shared/api/index';
import {
  type AsyncRouteComponent,
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router';
import type { QueryKey } from './api.ts';
import { Empty, ProblemView } from './components/feedback/index.ts';
import { Page } from './components/page/index.ts';
import { keys, parseSearch, type Search, stringifySearch } from './search.ts';
import { Shell } from './shell/shell.tsx';

type Kiosk = Search<'kiosk'>;
const root = createRootRoute({
  component: Shell,
  validateSearch: keys('kiosk'),
  search: {
    middlewares: [
      // A wall stays a wall from page to page, until `kiosk` is taken away.
      ({ search, next }: { search: Kiosk; next: (search: Kiosk) => Kiosk }) => {
        const result = next(search);
        return 'kiosk' in result ? result : { ...result, kiosk: search.kiosk };
      },
    ],
  },
});
/** A page at its address, with the search parameters that it keeps there; its code is loaded when it is first opened. */
const page = <Path extends string, Key extends string>(
  path: Path,
  known: readonly Key[],
  component: AsyncRouteComponent<object>,
) => createRoute({ getParentRoute: () => root, path, validateSearch: keys(...known), component });

/** Filters and order of a list, by the names that its operation gives them. */
type Of<Id extends OperationId> = readonly QueryKey<Id>[];
const SUMMARY = ['site'] as const satisfies Of<'summary.get'>;
const DEVICES = [
  'search',
  'Address',
  'class',
  'status',
  'health',
  'monitor',
  'collector',
  'tag',
  'field',
  'site',
  'sort',
] as const satisfies Of<'devices.list'>;
/** Of the lists behind its tabs. */
const DEVICE = ['sort'] as const satisfies Of<'interfaces.list' | 'events.list'>;
const PORTS = ['unusedDays', 'tag'] as const satisfies Of<'interfaces.list'>;
const FREE_PORTS = ['search', 'unusedDays', 'class', 'site', 'sort'] as const satisfies Of<'interfaces.free'>;
const ENDPOINTS = [
  'search',
  'mac',
  'ip',
  'vlan',
  'device',
  'interface',
  'current',
  'at',
  'site',
  'sort',
] as const satisfies Of<'endpoints.list'>;
const TOPOLOGY = ['site'] as const satisfies Of<'topology.get'>;
const EVENTS = [
  'Severity',
  'Status',
  'Source',
  'Device',
  'site',
  'sort',
] as const satisfies Of<'events.list'>;
const CHANGES = ['kind', 'endpoints', 'site'] as const satisfies Of<'changes.list'>;
const CASES = [
  'status',
  'severity',
  'priority',
  'assignee',
  'tag',
  'q',
  'site',
  'sort',
] as const satisfies Of<'cases.list'>;
const SCANS = ['status', 'profile', 'site', 'sort'] as const satisfies Of<'scans.list'>;
const ADDRESSES = ['outcome', 'address'] as const satisfies Of<'scans.addresses'>;
const COLLECTORS = ['search', 'status', 'site', 'sort'] as const satisfies Of<'collectors.list'>;
const SITES = ['search', 'sort'] as const satisfies Of<'sites.list'>;
const MAINTENANCE = ['site', 'sort'] as const satisfies Of<'maintenance.list'>;
const SUBSCRIPTIONS = ['sort'] as const satisfies Of<'subscriptions.list'>;
const DELIVERIES = ['subscription', 'status', 'site'] as const satisfies Of<'deliveries.list'>;
const USERS = ['search', 'sort'] as const satisfies Of<'users.list'>;
const AUDIT = ['actor', 'action', 'site'] as const satisfies Of<'audit.list'>;
const AVAILABILITY = ['site', 'page'] as const satisfies Of<'availability.list'>;
const RANGE = ['last', 'from', 'to'] as const;

const routeTree = root.addChildren([
  page(
    '/',
    SUMMARY,
    lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'Overview'),
  ),
  page(
    '/devices',
    [...DEVICES, 'new'],
    lazyRouteComponent(() => import('./pages/devices/devices.tsx'), 'Devices'),
  ),
  page(
    '/devices/$id',
    ['tab', 'at', ...RANGE, 'interface', 'sensor', ...DEVICE, ...PORTS],
    lazyRouteComponent(() => import('./pages/device/device.tsx'), 'DevicePage'),
  ),
  page(
    '/free-ports',
    FREE_PORTS,
    lazyRouteComponent(() => import('./pages/ports/free-ports.tsx'), 'FreePorts'),
  ),
  page(
    '/endpoints',
    [...ENDPOINTS, 'endpoint', 'in'],
    lazyRouteComponent(() => import('./pages/endpoints/endpoints.tsx'), 'Endpoints'),
  ),
  page(
    '/topology',
    [...TOPOLOGY, 'q', 'view', 'device'],
    lazyRouteComponent(() => import('./pages/topology/topology.tsx'), 'TopologyPage'),
  ),
  page(
    '/events',
    [...RANGE, ...EVENTS, 'event'],
    lazyRouteComponent(() => import('./pages/events/events.tsx'), 'Events'),
  ),
  page(
    '/changes',
    [...RANGE, ...CHANGES, 'view', 'at'],
    lazyRouteComponent(() => import('./pages/changes/changes.tsx'), 'Changes'),
  ),
  page(
    '/cases',
    ['view', ...CASES, 'new'],
    lazyRouteComponent(() => import('./pages/cases/cases.tsx'), 'Cases'),
  ),
  page(
    '/cases/$id',
    [],
    lazyRouteComponent(() => import('./pages/cases/case.tsx'), 'CasePage'),
  ),
  page(
    '/availability',
    [...AVAILABILITY, 'month'],
    lazyRouteComponent(() => import('./pages/availability/availability.tsx'), 'AvailabilityPage'),
  ),
  page(
    '/wall',
    ['panels', 'rotate', 'sound', 'site', 'edit'],
    lazyRouteComponent(() => import('./pages/wall/wall.tsx'), 'WallPage'),
  ),
  page(
    '/discovery',
    ['tab', ...SCANS, 'edit', 'new', 'targets'],
    lazyRouteComponent(() => import('./pages/discovery/discovery.tsx'), 'Discovery'),
  ),
  page(
    '/discovery/scans/$id',
    ['tab', ...ADDRESSES],
    lazyRouteComponent(() => import('./pages/discovery/scan.tsx'), 'ScanPage'),
  ),
  page(
    '/collectors',
    ['tab', ...COLLECTORS, 'collector', 'new'],
    lazyRouteComponent(() => import('./pages/collectors/collectors.tsx'), 'Collectors'),
  ),
  page(
    '/sites',
    [...SITES, 'edit'],
    lazyRouteComponent(() => import('./pages/sites.tsx'), 'Sites'),
  ),
  page(
    '/maintenance',
    [...MAINTENANCE, 'edit', 'device'],
    lazyRouteComponent(() => import('./pages/maintenance/maintenance.tsx'), 'Maintenance'),
  ),
  page(
    '/notifications',
    ['tab', ...SUBSCRIPTIONS, ...DELIVERIES, 'edit', 'delivery'],
    lazyRouteComponent(() => import('./pages/notifications/notifications.tsx'), 'Notifications'),
  ),
  page(
    '/users',
    [...USERS, 'edit'],
    lazyRouteComponent(() => import('./pages/users.tsx'), 'Users'),
  ),
  page(
    '/fields',
    ['edit', 'sort'],
    lazyRouteComponent(() => import('./pages/fields.tsx'), 'Fields'),
  ),
  page(
    '/audit',
    [...RANGE, ...AUDIT],
    lazyRouteComponent(() => import('./pages/audit.tsx'), 'Audit'),
  ),
  page(
    '/start',
    [],
    lazyRouteComponent(() => import('./pages/start/start.tsx'), 'StartPage'),
  ),
  page(
    '/lab',
    [],
    lazyRouteComponent(() => import('./pages/lab/lab.tsx'), 'LabPage'),
  ),
  page(
    '/profile',
    ['tab'],
    lazyRouteComponent(() => import('./pages/profile/profile.tsx'), 'Profile'),
  ),
]);

const Missing = () => (
  <Page title="Not found">
    <Empty title="There is nothing at this address" action={<Link to="/">Overview</Link>}>
      A link may be old, or what it led to was deleted.
    </Empty>
  </Page>
);
const Failed = ({ error, reset }: ErrorComponentProps) => <ProblemView error={error} retry={reset} />;

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  scrollToTopSelectors: ['#main'],
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: Missing,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
