import type { Case } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteName } from '../../choices.ts';
import { ProblemView } from '../../components/feedback/index.ts';
import {
  CASE_STATUSES,
  CaseLink,
  CaseStatus,
  Priority,
  Severity,
  Tags,
  Time,
} from '../../components/show/index.ts';
import { useMay } from '../../session.tsx';
import { useAction } from '../../use-action.ts';
import classes from './cases.module.css';
import { reachable } from './transitions.ts';

type Filters = Record<string, string | undefined>;

/** Newest of each status on the board; the list has the rest. */
const SHOWN = 50;
/** What belongs into a lane, told where it is empty; by status. */
const MEANINGS = [
  'A case opens by itself when events of one problem belong together. “New case” opens one by hand, and so does “Create case” on any event.',
  'Somebody is working on these. Drag a card here, or choose the status on the case’s page.',
  'Fixed, and monitored for a while. When its events come back, the case goes back to investigating.',
  'Done. Closed cases stay here to be found again.',
];
const DRAGGED = 'application/x-rollcall-case';

/** Cases by status; a card is moved by dragging it, or by the status on the case's own page. */
export function Board({ filters }: { filters: Filters }) {
  const [dragged, setDragged] = useState<Case>();
  return (
    <div className={classes.board}>
      {CASE_STATUSES.map((name, status) => (
        <BoardColumn
          key={name}
          name={name}
          status={status}
          filters={filters}
          dragged={dragged}
          onDrag={setDragged}
        />
      ))}
    </div>
  );
}

interface BoardColumnProps {
  name: string;
  status: number;
  filters: Filters;
  dragged: Case | undefined;
  onDrag: (one: Case | undefined) => void;
}

function BoardColumn({ name, status, filters, dragged, onDrag }: BoardColumnProps) {
  const query = { ...filters, status: String(status), pageSize: SHOWN };
  const cases = useQuery({ ...apiQuery('cases.list', { query }), placeholderData: (previous) => previous });
  const move = useAction('cases.update', {
    done: ({ data }) => `#${data.number} is ${CASE_STATUSES[data.status]}`,
    failed: 'Not moved',
    touches: ['events', 'devices', 'summary'],
  });
  const takes = dragged !== undefined && reachable(dragged.status).includes(status);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (dragged && takes) void move.run({ params: { id: dragged.id }, body: { status } });
    onDrag(undefined);
  };
  const items = cases.data?.data ?? [];
  const total = cases.data?.totalCount ?? 0;
  return (
    <section
      className={classes.lane}
      aria-label={`Cases ${name}`}
      data-takes={takes || undefined}
      onDragOver={(event) => takes && event.preventDefault()}
      onDrop={drop}
    >
      <header className={classes.laneHead}>
        <h2>
          <CaseStatus status={status} />
        </h2>
        <span className="quiet">{total.toLocaleString('en')}</span>
      </header>
      {total === 0 && cases.data && !Object.values(filters).some(Boolean) && (
        <p className={classes.meaning}>{MEANINGS[status]}</p>
      )}
      <ul className={classes.cards} aria-label={`Cards: ${name}`}>
        {items.map((one) => (
          <li key={one.id}>
            <Card one={one} onDrag={onDrag} />
          </li>
        ))}
        {total > items.length && (
          <li className={classes.rest}>
            <Link to="/cases" search={{ ...filters, view: 'list', status: String(status) }}>
              {(total - items.length).toLocaleString('en')} more in the list
            </Link>
          </li>
        )}
      </ul>
      {cases.error && !cases.data && <ProblemView error={cases.error} retry={() => void cases.refetch()} />}
    </section>
  );
}

function Card({ one, onDrag }: { one: Case; onDrag: (one: Case | undefined) => void }) {
  const may = useMay('cases.update');
  const siteName = useSiteName();
  return (
    <article
      className={classes.card}
      draggable={may && reachable(one.status).length > 0}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData(DRAGGED, one.id);
        onDrag(one);
      }}
      onDragEnd={() => onDrag(undefined)}
    >
      <div className={classes.cardTop}>
        <Severity code={one.severity} />
        <span className="mono quiet">#{one.number}</span>
        <Priority code={one.priority} word={false} />
      </div>
      <CaseLink id={one.id} draggable={false} className={classes.cardTitle ?? ''}>
        {one.title}
      </CaseLink>
      {one.tags.length > 0 && <Tags tags={one.tags} />}
      <div className={classes.cardFoot}>
        <span className="cut">
          {one.assignee ?? 'Unassigned'} · {siteName(one.siteId)}
          {one.eventCount > 0 && ` · ${one.openEventCount} of ${one.eventCount} open`}
        </span>
        <Time at={one.updatedAt} />
      </div>
    </article>
  );
}
