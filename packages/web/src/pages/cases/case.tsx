import { Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { IconArrowMerge, IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { apiQuery } from '../../api.ts';
import { IconButton, MoreMenu } from '../../components/controls/index.ts';
import { FormDialog } from '../../components/form/index.ts';
import { LoadedPage, Page, Panel } from '../../components/page/index.ts';
import { CASE_STATUSES, CaseStatus, Prose } from '../../components/show/index.ts';
import { useMay } from '../../session.tsx';
import { useAction, useSend } from '../../use-action.ts';
import { Activity } from './activity.tsx';
import { CaseEvents } from './case-events.tsx';
import classes from './cases.module.css';
import { LikelyChanges } from './likely-changes.tsx';
import { MergeCase } from './merge-case.tsx';
import { Next } from './next.tsx';
import { Properties } from './properties.tsx';
import { SimilarCases } from './similar.tsx';
import { reachable } from './transitions.ts';

/** With the charts, which are loaded where they are drawn. */
const Around = lazy(() => import('./around.tsx').then((module) => ({ default: module.Around })));

const route = getRouteApi('/cases/$id');
const UP = { to: '/cases', label: 'Cases' };

export function CasePage() {
  const { id } = route.useParams();
  const one = useQuery(apiQuery('cases.get', { params: { id } }));
  return (
    <LoadedPage title="Case" up={UP} query={one}>
      {({ data }) => <CaseView one={data} />}
    </LoadedPage>
  );
}

/** One case, worked to its end: status, people, words, events, and what was done. */
function CaseView({ one }: { one: CaseDetail }) {
  const worked = useMay('cases.update') && one.status !== 3;
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
            <Next one={one} />
            <IconButton icon={IconPencil} onClick={() => setDialog('text')}>
              Edit
            </IconButton>
            <MoreMenu
              actions={[
                {
                  label: 'Merge another case into this one',
                  icon: IconArrowMerge,
                  run: () => setDialog('merge'),
                },
              ]}
            />
          </>
        )
      }
    >
      <Steps one={one} worked={worked} />
      <div className={`columns ${classes.grid}`} data-worked={worked || undefined}>
        <div className="stack">
          {one.description && (
            <Panel title="Description">
              <div className={classes.prose}>
                <Prose text={one.description} />
              </div>
            </Panel>
          )}
          <CaseEvents one={one} worked={worked} />
          <LikelyChanges one={one} />
          <Activity one={one} worked={worked} />
        </div>
        <div className="stack">
          <Properties one={one} worked={worked} />
          <SimilarCases one={one} />
          <Suspense>
            <Around one={one} />
          </Suspense>
        </div>
      </div>
      {dialog === 'text' && <EditText one={one} onClose={close} />}
      {dialog === 'merge' && <MergeCase one={one} onClose={close} />}
    </Page>
  );
}

/** The way of a case; what can be reached from here can be clicked. */
function Steps({ one, worked }: { one: CaseDetail; worked: boolean }) {
  const move = useAction('cases.update', {
    failed: 'The status was not changed',
    touches: ['events', 'devices', 'summary'],
  });
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
  const form = useForm({ initialValues: { title: one.title, description: one.description } });
  const send = useSend();
  return (
    <FormDialog
      form={form}
      title={`Case #${one.number}`}
      onClose={onClose}
      size={560}
      onSubmit={() => send('cases.update', { params: { id: one.id }, body: form.values })}
    >
      <TextInput label="Title" required data-autofocus {...form.getInputProps('title')} />
      <Textarea label="Description" minRows={4} {...form.getInputProps('description')} />
    </FormDialog>
  );
}
