import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, useCallback } from 'react';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Deliveries } from './deliveries.tsx';
import { Mail } from './mail.tsx';
import { type NotificationSearch, type PartProps, route } from './part.ts';
import { NEW, Subscriptions } from './subscriptions.tsx';

const TABS = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'deliveries', label: 'Delivery log' },
  { id: 'mail', label: 'Mail server' },
];
const PARTS: Record<string, ComponentType<PartProps>> = {
  subscriptions: Subscriptions,
  deliveries: Deliveries,
  mail: Mail,
};

/** Who is told about cases, how, and what became of it. */
export function Notifications() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/notifications' });
  const { tab = 'subscriptions' } = search;
  const change = useCallback(
    (next: NotificationSearch, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace }),
    [navigate],
  );
  const Part = PARTS[tab] ?? Subscriptions;
  const title = TABS.find(({ id }) => id === tab)?.label;
  return (
    <Page
      title={tab === 'subscriptions' ? 'Notifications' : `Notifications: ${title}`}
      heading="Notifications"
      fill={tab !== 'mail'}
      actions={
        <Button
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => change({ tab: undefined, edit: NEW })}
        >
          New subscription
        </Button>
      }
    >
      <Tabs label="Parts of notifications" tabs={TABS} active={tab} />
      <Part search={search} change={change} />
    </Page>
  );
}
