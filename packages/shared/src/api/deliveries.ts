/** Who is told about cases, how, and what became of it. */
import { z } from 'zod';
import { SUBSCRIPTION_KINDS } from '../model.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, resource, siteFilter, sortBy, unixSeconds } from './operation.ts';

const time = unixSeconds;
const maybeTime = unixSeconds.nullable();

/** What subscribers are notified of. `case.reopened`: the trouble of a resolved case came back. */
export const NOTICE_TYPES = ['case.opened', 'case.changed', 'case.reopened', 'case.resolved'] as const;
const noticeType = z.enum(NOTICE_TYPES).meta({ id: 'NoticeType' });
export type NoticeType = z.infer<typeof noticeType>;

// ── Subscriptions ────────────────────────────────────────────────────────────────────────────────────────────

const subscriptionName = line(100).meta({ example: 'Ticket system' });
const url = z.string().trim().max(2000).meta({
  description: 'http or https, without user name and password; redirects are not followed.',
  example: 'https://tickets.example.net/hooks/rollcall',
});
/** The grammar is the mail server's business; this keeps out what would be another header or another address. */
const mailAddress = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}]+$/u, 'must be an e-mail address')
  .meta({ example: 'noc@example.net' });
const addresses = z.array(mailAddress).min(1).max(50);
const types = z.array(noticeType).min(1).max(NOTICE_TYPES.length);
const siteIds = z.array(z.uuid().toLowerCase()).max(1000);
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
  'slack',
  'teams',
  'mattermost',
  'pagerduty',
  'opsgenie',
  'alertmanager',
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
/** Formats that name their receiver by a key beside the address. */
export const KEYED_FORMATS: readonly WebhookFormat[] = ['pagerduty', 'opsgenie'];
const format = z.enum(WEBHOOK_FORMATS).meta({
  id: 'WebhookFormat',
  description: 'What is sent: Rollcall’s own JSON, or what a chat or a pager takes.',
  example: 'rollcall',
});
const key = line(200).meta({
  description: 'Of PagerDuty (integration key) and Opsgenie (API key): written, never read.',
});

export const subscription = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'Ticket system' }),
    kind: z.enum(SUBSCRIPTION_KINDS),
    url: z.string().nullable().meta({ description: 'Of a webhook.' }),
    format: format.nullable().meta({ description: 'Of a webhook.' }),
    addresses: z.array(z.string()).meta({ description: 'Of an e-mail subscription.' }),
    types: z.array(noticeType),
    severity: severityMost,
    allSites: z.boolean(),
    siteIds: z.array(id).meta({ description: 'The sites it is about, unless all.' }),
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

