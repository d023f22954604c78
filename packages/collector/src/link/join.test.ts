import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join as path } from 'node:path';
import { lockFolder } from '@rollcall/host/lock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '../platform/refusal.ts';
import { ScriptedServer } from '../testing/scripted-server.ts';
import { Keys, loadIdentity, publicKeyOf, saveIdentity } from './identity.ts';
import { join } from './join.ts';
import { serverAddress } from './server-address.ts';

const TOKEN = `rcj_${'a'.repeat(40)}`;
const ANSWER = {
  success: true,
  data: {
    collectorId: '0192f0c0-0000-7000-8000-0000000000c0',
    name: 'probe-1',
    site: { id: '0192f0c0-0000-7000-8000-0000000000aa', name: 'Berlin' },
    generation: 0,
    path: '/api/collectors/link',
    protocol: { version: 1, oldest: 1 },
    serverTime: 1_763_700_000,
  },
};

let folder: string;
let server: ScriptedServer;
const stops: (() => unknown)[] = [];
beforeEach(async () => {
  folder = mkdtempSync(path(tmpdir(), 'rollcall-join-'));
  server = await ScriptedServer.start();
});
afterEach(async () => {
  await server.stop();
  for (const stop of stops.splice(0)) await stop();
  rmSync(folder, { recursive: true, force: true });
});

const state = () => path(folder, 'state');
const body = (request: IncomingMessage) =>
  new Promise<Record<string, unknown>>((resolve) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => resolve(JSON.parse(text)));
  });
const answer =
  (status: number, content: unknown, headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify(content));
const refused = async (attempt: Promise<unknown>): Promise<string> => {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Refusal);
  const { message } = error as Refusal;
  expect(message).not.toContain('\n');
  return message;
};

