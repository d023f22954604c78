import { Menu, Switch } from '@mantine/core';
import type { Subscription } from '@rollcall/shared/api/deliveries';
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconKey,
  IconMail,
  IconPencil,
  IconSend,
  IconTrash,
  IconWebhook,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAction, useRefresh } from '../../action.ts';
import { askForEdit, call } from '../../api.ts';
import { Confirm } from '../../components/form.tsx';
import { Mark, severityName } from '../../components/mark.tsx';
import { Body } from '../../components/page.tsx';
import { Empty, ProblemView } from '../../components/problem.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { usePages } from '../../components/source.ts';
import { Time } from '../../components/time.tsx';
import { useSiteName } from '../../sites.ts';
import classes from './notifications.module.css';
import type { PartProps } from './part.ts';
import { SecretDialog, SubscriptionForm } from './subscription-form.tsx';

export const NEW = 'new';

const targetOf = (one: Subscription): string => one.url ?? one.addresses.join(', ');
const aboutOf = (one: Subscription): string =>
  one.types.map((type) => type.slice('case.'.length)).join(', ') +
  (one.severity < 5 ? `; ${severityName(one.severity)}${one.severity > 1 ? ' or worse' : ''}` : '');

export function Subscriptions({ search, change }: PartProps) {
  const { sort, edit } = search;
  const siteName = useSiteName();
  const source = usePages('subscriptions.list', { sort });
  const [doomed, setDoomed] = useState<Subscription>();
  const [rotating, setRotating] = useState<Subscription>();
  const [secret, setSecret] = useState<{ name: string; secret: string }>();
  const test = useAction('subscriptions.test', {
    done: 'A test is on its way: the delivery log tells what became of it.',
    failed: 'No test was sent',
    touches: ['deliveries'],
  });
  const columns: Column<Subscription>[] = [
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(130px, 0.9fr)',
      sort: 'name',
      narrow: true,
      value: (one) => one.name,
      cell: (one) => (
        <span className={classes.name}>
          {one.kind === 'webhook' ? (
            <IconWebhook size={15} stroke={1.6} aria-label="webhook" />
          ) : (
            <IconMail size={15} stroke={1.6} aria-label="e-mail" />
          )}
          <span className="cut">{one.name}</span>
        </span>
      ),
    },
    {
      id: 'to',
      title: 'To',
      width: 'minmax(180px, 1.3fr)',
      value: targetOf,
      cell: (one) => <span className="mono">{targetOf(one)}</span>,
    },
    {
      id: 'about',
      title: 'Tells of cases',
      width: 'minmax(170px, 1.1fr)',
      value: aboutOf,
    },
    {
      id: 'sites',
      title: 'Sites',
      width: 'minmax(80px, 0.6fr)',
      value: (one) => (one.allSites ? 'all' : one.siteIds.map(siteName).join(', ')),
    },
    {
      id: 'state',
      title: 'State',
      width: 'minmax(130px, 0.8fr)',
      narrow: true,
      value: (one) => (one.enabled ? 'on' : 'off'),
      cell: (one) => <State subscription={one} />,
    },
    {
      id: 'waiting',
      title: 'Waiting',
      width: '60px',
      numeric: true,
      value: (one) => one.waiting,
    },
    {
      id: 'enabled',
      title: 'On',
      width: '44px',
      narrow: true,
      value: (one) => (one.enabled ? 'on' : 'off'),
      cell: (one) => <Toggle subscription={one} />,
    },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      narrow: true,
      value: () => '',
      cell: (one) => (
        <RowMenu label={`What to do with ${one.name}`}>
          <Menu.Item
            leftSection={<IconSend size={15} />}
            disabled={!one.enabled}
            onClick={() =>
              void test
                .run({ params: { id: one.id } })
                .then(
                  (sent) =>
                    sent && change({ tab: 'deliveries', subscription: one.id, delivery: sent.data.id }),
                )
            }
          >
            Send a test
          </Menu.Item>
          <Menu.Item
            leftSection={one.kind === 'webhook' ? <IconWebhook size={15} /> : <IconMail size={15} />}
            onClick={() => change({ tab: 'deliveries', subscription: one.id })}
          >
            Delivery log
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => change({ edit: one.id })}>
            Change
          </Menu.Item>
          {one.kind === 'webhook' && (
            <Menu.Item leftSection={<IconKey size={15} />} onClick={() => setRotating(one)}>
              New secret
            </Menu.Item>
          )}
          <Menu.Item color="var(--bad)" leftSection={<IconTrash size={15} />} onClick={() => setDoomed(one)}>
            Delete
          </Menu.Item>
        </RowMenu>
      ),
    },
  ];
  const close = () => change({ edit: undefined }, true);
  return (
    <>
      <div className={classes.bar}>
        <p>A case that opens, changes or ends is told to webhooks, signed, and to people by e-mail.</p>
      </div>
      <Body>
        <Rows
          label="Subscriptions"
          source={source}
          columns={columns}
          sort={sort ?? 'name'}
          onSort={(next) => change({ sort: next })}
          onOpen={(one) => change({ edit: one.id })}
          rowKey={(one) => one.id}
          empty={
            <Empty title="Nobody is told yet">
              Subscribe a ticket system by webhook, or the people on call by e-mail.
            </Empty>
          }
        />
      </Body>
      {edit === NEW && <SubscriptionForm onClose={close} onSecret={setSecret} />}
      {edit && edit !== NEW && <EditSubscription id={edit} onClose={close} />}
      {secret && <SecretDialog {...secret} onClose={() => setSecret(undefined)} />}
      {rotating && (
        <Rotate subscription={rotating} onClose={() => setRotating(undefined)} onSecret={setSecret} />
      )}
      {doomed && <DeleteSubscription subscription={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function State({ subscription: one }: { subscription: Subscription }) {
  if (one.disabledReason)
    return (
      <span title={one.disabledReason}>
        <Mark tone="bad" icon={IconCircleXFilled}>
          gave up
        </Mark>
      </span>
    );
  if (!one.enabled)
    return (
      <Mark tone="idle" icon={IconBan}>
        switched off
      </Mark>
    );
  if (one.failingSince !== null)
    return (
      <Mark tone="warn" icon={IconAlertTriangle}>
        failing since <Time at={one.failingSince} />
      </Mark>
    );
  return one.lastDeliveredAt === null ? (
    <Mark tone="idle" icon={IconCircleDashed}>
      nothing sent yet
    </Mark>
  ) : (
    <Mark tone="ok" icon={IconCircleCheckFilled}>
      delivered <Time at={one.lastDeliveredAt} />
    </Mark>
  );
}

function Toggle({ subscription }: { subscription: Subscription }) {
  const update = useAction('subscriptions.update', { failed: 'Not changed' });
  return (
    <Switch
      aria-label={`${subscription.name} is on`}
      checked={subscription.enabled}
      disabled={update.pending}
      onChange={(event) =>
        void update.run({ params: { id: subscription.id }, body: { enabled: event.currentTarget.checked } })
      }
    />
  );
}

function EditSubscription({ id, onClose }: { id: string; onClose: () => void }) {
  const one = useQuery(askForEdit('subscriptions.get', { params: { id } }));
  if (one.error) return <ProblemView error={one.error} retry={() => void one.refetch()} />;
  if (!one.data) return null;
  return <SubscriptionForm subscription={one.data.data} onClose={onClose} />;
}

function Rotate({
  subscription: { id, name },
  onClose,
  onSecret,
}: {
  subscription: Subscription;
  onClose: () => void;
  onSecret: (made: { name: string; secret: string }) => void;
}) {
  return (
    <Confirm
      title={`A new secret for ${name}?`}
      opened
      onClose={onClose}
      confirm="Make a new secret"
      danger={false}
      onConfirm={async () => {
        const { secret } = await call('subscriptions.rotate', { params: { id } });
        if (secret) onSecret({ name, secret });
      }}
    >
      For a day each delivery is signed with the old secret, too: time to change it at the other end.
    </Confirm>
  );
}

function DeleteSubscription({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the subscription ${subscription.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('subscriptions.delete', { params: { id: subscription.id } });
        refresh('subscriptions', 'deliveries');
      }}
    >
      Its delivery log goes with it, and what still waits is not sent.
    </Confirm>
  );
}
