import { Button, Group, MultiSelect, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { TOKENS_MOST, type Token } from '@rollcall/shared/api/tokens';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, type Result } from '../../api.ts';
import { useSiteChoices, useSiteName } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Empty, Loaded, notify } from '../../components/feedback/index.ts';
import { Confirm, Dialog, Form, Pair, SecretDialog } from '../../components/form/index.ts';
import { Panel } from '../../components/page/index.ts';
import { CopyField, Time, useNow } from '../../components/show/index.ts';
import { actionColumn, type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { splitWords } from '../../search.ts';
import { useSend } from '../../use-action.ts';

const isLive = (token: Token, nowMs: number): boolean =>
  token.revokedAt === null && (token.expiresAt === null || token.expiresAt * 1000 > nowMs);

/** API tokens: made, shown once, listed, revoked. */
export function Tokens() {
  const tokens = useQuery(apiQuery('tokens.list', {}));
  return <Loaded query={tokens}>{({ data }) => <TokenList items={data} />}</Loaded>;
}

function TokenList({ items }: { items: readonly Token[] }) {
  const now = useNow();
  const siteName = useSiteName();
  const [making, setMaking] = useState(false);
  const [deleting, setDeleting] = useState<Token>();
  const live = items.filter((token) => isLive(token, now)).length;
  const columns: Column<Token>[] = [
    { id: 'name', title: 'Name', width: 'minmax(120px, 1.2fr)', narrow: true },
    { id: 'hint', title: 'Last four', width: '80px', mono: true, value: (one) => `…${one.hint}` },
    timeColumn({ id: 'created', title: 'Created', at: (one) => one.createdAt }),
    timeColumn({ id: 'used', title: 'Last used', at: (one) => one.lastUsedAt }),
    timeColumn({
      id: 'ends',
      title: 'Expires',
      width: '110px',
      narrow: true,
      at: (one) => one.expiresAt,
      cell: (one) =>
        one.revokedAt !== null ? (
          <span className="quiet">
            revoked <Time at={one.revokedAt} />
          </span>
        ) : (
          <Time at={one.expiresAt} />
        ),
    }),
    {
      id: 'networks',
      title: 'Allowed from',
      width: 'minmax(90px, 0.8fr)',
      mono: true,
      value: ({ networks }) => (networks.length === 0 ? 'anywhere' : networks.join('  ')),
    },
    {
      id: 'limits',
      title: 'Limited to',
      width: 'minmax(90px, 0.8fr)',
      value: ({ readOnly, siteIds }) =>
        [...(readOnly ? ['reading'] : []), ...siteIds.map(siteName)].join(', '),
    },
    actionColumn(
      '64px',
      (one) =>
        one.revokedAt === null && (
          <Button size="compact-xs" variant="subtle" onClick={() => setDeleting(one)}>
            Revoke
          </Button>
        ),
    ),
  ];
  return (
    <>
      <Group justify="space-between">
        <p className="quiet">
          A token lets a program do what you may do, through the <a href="/api/docs">REST API</a>.
        </p>
        <IconButton
          variant="filled"
          icon={IconPlus}
          disabled={live >= TOKENS_MOST}
          onClick={() => setMaking(true)}
        >
          Create a token
        </IconButton>
      </Group>
      <Panel title="API tokens" note={`${live} of at most ${TOKENS_MOST} in use`}>
        <ShortTable
          label="API tokens"
          items={items}
          columns={columns}
          empty={<Empty title="No tokens">Create one for a script, a dashboard, another system.</Empty>}
        />
      </Panel>
      {making && <NewToken onClose={() => setMaking(false)} />}
      {deleting && <Revoke token={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

const DAY = 86_400;
const LIVES = [
  { value: '0', label: 'never' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year (default)' },
];

function NewToken({ onClose }: { onClose: () => void }) {
  const form = useForm({
    initialValues: {
      ...{ name: '', days: '365', networks: '' },
      ...{ siteIds: [] as string[], readOnly: false },
    },
  });
  const sites = useSiteChoices();
  const [made, setMade] = useState<Result<'tokens.create'>>();
  const send = useSend();
  if (made)
    return (
      <SecretDialog
        title={`The token ${made.data.name}`}
        label="Token"
        secret={made.token}
        note="The server keeps only a hash of it."
        onClose={onClose}
      >
        <CopyField
          label="Use"
          text={`curl -H "Authorization: Bearer $ROLLCALL_TOKEN" ${location.origin}/api/devices`}
        />
      </SecretDialog>
    );
  const create = async () => {
    const { name, days, siteIds, readOnly } = form.values;
    const expiresAt = days === '0' ? null : Math.floor(Date.now() / 1000) + Number(days) * DAY;
    const networks = splitWords(form.values.networks);
    setMade(await send('tokens.create', { body: { name, expiresAt, networks, siteIds, readOnly } }));
  };
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <Form
        form={form}
        submit="Create"
        ready={form.values.name.trim() !== ''}
        onCancel={onClose}
        onSubmit={create}
      >
        <Pair>
          <TextInput
            label="Name"
            placeholder="report script"
            required
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Select
            label="Expires"
            allowDeselect={false}
            data={LIVES}
            {...form.getInputProps('days')}
            error={form.errors.expiresAt}
          />
        </Pair>
        <Switch
          label="Read only"
          description="It reads what a viewer may, and changes nothing"
          {...form.getInputProps('readOnly', { type: 'checkbox' })}
        />
        <MultiSelect
          label="Sites"
          description="None: all sites that you see"
          data={sites}
          searchable
          clearable
          {...form.getInputProps('siteIds')}
        />
        <Textarea
          label="Allowed networks"
          description="Addresses and CIDRs of the programs that use it, as this server sees them; empty: from anywhere"
          placeholder="192.0.2.0/24"
          autosize
          minRows={1}
          {...form.getInputProps('networks')}
        />
      </Form>
    </Dialog>
  );
}

function Revoke({ token, onClose }: { token: Token; onClose: () => void }) {
  const send = useSend();
  return (
    <Confirm
      title={`Revoke the token ${token.name}?`}
      onClose={onClose}
      confirm="Revoke"
      onConfirm={async () => {
        await send('tokens.delete', { params: { id: token.id } });
        notify(`The token ${token.name} no longer works.`);
      }}
    >
      Programs that use it are refused from now on. This cannot be undone.
    </Confirm>
  );
}
