import { Button, SegmentedControl } from '@mantine/core';
import type { Case } from '@rollcall/shared/api/incidents';
import { IconLayoutKanban, IconList, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ask } from '../../api.ts';
import { PRIORITIES, Priority, SEVERITIES, Severity, Tag } from '../../components/mark.tsx';
import { Body, Page } from '../../components/page.tsx';
import { Pick } from '../../components/pick.tsx';
import { Empty } from '../../components/problem.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { usePages } from '../../components/source.ts';
import { CASE_STATUSES, CaseStatus } from '../../components/status.tsx';
import { TakeAway } from '../../components/take-away.tsx';
import { Time } from '../../components/time.tsx';
import { Views } from '../../components/views.tsx';
import { listOf, textOf } from '../../search.ts';
import { useMay } from '../../session.tsx';
import { useSiteChoices } from '../../sites.ts';
import { Board } from './board.tsx';
import classes from './cases.module.css';
import { NewCase } from './new-case.tsx';

const route = getRouteApi('/cases');
export type CaseSearch = ReturnType<typeof route.useSearch>;

const COLUMNS: readonly Column<Case>[] = [
  {
    id: 'number',
    title: 'Case',
    width: '58px',
    sort: 'number',
    narrow: true,
    value: (one) => one.number,
    cell: (one) => <span className="mono">#{one.number}</span>,
  },
  {
    id: 'title',
    title: 'Title',
    width: 'minmax(200px, 2.2fr)',
    narrow: true,
    value: (one) => one.title,
    cell: (one) => (
      <Link to="/cases/$id" params={{ id: one.id }} className="plain" title={one.title}>
        {one.title}
      </Link>
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
    value: (one) => one.priority,
    cell: (one) => <Priority code={one.priority} />,
  },
  {
    id: 'assignee',
    title: 'Assignee',
    width: 'minmax(80px, 0.6fr)',
    value: (one) => one.assignee,
    cell: (one) => one.assignee ?? <span className="quiet">nobody</span>,
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(110px, 0.9fr)',
    value: (one) => one.tags.join(', '),
    cell: (one) => (
      <span className={classes.tags}>
        {one.tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </span>
    ),
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
  {
    id: 'updated',
    title: 'Updated',
    width: '88px',
    sort: 'updatedAt',
    narrow: true,
    value: (one) => new Date(one.updatedAt * 1000).toISOString(),
    cell: (one) => <Time at={one.updatedAt} />,
  },
];

const VIEWS = [
  { name: 'All', search: {} },
  { name: 'Mine', search: { assignee: 'me' } },
  { name: 'Nobody’s', search: { assignee: 'none', status: '0,1' } },
  { name: 'Critical and major', search: { severity: '1,2', status: '0,1' } },
];
const STATUS = CASE_STATUSES.map((label, code) => ({
  value: String(code),
  label,
  mark: <CaseStatus status={code} />,
}));
const SEVERITY = SEVERITIES.map(({ code, name }) => ({
  value: String(code),
  label: name,
  mark: <Severity code={code} />,
}));
const PRIORITY = PRIORITIES.map((label, i) => ({
  value: String(i + 1),
  label,
  mark: <Priority code={i + 1} />,
}));

export function Cases() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/cases' });
  const operator = useMay('operator');
  const { view, new: naming, ...filters } = search;
  const board = view !== 'list';
  const change = useCallback(
    (next: CaseSearch, replace = false) => void navigate({ search: (old) => ({ ...old, ...next }), replace }),
    [navigate],
  );
  const { new: _, ...viewed } = search;
  const views = VIEWS.map((one) => ({ ...one, search: { ...one.search, ...(view && { view }) } }));
  return (
    <Page
      title="Cases"
      fill
      actions={
        <>
          <SegmentedControl
            aria-label="Show as"
            value={board ? 'board' : 'list'}
            onChange={(value) => change({ view: value === 'list' ? 'list' : undefined })}
            data={[
              { value: 'board', label: <ViewLabel icon={<IconLayoutKanban size={14} />} word="Board" /> },
              { value: 'list', label: <ViewLabel icon={<IconList size={14} />} word="List" /> },
            ]}
          />
          <TakeAway id="cases.list" query={filters} columns={COLUMNS} name="cases" />
          {operator && (
            <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ new: '1' })}>
              New case
            </Button>
          )}
        </>
      }
      filters={<Filters search={search} change={change} board={board} />}
    >
      <Views list="cases" search={viewed} columns={[]} builtIn={views} onColumns={() => undefined} />
      {board ? <Board filters={filters} /> : <CaseList filters={filters} change={change} />}
      <NewCase opened={naming === '1'} onClose={() => change({ new: undefined }, true)} />
    </Page>
  );
}

