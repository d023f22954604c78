import { request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  codes,
  idParams,
  type Operation,
  paging,
  queryTime,
  repeated,
  siteFilter,
  wholeNumber,
} from '@rollcall/shared/api/operation';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Authenticator } from '../access/auth.ts';
import { mintSessionId, mintToken } from '../access/token.ts';
import { Problem } from '../problem.ts';
import type { Actor, Handlers } from './handler.ts';
import { restApp } from './http.ts';

/** A table of our own: what is tested is the mount, not any feature. */
const table = {
  'things.list': {
    method: 'GET',
    path: '/api/things',
    tag: 'Things',
    summary: 'List',
    access: 'viewer',
    query: z.strictObject({
      ...paging,
      Severity: wholeNumber(1, 5).optional(),
      Status: codes(['0', '1']).optional(),
      tag: repeated(z.string().max(20)).optional(),
      from: queryTime.optional(),
      site: siteFilter,
    }),
    data: z.strictObject({ query: z.unknown() }),
    envelope: 'list',
  },
  'things.lines': {
    method: 'GET',
    path: '/api/things/lines',
    tag: 'Things',
    summary: 'A list whose CSV has other lines',
    access: 'viewer',
    query: z.strictObject({ ...paging }),
    data: z.strictObject({ parts: z.array(z.int()) }),
    csv: {
      row: z.strictObject({ of: z.string(), part: z.int() }),
      rowsOf: ({ of, data }: { of: string; data: { parts: number[] }[] }) =>
        data.flatMap(({ parts }) => parts.map((part) => ({ of, part }))),
    },
    extra: z.strictObject({ of: z.string() }),
    envelope: 'list',
  },
  'things.targets': {
    method: 'GET',
    path: '/api/things/targets',
    tag: 'Things',
    summary: 'Data without an envelope',
    access: 'viewer',
    data: z.array(z.string()),
    envelope: 'none',
  },
  'things.text': {
    method: 'GET',
    path: '/api/things/text',
    tag: 'Things',
    summary: 'A text',
    access: 'viewer',
    query: z.strictObject({ ...paging }),
    data: z.string(),
    envelope: 'none',
    produces: 'text/plain',
  },
  'things.create': {
    method: 'POST',
    path: '/api/things',
    tag: 'Things',
    summary: 'Create',
    access: 'operator',
    body: z.strictObject({ name: z.string().max(20), count: z.int().optional() }),
    data: z.strictObject({ name: z.string() }),
    extra: z.strictObject({ plain: z.string() }),
    envelope: 'item',
    status: 201,
  },
  'things.special': {
    method: 'GET',
    path: '/api/things/special',
    tag: 'Things',
    summary: 'Fixed path beside a parameter',
    access: 'public',
    data: z.literal('special'),
    envelope: 'item',
  },
  'things.get': {
    method: 'GET',
    path: '/api/things/{id}',
    tag: 'Things',
    summary: 'Get',
    access: 'viewer',
    params: idParams,
    data: z.strictObject({ id: z.string() }),
    envelope: 'item',
  },
  'things.fail': {
    method: 'POST',
    path: '/api/things/fail',
    tag: 'Things',
    summary: 'Fail',
    access: 'public',
    body: z.strictObject({ how: z.string() }),
    data: z.null(),
    envelope: 'item',
  },
  'things.mine': {
    method: 'DELETE',
    path: '/api/things/mine',
    tag: 'Things',
    summary: 'Needs a session',
    access: 'viewer',
    by: 'session',
    data: z.null(),
    envelope: 'item',
    deprecated: { since: '2026-01-01', sunset: '2027-07-01' },
  },
} as const satisfies Record<string, Operation>;

const viewer = mintToken().plaintext;
const operator = mintToken().plaintext;
const session = mintSessionId();
const SITE = '019aa3c4-5b00-7000-8000-00000000000b';
const failures: Record<string, () => unknown> = {
  problem: () => new Problem('conflict', 'taken', { headers: { 'X-Extra': '1' } }),
  away: () => Object.assign(new Error('SECRET-host refused'), { code: 'ECONNREFUSED' }),
  slow: () => Object.assign(new Error('SECRET canceling statement'), { code: '57014' }),
  prisma: () => Object.assign(new Error('SECRET Can not reach host'), { code: 'P1001' }),
  string: () => 'SECRET thrown string',
  sql: () => Object.assign(new Error('SECRET syntax error at SELECT'), { code: '42601' }),
};

