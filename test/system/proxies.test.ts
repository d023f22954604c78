/** The examples of deploy/examples in the real Caddy and nginx, in front of a real server with a real collector. */

import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeDatabases } from '@rollcall/server/testing/database';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApi } from '../api/server.ts';
import { makeWorld, PASSWORD, person, type World } from '../api/world.ts';
import { until } from './harness.ts';

afterAll(closeDatabases);

const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);
const example = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/examples/${name}`, import.meta.url)), 'utf8');
const path = `${process.env.PATH}:/usr/sbin`;
const there = (command: string) =>
  spawnSync(command, ['version'], { env: { PATH: path } }).error === undefined;

interface Place {
  folder: string;
  port: number;
  /** Of the server. */
  behind: string;
}
/** What is replaced of an example: names, ports, certificate. The rest is as it stands. */
const proxies = {
  caddy: ({ folder, port, behind }: Place) => {
    const site = example('Caddyfile')
      .replace(
        'rollcall.example.net {',
        `https://localhost:${port} {\n\ttls ${folder}/tls.crt ${folder}/tls.key`,
      )
      .replace('127.0.0.1:8080', behind);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
    return ['run', '--adapter', 'caddyfile', '--config', file];
  },
  nginx: ({ folder, port, behind }: Place) => {
    const site = example('nginx.conf')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace(/.*\[::\]:443.*\n/, '')
      .replace('rollcall.example.net;', 'localhost;')
      .replace(/ssl_certificate .*/, `ssl_certificate ${folder}/tls.crt;`)
      .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${folder}/tls.key;`)
      .replace('127.0.0.1:8080', behind);
    const file = join(folder, 'nginx.conf');
    mkdirSync(join(folder, 'temp'));
    const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/temp/${name};`)
      .join(' ');
    writeFileSync(
      file,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${temps}\n${site}\n}`,
    );
    return ['-p', folder, '-c', file];
  },
};

const names = Object.keys(proxies) as (keyof typeof proxies)[];
const missing = names.filter((name) => !there(name));
for (const name of missing) skipped(`the example of ${name}: install it`);
if (missing.length > 0 && process.env.CI) throw new Error(`CI has to try every proxy: install ${missing}`);

for (const name of names) describe.skipIf(!there(name))(`behind ${name}`, () => behind(name));

function behind(name: keyof typeof proxies): void {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-proxy-'));
  const children: ChildProcess[] = [];
  let api: ApiServer;
  let world: World;
  let port = 0;

  beforeAll(async () => {
    api = await startApi('pglite', { settings: { ROLLCALL_TRUSTED_PROXIES: '127.0.0.1, ::1' } });
    world = await makeWorld(api.db, api.keyring);
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')],
    ]);
    port = await freePort();
    const args = proxies[name]({ folder, port, behind: new URL(api.url).host });
    const proxy = spawn(name, args, {
      env: { PATH: path, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    proxy.stderr.on('data', (chunk) => {
      said = (said + String(chunk)).slice(-2000);
    });
    children.push(proxy);
    await until(60_000, `${name} answers: ${said}`, async () =>
      ask('GET', '/api/health/live').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  }, 120_000);
  afterAll(async () => {
    // A killed nginx would leave its workers behind: they end with it when it is told.
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000).unref())]);
        child.kill('SIGKILL');
      }),
    );
    await api.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => expect(api.trouble.filter((line) => !/sign-in|timed out/.test(line))).toEqual([]));

  interface Asked {
    headers?: Record<string, string>;
    json?: object;
    from?: string;
  }
  const open = (method: string, where: string, { headers = {}, json, from }: Asked = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const body = json === undefined ? undefined : JSON.stringify(json);
      const call = httpsRequest(
        {
          ...{ host: '127.0.0.1', port, servername: 'localhost', method, path: where },
          ...{ localAddress: from, agent: false, ca: readFileSync(join(folder, 'tls.crt')) },
          headers: {
            Host: `localhost:${port}`,
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...headers,
          },
        },
        resolve,
      );
      call.on('error', reject);
      call.end(body);
    });
  const ask = async (method: string, where: string, asked?: Asked) => {
    const response = await open(method, where, asked);
    let text = '';
    for await (const part of response) text += String(part);
    return { status: response.statusCode, headers: response.headers, text };
  };
  const bearer = () => ({ Authorization: `Bearer ${person(world, 'admin', 'all').token}` });

  it('people sign in as over TLS, from their own address, whatever they write in front of it', async () => {
    const { name: who } = person(world, 'admin', 'all');
    const { status, headers } = await ask('POST', '/api/session', {
      json: { name: who, password: PASSWORD },
      headers: {
        Origin: `https://localhost:${port}`,
        'X-Forwarded-For': '203.0.113.9',
        'X-Forwarded-Proto': 'http',
      },
      from: '127.0.0.5',
    });
    expect(status).toBe(200);
    expect(String(headers['set-cookie'])).toMatch(/^__Host-.*; Secure/);
    const audit = await ask('GET', '/api/audit?pageSize=50', { headers: bearer() });
    expect(audit.text).toContain('"127.0.0.5"');
    expect(audit.text).not.toContain('203.0.113.9');
  });

  it('events of the stream come at once', async () => {
    const stream = await open('GET', '/api/stream', {
      headers: { ...bearer(), Accept: 'text/event-stream' },
    });
    expect(stream.statusCode).toBe(200);
    let heard = '';
    stream.on('data', (part) => {
      heard += String(part);
    });
    const site = `proxied-${name}`;
    const made = await ask('POST', '/api/sites', { headers: bearer(), json: { name: site, networks: [] } });
    expect(made.status).toBe(201);
    const { id } = (JSON.parse(made.text) as { data: { id: string } }).data;
    await until(60_000, 'the site in the stream', async () => heard.includes(id));
    stream.destroy();
  });

  it('a collector joins and stays', async () => {
    const token = await ask('POST', '/api/collectors/join-tokens', {
      headers: bearer(),
      json: { siteId: world.site.alpha },
    });
    const { token: plain } = JSON.parse(token.text) as { token: string };
    // The proxy's certificate is its own matter: nothing of ours stands in the token.
    expect(plain).toMatch(/^rcj_[0-9A-Za-z]+$/);
    const state = join(folder, 'collector');
    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: join(folder, 'tls.crt'),
      ROLLCALL_COLLECTOR_TRAPS_PORT: '0',
    };
    const url = `https://localhost:${port}`;
    // Not spawnSync: the server runs in this very process.
    const args = [COLLECTOR, 'join', url, plain, '--state', state, '--name', name];
    expect(await promisify(execFile)('node', args, { env, timeout: 120_000 })).toMatchObject({ stderr: '' });
    expect(existsSync(join(state, 'identity.json'))).toBe(true);
    const collector = spawn('node', [COLLECTOR, 'run', '--state', state], { env, stdio: 'ignore' });
    children.push(collector);
    const online = async () => {
      const { text } = await ask('GET', '/api/collectors?pageSize=100', { headers: bearer() });
      const { data } = JSON.parse(text) as { data: { name: string; online: boolean; connectedAt: number }[] };
      return data.find((each) => each.name === name);
    };
    await until(60_000, 'the collector online', async () => (await online())?.online === true);
    const since = (await online())?.connectedAt;
    // Past the time that an idle line is silent (pings every 10 s).
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(await online()).toMatchObject({ online: true, connectedAt: since });
    const exited = new Promise((resolve) => collector.once('exit', resolve));
    collector.kill('SIGTERM');
    expect(await exited).toBe(0);
  }, 200_000);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
