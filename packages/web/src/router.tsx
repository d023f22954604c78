import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Devices } from './pages/devices.tsx';
import { keys } from './search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell });

export const devicesRoute = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  validateSearch: keys('search', 'Address', 'class', 'monitor', 'collector', 'site', 'sort'),
  component: Devices,
});

const routeTree = root.addChildren([devicesRoute]);

export const router = createRouter({ routeTree, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
