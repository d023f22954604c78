import { PasswordInput, SegmentedControl, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import {
  KEYED_FORMATS,
  NOTICE_TYPES,
  type NoticeType,
  type Subscription,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '@rollcall/shared/api/deliveries';
import type { Request } from '../../api.ts';
import { ChecksField, SiteFields, sitesOf } from '../../components/form/index.ts';
import type { FormOf } from '../../components/list/index.ts';
import { EditDialog } from '../../components/list/index.ts';
import { SEVERITIES } from '../../components/show/index.ts';
import { splitWords } from '../../search.ts';
import { useMe } from '../../session.tsx';

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

/** A format's name, and where its address comes from. */
const FORMATS: Record<WebhookFormat, readonly [name: string, address: string, example: string]> = {
  rollcall: [
    'Rollcall’s own JSON',
    'Each case is sent there as JSON by POST, signed (Standard Webhooks)',
    'https://tickets.example.net/hooks/rollcall',
  ],
  slack: ['Slack', 'Of an incoming webhook of Slack', 'https://hooks.slack.com/services/…'],
  teams: [
    'Microsoft Teams',
    'Of a workflow “when a Teams webhook request is received”',
    'https://….logic.azure.com/workflows/…',
  ],
  mattermost: ['Mattermost', 'Of an incoming webhook of Mattermost', 'https://chat.example.net/hooks/…'],
  pagerduty: ['PagerDuty', 'Of the Events API v2', 'https://events.pagerduty.com/v2/enqueue'],
  opsgenie: ['Opsgenie', 'Of the Alert API', 'https://api.opsgenie.com/v2/alerts'],
  alertmanager: ['Alertmanager', 'Its API for alerts', 'http://alertmanager.example.net:9093/api/v2/alerts'],
};
const FORMAT_CHOICES = WEBHOOK_FORMATS.map((value) => ({ value, label: FORMATS[value][0] }));

export interface Made {
  name: string;
  secret: string;
}

/** A webhook or people by e-mail; the secret of a new webhook is handed on to be shown, once. */
export function SubscriptionForm({
  onSecret,
  ...props
}: FormOf<Subscription> & { onSecret: (made: Made) => void }) {
  const { user } = useMe();
  const { one } = props;
  const form = useForm({
    initialValues: {
      kind: one?.kind ?? 'webhook',
      name: one?.name ?? '',
      url: one?.url ?? '',
      format: (one?.format ?? 'rollcall') as WebhookFormat,
      key: '',
      allowPrivate: one?.allowPrivate ?? false,
      addresses: one?.addresses.join('\n') ?? '',
      types: (one?.types ?? ['case.opened', 'case.reopened', 'case.resolved']) as string[],
      severity: String(one?.severity ?? 5),
      allSites: one?.allSites ?? user.allSites,
      siteIds: one?.siteIds ?? [],
    },
  });
  const { kind, name, url, format, key, allowPrivate, types, allSites, siteIds } = form.values;
  const keyed = KEYED_FORMATS.includes(format);
  const hasKey = one?.format === format;
  const body = () => ({
    name,
    types: types as NoticeType[],
    severity: Number(form.values.severity),
    ...sitesOf(form.values),
    ...(kind === 'webhook'
      ? { url, format, ...(keyed && key !== '' && { key }), allowPrivate }
      : { addresses: splitWords(form.values.addresses) }),
  });
  return (
    <EditDialog
      kind="subscriptions"
      of={props}
      form={form}
      create={() => ({ kind, ...body() }) as Request<'subscriptions.create'>['body']}
      update={body}
      onMade={({ secret }) => secret && onSecret({ name, secret })}
      ready={types.length > 0 && (allSites || siteIds.length > 0)}
      size={560}
    >
      {!one && (
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'webhook', label: 'Webhook' },
            { value: 'email', label: 'E-mail' },
          ]}
          {...form.getInputProps('kind')}
        />
      )}
      <TextInput
        label="Name"
        placeholder={kind === 'webhook' ? 'Ticket system' : 'On call'}
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      {kind === 'webhook' ? (
        <>
          <Select
            label="Format"
            data={FORMAT_CHOICES}
            allowDeselect={false}
            {...form.getInputProps('format')}
          />
          <TextInput
            label="Address"
            description={FORMATS[format][1]}
            placeholder={FORMATS[format][2]}
            required
            {...form.getInputProps('url')}
          />
          {keyed && (
            <PasswordInput
              label={format === 'pagerduty' ? 'Integration key' : 'API key'}
              description="Kept sealed, never shown again"
              placeholder={hasKey ? 'unchanged' : ''}
              required={!hasKey}
              autoComplete="off"
              {...form.getInputProps('key')}
            />
          )}
          {(user.allSites || allowPrivate) && (
            <Switch
              label="It may be a private address (10.x, 192.168.x, this host)"
              {...form.getInputProps('allowPrivate', { type: 'checkbox' })}
            />
          )}
        </>
      ) : (
        <Textarea
          label="Addresses"
          description="One a line; sent through the mail server of the third tab"
          placeholder="noc@example.net"
          required
          {...form.getInputProps('addresses')}
        />
      )}
      <ChecksField label="When a case" choices={TYPE_CHOICES} {...form.getInputProps('types')} />
      <Select label="Severity" data={SEVERITY_CHOICES} {...form.getInputProps('severity')} />
      <SiteFields all="Of all sites, future ones too" some="Of" form={form} disabled={!user.allSites} />
    </EditDialog>
  );
}
