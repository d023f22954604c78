import type { JoinToken } from '@rollcall/shared/api/collectors';
import { ActionButton } from '../../components/controls/index.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Body } from '../../components/page/index.ts';
import { CollectorLink, Time, useNow } from '../../components/show/index.ts';
import {
  actionColumn,
  type Column,
  timeColumn,
  usePagedList,
  VirtualTable,
} from '../../components/table/index.ts';

function State({ token }: { token: JoinToken }) {
  const now = useNow();
  if (token.usedAt !== null)
    return (
      <>
        used <Time at={token.usedAt} />
      </>
    );
  return token.expiresAt * 1000 < now ? (
    <span className="quiet">expired</span>
  ) : (
    <>
      open, ends <Time at={token.expiresAt} />
    </>
  );
}

const COLUMNS: readonly Column<JoinToken>[] = [
  { id: 'site', title: 'Site', width: 'minmax(120px, 1fr)', narrow: true },
  {
    id: 'state',
    title: 'State',
    width: 'minmax(140px, 1fr)',
    narrow: true,
    value: (one) => one.usedAt,
    cell: (one) => <State token={one} />,
  },
  {
    id: 'collector',
    title: 'Who joined',
    width: 'minmax(120px, 1fr)',
    value: (one) => one.collectorId,
    cell: (one) => one.collectorId && <CollectorLink id={one.collectorId}>Show the collector</CollectorLink>,
  },
  { id: 'by', title: 'Created by', width: 'minmax(90px, 0.6fr)', value: (one) => one.createdBy },
  timeColumn({ id: 'at', title: 'Created', at: (one) => one.createdAt }),
  actionColumn(
    '80px',
    (one) =>
      one.usedAt === null && (
        <ActionButton
          key={one.id}
          id="joinTokens.delete"
          request={{ params: { id: one.id } }}
          done="Revoked"
          failed="Not revoked"
        >
          Revoke
        </ActionButton>
      ),
  ),
];

export function JoinTokens() {
  const source = usePagedList('joinTokens.list', {});
  return (
    <Body>
      <VirtualTable
        label="Join tokens"
        source={source}
        columns={COLUMNS}
        empty={<Empty title="No join tokens in the last seven days" />}
      />
    </Body>
  );
}
