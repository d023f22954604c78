/**
 * What a webhook is sent: Rollcall's own JSON, or what a chat or a pager takes, by its makers' public API documents.
 * Pure. Texts of devices and people are escaped, so that they neither call anybody (@channel) nor look like links.
 */
import type { WebhookFormat } from '@rollcall/shared/api/deliveries';
import { CaseStatus, nameOfCode, Severity } from '@rollcall/shared/model';
import { type Payload, summaryOf } from './message.ts';

export interface Request {
  body: unknown;
  headers?: Record<string, string>;
  /** In place of the address of the subscription. */
  url?: string;
}

/** @param url of the subscription; `key` is its routing key, where the format has one */
type Format = (payload: Payload, target: { url: string; key: string }) => Request;

const ZERO_WIDTH_SPACE = '\u200B';
/** Slack: "Escaping text", three characters. */
const slack = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const markdown = (text: string): string =>
  text.replace(/[\\`*_{}[\]()#+\-.!|~<>]/g, '\\$&').replace(/@/g, `@${ZERO_WIDTH_SPACE}`);

const isOver = ({ data }: Payload): boolean => data.case.status >= CaseStatus.resolved;
const dedupKey = ({ data }: Payload): string => `rollcall-case-${data.case.id}`;
const messagesOf = ({ data }: Payload): string[] => data.events.map(({ message }) => message);

/** By severity 1 to 5. */
const COLOURS = ['attention', 'attention', 'warning', 'warning', 'default'] as const;
const PAGERDUTY = ['critical', 'error', 'error', 'warning', 'info'] as const;
const OPSGENIE = ['P1', 'P2', 'P3', 'P4', 'P5'] as const;
const bySeverity = <T>(of: readonly T[], { data }: Payload): T =>
  of[data.case.severity - 1] ?? (of.at(-1) as T);

/** How long Alertmanager takes a case for open without hearing of it again, milliseconds. */
const OPEN_MS = 30 * 86_400_000;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  rollcall: (payload) => ({ body: payload }),

  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: (payload) => {
    const { url } = payload.data;
    const lines = [
      `*${slack(summaryOf(payload))}*`,
      ...messagesOf(payload).map((each) => `• ${slack(each)}`),
    ];
    return { body: { text: [...lines, ...(url ? [`<${url}|Open the case>`] : [])].join('\n') } };
  },

  // https://developers.mattermost.com/integrate/webhooks/incoming
  mattermost: (payload) => {
    const { url } = payload.data;
    const lines = [
      `**${markdown(summaryOf(payload))}**`,
      ...messagesOf(payload).map((each) => `- ${markdown(each)}`),
    ];
    return { body: { text: [...lines, ...(url ? ['', `[Open the case](${url})`] : [])].join('\n') } };
  },

  // https://learn.microsoft.com/connectors/teams: a workflow "when a Teams webhook request is received" takes a card.
  teams: (payload) => {
    const { url, site } = payload.data;
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
        ...messagesOf(payload).map((each) => block(each)),
      ],
      ...(url && { actions: [{ type: 'Action.OpenUrl', title: 'Open the case', url }] }),
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
    const { case: it, site, url } = payload.data;
    const action = isOver(payload)
      ? 'resolve'
      : it.status === CaseStatus.investigating
        ? 'acknowledge'
        : 'trigger';
    return {
      body: {
        routing_key: key,
        event_action: action,
        dedup_key: dedupKey(payload),
        client: 'Rollcall',
        ...(url && { client_url: url }),
        payload: {
          summary: summaryOf(payload).slice(0, 1024),
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
    const description = [...messagesOf(payload), ...(payload.data.url ? ['', payload.data.url] : [])].join(
      '\n',
    );
    return {
      headers,
      body: {
        message: summaryOf(payload).slice(0, 130),
        alias,
        description: description.slice(0, 15_000),
        priority: bySeverity(OPSGENIE, payload),
        source: 'Rollcall',
        entity: payload.data.site.name,
        tags: payload.data.case.tags.slice(0, 20).map((tag) => tag.slice(0, 50)),
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

/** What to send of a payload. */
export const requestOf = (format: WebhookFormat, ...of: Parameters<Format>): Request =>
  FORMATS[format](...of);
