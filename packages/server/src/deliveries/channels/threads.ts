/**
 * Chats to which Rollcall writes as a bot: the first notice of a case is a message, which later ones bring up to date, and
 * answer in its thread. Incoming webhooks of these products do not say what the message they made is called.
 */
import type { ChannelFormat } from '@rollcall/shared/api/subscriptions';
import { z } from 'zod';
import { mattermostText, slackText } from './chat-text.ts';
import type { Payload } from './message.ts';
import { failed, type Outcome } from './outcome.ts';
import type { Request, Target } from './request.ts';

/** What a chat said: what it calls the message, or why there is none. */
interface Said {
  id?: string;
  error?: string;
  /** The message is not there any more: a new one opens the thread. */
  lost?: boolean;
  /** The message may not be changed any more; the thread goes on. */
  fixed?: boolean;
}
/** @param id what `read` was told of the message that opened the thread */
interface Channel {
  open(payload: Payload, target: Target): Request;
  renew(payload: Payload, target: Target, id: string): Request;
  reply(payload: Payload, target: Target, id: string): Request;
  read(answer: { status: number | null; said: string }): Said;
}

const base = ({ url }: Target): string => url.replace(/\/$/, '');
const at = (target: Target, path: string): string => `${base(target)}/${path}`;
const asBot = (target: Target, path: string, body: object): Request => ({
  url: at(target, path),
  headers: { ...target.headers, authorization: `Bearer ${target.key}` },
  body,
});
/** JSON of a shape, or nothing. */
function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

// https://docs.slack.dev/reference/methods/chat.postMessage and chat.update: 200 with `ok: false` is a refusal.
const slackAnswer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
});
const slackId = (id: string) => {
  const [channel = '', ts = ''] = id.split(' ');
  return { channel, ts };
};
const SLACK_FIXED = ['edit_window_closed', 'cant_update_message'];

// https://api.mattermost.com: POST /api/v4/posts, PUT /api/v4/posts/{id}/patch.
const mattermostAnswer = z.object({ id: z.string(), message: z.string().optional() });

export const CHANNELS: Readonly<Record<ChannelFormat, Channel>> = {
  'slack-bot': {
    open: (payload, target) =>
      asBot(target, 'chat.postMessage', {
        channel: target.channel,
        text: slackText(payload),
        unfurl_links: false,
      }),
    renew: (payload, target, id) =>
      asBot(target, 'chat.update', { ...slackId(id), text: slackText(payload) }),
    reply: (payload, target, id) => {
      const { channel, ts } = slackId(id);
      const text = slackText(payload);
      return asBot(target, 'chat.postMessage', { channel, thread_ts: ts, text, unfurl_links: false });
    },
    read: ({ said }) => {
      const { ok = false, error = 'no JSON that is known', channel, ts } = parsed(slackAnswer, said) ?? {};
      if (ok && channel && ts) return { id: `${channel} ${ts}` };
      return { error, lost: error === 'message_not_found', fixed: SLACK_FIXED.includes(error) };
    },
  },
  'mattermost-bot': {
    open: (payload, target) =>
      asBot(target, 'api/v4/posts', { channel_id: target.channel, message: mattermostText(payload) }),
    renew: (payload, target, id) => ({
      ...asBot(target, `api/v4/posts/${id}/patch`, { message: mattermostText(payload) }),
      method: 'PUT',
    }),
    reply: (payload, target, id) =>
      asBot(target, 'api/v4/posts', {
        channel_id: target.channel,
        root_id: id,
        message: mattermostText(payload),
      }),
    read: ({ status, said }) => {
      const { id, message = 'no JSON that is known' } = parsed(mattermostAnswer, said) ?? {};
      const made = status !== null && status >= 200 && status < 300;
      if (made && id !== undefined && /^\w+$/.test(id)) return { id };
      return { error: message, lost: status === 404, fixed: status === 403 };
    },
  },
};

interface Threaded {
  format: ChannelFormat;
  payload: Payload;
  target: Target;
  /** As it is stored: where the message is, and what the chat calls it. */
  thread: string | null;
  /** Its outcome has what was answered. */
  send(request: Request): Promise<Outcome>;
}

/** Opens the thread of a case, or brings its message up to date and answers it. A second try repeats no answer. */
export async function postToThread({ format, payload, target, thread, send }: Threaded): Promise<Outcome> {
  const channel = CHANNELS[format];
  const said = async (request: Request): Promise<{ outcome: Outcome; said: Said }> => {
    const outcome = await send(request);
    const what = channel.read({ status: outcome.status, said: outcome.said ?? '' });
    if (!outcome.ok || what.id !== undefined) return { outcome, said: what };
    return { outcome: failed(`answered ${what.error}`, { status: outcome.status }), said: what };
  };
  // In another chat or channel, as the subscription may name one by now, nobody sees the old thread.
  const place = `${format} ${base(target)} ${target.channel} `;
  const first = thread?.startsWith(place) ? thread.slice(place.length) : undefined;
  if (first !== undefined) {
    const renewed = await said(channel.renew(payload, target, first));
    if (renewed.outcome.ok || renewed.said.fixed)
      return (await said(channel.reply(payload, target, first))).outcome;
    if (!renewed.said.lost) return renewed.outcome;
  }
  const opened = await said(channel.open(payload, target));
  const id = payload.type === 'test' ? undefined : opened.said.id;
  return { ...opened.outcome, ...(opened.outcome.ok && id !== undefined && { thread: `${place}${id}` }) };
}
