import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Empty, ProblemView } from './components/feedback/index.ts';
import { Page } from './components/page/index.ts';
import { keys, parseSearch, type Search, stringifySearch } from './search.ts';
import { Shell } from './shell.tsx';

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
const parent = { getParentRoute: () => root };

const overview = createRoute({
  ...parent,
  path: '/',
  validateSearch: keys('site'),
  component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'Overview'),
});
const devices = createRoute({
  ...parent,
  path: '/devices',
  validateSearch: keys('search', 'Address', 'class', 'monitor', 'collector', 'site', 'sort'),
  component: lazyRouteComponent(() => import('./pages/devices/devices.tsx'), 'Devices'),
});
const device = createRoute({
  ...parent,
  path: '/devices/$id',
  validateSearch: keys('tab', 'sort', 'q'),
  component: lazyRouteComponent(() => import('./pages/device/device.tsx'), 'DevicePage'),
});
const topology = createRoute({
  ...parent,
  path: '/topology',
  validateSearch: keys('site', 'q', 'view', 'device'),
  component: lazyRouteComponent(() => import('./pages/topology/topology.tsx'), 'TopologyPage'),
});
const events = createRoute({
  ...parent,
  path: '/events',
  validateSearch: keys(
    'last',
    'from',
    'to',
    'Severity',
    'Status',
    'Source',
    'Device',
    'site',
    'sort',
    'event',
  ),
  component: lazyRouteComponent(() => import('./pages/events/events.tsx'), 'Events'),
});
const cases = createRoute({
  ...parent,
  path: '/cases',
  validateSearch: keys(
    'view',
    'status',
    'severity',
    'priority',
    'assignee',
    'tag',
    'q',
    'site',
    'sort',
    'new',
  ),
  component: lazyRouteComponent(() => import('./pages/cases/cases.tsx'), 'Cases'),
});
const oneCase = createRoute({
  ...parent,
  path: '/cases/$id',
  component: lazyRouteComponent(() => import('./pages/cases/case.tsx'), 'CasePage'),
});
const discovery = createRoute({
  ...parent,
  path: '/discovery',
  validateSearch: keys('tab', 'status', 'profile', 'site', 'sort', 'edit', 'new', 'targets'),
  component: lazyRouteComponent(() => import('./pages/discovery/discovery.tsx'), 'Discovery'),
});
const scan = createRoute({
  ...parent,
  path: '/discovery/scans/$id',
  validateSearch: keys('tab', 'outcome', 'address'),
  component: lazyRouteComponent(() => import('./pages/discovery/scan.tsx'), 'ScanPage'),
});
const collectors = createRoute({
  ...parent,
  path: '/collectors',
  validateSearch: keys('tab', 'search', 'status', 'site', 'sort', 'collector', 'new'),
  component: lazyRouteComponent(() => import('./pages/collectors/collectors.tsx'), 'Collectors'),
});
const sites = createRoute({
  ...parent,
  path: '/sites',
  validateSearch: keys('search', 'sort', 'edit'),
  component: lazyRouteComponent(() => import('./pages/sites.tsx'), 'Sites'),
});
const maintenance = createRoute({
  ...parent,
  path: '/maintenance',
  validateSearch: keys('site', 'sort', 'edit', 'device'),
  component: lazyRouteComponent(() => import('./pages/maintenance/maintenance.tsx'), 'Maintenance'),
});
const notifications = createRoute({
  ...parent,
  path: '/notifications',
  validateSearch: keys('tab', 'subscription', 'status', 'site', 'sort', 'edit', 'delivery'),
  component: lazyRouteComponent(() => import('./pages/notifications/notifications.tsx'), 'Notifications'),
});
const users = createRoute({
  ...parent,
  path: '/users',
  validateSearch: keys('search', 'sort', 'edit'),
  component: lazyRouteComponent(() => import('./pages/users.tsx'), 'Users'),
});
const audit = createRoute({
  ...parent,
  path: '/audit',
  validateSearch: keys('last', 'from', 'to', 'actor', 'action', 'site', 'entry'),
  component: lazyRouteComponent(() => import('./pages/audit.tsx'), 'Audit'),
});
const profile = createRoute({
  ...parent,
  path: '/profile',
  validateSearch: keys('tab'),
  component: lazyRouteComponent(() => import('./pages/profile/profile.tsx'), 'Profile'),
});

const routeTree = root.addChildren([
  overview,
  devices,
  device,
  topology,
  events,
  cases,
  oneCase,
  discovery,
  scan,
  collectors,
  sites,
  maintenance,
  notifications,
  users,
  audit,
  profile,
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
