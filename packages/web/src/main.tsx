import './theme/styles.ts';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { schemeManager } from './preferences.ts';
import { router } from './router.tsx';
import { SessionGate } from './session.tsx';
import { theme } from './theme/theme.ts';

const MustSetUp = lazy(async () => ({
  default: (await import('./pages/profile/second-factor.tsx')).MustSetUp,
}));

/** For anyone who has the link of a notice: nobody signs in for it. */
const Acknowledge = lazy(async () => ({ default: (await import('./pages/acknowledge.tsx')).Acknowledge }));

const client = new QueryClient({ defaultOptions: { queries: { retry: 1 } } });

const root = document.getElementById('root');
if (!root) throw new Error('no #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={client}>
        {location.pathname === '/acknowledge' ? (
          <Suspense>
            <Acknowledge />
          </Suspense>
        ) : (
          <SessionGate setUp={<MustSetUp />}>
            <RouterProvider router={router} />
          </SessionGate>
        )}
      </QueryClientProvider>
      <Notifications position="bottom-right" limit={4} />
    </MantineProvider>
  </StrictMode>,
);
