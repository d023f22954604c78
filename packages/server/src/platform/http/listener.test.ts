import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { get as getTls } from 'node:https';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { temporaryFolder } from '@rollcall/host/testing/folder';
import { systemClock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { issueOwn } from '../keys/own-authority.ts';
import { StartError } from '../ops/config.ts';
import { openLog } from '../ops/log.ts';
import { markAuthenticated } from './connection-limits.ts';
import { type Listener, listen, type Patience } from './listener.ts';

const logged: string[] = [];
const log = openLog(
  { logLevel: 'info' },
  { destination: { write: (l) => void logged.push(l) }, terminal: false },
);
const open: Listener[] = [];
const start = async (
  more: {
    tls?: { certFile: string; keyFile: string };
    connections?: number;
    host?: string;
    port?: number;
    trustedProxies?: string[];
    patience?: Patience;
  } = {},
) => {
  const listener = await listen(
    (request, response) => {
      if (request.url !== '/known') return void response.end('hello');
      markAuthenticated(request.socket);
      response.write('an answer that goes on');
    },
    {
      host: more.host ?? '127.0.0.1',
      port: more.port ?? 0,
      tls: more.tls,
      connections: more.connections ?? 100,
      trustedProxies: more.trustedProxies ?? [],
    },
    { log, clock: systemClock, ...(more.patience && { patience: more.patience }) },
  );
  open.push(listener);
  return listener;
};
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.stop(0);
});

const noOpenssl = spawnSync('openssl', ['version']).status !== 0;
if (noOpenssl) skipped('renewal of certificates: install openssl');

/** Writes bytes as they are and answers everything that comes back until the other side closes. */
function raw(url: string, ...parts: string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    for (const part of parts) socket.write(part);
  });
}
const body = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));

