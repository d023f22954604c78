import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/rest.ts';
import type { Authenticator } from '../access/auth.ts';
import type { Handlers } from './handler.ts';
import { restApp } from './http.ts';
import { webFiles } from './web.ts';

const LARGE = 'run();'.repeat(10_000);
const top = mkdtempSync(join(tmpdir(), 'rollcall-web-'));
const nobody: Authenticator = {
  identify: async () => null,
  siteNamed: async () => null,
  watch: () => () => undefined,
  forget: () => undefined,
  close: async () => undefined,
};
const servers: Server[] = [];
async function start(folder: string): Promise<string> {
  const app = restApp({
    operations: {},
    handlers: {} as Handlers,
    auth: nobody,
    log: pino({ level: 'silent' }),
    web: webFiles(folder),
  });
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the web application', () => {
  let url: string;
  beforeAll(async () => {
    mkdirSync(join(top, 'site/assets'), { recursive: true });
    writeFileSync(join(top, 'secret.txt'), 'SECRET');
    writeFileSync(join(top, 'site/index.html'), '<p>app');
    writeFileSync(join(top, 'site/.env'), 'SECRET');
    writeFileSync(join(top, 'site/favicon.svg'), '<svg/>');
    writeFileSync(join(top, 'site/assets/app-1a2b.js'), 'run()');
    writeFileSync(join(top, 'site/assets/large-3c4d.js'), LARGE);
    url = await start(join(top, 'site'));
  });
  afterAll(async () => {
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
    rmSync(top, { recursive: true });
  });

  it('keeps hashed files for ever and asks again for all else', async () => {
    const asset = await ask(url, 'GET', '/assets/app-1a2b.js');
    expect([asset.status, asset.headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect((await ask(url, 'GET', '/favicon.svg')).headers['cache-control']).toBe('public, max-age=0');
    for (const path of ['/', '/devices?class=switch', '/cases/019aa3c4'])
      expect([path, (await ask(url, 'GET', path)).text]).toEqual([path, '<p>app']);
  });

  it('sends what is large compressed, to who takes it', async () => {
    const at = `${url}/assets/large-3c4d.js`;
    const lengthWith = async (encoding: string) => {
      const answer = await fetch(at, { headers: { 'Accept-Encoding': encoding } });
      return [answer.headers.get('content-encoding'), (await answer.text()).length];
    };
    expect(await lengthWith('gzip')).toEqual(['gzip', LARGE.length]);
    expect(await lengthWith('br, gzip')).toEqual(['br', LARGE.length]);
    expect(await lengthWith('identity')).toEqual([null, LARGE.length]);
  });

  it('lets its page run and look like what files say, and nothing else', async () => {
    const csp = String((await ask(url, 'GET', '/')).headers['content-security-policy']);
    expect(csp).toContain("script-src 'self';");
    expect(csp).toContain("style-src 'self';");
    expect(csp).not.toContain('unsafe');
  });

  it('G130 never leaves its folder, nor shows hidden files, nor hides that an asset or an endpoint is missing', async () => {
    for (const path of [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/.env',
      '/..%5csecret.txt',
      '/%00',
      '/%',
    ]) {
      const { text } = await ask(url, 'GET', path);
      expect(text, path).not.toContain('SECRET');
    }
    expect((await ask(url, 'GET', '/assets/gone.js')).json.error.code).toBe('not_found');
    expect((await ask(url, 'GET', '/api/devicez')).json.error.code).toBe('not_found');
    expect((await ask(url, 'POST', '/')).status).toBe(405);
  });

  it('says so when it was not built', async () => {
    const { status, json } = await ask(await start(join(top, 'nothing')), 'GET', '/');
    expect([status, json.error.message]).toEqual([
      404,
      'the web application is not built; the API is at /api/docs',
    ]);
  });
});
