import { PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { User } from '@rollcall/shared/api/accounts';
import { ROLES, type Role } from '@rollcall/shared/model';
import { IconHistory, IconShieldOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../api.ts';
import { useSiteName } from '../choices.ts';
import { Empty, notify } from '../components/feedback/index.ts';
import { Filters } from '../components/filter/index.ts';
import { Confirm, Pair, SiteFields, sitesOf } from '../components/form/index.ts';
import { Collection, EditDialog, type FormOf, NewButton } from '../components/list/index.ts';
import { Page } from '../components/page/index.ts';
import { Tag } from '../components/show/index.ts';
import { type Column, timeColumn, usePagedList } from '../components/table/index.ts';
import { useMay, useMe } from '../session.tsx';
import { useUrlState } from '../url-state.ts';
import { useSend } from '../use-action.ts';

const LABELS: Record<Role, string> = {
  viewer: 'viewer: reads',
  operator: 'operator: also scans, monitors, works cases',
  admin: 'admin: also sites, collectors, credentials, users',
};
const CHOICES = ROLES.map((role) => ({ value: role, label: LABELS[role] }));

export function Users() {
  const { search, change } = useUrlState('/users');
  const navigate = useNavigate();
  const source = usePagedList('users.list', search);
  const siteName = useSiteName();
  const me = useMe();
  const mayCreate = useMay('users.create');
  const [resetting, setResetting] = useState<User>();
  const columns: Column<User>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(110px, 0.8fr)',
      sort: 'name',
      narrow: true,
      cell: (one) => (
        <>
          {one.name} {one.disabledAt !== null && <Tag>disabled</Tag>}
          {one.signIn === 'oidc' && <Tag>single sign-on</Tag>}
          {one.secondFactor && <Tag>second factor</Tag>}
          {one.id === me.user.id && <span className="quiet"> (you)</span>}
        </>
      ),
    },
    { id: 'display', title: 'Display name', width: 'minmax(120px, 1fr)', value: (one) => one.displayName },
    { id: 'role', title: 'Role', width: '90px', sort: 'role', narrow: true },
    {
      id: 'sites',
      title: 'Sites',
      width: 'minmax(120px, 1.4fr)',
      value: (one) => (one.allSites ? 'all sites' : one.siteIds.map(siteName).join(', ') || 'no site'),
    },
    timeColumn({ id: 'login', title: 'Last sign-in', sort: 'lastLoginAt', at: (one) => one.lastLoginAt }),
    timeColumn({ id: 'created', title: 'Created', sort: 'createdAt', at: (one) => one.createdAt }),
  ];
  return (
    <Page
      title="Users"
      count={source.total}
      fill
      actions={mayCreate && <NewButton change={change}>New user</NewButton>}
    >
      <Filters
        search={search}
        change={change}
        filters={[{ key: 'search', label: 'Search', placeholder: 'Name', width: 220 }]}
      />
      <Collection
        kind="users"
        label="Users"
        source={source}
        columns={columns}
        order="name"
        search={search}
        change={change}
        may
        actions={(one) => [
          {
            label: 'Audit log',
            icon: IconHistory,
            run: () => void navigate({ to: '/audit', search: { actor: one.name } }),
          },
          ...(one.secondFactor && one.id !== me.user.id
            ? [{ label: 'Reset the second factor', icon: IconShieldOff, run: () => setResetting(one) }]
            : []),
        ]}
        fixed={(one) => (one.id === me.user.id ? 'there' : undefined)}
        form={(props) => <UserForm {...props} />}
        lost={() =>
          'Sessions and tokens go with it. What the user did stays in the audit log under the name.'
        }
        empty={<Empty title="No user matches" />}
      />
      {resetting && <ResetFactor user={resetting} onClose={() => setResetting(undefined)} />}
    </Page>
  );
}

function ResetFactor({ user, onClose }: { user: User; onClose: () => void }) {
  const send = useSend();
  return (
    <Confirm
      title={`Reset the second factor of ${user.name}?`}
      confirm="Reset"
      onClose={onClose}
      onConfirm={async () => {
        await send('users.resetSecondFactor', { params: { id: user.id } });
        notify(`${user.name} signs in with the password alone and can set up another device.`);
      }}
    >
      Make sure that it is {user.name} who asks: anyone who knows the password can sign in then. Every session
      of the user ends.
    </Confirm>
  );
}

function UserForm(props: FormOf<User>) {
  const { one } = props;
  const me = useMe();
  const form = useForm({
    initialValues: {
      name: one?.name ?? '',
      displayName: one?.displayName ?? '',
      role: one?.role ?? 'viewer',
      allSites: one?.allSites ?? false,
      siteIds: one?.siteIds ?? [],
      signIn: one?.signIn ?? 'password',
      password: '',
      disabled: one ? one.disabledAt !== null : false,
    },
  });
  const { name, displayName, role, signIn, password, disabled } = form.values;
  const byGroups = one?.signIn === 'oidc' && signIn === 'oidc';
  const rights = byGroups ? {} : { role, ...sitesOf(form.values) };
  const secret = signIn === 'oidc' ? one?.signIn !== 'oidc' && { signIn } : password && { password };
  return (
    <EditDialog
      kind="users"
      of={props}
      form={form}
      create={() => ({ name, displayName, role, ...sitesOf(form.values), ...secret })}
      update={() => ({ displayName, ...rights, disabled, ...secret })}
      size={520}
    >
      <Pair>
        <TextInput
          label="Name"
          description="To sign in with"
          required
          disabled={one !== undefined}
          autoComplete="off"
          data-autofocus={one ? undefined : true}
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Display name"
          description="As others see it"
          {...form.getInputProps('displayName')}
        />
      </Pair>
      {/* Another administrator hands one's own account over. */}
      {!(one?.id === me.user.id && one.signIn === 'password') && (
        <SignInField was={one?.signIn} {...form.getInputProps('signIn')} />
      )}
      {byGroups ? (
        <p className="quiet">Role and sites follow from the groups of the provider, at each sign-in.</p>
      ) : (
        <>
          <Select label="Role" data={CHOICES} {...form.getInputProps('role')} />
          <SiteFields all="Sees every site, future ones too" some="Sees" form={form} />
        </>
      )}
      {signIn === 'password' && (
        <PasswordInput
          label={one ? 'New password' : 'Password'}
          description={
            one?.signIn === 'password'
              ? 'Empty: stays as it is. A new one signs the user out everywhere.'
              : 'Eight characters at least; 15 or more are advised'
          }
          autoComplete="new-password"
          required={one?.signIn !== 'password'}
          {...form.getInputProps('password')}
        />
      )}
      {one && (
        <Switch
          label="Disabled: cannot sign in, tokens do not work"
          {...form.getInputProps('disabled', { type: 'checkbox' })}
        />
      )}
    </EditDialog>
  );
}

/** Offered where there is a provider, or an account of one. */
function SignInField({ was, ...field }: { was: User['signIn'] | undefined; value?: string }) {
  const ways = useQuery(apiQuery('session.ways', {}));
  const provider = ways.data?.data.oidc;
  if (!provider && was !== 'oidc') return null;
  const choices = [
    { value: 'password', label: 'a local password' },
    { value: 'oidc', label: provider?.name ?? 'single sign-on' },
  ];
  return (
    <Select
      label="Signs in with"
      description={
        field.value === 'oidc' && was !== 'oidc'
          ? 'Found by the name at the first sign-in; role and sites then follow from the groups there.'
          : undefined
      }
      allowDeselect={false}
      data={choices}
      {...field}
    />
  );
}
