import { ActionIcon, Button, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import {
  CHANNEL_FORMATS,
  HEADERS_MOST,
  KEYED_FORMATS,
  type Subscription,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '@rollcall/shared/api/subscriptions';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { FieldGroup, MONO } from '../../components/form/index.ts';
import { useMe } from '../../session.tsx';
import classes from './notifications.module.css';

const hasChannel = (format: WebhookFormat): boolean => CHANNEL_FORMATS.some((each) => each === format);

/** A format's name, and where its address comes from. */
const FORMATS: Record<WebhookFormat, readonly [name: string, address: string, example: string]> = {
  rollcall: [
    'Rollcall’s own JSON',
    'Each case is sent there as JSON by POST, signed (Standard Webhooks)',
    'https://tickets.example.net/hooks/rollcall',
  ],
  template: [
    'A template',
    'Each case is sent there by POST as the template says, signed (Standard Webhooks)',
    'https://tickets.example.net/hooks/rollcall',
  ],
  slack: [
    'Slack, a message each',
    'The URL of a Slack incoming webhook',
    'https://hooks.slack.com/services/…',
  ],
  'slack-bot': [
    'Slack, a thread for each case',
    'The URL of the Slack API; the bot needs the scope chat:write and is a member of the channel',
    'https://slack.com/api',
  ],
  teams: [
    'Microsoft Teams',
    'The URL of a workflow “when a Teams webhook request is received”',
    'https://….logic.azure.com/workflows/…',
  ],
  mattermost: [
    'Mattermost, a message each',
    'The URL of a Mattermost incoming webhook',
    'https://chat.example.net/hooks/…',
  ],
  'mattermost-bot': [
    'Mattermost, a thread for each case',
    'The URL of the Mattermost server; the bot is a member of the channel',
    'https://chat.example.net',
  ],
  pagerduty: ['PagerDuty', 'The URL of the Events API v2', 'https://events.pagerduty.com/v2/enqueue'],
  opsgenie: ['Opsgenie', 'The URL of the Alert API', 'https://api.opsgenie.com/v2/alerts'],
  alertmanager: [
    'Alertmanager',
    'The URL of its alerts API',
    'http://alertmanager.example.net:9093/api/v2/alerts',
  ],
};
const FORMAT_CHOICES = WEBHOOK_FORMATS.map((value) => ({ value, label: FORMATS[value][0] }));
const KEYS: Partial<Record<WebhookFormat, string>> = {
  'slack-bot': 'Bot token',
  'mattermost-bot': 'Access token',
  pagerduty: 'Integration key',
  opsgenie: 'API key',
};
const TEMPLATE = '{"text": {{ summary | json }}, "link": {{ data.url | json }}}';

interface Header {
  name: string;
  value: string;
  secret: boolean;
  /** It has a value that is not shown. */
  kept: boolean;
}
export interface WebhookValues {
  url: string;
  format: WebhookFormat;
  key: string;
  template: string;
  channel: string;
  headers: Header[];
  allowPrivate: boolean;
}

export const webhookValues = (one: Subscription | undefined): WebhookValues => ({
  url: one?.url ?? '',
  format: one?.format ?? 'rollcall',
  key: '',
  template: one?.template ?? '',
  channel: one?.channel ?? '',
  headers: (one?.headers ?? []).map(({ name, value, secret }) => ({
    ...{ name, secret, value: value ?? '' },
    kept: value === null,
  })),
  allowPrivate: one?.allowPrivate ?? false,
});

/** As a request says it: what is secret and was not written anew is left out, and stays. */
export const webhookBody = ({
  url,
  format,
  key,
  template,
  channel,
  headers,
  allowPrivate,
}: WebhookValues) => ({
  ...{ url, format, allowPrivate },
  ...(KEYED_FORMATS.includes(format) && key !== '' && { key }),
  ...(format === 'template' && { template }),
  ...(hasChannel(format) && { channel }),
  headers: headers.map(({ name, value, secret, kept }) => ({
    ...{ name, secret },
    ...(!(kept && value === '') && { value }),
  })),
});

interface WebhookFieldsProps {
  // biome-ignore lint/suspicious/noExplicitAny: the whole form has more values than these
  form: UseFormReturnType<any>;
  values: WebhookValues;
  one: Subscription | undefined;
}

export function WebhookFields({ form, values, one }: WebhookFieldsProps) {
  const { user } = useMe();
  const { format, allowPrivate } = values;
  const key = KEYS[format];
  const hasKey = one?.format === format;
  return (
    <>
      <Select label="Format" data={FORMAT_CHOICES} allowDeselect={false} {...form.getInputProps('format')} />
      <TextInput
        label="URL"
        description={FORMATS[format][1]}
        placeholder={FORMATS[format][2]}
        required
        {...form.getInputProps('url')}
      />
      {key && (
        <PasswordInput
          label={key}
          description="Stored encrypted, never shown again"
          placeholder={hasKey ? 'unchanged' : ''}
          required={!hasKey}
          autoComplete="off"
          {...form.getInputProps('key')}
        />
      )}
      {hasChannel(format) && (
        <TextInput
          label="Channel"
          description="The id of the channel: a chat shows it in the channel’s details"
          placeholder={format === 'slack-bot' ? 'C0123456789' : '4xp9fdt77pncbef59f4k1qe83o'}
          required
          {...form.getInputProps('channel')}
        />
      )}
      {format === 'template' && (
        <Textarea
          label="Template"
          description="The body in Liquid; “| json” writes a text with its quotes"
          placeholder={TEMPLATE}
          required
          autosize
          minRows={3}
          maxRows={12}
          styles={MONO}
          {...form.getInputProps('template')}
        />
      )}
      <HeaderFields form={form} headers={values.headers} />
      {(user.allSites || allowPrivate) && (
        <Switch
          label="Allow a private address (10.x, 192.168.x, this host)"
          {...form.getInputProps('allowPrivate', { type: 'checkbox' })}
        />
      )}
    </>
  );
}

function HeaderFields({ form, headers }: Pick<WebhookFieldsProps, 'form'> & { headers: readonly Header[] }) {
  const add = (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconPlus size={14} />}
      disabled={headers.length >= HEADERS_MOST}
      style={{ alignSelf: 'flex-start' }}
      onClick={() => form.insertListItem('headers', { name: '', value: '', secret: false, kept: false })}
    >
      Add a header
    </Button>
  );
  if (headers.length === 0) return add;
  return (
    <FieldGroup label="Custom headers">
      {headers.map(({ secret, kept }, at) => {
        const place = `headers.${at}`;
        const of = `of header ${at + 1}`;
        const Value = secret ? PasswordInput : TextInput;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a header has nothing else that stays while it is written
          <div key={at} className={classes.header}>
            <TextInput
              aria-label={`Name ${of}`}
              placeholder="X-Tenant"
              {...form.getInputProps(`${place}.name`)}
            />
            <Value
              aria-label={`Value ${of}`}
              placeholder={kept ? 'unchanged' : 'value'}
              autoComplete="off"
              {...form.getInputProps(`${place}.value`)}
            />
            <Switch
              label="secret"
              aria-label={`Value ${of} is secret`}
              {...form.getInputProps(`${place}.secret`, { type: 'checkbox' })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove header ${at + 1}`}
              onClick={() => form.removeListItem('headers', at)}
            >
              <IconTrash size={15} />
            </ActionIcon>
          </div>
        );
      })}
      {add}
    </FieldGroup>
  );
}
