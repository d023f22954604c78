import { Button } from '@mantine/core';
import type { Session } from '@rollcall/shared/api/accounts';
import { useQuery } from '@tanstack/react-query';
import { useAction } from '../../action.ts';
import { ask } from '../../api.ts';
import { Tag } from '../../components/mark.tsx';
import { Panel } from '../../components/page.tsx';
import { ProblemView } from '../../components/problem.tsx';
import { type Column, List } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Windows', 'Windows'],
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux`; what is not a browser, as it names itself. */
export function browserName(userAgent: string): string {
  const named = (list: readonly (readonly [string, string])[]) =>
    list.find(([sign]) => userAgent.includes(sign))?.[1];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  if (!browser) return userAgent || 'unknown';
  return system ? `${browser} on ${system}` : browser;
}

function End({ session }: { session: Session }) {
  const end = useAction('sessions.delete', { done: 'Signed out there', failed: 'Not signed out' });
  if (session.current) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      loading={end.pending}
      onClick={() => void end.run({ params: { id: session.id } })}
    >
      Sign out
    </Button>
  );
}

const COLUMNS: readonly Column<Session>[] = [
  {
    id: 'browser',
    title: 'Where',
    width: 'minmax(150px, 1.4fr)',
    narrow: true,
    value: (one) => browserName(one.userAgent),
    cell: (one) => (
      <span title={one.userAgent}>
        {browserName(one.userAgent)} {one.current && <Tag>this one</Tag>}
      </span>
    ),
  },
  {
    id: 'address',
    title: 'Address',
    width: 'minmax(110px, 0.8fr)',
    value: (one) => one.address,
    cell: (one) => <span className="mono">{one.address}</span>,
  },
  {
    id: 'created',
    title: 'Since',
    width: '90px',
    value: (one) => one.createdAt,
    cell: (one) => <Time at={one.createdAt} />,
  },
  {
    id: 'seen',
    title: 'Last used',
    width: '90px',
    narrow: true,
    value: (one) => one.lastSeenAt,
    cell: (one) => <Time at={one.lastSeenAt} />,
  },
  {
    id: 'ends',
    title: 'Ends',
    width: '90px',
    value: (one) => one.expiresAt,
    cell: (one) => <Time at={one.expiresAt} />,
  },
  {
    id: 'end',
    title: 'Actions',
    untitled: true,
    width: '76px',
    narrow: true,
    value: () => '',
    cell: (one) => <End session={one} />,
  },
];

export function Sessions() {
  const sessions = useQuery(ask('sessions.list', {}));
  if (sessions.error && !sessions.data)
    return <ProblemView error={sessions.error} retry={() => void sessions.refetch()} />;
  return (
    <Panel title="Sessions" note="where you are signed in">
      <List label="Sessions" items={sessions.data?.data ?? []} columns={COLUMNS} rowKey={(one) => one.id} />
    </Panel>
  );
}
