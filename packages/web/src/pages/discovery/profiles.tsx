import { Button, Menu } from '@mantine/core';
import type { Profile } from '@rollcall/shared/api/profiles';
import type { ProfileSettings } from '@rollcall/shared/profile';
import { IconCopy, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/form.tsx';
import { Tag } from '../../components/mark.tsx';
import { Body } from '../../components/page.tsx';
import { Empty } from '../../components/problem.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { usePages } from '../../components/source.ts';
import { count } from '../../format.ts';
import { useMay } from '../../session.tsx';
import classes from './discovery.module.css';
import { ProfileForm } from './profile-form.tsx';

type Chosen = { what: 'edit' | 'copy' | 'delete'; profile: Profile } | { what: 'new' };

const rateOf = (rate: ProfileSettings['rate']): string => (rate === 'max' ? 'unlimited' : count(rate));

export function Profiles() {
  const admin = useMay('admin');
  const source = usePages('profiles.list', {});
  const [chosen, setChosen] = useState<Chosen>();
  const close = () => setChosen(undefined);
  const columns: Column<Profile>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(130px, 0.8fr)',
      narrow: true,
      value: (one) => one.name,
      cell: (one) => (
        <>
          {one.name} {one.builtIn && <Tag>part of the product</Tag>}
        </>
      ),
    },
    {
      id: 'icmp',
      title: 'ICMP',
      width: 'minmax(110px, 0.6fr)',
      narrow: true,
      value: ({ settings: { icmp } }) => (icmp ? `${icmp.tries} × ${count(icmp.timeoutMs)} ms` : 'no'),
    },
    {
      id: 'snmp',
      title: 'SNMP',
      width: 'minmax(130px, 0.7fr)',
      value: ({ settings: { snmp } }) =>
        snmp
          ? `${snmp.ask === 'all' ? 'every address' : 'those alive'}, ${snmp.port === null ? 'port of the site' : `port ${snmp.port}`}`
          : 'no',
    },
    {
      id: 'groups',
      title: 'What is read',
      width: 'minmax(180px, 1.6fr)',
      value: ({ settings: { snmp } }) => (snmp ? ['system', ...snmp.groups].join(', ') : ''),
    },
    {
      id: 'rate',
      title: 'Packets/s',
      width: '76px',
      numeric: true,
      value: ({ settings }) => rateOf(settings.rate),
    },
    {
      id: 'net',
      title: 'into one /24',
      width: '86px',
      numeric: true,
      value: ({ settings }) => rateOf(settings.ratePerNet),
    },
    { id: 'dns', title: 'DNS', width: '40px', value: ({ settings }) => (settings.dns ? 'yes' : 'no') },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      narrow: true,
      value: () => '',
      cell: (one) =>
        admin && (
          <RowMenu label={`What to do with ${one.name}`}>
            <Menu.Item
              leftSection={<IconCopy size={15} />}
              onClick={() => setChosen({ what: 'copy', profile: one })}
            >
              Copy
            </Menu.Item>
            {!one.builtIn && (
              <>
                <Menu.Item
                  leftSection={<IconPencil size={15} />}
                  onClick={() => setChosen({ what: 'edit', profile: one })}
                >
                  Change
                </Menu.Item>
                <Menu.Item
                  color="var(--bad)"
                  leftSection={<IconTrash size={15} />}
                  onClick={() => setChosen({ what: 'delete', profile: one })}
                >
                  Delete
                </Menu.Item>
              </>
            )}
          </RowMenu>
        ),
    },
  ];
  return (
    <>
      <div className={classes.bar}>
        <p>Named settings of a sweep: which probes, how fast, what is left out.</p>
        {admin && (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setChosen({ what: 'new' })}
          >
            New profile
          </Button>
        )}
      </div>
      <Body>
        <Rows
          label="Profiles"
          source={source}
          columns={columns}
          rowKey={(one) => one.id}
          empty={<Empty title="No profiles" />}
        />
      </Body>
      {chosen && chosen.what !== 'delete' && (
        <ProfileForm
          profile={chosen.what === 'new' ? undefined : chosen.profile}
          copy={chosen.what === 'copy'}
          onClose={close}
        />
      )}
      {chosen?.what === 'delete' && <DeleteProfile profile={chosen.profile} onClose={close} />}
    </>
  );
}

function DeleteProfile({ profile, onClose }: { profile: Profile; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the profile ${profile.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('profiles.delete', { params: { id: profile.id } });
        refresh('profiles');
      }}
    >
      Scans keep the settings they were started with. A profile that a schedule uses cannot be deleted.
    </Confirm>
  );
}
