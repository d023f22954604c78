import type { Case } from '@rollcall/shared/api/incidents';
import { IconLayoutKanban, IconList, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Empty } from '../../components/feedback/index.ts';
import { codeChoices, Filters, ViewSwitch, Views } from '../../components/filter/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Body, Page } from '../../components/page/index.ts';
import {
  CASE_STATUSES,
  CaseLink,
  CaseStatus,
  PRIORITIES,
  Priority,
  SEVERITIES,
  Severity,
  Tags,
} from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import { useMay } from '../../session.tsx';
import { type SearchOf, type SetUrlState, useUrlState } from '../../url-state.ts';
import { Board } from './board.tsx';
import { NewCase } from './new-case.tsx';

type CaseSearch = SearchOf<'/cases'>;

const COLUMNS: readonly Column<Case>[] = [
  {
    id: 'number',
    title: 'Case',
    width: '58px',
    sort: 'number',
    narrow: true,
    mono: true,
    cell: (one) => `#${one.number}`,
  },
  {
    id: 'title',
    title: 'Title',
    width: 'minmax(200px, 2.2fr)',
    narrow: true,
    value: (one) => one.title,
    cell: (one) => (
      <CaseLink id={one.id} className="plain" title={one.title} data-lines>
        {one.title}
      </CaseLink>
    ),
  },
  {
    id: 'status',
    title: 'Status',
    width: '112px',
    sort: 'status',
    narrow: true,
    value: (one) => CASE_STATUSES[one.status],
    cell: (one) => <CaseStatus status={one.status} />,
  },
  {
    id: 'severity',
    title: 'Severity',
    width: '80px',
    sort: 'severity',
    value: (one) => one.severity,
    cell: (one) => <Severity code={one.severity} />,
  },
  {
    id: 'priority',
    title: 'Priority',
    width: '78px',
    sort: 'priority',
    cell: (one) => <Priority code={one.priority} />,
  },
  {
    id: 'assignee',
    title: 'Assignee',
    width: 'minmax(80px, 0.6fr)',
    value: (one) => one.assignee,
    cell: (one) => one.assignee ?? <span className="quiet">Unassigned</span>,
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(110px, 0.9fr)',
    value: (one) => one.tags.join(', '),
    cell: (one) => <Tags tags={one.tags} />,
  },
  {
    id: 'events',
    title: 'Events',
    width: '72px',
    numeric: true,
    value: (one) => one.openEventCount,
    cell: (one) =>
      one.eventCount > 0 ? (
        <>
          {one.openEventCount} <span className="quiet">of {one.eventCount}</span>
        </>
      ) : (
        ''
      ),
  },
  timeColumn({
    id: 'updated',
    title: 'Updated',
    sort: 'updatedAt',
    at: (one) => one.updatedAt,
  }),
];

const VIEWS = [
  { name: 'All', search: {} },
  { name: 'Mine', search: { assignee: 'me' } },
  { name: 'Unassigned', search: { assignee: 'none', status: '0,1' } },
  { name: 'Critical and major', search: { severity: '1,2', status: '0,1' } },
];
const STATUS = codeChoices(CASE_STATUSES, (code) => <CaseStatus status={code} />);
const SEVERITY = codeChoices(
  SEVERITIES.map(({ name }) => name),
  (code) => <Severity code={code} />,
  1,
);
const PRIORITY = codeChoices(PRIORITIES, (code) => <Priority code={code} />, 1);

const VIEW_MODES = [
  { value: 'board', label: 'Board', icon: IconLayoutKanban },
  { value: 'list', label: 'List', icon: IconList },
];

export function Cases() {
  const { search, change } = useUrlState('/cases');
  const may = useMay('cases.create');
  const { view, new: naming, ...filters } = search;
  const board = view !== 'list';
  const { new: _, ...viewed } = search;
  const views = VIEWS.map((one) => ({ ...one, search: { ...one.search, ...(view && { view }) } }));
  return (
    <Page
      title="Cases"
      fill
      actions={
        <>
          <ViewSwitch views={VIEW_MODES} view={view} onChange={(next) => change({ view: next })} />
          <ExportMenu id="cases.list" query={filters} columns={COLUMNS} name="cases" />
          {may && (
            <IconButton variant="filled" icon={IconPlus} onClick={() => change({ new: '1' })}>
              New case
            </IconButton>
          )}
        </>
      }
    >
      <CaseFilters search={search} change={change} board={board} />
      <Views list="cases" search={viewed} builtIn={views} />
      {board ? <Board filters={filters} /> : <CaseList filters={filters} change={change} />}
      {naming === '1' && <NewCase onClose={() => change({ new: undefined }, true)} />}
    </Page>
  );
}

function CaseList({
  filters,
  change,
}: {
  filters: Record<string, string | undefined>;
  change: SetUrlState<CaseSearch>;
}) {
  const navigate = useNavigate();
  const source = usePagedList('cases.list', filters);
  return (
    <Body>
      <VirtualTable
        label="Cases"
        source={source}
        columns={COLUMNS}
        sort={filters.sort ?? '-updatedAt'}
        onSort={(sort) => change({ sort })}
        onOpen={(one) => void navigate({ to: '/cases/$id', params: { id: one.id } })}
        empty={<NoCases filtered={Object.values(filters).some(Boolean)} />}
      />
    </Body>
  );
}

const NoCases = ({ filtered }: { filtered: boolean }) =>
  filtered ? (
    <Empty title="No case matches these filters">Clear one of them to see more.</Empty>
  ) : (
    <Empty title="No cases yet">
      A case opens by itself when events of one problem belong together; “Create case” on any event opens one
      by hand.
    </Empty>
  );

interface CaseFiltersProps {
  search: CaseSearch;
  change: SetUrlState<CaseSearch>;
  board: boolean;
}

function CaseFilters({ search, change, board }: CaseFiltersProps) {
  const sites = useSiteChoices();
  const people = useQuery(apiQuery('assignees.list', { query: { pageSize: 1000 } }));
  const assignees = [
    { value: 'me', label: 'me' },
    { value: 'none', label: 'Unassigned' },
    ...(people.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <Filters
      search={search}
      change={change}
      filters={[
        { key: 'q', label: 'Search', placeholder: 'Words, or #1042', width: 200 },
        // The lanes of the board are the statuses.
        ...(board ? [] : [{ key: 'status' as const, label: 'Status', choices: STATUS, many: true }]),
        { key: 'severity', label: 'Severity', choices: SEVERITY, many: true },
        { key: 'priority', label: 'Priority', choices: PRIORITY, many: true },
        { key: 'assignee', label: 'Assignee', choices: assignees },
        { key: 'site', label: 'Site', choices: sites },
        { key: 'tag', label: 'Tag', width: 110 },
      ]}
    />
  );
}
