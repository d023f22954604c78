/** Syslog to real sockets: what RFC 5424 says of a message, and RFC 5426, 6587 and 5425 of its way. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueOwn } from '../../platform/keys/own-authority.ts';
import { sampleCase, testPayload } from './sample.ts';
import { type SyslogTarget, sendSyslog, syslogMessage } from './syslog.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const payload = sampleCase(NOW, 'https://rollcall.example.net');
const target = (url: string, more: Partial<SyslogTarget> = {}): SyslogTarget => ({
  ...{ url, facility: 16, appName: 'rollcall', authority: '' },
  ...more,
});

/** The parts of a message, read as RFC 5424 section 6 writes them. */
const MESSAGE =
  /^<(\d{1,3})>1 (\S+) ([\x21-\x7e]{1,255}) ([\x21-\x7e]{1,48}) (-) ([\x21-\x7e]{1,32}) (\[[^ =\]"]{1,32}(?: [^ =\]"]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*\]) \uFEFF(.*)$/s;
const read = (bytes: Buffer) => {
  const [, pri, time, host, app, , id, data = '', text = ''] =
    MESSAGE.exec(bytes.toString()) ?? expect.fail(bytes.toString());
  return {
    facility: Math.floor(Number(pri) / 8),
    severity: Number(pri) % 8,
    time,
    host,
    app,
    id,
    data,
    text,
  };
};

describe('a syslog message', () => {
  it('is what RFC 5424 says', () => {
    const url = payload.data.url ?? '';
    expect(read(syslogMessage(payload, target('udp://192.0.2.1:514', { facility: 23 }), 'noc'))).toEqual({
      ...{
        facility: 23,
        severity: 3,
        time: '2026-11-20T12:00:00.000Z',
        host: 'noc',
        app: 'rollcall',
        id: 'case.opened',
      },
      data: `[rollcall@32473 case="1042" caseId="${payload.data.case.id}" site="Berlin" status="open" url="${url}"]`,
      text: '[Berlin] #1042 opened: core-1 "Hall <2>" does not answer (major); core-1 "Hall <2>" does not answer; Gi1/0/1 of edge-7 is down: no carrier',
    });
  });

  it.each([
    [1, 0, 2],
    [3, 0, 4],
    [5, 1, 6],
    [1, 2, 5],
  ])('maps severity %i of a case of status %i to %i', (severity, status, expected) => {
    const { data } = payload;
    const of = { ...payload, data: { ...data, case: { ...data.case, severity, status: status as 0 } } };
    expect(read(syslogMessage(of, target('udp://192.0.2.1:514'), 'noc')).severity).toBe(expected);
  });

  it('stays one whatever a site and a device are called, and within what each way takes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 4000 }),
        fc.constantFrom('udp', 'tcp'),
        (words, way) => {
          const { data } = payload;
          const of = {
            ...payload,
            data: {
              ...data,
              site: { ...data.site, name: words.slice(0, 60) },
              case: { ...data.case, title: words },
            },
          };
          const bytes = syslogMessage(of, target(`${way}://192.0.2.1:514`), words);
          expect(bytes.length).toBeLessThanOrEqual(way === 'udp' ? 2048 : 8192);
          expect(read(bytes).text).not.toMatch(/\p{Cc}|\uFFFD$/u);
        },
      ),
    );
  });
});

describe('syslog goes out', () => {
  let folder: string;
  const pem = { key: Buffer.alloc(0), cert: Buffer.alloc(0) };
  let authority: string;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollcall-syslog-'));
    const files = await issueOwn(folder, ['localhost'], Date.now());
    Object.assign(pem, { key: readFileSync(files.keyFile), cert: readFileSync(files.certFile) });
    authority = readFileSync(join(folder, 'authority.crt'), 'utf8');
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const listen = async (server: Server, name: string, way: string) => {
    const frames: Buffer[] = [];
    server.on(name === 'tls' ? 'secureConnection' : 'connection', (socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('error', () => undefined);
      socket.on('end', () => {
        frames.push(Buffer.concat(chunks));
        socket.end();
      });
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    return { url: `${way}://localhost:${(server.address() as AddressInfo).port}`, frames };
  };
  const send = (to: SyslogTarget, allowPrivate = true) =>
    sendSyslog({ target: to, payload, allowPrivate, signal: new AbortController().signal });

  it('over UDP, a datagram each', async () => {
    const socket: DatagramSocket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    closing.push(() => socket.close());
    const came = once(socket, 'message') as Promise<[Buffer]>;
    expect(await send(target(`udp://127.0.0.1:${socket.address().port}`))).toMatchObject({
      ok: true,
      error: '',
    });
    expect(read((await came)[0]).id).toBe('case.opened');
  });

  it('over TCP, with its length before it', async () => {
    const { url, frames } = await listen(createServer(), 'tcp', 'tcp');
    expect(await send(target(url))).toMatchObject({ ok: true });
    await expect.poll(() => frames.length).toBe(1);
    const [, length, message = ''] = /^(\d+) (.*)$/s.exec(frames[0]?.toString() ?? '') ?? [];
    expect(Buffer.byteLength(message)).toBe(Number(length));
    expect(read(Buffer.from(message)).severity).toBe(3);
  });

  it('over TLS to whom the authority of its own signed, and to nobody else', async () => {
    const { url, frames } = await listen(createTlsServer(pem), 'tls', 'tls');
    expect(await send(target(url, { authority }))).toMatchObject({ ok: true });
    await expect.poll(() => frames.length).toBe(1);
    expect(frames[0]?.toString()).toMatch(/^\d+ <131>1 /);
    expect(await send(target(url))).toMatchObject({ ok: false, error: expect.stringMatching(/certificate/) });
    // The certificate is of localhost.
    expect(await send(target(url.replace('localhost', '127.0.0.1'), { authority }))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/does not match/),
    });
    expect(frames).toHaveLength(1);
  });

  it('attack: reaches no private address that is not allowed, by number or by name', async () => {
    const { url, frames } = await listen(createServer(), 'tcp', 'tcp');
    for (const to of [
      url,
      url.replace('localhost', '127.0.0.1'),
      url.replace('localhost', '127.1'),
      url.replace('tcp', 'udp'),
    ])
      expect(await send(target(to), false)).toMatchObject({
        ok: false,
        error: expect.stringMatching(/must be allowed expressly/),
      });
    expect(frames).toEqual([]);
  });

  it('says why it did not', async () => {
    const { url } = await listen(createServer(), 'tcp', 'tcp');
    await closing.pop()?.();
    expect(await send(target(url))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(read(syslogMessage(testPayload(NOW), target(url))).id).toBe('test');
  });
});