/** Addresses that handlers were told. */
const addresses: string[] = [];
const handlers = {
  'things.list': async (call: { query: unknown }) => ({ data: [{ query: call.query }], totalCount: 1 }),
  'things.targets': async () => ({ data: ['a', 'b'] }),
  'things.text': async ({ query }: { query: { page: number } }) => ({ data: `page ${query.page}` }),
  'things.lines': async () => ({
    data: [{ parts: [1, 2] }, { parts: [3] }],
    extra: { of: 'a' },
    totalCount: 2,
  }),
  'things.create': async (call: { body: { name: string } }) => ({
    data: { name: call.body.name },
    extra: { plain: 'shown once' },
  }),
  'things.special': async (call: { address: string }) => {
    addresses.push(call.address);
    return { data: 'special' };
  },
  'things.get': async (call: { params: { id: string } }) => ({ data: { id: call.params.id } }),
  'things.fail': async (call: { body: { how: string } }) => {
    if (call.body.how === 'circular') {
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      return { data: circular };
    }
    if (call.body.how === 'shape') return { data: { passwordHash: 'SECRET' } };
    throw failures[call.body.how]?.();
  },
  'things.mine': async () => ({ data: null }),
};

const actorOf = (role: Actor['role'], kind: 'token' | 'session'): Actor => ({
  userId: 'u',
  name: role,
  role,
  sites: 'all',
  via: kind === 'token' ? { kind, tokenId: role } : { kind, sessionId: 's' },
});
const auth: Authenticator = {
  identify: async (c) => {
    if (c.kind === 'token' && c.token === viewer) return actorOf('viewer', 'token');
    if (c.kind === 'token' && c.token === operator) return actorOf('operator', 'token');
    return c.kind === 'session' && c.sessionId === session ? actorOf('operator', 'session') : null;
  },
  siteNamed: async (name) => (name === 'Berlin' ? SITE : null),
  watch: () => () => undefined,
  forget: () => undefined,
  close: async () => undefined,
};

let server: Server;
let base: string;
const logged: string[] = [];
const listen = async (ratePerMinute: number): Promise<Server> => {
  const log = pino({ level: 'trace' }, { write: (text: string) => void logged.push(text) });
  const app = restApp({
    operations: table,
    handlers: handlers as unknown as Handlers,
    auth,
    log,
    checkResponses: true,
    ratePerMinute,
  });
  return new Promise((resolve) => {
    const started = app.listen(0, '127.0.0.1', () => resolve(started));
  });
};
const urlOf = (s: Server) => `http://127.0.0.1:${(s.address() as AddressInfo).port}`;

beforeAll(async () => {
  server = await listen(0);
  base = urlOf(server);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  json: { success?: boolean; data?: unknown; error?: Record<string, unknown> } & Record<string, unknown>;
}
/** Raw node:http: fetch would tidy up what is to be tested. */
function ask(
  method: string,
  path: string,
  options: { headers?: Record<string, string | string[]>; body?: string | Buffer; at?: string } = {},
): Promise<Reply> {
  const url = new URL(options.at ?? base);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: url.hostname, port: url.port, method, path, headers: options.headers ?? {} },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          const isJson = String(response.headers['content-type']).startsWith('application/json');
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body, json: isJson && body ? JSON.parse(body) : {} });
        });
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });
}
const as = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { 'content-type': 'application/json' };
const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
  ask('POST', '/api/things', { headers: { ...as(operator), ...json, ...headers }, body });

