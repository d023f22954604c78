/**
 * What a webhook is sent: Rollcall's own JSON, or what a chat or a pager takes, by its makers' public API documents.
 * Pure.
 */
import type { ShownHeader, WebhookFormat } from '@rollcall/shared/api/subscriptions';
import { CaseStatus, nameOfCode, Severity } from '@rollcall/shared/model';
import { linksOf, markdown, mattermostText, messagesOf, slackText } from './chat-text.ts';
import { cutTo, type Payload, summaryOf } from './message.ts';
import type { Request, Target } from './request.ts';
import { render } from './template.ts';
import { CHANNELS } from './threads.ts';

/** What it adds to the target's address and headers, or says instead. @throws TemplateRefused */
type Format = (payload: Payload, target: Target) => Partial<Request>;

const isOver = ({ data }: Payload): boolean => data.case.status >= CaseStatus.resolved;
const dedupKey = ({ data }: Payload): string => `rollcall-case-${data.case.id}`;

/** By severity 1 to 5. */
const COLOURS = ['attention', 'attention', 'warning', 'warning', 'default'] as const;
const PAGERDUTY = ['critical', 'error', 'error', 'warning', 'info'] as const;
const OPSGENIE = ['P1', 'P2', 'P3', 'P4', 'P5'] as const;
const bySeverity = <T>(of: readonly T[], { data }: Payload): T =>
  of[data.case.severity - 1] ?? (of.at(-1) as T);

/** How long Alertmanager takes a case for open without hearing of it again, milliseconds. */
const OPEN_MS = 30 * 86_400_000;
/** Of an event on a card of Teams, which takes 28 KB: ten events, and up to six bytes for a character. */
const CARD_CHARACTERS = 400;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  rollcall: (payload) => ({ body: payload }),
  template: (payload, { template, headers }) => ({
    body: render(template ?? '', payload, { json: isJson(headers) }),
  }),

  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: (payload) => ({ body: { text: slackText(payload) } }),
  'slack-bot': (payload, target) => CHANNELS['slack-bot'].open(payload, target),

  // https://developers.mattermost.com/integrate/webhooks/incoming
  mattermost: (payload) => ({ body: { text: mattermostText(payload) } }),
  'mattermost-bot': (payload, target) => CHANNELS['mattermost-bot'].open(payload, target),

  // https://learn.microsoft.com/connectors/teams: a workflow "when a Teams webhook request is received" takes a card.
  teams: (payload) => {
    const { site } = payload.data;
    const actions = linksOf(payload).map(([title, url]) => ({ type: 'Action.OpenUrl', title, url }));
    const block = (text: string, more = {}) => ({
      type: 'TextBlock',
      text: markdown(text),
      wrap: true,
      ...more,
    });
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        block(summaryOf(payload), {
          weight: 'bolder',
          color: isOver(payload) ? 'good' : bySeverity(COLOURS, payload),
        }),
        block(site.name, { isSubtle: true, spacing: 'none' }),
        ...messagesOf(payload).map((each) => block(cutTo(each, CARD_CHARACTERS))),
      ],
      ...(actions.length > 0 && { actions }),
    };
    const attachment = {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: card,
    };
    return { body: { type: 'message', attachments: [attachment] } };
  },

  // https://developer.pagerduty.com/docs/events-api-v2: one alert for each case.
  pagerduty: (payload, { key }) => {
    const { case: it, site, url, acknowledgeUrl } = payload.data;
    // A case that reopened is investigating by itself, and its alert was resolved: somebody is to be paged again.
    const isInHand = it.status === CaseStatus.investigating && payload.type !== 'case.reopened';
    const action = isOver(payload) ? 'resolve' : isInHand ? 'acknowledge' : 'trigger';
    return {
      body: {
        routing_key: key,
        event_action: action,
        dedup_key: dedupKey(payload),
        client: 'Rollcall',
        ...(url && { client_url: url }),
        ...(acknowledgeUrl && { links: [{ href: acknowledgeUrl, text: 'Acknowledge in Rollcall' }] }),
        payload: {
          summary: cutTo(summaryOf(payload), 1024),
          source: site.name,
          severity: bySeverity(PAGERDUTY, payload),
          timestamp: iso(payload.timestamp),
          custom_details: { case: it.number, events: messagesOf(payload) },
        },
      },
    };
  },

  // https://docs.opsgenie.com/docs/alert-api: one alert for each case, by its alias.
  opsgenie: (payload, { url, key }) => {
    const headers = { authorization: `GenieKey ${key}` };
    const alias = dedupKey(payload);
    if (isOver(payload))
      return {
        url: `${url.replace(/\/$/, '')}/${alias}/close?identifierType=alias`,
        headers,
        body: { source: 'Rollcall', note: summaryOf(payload) },
      };
    const links = linksOf(payload).map(([words, url]) => `${words}: ${url}`);
    const description = [...messagesOf(payload), ...(links.length > 0 ? ['', ...links] : [])].join('\n');
    return {
      headers,
      body: {
        message: cutTo(summaryOf(payload), 130),
        alias,
        description: cutTo(description, 15_000),
        priority: bySeverity(OPSGENIE, payload),
        source: 'Rollcall',
        entity: payload.data.site.name,
        tags: payload.data.case.tags.slice(0, 20).map((tag) => cutTo(tag, 50)),
      },
    };
  },

  // https://prometheus.io/docs/alerting/latest/clients: labels say which alert it is, so they stay the same.
  alertmanager: (payload) => {
    const { case: it, site, url } = payload.data;
    const over = isOver(payload);
    return {
      body: [
        {
          labels: { alertname: 'RollcallCase', case: String(it.number), case_id: it.id, site: site.name },
          annotations: {
            summary: summaryOf(payload),
            severity: nameOfCode(Severity, payload.data.case.severity),
            description: messagesOf(payload).join('\n'),
            ...(payload.data.acknowledgeUrl && { acknowledge: payload.data.acknowledgeUrl }),
          },
          startsAt: iso(it.createdAt),
          endsAt: over
            ? iso(it.resolvedAt ?? payload.timestamp)
            : new Date(payload.timestamp * 1000 + OPEN_MS).toISOString(),
          ...(url && { generatorURL: url }),
        },
      ],
    };
  },
};

/** Headers of a subscription with the values of its secret ones, by name in lower case. */
export const headersOf = (
  shown: readonly ShownHeader[],
  secret: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    shown.map(({ name, value }) => [name.toLowerCase(), value ?? secret[name.toLowerCase()] ?? '']),
  );

/** Whether the body is to be JSON: unless a header says otherwise. */
export const isJson = (headers: Record<string, string>): boolean =>
  /json/i.test(headers['content-type'] ?? 'json');

/** What to send of a payload. @throws TemplateRefused */
export function requestOf(format: WebhookFormat, payload: Payload, target: Target): Request {
  const { url = target.url, headers, body } = FORMATS[format](payload, target);
  return { url, headers: { ...target.headers, ...headers }, body };
}
