import { Button, Menu } from '@mantine/core';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { IconArrowMerge, IconDots, IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction } from '../../action.ts';
import { ask, call } from '../../api.ts';
import { FormDialog, LinesField, TextField } from '../../components/form.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { ProblemView } from '../../components/problem.tsx';
import { CASE_STATUSES, CaseStatus } from '../../components/status.tsx';
import { useMay } from '../../session.tsx';
import { Activity } from './activity.tsx';
import { CaseEvents } from './case-events.tsx';
import classes from './cases.module.css';
import { MergeCase } from './merge-case.tsx';
import { Properties } from './properties.tsx';
import { reachable } from './transitions.ts';

const route = getRouteApi('/cases/$id');
const UP = { to: '/cases', label: 'Cases' };

export function CasePage() {
  const { id } = route.useParams();
  const one = useQuery(ask('cases.get', { params: { id } }));
  if (one.data) return <CaseView one={one.data.data} />;
  if (!one.error) return <Page title="Case">{null}</Page>;
  return (
    <Page title="Case" up={UP}>
      <ProblemView error={one.error} retry={() => void one.refetch()} />
    </Page>
  );
}

/** One case, worked to its end: status, people, words, events, and what was done. */
function CaseView({ one }: { one: CaseDetail }) {
  const worked = useMay('operator') && one.status !== 3;
  const [dialog, setDialog] = useState<'text' | 'merge'>();
  const close = () => setDialog(undefined);
  return (
    <Page
      title={`#${one.number} ${one.title}`}
      heading={
        <>
          <span className="quiet mono">#{one.number}</span> {one.title}
        </>
      }
      up={UP}
      actions={
        worked && (
          <>
            <Button
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              onClick={() => setDialog('text')}
            >
              Edit
            </Button>
            <Menu>
              <Menu.Target>
                <Button variant="default" leftSection={<IconDots size={14} aria-hidden />}>
                  More
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<IconArrowMerge size={15} />} onClick={() => setDialog('merge')}>
                  Merge another case into this one
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
    >
      <Steps one={one} worked={worked} />
      <div className={classes.grid}>
        <div className={classes.column}>
          {one.description && (
            <Panel title="Description">
              <p className={classes.prose}>{one.description}</p>
            </Panel>
          )}
          <CaseEvents one={one} worked={worked} />
          <Activity one={one} worked={worked} />
        </div>
        <Properties one={one} worked={worked} />
      </div>
      {dialog === 'text' && <EditText one={one} onClose={close} />}
      {dialog === 'merge' && <MergeCase one={one} onClose={close} />}
    </Page>
  );
}

/** The way of a case; what can be reached from here can be clicked. */
function Steps({ one, worked }: { one: CaseDetail; worked: boolean }) {
  const move = useAction('cases.update', { failed: 'The status was not changed', touches: ['summary'] });
  const possible = worked ? reachable(one.status) : [];
  return (
    <nav className={classes.steps} aria-label="Status">
      {CASE_STATUSES.map((name, status) => (
        <button
          key={name}
          type="button"
          className={classes.step}
          aria-current={status === one.status ? 'step' : undefined}
          disabled={!possible.includes(status) || move.pending}
          onClick={() => void move.run({ params: { id: one.id }, body: { status } })}
        >
          {status === one.status ? <CaseStatus status={status} /> : name}
        </button>
      ))}
    </nav>
  );
}

function EditText({ one, onClose }: { one: CaseDetail; onClose: () => void }) {
  const [title, setTitle] = useState(one.title);
  const [description, setDescription] = useState(one.description);
  return (
    <FormDialog
      title={`Case #${one.number}`}
      opened
      onClose={onClose}
      submit="Save"
      size={560}
      onSubmit={() => call('cases.update', { params: { id: one.id }, body: { title, description } })}
    >
      <TextField path="title" label="Title" required value={title} onChange={setTitle} data-autofocus />
      <LinesField
        path="description"
        label="Description"
        minRows={4}
        value={description}
        onChange={setDescription}
      />
    </FormDialog>
  );
}
