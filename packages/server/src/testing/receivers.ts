/**
 * Chats and pagers that take webhooks, imitated from their public API documentation: what the real one refuses, these
 * refuse with its status. Bots are in `deliveries/channels/threads.test.ts`.
 */
import { z } from 'zod';

export interface Asked {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string | undefined>;
  body: string;
}
export interface Said {
  status: number;
  body: string;
}
type Receiver = (asked: Asked) => Said;

/** Text that another language can read: half of a character is none. */
const text = (most: number, least = 1) =>
  z
    .string()
    .min(least)
    .max(most)
    .refine((given) => !/\p{Cs}/u.test(given), 'half a character');
const address = z.url({ protocol: /^https?$/ });
const moment = z.iso.datetime({ offset: true });

/** What all of them ask for: POST, JSON by its header and in fact. Nothing: it is none. */
function jsonOf({ method, headers, body }: Asked): unknown {
  if (method !== 'POST' || !/^application\/json\b/.test(headers['content-type'] ?? '')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
const takes =
  (schema: z.ZodType, taken: Said, refused: (why: string) => Said): Receiver =>
  (asked) => {
    const read = schema.safeParse(jsonOf(asked));
    return read.success ? taken : refused(z.prettifyError(read.error));
  };
const plainly = (status: number, body: string) => (): Said => ({ status, body });
const json = (status: number, body: object): Said => ({ status, body: JSON.stringify(body) });

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: 400 and a word; text at most 40,000. */
const slack = takes(
  z.looseObject({ text: text(40_000) }),
  { status: 200, body: 'ok' },
  plainly(400, 'invalid_payload'),
);

/** https://developers.mattermost.com/integrate/webhooks/incoming: a post has 16,383 characters at most. */
const mattermost = takes(z.looseObject({ text: text(16_383) }), { status: 200, body: 'ok' }, (message) =>
  json(400, { id: 'web.incoming_webhook.parse.app_error', message, status_code: 400 }),
);

/** https://adaptivecards.io/explorer: of version 1.4, what is used; Teams refuses messages over 28 KB. */
const textBlock = z.strictObject({
  type: z.literal('TextBlock'),
  text: text(10_000),
  wrap: z.boolean().optional(),
  weight: z.enum(['default', 'lighter', 'bolder']).optional(),
  color: z.enum(['default', 'dark', 'light', 'accent', 'good', 'warning', 'attention']).optional(),
  isSubtle: z.boolean().optional(),
  spacing: z.enum(['default', 'none', 'small', 'medium', 'large', 'extraLarge', 'padding']).optional(),
});
const card = z.strictObject({
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: z.literal('AdaptiveCard'),
  version: z.enum(['1.0', '1.1', '1.2', '1.3', '1.4', '1.5']),
  body: z.array(textBlock).min(1),
  actions: z
    .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: text(200), url: address }))
    .min(1)
    .max(6)
    .optional(),
});
const TEAMS_BYTES = 28 * 1024;
const readsCard = takes(
  z.strictObject({
    type: z.literal('message'),
    attachments: z
      .array(
        z.strictObject({
          contentType: z.literal('application/vnd.microsoft.card.adaptive'),
          contentUrl: z.null().optional(),
          content: card,
        }),
      )
      .length(1),
  }),
  { status: 202, body: '' },
  (message) => json(400, { error: { code: 'TriggerInputSchemaMismatch', message } }),
);
const teams: Receiver = (asked) =>
  Buffer.byteLength(asked.body) > TEAMS_BYTES
    ? json(413, { error: { code: 'RequestEntityTooLarge' } })
    : readsCard(asked);

/** https://developer.pagerduty.com/docs/events-api-v2-overview: 202, or 400 with what is wrong. */
const alert = {
  routing_key: z.string().length(32),
  dedup_key: text(255),
  client: text(1000).optional(),
  client_url: address.optional(),
  links: z.array(z.strictObject({ href: address, text: text(1000).optional() })).optional(),
};
const details = z.strictObject({
  summary: text(1024),
  source: text(1000),
  severity: z.enum(['critical', 'error', 'warning', 'info']),
  timestamp: moment.optional(),
  custom_details: z.looseObject({}).optional(),
});
const pagerduty = takes(
  z.discriminatedUnion('event_action', [
    z.strictObject({ event_action: z.literal('trigger'), ...alert, payload: details }),
    z.strictObject({
      event_action: z.enum(['acknowledge', 'resolve']),
      ...alert,
      payload: details.optional(),
    }),
  ]),
  json(202, { status: 'success', message: 'Event processed', dedup_key: 'x' }),
  (why) => json(400, { status: 'invalid event', message: 'Event object is invalid', errors: [why] }),
);

/** https://docs.opsgenie.com/docs/alert-api: lengths by member, 422 for others; its key in a header of its own kind. */
const taken = json(202, { result: 'Request will be processed', took: 0.1, requestId: 'x' });
const unprocessable = (message: string): Said => json(422, { message, took: 0.1, requestId: 'x' });
const opens = takes(
  z.strictObject({
    message: text(130),
    alias: text(512).optional(),
    description: text(15_000, 0).optional(),
    tags: z.array(text(50)).max(20).optional(),
    entity: text(512).optional(),
    source: text(100).optional(),
    priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']).optional(),
  }),
  taken,
  unprocessable,
);
const closes = takes(
  z.strictObject({ source: text(100).optional(), note: text(25_000).optional(), user: text(100).optional() }),
  taken,
  unprocessable,
);
const opsgenie: Receiver = (asked) => {
  if (!/^GenieKey \S+$/.test(asked.headers.authorization ?? ''))
    return json(401, { message: 'Key format is not valid!' });
  if (asked.path === '/v2/alerts') return opens(asked);
  if (/^\/v2\/alerts\/[\w-]+\/close\?identifierType=alias$/.test(asked.path)) return closes(asked);
  return json(404, { message: 'Not Found' });
};

/** By format; each is asked at the path that its makers name. */
export const RECEIVERS = {
  slack: { path: '/services/T0/B0/X', receive: slack },
  mattermost: { path: '/hooks/x', receive: mattermost },
  teams: { path: '/workflows/x/triggers/manual/paths/invoke?sig=x', receive: teams },
  pagerduty: { path: '/v2/enqueue', receive: pagerduty },
  opsgenie: { path: '/v2/alerts', receive: opsgenie },
} as const satisfies Record<string, { path: string; receive: Receiver }>;
