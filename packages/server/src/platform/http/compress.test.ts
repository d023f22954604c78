import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation } from '@rollcall/shared/api/operation';
import type { Response } from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Authenticator } from '../access/auth.ts';
import type { Handlers } from './handler.ts';
import { restApp } from './http.ts';

const LONG = 'core-switch '.repeat(200);
const usual = { tag: 'Service', summary: 'Test', access: 'public', data: z.string() } as const;
const table = {
  long: { ...usual, method: 'GET', path: '/api/long', envelope: 'item' },
  short: { ...usual, method: 'GET', path: '/api/short', envelope: 'item' },
  written: { ...usual, method: 'POST', path: '/api/long', envelope: 'item' },
  text: { ...usual, method: 'GET', path: '/api/text', envelope: 'raw', produces: 'text/plain' },
  stream: { ...usual, method: 'GET', path: '/api/stream', envelope: 'raw', produces: 'text/event-stream' },
} as const satisfies Record<string, Operation>;
const raw = (write: (response: Response) => void) => async () => ({ raw: write });
const handlers = {
  long: async () => ({ data: LONG }),
  short: async () => ({ data: 'core' }),
  written: async () => ({ data: LONG }),
  text: raw((response) => {
    response.write(LONG);
    response.end(LONG);
  }),
  stream: raw((response) => void response.write(`data: ${LONG}\n\n`)),
};
const nobody: Authenticator = {
  identify: async () => null,
  siteNamed: async () => null,
  watch: () => () => undefined,
  forget: () => undefined,
  close: async () => undefined,
};

describe('answers', () => {
  let server: Server;
  let base: string;
  beforeAll(async () => {
    server = createServer(
      restApp({
        operations: table,
        handlers: handlers as unknown as Handlers,
        auth: nobody,
        log: pino({ level: 'silent' }),
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(base + path, { method, headers: { 'accept-encoding': 'gzip', ...headers } });

  it.each(['gzip', 'br'])('are sent in %s to who takes it', async (coding) => {
    for (const path of ['/api/long', '/api/text']) {
      const answer = await ask(path, { 'accept-encoding': coding });
      expect([path, answer.headers.get('content-encoding')]).toEqual([path, coding]);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      expect(await answer.text()).toContain(LONG);
    }
  });

  it('are sent as they are when they are short, or not wanted otherwise; Vary tells caches', async () => {
    for (const [path, coding] of [
      ['/api/short', 'gzip'],
      ['/api/long', 'identity'],
    ] as const) {
      const answer = await ask(path, { 'accept-encoding': coding });
      expect(answer.headers.get('content-encoding')).toBeNull();
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0);
    }
  });

  it('to a write are sent as they are: some hold a secret, shown once', async () => {
    expect((await ask('/api/long', {}, 'POST')).headers.get('content-encoding')).toBeNull();
  });

  it('have one validator in every coding, and 304 has no body to compress', async () => {
    const etags = [];
    for (const coding of ['gzip', 'br', 'identity'])
      etags.push((await ask('/api/long', { 'accept-encoding': coding })).headers.get('etag'));
    expect(new Set(etags).size).toBe(1);
    const again = await ask('/api/long', { 'if-none-match': String(etags[0]) });
    expect([again.status, again.headers.get('content-encoding')]).toEqual([304, null]);
    expect(again.headers.get('vary')).toBe('Accept-Encoding');
  });

  it('that have no end are sent at once', async () => {
    const answer = await ask('/api/stream');
    expect(answer.headers.get('content-encoding')).toBeNull();
    const { value } = await answer.body!.getReader().read();
    expect(Buffer.from(value!).toString()).toContain('data: core-switch');
  });
});
