import { Button, Menu, Switch } from '@mantine/core';
import { SITE_DEFAULTS, type Site, type SiteSettings } from '@rollcall/shared/api/sites';
import { IconLayoutDashboard, IconPencil, IconPlus, IconServer, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRefresh } from '../action.ts';
import { askForEdit, call } from '../api.ts';
import { Confirm, FormDialog, Group, LinesField, Pair, TextField } from '../components/form.tsx';
import { Body, Page } from '../components/page.tsx';
import { Empty } from '../components/problem.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { SearchBox } from '../components/search-box.tsx';
import { usePages } from '../components/source.ts';
import { Time } from '../components/time.tsx';
import { useMay } from '../session.tsx';

const route = getRouteApi('/sites');
const NEW = 'new';

/** Places with address spaces of their own, and how each is swept and watched. */
export function Sites() {
  const { search, sort, edit } = route.useSearch();
  const navigate = useNavigate({ from: '/sites' });
  const admin = useMay('admin');
  const source = usePages('sites.list', { search, sort });
  const [doomed, setDoomed] = useState<Site>();
  const change = (next: ReturnType<typeof route.useSearch>, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const columns: Column<Site>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(120px, 0.8fr)',
      sort: 'name',
      narrow: true,
      value: (one) => one.name,
      cell: (one) => (
        <Link to="/" search={{ site: one.id }} className="plain">
          {one.name}
        </Link>
      ),
    },
    {
      id: 'networks',
      title: 'Networks',
      width: 'minmax(150px, 1.4fr)',
      narrow: true,
      value: (one) => one.networks.join(' '),
      cell: (one) => <span className="mono">{one.networks.join('  ')}</span>,
    },
    {
      id: 'exclude',
      title: 'Never probed',
      width: 'minmax(110px, 1fr)',
      value: (one) => one.exclude.join(' '),
      cell: (one) => <span className="mono">{one.exclude.join('  ')}</span>,
    },
    {
      id: 'settings',
      title: 'Own settings',
      width: 'minmax(110px, 0.8fr)',
      value: (one) => Object.keys(one.settings).length,
      cell: (one) =>
        SETTINGS.filter(({ key }) => one.settings[key] !== undefined)
          .map(({ short, key }) => `${short} ${one.settings[key]}`)
          .join(', ') || <span className="quiet">defaults</span>,
    },
    {
      id: 'created',
      title: 'Since',
      width: '90px',
      sort: 'createdAt',
      value: (one) => one.createdAt,
      cell: (one) => <Time at={one.createdAt} />,
    },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      narrow: true,
      value: () => '',
      cell: (one) => (
        <RowMenu label={`What to do with ${one.name}`}>
          <Menu.Item
            leftSection={<IconLayoutDashboard size={15} />}
            onClick={() => void navigate({ to: '/', search: { site: one.id } })}
          >
            Overview
          </Menu.Item>
          <Menu.Item
            leftSection={<IconServer size={15} />}
            onClick={() => void navigate({ to: '/devices', search: { site: one.id } })}
          >
            Devices
          </Menu.Item>
          {admin && (
            <>
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
            </>
          )}
        </RowMenu>
      ),
    },
  ];
  const close = () => change({ edit: undefined }, true);
  return (
    <Page
      title="Sites"
      count={source.total}
      fill
      actions={
        admin && (
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ edit: NEW })}>
            New site
          </Button>
        )
      }
      filters={
        <SearchBox
          label="Search"
          placeholder="Name"
          width={220}
          main
          value={search ?? ''}
          onChange={(text) => change({ search: text || undefined }, true)}
        />
      }
    >
      <Body>
        <Rows
          label="Sites"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          onOpen={(one) =>
            admin ? change({ edit: one.id }) : void navigate({ to: '/', search: { site: one.id } })
          }
          rowKey={(one) => one.id}
          empty={<Empty title="No site">A site is a place with addresses of its own.</Empty>}
        />
      </Body>
      {admin && edit === NEW && <SiteForm onClose={close} />}
      {admin && edit && edit !== NEW && <EditSite id={edit} onClose={close} />}
      {doomed && <DeleteSite site={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}

interface Setting {
  key: keyof SiteSettings;
  short: string;
  label: string;
  description: string;
}
const SETTINGS: readonly Setting[] = [
  { key: 'watchIcmpSeconds', short: 'ping s', label: 'Ping every, s', description: 'Watched devices' },
  { key: 'watchSnmpSeconds', short: 'SNMP s', label: 'Read SNMP every, s', description: 'Watched devices' },
  {
    key: 'missedScansUntilGone',
    short: 'gone after',
    label: 'Gone after',
    description: 'Scans in a row without it',
  },
  { key: 'snmpPort', short: 'port', label: 'SNMP port', description: 'Where a profile names none' },
  {
    key: 'caseWindowSeconds',
    short: 'case window s',
    label: 'Case window, s',
    description: 'Events this close may share a case',
  },
  {
    key: 'caseReopenSeconds',
    short: 'reopens s',
    label: 'Case reopens within, s',
    description: 'A resolved one takes the same trouble back',
  },
  {
    key: 'caseMinimumEvents',
    short: 'case from',
    label: 'Case from',
    description: 'Open events until one is made',
  },
];

function EditSite({ id, onClose }: { id: string; onClose: () => void }) {
  const site = useQuery(askForEdit('sites.get', { params: { id } }));
  if (!site.data) return null;
  return <SiteForm site={site.data.data} etag={site.data.etag} onClose={onClose} />;
}

const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

function SiteForm({ site, etag, onClose }: { site?: Site; etag?: string | undefined; onClose: () => void }) {
  const [name, setName] = useState(site?.name ?? '');
  const [networks, setNetworks] = useState(site?.networks.join('\n') ?? '');
  const [exclude, setExclude] = useState(site?.exclude.join('\n') ?? '');
  const [allowLoopback, setAllowLoopback] = useState(site?.allowLoopback ?? false);
  const [settings, setSettings] = useState(() =>
    Object.fromEntries(SETTINGS.map(({ key }) => [key, String(site?.settings[key] ?? '')])),
  );
  const refresh = useRefresh();
  const save = async () => {
    const given = Object.entries(settings).filter(([, text]) => text.trim() !== '');
    const body = {
      name,
      networks: linesOf(networks),
      exclude: linesOf(exclude),
      allowLoopback,
      settings: Object.fromEntries(given.map(([key, text]) => [key, Number(text)])) as SiteSettings,
    };
    if (site) await call('sites.update', { params: { id: site.id }, body }, { ifMatch: etag });
    else await call('sites.create', { body });
    refresh('sites', 'summary');
  };
  return (
    <FormDialog
      title={site ? `Site ${site.name}` : 'New site'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      size={580}
    >
      <TextField path="name" label="Name" required value={name} onChange={setName} data-autofocus />
      <Pair>
        <LinesField
          path="networks"
          label="Networks"
          description="CIDRs; a scan that names no site goes to the one that contains its targets"
          placeholder="10.20.0.0/16"
          minRows={3}
          value={networks}
          onChange={setNetworks}
        />
        <LinesField
          path="exclude"
          label="Never probe"
          description="Addresses and CIDRs that no scan touches, whoever asks"
          minRows={3}
          value={exclude}
          onChange={setExclude}
        />
      </Pair>
      <Group label="Settings; empty: the default shown">
        <Pair>
          {SETTINGS.map(({ key, label, description }) => (
            <TextField
              key={key}
              path={`settings.${key}`}
              label={label}
              description={description}
              type="number"
              placeholder={String(SITE_DEFAULTS[key])}
              value={settings[key] ?? ''}
              onChange={(text) => setSettings({ ...settings, [key]: text })}
            />
          ))}
        </Pair>
      </Group>
      <Switch
        label="Scans may name 127.0.0.0/8 (demonstration and tests)"
        checked={allowLoopback}
        onChange={(event) => setAllowLoopback(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

function DeleteSite({ site, onClose }: { site: Site; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the site ${site.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('sites.delete', { params: { id: site.id } });
        refresh('sites', 'summary');
      }}
    >
      Only an empty site can be deleted: one without collectors, devices and scans.
    </Confirm>
  );
}
