/** Who is told about cases, and how. */
import { z } from 'zod';
import { deviceClass, SUBSCRIPTION_KINDS } from '../model.ts';
import { fieldFilter, TAGS_MOST, tag } from './annotations.ts';
import { NOTICE_TYPES, noticeType } from './notices.ts';
import { id, line, unixSeconds } from './operation.ts';

const time = unixSeconds;
const maybeTime = unixSeconds.nullable();

const subscriptionName = line(100).meta({ example: 'Ticket system' });
const url = z.string().trim().max(2000).meta({
  description: 'http or https, without user name and password; redirects are not followed.',
  example: 'https://tickets.example.net/hooks/rollcall',
});
/** The grammar is the mail server's business; this keeps out what would be another header or another address. */
export const mailAddress = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}]+$/u, 'must be an e-mail address')
  .meta({ description: 'An e-mail address without a name.', example: 'noc@example.net' });
const addresses = z.array(mailAddress).min(1).max(50);
const types = z.array(noticeType).min(1).max(NOTICE_TYPES.length);
const siteIds = z.array(z.uuid().toLowerCase()).max(1000);
/** One is enough: of a list of tags, each stands for a group of devices that somebody cares for. */
const tags = z
  .array(tag)
  .max(TAGS_MOST)
  .meta({
    description:
      'Only cases with an event of a device or interface that has one of these tags, whatever its case; empty: all cases. A subscription that was told of a case is told its end, also when the tag was removed.',
    example: ['core'],
  });
const fields = z
  .array(fieldFilter)
  .max(TAGS_MOST)
  .meta({
    description:
      'Only cases with an event of a device or interface that has one of these values of custom fields; empty: all. As with `tags`, an end is told also when the value changed.',
    example: ['Customer:Example Ltd'],
  });
const classes = z
  .array(deviceClass)
  .max(20)
  .meta({
    description: 'Only cases with an event of a device of one of these classes; empty: all.',
    example: ['router'],
  });
export const EVENT_KINDS_MOST = 100;
const eventKinds = z
  .array(z.string().trim().min(1).max(60))
  .max(EVENT_KINDS_MOST)
  .meta({
    description:
      'Only cases with an event of one of these kinds; empty: all. With `tags`, `fields` and `classes` it is one event that fits all.',
    example: ['device.down'],
  });
const timeOfDay = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time, HH:MM');
const hours = z
  .strictObject({
    timezone: z.string().min(1).max(100).meta({
      description: 'Name of the IANA time zone database.',
      example: 'Europe/Berlin',
    }),
    days: z
      .array(z.int().min(1).max(7))
      .min(1)
      .max(7)
      .meta({
        description: 'Days on which the hours begin: 1 is Monday, 7 is Sunday.',
        example: [1, 2, 3, 4, 5],
      }),
    from: timeOfDay.meta({ example: '08:00' }),
    to: timeOfDay.meta({
      description: 'Before `from`: of the next day. The same as `from`: the whole day.',
      example: '18:00',
    }),
  })
  .meta({
    id: 'SubscriptionHours',
    description:
      'Only what happens in these hours; null: at any time. A subscription that was told of a case is told the rest of it at any time.',
  });
export type SubscriptionHours = z.infer<typeof hours>;
const severityMost = z
  .int()
  .min(1)
  .max(5)
  .meta({ description: 'Inclusive ceiling: 3 tells of severities 1, 2 and 3.', example: 3 });
const allowPrivate = z.boolean().meta({
  description:
    'The target may be a private, loopback or link-local address. Only an administrator who sees every site may set it.',
});

