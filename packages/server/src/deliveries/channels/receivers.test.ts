/** What chats and pagers are sent is taken by them: by imitations of each, and by Debian's Alertmanager. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookFormat } from '@rollcall/shared/api/subscriptions';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, RECEIVERS } from '../../testing/receivers.ts';
import { requestOf } from './formats.ts';
import type { Payload } from './message.ts';
import type { Request } from './request.ts';
import { sampleCase, testPayload } from './sample.ts';
import { postWebhook } from './webhook.ts';

/** Alertmanager judges by the clock what is over. */
const NOW = Date.now();
const OPENED = sampleCase(NOW, 'https://rollcall.example.net');
type Case = Payload['data']['case'];
const turned = (
  type: Payload['type'],
  more: Partial<Case>,
  data: Partial<Payload['data']> = {},
): Payload => ({
  type,
  timestamp: OPENED.timestamp,
  data: { ...OPENED.data, ...data, case: { ...OPENED.data.case, ...more } },
});
/** As long as each member may be, in characters of two units, which must not be halved. */
const LONG = '\u{1F6A8}_'.repeat(500);
const [event = expect.fail()] = OPENED.data.events;
const NOTICES: readonly [string, Payload][] = [
  ['a test', testPayload(NOW)],
  ['a case that opens', OPENED],
  ['a case in hand', turned('case.changed', { status: 1 })],
  ['a case that reopens', turned('case.reopened', { status: 1 })],
  ['a case that is resolved', turned('case.resolved', { status: 2, resolvedAt: OPENED.timestamp })],
  ['the least severe', turned('case.opened', { severity: 5, tags: [], assignee: null }, { events: [] })],
  [
    'everything as long as it may be',
    turned(
      'case.opened',
      { title: LONG.slice(0, 198), tags: Array.from({ length: 50 }, (_, at) => `${at}${LONG.slice(0, 57)}`) },
      {
        site: { id: OPENED.data.site.id, name: LONG.slice(0, 99) },
        events: Array.from({ length: 10 }, () => ({ ...event, message: LONG })),
      },
    ),
  ],
];
const KEY = '0123456789abcdef0123456789abcdef';
const target = (url: string) => ({ url, key: KEY, template: null, channel: null, headers: {} });
const post = (request: Request) =>
  postWebhook({
    ...{ id: 'msg', request, allowPrivate: true, secrets: [], now: NOW, hears: true },
    signal: new AbortController().signal,
  });

describe.each(Object.keys(RECEIVERS) as (keyof typeof RECEIVERS)[])('%s', (format: WebhookFormat) => {
  const { path, receive } = RECEIVERS[format as keyof typeof RECEIVERS];
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', url: asked = '', headers } = request;
      const body = Buffer.concat(chunks).toString();
      const said = receive({ method, path: asked, headers: headers as Asked['headers'], body });
      response.writeHead(said.status).end(said.body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  });
  afterAll(() => void server.close());

  it.each(NOTICES)('takes %s', async (_, payload) => {
    const { ok, said } = await post(requestOf(format, payload, target(url)));
    expect(ok, said).toBe(true);
  });

  it('refuses what the real one does: a missing member, a text that is too long, another type', async () => {
    const request = requestOf(format, OPENED, target(url));
    const sent = request.body as Record<string, unknown>;
    const [first = ''] = Object.keys(sent).filter((name) => name !== 'type');
    const bad: Request[] = [
      { ...request, body: { ...sent, [first]: undefined } },
      JSON.parse(JSON.stringify(request).replaceAll('does not answer', 'x'.repeat(50_000))),
      { ...request, headers: { ...request.headers, 'content-type': 'text/plain' } },
      { ...request, body: '{' },
    ];
    for (const each of bad) expect(await post(each)).toMatchObject({ ok: false, status: expect.any(Number) });
  });
});

const ALERTMANAGER = '/usr/bin/prometheus-alertmanager';
/** Until it listens, on a busy machine. */
const START_MS = 120_000;
if (!existsSync(ALERTMANAGER)) skipped('Alertmanager itself: install prometheus-alertmanager');

describe.skipIf(!existsSync(ALERTMANAGER))('Alertmanager', () => {
  let url = '';
  let child: ChildProcess;
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollcall-alertmanager-'));
    const file = join(folder, 'alertmanager.yml');
    writeFileSync(file, 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
    const words = [
      ...[`--config.file=${file}`, `--storage.path=${join(folder, 'data')}`],
      ...['--web.listen-address=127.0.0.1:0', '--cluster.listen-address='],
    ];
    child = spawn(ALERTMANAGER, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr?.on('data', (text) => (log += text));
    const address = () => /"Listening on" address=(127\.0\.0\.1:\d+)/.exec(log)?.[1];
    const end = Date.now() + START_MS;
    while (!address()) {
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(`Alertmanager does not listen: ${log}`);
      await sleep(100);
    }
    url = `http://${address()}`;
  });
  afterAll(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    rmSync(folder, { recursive: true });
  });

  interface Alert {
    labels: Record<string, string>;
    annotations: Record<string, string>;
  }
  const active = async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as Alert[];
  const tell = (payload: Payload) => post(requestOf('alertmanager', payload, target(`${url}/api/v2/alerts`)));

  it.each(NOTICES)('takes %s', async (_, payload) => {
    const { ok, said } = await tell(payload);
    expect(ok, said).toBe(true);
  });

  it('has one alert of a case, brought up to date, until it is resolved', async () => {
    const number = 2000;
    const of = async () => (await active()).filter(({ labels }) => labels.case === String(number));
    await tell(turned('case.opened', { number }));
    await tell(turned('case.changed', { number, severity: 1 }));
    expect(await of()).toMatchObject([{ annotations: { severity: 'critical' } }]);
    await tell(turned('case.resolved', { number, status: 2, resolvedAt: OPENED.timestamp }));
    await expect.poll(of).toEqual([]);
  });
});
