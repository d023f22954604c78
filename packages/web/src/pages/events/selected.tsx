import type { Event } from '@rollcall/shared/api/incidents';
import { IconBriefcase, IconCheck, IconEye } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api.ts';
import { IconButton } from '../../components/controls/index.ts';
import { notifyProblem } from '../../components/feedback/index.ts';
import { type ListQuery, SelectionBar, type useSelection } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import { useSendEach } from '../../use-action.ts';
import { NewCase } from '../cases/new-case.tsx';

interface SelectedEventsProps {
  selection: ReturnType<typeof useSelection<Event>>;
  query: ListQuery<'events.list'>;
  total: number | undefined;
}

/** What operators do with the events that they selected; those that are that far already are left out. */
export function SelectedEvents({ selection, query, total }: SelectedEventsProps) {
  const [naming, setNaming] = useState(false);
  const [pending, setPending] = useState(false);
  const sendEach = useSendEach('summary', 'cases', 'devices');
  const { items, clear, replace } = selection;
  const open = items.filter(({ status }) => status === 0);
  const live = items.filter(({ status }) => status !== 2);
  const site = new Set(live.map(({ siteId }) => siteId));
  const run = async (work: () => Promise<void>) => {
    setPending(true);
    await work();
    setPending(false);
    clear();
  };
  const acknowledge = () =>
    sendEach(
      'events.acknowledge',
      open.map(({ id }) => ({ params: { id }, body: { until: 'clear' } })),
      { done: (count) => `${plural(count, 'event')} acknowledged`, failed: 'Not acknowledged' },
    );
  const close = () =>
    sendEach(
      'events.close',
      live.map(({ id }) => ({ params: { id } })),
      { done: (count) => `${plural(count, 'event')} closed`, failed: 'Not closed' },
    );
  const all = () =>
    call('events.list', { query: { ...query, page: 1, pageSize: total } })
      .then(({ data }) => replace(data))
      .catch((error) => notifyProblem('Not selected', error));
  const button = { size: 'compact-sm', loading: pending } as const;
  return (
    <SelectionBar selection={selection} noun="event" total={total} onAll={() => void all()}>
      <IconButton
        {...button}
        icon={IconEye}
        disabled={open.length === 0}
        onClick={() => void run(acknowledge)}
      >
        Acknowledge {open.length}
      </IconButton>
      <IconButton {...button} icon={IconCheck} disabled={live.length === 0} onClick={() => void run(close)}>
        Close {live.length}
      </IconButton>
      <IconButton
        {...button}
        icon={IconBriefcase}
        disabled={site.size !== 1}
        title={site.size > 1 ? 'The selected events are of several sites' : undefined}
        onClick={() => setNaming(true)}
      >
        Create case
      </IconButton>
      {naming && <NewCase onClose={() => setNaming(false)} events={live} />}
    </SelectionBar>
  );
}