const draft = {
  name: subscriptionName,
  types: types.default(['case.opened', 'case.reopened', 'case.resolved']),
  severity: severityMost.default(5),
  allSites: z.boolean().optional().meta({ description: 'Without it: true unless `siteIds` names some.' }),
  siteIds: siteIds.default([]),
  enabled: z.boolean().default(true),
};
export const subscriptionRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('webhook'),
    url,
    format: format.default('rollcall'),
    key: key.optional(),
    allowPrivate: allowPrivate.default(false),
    ...draft,
  }),
  z.strictObject({ kind: z.literal('email'), addresses, ...draft }),
]);
export type SubscriptionRequest = z.output<typeof subscriptionRequest>;
const subscriptionChange = z
  .strictObject({
    name: subscriptionName.optional(),
    url: url.optional(),
    format: format.optional(),
    key: key.optional(),
    allowPrivate: allowPrivate.optional(),
    addresses: addresses.optional(),
    types: types.optional(),
    severity: severityMost.optional(),
    allSites: z.boolean().optional(),
    siteIds: siteIds.optional(),
    enabled: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'nothing to change');

const secret = z.strictObject({
  secret: z.string().nullable().meta({
    description: 'Of a webhook, shown this once: what its signatures are checked with (Standard Webhooks).',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }),
});

// ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────────

/** `partial`: a mail that some of its addresses have and others never got. */
export const DELIVERY_STATUSES = ['queued', 'delivered', 'partial', 'failed'] as const;
const deliveryStatus = z.enum(DELIVERY_STATUSES).meta({ id: 'DeliveryStatus' });
const recipient = z.strictObject({
  address: z.string(),
  state: z.enum(['delivered', 'deferred', 'refused']).meta({
    description:
      '`deferred`: the mail server takes it later; it is tried again until the delivery is given up. `refused`: never.',
  }),
  said: z.string().meta({ description: 'What the mail server answered last; empty when it took the mail.' }),
});
export type Recipient = z.infer<typeof recipient>;
const attempt = z.strictObject({
  at: time,
  status: z.int().nullable().meta({ description: 'HTTP status, or reply code of the mail server.' }),
  error: z.string(),
  ms: z.int().min(0),
});
export const delivery = z
  .strictObject({
    id: id.meta({ description: 'Also the `webhook-id`: the same at every attempt.' }),
    subscriptionId: id,
    subscription: z.string(),
    siteId: id.nullable(),
    caseId: id.nullable().meta({ description: 'Null: a test.' }),
    caseNumber: z.int().nullable(),
    type: z.enum([...NOTICE_TYPES, 'test']),
    status: deliveryStatus.meta({
      description:
        '`partial`: some addresses of the mail have it, the others never got it; `recipients` says which.',
    }),
    attempts: z.int().min(0),
    createdAt: time,
    nextAttemptAt: maybeTime,
    finishedAt: maybeTime,
    responseStatus: z.int().nullable(),
    error: z.string().meta({ description: 'What went wrong last; empty when nothing did.' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof delivery>;
const deliveryDetail = z
  .strictObject({
    ...delivery.shape,
    payload: z.record(z.string(), z.unknown()).meta({ description: 'What is sent.' }),
    log: z.array(attempt).meta({ description: 'Attempts, oldest first.' }),
    recipients: z.array(recipient).meta({
      description: 'Of a mail: what became of it by address, as far as the mail server told.',
    }),
  })
  .meta({ id: 'DeliveryDetail' });
export type DeliveryDetail = z.infer<typeof deliveryDetail>;

// ── Mail ─────────────────────────────────────────────────────────────────────────────────────────────────────

export const mailSettings = z
  .strictObject({
    host: z.string().meta({ description: 'Empty: no mail is sent.', example: 'smtp.example.net' }),
    port: z.int().min(1).max(65_535),
    security: z.enum(['tls', 'starttls', 'none']).meta({
      description: '`tls` from the first byte (465), `starttls` required (587), or `none` in the clear (25).',
    }),
    user: z.string(),
    password: z.enum(['set', 'none']).meta({ description: 'Written, never read.' }),
    from: z.string().meta({ example: 'rollcall@example.net' }),
    updatedAt: maybeTime,
  })
  .meta({ id: 'MailSettings' });
export type MailSettings = z.infer<typeof mailSettings>;

const subscriptions = resource('/api/subscriptions', 'Notifications', subscription);
const deliveries = resource('/api/deliveries', 'Notifications', delivery);

export const deliveryOperations = {
  'subscriptions.list': subscriptions.list('admin', 'List who is told about cases', {
    description: 'Those that are only about sites of the caller.',
    query: z.strictObject({ ...paging, sort: sortBy(['name', 'createdAt']) }),
  }),
  'subscriptions.get': subscriptions.get('admin', 'Get a subscription'),
  'subscriptions.create': subscriptions.create('admin', 'Tell a webhook or people by e-mail about cases', {
    description:
      'The answer to a new webhook holds its secret, once. For all sites only by an administrator who sees every site.',
    body: subscriptionRequest,
    extra: secret,
    errors: ['conflict'],
    example: {
      kind: 'webhook',
      name: 'Ticket system',
      url: 'https://tickets.example.net/hooks/rollcall',
      severity: 3,
      allSites: true,
    },
  }),
  'subscriptions.update': subscriptions.update('admin', 'Change a subscription', {
    description: 'Enabling one that was disabled by itself lets it begin anew.',
    body: subscriptionChange,
    errors: ['conflict'],
    example: { enabled: true },
  }),
  'subscriptions.delete': subscriptions.remove('admin', 'Delete a subscription', {
    description: 'With its deliveries.',
  }),
  'subscriptions.rotate': subscriptions.act('rotate')('admin', 'Give a webhook a new secret', {
    description: 'For a day each delivery bears a signature by the old one, too.',
    extra: secret,
    errors: ['conflict'],
  }),
  'subscriptions.test': subscriptions.act('test')('admin', 'Send a test', {
    description: 'Queues a delivery of type `test` about nothing; it is made at once and stands in the log.',
    data: delivery,
    status: 202,
  }),
  'deliveries.list': deliveries.list('admin', 'List deliveries, newest first', {
    query: z.strictObject({
      ...paging,
      site: siteFilter,
      subscription: z.uuid().toLowerCase().optional().meta({ description: 'Only of this subscription.' }),
      status: deliveryStatus.optional(),
    }),
  }),
  'deliveries.get': deliveries.get('admin', 'One delivery with its payload and attempts', {
    data: deliveryDetail,
  }),
  'deliveries.resend': deliveries.act('resend')('admin', 'Send a delivery again', {
    description: 'Under its own id, at once, and with a day of attempts more.',
    status: 202,
    errors: ['conflict'],
  }),
  'mail.get': {
    method: 'GET',
    path: '/api/mail',
    tag: 'Notifications',
    summary: 'How mail is sent',
    description: 'Only by an administrator who sees every site.',
    access: 'admin',
    data: mailSettings,
    envelope: 'item',
  },
  'mail.update': {
    method: 'PUT',
    path: '/api/mail',
    tag: 'Notifications',
    summary: 'Set how mail is sent',
    description:
      'Only by an administrator who sees every site. A password that is left out stays as it is while the host does.',
    access: 'admin',
    body: z.strictObject({
      host: z
        .string()
        .trim()
        .max(253)
        .regex(/^[\w.:-]*$/, 'must be a host name or an address'),
      port: z.int().min(1).max(65_535).default(587),
      security: z.enum(['tls', 'starttls', 'none']).default('starttls'),
      user: z.string().max(254).default(''),
      password: z.string().max(1000).optional().meta({ writeOnly: true }),
      from: mailAddress,
    }),
    data: mailSettings,
    envelope: 'item',
    example: {
      host: 'smtp.example.net',
      port: 587,
      security: 'starttls',
      user: 'rollcall',
      password: 'correct horse',
      from: 'rollcall@example.net',
    },
  },
} as const satisfies Record<string, Operation>;
