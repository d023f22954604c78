import { SegmentedControl, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { NOTICE_TYPES, type NoticeType } from '@rollcall/shared/api/notices';
import type { Subscription } from '@rollcall/shared/api/subscriptions';
import type { SubscriptionKind } from '@rollcall/shared/model';
import type { Request } from '../../api.ts';
import { ChecksField, SiteFields, sitesOf } from '../../components/form/index.ts';
import type { FormOf } from '../../components/list/index.ts';
import { EditDialog } from '../../components/list/index.ts';
import { SEVERITIES } from '../../components/show/index.ts';
import { splitWords } from '../../search.ts';
import { useMe } from '../../session.tsx';
import { ChoiceFields, choiceBody, choiceValues } from './choice-fields.tsx';
import { PreviewOf } from './preview.tsx';
import { SyslogFields, syslogBody, syslogValues } from './syslog-fields.tsx';
import { WebhookFields, webhookBody, webhookValues } from './webhook-fields.tsx';

const TYPES: Record<NoticeType, string> = {
  'case.opened': 'opens',
  'case.changed': 'changes',
  'case.reopened': 'opens again',
  'case.resolved': 'is resolved',
};
const TYPE_CHOICES = NOTICE_TYPES.map((value) => ({ value, label: TYPES[value] }));
const SEVERITY_CHOICES = SEVERITIES.map(({ code, name }) => ({
  value: String(code),
  label: code === 5 ? 'any' : code === 1 ? name : `${name} or worse`,
}));

const NAMES: Record<SubscriptionKind, string> = {
  webhook: 'Ticket system',
  email: 'On call',
  syslog: 'Log server',
};
type Values = Parameters<typeof webhookBody>[0] & Parameters<typeof syslogBody>[0] & { addresses: string };
/** Where to, as a request says it. */
const BODY: Record<SubscriptionKind, (values: Values) => object> = {
  webhook: webhookBody,
  email: ({ addresses }) => ({ addresses: splitWords(addresses) }),
  syslog: syslogBody,
};

export interface Made {
  name: string;
  secret: string;
}

/** A webhook, people by e-mail or a log server; the secret of a new webhook is handed on to be shown, once. */
export function SubscriptionForm({
  onSecret,
  ...props
}: FormOf<Subscription> & { onSecret: (made: Made) => void }) {
  const { user } = useMe();
  const { one } = props;
  const form = useForm({
    initialValues: {
      kind: (one?.kind ?? 'webhook') as SubscriptionKind,
      name: one?.name ?? '',
      ...webhookValues(one),
      ...syslogValues(one),
      acknowledge: one?.acknowledge ?? true,
      addresses: one?.addresses.join('\n') ?? '',
      types: (one?.types ?? ['case.opened', 'case.reopened', 'case.resolved']) as string[],
      severity: String(one?.severity ?? 5),
      allSites: one?.allSites ?? user.allSites,
      siteIds: one?.siteIds ?? [],
      ...choiceValues(one),
    },
  });
  const { kind, name, types, allSites, siteIds } = form.values;
  const body = () => ({
    name,
    types: types as NoticeType[],
    severity: Number(form.values.severity),
    ...choiceBody(form.values),
    ...sitesOf(form.values),
    ...BODY[kind](form.values),
    ...(kind !== 'syslog' && { acknowledge: form.values.acknowledge }),
  });
  const draft = () => ({ kind, ...body() }) as Request<'subscriptions.create'>['body'];
  return (
    <EditDialog
      kind="subscriptions"
      of={props}
      form={form}
      create={draft}
      update={body}
      onMade={({ secret }) => secret && onSecret({ name, secret })}
      ready={
        types.length > 0 &&
        (!form.values.hasHours || form.values.hours.days.length > 0) &&
        (allSites || siteIds.length > 0)
      }
      size={560}
    >
      {!one && (
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'webhook', label: 'Webhook' },
            { value: 'email', label: 'E-mail' },
            { value: 'syslog', label: 'Syslog' },
          ]}
          {...form.getInputProps('kind')}
        />
      )}
      <TextInput
        label="Name"
        placeholder={NAMES[kind]}
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      {kind === 'webhook' ? (
        <WebhookFields form={form} values={form.values} one={one} />
      ) : kind === 'syslog' ? (
        <SyslogFields form={form} values={form.values} />
      ) : (
        <Textarea
          label="Addresses"
          description="One per line; sent through the server of the tab Mail server"
          placeholder="noc@example.net"
          required
          {...form.getInputProps('addresses')}
        />
      )}
      {kind !== 'syslog' && (
        <Switch
          label="Include a link that acknowledges the case without signing in"
          {...form.getInputProps('acknowledge', { type: 'checkbox' })}
        />
      )}
      <ChecksField label="Notify when a case" choices={TYPE_CHOICES} {...form.getInputProps('types')} />
      <Select label="Severity" data={SEVERITY_CHOICES} {...form.getInputProps('severity')} />
      <SiteFields all="All sites, future ones too" some="Sites" form={form} disabled={!user.allSites} />
      <ChoiceFields form={form} />
      <PreviewOf form={form} body={() => ({ ...draft(), name: name || 'a draft' })} />
    </EditDialog>
  );
}
