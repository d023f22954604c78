/** Threads in chats: an imitation of each, made from its public API documentation, on real sockets. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Payload } from './message.ts';
import { failed } from './outcome.ts';
import type { Request } from './request.ts';
import { sampleCase, testPayload } from './sample.ts';
import { postToThread } from './threads.ts';
import { postWebhook } from './webhook.ts';

interface Message {
  text: string;
  thread: string | undefined;
}
/** What stands in a channel, by what the chat calls it. */
type Chat = Map<string, Message>;
interface Asked {
  method: string;
  path: string;
  token: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what a chat is sent
  body: any;
}

/** https://docs.slack.dev/reference/methods: every answer is a 200. */
function slack(chat: Chat, { path, token, body }: Asked) {
  const refused = (error: string) => ({ status: 200, said: { ok: false, error } });
  if (token !== 'Bearer xoxb-1') return refused('invalid_auth');
  if (body.channel !== 'C1') return refused('channel_not_found');
  if (path === '/api/chat.update') {
    const one = chat.get(body.ts);
    if (!one) return refused('message_not_found');
    if (body.text.length > 4_000) return refused('msg_too_long');
    one.text = body.text;
    return { status: 200, said: { ok: true, channel: 'C1', ts: body.ts, text: body.text, message: body } };
  }
  if (path !== '/api/chat.postMessage') return refused('unknown_method');
  const ts = `1763700000.00${chat.size}`;
  chat.set(ts, { text: body.text, thread: body.thread_ts });
  return {
    status: 200,
    said: { message: { text: body.text, blocks: [body.text] }, ok: true, channel: 'C1', ts },
  };
}

/** https://api.mattermost.com: statuses, and an AppError where it refuses. */
function mattermost(chat: Chat, { method, path, token, body }: Asked) {
  const refused = (status: number, message: string) => ({
    status,
    said: { id: 'api.error', message, status_code: status },
  });
  if (token !== 'Bearer xoxb-1') return refused(401, 'Invalid or expired session, please login again.');
  const [, patched] = /^\/api\/v4\/posts\/(\w+)\/patch$/.exec(path) ?? [];
  if (method === 'PUT' && patched !== undefined) {
    const one = chat.get(patched);
    if (!one) return refused(404, 'Unable to get the post.');
    one.text = body.message;
    return { status: 200, said: { id: patched, message: body.message } };
  }
  if (body.message.length > 16_383) return refused(400, 'Message is too long.');
  if (method !== 'POST' || path !== '/api/v4/posts')
    return refused(404, 'Sorry, we could not find the page.');
  if (body.channel_id !== 'C1') return refused(403, 'You do not have the appropriate permissions.');
  const id = `post${chat.size}`;
  chat.set(id, { text: body.message, thread: body.root_id });
  return { status: 201, said: { id, channel_id: 'C1', message: body.message } };
}

/** As chats write what is not ASCII. */
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const IMITATIONS = { 'slack-bot': slack, 'mattermost-bot': mattermost } as const;
const OPENED = sampleCase(Date.UTC(2026, 10, 20, 12), 'https://rollcall.example.net');
const turned = (type: Payload['type'], status: 0 | 1 | 2): Payload => ({
  ...OPENED,
  type,
  data: { ...OPENED.data, case: { ...OPENED.data.case, status } },
});

