import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CaseDetail, Event } from '@rollcall/shared/api/incidents';
import { IconArrowsSplit, IconEye, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { Acknowledge, ActionButton, IconButton } from '../../components/controls/index.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Choices, FormDialog } from '../../components/form/index.ts';
import { Panel } from '../../components/page/index.ts';
import { EventLink, EventStatus, eventText, Severity, Time } from '../../components/show/index.ts';
import { useNarrow } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import { useSend, useSendEach } from '../../use-action.ts';
import classes from './cases.module.css';
import { worstFirst } from './course.ts';

interface Props {
  one: CaseDetail;
  worked: boolean;
}

/** The events of a case: acknowledged, closed, added and split off here. */
export function CaseEvents({ one, worked }: Props) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [dialog, setDialog] = useState<'add' | 'split'>();
  const close = () => setDialog(undefined);
  const there = chosen.filter((id) => one.events.some((event) => event.id === id));
  return (
    <Panel
      title="Events"
      note={one.eventCount > 0 ? `${one.openEventCount} of ${one.eventCount} open` : undefined}
      end={
        worked && (
          <>
            {there.length > 0 && (
              <IconButton
                size="compact-xs"
                icon={IconArrowsSplit}
                disabled={there.length === one.events.length}
                onClick={() => setDialog('split')}
              >
                Split {there.length} off
              </IconButton>
            )}
            <AcknowledgeAll one={one} />
            <IconButton size="compact-xs" icon={IconPlus} onClick={() => setDialog('add')}>
              Add events
            </IconButton>
          </>
        )
      }
    >
      {one.events.length === 0 && (
        <Empty title="No events">This case was opened by hand. Events can be added to it.</Empty>
      )}
      {worstFirst(one.events).map((event) => (
        <EventRow
          key={event.id}
          event={event}
          worked={worked}
          chosen={there.includes(event.id)}
          onChoose={(on) => setChosen(on ? [...there, event.id] : there.filter((id) => id !== event.id))}
        />
      ))}
      {dialog === 'add' && <AddEvents one={one} onClose={close} />}
      {dialog === 'split' && <SplitEvents one={one} ids={there} onClose={close} />}
    </Panel>
  );
}

/** Everything of the case that nobody looks after yet, at once. */
function AcknowledgeAll({ one }: { one: CaseDetail }) {
  const [pending, setPending] = useState(false);
  const sendEach = useSendEach('cases', 'summary', 'devices');
  const open = one.events.filter(({ status }) => status === 0);
  if (open.length < 2) return null;
  const run = async () => {
    setPending(true);
    await sendEach(
      'events.acknowledge',
      open.map(({ id }) => ({ params: { id }, body: { until: 'clear' } })),
      { done: (count) => `${plural(count, 'event')} acknowledged`, failed: 'Not acknowledged' },
    );
    setPending(false);
  };
  return (
    <IconButton size="compact-xs" icon={IconEye} loading={pending} onClick={() => void run()}>
      Acknowledge all {open.length}
    </IconButton>
  );
}

const TOUCHES = ['cases', 'summary', 'devices'];

interface EventRowProps {
  event: Event;
  worked: boolean;
  chosen: boolean;
  onChoose: (on: boolean) => void;
}

function EventRow({ event, worked, chosen, onChoose }: EventRowProps) {
  const narrow = useNarrow();
  return (
    <div className={classes.eventRow}>
      {worked ? (
        <input
          type="checkbox"
          aria-label={`Choose: ${eventText(event)}`}
          checked={chosen}
          onChange={(change) => onChoose(change.target.checked)}
        />
      ) : (
        <span />
      )}
      <Severity code={event.severity} />
      <EventLink id={event.id} className="plain">
        {eventText(event)}
      </EventLink>
      <EventStatus status={event.status} />
      <Time at={event.timestamp} />
      <div>
        {worked && event.status === 0 && <Acknowledge event={event} small={!narrow} />}
        {worked && event.status !== 2 && (
          <ActionButton
            id="events.close"
            request={{ params: { id: event.id } }}
            failed="Not closed"
            touches={TOUCHES}
          >
            Close
          </ActionButton>
        )}
      </div>
    </div>
  );
}

function AddEvents({ one, onClose }: { one: CaseDetail; onClose: () => void }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const send = useSend('events', 'summary');
  const found = useQuery(
    apiQuery('events.list', { query: { site: one.siteId, Status: '0,1', Severity: 4, pageSize: 60 } }),
  );
  return (
    <FormDialog
      title={`Add events to #${one.number}`}
      onClose={onClose}
      size={640}
      submit={chosen.length > 0 ? `Add ${chosen.length}` : 'Add'}
      ready={chosen.length > 0}
      onSubmit={() => send('cases.addEvents', { params: { id: one.id }, body: { eventIds: chosen } })}
    >
      <p className="quiet">
        What is wrong at the same site, newest first. An event that is in another case leaves it.
      </p>
      <Choices
        many
        items={found.data?.data.filter((event) => event.caseId !== one.id)}
        chosen={chosen}
        onChange={setChosen}
        empty="Nothing else is wrong at this site."
      >
        {(event) => (
          <>
            <span className="cut">{eventText(event)}</span>
            {event.caseId && <span className="quiet">in a case</span>}
            <Severity code={event.severity} word={false} />
            <Time at={event.timestamp} />
          </>
        )}
      </Choices>
    </FormDialog>
  );
}

function SplitEvents({ one, ids, onClose }: { one: CaseDetail; ids: string[]; onClose: () => void }) {
  const form = useForm({
    initialValues: { title: one.events.find((event) => event.id === ids[0])?.message ?? one.title },
  });
  const send = useSend('events', 'summary');
  const navigate = useNavigate();
  return (
    <FormDialog
      form={form}
      title={`Split ${plural(ids.length, 'event')} off #${one.number}`}
      onClose={onClose}
      submit="Create case"
      onSubmit={async () => {
        const body = { eventIds: ids, ...form.values };
        const { data } = await send('cases.split', { params: { id: one.id }, body });
        await navigate({ to: '/cases/$id', params: { id: data.id } });
      }}
    >
      <TextInput label="Title of the new case" required data-autofocus {...form.getInputProps('title')} />
    </FormDialog>
  );
}