/** What a webhook is sent; `rollcall` is the project's own JSON. */
export const WEBHOOK_FORMATS = [
  'rollcall',
  'template',
  'slack',
  'slack-bot',
  'teams',
  'mattermost',
  'mattermost-bot',
  'pagerduty',
  'opsgenie',
  'alertmanager',
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
/** Formats that name their receiver by a key beside the address. */
export const KEYED_FORMATS: readonly WebhookFormat[] = [
  'slack-bot',
  'mattermost-bot',
  'pagerduty',
  'opsgenie',
];
/** Formats that write to a channel, as a bot: each case is one thread there. */
export const CHANNEL_FORMATS = ['slack-bot', 'mattermost-bot'] as const satisfies readonly WebhookFormat[];
export type ChannelFormat = (typeof CHANNEL_FORMATS)[number];
export const isChannelFormat = (format: WebhookFormat): format is ChannelFormat =>
  (CHANNEL_FORMATS as readonly WebhookFormat[]).includes(format);
const format = z.enum(WEBHOOK_FORMATS).meta({
  id: 'WebhookFormat',
  description: 'What is sent: Rollcall’s own JSON, a template of yours, or what a chat or a pager takes.',
  example: 'rollcall',
});
const key = line(200).meta({
  description:
    'Of PagerDuty (integration key), Opsgenie (API key) and bots of Slack and Mattermost (token): written, never read.',
});

export const TEMPLATE_CHARACTERS = 16_000;
const template = z.string().min(1).max(TEMPLATE_CHARACTERS).meta({
  description: 'Of the format `template`: the body in Liquid, from the members of `Notice`.',
  example: '{"text": {{ data.case.title | json }}, "severity": {{ data.case.severity }}}',
});

const channel = z
  .string()
  .trim()
  .regex(/^[\w.#-]{1,100}$/, 'must be the id of a channel')
  .meta({ description: 'Of a bot: the id of the channel that it writes to.', example: 'C0123456789' });

export const HEADERS_MOST = 20;
/** Of this connection, of HTTP itself (RFC 9110 section 7.6.1), or of Rollcall's signature. */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
]);
const headerName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header, such as X-Tenant')
  .refine((name) => !FORBIDDEN_HEADERS.has(name.toLowerCase()), 'is set by Rollcall and cannot be yours')
  .meta({ example: 'X-Tenant' });
const headerValue = z
  .string()
  .trim()
  .max(2000)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII in one line');
const header = z.strictObject({
  name: headerName,
  value: headerValue.optional().meta({
    description: 'Without it a secret one keeps its value.',
    example: 'network',
  }),
  secret: z.boolean().default(false).meta({ description: 'Its value is written, never read.' }),
});
const headers = z
  .array(header)
  .max(HEADERS_MOST)
  .refine(
    (all) => new Set(all.map(({ name }) => name.toLowerCase())).size === all.length,
    'must name each header once',
  );
/** RFC 5424 section 6.2.1; local use from 16 on. */
const FACILITY_MOST = 23;
const facility = z.int().min(0).max(FACILITY_MOST).meta({
  description: 'RFC 5424: 16 to 23 are local0 to local7.',
  example: 16,
});
const appName = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,48}$/, 'must be 1 to 48 printable ASCII characters without a space')
  .meta({ description: 'APP-NAME of RFC 5424.', example: 'rollcall' });
const authority = z
  .string()
  .trim()
  .max(50_000)
  .refine(
    (pem) => pem === '' || /^-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----$/.test(pem),
    'must be certificates in PEM',
  )
  .meta({
    description:
      'PEM of the authorities to believe in place of those that Node does; empty: those. Of `tls://`.',
    example: '',
  });
const syslogUrl = z.string().trim().max(300).meta({
  description: '`udp://`, `tcp://` (RFC 6587, octet counting) or `tls://` (RFC 5425), a host and a port.',
  example: 'tls://log.example.net:6514',
});
/** A header of a webhook as it is shown. */
const shownHeader = z.strictObject({
  name: z.string().meta({ example: 'X-Tenant' }),
  value: z.string().nullable().meta({ description: 'Null: it is secret.', example: 'network' }),
  secret: z.boolean(),
});
export type ShownHeader = z.infer<typeof shownHeader>;

