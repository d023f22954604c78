import type { Session } from '@rollcall/shared/api/accounts';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { ActionButton } from '../../components/controls/index.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { Tag } from '../../components/show/index.ts';
import { actionColumn, type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { browserName } from './browser-name.ts';

const COLUMNS: readonly Column<Session>[] = [
  {
    id: 'browser',
    title: 'Browser',
    width: 'minmax(150px, 1.4fr)',
    narrow: true,
    value: (one) => browserName(one.userAgent),
    cell: (one) => (
      <span title={one.userAgent}>
        {one.current && <Tag>this one</Tag>} {browserName(one.userAgent)}
      </span>
    ),
  },
  { id: 'address', title: 'Address', width: 'minmax(110px, 0.8fr)', mono: true, value: (one) => one.address },
  timeColumn({ id: 'created', title: 'Since', at: (one) => one.createdAt }),
  timeColumn({ id: 'seen', title: 'Last used', narrow: true, at: (one) => one.lastSeenAt }),
  timeColumn({ id: 'ends', title: 'Expires', at: (one) => one.expiresAt }),
  actionColumn(
    '76px',
    (one) =>
      !one.current && (
        <ActionButton
          id="sessions.delete"
          request={{ params: { id: one.id } }}
          done="Signed out there"
          failed="Not signed out"
        >
          Sign out
        </ActionButton>
      ),
  ),
];

export function Sessions() {
  const sessions = useQuery(apiQuery('sessions.list', {}));
  return (
    <Loaded query={sessions}>
      {({ data }) => (
        <Panel title="Sessions" note="where you are signed in">
          <ShortTable label="Sessions" items={data} columns={COLUMNS} />
        </Panel>
      )}
    </Loaded>
  );
}
