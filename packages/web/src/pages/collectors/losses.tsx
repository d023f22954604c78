import { type DeadLetter, type Gap, LOSSES } from '@rollcall/shared/api/collectors';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { count } from '../../format.ts';

const SHOWN = 200;

/** Where and when something was lost. */
const originOf = <T extends { at: number; collector: string | null; site: string | null }>(): Column<T>[] => [
  timeColumn({ id: 'at', title: 'When', narrow: true, at: (one) => one.at }),
  {
    id: 'collector',
    title: 'Collector',
    width: 'minmax(100px, 0.5fr)',
    narrow: true,
    value: (one) => one.collector ?? 'deleted since',
  },
  { id: 'site', title: 'Site', width: 'minmax(90px, 0.4fr)', value: (one) => one.site },
];
const GAPS: readonly Column<Gap>[] = [
  ...originOf<Gap>(),
  {
    id: 'count',
    title: 'Observations',
    width: '88px',
    numeric: true,
    narrow: true,
    value: (one) => count(one.count),
  },
  {
    id: 'reason',
    title: 'Reason',
    width: 'minmax(130px, 0.8fr)',
    value: ({ reason }) => LOSSES[reason] ?? reason,
  },
  {
    id: 'span',
    title: 'Sequence numbers',
    width: 'minmax(140px, 1fr)',
    mono: true,
    value: (one) => `${one.stream} ${one.fromSeq}–${one.toSeq}`,
  },
];
const LETTERS: readonly Column<DeadLetter>[] = [
  ...originOf<DeadLetter>(),
  { id: 'reason', title: 'Why', width: 'minmax(160px, 1fr)', narrow: true },
  {
    id: 'body',
    title: 'Content',
    width: 'minmax(160px, 1.4fr)',
    mono: true,
    cell: (one) => <span title={one.body}>{one.body}</span>,
  },
];

/** Observations that never reached the inventory, and why: nothing is lost in silence. */
export function Losses({ site }: { site: string | undefined }) {
  const gaps = useQuery(apiQuery('gaps.list', { query: { site, pageSize: SHOWN } }));
  const letters = useQuery(apiQuery('deadLetters.list', { query: { site, pageSize: SHOWN } }));
  return (
    <div className="stack">
      <Loaded query={gaps}>
        {({ data, totalCount }) => (
          <Panel title="Dropped on the way" note={noteOf(totalCount)}>
            <ShortTable
              label="Dropped on the way"
              items={data}
              columns={GAPS}
              rowKey={(one) => `${one.epoch} ${one.stream} ${one.fromSeq}`}
              empty={<Empty title="Nothing was dropped">No data was lost: every observation arrived.</Empty>}
            />
          </Panel>
        )}
      </Loaded>
      <Loaded query={letters}>
        {({ data, totalCount }) => (
          <Panel title="Could not be stored" note={noteOf(totalCount)}>
            <ShortTable
              label="Could not be stored"
              items={data}
              columns={LETTERS}
              rowKey={(one) => `${one.epoch} ${one.stream} ${one.seq}`}
              empty={<Empty title="Everything that arrived was stored" />}
            />
          </Panel>
        )}
      </Loaded>
    </div>
  );
}

const noteOf = (total: number): string | undefined =>
  total > SHOWN ? `the newest ${SHOWN} of ${count(total)}` : undefined;
