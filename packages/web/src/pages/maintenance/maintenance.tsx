import { Button, Menu, Switch } from '@mantine/core';
import type { MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import {
  IconBan,
  IconCalendarTime,
  IconCircleCheck,
  IconPencil,
  IconPlus,
  IconTool,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAction, useRefresh } from '../../action.ts';
import { askForEdit, call } from '../../api.ts';
import { Confirm } from '../../components/form.tsx';
import { Mark } from '../../components/mark.tsx';
import { Body, Page } from '../../components/page.tsx';
import { Pick } from '../../components/pick.tsx';
import { Empty, ProblemView } from '../../components/problem.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { type Source, usePages } from '../../components/source.ts';
import { Time, useNow } from '../../components/time.tsx';
import { listOf, textOf } from '../../search.ts';
import { useMay } from '../../session.tsx';
import { useSiteChoices } from '../../sites.ts';
import { WindowForm } from './window-form.tsx';
import { scopeInWords, standing, turnsAt, whenInWords } from './windows.ts';

const route = getRouteApi('/maintenance');
const NEW = 'new';

/** Planned work: when it is on, what it covers opens no case. */
export function Maintenance() {
  const { site, sort, edit, device } = route.useSearch();
  const navigate = useNavigate({ from: '/maintenance' });
  const operator = useMay('operator');
  const sites = useSiteChoices();
  const source = usePages('maintenance.list', { site, sort });
  useTurns(source);
  const [doomed, setDoomed] = useState<MaintenanceWindow>();
  const change = (next: ReturnType<typeof route.useSearch>, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const columns: Column<MaintenanceWindow>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(130px, 1fr)',
      sort: 'name',
      narrow: true,
      value: (one) => one.name,
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
    {
      id: 'covers',
      title: 'Covers',
      width: 'minmax(130px, 1fr)',
      value: (one) => scopeInWords(one.scope),
    },
    { id: 'site', title: 'Site', width: 'minmax(90px, 0.6fr)', value: (one) => one.site },
    { id: 'by', title: 'Planned by', width: '90px', value: (one) => one.createdBy },
    {
      id: 'enabled',
      title: 'On',
      width: '44px',
      narrow: true,
      value: (one) => (one.enabled ? 'on' : 'off'),
      cell: (one) => (operator ? <Toggle window={one} /> : one.enabled ? 'on' : 'off'),
    },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      narrow: true,
      value: () => '',
      cell: (one) =>
        operator && (
          <RowMenu label={`What to do with ${one.name}`}>
            <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => change({ edit: one.id })}>
              Change
            </Menu.Item>
            <Menu.Item
              color="var(--bad)"
              leftSection={<IconTrash size={15} />}
              onClick={() => setDoomed(one)}
            >
              Delete
            </Menu.Item>
          </RowMenu>
        ),
    },
  ];
  const close = () => change({ edit: undefined, device: undefined }, true);
  const plan = operator && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ edit: NEW })}>
      Plan maintenance
    </Button>
  );
  return (
    <Page
      title="Maintenance"
      count={source.total}
      fill
      actions={plan}
      filters={
        <Pick
          label="Site"
          choices={sites}
          value={listOf(site)}
          onChange={(value) => change({ site: textOf(value) })}
        />
      }
    >
      <Body>
        <Rows
          label="Maintenance windows"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          {...(operator && { onOpen: (one: MaintenanceWindow) => change({ edit: one.id }) })}
          rowKey={(one) => one.id}
          empty={
            <Empty title="No maintenance planned" action={plan}>
              While maintenance runs, events are kept as ever, and none of what it covers opens a case. What
              is still wrong at its end does so then.
            </Empty>
          }
        />
      </Body>
      {operator && edit === NEW && <WindowForm site={site} device={device} onClose={close} />}
      {operator && edit && edit !== NEW && <EditWindow id={edit} onClose={close} />}
      {doomed && <DeleteWindow window={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}

/** What begins or ends is asked about when it does: nobody tells of the passing of time. */
function useTurns(source: Source<MaintenanceWindow>): void {
  const refresh = useRefresh();
  const now = useNow() / 1000;
  const shown = Array.from({ length: Math.min(source.total ?? 0, 500) }, (_, i) => source.at(i));
  const turn = Math.min(...shown.flatMap((one) => (one?.enabled ? [turnsAt(one, now)] : [])));
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
  if (stands.state === 'running')
    return (
      <Mark tone="busy" icon={IconTool}>
        running, ends <Time at={stands.until} />
      </Mark>
    );
  if (stands.state === 'planned')
    return (
      <Mark tone="idle" icon={IconCalendarTime}>
        begins <Time at={stands.from} />
      </Mark>
    );
  return stands.state === 'off' ? (
    <Mark tone="idle" icon={IconBan}>
      switched off
    </Mark>
  ) : (
    <Mark tone="idle" icon={IconCircleCheck}>
      over
    </Mark>
  );
}

function Toggle({ window }: { window: MaintenanceWindow }) {
  const update = useAction('maintenance.update', {
    failed: 'Not changed',
    touches: ['events', 'cases', 'summary'],
  });
  return (
    <Switch
      aria-label={`${window.name} is on`}
      checked={window.enabled}
      disabled={update.pending}
      onChange={(event) =>
        void update.run({ params: { id: window.id }, body: { enabled: event.currentTarget.checked } })
      }
    />
  );
}

function EditWindow({ id, onClose }: { id: string; onClose: () => void }) {
  const window = useQuery(askForEdit('maintenance.get', { params: { id } }));
  if (window.error) return <ProblemView error={window.error} retry={() => void window.refetch()} />;
  if (!window.data) return null;
  return <WindowForm window={window.data.data} onClose={onClose} />;
}

function DeleteWindow({ window, onClose }: { window: MaintenanceWindow; onClose: () => void }) {
  const refresh = useRefresh();
  const running = standing(window, Date.now() / 1000).state === 'running';
  return (
    <Confirm
      title={`Delete the maintenance ${window.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('maintenance.delete', { params: { id: window.id } });
        refresh('maintenance', 'events', 'cases', 'summary');
      }}
    >
      {running
        ? 'It is running: it ends now, and what is wrong in what it covers opens cases.'
        : 'It does not begin again.'}
    </Confirm>
  );
}
