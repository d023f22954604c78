/** What a subscription of each kind tells to: what of it is stored, and what is refused. */
import { ANNOTATED } from '@rollcall/shared/api/annotations';
import {
  isChannelFormat,
  KEYED_FORMATS,
  type Subscription,
  type SubscriptionRequest,
  subscriptionRequest,
  type WebhookRequest,
} from '@rollcall/shared/api/subscriptions';
import type { SubscriptionKind } from '@rollcall/shared/model';
import { Prisma } from '../../generated/prisma/client.ts';
import { scopeOfRequest } from '../../platform/access/scope.ts';
import { storedFilters } from '../../platform/db/custom-fields.ts';
import type { Transaction } from '../../platform/db/db.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { closest } from '../../platform/ops/hint.ts';
import { requireZone } from '../../platform/ops/recurrence.ts';
import { invalid, Problem } from '../../platform/problem.ts';
import { headersOf, isJson } from '../channels/formats.ts';
import { sampleCase } from '../channels/sample.ts';
import { parseSyslogTarget, parseTarget, TargetRefused } from '../channels/ssrf-guard.ts';
import { render, TemplateRefused } from '../channels/template.ts';
import type { Given } from './secrets.ts';

/** What each kind is called in messages, and which members of a subscription are its target. */
const TARGET: Readonly<Record<SubscriptionKind, { name: string; of: (one: Subscription) => object }>> = {
  webhook: {
    name: 'a webhook',
    of: ({ url, format, template, channel, headers, allowPrivate, acknowledge }) => ({
      ...{ url, format, template, channel, allowPrivate, acknowledge },
      headers: headers.map(({ value, ...header }) => ({ ...header, ...(value !== null && { value }) })),
    }),
  },
  email: { name: 'e-mail', of: ({ addresses, acknowledge }) => ({ addresses, acknowledge }) },
  syslog: {
    name: 'syslog',
    of: ({ url, facility, appName, authority, allowPrivate }) => ({
      url,
      facility,
      appName,
      authority,
      allowPrivate,
    }),
  },
};

/** A subscription after a change, checked like a new one: what belongs to another kind is refused. */
export function changed(before: Subscription, change: Record<string, unknown>): SubscriptionRequest {
  const { name, kind, types, severity, allSites, siteIds, enabled } = before;
  const { tags, fields, classes, eventKinds, hours } = before;
  const result = subscriptionRequest.safeParse({
    ...{ kind, name, types, severity, enabled, siteIds, tags, fields, classes, eventKinds, hours },
    // Naming sites is to be about these.
    ...(change.siteIds === undefined || change.allSites !== undefined ? { allSites } : {}),
    ...TARGET[kind].of(before),
    // A template and a channel go with their format.
    ...(change.format !== undefined && change.format !== before.format && { template: null, channel: null }),
    ...change,
  });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys')
    throw invalid(issue.keys.join(', '), `does not apply to ${TARGET[kind].name}`);
  throw invalid(issue?.path.join('.') ?? '', issue?.message ?? '');
}

/** @throws Problem where the target may not be reached, or the caller may not allow it. */
export function checkTarget(actor: Actor, draft: SubscriptionRequest, before?: Subscription): void {
  if (draft.kind === 'email') return;
  if (draft.kind === 'webhook') {
    checkSecrets(draft, before);
    checkTemplate(draft);
    checkChannel(draft);
  }
  if (draft.allowPrivate && actor.sites !== 'all' && (!before?.allowPrivate || before.url !== draft.url))
    throw new Problem(
      'forbidden',
      'private targets: only an administrator who sees every site may allow them',
    );
  try {
    (draft.kind === 'syslog' ? parseSyslogTarget : parseTarget)(draft.url, draft.allowPrivate);
  } catch (error) {
    throw error instanceof TargetRefused ? invalid('url', error.message) : error;
  }
}

/** @throws Problem where no event can fit, or the hours have no time zone. */
export function checkChoice(
  known: readonly string[],
  { eventKinds, hours }: Pick<SubscriptionRequest, 'eventKinds' | 'hours'>,
): void {
  for (const kind of eventKinds) {
    if (known.includes(kind)) continue;
    const meant = closest(kind, known);
    throw invalid('eventKinds', `there is no kind ${kind}${meant ? `, did you mean ${meant}?` : ''}`);
  }
  if (hours) requireZone(hours.timezone);
}

