/** Telling about cases: the operations on subscriptions, deliveries and the mail server. */
import { z } from 'zod';
import { noticeOrTest } from './notices.ts';
import type { Operation } from './operation.ts';
import { id, paging, resource, siteFilter, sortBy, unixSeconds } from './operation.ts';
import {
  mailAddress,
  preview,
  secret,
  subscription,
  subscriptionChange,
  subscriptionRequest,
} from './subscriptions.ts';

const time = unixSeconds;
const maybeTime = unixSeconds.nullable();

// ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────────

/** `partial`: a mail that some of its addresses have and others never got. */
export const DELIVERY_STATUSES = ['queued', 'delivered', 'partial', 'failed'] as const;
const deliveryStatus = z.enum(DELIVERY_STATUSES).meta({ id: 'DeliveryStatus' });
const recipient = z.strictObject({
  address: z.string(),
  state: z.enum(['delivered', 'deferred', 'refused']).meta({
    id: 'RecipientState',
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
    type: noticeOrTest,
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

const mailSecurity = z.enum(['tls', 'starttls', 'none']).meta({
  id: 'MailSecurity',
  description: '`tls` from the first byte (465), `starttls` required (587), or `none` in the clear (25).',
});
export const mailSettings = z
  .strictObject({
    host: z.string().meta({ description: 'Empty: no mail is sent.', example: 'smtp.example.net' }),
    port: z.int().min(1).max(65_535),
    security: mailSecurity,
    user: z.string(),
    password: z.enum(['set', 'none']).meta({ id: 'MailPassword', description: 'Written, never read.' }),
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
  'subscriptions.preview': {
    method: 'POST',
    path: '/api/subscriptions/preview',
    tag: 'Notifications',
    summary: 'Show what a subscription would send',
    description: 'Of a made-up case that opens. Checks a template; stores and sends nothing.',
    access: 'admin',
    body: subscriptionRequest,
    data: preview,
    envelope: 'item',
    example: {
      kind: 'webhook',
      name: 'Chat of the NOC',
      url: 'https://chat.example.net/hooks/rollcall',
      format: 'template',
      template: '{"text": {{ summary | json }}}',
    },
  },
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
  'subscriptions.revokeLinks': subscriptions.act('revoke-links')('admin', 'Revoke the links of its notices', {
    description: 'No link that was sent until now acknowledges a case any more; later ones do.',
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
      security: mailSecurity.default('starttls'),
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
