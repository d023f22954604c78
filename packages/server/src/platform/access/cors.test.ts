import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation } from '@rollcall/shared/api/operation';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Handlers } from '../http/handler.ts';
import { restApp } from '../http/http.ts';
import type { Authenticator } from './auth.ts';
import { isOrigin } from './cors.ts';

const operations = {
  'things.get': {
    method: 'GET',
    path: '/api/thing',
    tag: 'Things',
    summary: 'Get',
    access: 'public',
    data: z.literal('thing'),
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
const nobody: Authenticator = {
  identify: async () => null,
  siteNamed: async () => null,
  watch: () => () => undefined,
  forget: () => undefined,
  close: async () => undefined,
};
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function start(corsOrigins: string[]): Promise<string> {
  const handlers = { 'things.get': async () => ({ data: 'thing' }) } as unknown as Handlers;
  const app = restApp({ operations, handlers, auth: nobody, log: pino({ level: 'silent' }), corsOrigins });
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/thing`;
}

const PORTAL = 'https://portal.example.net';
/** What browsers go by, of an answer. */
async function ask(url: string, origin: string, method = 'GET') {
  const preflight = {
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'authorization',
  };
  const headers = { Origin: origin, ...(method === 'OPTIONS' && preflight) };
  const answer = await fetch(url, { method, headers });
  const of = (name: string) => answer.headers.get(`access-control-${name}`);
  return {
    status: answer.status,
    origin: of('allow-origin'),
    credentials: of('allow-credentials'),
    headers: of('allow-headers'),
    methods: of('allow-methods'),
    exposed: of('expose-headers'),
    vary: answer.headers.get('vary'),
  };
}

describe('pages of other origins', () => {
  it('may ask where the setting names their origin: preflight and request, never with credentials', async () => {
    const url = await start([PORTAL, 'http://127.0.0.1:5173']);
    for (const origin of [PORTAL, 'http://127.0.0.1:5173']) {
      const preflight = await ask(url, origin, 'OPTIONS');
      expect(preflight).toMatchObject({ status: 204, origin, credentials: null, vary: 'Origin' });
      expect(preflight.headers).toContain('Authorization');
      expect(preflight.methods).toContain('PATCH');
      const answer = await ask(url, origin);
      expect(answer).toMatchObject({
        status: 200,
        origin,
        credentials: null,
        vary: 'Origin, Accept-Encoding',
      });
      expect(answer.exposed).toContain('ETag');
    }
  });

  it.each([
    'null',
    'https://portal.example.net.attacker.example',
    'https://attacker.example',
    'http://portal.example.net',
    'https://portal.example.net:8443',
    'https://PORTAL.example.net',
  ])('attack: %s is none of them', async (origin) => {
    const url = await start([PORTAL]);
    expect(await ask(url, origin, 'OPTIONS')).toMatchObject({ status: 405, origin: null, headers: null });
    expect(await ask(url, origin)).toMatchObject({
      status: 200,
      origin: null,
      vary: 'Origin, Accept-Encoding',
    });
  });

  it('may not by default', async () => {
    const url = await start([]);
    expect(await ask(url, PORTAL, 'OPTIONS')).toMatchObject({ status: 405, origin: null });
    expect(await ask(url, PORTAL)).toMatchObject({ origin: null, vary: 'Accept-Encoding' });
  });
});

it.each([
  [PORTAL, true],
  ['http://localhost:3000', true],
  ['http://[::1]:3000', true],
  ['https://portal.example.net/', false],
  ['https://portal.example.net/app', false],
  ['https://portal.example.net:443', false],
  ['https://*.example.net', false],
  ['*', false],
  ['null', false],
  ['file:///x', false],
  ['https://user@portal.example.net', false],
  ['portal.example.net', false],
])('%s as an origin: %s', (text, is) => {
  expect(isOrigin(text)).toBe(is);
});
