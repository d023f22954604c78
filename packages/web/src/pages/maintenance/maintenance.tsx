import type { MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { IconBan, IconCalendarTime, IconCircleCheck, IconTool } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Filters } from '../../components/filter/index.ts';
import { Collection, NewButton } from '../../components/list/index.ts';
import { Page } from '../../components/page/index.ts';
import { StatusLabel, Time, useNow } from '../../components/show/index.ts';
import { type Column, enabledColumn, type PagedList, usePagedList } from '../../components/table/index.ts';
import { useMay } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { useInvalidate } from '../../use-action.ts';
import { WindowForm } from './window-form.tsx';
import { nextTurn, scopeInWords, standing, whenInWords } from './windows.ts';

const TOUCHES = ['events', 'cases', 'summary'];

/** Planned work: when it is on, what it covers opens no case. */
export function Maintenance() {
  const { search, change } = useUrlState('/maintenance');
  const may = useMay('maintenance.create');
  const sites = useSiteChoices();
  const { site, sort, device } = search;
  const source = usePagedList('maintenance.list', { site, sort });
  useRefreshOnTime(source);
  const columns: Column<MaintenanceWindow>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(130px, 1fr)',
      sort: 'name',
      narrow: true,
      cell: (one) => <span title={one.note || undefined}>{one.name}</span>,
    },
    {
      id: 'state',
      title: 'State',
      width: 'minmax(168px, 0.7fr)',
      narrow: true,
      value: (one) => standing(one, Date.now() / 1000).state,
      cell: (one) => <State window={one} />,
    },
    {
      id: 'when',
      title: 'When',
      width: 'minmax(280px, 1.4fr)',
      value: (one) => `${whenInWords(one)} ${one.timezone}`,
      cell: (one) => (
        <span title={one.times.kind === 'repeat' ? one.times.cron : undefined}>
          {whenInWords(one)} <span className="quiet">{one.timezone}</span>
        </span>
      ),
    },
    { id: 'covers', title: 'Covers', width: 'minmax(130px, 1fr)', value: (one) => scopeInWords(one.scope) },
    { id: 'site', title: 'Site', width: 'minmax(90px, 0.6fr)' },
    { id: 'by', title: 'Planned by', width: '90px', value: (one) => one.createdBy },
    enabledColumn('maintenance.update', may, ...TOUCHES),
  ];
  const plan = may && <NewButton change={change}>Plan maintenance</NewButton>;
  return (
    <Page title="Maintenance" count={source.total} fill actions={plan}>
      <Filters search={search} change={change} filters={[{ key: 'site', label: 'Site', choices: sites }]} />
      <Collection
        kind="maintenance"
        label="Maintenance windows"
        source={source}
        columns={columns}
        order="name"
        search={search}
        change={(next, replace) => change({ device: undefined, ...next }, replace)}
        may={may}
        form={(props) => <WindowForm {...props} site={site} device={device} />}
        lost={(one) =>
          standing(one, Date.now() / 1000).state === 'running'
            ? 'It is running and ends now: problems of what it covers open cases again.'
            : 'It does not begin again.'
        }
        empty={
          <Empty title="No maintenance planned" action={plan}>
            During maintenance, events are recorded as usual, but those of what it covers open no case. What
            is still wrong at its end opens one then.
          </Empty>
        }
      />
    </Page>
  );
}

/** What begins or ends is asked about when it does: nobody tells of the passing of time. */
function useRefreshOnTime(source: PagedList<MaintenanceWindow>): void {
  const refresh = useInvalidate();
  const now = useNow() / 1000;
  const shown = Array.from({ length: Math.min(source.total ?? 0, 500) }, (_, i) => source.at(i));
  const turn = Math.min(...shown.flatMap((one) => (one?.enabled ? [nextTurn(one, now)] : [])));
  // biome-ignore lint/correctness/useExhaustiveDependencies: one timer for each turn
  useEffect(() => {
    // Longer than a timer can wait: counted again when the page's clock comes near.
    const waitMs = turn * 1000 - Date.now();
    if (!(waitMs < 86_400_000)) return;
    const timer = setTimeout(() => refresh('maintenance'), waitMs + 500);
    return () => clearTimeout(timer);
  }, [turn]);
}

function State({ window }: { window: MaintenanceWindow }) {
  const stands = standing(window, useNow() / 1000);
  switch (stands.state) {
    case 'running':
      return (
        <StatusLabel tone="busy" icon={IconTool}>
          ends <Time at={stands.until} />
        </StatusLabel>
      );
    case 'planned':
      return (
        <StatusLabel tone="idle" icon={IconCalendarTime}>
          begins <Time at={stands.from} />
        </StatusLabel>
      );
    default:
      return (
        <StatusLabel tone="idle" icon={stands.state === 'off' ? IconBan : IconCircleCheck}>
          {stands.state === 'off' ? 'switched off' : 'over'}
        </StatusLabel>
      );
  }
}
