import type { DeadLetter, Gap } from '@rollcall/shared/api/collectors';
import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api.ts';
import { Panel } from '../../components/page.tsx';
import { Empty, ProblemView } from '../../components/problem.tsx';
import { type Column, List } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format.ts';
import classes from './collectors.module.css';

const SHOWN = 200;

const origin = [
  { id: 'at', title: 'When', width: '94px', narrow: true },
  { id: 'collector', title: 'Collector', width: 'minmax(100px, 0.5fr)', narrow: true },
  { id: 'site', title: 'Site', width: 'minmax(90px, 0.4fr)' },
] as const;

const GAPS: readonly Column<Gap>[] = [
  { ...origin[0], value: (one) => one.at, cell: (one) => <Time at={one.at} /> },
  { ...origin[1], value: (one) => one.collector ?? 'deleted since' },
  { ...origin[2], value: (one) => one.site },
  {
    id: 'count',
    title: 'Observations',
    width: '88px',
    numeric: true,
    narrow: true,
    value: (one) => count(one.count),
  },
  { id: 'reason', title: 'Dropped by', width: 'minmax(90px, 0.6fr)', value: (one) => one.reason },
  {
    id: 'span',
    title: 'Numbers',
    width: 'minmax(140px, 1fr)',
    value: (one) => `${one.stream} ${one.fromSeq}–${one.toSeq}`,
    cell: (one) => <span className="mono">{`${one.stream} ${one.fromSeq}–${one.toSeq}`}</span>,
  },
];
const LETTERS: readonly Column<DeadLetter>[] = [
  { ...origin[0], value: (one) => one.at, cell: (one) => <Time at={one.at} /> },
  { ...origin[1], value: (one) => one.collector ?? 'deleted since' },
  { ...origin[2], value: (one) => one.site },
  { id: 'reason', title: 'Why', width: 'minmax(160px, 1fr)', narrow: true, value: (one) => one.reason },
  {
    id: 'body',
    title: 'As it came',
    width: 'minmax(160px, 1.4fr)',
    value: (one) => one.body,
    cell: (one) => (
      <span className="mono" title={one.body}>
        {one.body}
      </span>
    ),
  },
];

/** Observations that never reached the inventory, and why: nothing is lost in silence. */
export function Losses({ site }: { site: string | undefined }) {
  const gaps = useQuery(ask('gaps.list', { query: { site, pageSize: SHOWN } }));
  const letters = useQuery(ask('deadLetters.list', { query: { site, pageSize: SHOWN } }));
  const error = gaps.error ?? letters.error;
  if (error && !(gaps.data && letters.data))
    return (
      <ProblemView
        error={error}
        retry={() => {
          void gaps.refetch();
          void letters.refetch();
        }}
      />
    );
  if (!gaps.data || !letters.data) return null;
  return (
    <div className={classes.stack}>
      <Panel title="Dropped on the way" note={noteOf(gaps.data.totalCount)}>
        <List
          label="Dropped on the way"
          items={gaps.data.data}
          columns={GAPS}
          rowKey={(one) => `${one.epoch} ${one.stream} ${one.fromSeq}`}
          empty={<Empty title="Nothing was dropped">Every observation of every collector arrived.</Empty>}
        />
      </Panel>
      <Panel title="Could not be stored" note={noteOf(letters.data.totalCount)}>
        <List
          label="Could not be stored"
          items={letters.data.data}
          columns={LETTERS}
          rowKey={(one) => `${one.epoch} ${one.stream} ${one.seq}`}
          empty={<Empty title="Everything that arrived was stored" />}
        />
      </Panel>
    </div>
  );
}

const noteOf = (total: number): string | undefined =>
  total > SHOWN ? `the newest ${SHOWN} of ${count(total)}` : undefined;