describe('joining', () => {
  test('makes a key, sends its public half, and keeps everything for its owner alone', async () => {
    let sent: Record<string, unknown> = {};
    server.answer = async (request, response) => {
      sent = await body(request);
      answer(201, ANSWER)(request, response);
    };
    const identity = await join({
      stateFolder: state(),
      url: `${server.url}/`,
      token: TOKEN,
      name: 'probe-1',
      hostname: 'h1',
    });
    expect(identity).toMatchObject({
      server: server.url,
      name: 'probe-1',
      generation: 0,
      site: { name: 'Berlin' },
    });
    const loaded = loadIdentity(state());
    expect(loaded?.identity).toEqual(identity);
    expect(sent).toEqual({
      token: TOKEN,
      name: 'probe-1',
      hostname: 'h1',
      publicKey: loaded && publicKeyOf(loaded.key),
    });
    expect(Buffer.from(String(sent.publicKey), 'base64')).toHaveLength(32);
    expect(statSync(state()).mode & 0o777).toBe(0o700);
    expect(statSync(path(state(), 'key.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(path(state(), 'identity.json')).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(identity)).not.toContain(TOKEN);
  });

  const answers: [string, number, unknown, RegExp][] = [
    [
      'a token that does not work',
      401,
      { success: false, error: { code: 'unauthorized', message: 'no' } },
      /does not accept this token.*make a new one/,
    ],
    [
      'a name that is taken',
      409,
      { success: false, error: { code: 'conflict', message: 'the site has a collector x already' } },
      /refuses: the site has a collector x already/,
    ],
    ['another service', 200, { hello: 'world' }, /does not answer like a Rollcall server \(status 200\)/],
    ['a wrong address', 404, {}, /does not answer like a Rollcall server \(status 404\)/],
    [
      'an answer that is incomplete',
      201,
      { success: true, data: { collectorId: 'x' } },
      /does not answer like a Rollcall server/,
    ],
  ];
  test.each(answers)('%s: one line, and no identity', async (_name, status, content, message) => {
    server.answer = answer(status, content);
    expect(await refused(join({ stateFolder: state(), url: server.url, token: TOKEN }))).toMatch(message);
    expect(existsSync(path(state(), 'identity.json'))).toBe(false);
    expect(readdirSync(state()).filter((name) => name.startsWith('key'))).toEqual([]);
    // The next try is not in its way.
    server.answer = answer(201, ANSWER);
    await join({ stateFolder: state(), url: server.url, token: TOKEN });
  });

  test('D63: a redirect is not followed', async () => {
    const other = await ScriptedServer.start();
    stops.push(() => other.stop());
    server.answer = answer(307, {}, { Location: `${other.url}/api/collectors/join` });
    expect(await refused(join({ stateFolder: state(), url: server.url, token: TOKEN }))).toMatch(
      /sends us on to http/,
    );
    expect(other.requests).toEqual([]);
  });

  test('nobody there', async () => {
    const { url } = server;
    await server.stop();
    expect(await refused(join({ stateFolder: state(), url, token: TOKEN }))).toMatch(
      /cannot reach .*nobody listens there/,
    );
    server = await ScriptedServer.start();
  });

  test('joined already, in use, not writable', async () => {
    server.answer = answer(201, ANSWER);
    await join({ stateFolder: state(), url: server.url, token: TOKEN });
    expect(await refused(join({ stateFolder: state(), url: server.url, token: TOKEN }))).toMatch(
      /has joined .* already, as "probe-1" of site "Berlin"/,
    );
    const lock = await lockFolder(state(), 'collector');
    expect(await refused(join({ stateFolder: state(), url: server.url, token: TOKEN }))).toMatch(
      /is in use by process \d+: stop it/,
    );
    if (lock.ok) await lock.release();
    expect(await refused(join({ stateFolder: '/proc/nowhere', url: server.url, token: TOKEN }))).toMatch(
      /cannot write to the state folder/,
    );
    expect(server.requests).toHaveLength(1);
  });

  test('what is no token is not sent', async () => {
    for (const token of [
      '',
      'x',
      'svc_0123456789012345678901234567890123456789',
      `${TOKEN}.short`,
      `${TOKEN}\nX: y`,
    ])
      expect(await refused(join({ stateFolder: state(), url: server.url, token }))).toMatch(
        /not a join token/,
      );
    expect(server.requests).toEqual([]);
  });
});

describe('D63: only verified TLS, loopback aside', () => {
  test.each([
    ['http://192.0.2.1', /not encrypted.*only https/],
    ['http://example.net:8080', /not encrypted/],
    ['http://127.example.net', /not encrypted/],
    ['ftp://example.net', /not the address of a server/],
    ['example.net', /not the address of a server/],
    ['https://user:secret@example.net', /has a user/],
  ])('%s', (url, message) => {
    expect(() => serverAddress(url)).toThrow(message);
  });
  test.each([
    ['https://Example.net/', 'https://example.net'],
    ['https://example.net:443', 'https://example.net'],
    ['https://example.net/rollcall/', 'https://example.net/rollcall'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['http://localhost', 'http://localhost'],
  ])('%s → %s', (url, expected) => {
    expect(serverAddress(url)).toBe(expected);
  });

  const certificate = (name: string) => {
    const [key, cert] = [path(folder, `${name}.key`), path(folder, `${name}.crt`)];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=IP:127.0.0.1`,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    const pem = readFileSync(cert, 'utf8');
    const pin = createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url');
    return { key: readFileSync(key, 'utf8'), cert: pem, pin };
  };
  const tls = async (files: { key: string; cert: string }) => {
    const bodies: string[] = [];
    const https = createServer(files, (request, response) => {
      request.on('data', (part) => bodies.push(String(part)));
      request.on('end', () => answer(201, ANSWER)(request, response));
    });
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => https.close(resolve)));
    return { url: `https://127.0.0.1:${(https.address() as AddressInfo).port}`, bodies };
  };

  test('a self-made certificate is refused without its fingerprint, before the token is sent', async () => {
    const { url, bodies } = await tls(certificate('own'));
    expect(await refused(join({ stateFolder: state(), url, token: TOKEN }))).toMatch(
      /nobody known vouches for its certificate/,
    );
    expect(bodies).toEqual([]);
  });

  test('with the fingerprint in the token it is trusted, and kept', async () => {
    const own = certificate('own');
    const { url, bodies } = await tls(own);
    const identity = await join({ stateFolder: state(), url, token: `${TOKEN}.${own.pin}` });
    expect(identity.ca?.replace(/\s/g, '')).toBe(own.cert.replace(/\s/g, ''));
    expect(bodies.join('')).toContain(TOKEN);
    expect(bodies.join('')).not.toContain(own.pin);
  });

  test('a fake server with another certificate gets nothing', async () => {
    const { url, bodies } = await tls(certificate('fake'));
    const message = await refused(
      join({ stateFolder: state(), url, token: `${TOKEN}.${certificate('own').pin}` }),
    );
    expect(message).toMatch(/another certificate than the token says/);
    expect(bodies).toEqual([]);
  });
});

describe('the identity on disk', () => {
  const joinHere = async () => {
    server.answer = answer(201, ANSWER);
    await join({ stateFolder: state(), url: server.url, token: TOKEN });
  };

  test('B28: a disk without a free block lets the next generation be written down; a crash at any step leaves one whole', async () => {
    await joinHere();
    const before = loadIdentity(state())?.identity;
    if (!before) throw new Error('not joined');
    saveIdentity(state(), { ...before, generation: 1 });
    const file = path(state(), 'identity.json');
    // From the second time on nothing is made: the two files change places.
    const files = () => [statSync(file).ino, statSync(`${file}.new`).ino];
    const [a, b] = files();
    saveIdentity(state(), { ...before, generation: 2 });
    expect(files()).toEqual([b, a]);
    expect(loadIdentity(state())?.identity.generation).toBe(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // As a crash leaves it: half written, or between two renames.
    writeFileSync(`${file}.new`, '{"form', { mode: 0o600 });
    saveIdentity(state(), { ...before, generation: 3 });
    expect(loadIdentity(state())?.identity.generation).toBe(3);
    rmSync(`${file}.new`);
    linkSync(file, `${file}.old`);
    saveIdentity(state(), { ...before, generation: 4 });
    expect(loadIdentity(state())?.identity.generation).toBe(4);
    // A link in its place is not followed.
    rmSync(`${file}.new`);
    symlinkSync(path(folder, 'elsewhere'), `${file}.new`);
    saveIdentity(state(), { ...before, generation: 5 });
    expect(loadIdentity(state())?.identity.generation).toBe(5);
    expect(existsSync(path(folder, 'elsewhere'))).toBe(false);
  });

  test('D61: a key that others can read is refused', async () => {
    await joinHere();
    chmodSync(path(state(), 'key.pem'), 0o644);
    expect(() => loadIdentity(state())).toThrow(/can be read by others \(mode 644\): "chmod 600 .*revoke/);
  });

  test.each([
    ['identity.json', '{"format":1', /identity\.json is damaged \(not JSON\)/],
    ['identity.json', '{"format":1,"server":"http://x"}', /identity\.json is damaged \(path\)/],
    ['key.pem', 'junk', /key\.pem holds no key/],
  ])('%s with %j is told, not guessed', async (file, text, message) => {
    await joinHere();
    writeFileSync(path(state(), file), text, { mode: 0o600 });
    expect(() => loadIdentity(state())).toThrow(message);
  });

  test('a missing key, and none of both', async () => {
    expect(loadIdentity(path(folder, 'nothing'))).toBeNull();
    await joinHere();
    rmSync(path(state(), 'key.pem'));
    expect(() => loadIdentity(state())).toThrow(/key\.pem is missing/);
  });

  test('D60: a rotation interrupted anywhere leaves a key that works', async () => {
    await joinHere();
    const old = loadIdentity(state())?.key;
    if (!old) throw new Error('no key');
    const before = new Keys(state(), old);
    const next = before.makeNext();
    expect(publicKeyOf(before.current)).toBe(publicKeyOf(old));
    // Restarted here: the old one first, then the other, then the old one again.
    const again = new Keys(state(), loadIdentity(state())?.key ?? old);
    expect(publicKeyOf(again.current)).toBe(publicKeyOf(old));
    again.tryOther();
    expect(publicKeyOf(again.current)).toBe(publicKeyOf(next));
    again.works(again.current);
    expect(readdirSync(state()).filter((name) => name.startsWith('key'))).toEqual(['key.pem']);
    const last = loadIdentity(state())?.key;
    expect(last && publicKeyOf(last)).toBe(publicKeyOf(next));
  });
});
