import { Button } from '@mantine/core';
import type { DeliveryDetail } from '@rollcall/shared/api/deliveries';
import { IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../action.ts';
import { ask } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { ProblemView } from '../../components/problem.tsx';
import { type Column, List } from '../../components/rows.tsx';
import { Side } from '../../components/side.tsx';
import { DeliveryStatus } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import classes from './notifications.module.css';

/** One delivery beside the log: its attempts, what was sent, and sending it again. */
export function DeliverySide({ id, onClose }: { id: string; onClose: () => void }) {
  const found = useQuery(ask('deliveries.get', { params: { id } }));
  const resend = useAction('deliveries.resend', {
    failed: 'Not sent again',
    touches: ['subscriptions'],
  });
  if (found.error && !found.data)
    return (
      <Side title="Delivery" onClose={onClose}>
        <ProblemView error={found.error} retry={() => void found.refetch()} />
      </Side>
    );
  if (!found.data) return null;
  const one = found.data.data;
  return (
    <Side
      title={`${one.type === 'test' ? 'A test' : `${one.type.replace('.', ' ')} #${one.caseNumber}`} to ${one.subscription}`}
      onClose={onClose}
      actions={
        one.status !== 'queued' && (
          <Button
            leftSection={<IconSend size={14} aria-hidden />}
            loading={resend.pending}
            onClick={() => void resend.run({ params: { id } })}
          >
            Send it again
          </Button>
        )
      }
    >
      <Facts
        facts={[
          ['Status', <DeliveryStatus key="status" status={one.status} />],
          [
            'Case',
            one.caseId && (
              <Link to="/cases/$id" params={{ id: one.caseId }}>
                #{one.caseNumber}
              </Link>
            ),
          ],
          ['Made', <Time key="made" at={one.createdAt} />],
          ['Finished', one.finishedAt && <Time at={one.finishedAt} />],
          ['Next attempt', one.status === 'queued' && one.nextAttemptAt && <Time at={one.nextAttemptAt} />],
          [
            'Id',
            <span key="id" className="mono">
              {one.id}
            </span>,
          ],
          ['Problem', one.status !== 'delivered' && one.error],
        ]}
      />
      <h3 className={classes.heading}>Attempts</h3>
      {one.log.length > 0 ? (
        <List label="Attempts" items={one.log} columns={ATTEMPTS} rowKey={({ at, ms }) => `${at} ${ms}`} />
      ) : (
        <p className={`quiet ${classes.none}`}>None yet.</p>
      )}
      <h3 className={classes.heading}>What is sent</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to by keyboard, too */}
      <section className={classes.payload} tabIndex={0} aria-label="What is sent">
        <pre>{JSON.stringify(one.payload, null, 2)}</pre>
      </section>
    </Side>
  );
}

const ATTEMPTS: readonly Column<DeliveryDetail['log'][number]>[] = [
  {
    id: 'at',
    title: 'When',
    width: '84px',
    narrow: true,
    value: (one) => one.at,
    cell: (one) => <Time at={one.at} />,
  },
  {
    id: 'answer',
    title: 'Answer',
    width: 'minmax(120px, 1fr)',
    narrow: true,
    value: (one) => one.error || one.status,
    cell: (one) => <span title={one.error || undefined}>{one.error || one.status}</span>,
  },
  { id: 'ms', title: 'Took', width: '64px', numeric: true, narrow: true, value: (one) => `${one.ms} ms` },
];