describe.each(['slack-bot', 'mattermost-bot'] as const)('a case is one thread by %s', (format) => {
  let server: Server;
  let chat: Chat;
  let url: string;
  beforeEach(async () => {
    chat = new Map();
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const answer = IMITATIONS[format](chat, {
          method,
          path,
          token: headers.authorization,
          body: JSON.parse(body),
        });
        response
          .writeHead(answer.status, { 'content-type': 'application/json' })
          .end(JSON.stringify(answer.said).replace(/[^ -~]/g, escaped));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${format === 'slack-bot' ? '/api' : ''}`;
  });
  afterEach(() => void server.close());

  const tell = (payload: Payload, thread: string | null, more: object = {}) =>
    postToThread({
      ...{ format, payload, thread },
      target: { url, key: 'xoxb-1', template: null, channel: 'C1', headers: {}, ...more },
      send: (request: Request) =>
        postWebhook({
          ...{ id: 'msg', request, allowPrivate: true, secrets: [], now: 0, hears: true },
          signal: new AbortController().signal,
        }),
    });

  it('opens it, then brings the message up to date and answers in it', async () => {
    const opened = await tell(OPENED, null);
    expect(opened).toMatchObject({ ok: true, thread: expect.stringMatching(`^${format} `) });
    const over = await tell(turned('case.resolved', 2), opened.thread ?? null);
    expect(over).toMatchObject({ ok: true });
    expect(over.thread).toBeUndefined();
    const [[first, message] = expect.fail(), [, reply] = expect.fail(), ...others] = [...chat];
    expect([message.thread, reply.thread, others]).toEqual([undefined, first, []]);
    expect([message.text, reply.text]).toEqual([
      expect.stringContaining('resolved'),
      expect.stringContaining('resolved'),
    ]);
    expect(message.text).toContain('https://rollcall.example.net/cases/');
  });

  it('is brought up to date with ten long events, too', async () => {
    const [event = expect.fail()] = OPENED.data.events;
    const events = Array.from({ length: 10 }, () => ({ ...event, message: '漢_'.repeat(500) }));
    const long = (payload: Payload): Payload => ({ ...payload, data: { ...payload.data, events } });
    const { ok, error, thread = null } = await tell(long(OPENED), null);
    expect([ok, error]).toEqual([true, '']);
    expect(await tell(long(turned('case.changed', 1)), thread)).toMatchObject({ ok: true, error: '' });
    expect(chat.size).toBe(2);
  });

  it('says so where the answer is too long to read', async () => {
    server.removeAllListeners('request');
    server.on('request', (_, response) => response.end(`{"ok":true,"filler":"${'x'.repeat(70_000)}"}`));
    expect(await tell(OPENED, null)).toMatchObject({ ok: false, error: 'it answered more than 64 KiB' });
  });

  it('begins anew where the message was deleted, or another chat had it', async () => {
    const { thread = null } = await tell(OPENED, null);
    chat.clear();
    expect(await tell(turned('case.changed', 1), thread)).toMatchObject({
      ok: true,
      thread: expect.any(String),
    });
    expect(await tell(turned('case.changed', 1), 'another-bot 7')).toMatchObject({
      thread: expect.any(String),
    });
    expect([...chat.values()].map((each) => each.thread)).toEqual([undefined, undefined]);
  });

  it.each([
    ['channel', { channel: 'C2' }],
    ['host', { url: 'elsewhere' }],
  ])(
    'begins anew where the subscription names another %s since, and says nothing in the old one',
    async (_, more) => {
      const { thread = null } = await tell(OPENED, null);
      chat.clear();
      const asked: Request[] = [];
      await postToThread({
        ...{ format, payload: turned('case.resolved', 2), thread },
        target: { url, key: 'xoxb-1', template: null, channel: 'C1', headers: {}, ...more },
        send: async (request) => {
          asked.push(request);
          return failed('not now');
        },
      });
      expect(asked.map(({ url, method }) => [url, method])).toEqual([
        [expect.stringMatching(/(chat\.postMessage|api\/v4\/posts)$/), undefined],
      ]);
      expect(asked[0]?.body).not.toHaveProperty(format === 'slack-bot' ? 'thread_ts' : 'root_id');
    },
  );

  it('a test opens no thread', async () => {
    const outcome = await tell(testPayload(0), null);
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.thread).toBeUndefined();
  });

  it.each([
    ['the token is wrong', { key: 'xoxb-2' }],
    ['the channel is not there', { channel: 'C2' }],
  ])('is not delivered where %s, and says what was answered', async (_, more) => {
    expect(await tell(OPENED, null, more)).toMatchObject({
      ok: false,
      final: false,
      error: expect.stringMatching(/answered (invalid_auth|channel_not_found|Invalid or|You do not|40[13])/),
    });
    expect(chat.size).toBe(0);
  });
});
