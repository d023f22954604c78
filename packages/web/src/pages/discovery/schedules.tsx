import { Button, Menu, Switch } from '@mantine/core';
import type { Schedule } from '@rollcall/shared/api/scans';
import { IconPencil, IconPlus, IconRadar2, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction, useRefresh } from '../../action.ts';
import { ask, call } from '../../api.ts';
import { ChoiceField, Confirm, FormDialog, LinesField, Pair, TextField } from '../../components/form.tsx';
import { Body } from '../../components/page.tsx';
import { Empty } from '../../components/problem.tsx';
import { CronField, ZONE_HERE, ZoneField } from '../../components/recurrence.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { usePages } from '../../components/source.ts';
import { Time } from '../../components/time.tsx';
import { cronInWords } from '../../cron.ts';
import { useMay } from '../../session.tsx';
import { useSiteChoices } from '../../sites.ts';
import classes from './discovery.module.css';
import type { PartProps } from './part.ts';

type Chosen = { what: 'edit' | 'delete'; schedule: Schedule } | { what: 'new' };

export function Schedules({ search, change }: PartProps) {
  const operator = useMay('operator');
  const navigate = useNavigate();
  const { site, sort } = search;
  const source = usePages('schedules.list', { site, sort });
  const [chosen, setChosen] = useState<Chosen>();
  const close = () => setChosen(undefined);
  const columns: Column<Schedule>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(120px, 0.9fr)',
      sort: 'name',
      narrow: true,
      value: (one) => one.name,
    },
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
    {
      id: 'targets',
      title: 'Targets',
      width: 'minmax(130px, 1fr)',
      value: (one) => one.targets,
      cell: (one) => <span className="mono">{one.targets}</span>,
    },
    { id: 'site', title: 'Site', width: 'minmax(80px, 0.5fr)', value: (one) => one.site },
    { id: 'profile', title: 'Profile', width: 'minmax(80px, 0.5fr)', value: (one) => one.profile },
    {
      id: 'last',
      title: 'Last run',
      width: '90px',
      sort: 'lastRunAt',
      value: (one) => one.lastRunAt,
      cell: (one) =>
        one.lastScanId ? (
          <Link to="/discovery/scans/$id" params={{ id: one.lastScanId }} className="plain">
            <Time at={one.lastRunAt} />
          </Link>
        ) : (
          <Time at={one.lastRunAt} />
        ),
    },
    {
      id: 'next',
      title: 'Next run',
      width: '90px',
      sort: 'nextRunAt',
      value: (one) => one.nextRunAt,
      cell: (one) => <Time at={one.nextRunAt} fallback="" />,
    },
    {
      id: 'enabled',
      title: 'On',
      width: '44px',
      narrow: true,
      value: (one) => (one.enabled ? 'on' : 'off'),
      cell: (one) => (operator ? <Toggle schedule={one} /> : one.enabled ? 'on' : 'off'),
    },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      value: () => '',
      cell: (one) =>
        operator && (
          <RowMenu label={`What to do with ${one.name}`}>
            <Menu.Item
              leftSection={<IconRadar2 size={15} />}
              onClick={() =>
                void navigate({
                  to: '/discovery',
                  search: { new: '1', targets: one.targets, site: one.siteId, profile: one.profile },
                })
              }
            >
              Run it now
            </Menu.Item>
            <Menu.Item
              leftSection={<IconPencil size={15} />}
              onClick={() => setChosen({ what: 'edit', schedule: one })}
            >
              Change
            </Menu.Item>
            <Menu.Item
              color="var(--bad)"
              leftSection={<IconTrash size={15} />}
              onClick={() => setChosen({ what: 'delete', schedule: one })}
            >
              Delete
            </Menu.Item>
          </RowMenu>
        ),
    },
  ];
  return (
    <>
      <div className={classes.bar}>
        <p>Scans at set times. A run that is due while the last one is not over is left out.</p>
        {operator && (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setChosen({ what: 'new' })}
          >
            New schedule
          </Button>
        )}
      </div>
      <Body>
        <Rows
          label="Schedules"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          rowKey={(one) => one.id}
          empty={<Empty title="No schedules">Scan every night, and the inventory stays true.</Empty>}
        />
      </Body>
      {(chosen?.what === 'new' || chosen?.what === 'edit') && (
        <ScheduleForm schedule={chosen.what === 'edit' ? chosen.schedule : undefined} onClose={close} />
      )}
      {chosen?.what === 'delete' && <DeleteSchedule schedule={chosen.schedule} onClose={close} />}
    </>
  );
}

function Toggle({ schedule }: { schedule: Schedule }) {
  const update = useAction('schedules.update', { failed: 'Not changed' });
  return (
    <Switch
      aria-label={`${schedule.name} is on`}
      checked={schedule.enabled}
      disabled={update.pending}
      onChange={(event) =>
        void update.run({ params: { id: schedule.id }, body: { enabled: event.currentTarget.checked } })
      }
    />
  );
}

function DeleteSchedule({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the schedule ${schedule.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('schedules.delete', { params: { id: schedule.id } });
        refresh('schedules');
      }}
    >
      Scans that it started stay.
    </Confirm>
  );
}

function ScheduleForm({ schedule, onClose }: { schedule: Schedule | undefined; onClose: () => void }) {
  const sites = useSiteChoices();
  const profiles = useQuery(ask('profiles.list', { query: { pageSize: 1000 } }));
  const refresh = useRefresh();
  const [name, setName] = useState(schedule?.name ?? '');
  const [targets, setTargets] = useState(schedule?.targets ?? '');
  const [site, setSite] = useState('');
  const [profile, setProfile] = useState(schedule?.profile ?? 'standard');
  const [cron, setCron] = useState(schedule?.cron ?? '30 2 * * *');
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ZONE_HERE);
  const save = async () => {
    const body = { name, targets, profile, cron, timezone };
    if (schedule) await call('schedules.update', { params: { id: schedule.id }, body });
    else await call('schedules.create', { body: { ...body, ...(site && { site }) } });
    refresh('schedules');
  };
  return (
    <FormDialog
      title={schedule ? 'Change the schedule' : 'New schedule'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      size={560}
    >
      <TextField path="name" label="Name" required value={name} onChange={setName} data-autofocus />
      <LinesField
        path="targets"
        label="Targets"
        placeholder="10.20.0.0/16"
        required
        value={targets}
        onChange={setTargets}
        classNames={{ input: classes.mono ?? '' }}
      />
      <Pair>
        <ChoiceField
          path="profile"
          label="Profile"
          choices={(profiles.data?.data ?? []).map(({ name }) => ({ value: name, label: name }))}
          value={profile}
          onChange={setProfile}
        />
        {schedule ? (
          <TextField path="site" label="Site" disabled value={schedule.site} onChange={setSite} />
        ) : (
          <ChoiceField
            path="site"
            label="Site"
            choices={[{ value: '', label: 'the one whose networks contain them' }, ...sites]}
            value={site}
            onChange={setSite}
          />
        )}
      </Pair>
      <Pair>
        <CronField path="cron" label="When" value={cron} onChange={setCron} />
        <ZoneField path="timezone" description="Of the five fields" value={timezone} onChange={setTimezone} />
      </Pair>
    </FormDialog>
  );
}
