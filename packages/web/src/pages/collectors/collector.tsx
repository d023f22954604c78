import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Collector } from '@rollcall/shared/api/collectors';
import {
  IconBan,
  IconCircleCheckFilled,
  IconCircleX,
  IconKey,
  IconLockOpen,
  IconPencil,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { IconButton, MoreMenu } from '../../components/controls/index.ts';
import { notify } from '../../components/feedback/index.ts';
import { Confirm, FormDialog } from '../../components/form/index.ts';
import { LoadedSidePanel, SidePanel } from '../../components/page/index.ts';
import { CollectorStatus, Facts, StatusLabel, Time } from '../../components/show/index.ts';
import { bytes, count, plural } from '../../format.ts';
import { useHasRole } from '../../session.tsx';
import { useAction, useSend } from '../../use-action.ts';
import classes from './collectors.module.css';

/** One collector beside the list: how it is, and what an administrator does with it. */
export function CollectorSide({ id, onClose }: { id: string; onClose: () => void }) {
  const collector = useQuery(apiQuery('collectors.get', { params: { id } }));
  const admin = useHasRole('admin');
  return (
    <LoadedSidePanel title="Collector" query={collector} onClose={onClose}>
      {({ data }) => (
        <SidePanel
          title={data.name}
          onClose={onClose}
          actions={admin && <Actions collector={data} onDeleted={onClose} />}
        >
          <CollectorFacts collector={data} />
        </SidePanel>
      )}
    </LoadedSidePanel>
  );
}

function CollectorFacts({ collector }: { collector: Collector }) {
  const { health } = collector;
  const drops = Object.entries(health.drops).filter(([, number]) => number > 0);
  return (
    <Facts
      facts={[
        ['State', <CollectorStatus key="state" collector={collector} />],
        ['Why', collector.statusReason],
        ['Site', collector.site],
        ['Host', collector.hostname],
        ['Version', collector.software],
        ['Online since', collector.connectedAt && <Time at={collector.connectedAt} />],
        ['Last seen', <Time key="seen" at={collector.lastSeenAt} />],
        ['Joined', <Time key="joined" at={collector.createdAt} />],
        ['Jobs', health.capacity === null ? collector.jobs : `${collector.jobs} of ${health.capacity}`],
        [
          'Outbox',
          health.outbox &&
            (health.outbox.depth === 0
              ? 'empty: everything is delivered'
              : `${plural(health.outbox.depth, 'observation waits', 'observations wait')}, ${bytes(health.outbox.bytes)}`),
        ],
        ['Oldest in it', health.outbox?.oldest && <Time at={health.outbox.oldest} />],
        [
          'Dropped',
          drops.length > 0 && drops.map(([reason, number]) => `${count(number)} by ${reason}`).join(', '),
        ],
        ['Clock', `${count(collector.clockOffsetMs)} ms from the server’s`],
        ['Memory', health.rssBytes === null ? null : bytes(health.rssBytes)],
        ['Loop delay', health.loopDelayMs === null ? null : `${health.loopDelayMs.toFixed(1)} ms`],
        [
          'Watches',
          health.watch &&
            `${count(health.watch.targets)} devices: ${count(health.watch.up)} up, ${count(health.watch.down)} down${
              health.watch.refused > 0 ? `, ${count(health.watch.refused)} refused by its settings` : ''
            }`,
        ],
        [
          'Traps',
          health.watch &&
            (health.watch.traps.port === null
              ? `none: ${health.watch.traps.reason}`
              : `${count(health.watch.traps.received)} on port ${health.watch.traps.port}`),
        ],
        [
          'Ways to ping',
          health.engines.length > 0 && (
            <span key="engines" className={classes.engines}>
              {health.engines.map((engine) => (
                <span key={engine.name} className={classes.engine}>
                  <StatusLabel
                    tone={engine.ok ? 'ok' : 'idle'}
                    icon={engine.ok ? IconCircleCheckFilled : IconCircleX}
                  >
                    {engine.name}
                  </StatusLabel>
                  <span className="quiet">{engine.reason}</span>
                </span>
              ))}
            </span>
          ),
        ],
        ['Said so', <Time key="at" at={health.at} fallback="not yet" />],
        [
          'Devices',
          <Link key="devices" to="/devices" search={{ collector: collector.id }}>
            Those it saw last
          </Link>,
        ],
      ]}
    />
  );
}

type Asked = 'rename' | keyof typeof QUESTIONS;

function Actions({ collector, onDeleted }: { collector: Collector; onDeleted: () => void }) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const revoked = collector.status === 'revoked';
  return (
    <>
      {collector.status === 'quarantined' && (
        <IconButton variant="filled" icon={IconLockOpen} onClick={() => setAsked('release')}>
          Release
        </IconButton>
      )}
      {!revoked && (
        <IconButton
          icon={IconKey}
          disabled={!collector.online}
          title={collector.online ? undefined : 'It must be online: it makes the key itself'}
          onClick={() => setAsked('rotate')}
        >
          New key
        </IconButton>
      )}
      {revoked ? (
        <IconButton icon={IconTrash} onClick={() => setAsked('delete')}>
          Delete
        </IconButton>
      ) : (
        <IconButton icon={IconBan} onClick={() => setAsked('revoke')}>
          Revoke
        </IconButton>
      )}
      <MoreMenu actions={[{ label: 'Rename', icon: IconPencil, run: () => setAsked('rename') }]} />
      {asked === 'rename' ? (
        <Rename collector={collector} onClose={close} />
      ) : (
        asked && <Ask asked={asked} collector={collector} onClose={close} onDeleted={onDeleted} />
      )}
    </>
  );
}