const ViewLabel = ({ icon, word }: { icon: React.ReactNode; word: string }) => (
  <span className={classes.view}>
    {icon}
    {word}
  </span>
);

function CaseList({
  filters,
  change,
}: {
  filters: Record<string, string | undefined>;
  change: (next: CaseSearch) => void;
}) {
  const navigate = useNavigate();
  const source = usePages('cases.list', filters);
  return (
    <Body>
      <Rows
        label="Cases"
        source={source}
        columns={COLUMNS}
        sort={filters.sort ?? '-updatedAt'}
        onSort={(sort) => change({ sort })}
        onOpen={(one) => void navigate({ to: '/cases/$id', params: { id: one.id } })}
        rowKey={(one) => one.id}
        empty={<NoCases filtered={Object.values(filters).some(Boolean)} />}
      />
    </Body>
  );
}

const NoCases = ({ filtered }: { filtered: boolean }) =>
  filtered ? (
    <Empty title="No case fits these filters">Clear one of them to see more.</Empty>
  ) : (
    <Empty title="No cases yet">
      A case opens by itself when events of something wrong belong together; “Make a case” on any event opens
      one by hand.
    </Empty>
  );

function Filters({
  search,
  change,
  board,
}: {
  search: CaseSearch;
  change: (next: CaseSearch, replace?: boolean) => void;
  board: boolean;
}) {
  const sites = useSiteChoices();
  const people = useQuery(ask('assignees.list', { query: { pageSize: 1000 } }));
  const assignees = [
    { value: 'me', label: 'me' },
    { value: 'none', label: 'nobody' },
    ...(people.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  const { q, status, severity, priority, assignee, tag, site } = search;
  const filtered = [q, status, severity, priority, assignee, tag, site].some(Boolean);
  return (
    <>
      <SearchBox
        label="Search"
        placeholder="Words, or #1042"
        width={200}
        main
        value={q ?? ''}
        onChange={(text) => change({ q: text || undefined }, true)}
      />
      {!board && (
        <Pick
          label="Status"
          many
          choices={STATUS}
          value={listOf(status)}
          onChange={(value) => change({ status: textOf(value) })}
        />
      )}
      <Pick
        label="Severity"
        many
        choices={SEVERITY}
        value={listOf(severity)}
        onChange={(value) => change({ severity: textOf(value) })}
      />
      <Pick
        label="Priority"
        many
        choices={PRIORITY}
        value={listOf(priority)}
        onChange={(value) => change({ priority: textOf(value) })}
      />
      <Pick
        label="Assignee"
        choices={assignees}
        value={listOf(assignee)}
        onChange={(value) => change({ assignee: textOf(value) })}
      />
      <Pick
        label="Site"
        choices={sites}
        value={listOf(site)}
        onChange={(value) => change({ site: textOf(value) })}
      />
      <SearchBox
        label="Tag"
        width={110}
        value={tag ?? ''}
        onChange={(text) => change({ tag: text || undefined }, true)}
      />
      {filtered && (
        <Button
          variant="subtle"
          onClick={() =>
            change({
              q: undefined,
              status: undefined,
              severity: undefined,
              priority: undefined,
              assignee: undefined,
              tag: undefined,
              site: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </>
  );
}
