import { Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type Collector, LOSSES } from '@rollcall/shared/api/collectors';
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
import { CollectorStatus, Fact, Facts, StatusLabel, Time, TimeFact } from '../../components/show/index.ts';
import { bytes, count, plural } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { useAction, useSend } from '../../use-action.ts';

/** One collector beside the list: how it is, and what an administrator does with it. */
export function CollectorSide({ id, onClose }: { id: string; onClose: () => void }) {
  const collector = useQuery(apiQuery('collectors.get', { params: { id } }));
  const may = useMay('collectors.update');
  return (
    <LoadedSidePanel title="Collector" query={collector} onClose={onClose}>
      {({ data }) => (
        <SidePanel
          title={data.name}
          onClose={onClose}
          actions={may && <Actions collector={data} onDeleted={onClose} />}
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
  const { outbox, watch, engines } = health;
  return (
    <Facts>
      <Fact name="State">
        <CollectorStatus collector={collector} />
      </Fact>
      <Fact name="Why">{collector.statusReason}</Fact>
      <Fact name="Site">{collector.site}</Fact>
      <Fact name="Host">{collector.hostname}</Fact>
      <Fact name="Version">{collector.software}</Fact>
      <TimeFact name="Online since" at={collector.connectedAt} />
      <Fact name="Last seen">
        <Time at={collector.lastSeenAt} />
      </Fact>
      <TimeFact name="Joined" at={collector.createdAt} />
      <Fact name="Jobs">
        {health.capacity === null ? collector.jobs : `${collector.jobs} of ${health.capacity}`}
      </Fact>
      <Fact name="Queue">
        {outbox &&
          (outbox.depth === 0
            ? 'empty: everything is delivered'
            : `${plural(outbox.depth, 'observation')}, ${bytes(outbox.bytes)}`)}
      </Fact>
      <TimeFact name="Oldest queued" at={outbox?.oldest} />
      <Fact name="Dropped">
        {drops.map(([reason, number]) => `${count(number)} (${LOSSES[reason] ?? reason})`).join(', ')}
      </Fact>
      <Fact name="Clock">{`${count(collector.clockOffsetMs)} ms off the server’s`}</Fact>
      <Fact name="Memory">{health.rssBytes !== null && bytes(health.rssBytes)}</Fact>
      <Fact name="Processing delay">
        {health.loopDelayMs !== null && `${health.loopDelayMs.toFixed(1)} ms (event loop)`}
      </Fact>
      <Fact name="Monitors">
        {watch &&
          `${plural(watch.targets, 'device')}: ${count(watch.up)} up, ${count(watch.down)} down${
            watch.refused > 0 ? `, ${count(watch.refused)} refused by its settings` : ''
          }`}
      </Fact>
      <Fact name="Traps">
        {watch &&
          (watch.traps.port === null
            ? `none: ${watch.traps.reason}`
            : `${count(watch.traps.received)} on port ${watch.traps.port}`)}
      </Fact>
      <Fact name="Ping methods">{engines.length > 0 && <Engines engines={engines} />}</Fact>
      <Fact name="Last report">
        <Time at={health.at} fallback="not yet" />
      </Fact>
      <Fact name="Devices">
        <Link to="/devices" search={{ collector: collector.id }}>
          Devices that it saw last
        </Link>
      </Fact>
    </Facts>
  );
}

const Engines = ({ engines }: { engines: Collector['health']['engines'] }) => (
  <Stack gap={2} py={4}>
    {engines.map((engine) => (
      <Group key={engine.name} gap="2px 8px">
        <StatusLabel tone={engine.ok ? 'ok' : 'idle'} icon={engine.ok ? IconCircleCheckFilled : IconCircleX}>
          {engine.name}
        </StatusLabel>
        <span className="quiet">{engine.reason}</span>
      </Group>
    ))}
  </Stack>
);

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
    text: 'The collector makes the key itself. The old one stops working once the new one has been used.',
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

interface AskProps {
  asked: keyof typeof QUESTIONS;
  collector: Collector;
  onClose: () => void;
  onDeleted: () => void;
}

function Ask({ asked, collector, onClose, onDeleted }: AskProps) {
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