describe('the mount', () => {
  it('answers in the envelope, with paging members and a request id', async () => {
    const {
      status,
      json: body,
      headers,
    } = await ask('GET', '/api/things?Severity=3&Status=0,1&tag=a&tag=b', { headers: as(viewer) });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: [{ query: { page: 1, pageSize: 25, Severity: 3, Status: ['0', '1'], tag: ['a', 'b'] } }],
      totalCount: 1,
      page: 1,
      pageSize: 25,
    });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['cache-control']).toBe('no-store');
    const created = await post('{"name":"x"}');
    expect([created.status, created.json]).toEqual([
      201,
      { success: true, plain: 'shown once', data: { name: 'x' } },
    ]);
  });

  it('prefers a fixed path to a parameter, and answers 404 for an id that cannot exist', async () => {
    expect((await ask('GET', '/api/things/special')).json.data).toBe('special');
    for (const id of ['1', "1' OR 1=1--", '%2e%2e', '..%2f..%2fetc', '%00', 'a'.repeat(5000)])
      expect((await ask('GET', `/api/things/${encodeURI(id)}`, { headers: as(viewer) })).status).toBe(404);
    const id = '019aa3c4-5b00-7000-8000-00000000000A';
    expect((await ask('GET', `/api/things/${id}`, { headers: as(viewer) })).json.data).toEqual({
      id: id.toLowerCase(),
    });
  });

  it.each([
    ['severity=3', 'unknown parameter severity, did you mean Severity?'],
    ['Sevrity=3', 'unknown parameter Sevrity, did you mean Severity?'],
    ['pagesize=3', 'unknown parameter pagesize, did you mean pageSize?'],
    ['zzz=3', 'unknown parameter zzz'],
    ['__proto__=3', 'unknown parameter __proto__'],
    ['page[]=3', 'unknown parameter page[], did you mean page?'],
    ['page=1&page=2', 'page: is given more than once'],
    ['page=0', 'page: must be at least 1'],
    ['page=-1', 'page: must be a whole number'],
    ['page=1e9', 'page: must be a whole number'],
    ['page=NaN', 'page: must be a whole number'],
    ['page=1%0A', 'page: must be a whole number'],
    ['pageSize=1001', 'pageSize: must be at most 1000'],
    ['Severity=6', 'Severity: must be at most 5'],
    ['Status=0,7', 'Status.1: must be one of 0, 1'],
    ['tag=%00', 'tag: must not contain NUL'],
    ['from=1763700000000', 'from: must be Unix seconds; these look like milliseconds'],
    ['from=99999999999', 'from: must be at most 9999999999'],
    ['_x=1', 'unknown parameter _x'],
  ])('G113 G117 refuses ?%s', async (search, message) => {
    const { status, json: body } = await ask('GET', `/api/things?${search}`, { headers: as(viewer) });
    expect([status, body.error?.code, body.error?.message]).toEqual([400, 'invalid_request', message]);
  });

  it('takes a filter without a value for none, and `_` for nothing', async () => {
    const { json: body } = await ask('GET', '/api/things?Severity=&tag=&page=&site=&_=1763700000000', {
      headers: as(viewer),
    });
    expect(body.data).toEqual([{ query: { page: 1, pageSize: 25 } }]);
  });

  it('takes a site by its id or name', async () => {
    for (const site of [SITE, SITE.toUpperCase(), 'Berlin']) {
      const { json: body } = await ask('GET', `/api/things?site=${site}`, { headers: as(viewer) });
      expect(body.data).toEqual([{ query: { page: 1, pageSize: 25, site: SITE } }]);
    }
    const { status } = await ask('GET', '/api/things?site=Rome', { headers: as(viewer) });
    expect(status).toBe(403);
  });

  it('answers data itself where an operation has no envelope', async () => {
    const get = (path: string) => ask('GET', path, { headers: as(viewer) });
    expect(await get('/api/things/targets')).toMatchObject({
      ...{ status: 200, json: ['a', 'b'], headers: { 'content-type': 'application/json; charset=utf-8' } },
    });
    expect(await get('/api/things/text')).toMatchObject({
      ...{ status: 200, body: 'page 1', headers: { 'content-type': 'text/plain; charset=utf-8' } },
    });
  });

  it.each([
    '/api/things/019aa3c4-5b00-7000-8000-00000000000a',
    '/api/things',
    '/api/things?page=2',
    '/api/things/targets',
  ])('answers 304 where the caller has what would be answered: %s', async (path) => {
    const etag = String((await ask('GET', path, { headers: as(viewer) })).headers.etag);
    const again = (known: string) => ask('GET', path, { headers: { ...as(viewer), 'if-none-match': known } });
    for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*'])
      expect(await again(known)).toMatchObject({ status: 304, body: '', headers: { etag } });
    expect(await again('"other"')).toMatchObject({ status: 200, body: expect.stringMatching(/./) });
    const other = await ask('GET', '/api/things?page=3', {
      headers: { ...as(viewer), 'if-none-match': etag },
    });
    expect(other.status).toBe(200);
  });

  it('answers a list as CSV to who prefers that, a page as the query says, and all else as JSON', async () => {
    const get = (path: string, accept: string) => ask('GET', path, { headers: { ...as(viewer), accept } });
    const csv = await get('/api/things?page=2', 'text/csv');
    expect(csv).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'x-total-count': '1',
        vary: expect.stringContaining('Accept'),
      },
      body: 'query\r\n"{""page"":2,""pageSize"":25}"\r\n',
    });
    expect(await get('/api/things/lines', 'text/csv')).toMatchObject({
      headers: { 'x-total-count': '2' },
      body: 'of,part\r\na,1\r\na,2\r\na,3\r\n',
    });
    const known = { ...as(viewer), accept: 'text/csv', 'if-none-match': String(csv.headers.etag) };
    expect((await ask('GET', '/api/things?page=2', { headers: known })).status).toBe(304);
    const asJson = await ask('GET', '/api/things?page=2', { headers: { ...known, accept: '*/*' } });
    expect([asJson.status, asJson.json.success]).toEqual([200, true]);
    expect(asJson.headers.vary).toContain('Accept,');
    for (const accept of [
      'text/csv; charset=utf-8',
      String(csv.headers['content-type']),
      'text/csv, */*;q=0.1',
    ])
      expect((await get('/api/things?page=2', accept)).headers['content-type'], accept).toMatch(/^text\/csv/);
    for (const accept of [
      ...[
        '*/*',
        'application/json, text/csv;q=0.9',
        'text/html, */*;q=0.8',
        'image/png',
        'text/*, */*;q=0.8',
      ],
      ...['application/json; charset=utf-8, text/csv;q=0.5', 'text/csv;q=0'],
    ])
      expect((await get('/api/things', accept)).json, accept).toMatchObject({ success: true });
    expect((await get('/api/things/special', 'text/csv')).json).toMatchObject({ data: 'special' });
    expect((await get('/api/things?Severty=1', 'text/csv')).json.error).toMatchObject({
      code: 'invalid_request',
    });
  });

  it.each([
    ['an unknown field', '{"name":"x","Count":1}', 400, 'unknown field "Count", did you mean count?'],
    ['G109 a field of ours', '{"name":"x","siteId":"y"}', 400, 'unknown field "siteId"'],
    ['a missing field', '{}', 400, 'name: is missing (a string is needed)'],
    ['a wrong type', '{"name":7}', 400, 'name: must be a string'],
    ['a number no double holds', '{"name":"x","count":1e400}', 400, 'count: must be a number'],
    ['a list', '[]', 400, 'must be an object'],
    ['null', 'null', 400, 'must be an object'],
    ['broken JSON', '{', 400, 'the body is not valid JSON'],
    ['G113 a key twice', '{"name":"x","name":"y"}', 400, 'the key "name" stands twice'],
    ['G113 a prototype key', '{"__proto__":{},"name":"x"}', 400, 'the key __proto__ is not allowed'],
    [
      'G115 deep nesting',
      `{"name":${'['.repeat(33)}${']'.repeat(33)}}`,
      400,
      'the body is nested deeper than 32 levels',
    ],
    ['nothing', '', 400, 'a JSON body is needed'],
    ['G114 too much', `{"name":"${'x'.repeat(256 * 1024)}"}`, 413, 'the body is larger than 256 KiB'],
  ])('refuses a body with %s', async (_name, body, status, message) => {
    const reply = await post(body);
    expect([reply.status, reply.json.error?.message]).toEqual([status, message]);
  });

  it('takes little of a caller who has not signed in', async () => {
    const body = JSON.stringify({ how: 'x'.repeat(16 * 1024) });
    const reply = await ask('POST', '/api/things/fail', { headers: json, body });
    expect([reply.status, reply.json.error?.message]).toEqual([413, 'the body is larger than 16 KiB']);
  });

  it('G114 refuses other media types, charsets and compression, and text that is not UTF-8', async () => {
    const text = '{"name":"x"}';
    expect((await post(text, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(text, { 'content-type': 'application/json; charset=utf-7' })).status).toBe(415);
    expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post(Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400);
    expect((await post(text, { 'content-type': 'application/json; charset="UTF-8"' })).status).toBe(201);
  });

  it('G131 answers 405 with Allow for other methods, and HEAD like GET', async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const {
        status,
        headers,
        json: body,
      } = await ask(method, '/api/things', { headers: { ...as(operator), 'x-http-method-override': 'GET' } });
      expect([method, status, headers.allow, body.error?.code]).toEqual([
        method,
        405,
        'GET, HEAD, POST',
        'invalid_request',
      ]);
    }
    const head = await ask('HEAD', '/api/things', { headers: as(viewer) });
    expect([head.status, head.body]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });

  it('answers 404 in the error shape for what is not there', async () => {
    for (const path of [
      '/api/nothing',
      '/api',
      '/api/things/',
      '//api/things',
      '/api//things',
      '/API/things',
      '/elsewhere',
      '/api/../etc/passwd',
    ]) {
      const { status, json: body } = await ask('GET', path, { headers: as(viewer) });
      expect([path, status, body.success, body.error?.code]).toEqual([path, 404, false, 'not_found']);
    }
    expect((await ask('GET', '/api/things/%E0%A4%A', { headers: as(viewer) })).status).toBe(400);
  });

  it('tells 401 from 403', async () => {
    for (const headers of [{}, as(mintToken().plaintext), { authorization: 'Basic YTpi' }]) {
      const { status, headers: h } = await ask('GET', '/api/things', { headers });
      expect([status, h['www-authenticate']]).toEqual([401, 'Bearer']);
    }
    const twice = await ask('GET', '/api/things', {
      headers: { authorization: [`Bearer ${viewer}`, 'Bearer x'] },
    });
    expect(twice.status).toBe(401);
    const forbidden = await ask('POST', '/api/things', {
      headers: { ...as(viewer), ...json },
      body: '{"name":"x"}',
    });
    expect([forbidden.status, forbidden.json.error?.message]).toEqual([
      403,
      'this needs the role operator or admin',
    ]);
    const requestId = forbidden.headers['x-request-id'];
    await expect
      .poll(() => logged.map((line) => JSON.parse(line)))
      .toContainEqual(
        expect.objectContaining({ level: 30, requestId, operation: 'things.create', status: 403, user: 'u' }),
      );
    expect((await ask('DELETE', '/api/things/mine', { headers: as(operator) })).status).toBe(403);
  });

  it('G122 lets a session change things only from our own pages', async () => {
    const own = { cookie: `rollcall=${session}` };
    const body = '{"name":"x"}';
    const send = (headers: Record<string, string>) =>
      ask('POST', '/api/things', { headers: { ...own, ...json, ...headers }, body }).then((r) => r.status);
    const origin = new URL(base).origin;
    expect(await send({ origin })).toBe(201);
    expect(await send({ 'sec-fetch-site': 'same-origin' })).toBe(201);
    expect(await send({})).toBe(403);
    expect(await send({ origin: 'null' })).toBe(403);
    expect(await send({ origin, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await send({ origin, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await send({ 'content-type': 'text/plain' })).toBe(403);
    expect(await send({ origin, 'content-type': 'text/plain' })).toBe(415);
    expect((await ask('DELETE', '/api/things/mine', { headers: { ...own, origin } })).status).toBe(200);
    expect((await ask('GET', '/api/things', { headers: own })).status).toBe(200);
    // A token that comes along is what counts, and needs no origin: no other site can send it.
    const both = { ...own, ...json };
    const asBoth = (token: string) =>
      ask('POST', '/api/things', { headers: { ...both, ...as(token) }, body }).then((r) => r.status);
    expect([await asBoth(operator), await asBoth(viewer), await asBoth('svc_x')]).toEqual([201, 403, 401]);
  });

  it('G126 CVE-2022-46169 takes no word about hosts, schemes and addresses from a peer that nobody made a proxy', async () => {
    const body = '{"name":"x"}';
    const forged = async (headers: Record<string, string>) => {
      const cookie = `rollcall=${session}`;
      const reply = await ask('POST', '/api/things', { headers: { cookie, ...json, ...headers }, body });
      return [reply.status, reply.headers['strict-transport-security']];
    };
    const host = 'evil.example';
    expect(await forged({ origin: `http://${host}`, 'x-forwarded-host': host })).toEqual([403, undefined]);
    expect(await forged({ origin: `http://${host}`, forwarded: `host=${host}` })).toEqual([403, undefined]);
    // Else the cookie of TLS alone would count, and browsers would be told to insist on TLS.
    const own = { origin: new URL(base).origin, 'x-forwarded-proto': 'https' };
    expect(await forged(own)).toEqual([201, undefined]);
    const { body: text } = await ask('GET', '/api/things/special', {
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
    expect(JSON.parse(text).data).toBe('special');
    expect(addresses.at(-1)).toBe('127.0.0.1');
  });

  it.each([
    ['problem', 409, 'taken'],
    ['away', 503, 'the database is away; try again shortly'],
    ['prisma', 503, 'the database is away; try again shortly'],
    ['slow', 503, 'this took too long; ask for less, or try again'],
    ['string', 500, 'something went wrong here; the log has it under this request id'],
    ['sql', 500, 'something went wrong here; the log has it under this request id'],
    ['circular', 500, 'something went wrong here; the log has it under this request id'],
    ['shape', 500, 'something went wrong here; the log has it under this request id'],
  ])('G132 tells the caller nothing of the inside: %s', async (how, status, message) => {
    const reply = await ask('POST', '/api/things/fail', { headers: json, body: JSON.stringify({ how }) });
    expect([reply.status, reply.json.error?.message]).toEqual([status, message]);
    expect(reply.json.error?.requestId).toBe(reply.headers['x-request-id']);
    expect(reply.body).not.toContain('SECRET');
    if (status === 503) expect(reply.headers['retry-after']).toBe('5');
    if (status === 500) {
      const line = logged.find((l) => l.includes(String(reply.headers['x-request-id'])));
      expect(line).toBeDefined();
    }
  });

  it('sends headers that fit plain HTTP', async () => {
    const { headers } = await ask('GET', '/api/things/special');
    const csp = String(headers['content-security-policy']);
    expect(csp).toContain("script-src 'self';");
    expect(csp).toContain("frame-ancestors 'none'");
    expect(csp).not.toMatch(/unsafe|upgrade-insecure/);
    expect(headers['strict-transport-security']).toBeUndefined();
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it('says with every answer of a deprecated operation since when it is, and when it ends', async () => {
    const refused = await ask('DELETE', '/api/things/mine');
    expect(refused.status).toBe(401);
    expect(refused.headers).toMatchObject({
      deprecation: '@1767225600',
      sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
    });
    const { headers } = await ask('GET', '/api/things/special');
    expect([headers.deprecation, headers.sunset]).toEqual([undefined, undefined]);
  });

  it('G118 writes no token into the log, wherever it came', async () => {
    await ask('GET', `/api/things?access_token=${operator}`, { headers: as(viewer) });
    await ask('GET', `/api/things/${operator}`, { headers: as(viewer) });
    expect(logged.join('')).not.toMatch(/svc_[0-9A-Za-z]{20}/);
  });
});

describe('the rate limit', () => {
  it('counts per caller, says so in headers, and tells when to come again', async () => {
    const limited = await listen(20);
    try {
      const at = urlOf(limited);
      const replies: Reply[] = [];
      for (let i = 0; i < 21; i++) replies.push(await ask('GET', '/api/things', { at, headers: as(viewer) }));
      expect(replies.map((r) => r.status)).toEqual([...Array(20).fill(200), 429]);
      const last = replies[20]!;
      expect(last.headers['ratelimit-limit']).toBe('20');
      expect(last.headers['ratelimit-remaining']).toBe('0');
      expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
      expect(last.json.error?.code).toBe('rate_limited');
      expect((await ask('GET', '/api/things', { at, headers: as(operator) })).status).toBe(200);
    } finally {
      await new Promise((resolve) => limited.close(resolve));
    }
  });

  it('G126 takes another address in a header for no other caller', async () => {
    const limited = await listen(20);
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 3; i++)
        statuses.push(
          (
            await ask('GET', '/api/things', {
              at: urlOf(limited),
              headers: { 'x-forwarded-for': `192.0.2.${i}`, forwarded: `for=192.0.2.${i}` },
            })
          ).status,
        );
      expect(statuses).toEqual([401, 401, 429]);
    } finally {
      await new Promise((resolve) => limited.close(resolve));
    }
  });
});
