import { Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Schedule } from '@rollcall/shared/api/scans';
import { IconRadar2 } from '@tabler/icons-react';
import { Empty } from '../../components/feedback/index.ts';
import { MONO, Pair, RecurrenceField, ZONE_HERE, ZoneField } from '../../components/form/index.ts';
import { Collection, EditDialog, type FormOf, NewButton } from '../../components/list/index.ts';
import { ScanLink, Time } from '../../components/show/index.ts';
import { type Column, enabledColumn, timeColumn, usePagedList } from '../../components/table/index.ts';
import { cronInWords } from '../../cron.ts';
import { useMay } from '../../session.tsx';
import type { UrlState } from '../../url-state.ts';
import { BY_TARGETS, useProfileChoices, useTargetSites } from './choices.ts';

export function Schedules({ search, change }: UrlState<'/discovery'>) {
  const may = useMay('schedules.create');
  const { site, sort } = search;
  const source = usePagedList('schedules.list', { site, sort });
  const columns: Column<Schedule>[] = [
    { id: 'name', title: 'Name', width: 'minmax(120px, 0.9fr)', sort: 'name', narrow: true },
    {
      id: 'when',
      title: 'When',
      width: 'minmax(170px, 1fr)',
      narrow: true,
      value: (one) => cronInWords(one.cron),
      cell: (one) => (
        <span title={`${one.cron} (${one.timezone})`}>
          {cronInWords(one.cron)} <span className="quiet">{one.timezone}</span>
        </span>
      ),
    },
    { id: 'targets', title: 'Targets', width: 'minmax(130px, 1fr)', mono: true },
    { id: 'site', title: 'Site', width: 'minmax(80px, 0.5fr)' },
    { id: 'profile', title: 'Profile', width: 'minmax(80px, 0.5fr)' },
    timeColumn({
      id: 'last',
      title: 'Last run',
      sort: 'lastRunAt',
      at: (one) => one.lastRunAt,
      cell: (one) =>
        one.lastScanId ? (
          <ScanLink id={one.lastScanId} className="plain">
            <Time at={one.lastRunAt} />
          </ScanLink>
        ) : (
          <Time at={one.lastRunAt} />
        ),
    }),
    timeColumn({
      id: 'next',
      title: 'Next run',
      sort: 'nextRunAt',
      at: (one) => one.nextRunAt,
      fallback: '',
    }),
    enabledColumn('schedules.update', may),
  ];
  const runNow = ({ targets, siteId, profile }: Schedule) =>
    change({ tab: undefined, new: '1', targets, site: siteId, profile });
  return (
    <>
      <div className="strip">
        <p>Scans at set times. A run is skipped while the one before it has not ended.</p>
        {may && (
          <NewButton change={change} variant="default">
            New schedule
          </NewButton>
        )}
      </div>
      <Collection
        kind="schedules"
        label="Schedules"
        source={source}
        columns={columns}
        order="name"
        search={search}
        change={change}
        may={may}
        actions={(one) => (may ? [{ label: 'Run it now', icon: IconRadar2, run: () => runNow(one) }] : [])}
        form={(props) => <ScheduleForm {...props} />}
        lost={() => 'Scans that it started stay.'}
        empty={<Empty title="No schedules">A nightly scan keeps the inventory up to date.</Empty>}
      />
    </>
  );
}

function ScheduleForm(props: FormOf<Schedule>) {
  const { one } = props;
  const sites = useTargetSites();
  const profiles = useProfileChoices();
  const form = useForm({
    initialValues: {
      name: one?.name ?? '',
      targets: one?.targets ?? '',
      site: one?.siteId ?? BY_TARGETS,
      profile: one?.profile ?? 'standard',
      cron: one?.cron ?? '30 2 * * *',
      timezone: one?.timezone ?? ZONE_HERE,
    },
  });
  const { site, ...body } = form.values;
  return (
    <EditDialog
      kind="schedules"
      of={props}
      form={form}
      create={() => ({ ...body, ...(site !== BY_TARGETS && { site }) })}
      update={() => body}
      size={560}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <Textarea
        label="Targets"
        placeholder="10.20.0.0/16"
        required
        styles={MONO}
        {...form.getInputProps('targets')}
      />
      <Pair>
        <Select label="Profile" data={profiles} {...form.getInputProps('profile')} />
        <Select label="Site" data={sites} disabled={one !== undefined} {...form.getInputProps('site')} />
      </Pair>
      <Pair>
        <RecurrenceField label="When" {...form.getInputProps('cron')} />
        <ZoneField description="Of these times" {...form.getInputProps('timezone')} />
      </Pair>
    </EditDialog>
  );
}