export const subscription = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'Ticket system' }),
    kind: z.enum(SUBSCRIPTION_KINDS).meta({ id: 'SubscriptionKind' }),
    url: z.string().nullable().meta({ description: 'Of a webhook or a syslog receiver.' }),
    format: format.nullable().meta({ description: 'Of a webhook.' }),
    template: z.string().nullable().meta({ description: 'Of the format `template`.' }),
    channel: z.string().nullable().meta({ description: 'Of a bot.' }),
    headers: z.array(shownHeader).meta({ description: 'Of a webhook: headers of its own.' }),
    addresses: z.array(z.string()).meta({ description: 'Of an e-mail subscription.' }),
    facility: facility.nullable().meta({ description: 'Of syslog.' }),
    appName: z.string().nullable().meta({ description: 'Of syslog.' }),
    authority: z.string().nullable().meta({ description: 'Of syslog: PEM.' }),
    acknowledge: z.boolean().meta({ description: 'Notices have a link by which a case is acknowledged.' }),
    types: z.array(noticeType),
    severity: severityMost,
    allSites: z.boolean(),
    siteIds: z.array(id).meta({ description: 'The sites it is about, unless all.' }),
    tags,
    fields,
    classes,
    eventKinds,
    hours: hours.nullable(),
    allowPrivate: z.boolean(),
    enabled: z.boolean(),
    disabledReason: z.string().meta({ description: 'Why it was disabled by itself; else empty.' }),
    failingSince: maybeTime.meta({ description: 'Nothing was delivered since; null: the last one was.' }),
    lastDeliveredAt: maybeTime,
    waiting: z.int().min(0).meta({ description: 'Deliveries that were not made yet.' }),
    createdAt: time,
  })
  .meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof subscription>;

const acknowledge = z.boolean().meta({
  description:
    'Notices of open cases have a link that acknowledges that case for anyone who has it, for 7 days and without signing in. Only where the server knows its address.',
});

const draft = {
  name: subscriptionName,
  types: types.default(['case.opened', 'case.reopened', 'case.resolved']),
  severity: severityMost.default(5),
  allSites: z.boolean().optional().meta({ description: 'Without it: true unless `siteIds` names some.' }),
  siteIds: siteIds.default([]),
  tags: tags.default([]),
  fields: fields.default([]),
  classes: classes.default([]),
  eventKinds: eventKinds.default([]),
  hours: hours.nullable().default(null),
  enabled: z.boolean().default(true),
};
export const subscriptionRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('webhook'),
    url,
    format: format.default('rollcall'),
    key: key.optional(),
    template: template.nullish(),
    channel: channel.nullish(),
    headers: headers.default([]),
    allowPrivate: allowPrivate.default(false),
    acknowledge: acknowledge.default(true),
    ...draft,
  }),
  z.strictObject({
    kind: z.literal('email'),
    addresses,
    acknowledge: acknowledge.default(true),
    ...draft,
  }),
  z.strictObject({
    kind: z.literal('syslog'),
    url: syslogUrl,
    facility: facility.default(16),
    appName: appName.default('rollcall'),
    authority: authority.default(''),
    allowPrivate: allowPrivate.default(false),
    ...draft,
  }),
]);
export type SubscriptionRequest = z.output<typeof subscriptionRequest>;
export type WebhookRequest = Extract<SubscriptionRequest, { kind: 'webhook' }>;
export const subscriptionChange = z
  .strictObject({
    name: subscriptionName.optional(),
    url: url.optional(),
    format: format.optional(),
    key: key.optional(),
    template: template.nullish(),
    channel: channel.nullish(),
    headers: headers.optional(),
    allowPrivate: allowPrivate.optional(),
    addresses: addresses.optional(),
    facility: facility.optional(),
    appName: appName.optional(),
    authority: authority.optional(),
    acknowledge: acknowledge.optional(),
    types: types.optional(),
    severity: severityMost.optional(),
    allSites: z.boolean().optional(),
    siteIds: siteIds.optional(),
    tags: tags.optional(),
    fields: fields.optional(),
    classes: classes.optional(),
    eventKinds: eventKinds.optional(),
    hours: hours.nullable().optional(),
    enabled: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'nothing to change');

export const secret = z.strictObject({
  secret: z.string().nullable().meta({
    description: 'Of a webhook, shown this once: what its signatures are checked with (Standard Webhooks).',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }),
});

/** What would be sent of a made-up case. */
export const preview = z
  .strictObject({
    to: z.string().meta({ example: 'POST https://tickets.example.net/hooks/rollcall' }),
    headers: z.array(z.strictObject({ name: z.string(), value: z.string() })).meta({
      description: 'Secrets are shown as `***`.',
    }),
    body: z.string(),
  })
  .meta({ id: 'SubscriptionPreview' });
export type Preview = z.infer<typeof preview>;
