import { Text } from '@mantine/core';
import type { Collector } from '@rollcall/shared/api/collectors';
import { COLLECTOR_STATUSES } from '@rollcall/shared/model';
import { IconPlus } from '@tabler/icons-react';
import { useCallback } from 'react';
import { useSiteChoices } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, Filters } from '../../components/filter/index.ts';
import { Page, Split, Tabs } from '../../components/page/index.ts';
import { CollectorStatus } from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { type SearchOf, type SetUrlState, useUrlState } from '../../url-state.ts';
import { CollectorSide } from './collector.tsx';
import { JoinDialog } from './join.tsx';
import { JoinTokens } from './join-tokens.tsx';
import { Losses } from './losses.tsx';

type CollectorSearch = SearchOf<'/collectors'>;

const COLUMNS: readonly Column<Collector>[] = [
  { id: 'name', title: 'Name', width: 'minmax(110px, 0.9fr)', sort: 'name', narrow: true },
  {
    id: 'status',
    title: 'State',
    width: '106px',
    sort: 'status',
    narrow: true,
    cell: (one) => <CollectorStatus collector={one} />,
  },
  { id: 'site', title: 'Site', width: 'minmax(90px, 0.7fr)' },
  {
    id: 'outbox',
    title: 'Queue',
    width: '70px',
    numeric: true,
    narrow: true,
    value: (one) => one.health.outbox?.depth,
    cell: (one) => {
      const depth = one.health.outbox?.depth;
      return depth === undefined ? '' : depth > 0 ? <strong>{count(depth)}</strong> : '0';
    },
  },
  timeColumn({
    id: 'oldest',
    title: 'Oldest queued',
    width: '100px',
    at: (one) => one.health.outbox?.oldest,
    fallback: '',
  }),
  {
    id: 'jobs',
    title: 'Jobs',
    width: '64px',
    numeric: true,
    cell: (one) => (
      <>
        {one.jobs}
        {one.health.capacity !== null && <span className="quiet"> of {one.health.capacity}</span>}
      </>
    ),
  },
  { id: 'software', title: 'Version', width: 'minmax(130px, 0.9fr)' },
  { id: 'host', title: 'Host', width: 'minmax(130px, 1fr)', value: (one) => one.hostname },
  {
    id: 'clock',
    title: 'Clock',
    width: '76px',
    numeric: true,
    value: (one) => one.clockOffsetMs,
    cell: (one) => (
      <Text span inherit {...(Math.abs(one.clockOffsetMs) > 1_000 && { c: 'var(--sev-3)', fw: 500 })}>
        {count(one.clockOffsetMs)} ms
      </Text>
    ),
  },
  timeColumn({
    id: 'seen',
    title: 'Last seen',
    width: '84px',
    sort: 'lastSeenAt',
    at: (one) => one.lastSeenAt,
  }),
];
const STATUSES = choicesOf(COLLECTOR_STATUSES, (status) =>
  status === 'active' ? status : <CollectorStatus collector={{ status, online: false }} />,
);

export function Collectors() {
  const { search, change } = useUrlState('/collectors');
  const may = useMay('joinTokens.create');
  const { tab = 'collectors' } = search;
  const tabs = [
    { id: 'collectors', label: 'Collectors' },
    ...(may ? [{ id: 'tokens', label: 'Join tokens' }] : []),
    { id: 'losses', label: 'Data loss' },
  ];
  return (
    <Page
      title="Collectors"
      fill
      actions={
        may && (
          <IconButton variant="filled" icon={IconPlus} onClick={() => change({ new: '1' })}>
            Add a collector
          </IconButton>
        )
      }
    >
      <Tabs label="Parts of collectors" tabs={tabs} active={tab} />
      {tab === 'losses' ? (
        <Losses site={search.site} />
      ) : tab === 'tokens' && may ? (
        <JoinTokens />
      ) : (
        <CollectorList search={search} change={change} />
      )}
      {search.new === '1' && may && (
        <JoinDialog site={search.site} onClose={() => change({ new: undefined }, true)} />
      )}
    </Page>
  );
}

function CollectorList({
  search,
  change,
}: {
  search: CollectorSearch;
  change: SetUrlState<CollectorSearch>;
}) {
  const sites = useSiteChoices();
  const { collector, site, status, sort } = search;
  const source = usePagedList('collectors.list', { search: search.search, status, site, sort });
  const close = useCallback(() => change({ collector: undefined }, true), [change]);
  return (
    <>
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'search', label: 'Search', placeholder: 'Name or host', width: 220 },
          { key: 'status', label: 'Status', choices: STATUSES, many: true },
          { key: 'site', label: 'Site', choices: sites },
        ]}
      />
      <Split
        list={
          <VirtualTable
            label="Collectors"
            source={source}
            columns={COLUMNS}
            sort={sort ?? 'name'}
            onSort={(next) => change({ sort: next })}
            onOpen={(one) => change({ collector: one.id }, collector !== undefined)}
            empty={
              <Empty title="No collector">
                A collector is the daemon at a site that scans and monitors. Add one with a single command.
              </Empty>
            }
          />
        }
      >
        {collector && <CollectorSide id={collector} onClose={close} />}
      </Split>
    </>
  );
}
