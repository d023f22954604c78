import type { ComponentType } from 'react';
import { NewButton } from '../../components/list/index.ts';
import { Page, Tabs } from '../../components/page/index.ts';
import { type UrlState, useUrlState } from '../../url-state.ts';
import { Deliveries } from './deliveries.tsx';
import { Mail } from './mail.tsx';
import { Subscriptions } from './subscriptions.tsx';

const TABS = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'deliveries', label: 'Delivery log' },
  { id: 'mail', label: 'Mail server' },
];
const PARTS: Record<string, ComponentType<UrlState<'/notifications'>>> = {
  subscriptions: Subscriptions,
  deliveries: Deliveries,
  mail: Mail,
};

/** Who is told about cases, how, and what became of it. */
export function Notifications() {
  const { search, change } = useUrlState('/notifications');
  const { tab = 'subscriptions' } = search;
  const Part = PARTS[tab] ?? Subscriptions;
  const title = TABS.find(({ id }) => id === tab)?.label;
  return (
    <Page
      title={tab === 'subscriptions' ? 'Notifications' : `Notifications: ${title}`}
      heading="Notifications"
      fill={tab !== 'mail'}
      actions={<NewButton change={(next) => change({ ...next, tab: undefined })}>New subscription</NewButton>}
    >
      <Tabs label="Parts of notifications" tabs={TABS} active={tab} />
      <Part search={search} change={change} />
    </Page>
  );
}