const QUESTIONS = {
  rotate: {
    title: 'Give it a new key?',
    confirm: 'New key',
    text: 'The collector makes the key itself. The old one dies when the new one was used.',
    done: 'It is making a new key.',
    danger: false,
  },
  revoke: {
    title: 'Revoke the collector?',
    confirm: 'Revoke',
    text: 'Its link is closed within a second and never opened again. Its jobs go to other collectors of the site; what it has not delivered stays on its host. The host may join again with a new token.',
    done: 'Revoked.',
    danger: true,
  },
  release: {
    title: 'Release it from quarantine?',
    confirm: 'Release',
    text: 'Its key was used from two places. Stop the wrong one first: the next holder that connects is taken for the right one.',
    done: 'Released.',
    danger: true,
  },
  delete: {
    title: 'Delete the collector?',
    confirm: 'Delete',
    text: 'What it found stays.',
    done: 'Deleted.',
    danger: true,
  },
} as const;

function Ask({
  asked,
  collector,
  onClose,
  onDeleted,
}: {
  asked: keyof typeof QUESTIONS;
  collector: Collector;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const send = useSend('summary');
  const remove = useAction('collectors.delete', { failed: 'Not deleted', touches: ['summary'] });
  const { title, confirm, text, done, danger } = QUESTIONS[asked];
  const params = { id: collector.id };
  return (
    <Confirm
      title={title}
      onClose={onClose}
      confirm={confirm}
      danger={danger}
      onConfirm={async () => {
        if (asked === 'delete') {
          // Away first: what is shown beside the list would ask about something that is gone.
          onDeleted();
          if (!(await remove.run({ params }))) return;
        } else await send(`collectors.${asked}`, { params });
        notify(`${collector.name}: ${done}`);
      }}
    >
      <p>{text}</p>
    </Confirm>
  );
}

function Rename({ collector, onClose }: { collector: Collector; onClose: () => void }) {
  const form = useForm({ initialValues: { name: collector.name } });
  const send = useSend();
  return (
    <FormDialog
      form={form}
      title="Rename the collector"
      onClose={onClose}
      submit="Rename"
      onSubmit={() => send('collectors.update', { params: { id: collector.id }, body: form.values })}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
    </FormDialog>
  );
}
