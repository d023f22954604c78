import { Button, Menu, Switch } from '@mantine/core';
import type { User } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import { IconHistory, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRefresh } from '../action.ts';
import { askForEdit, call } from '../api.ts';
import {
  ChecksField,
  ChoiceField,
  Confirm,
  FormDialog,
  Pair,
  PasswordField,
  TextField,
} from '../components/form.tsx';
import { Tag } from '../components/mark.tsx';
import { Body, Page } from '../components/page.tsx';
import { Empty } from '../components/problem.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { SearchBox } from '../components/search-box.tsx';
import { usePages } from '../components/source.ts';
import { Time } from '../components/time.tsx';
import { useMe } from '../session.tsx';
import { useSiteChoices, useSiteName } from '../sites.ts';

const route = getRouteApi('/users');
const NEW = 'new';
const ROLES: readonly { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer: reads' },
  { value: 'operator', label: 'operator: also scans, watches, works cases' },
  { value: 'admin', label: 'admin: also sites, collectors, credentials, users' },
];

export function Users() {
  const { search, sort, edit } = route.useSearch();
  const navigate = useNavigate({ from: '/users' });
  const source = usePages('users.list', { search, sort });
  const siteName = useSiteName();
  const me = useMe();
  const [doomed, setDoomed] = useState<User>();
  const change = (next: ReturnType<typeof route.useSearch>, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const columns: Column<User>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(110px, 0.8fr)',
      sort: 'name',
      narrow: true,
      value: (one) => one.name,
      cell: (one) => (
        <>
          {one.name} {one.disabledAt !== null && <Tag>disabled</Tag>}
          {one.id === me.user.id && <span className="quiet"> (you)</span>}
        </>
      ),
    },
    { id: 'display', title: 'In full', width: 'minmax(120px, 1fr)', value: (one) => one.displayName },
    { id: 'role', title: 'Role', width: '90px', sort: 'role', narrow: true, value: (one) => one.role },
    {
      id: 'sites',
      title: 'Sees',
      width: 'minmax(120px, 1.4fr)',
      value: (one) => (one.allSites ? 'all sites' : one.siteIds.map(siteName).join(', ') || 'no site'),
    },
    {
      id: 'login',
      title: 'Signed in',
      width: '94px',
      sort: 'lastLoginAt',
      value: (one) => one.lastLoginAt,
      cell: (one) => <Time at={one.lastLoginAt} />,
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
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => change({ edit: one.id })}>
            Change
          </Menu.Item>
          <Menu.Item
            leftSection={<IconHistory size={15} />}
            onClick={() => void navigate({ to: '/audit', search: { actor: one.name } })}
          >
            What they did
          </Menu.Item>
          <Menu.Item
            color="var(--bad)"
            leftSection={<IconTrash size={15} />}
            disabled={one.id === me.user.id}
            onClick={() => setDoomed(one)}
          >
            Delete
          </Menu.Item>
        </RowMenu>
      ),
    },
  ];
  const close = () => change({ edit: undefined }, true);
  return (
    <Page
      title="Users"
      count={source.total}
      fill
      actions={
        <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ edit: NEW })}>
          New user
        </Button>
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
          label="Users"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          onOpen={(one) => change({ edit: one.id })}
          rowKey={(one) => one.id}
          empty={<Empty title="No user fits" />}
        />
      </Body>
      {edit === NEW && <UserForm onClose={close} />}
      {edit && edit !== NEW && <EditUser id={edit} onClose={close} />}
      {doomed && <DeleteUser user={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}

function EditUser({ id, onClose }: { id: string; onClose: () => void }) {
  const user = useQuery(askForEdit('users.get', { params: { id } }));
  if (!user.data) return null;
  return <UserForm user={user.data.data} etag={user.data.etag} onClose={onClose} />;
}

function UserForm({ user, etag, onClose }: { user?: User; etag?: string | undefined; onClose: () => void }) {
  const sites = useSiteChoices();
  const refresh = useRefresh();
  const [name, setName] = useState(user?.name ?? '');
  const [displayName, setDisplayName] = useState(user?.displayName ?? '');
  const [role, setRole] = useState<Role>(user?.role ?? 'viewer');
  const [allSites, setAllSites] = useState(user?.allSites ?? false);
  const [siteIds, setSiteIds] = useState(user?.siteIds ?? []);
  const [password, setPassword] = useState('');
  const [disabled, setDisabled] = useState(user ? user.disabledAt !== null : false);
  const save = async () => {
    const common = { displayName, role, allSites, siteIds: allSites ? [] : siteIds };
    if (user) {
      const body = { ...common, disabled, ...(password && { password }) };
      await call('users.update', { params: { id: user.id }, body }, { ifMatch: etag });
    } else await call('users.create', { body: { ...common, name, password } });
    refresh('users', 'assignees');
  };
  return (
    <FormDialog
      title={user ? `User ${user.name}` : 'New user'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      size={520}
    >
      <Pair>
        <TextField
          path="name"
          label="Name"
          description="To sign in with"
          required
          disabled={user !== undefined}
          autoComplete="off"
          value={name}
          onChange={setName}
          data-autofocus={user ? undefined : true}
        />
        <TextField
          path="displayName"
          label="In full"
          description="As others see it"
          value={displayName}
          onChange={setDisplayName}
        />
      </Pair>
      <ChoiceField
        path="role"
        label="Role"
        choices={ROLES}
        value={role}
        onChange={(value) => setRole(value as Role)}
      />
      <Switch
        label="Sees every site, future ones too"
        checked={allSites}
        onChange={(event) => setAllSites(event.currentTarget.checked)}
      />
      {!allSites && <ChecksField label="Sees" choices={sites} value={siteIds} onChange={setSiteIds} />}
      <PasswordField
        path="password"
        label={user ? 'New password' : 'Password'}
        description={
          user
            ? 'Empty: stays as it is. A new one signs the user out everywhere.'
            : 'Eight characters at least; 15 or more are advised'
        }
        autoComplete="new-password"
        required={!user}
        value={password}
        onChange={setPassword}
      />
      {user && (
        <Switch
          label="Disabled: cannot sign in, tokens do not work"
          checked={disabled}
          onChange={(event) => setDisabled(event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

function DeleteUser({ user, onClose }: { user: User; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the user ${user.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('users.delete', { params: { id: user.id } });
        refresh('users', 'assignees');
      }}
    >
      Sessions and tokens go with it. What the user did stays in the audit log under the name.
    </Confirm>
  );
}