/** Secrets that were not given anew are kept, but never for another host, and never to go unencrypted where they did not. */
function checkSecrets(draft: WebhookRequest, before?: Subscription): void {
  const same = before?.url != null && originOf(before.url) === originOf(draft.url);
  const hasKey = same && before.format === draft.format;
  if (KEYED_FORMATS.includes(draft.format) && draft.key === undefined && !hasKey)
    throw invalid('key', `is needed for ${draft.format}`);
  const kept = new Set(
    same ? before.headers.flatMap(({ name, secret }) => (secret ? name.toLowerCase() : [])) : [],
  );
  for (const [at, { name, value, secret }] of draft.headers.entries())
    if (value === undefined && !(secret && kept.has(name.toLowerCase())))
      throw invalid(`headers.${at}.value`, `is needed: the value of ${name}`);
}
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

/** When the made-up case of a check opens: any time will do. */
const SAMPLE_AT = Date.UTC(2026, 0, 1);

/** Renders the template of a made-up case: what is wrong with it is told now, and not when there is trouble to tell of. */
export function checkTemplate({ format, template, headers }: WebhookRequest): void {
  if (format !== 'template') {
    if (template != null) throw invalid('template', `does not apply to the format ${format}`);
    return;
  }
  if (template == null) throw invalid('template', 'is needed: the body in Liquid');
  const own = headersOf(shownHeaders({ headers }), {});
  try {
    render(template, sampleCase(SAMPLE_AT, 'https://rollcall.example.net'), {
      json: isJson(own),
      strict: true,
    });
  } catch (error) {
    throw error instanceof TemplateRefused ? invalid('template', error.message) : error;
  }
}

function checkChannel({ format, channel }: WebhookRequest): void {
  if (isChannelFormat(format) && channel == null) throw invalid('channel', `is needed for ${format}`);
  if (!isChannelFormat(format) && channel != null)
    throw invalid('channel', `does not apply to the format ${format}`);
}

/** Headers as they are stored beside their secrets, and shown. */
export const shownHeaders = ({ headers }: Pick<WebhookRequest, 'headers'>) =>
  headers.map(({ name, value = null, secret }) => ({ name, value: secret ? null : value, secret }));

/** What a request gives of the receiver's secrets; undefined where it says nothing of them. */
export function givenSecrets({
  key,
  headers,
}: {
  key?: string | undefined;
  headers?: WebhookRequest['headers'] | undefined;
}): Given | undefined {
  if (key === undefined && headers === undefined) return undefined;
  const secret = headers
    ?.filter((header) => header.secret)
    .map(({ name, value }) => [name.toLowerCase(), value]);
  return { ...(key !== undefined && { key }), ...(secret && { headers: Object.fromEntries(secret) }) };
}

/** What a request sets, as it is stored. */
export async function stored(
  sql: Transaction,
  actor: Actor,
  draft: SubscriptionRequest,
  before?: Subscription,
) {
  const { name, types, severity, tags, classes, eventKinds, hours, enabled } = draft;
  const { allSites, siteIds } = await scopeOfRequest(sql, actor, draft, 'about');
  return {
    name,
    types,
    severity,
    tags: distinct(tags),
    fields: await storedFilters(sql, ANNOTATED, draft.fields, {
      member: 'fields',
      before: before?.fields ?? [],
    }),
    classes: [...new Set(classes)],
    eventKinds: [...new Set(eventKinds)],
    hours: hours ?? Prisma.DbNull,
    enabled,
    allSites,
    siteIds: allSites ? [] : siteIds,
    ...ofKind(draft),
  };
}

/** One of each, whatever its case. */
const distinct = (tags: readonly string[]): string[] => [
  ...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values(),
];

/** The columns of its kind; those of the others are empty. */
function ofKind(draft: SubscriptionRequest) {
  const none = {
    ...{
      url: null,
      format: null,
      template: null,
      channel: null,
      facility: null,
      appName: null,
      authority: null,
    },
    ...{ headers: [], addresses: [], allowPrivate: false, acknowledge: false },
  };
  switch (draft.kind) {
    case 'webhook': {
      const { url, format, template = null, channel = null, allowPrivate, acknowledge } = draft;
      return {
        ...none,
        url,
        format,
        template,
        channel,
        allowPrivate,
        acknowledge,
        headers: shownHeaders(draft),
      };
    }
    case 'email':
      return { ...none, addresses: draft.addresses, acknowledge: draft.acknowledge };
    case 'syslog': {
      const { url, facility, appName, authority, allowPrivate } = draft;
      return { ...none, url, facility, appName, authority, allowPrivate };
    }
  }
}
