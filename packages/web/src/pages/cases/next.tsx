import { Button } from '@mantine/core';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import { useMe } from '../../session.tsx';
import { useAction } from '../../use-action.ts';
import classes from './cases.module.css';

/** What is done next with a case, one click each. On a phone within reach of the thumb that holds it. */
export function Next({ one }: { one: CaseDetail }) {
  const { user } = useMe();
  const { run, pending } = useAction('cases.update', {
    failed: 'Not changed',
    touches: ['events', 'devices', 'summary'],
  });
  const change = (body: Parameters<typeof run>[0]['body']) => void run({ params: { id: one.id }, body });
  if (one.status >= CaseStatus.resolved) return null;
  // What comes to a case that somebody works on already is new: it is acknowledged in its turn.
  const unacknowledged =
    one.status === CaseStatus.open || one.events.some(({ status }) => status === EventStatus.open);
  return (
    <div className={classes.next}>
      {unacknowledged ? (
        <Button
          loading={pending}
          // Whom it was assigned to keeps it.
          onClick={() =>
            change({ status: CaseStatus.investigating, ...(one.assigneeId === null && { assignee: 'me' }) })
          }
        >
          Acknowledge
        </Button>
      ) : (
        one.assigneeId !== user.id && (
          <Button loading={pending} onClick={() => change({ assignee: 'me' })}>
            Take over
          </Button>
        )
      )}
      <Button variant="default" loading={pending} onClick={() => change({ status: CaseStatus.resolved })}>
        Resolve
      </Button>
    </div>
  );
}
