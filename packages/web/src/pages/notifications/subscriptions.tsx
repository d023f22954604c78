import type { Subscription } from '@rollcall/shared/api/subscriptions';
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconFileText,
  IconKey,
  IconLinkOff,
  IconMail,
  IconSend,
  IconWebhook,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useSiteName } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Confirm, SecretDialog } from '../../components/form/index.ts';
import { Collection } from '../../components/list/index.ts';
import { StatusLabel, severityName, Time } from '../../components/show/index.ts';
import { type Column, enabledColumn, usePagedList } from '../../components/table/index.ts';
import type { UrlState } from '../../url-state.ts';
import { useAction, useSend } from '../../use-action.ts';
import { hoursInWords } from './choice-fields.tsx';
import { type Made, SubscriptionForm } from './subscription-form.tsx';

const KINDS = {
  webhook: { icon: IconWebhook, label: 'webhook' },
  email: { icon: IconMail, label: 'e-mail' },
  syslog: { icon: IconFileText, label: 'syslog' },
} as const;
const KindIcon = ({ kind }: Pick<Subscription, 'kind'>) => {
  const { icon: Icon, label } = KINDS[kind];
  return <Icon size={15} stroke={1.6} color="var(--ink-2)" aria-label={label} />;
};

const targetOf = (one: Subscription): string => one.url ?? one.addresses.join(', ');
const aboutOf = (one: Subscription): string =>
  one.types.map((type) => type.slice('case.'.length)).join(', ') +
  (one.severity < 5 ? `; ${severityName(one.severity)}${one.severity > 1 ? ' or worse' : ''}` : '') +
  (one.tags.length > 0 ? `; with ${one.tags.join(' or ')}` : '') +
  (one.fields.length > 0 ? `; with ${one.fields.join(' or ')}` : '') +
  (one.classes.length > 0 ? `; ${one.classes.join(' or ')}` : '') +
  (one.eventKinds.length > 0 ? `; ${one.eventKinds.join(' or ')}` : '') +
  (one.hours ? `; ${hoursInWords(one.hours)}` : '');

const columnsOf = (siteName: (id: string) => string): Column<Subscription>[] => [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(130px, 0.9fr)',
    sort: 'name',
    narrow: true,
    cell: (one) => (
      <span className="iconed">
        <KindIcon kind={one.kind} />
        <span className="cut">{one.name}</span>
      </span>
    ),
  },
  { id: 'to', title: 'To', width: 'minmax(180px, 1.3fr)', mono: true, value: targetOf },
  { id: 'about', title: 'Notifies of', width: 'minmax(170px, 1.1fr)', value: aboutOf },
  {
    id: 'sites',
    title: 'Sites',
    width: 'minmax(80px, 0.6fr)',
    value: (one) => (one.allSites ? 'all' : one.siteIds.map(siteName).join(', ')),
  },
  {
    id: 'state',
    title: 'State',
    width: 'minmax(180px, 0.8fr)',
    narrow: true,
    value: (one) => (one.enabled ? 'on' : 'off'),
    cell: (one) => <State subscription={one} />,
  },
  { id: 'waiting', title: 'Queued', width: '60px', numeric: true },
  enabledColumn('subscriptions.update', true),
];

export function Subscriptions({ search, change }: UrlState<'/notifications'>) {
  const siteName = useSiteName();
  const source = usePagedList('subscriptions.list', { sort: search.sort });
  const [rotating, setRotating] = useState<Subscription>();
  const [revoking, setRevoking] = useState<Subscription>();
  const [secret, setSecret] = useState<Made>();
  const test = useAction('subscriptions.test', {
    done: 'A test is being sent: its result is in the delivery log.',
    failed: 'No test was sent',
    touches: ['deliveries'],
  });
  const send = useSend();
  const sendTest = async ({ id }: Subscription) => {
    const sent = await test.run({ params: { id } });
    if (sent) change({ tab: 'deliveries', subscription: id, delivery: sent.data.id });
  };
  return (
    <>
      <div className="strip">
        <p>
          Cases that open, change or end are sent to webhooks, chats, pagers and log servers, and to people by
          e-mail.
        </p>
      </div>
      <Collection
        kind="subscriptions"
        label="Subscriptions"
        source={source}
        columns={columnsOf(siteName)}
        order="name"
        search={search}
        change={change}
        may
        actions={(one) => [
          { label: 'Send a test', icon: IconSend, run: () => void sendTest(one), disabled: !one.enabled },
          {
            label: 'Delivery log',
            icon: KINDS[one.kind].icon,
            run: () => change({ tab: 'deliveries', subscription: one.id }),
          },
          ...(one.kind === 'webhook'
            ? [{ label: 'New secret', icon: IconKey, run: () => setRotating(one) }]
            : []),
          ...(one.acknowledge
            ? [{ label: 'Revoke acknowledgement links', icon: IconLinkOff, run: () => setRevoking(one) }]
            : []),
        ]}
        form={(props) => <SubscriptionForm {...props} onSecret={setSecret} />}
        lost={() => 'Its delivery log goes with it, and what still waits is not sent.'}
        empty={
          <Empty title="No subscriptions yet">
            Subscribe a ticket system by webhook, or the people on call by e-mail.
          </Empty>
        }
      />
      {secret && (
        <SecretDialog
          title={`The secret of ${secret.name}`}
          label="Secret"
          secret={secret.secret}
          note="The receiver checks signatures with it, by any library for Standard Webhooks."
          onClose={() => setSecret(undefined)}
        />
      )}
      {revoking && (
        <Confirm
          title={`Revoke the links of ${revoking.name}?`}
          confirm="Revoke the links"
          onClose={() => setRevoking(undefined)}
          onConfirm={() => send('subscriptions.revokeLinks', { params: { id: revoking.id } })}
        >
          Links that were sent so far no longer acknowledge cases. Later notices have new links.
        </Confirm>
      )}
      {rotating && (
        <Confirm
          title={`A new secret for ${rotating.name}?`}
          confirm="Create a new secret"
          danger={false}
          onClose={() => setRotating(undefined)}
          onConfirm={async () => {
            const { secret } = await send('subscriptions.rotate', { params: { id: rotating.id } });
            if (secret) setSecret({ name: rotating.name, secret });
          }}
        >
          For one day deliveries are signed with both secrets: time to change it at the receiver.
        </Confirm>
      )}
    </>
  );
}

function State({ subscription: one }: { subscription: Subscription }) {
  if (one.disabledReason)
    return (
      <span title={one.disabledReason}>
        <StatusLabel tone="bad" icon={IconCircleXFilled}>
          disabled after failures
        </StatusLabel>
      </span>
    );
  if (!one.enabled)
    return (
      <StatusLabel tone="idle" icon={IconBan}>
        switched off
      </StatusLabel>
    );
  if (one.failingSince !== null)
    return (
      <StatusLabel tone="warn" icon={IconAlertTriangle}>
        failing since <Time at={one.failingSince} />
      </StatusLabel>
    );
  return one.lastDeliveredAt === null ? (
    <StatusLabel tone="idle" icon={IconCircleDashed}>
      nothing sent yet
    </StatusLabel>
  ) : (
    <StatusLabel tone="ok" icon={IconCircleCheckFilled}>
      delivered <Time at={one.lastDeliveredAt} />
    </StatusLabel>
  );
}
