/** What a subscription would send of a made-up case. */
import type { Preview, SubscriptionRequest, WebhookRequest } from '@rollcall/shared/api/subscriptions';
import type { SubscriptionKind } from '@rollcall/shared/model';
import type { Handlers } from '../../platform/http/handler.ts';
import { headersOf, requestOf } from '../channels/formats.ts';
import { mailOf } from '../channels/mail.ts';
import type { Payload } from '../channels/message.ts';
import { sampleCase } from '../channels/sample.ts';
import { syslogMessage } from '../channels/syslog.ts';
import type { DeliveryDeps } from '../deps.ts';
import { checkTemplate, shownHeaders } from './targets.ts';

const HIDDEN = '***';
type Of<K extends SubscriptionKind> = Extract<SubscriptionRequest, { kind: K }>;

const PREVIEW: { readonly [K in SubscriptionKind]: (draft: Of<K>, payload: Payload) => Preview } = {
  webhook: (draft, payload) => {
    checkTemplate(draft);
    const { url, headers, body } = requestOf(draft.format, payload, hiddenTarget(draft));
    return {
      to: `POST ${url}`,
      headers: Object.entries({ 'content-type': 'application/json', ...headers }).map(([name, value]) => ({
        name,
        value,
      })),
      body: typeof body === 'string' ? body : JSON.stringify(body, null, 2),
    };
  },
  syslog: (draft, payload) => ({
    to: draft.url,
    headers: [],
    body: syslogMessage(payload, draft).toString(),
  }),
  email: ({ addresses }, payload) => {
    const { subject, text } = mailOf(payload);
    return { to: addresses.join(', '), headers: [{ name: 'Subject', value: subject }], body: text };
  },
};

/** With no secret in it. */
function hiddenTarget({ url, template = null, channel = null, headers }: WebhookRequest) {
  const secret = headers.filter((each) => each.secret).map(({ name }) => [name.toLowerCase(), HIDDEN]);
  return {
    url,
    key: HIDDEN,
    template,
    channel,
    headers: headersOf(shownHeaders({ headers }), Object.fromEntries(secret)),
  };
}

export const previewHandlers = ({
  clock,
  publicUrl,
}: Pick<DeliveryDeps, 'clock' | 'publicUrl'>): Handlers<'subscriptions.preview'> => ({
  'subscriptions.preview': async ({ body }) => ({
    data: PREVIEW[body.kind](body as never, sampleCase(clock.now(), publicUrl)),
  }),
});
