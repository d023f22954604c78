import { Button } from '@mantine/core';
import type { Token } from '@rollcall/shared/api/accounts';
import { TOKENS_MOST } from '@rollcall/shared/api/accounts';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { ask, call, type Result } from '../../api.ts';
import { CopyField } from '../../components/copy.tsx';
import { ChoiceField, Confirm, Dialog, Form, Pair, TextField } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Empty, ProblemView, say } from '../../components/problem.tsx';
import { type Column, List } from '../../components/rows.tsx';
import { Time, useNow } from '../../components/time.tsx';
import classes from './profile.module.css';

const isLive = (token: Token, nowMs: number): boolean =>
  token.revokedAt === null && (token.expiresAt === null || token.expiresAt * 1000 > nowMs);

/** API tokens: made, shown once, listed, revoked. */
export function Tokens() {
  const tokens = useQuery(ask('tokens.list', {}));
  const now = useNow();
  const [making, setMaking] = useState(false);
  const [doomed, setDoomed] = useState<Token>();
  if (tokens.error && !tokens.data)
    return <ProblemView error={tokens.error} retry={() => void tokens.refetch()} />;
  const items = tokens.data?.data ?? [];
  const live = items.filter((token) => isLive(token, now)).length;
  const columns: Column<Token>[] = [
    { id: 'name', title: 'Name', width: 'minmax(120px, 1.2fr)', narrow: true, value: (one) => one.name },
    {
      id: 'hint',
      title: 'Ends with',
      width: '80px',
      value: (one) => one.hint,
      cell: (one) => <span className="mono">…{one.hint}</span>,
    },
    {
      id: 'created',
      title: 'Created',
      width: '90px',
      value: (one) => one.createdAt,
      cell: (one) => <Time at={one.createdAt} />,
    },
    {
      id: 'used',
      title: 'Last used',
      width: '90px',
      value: (one) => one.lastUsedAt,
      cell: (one) => <Time at={one.lastUsedAt} />,
    },
    {
      id: 'ends',
      title: 'Ends',
      width: '110px',
      narrow: true,
      value: (one) => one.expiresAt,
      cell: (one) =>
        one.revokedAt !== null ? (
          <span className="quiet">
            revoked <Time at={one.revokedAt} />
          </span>
        ) : (
          <Time at={one.expiresAt} />
        ),
    },
    {
      id: 'revoke',
      title: 'Actions',
      untitled: true,
      width: '64px',
      narrow: true,
      value: () => '',
      cell: (one) =>
        one.revokedAt === null && (
          <Button size="compact-xs" variant="subtle" onClick={() => setDoomed(one)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      <div className={classes.intro}>
        <p className="quiet">
          A token lets a program do what you may do, through the <a href="/api/docs">REST API</a>.
        </p>
        <Button
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={live >= TOKENS_MOST}
          onClick={() => setMaking(true)}
        >
          Create a token
        </Button>
      </div>
      <Panel title="API Tokens" note={tokens.data && `${live} of at most ${TOKENS_MOST} in use`}>
        <List
          label="API tokens"
          items={items}
          columns={columns}
          rowKey={(one) => one.id}
          empty={
            tokens.data && (
              <Empty title="No tokens">Create one for a script, a dashboard, another system.</Empty>
            )
          }
        />
      </Panel>
      {making && <NewToken onClose={() => setMaking(false)} />}
      {doomed && <Revoke token={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

const DAY = 86_400;
const LIVES = [
  { value: '0', label: 'never' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
];

function NewToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('0');
  const [made, setMade] = useState<Result<'tokens.create'>>();
  const refresh = useRefresh();
  if (made)
    return (
      <Dialog title={`The token ${made.data.name}`} opened onClose={onClose} size={580}>
        <div className={classes.once}>
          <p>
            Copy it now: it is shown <strong>this once</strong>. Only its fingerprint is kept.
          </p>
          <CopyField text={made.token} label="Token" />
          <CopyField
            label="Use"
            text={`curl -H "Authorization: Bearer $ROLLCALL_TOKEN" ${location.origin}/api/devices`}
          />
          <Button variant="default" onClick={onClose} style={{ alignSelf: 'flex-end' }}>
            I have it
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Create a token" opened onClose={onClose}>
      <Form
        submit="Create"
        ready={name.trim() !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          const expiresAt = days === '0' ? null : Math.floor(Date.now() / 1000) + Number(days) * DAY;
          setMade(await call('tokens.create', { body: { name, expiresAt } }));
          refresh('tokens');
        }}
      >
        <Pair>
          <TextField
            path="name"
            label="Name"
            placeholder="report script"
            required
            value={name}
            onChange={setName}
            data-autofocus
          />
          <ChoiceField path="expiresAt" label="Ends" choices={LIVES} value={days} onChange={setDays} />
        </Pair>
      </Form>
    </Dialog>
  );
}

function Revoke({ token, onClose }: { token: Token; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Revoke the token ${token.name}?`}
      opened
      onClose={onClose}
      confirm="Revoke"
      onConfirm={async () => {
        await call('tokens.delete', { params: { id: token.id } });
        refresh('tokens');
        say(`The token ${token.name} no longer works.`);
      }}
    >
      Programs that use it are refused from now on. This cannot be undone.
    </Confirm>
  );
}
