import { DELIVERY_STATUSES, type Delivery } from '@rollcall/shared/api/deliveries';
import { useCallback } from 'react';
import { useChoices, useSiteChoices, useSiteName } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, Filters } from '../../components/filter/index.ts';
import { Split } from '../../components/page/index.ts';
import { CaseLink, DeliveryStatus } from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import type { UrlState } from '../../url-state.ts';
import { DeliverySide } from './delivery.tsx';

const STATUSES = choicesOf(DELIVERY_STATUSES, (status) => <DeliveryStatus status={status} />);

/** What was sent, to whom, and what they answered. */
export function Deliveries({ search, change }: UrlState<'/notifications'>) {
  const { subscription, status, site, delivery } = search;
  const sites = useSiteChoices();
  const siteName = useSiteName();
  const subscriptions = useChoices('subscriptions.list');
  const source = usePagedList('deliveries.list', { subscription, status, site });
  const close = useCallback(() => change({ delivery: undefined }, true), [change]);
  const columns: Column<Delivery>[] = [
    timeColumn({ id: 'at', title: 'When', width: '96px', narrow: true, at: (one) => one.createdAt }),
    {
      id: 'status',
      title: 'Status',
      width: '104px',
      narrow: true,
      cell: (one) => <DeliveryStatus status={one.status} />,
    },
    {
      id: 'to',
      title: 'Subscription',
      width: 'minmax(120px, 1fr)',
      narrow: true,
      value: (one) => one.subscription,
    },
    {
      id: 'what',
      title: 'What',
      width: 'minmax(150px, 0.9fr)',
      value: (one) => `${one.type} ${one.caseNumber ?? ''}`,
      cell: (one) => (
        <span>
          {one.type === 'test' ? 'test' : one.type.replace('.', ' ')}{' '}
          {one.caseId && (
            <CaseLink id={one.caseId} className="plain">
              #{one.caseNumber}
            </CaseLink>
          )}
        </span>
      ),
    },
    {
      id: 'site',
      title: 'Site',
      width: 'minmax(80px, 0.6fr)',
      value: (one) => (one.siteId ? siteName(one.siteId) : ''),
    },
    {
      id: 'answer',
      title: 'Answer',
      width: 'minmax(160px, 1.6fr)',
      value: (one) => one.error || one.responseStatus,
      cell: (one) => <span title={one.error || undefined}>{one.error || one.responseStatus}</span>,
    },
    { id: 'attempts', title: 'Attempts', width: '64px', numeric: true },
    timeColumn({ id: 'next', title: 'Next attempt', at: (one) => one.nextAttemptAt, fallback: '' }),
  ];
  return (
    <>
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'subscription', label: 'Subscription', choices: subscriptions },
          { key: 'status', label: 'Status', choices: STATUSES },
          { key: 'site', label: 'Site', choices: sites },
        ]}
      />
      <Split
        list={
          <VirtualTable
            label="Deliveries"
            source={source}
            columns={columns}
            onOpen={(one) => change({ delivery: one.id }, delivery !== undefined)}
            empty={
              <Empty title="No delivery matches">
                Deliveries are kept here for 30 days, with every attempt and every answer.
              </Empty>
            }
          />
        }
      >
        {delivery && <DeliverySide id={delivery} onClose={close} />}
      </Split>
    </>
  );
}