describe('the listener', () => {
  it.each([
    [
      'G130 a header with a line break in it',
      'GET / HTTP/1.1\r\nHost: a\r\nX: a\rSet-Cookie: b\r\n\r\n',
      '400',
    ],
    ['no HTTP', '\u0016\u0003\u0001', '400'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', '400'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400',
    ],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', '400'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
  ])('answers %s in the shape of every error, and closes', async (_what, text, status) => {
    const { url } = await start();
    const answer = await raw(url, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).not.toMatch(/^Set-Cookie/m);
    expect(body(answer)).toMatchObject({
      success: false,
      error: { code: 'invalid_request', requestId: expect.any(String) },
    });
  });

  it('H140 G114 cuts who sends too slowly: headers, and a body without end', async () => {
    const { url } = await start({ patience: { headersMs: 300, requestMs: 600 } });
    const slowHead = raw(url, 'GET / HTTP/1.1\r\nHost: a\r\n');
    expect(await slowHead).toMatch(/^HTTP\/1.1 408 /);
    const [, answer] = await Promise.all([
      sleep(0),
      raw(url, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'),
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 (200|408) /);
  });

  it.each([
    ['of callers without a sign-in ends the oldest', '', 'without a sign-in were ended'],
    ['of people who are signed in refuses the next', 'GET /known HTTP/1.1\r\nHost: a\r\n\r\n', 'was refused'],
  ])('keeps to its number of connections, and says so: too many %s', async (_what, request, words) => {
    logged.length = 0;
    const { url, server } = await start({ connections: 10 });
    const port = Number(new URL(url).port);
    const sockets: Socket[] = [];
    for (let i = 0; i < 30; i++) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      socket.write(request);
      // Anyone who is let in is answered.
      if (request) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    }
    await vi.waitFor(() => expect(logged.join('')).toContain(words), 10_000);
    const count = await new Promise<number>((resolve) => server.getConnections((_e, n) => resolve(n)));
    for (const socket of sockets) socket.destroy();
    expect(count).toBeLessThanOrEqual(10);
  });

  it('says in one line why it cannot listen', async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(start({ port })).rejects.toThrow(
      new StartError(`port ${port} on 127.0.0.1 is in use: stop what uses it, or set PORT to another`),
    );
    const files = { certFile: '/nowhere/c.pem', keyFile: '/nowhere/k.pem' };
    await expect(start({ tls: files })).rejects.toThrow('cannot read /nowhere/c.pem (ENOENT)');
  });

  it('D63: speaks plain HTTP over a network with the named proxy alone', async () => {
    const { server, onUpgrade } = await start({ host: '0.0.0.0', trustedProxies: ['192.0.2.1'] });
    let upgrades = 0;
    onUpgrade(() => {
      upgrades += 1;
    });
    const from = (address: string) => {
      const request = new IncomingMessage(new Socket());
      Object.defineProperty(request.socket, 'remoteAddress', { value: address });
      const response = new ServerResponse(request);
      server.emit('request', request, response);
      server.emit('upgrade', request, request.socket, Buffer.alloc(0));
      return [response.statusCode, request.socket.destroyed];
    };
    expect(from('192.0.2.9')).toEqual([403, true]);
    expect(from('::ffff:192.0.2.9')).toEqual([403, true]);
    expect(upgrades).toBe(0);
    expect(from('::ffff:192.0.2.1')).toEqual([200, false]);
    expect(from('127.0.0.1')).toEqual([200, false]);
    expect(upgrades).toBe(2);
  });

  it('stops at once when nobody is there, and after its grace when somebody stays', async () => {
    const idle = await start();
    const started = performance.now();
    await idle.stop(60_000);
    expect(performance.now() - started).toBeLessThan(50_000);
    const busy = await start();
    const socket = connect(Number(new URL(busy.url).port), '127.0.0.1').on('error', () => undefined);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n');
    await sleep(100);
    await busy.stop(200);
    socket.destroy();
  });

  it('attack: agrees on no suite without forward secrecy or with a weak tag, in TLS 1.2 and 1.3', async () => {
    const folder = temporaryFolder();
    const { url } = await start({ tls: await issueOwn(folder, ['localhost'], Date.now()) });
    const agreed = (ciphers: string, version: 'TLSv1.2' | 'TLSv1.3') =>
      new Promise<string | null>((resolve) => {
        const socket = connectTls({
          ...{ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false },
          ...{ ciphers, minVersion: version, maxVersion: version },
        });
        socket.on('error', () => resolve(null));
        socket.on('secureConnect', () => {
          resolve(socket.getCipher().name);
          socket.destroy();
        });
      });
    for (const weak of ['AES128-SHA', 'AES256-SHA384', 'AES128-CCM8', 'AES256-CCM'])
      expect(await agreed(`ECDHE-ECDSA-${weak}:@SECLEVEL=0`, 'TLSv1.2'), weak).toBeNull();
    expect(await agreed('ECDHE-ECDSA-AES128-GCM-SHA256', 'TLSv1.2')).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
    expect(await agreed('TLS_AES_128_CCM_8_SHA256', 'TLSv1.3')).toBeNull();
    expect(await agreed('TLS_AES_128_GCM_SHA256', 'TLSv1.3')).toBe('TLS_AES_128_GCM_SHA256');
  });

  it.skipIf(noOpenssl)(
    'takes up a renewed certificate without a restart, and keeps the old one when the new is broken',
    async () => {
      const folder = temporaryFolder();
      const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
      const make = (name: string) =>
        execFileSync(
          'openssl',
          [
            'req',
            '-x509',
            '-newkey',
            'ec',
            '-pkeyopt',
            'ec_paramgen_curve:P-256',
            '-nodes',
            '-days',
            '2',
            '-subj',
            `/CN=${name}`,
            '-keyout',
            files.keyFile,
            '-out',
            files.certFile,
          ],
          { stdio: 'ignore' },
        );
      make('first');
      const { url } = await start({ tls: files });
      expect(url).toMatch(/^https:/);
      const presented = () =>
        new Promise<string>((resolve, reject) => {
          getTls(url, { rejectUnauthorized: false, agent: false }, (response) => {
            response.resume();
            const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
            resolve(String(subject.CN));
          }).on('error', reject);
        });
      expect(await presented()).toBe('first');
      make('second');
      for (let i = 0; i < 50 && (await presented()) !== 'second'; i++) await sleep(100);
      expect(await presented()).toBe('second');
      rmSync(files.certFile);
      for (let i = 0; i < 50 && !logged.join('').includes('cannot be used'); i++) await sleep(100);
      expect(await presented()).toBe('second');
    },
  );
});
