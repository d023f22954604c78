import type { DeliveryDetail } from '@rollcall/shared/api/deliveries';
import { IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { IconButton } from '../../components/controls/index.ts';
import { LoadedSidePanel, Scroller, SidePanel } from '../../components/page/index.ts';
import { CaseLink, DeliveryStatus, Fact, Facts, TimeFact } from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { useAction } from '../../use-action.ts';
import classes from './notifications.module.css';

/** One delivery beside the log: its attempts, what was sent, and sending it again. */
export function DeliverySide({ id, onClose }: { id: string; onClose: () => void }) {
  const found = useQuery(apiQuery('deliveries.get', { params: { id } }));
  return (
    <LoadedSidePanel title="Delivery" query={found} onClose={onClose}>
      {({ data }) => <Delivery one={data} onClose={onClose} />}
    </LoadedSidePanel>
  );
}

function Delivery({ one, onClose }: { one: DeliveryDetail; onClose: () => void }) {
  const resend = useAction('deliveries.resend', { failed: 'Not sent again', touches: ['subscriptions'] });
  return (
    <SidePanel
      title={`${one.type === 'test' ? 'A test' : `${one.type.replace('.', ' ')} #${one.caseNumber}`} to ${one.subscription}`}
      onClose={onClose}
      actions={
        one.status !== 'queued' && (
          <IconButton
            variant="filled"
            icon={IconSend}
            loading={resend.pending}
            onClick={() => void resend.run({ params: { id: one.id } })}
          >
            Send it again
          </IconButton>
        )
      }
    >
      <Facts>
        <Fact name="Status">
          <DeliveryStatus status={one.status} />
        </Fact>
        <Fact name="Case">{one.caseId && <CaseLink id={one.caseId}>#{one.caseNumber}</CaseLink>}</Fact>
        <TimeFact name="Created" at={one.createdAt} />
        <TimeFact name="Finished" at={one.finishedAt} />
        <TimeFact name="Next attempt" at={one.status === 'queued' ? one.nextAttemptAt : null} />
        <Fact name="Id">
          <span className="mono">{one.id}</span>
        </Fact>
        <Fact name="Problem">{one.status !== 'delivered' && one.error}</Fact>
      </Facts>
      <h3 className={classes.heading}>Attempts</h3>
      {one.log.length > 0 ? (
        <ShortTable
          label="Attempts"
          items={one.log}
          columns={ATTEMPTS}
          rowKey={({ at, ms }) => `${at} ${ms}`}
        />
      ) : (
        <p className="none">None yet.</p>
      )}
      {one.recipients.length > 0 && (
        <>
          <h3 className={classes.heading}>Addresses</h3>
          <ShortTable
            label="Addresses"
            items={one.recipients}
            columns={RECIPIENTS}
            rowKey={({ address }) => address}
          />
        </>
      )}
      <h3 className={classes.heading}>What is sent</h3>
      <Scroller className={classes.payload} label="What is sent">
        <pre>{JSON.stringify(one.payload, null, 2)}</pre>
      </Scroller>
    </SidePanel>
  );
}

const RECIPIENTS: readonly Column<DeliveryDetail['recipients'][number]>[] = [
  { id: 'address', title: 'Address', width: 'minmax(120px, 1fr)', narrow: true, wrap: true },
  {
    id: 'state',
    title: 'Result',
    width: 'minmax(120px, 1fr)',
    narrow: true,
    wrap: true,
    value: (one) => [one.state, one.said].filter(Boolean).join(': '),
  },
];
const ATTEMPTS: readonly Column<DeliveryDetail['log'][number]>[] = [
  timeColumn({ id: 'at', title: 'When', width: '84px', narrow: true, at: (one) => one.at }),
  {
    id: 'answer',
    title: 'Answer',
    width: 'minmax(120px, 1fr)',
    narrow: true,
    wrap: true,
    value: (one) => one.error || one.status,
  },
  { id: 'ms', title: 'Duration', width: '64px', numeric: true, narrow: true, value: (one) => `${one.ms} ms` },
];
