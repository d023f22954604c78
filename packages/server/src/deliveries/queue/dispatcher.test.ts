import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { notice } from '@rollcall/shared/api/notices';
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Change } from '../../changes.ts';
import type { Database } from '../../platform/db/db.ts';
import { keyring } from '../../platform/keys/keyring.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../../testing/rows.ts';
import type { DeliveryDeps } from '../deps.ts';
import { createDeliveryFeature } from '../feature.ts';
import { createDispatcher, type Dispatcher, purge } from './dispatcher.ts';
import { fanOut } from './fan-out.ts';

afterAll(closeDatabases);
const HOUR = 3600_000;

describe.each(databases())('deliveries on %s', (name, open) => {
  let db: Database;
  let site: string;
  let now: number;
  let deps: DeliveryDeps;
  let dispatcher: Dispatcher;
  let raised: Change[];
  let receiver: Server;
  let url: string;
  let answer: number;
  let received: { request: IncomingMessage; body: string }[];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async () => undefined,
    every: () => () => undefined,
  };

  beforeEach(async () => {
    db ??= await open();
    await db.query('DELETE FROM case_outbox');
    await db.query('DELETE FROM subscriptions');
    await db.query('DELETE FROM mail_settings');
    site = await addSite(db, uuidv7());
    now = Date.parse('2026-11-20T12:00:00Z');
    raised = [];
    received = [];
    answer = 204;
    deps = {
      db,
      clock,
      log: pino({ level: 'silent' }),
      keyring: keyring([randomBytes(32)]),
      audit: async () => undefined,
      recordChanges: async (_sql, changes) => void raised.push(...changes),
      acknowledgeCase: async () => undefined,
      eventKinds: ['device.down', 'interface.down'],
      publicUrl: 'https://rollcall.example.net',
    };
    dispatcher = createDispatcher(deps);
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ request, body });
        response.writeHead(answer, answer === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end('thanks');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  });
  afterEach(async () => {
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  const call = (who = caller('admin')) => asCaller(createDeliveryFeature(deps).handlers, who);
  const subscribe = async (more: object = {}) =>
    (await call()('subscriptions.create', {
      body: { kind: 'webhook', name: uuidv7(), url, allowPrivate: true, ...more },
    })) as unknown as { data: { id: string }; extra: { secret: string } };
  const turn = async (type: string, caseId = uuidv7(), severity = 2) => {
    await db.query(
      `INSERT INTO cases (site_id, id, title, severity, tags, created_at, updated_at) VALUES ($1, $2, 'core does not answer', $3, '{}', now(), now())
       ON CONFLICT DO NOTHING`,
      [site, caseId, severity],
    );
    await insert(db, 'case_outbox', [
      { site_id: site, case_id: caseId, type, at: new Date(now).toISOString() },
    ]);
    return caseId;
  };
  const listed = async (query: Record<string, string> = {}) =>
    (await call()('deliveries.list', { query })).data;
  const types = () => received.map(({ body }) => JSON.parse(body).type);

  it('posts what happened, signed so that the receiver can check it', async () => {
    const { extra } = await subscribe();
    const caseId = await turn('case.opened');
    expect(await dispatcher.round()).toBe(1);
    const [{ request, body } = expect.fail('nothing came')] = received;
    expect(notice.parse(JSON.parse(body))).toMatchObject({
      type: 'case.opened',
      timestamp: now / 1000,
      data: {
        case: { id: caseId, title: 'core does not answer', severity: 2, status: 0 },
        site: { id: site },
        events: [],
        url: `https://rollcall.example.net/cases/${caseId}`,
      },
    });
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers;
    const key = Buffer.from(extra.secret.slice('whsec_'.length), 'base64');
    expect(signature).toBe(`v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`);
    expect(await listed()).toMatchObject([
      { id, status: 'delivered', attempts: 1, responseStatus: 204, error: '' },
    ]);
    expect(await db.query('SELECT 1 FROM case_outbox')).toEqual([]);
    expect(await dispatcher.round()).toBe(0);
  });

  it('posts headers and a body of its own; what is secret of them is written, never read', async () => {
    const template = '{"text": {{ summary | json }}, "of": {{ data.case.number }}}';
    const { data } = await subscribe({
      format: 'template',
      template,
      headers: [
        { name: 'X-Tenant', value: 'network' },
        { name: 'Authorization', value: 'Bearer s3cret', secret: true },
      ],
    });
    const one = { params: { id: data.id } };
    expect((await call()('subscriptions.get', one)).data).toMatchObject({
      template,
      headers: [
        { name: 'X-Tenant', value: 'network', secret: false },
        { name: 'Authorization', value: null, secret: true },
      ],
    });
    const [{ text } = expect.fail()] = await db.query<{ text: string }>(
      'SELECT s::text AS text FROM subscriptions s',
    );
    expect(text).not.toContain('s3cret');
    // One that is named without its value keeps it, like one that is not named at all.
    for (const headers of [undefined, [{ name: 'authorization', secret: true }]]) {
      await call()('subscriptions.update', { ...one, body: { severity: 4, ...(headers && { headers }) } });
      await turn('case.opened');
      await dispatcher.round();
    }
    expect(
      received.map(({ request }) => [request.headers.authorization, request.headers['x-tenant']]),
    ).toEqual([
      ['Bearer s3cret', 'network'],
      ['Bearer s3cret', undefined],
    ]);
    const [{ body, request } = expect.fail()] = received;
    expect(JSON.parse(body)).toMatchObject({ text: expect.stringContaining('core does not answer') });
    const { 'webhook-id': id, 'webhook-timestamp': at } = request.headers;
    expect(request.headers['webhook-signature']).toMatch(/^v1,/);
    expect([id, at]).not.toContain(undefined);
    expect(request.headers['content-type']).toBe('application/json');
    const refused = { code: 'invalid_request', message: expect.stringMatching(/value of authorization/) };
    // Nobody gets at the secret by naming another host, nor by listening where it goes unencrypted.
    await expect(
      call()('subscriptions.update', { ...one, body: { url: 'http://127.0.0.2/hook' } }),
    ).rejects.toMatchObject(refused);
    const secure = {
      url: 'https://hooks.example.net:8443/hook',
      headers: [{ name: 'Authorization', value: 'Bearer s3cret', secret: true }],
    };
    await call()('subscriptions.update', { ...one, body: secure });
    await expect(
      call()('subscriptions.update', { ...one, body: { url: 'http://hooks.example.net:8443/hook' } }),
    ).rejects.toMatchObject({ ...refused, message: expect.stringMatching(/value of Authorization/) });
  });

  it.each([
    [
      'a template that makes no JSON',
      { format: 'template', template: '"{{ data.case.title }}"' },
      /makes no JSON/,
    ],
    [
      'a template that does not end',
      { format: 'template', template: '{% if summary %}' },
      /not closed, line:1/,
    ],
    ['the format without a template', { format: 'template' }, /template: is needed/],
    ['a template of another format', { template: '{{ summary }}' }, /does not apply to the format rollcall/],
    ['a header without a value', { headers: [{ name: 'X-Tenant' }] }, /value of X-Tenant/],
  ])('refuses %s when it is saved, and when it is previewed', async (_, more, message) => {
    await expect(subscribe(more)).rejects.toThrow(message);
  });

  it('shows what it would send before it is saved, and no secret', async () => {
    const draft = {
      ...{ kind: 'webhook', name: 'a draft', url, format: 'template', template: '{{ summary }}' },
      headers: [
        { name: 'Content-Type', value: 'text/plain' },
        { name: 'X-Key', value: 's3cret', secret: true },
      ],
    };
    expect((await call()('subscriptions.preview', { body: draft })).data).toEqual({
      to: `POST ${url}`,
      headers: [
        { name: 'content-type', value: 'text/plain' },
        { name: 'x-key', value: '***' },
      ],
      body: '[Berlin] #1042 opened: core-1 "Hall <2>" does not answer (major)',
    });
    const mail = { kind: 'email', name: 'a draft', addresses: ['noc@example.net'] };
    expect((await call()('subscriptions.preview', { body: mail })).data).toMatchObject({
      to: 'noc@example.net',
      headers: [{ name: 'Subject', value: expect.stringContaining('core-1') }],
      body: expect.stringContaining('https://rollcall.example.net/cases/'),
    });
    await expect(
      call()('subscriptions.preview', { body: { ...draft, template: '{% if summary %}' } }),
    ).rejects.toThrow(/not closed, line:1, col:1/);
  });

  it('tells a log server by syslog, tries it, and shows what it would send', async () => {
    const frames: string[] = [];
    const server = createSocketServer((socket) => {
      socket.on('data', (chunk) => frames.push(String(chunk)));
      socket.on('end', () => socket.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const body = {
      ...{ kind: 'syslog', name: uuidv7(), facility: 17, appName: 'noc', allowPrivate: true },
      url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
    const preview = (await call()('subscriptions.preview', { body })).data as { body: string };
    expect(preview.body).toMatch(/^<139>1 \S+ \S+ noc - case\.opened \[rollcall@32473 /);
    const { data, extra } = (await call()('subscriptions.create', { body })) as unknown as Awaited<
      ReturnType<typeof subscribe>
    >;
    expect([data, extra]).toMatchObject([{ facility: 17, appName: 'noc', authority: '' }, { secret: null }]);
    await call()('subscriptions.test', { params: { id: data.id } });
    await turn('case.opened');
    expect(await dispatcher.round()).toBe(2);
    expect(await listed()).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
    await expect.poll(() => frames.length).toBe(2);
    expect(frames).toEqual([
      expect.stringMatching(/^\d+ <1\d\d>1 .* test /),
      expect.stringContaining('does not answer'),
    ]);
    server.close();
    for (const wrong of ['https://log.example.net/', 'tls://log.example.net', 'tls://log.example.net:6514/x'])
      await expect(
        call()('subscriptions.create', { body: { ...body, name: uuidv7(), url: wrong } }),
      ).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(
      call()('subscriptions.update', { params: { id: data.id }, body: { headers: [] } }),
    ).rejects.toThrow(/does not apply to syslog/);
  });

  it('keeps of each case which message its thread began with', async () => {
    receiver.removeAllListeners('request');
    receiver.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ request, body });
        response.end(JSON.stringify({ ok: true, channel: 'C1', ts: `1.${received.length}` }));
      });
    });
    const bot = { format: 'slack-bot', key: 'xoxb-1' };
    await expect(subscribe(bot)).rejects.toThrow(/channel: is needed for slack-bot/);
    await subscribe({ ...bot, channel: 'C1', types: ['case.opened', 'case.resolved'] });
    const one = await turn('case.opened');
    await dispatcher.round();
    await turn('case.opened');
    await dispatcher.round();
    await turn('case.resolved', one);
    await dispatcher.round();
    const sent = received.map(({ request, body }) => [
      request.url?.split('/').at(-1),
      JSON.parse(body).ts ?? JSON.parse(body).thread_ts,
    ]);
    expect(sent).toEqual([
      ['chat.postMessage', undefined],
      ['chat.postMessage', undefined],
      ['chat.update', '1.1'],
      ['chat.postMessage', '1.1'],
    ]);
    expect(received[0]?.request.headers.authorization).toBe('Bearer xoxb-1');
  });

  it('keeps which message a thread began with for as long as later notices of its case', async () => {
    await subscribe();
    const caseId = await turn('case.opened');
    await dispatcher.round();
    await db.query(`UPDATE deliveries SET thread = 'first' WHERE case_id = $1::uuid`, [caseId]);
    now += 29 * 24 * HOUR;
    await turn('case.reopened', caseId);
    await dispatcher.round();
    const left = async () =>
      (
        await db.query<{ type: string }>(
          'SELECT type FROM deliveries WHERE case_id = $1::uuid ORDER BY position',
          [caseId],
        )
      ).map(({ type }) => type);
    await purge(db, now + 2 * 24 * HOUR);
    expect(await left(), 'of an open case').toEqual(['case.opened', 'case.reopened']);
    await purge(db, now + 31 * 24 * HOUR);
    expect(await left(), 'of a case that is open for long').toEqual(['case.opened', 'case.reopened']);
    const end = now + 31 * 24 * HOUR;
    await db.query('UPDATE cases SET status = 2, resolved_at = $2::timestamptz WHERE id = $1::uuid', [
      caseId,
      new Date(end),
    ]);
    await purge(db, end + 29 * 24 * HOUR);
    expect(await left(), 'of a case that just ended').toEqual(['case.opened', 'case.reopened']);
    for (const _ of [1, 2]) await purge(db, end + 31 * 24 * HOUR);
    expect(await left()).toEqual([]);
  });

  it('attack: an administrator of a site takes no room from other sites, and learns no name of theirs', async () => {
    const other = await addSite(db, uuidv7());
    const of = (siteId: string) => call({ ...caller('admin'), sites: [siteId] });
    const make = (siteId: string, name: string) =>
      of(siteId)('subscriptions.create', {
        body: { kind: 'email', name, addresses: ['noc@example.net'], siteIds: [siteId] },
      });
    await make(other, 'to the board');
    await make(site, 'to the board');
    await expect(make(site, 'to the board')).rejects.toMatchObject({
      code: 'conflict',
      message: 'there is a subscription to the board already',
    });
    for (let i = 1; i < 100; i++) await make(site, `one of many ${i}`);
    const full = { code: 'conflict', message: 'the site has 100 subscriptions; delete some' };
    await expect(make(site, 'one too many')).rejects.toMatchObject(full);
    const { data } = await make(other, 'there is room');
    const move = { params: { id: data.id }, body: { siteIds: [site, other] } };
    await expect(call()('subscriptions.update', move)).rejects.toMatchObject(full);
    await subscribe();
  });

  it('sends a pager what it takes, with its key, which stays when the secret is replaced', async () => {
    await expect(subscribe({ format: 'pagerduty' })).rejects.toThrow(/needed for pagerduty/);
    const { data } = await subscribe({ format: 'pagerduty', key: 'R0UTE' });
    expect(data).toMatchObject({ format: 'pagerduty' });
    expect(JSON.stringify(data)).not.toContain('R0UTE');
    await call()('subscriptions.rotate', { params: { id: data.id } });
    const caseId = await turn('case.opened');
    await dispatcher.round();
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      routing_key: 'R0UTE',
      event_action: 'trigger',
      dedup_key: `rollcall-case-${caseId}`,
    });
    const opsgenie = { params: { id: data.id }, body: { format: 'opsgenie', key: 'GENIE' } };
    await call()('subscriptions.update', opsgenie);
    await turn('case.resolved', caseId);
    await dispatcher.round();
    expect(received[1]?.request.headers.authorization).toBe('GenieKey GENIE');
    await call()('subscriptions.update', { params: { id: data.id }, body: { format: 'slack' } });
    await expect(
      call()('subscriptions.update', { params: { id: data.id }, body: { format: 'pagerduty' } }),
    ).rejects.toThrow(/needed/);
  });

  it('keeps the secret sealed, signs by both while one replaces the other', async () => {
    const { data, extra } = await subscribe();
    const [row] = await db.query<{ sealed: Uint8Array }>('SELECT sealed FROM subscriptions WHERE id = $1', [
      data.id,
    ]);
    expect(Buffer.from(row?.sealed ?? []).toString('latin1')).not.toContain(extra.secret.slice(6, 20));
    expect(JSON.stringify(await call()('subscriptions.get', { params: { id: data.id } }))).not.toContain(
      'whsec_',
    );
    await call()('subscriptions.rotate', { params: { id: data.id } });
    await turn('case.opened');
    await dispatcher.round();
    expect(String(received[0]?.request.headers['webhook-signature']).split(' ')).toHaveLength(2);
    now += 25 * HOUR;
    await turn('case.opened');
    await dispatcher.round();
    expect(String(received[1]?.request.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('tells whom it concerns: by type, severity and site', async () => {
    const other = await addSite(db, uuidv7());
    await subscribe({ name: 'major', severity: 2, siteIds: [site] });
    await subscribe({ name: 'elsewhere', siteIds: [other] });
    await subscribe({ name: 'resolved', types: ['case.resolved'] });
    await turn('case.opened');
    await turn('case.opened', uuidv7(), 3);
    await turn('case.resolved', uuidv7(), 3);
    await dispatcher.round();
    expect(
      (await listed())
        .map((d: { subscription: string; type: string }) => `${d.subscription} ${d.type}`)
        .sort(),
    ).toEqual(['major case.opened', 'resolved case.resolved']);
  });

  it('tells the end of what it told, also when what was left of it is less severe', async () => {
    await subscribe({ name: 'critical', severity: 1 });
    const told = await turn('case.opened', uuidv7(), 1);
    await dispatcher.round();
    await db.query('UPDATE cases SET severity = 4 WHERE id = $1::uuid', [told]);
    await turn('case.resolved', told);
    await turn('case.resolved', uuidv7(), 4);
    await dispatcher.round();
    expect((await listed()).map((d: Record<string, string>) => [d.type, d.caseId])).toEqual([
      ['case.resolved', told],
      ['case.opened', told],
    ]);
  });

  it('tells of classes of devices and kinds of events, of one event that fits both', async () => {
    const [router = '', printer = ''] = await addDevices(
      db,
      ['router', 'printer'].map((name) => ({ site_id: site, name, class: name })),
    );
    const event = (case_id: string, kind: string, device_id: string | null) => ({
      ...{ site_id: site, id: uuidv7(), case_id, device_id, dedup_key: uuidv7(), details: {}, kind },
      ...{ source: 'monitor', severity: 2, status: 0, message: 'down', count: 1 },
      ...{ first_seen: SEEN, timestamp: SEEN },
    });
    const cases = { both: uuidv7(), mixed: uuidv7(), bare: uuidv7() };
    await insert(db, 'events', [
      event(cases.both, 'device.down', router),
      event(cases.mixed, 'interface.down', router),
      event(cases.mixed, 'device.down', printer),
      event(cases.bare, 'device.down', null),
    ]);
    const down = { eventKinds: ['device.down', 'device.down'] };
    const { data } = await subscribe({ name: 'down routers', classes: ['router'], ...down });
    expect(data).toMatchObject({ classes: ['router'], eventKinds: ['device.down'], hours: null });
    await subscribe({ name: 'routers', classes: ['router'] });
    await subscribe({ name: 'down', ...down });
    for (const caseId of Object.values(cases)) await turn('case.opened', caseId);
    await dispatcher.round();
    const nameOf = (id: string) => Object.entries(cases).find(([, one]) => one === id)?.[0];
    const told = (await listed()).map(
      (d: Record<string, string>) => `${d.subscription}: ${nameOf(d.caseId ?? '')}`,
    );
    expect(told.sort()).toEqual([
      ...['down routers: both', 'down: bare', 'down: both', 'down: mixed', 'routers: both', 'routers: mixed'],
    ]);
    await expect(subscribe({ eventKinds: ['device.dwn'] })).rejects.toThrow('did you mean device.down?');
  });

  it('tells in its hours, and the rest of what it told at any time', async () => {
    const hours = { timezone: 'Europe/Berlin', days: [5], from: '08:00', to: '18:00' };
    const { data } = await subscribe({ name: 'office', hours });
    expect(data).toMatchObject({ hours });
    const early = await turn('case.opened');
    await dispatcher.round();
    now += 7 * 3_600_000;
    const late = await turn('case.opened');
    await turn('case.resolved', early);
    await dispatcher.round();
    expect((await listed()).map((d: Record<string, string>) => [d.type, d.caseId]).sort()).toEqual([
      ['case.opened', early],
      ['case.resolved', early],
    ]);
    await call()('subscriptions.update', { params: { id: data.id }, body: { hours: null } });
    await turn('case.resolved', late);
    await dispatcher.round();
    expect((await listed()).map((d: Record<string, string>) => d.caseId)).toContain(late);
    await expect(subscribe({ hours: { ...hours, timezone: 'Mars/Base' } })).rejects.toThrow('IANA');
  });

  it('tells the end out of its hours of what began within them a second before', async () => {
    const hours = { timezone: 'Europe/Berlin', days: [5], from: '08:00', to: '18:00' };
    await subscribe({ name: 'office', hours });
    const brief = await turn('case.opened');
    now += 7 * 3_600_000;
    await turn('case.resolved', brief);
    await dispatcher.round();
    expect(types().sort()).toEqual(['case.opened', 'case.resolved']);
  });

  it('tells of devices and interfaces with a tag, and the end of what it told also without it', async () => {
    const [core = '', access = ''] = await addDevices(
      db,
      ['core', 'access'].map((name) => ({ site_id: site, name, tags: name === 'core' ? ['Core'] : [] })),
    );
    const port = uuidv7();
    const uplink = {
      site_id: site,
      device_id: access,
      id: port,
      if_index: 1,
      name: 'eth0',
      tags: ['uplink'],
    };
    await insert(db, 'interfaces', [{ ...uplink, first_seen: SEEN, last_seen: SEEN }]);
    const cases = { core: uuidv7(), access: uuidv7(), port: uuidv7() };
    const event = (case_id: string, device_id: string, interface_id: string | null = null) => ({
      ...{ site_id: site, id: uuidv7(), case_id, device_id, interface_id, dedup_key: case_id, details: {} },
      ...{ kind: 'device.down', source: 'monitor', severity: 2, status: 0, message: 'it is down', count: 1 },
      ...{ first_seen: SEEN, timestamp: SEEN },
    });
    await insert(db, 'events', [
      event(cases.core, core),
      event(cases.access, access),
      event(cases.port, access, port),
    ]);
    const { data } = await subscribe({ name: 'core', tags: ['core', 'CORE', 'printer'] });
    expect(data).toMatchObject({ tags: ['CORE', 'printer'] });
    await subscribe({ name: 'uplinks', tags: ['Uplink'] });
    const turnAll = async (type: string) => {
      for (const caseId of Object.values(cases)) await turn(type, caseId);
      await dispatcher.round();
    };
    const told = async () =>
      (await listed())
        .map((d: Record<string, string>) => [d.subscription, d.type, nameOf(d.caseId)].join(' '))
        .sort();
    const nameOf = (id: string | undefined) => Object.entries(cases).find(([, one]) => one === id)?.[0];
    await turnAll('case.opened');
    expect(await told()).toEqual(['core case.opened core', 'uplinks case.opened port']);
    await db.query(`UPDATE devices SET tags = '{}'`);
    await turnAll('case.resolved');
    expect(await told()).toEqual([
      'core case.opened core',
      'core case.resolved core',
      'uplinks case.opened port',
      'uplinks case.resolved port',
    ]);
    await call()('subscriptions.update', { params: { id: data.id }, body: { tags: [] } });
    await turn('case.opened', cases.access);
    await dispatcher.round();
    expect(await told()).toContain('core case.opened access');
  });

  it('tells of devices and interfaces with a value of a custom field, of one event that fits all', async () => {
    await insert(db, 'custom_fields', [
      { id: uuidv7(), applies_to: 'device', name: 'Tier', type: 'choice', choices: ['gold', 'silver'] },
      { id: uuidv7(), applies_to: 'device', name: 'Floor', type: 'number', choices: [] },
      { id: uuidv7(), applies_to: 'interface', name: 'Metered', type: 'boolean', choices: [] },
    ]);
    const devices = await addDevices(db, [
      { site_id: site, name: 'gold', class: 'router', fields: { Tier: 'gold', Floor: 3 } },
      { site_id: site, name: 'silver', class: 'switch', fields: { Tier: 'silver' } },
    ]);
    const port = { site_id: site, device_id: devices[1], id: uuidv7(), if_index: 1, name: 'eth0' };
    await insert(db, 'interfaces', [
      { ...port, fields: { Metered: true }, first_seen: SEEN, last_seen: SEEN },
    ]);
    const cases = [
      [devices[0], null],
      [devices[1], null],
      [devices[1], port.id],
    ].map(([device_id, interface_id]) => ({ case_id: uuidv7(), device_id, interface_id }));
    await insert(
      db,
      'events',
      cases.map((one) => ({
        ...{
          ...one,
          site_id: site,
          id: uuidv7(),
          dedup_key: one.case_id,
          details: {},
          severity: 2,
          status: 0,
        },
        ...{ kind: 'device.down', source: 'monitor', message: 'it is down', count: 1 },
        ...{ first_seen: SEEN, timestamp: SEEN },
      })),
    );
    const { data } = await subscribe({ name: 'gold', fields: ['Tier: gold', 'Tier:gold'] });
    expect(data).toMatchObject({ fields: ['Tier:gold'] });
    await subscribe({ name: 'floor', fields: ['Floor:3.0', 'Metered:yes'] });
    await subscribe({ name: 'silver routers', fields: ['Tier:silver'], classes: ['router'] });
    for (const one of cases) await turn('case.opened', one.case_id);
    await dispatcher.round();
    const told = (await listed()).map((d: Record<string, string>) => [
      d.subscription,
      cases.findIndex((one) => one.case_id === d.caseId),
    ]);
    expect(told.sort()).toEqual([
      ['floor', 0],
      ['floor', 2],
      ['gold', 0],
    ]);
    for (const [fields, why] of [
      [['Teir:gold'], 'did you mean Tier?'],
      [['Tier:bronze'], 'must be one of gold, silver'],
      [['Floor:third'], 'must be a number'],
      [['Tier'], 'NAME:VALUE'],
    ] as const)
      await expect(subscribe({ fields })).rejects.toThrow(why);
    // A choice that is none any more stays with who filters by it; nobody else begins to.
    await db.query(`UPDATE custom_fields SET choices = '{silver}' WHERE name = 'Tier'`);
    const update = (body: object) => call()('subscriptions.update', { params: { id: data.id }, body });
    expect((await update({ fields: ['Tier:silver', 'Tier:gold'] })).data.fields).toHaveLength(2);
    await expect(subscribe({ fields: ['Tier:gold'] })).rejects.toThrow('must be one of silver');
    await db.query('DELETE FROM custom_fields');
  });

  it('tries again with pauses that grow, in the order of the case, and gives up after a day', async () => {
    await subscribe();
    answer = 503;
    const caseId = await turn('case.opened');
    await dispatcher.round();
    await turn('case.resolved', caseId);
    await dispatcher.round();
    expect(types()).toEqual(['case.opened']);
    now += 6_000;
    answer = 200;
    await dispatcher.round();
    expect(types()).toEqual(['case.opened', 'case.opened', 'case.resolved']);
    expect(new Set(received.slice(0, 2).map(({ request }) => request.headers['webhook-id'])).size).toBe(1);

    answer = 500;
    await turn('case.opened');
    for (let i = 0; i < 100; i++) {
      await dispatcher.round();
      now += HOUR / 2;
    }
    const [last] = await listed({ status: 'failed' });
    expect(last).toMatchObject({ status: 'failed', error: 'answered 500', nextAttemptAt: null });
    expect(last.attempts).toBeGreaterThan(8);
    const { data } = await call()('deliveries.get', { params: { id: last.id } });
    expect(data.log).toHaveLength(last.attempts);
    answer = 200;
    await call()('deliveries.resend', { params: { id: last.id } });
    await dispatcher.round();
    expect((await call()('deliveries.get', { params: { id: last.id } })).data).toMatchObject({
      status: 'delivered',
    });
  });

  it('gives up what a disabled subscription never fetched, and deletes what is over for a month', async () => {
    const { data } = await subscribe();
    answer = 503;
    await turn('case.opened');
    await dispatcher.round();
    await db.query('UPDATE subscriptions SET enabled = false WHERE id = $1::uuid', [data.id]);
    const count = async () => [(await listed({ status: 'queued' })).length, (await listed()).length];
    await purge(db, now + 24 * HOUR);
    expect(await count()).toEqual([1, 1]);
    await purge(db, now + 25 * HOUR);
    expect(await count()).toEqual([0, 1]);
    expect(await listed()).toMatchObject([{ status: 'failed' }]);
    await purge(db, now + 29 * 24 * HOUR);
    expect(await count()).toEqual([0, 1]);
    await purge(db, now + 31 * 24 * HOUR);
    expect(await count(), 'who is to hear the end of an open case is known').toEqual([0, 1]);
    await db.query('UPDATE cases SET status = 2, resolved_at = $1::timestamptz', [new Date(now)]);
    await purge(db, now + 31 * 24 * HOUR);
    expect(await count()).toEqual([0, 0]);
  });

  it.each<[string, number, string]>([
    ['a redirect', 302, 'redirects are not followed'],
    ['an error', 418, 'answered 418'],
  ])('%s is no success', async (_what, status, error) => {
    await subscribe();
    answer = status;
    await turn('case.opened');
    await dispatcher.round();
    expect(await listed()).toMatchObject([{ status: 'queued', error: expect.stringContaining(error) }]);
    expect(received).toHaveLength(1);
  });

  it('disables what wants no more at once, and what is away for days, and says so by an event', async () => {
    const { data } = await subscribe();
    answer = 410;
    await turn('case.opened');
    await dispatcher.round();
    const shown = async () => (await call()('subscriptions.get', { params: { id: data.id } })).data;
    expect(await shown()).toMatchObject({ enabled: false, disabledReason: expect.stringContaining('410') });
    expect(raised).toMatchObject([{ kind: 'subscription.disabled', siteId: site, subscriptionId: data.id }]);

    await call()('subscriptions.update', { params: { id: data.id }, body: { enabled: true } });
    answer = 500;
    for (let day = 0; day < 4; day++) {
      await turn('case.opened');
      await dispatcher.round();
      now += 25 * HOUR;
    }
    expect(await shown()).toMatchObject({
      enabled: false,
      disabledReason: expect.stringContaining('72 hours'),
    });
    // One failure is an accident, the second is told.
    expect(raised.slice(1).map(({ kind }) => kind)).toEqual([
      'subscription.failing',
      'subscription.failing',
      'subscription.disabled',
    ]);
    expect(raised[1]).toMatchObject({
      siteId: site,
      subscriptionId: data.id,
      error: expect.stringContaining('500'),
    });
  });

  it('reaches no private address by a name, nor by a change of what a name answers', async () => {
    // localhost is a name: only the lookup at connect time can tell what it means.
    const { data } = await subscribe({ allowPrivate: false, url: url.replace('127.0.0.1', 'localhost') });
    await turn('case.opened');
    await dispatcher.round();
    expect(received).toEqual([]);
    expect(await listed({ subscription: data.id })).toMatchObject([
      { status: 'queued', error: expect.stringContaining('must be allowed expressly') },
    ]);
    await expect(subscribe({ allowPrivate: false })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(
      call(caller('admin', [site]))('subscriptions.create', {
        body: { kind: 'webhook', name: 'x', url, allowPrivate: true, siteIds: [site] },
      }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('a hundred changes while a target is away are one message', async () => {
    await subscribe({ types: ['case.changed'] });
    const caseId = await turn('case.changed');
    for (let i = 0; i < 99; i++) await turn('case.changed', caseId);
    await dispatcher.round();
    await turn('case.changed', caseId);
    await dispatcher.round();
    expect(await listed()).toHaveLength(1);
    now += 5_000;
    await dispatcher.round();
    expect(received).toHaveLength(1);
  });

  it('one delivery goes out once, however many instances look', async () => {
    await subscribe();
    for (let i = 0; i < 10; i++) await turn('case.opened');
    const instances = [dispatcher, createDispatcher(deps), createDispatcher(deps)];
    const round = () => Promise.all(instances.map((each) => each.round()));
    // In a round all may wait for one of them.
    for (let i = 0; i < 100 && received.length < 10; i++) await round();
    for (let i = 0; i < 3; i++) await round();
    expect(new Set(received.map(({ request }) => request.headers['webhook-id'])).size).toBe(10);
    expect(received).toHaveLength(10);
  });

  it.runIf(name === 'postgresql')('leaves alone what another claimed since it looked', async () => {
    await subscribe();
    await turn('case.opened');
    await fanOut(db, now);
    const other = await db.transaction(async (sql) => {
      await sql.query(`UPDATE deliveries SET claimed_until = $1, attempts = 1`, [new Date(now + 90_000)]);
      const round = dispatcher.round();
      const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE deliveries d%'`;
      await expect.poll(() => db.query(waits)).not.toEqual([]);
      return { round };
    });
    expect(await other.round).toBe(0);
    expect(received).toEqual([]);
  });

  it.runIf(name === 'postgresql')('waits for a subscription without holding its delivery', async () => {
    await subscribe();
    await turn('case.opened');
    const other = await db.transaction(async (sql) => {
      // Answers once the subscription is locked: an answer before that would be noted without a wait.
      receiver.removeAllListeners('request').on('request', async (request, response) => {
        request.resume();
        await sql.query('SELECT 1 FROM subscriptions FOR NO KEY UPDATE');
        response.writeHead(answer).end();
      });
      const round = dispatcher.round();
      const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE%'`;
      await expect.poll(() => db.query(waits)).not.toEqual([]);
      await sql.query('SELECT 1 FROM deliveries FOR UPDATE NOWAIT');
      return { round };
    });
    expect(await other.round).toBe(1);
    expect(await listed()).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('what an instance claimed and never finished falls to another', async () => {
    await subscribe();
    await turn('case.opened');
    answer = 500;
    await dispatcher.round();
    await db.query(`UPDATE deliveries SET claimed_until = $1, next_at = $2`, [
      new Date(now + 90_000),
      new Date(now),
    ]);
    answer = 200;
    expect(await createDispatcher(deps).round()).toBe(0);
    now += 91_000;
    expect(await createDispatcher(deps).round()).toBe(1);
  });

  it('a target that says nothing holds up nobody else', async () => {
    const timeout = AbortSignal.timeout;
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20));
    const silent = createSocketServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    await subscribe({ name: 'silent', url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` });
    await subscribe({ name: 'well' });
    await turn('case.opened');
    const round = dispatcher.round();
    await expect.poll(() => received.length).toBe(1);
    // The other one is still waited for; the next case reaches who answers.
    await turn('case.opened');
    await createDispatcher(deps).round();
    expect(received).toHaveLength(2);
    await round;
    expect((await listed({ status: 'queued' })).map((d: { error: string }) => d.error).sort()).toEqual([
      '',
      'no answer within 10 s',
    ]);
    vi.restoreAllMocks();
    silent.close();
  });

  it('sends mail through the server that is set, and says what that answers', async () => {
    const { data } = (await call()('subscriptions.create', {
      body: { kind: 'email', name: 'noc', addresses: ['noc@example.net', 'boss@example.net'] },
    })) as { data: { id: string } };
    await call()('subscriptions.test', { params: { id: data.id } });
    await dispatcher.round();
    expect(await listed()).toMatchObject([
      { status: 'queued', type: 'test', error: 'no mail server is set' },
    ]);

    const smtp = smtpServer();
    const port = await smtp.listen();
    await call()('mail.update', {
      body: {
        host: '127.0.0.1',
        port,
        security: 'none',
        from: 'rollcall@example.net',
        password: 'secret words',
      },
    });
    expect((await call()('mail.get')).data).toMatchObject({ password: 'set', host: '127.0.0.1' });
    const caseId = await turn('case.opened');
    now += 10_000;
    await dispatcher.round();
    await dispatcher.round();
    expect(smtp.mails.map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1])).toEqual([
      'Rollcall: a test',
      expect.stringMatching(/#\d+: core does not answer/),
    ]);
    expect(smtp.mails[1]).toContain(`Message-ID: <case-${caseId}@rollcall>`);
    expect(smtp.mails[1]).toContain('noc@example.net, boss@example.net');
    smtp.answer = () => '550 nobody of that name';
    await turn('case.opened');
    await dispatcher.round();
    expect(await listed({ status: 'failed' })).toMatchObject([{ responseStatus: 550 }]);

    await call()('subscriptions.test', { params: { id: data.id } });
    await db.query(`UPDATE deliveries SET payload = '{"type": "test"}' WHERE status = 'queued'`);
    await dispatcher.round();
    expect(await listed({ status: 'failed' })).toContainEqual(
      expect.objectContaining({
        attempts: 1,
        error: expect.stringMatching(/^no mail can be written from what is stored of it: /),
      }),
    );
    smtp.close();
  });

  it('tries whom the mail server deferred again, and nobody else; says who never got it', async () => {
    const smtp = smtpServer();
    const port = await smtp.listen();
    await call()('mail.update', {
      body: { host: '127.0.0.1', port, security: 'none', from: 'rollcall@example.net' },
    });
    await call()('subscriptions.create', {
      body: {
        kind: 'email',
        name: 'all',
        addresses: ['noc@example.net', 'boss@example.net', 'old@Example.NET'],
      },
    });
    smtp.answer = (to) =>
      to === 'boss@example.net' ? '451 come back later' : to === 'old@example.net' ? '550 gone' : '250 ok';
    await turn('case.opened');
    await dispatcher.round();
    expect(smtp.served).toEqual([['noc@example.net']]);
    expect(await listed()).toMatchObject([
      {
        status: 'queued',
        responseStatus: 451,
        error:
          'the mail server refused old@example.net: 550 gone; it deferred boss@example.net: 451 come back later; the others have it',
      },
    ]);
    expect(await listed({ status: 'partial' })).toEqual([]);
    const [{ id }] = (await listed()) as [{ id: string }];
    const read = async () => (await call()('deliveries.get', { params: { id } })).data;
    const [noc, old] = [
      { address: 'noc@example.net', state: 'delivered', said: '' },
      { address: 'old@Example.NET', state: 'refused', said: '550 gone' },
    ];
    expect((await read()).recipients).toEqual([
      noc,
      { address: 'boss@example.net', state: 'deferred', said: '451 come back later' },
      old,
    ]);
    now += 3_600_000;
    await dispatcher.round();
    expect(smtp.served).toHaveLength(1);
    smtp.answer = () => '250 ok';
    now += 3_600_000;
    await dispatcher.round();
    expect(smtp.served).toEqual([['noc@example.net'], ['boss@example.net']]);
    expect(smtp.mails[1]).toContain('noc@example.net, boss@example.net, old@example.net');
    expect(await listed({ status: 'partial' })).toMatchObject([
      { id, status: 'partial', attempts: 3, error: 'not delivered to old@Example.NET: 550 gone' },
    ]);
    const boss = { address: 'boss@example.net', state: 'delivered', said: '' };
    expect((await read()).recipients).toEqual([noc, boss, old]);

    // By hand: all of them.
    await call()('deliveries.resend', { params: { id } });
    await dispatcher.round();
    expect(smtp.served.at(-1)).toHaveLength(3);
    expect(await listed()).toMatchObject([{ status: 'delivered', error: '' }]);
    expect((await read()).recipients.map(({ state }: { state: string }) => state)).toEqual(
      Array(3).fill('delivered'),
    );
    smtp.close();
  });

  it('several set the first mail server at once: each is answered, one of them stands', async () => {
    const hosts = ['a', 'b', 'c', 'd'].map((name) => `${name}.example.net`);
    const set = (host: string) =>
      call()('mail.update', {
        body: { host, port: 587, security: 'starttls', from: 'rollcall@example.net' },
      });
    // Not a matter of one lucky turn: each round begins without a row.
    for (let round = 0; round < 10; round++) {
      await db.query('DELETE FROM mail_settings');
      await Promise.all(hosts.map(set));
      expect(hosts).toContain((await call()('mail.get', {})).data.host);
    }
  });

  it.each<[string, (to: string) => string]>([
    ['refused for good', (to) => (to === 'old@example.net' ? '550 gone' : '250 ok')],
    ['deferred until it is given up', (to) => (to === 'old@example.net' ? '451 later' : '250 ok')],
  ])(
    'a mail of which one address is %s was delivered in part, and disables nothing',
    async (_what, answers) => {
      const smtp = smtpServer();
      const port = await smtp.listen();
      await call()('mail.update', {
        body: { host: '127.0.0.1', port, security: 'none', from: 'rollcall@example.net' },
      });
      await call()('subscriptions.create', {
        body: { kind: 'email', name: 'all', addresses: ['noc@example.net', 'old@example.net'] },
      });
      smtp.answer = answers;
      // Day after day: longer than it takes until a subscription that nobody hears is disabled.
      for (let day = 0; day < 4; day++) {
        await turn('case.opened');
        for (let hour = 0; hour < 25; hour += 1, now += HOUR) await dispatcher.round();
      }
      expect((await listed()).map(({ status }: { status: string }) => status)).toEqual(
        Array(4).fill('partial'),
      );
      expect(smtp.served.every((to) => to.join() === 'noc@example.net')).toBe(true);
      expect((await call()('subscriptions.list', { query: {} })).data).toMatchObject([{ enabled: true }]);
      expect(raised).toEqual([]);
      smtp.close();
    },
  );
});

/** The least of a mail server (RFC 5321) that takes, or refuses, what it is given. */
function smtpServer() {
  const mails: string[] = [];
  /** Whom each mail went to. */
  const served: string[][] = [];
  const state = { answer: (_to: string) => '250 ok' };
  const server = createSocketServer((socket) => {
    let [buffer, inData] = ['', false];
    let taken: string[] = [];
    socket.write('220 test\r\n');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffer += chunk.toString();
      for (;;) {
        const end = inData ? buffer.indexOf('\r\n.\r\n') : buffer.indexOf('\r\n');
        if (end < 0) return;
        const text = buffer.slice(0, end);
        buffer = buffer.slice(end + (inData ? 5 : 2));
        if (inData) {
          mails.push(text);
          served.push(taken);
          taken = [];
          inData = false;
          socket.write('250 taken\r\n');
        } else if (/^DATA/i.test(text)) {
          inData = true;
          socket.write('354 go on\r\n');
        } else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n');
        else {
          const to = /^RCPT TO:<(.*)>/i.exec(text)?.[1];
          const says = to === undefined ? '250 ok' : state.answer(to);
          if (to !== undefined && says.startsWith('250')) taken.push(to);
          socket.write(`${says}\r\n`);
        }
      }
    });
  });
  return {
    mails,
    served,
    set answer(value: (to: string) => string) {
      state.answer = value;
    },
    listen: () =>
      new Promise<number>((resolve) =>
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
      ),
    close: () => server.close(),
  };
}
