/** Mail through a real SMTP server: how it is secured, who signs in, and what a bad one can do. */
import { Resolver } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@rollcall/shared/secret';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { issueOwn } from '../../platform/keys/own-authority.ts';
import { type MailServer, sendMail } from './mail.ts';
import type { Payload } from './message.ts';

const PASSWORD = 'secret words';
const payload: Payload = {
  type: 'case.opened',
  timestamp: 1_795_000_000,
  data: {
    case: {
      id: uuidv7(),
      number: 7,
      siteId: uuidv7(),
      title: 'core does not answer',
      status: 0,
      severity: 2,
      priority: 3,
      assignee: null,
      tags: [],
      eventCount: 1,
      openEventCount: 1,
      rootDeviceId: null,
      createdAt: 1_795_000_000,
      resolvedAt: null,
    },
    site: { id: uuidv7(), name: 'Berlin' },
    events: [],
  },
};

interface SignIn {
  method: string;
  user: string;
  password: string;
  secure: boolean;
}

describe('mail', () => {
  let folder: string;
  let authorities: string;
  const pem: Record<string, { key: Buffer; cert: Buffer }> = {};
  const closing: (() => unknown)[] = [];
  let mails: { text: string; secure: boolean; user: string }[] = [];
  let signIns: SignIn[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollcall-mail-'));
    for (const name of ['localhost', 'mail.example.net']) {
      const files = await issueOwn(join(folder, name), [name], Date.now());
      pem[name] = { key: readFileSync(files.keyFile), cert: readFileSync(files.certFile) };
      authorities ??= '';
      authorities += readFileSync(join(folder, name, 'authority.crt'), 'utf8');
    }
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    mails = [];
    signIns = [];
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A mail server of the name `name`. @returns its port. */
  async function smtp(more: SMTPServerOptions = {}, name = 'localhost'): Promise<number> {
    const server = new SMTPServer({
      ...pem[name],
      authOptional: true,
      onAuth: (auth, session, done) => {
        const [user, password] = [String(auth.username), String(auth.password)];
        signIns.push({ method: auth.method, user, password, secure: session.secure });
        done(password === PASSWORD ? null : new Error('no such account'), { user });
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          mails.push({ text, secure: session.secure, user: String(session.user ?? '') });
          done();
        });
      },
      ...more,
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise<void>((resolve) => server.close(resolve)));
    return (server.server.address() as AddressInfo).port;
  }
  /** Something that is no mail server. */
  async function raw(talk: (socket: Socket) => void): Promise<number> {
    const server: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      closing.push(() => socket.destroy());
      talk(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }
  const send = (
    port: number,
    security: MailServer['security'],
    more: {
      host?: string;
      user?: string;
      password?: string;
      believes?: string | null;
      signal?: AbortSignal;
      type?: Payload['type'];
    } = {},
  ) => {
    const { host = 'localhost', user = '', password = '' } = more;
    const { believes = authorities, signal, type = payload.type } = more;
    const secret = password === '' ? null : new Secret(password);
    return sendMail({
      id: uuidv7(),
      server: { host, port, security, user, password: secret, from: 'rollcall@example.net' },
      addresses: ['noc@example.net'],
      payload: { ...payload, type },
      signal: signal ?? new AbortController().signal,
      limits: { silentMs: 500, inAllMs: 1_500 },
      ...(believes !== null && { authorities: believes }),
    });
  };
  const account = { user: 'rollcall', password: PASSWORD };

  it.each<[MailServer['security'], string[], SMTPServerOptions]>([
    ['tls', ['PLAIN'], { secure: true }],
    ['tls', ['LOGIN'], { secure: true }],
    ['starttls', ['PLAIN'], {}],
    ['starttls', ['LOGIN'], {}],
  ])('goes over %s after signing in by %s', async (security, authMethods, more) => {
    const port = await smtp({ ...more, authMethods, authOptional: false });
    expect(await send(port, security, account)).toMatchObject({ ok: true, status: 250, error: '' });
    expect(signIns).toEqual([{ method: authMethods[0], ...account, secure: true }]);
    expect(mails).toMatchObject([{ secure: true, user: 'rollcall' }]);
    expect(mails[0]?.text).toMatch(/^Subject: .*core does not answer/m);
  });

  it('of one case are one thread: the first has the id that later ones refer to', async () => {
    const port = await smtp({ hideSTARTTLS: true });
    for (const type of ['case.opened', 'case.changed', 'case.resolved', 'test'] as const)
      await send(port, 'none', { type });
    const heads = mails.map(({ text }) => ({
      id: /^Message-ID: (.*)$/im.exec(text)?.[1],
      answers: /^In-Reply-To: (.*)$/im.exec(text)?.[1],
      refers: /^References: (.*)$/im.exec(text)?.[1],
      subject: /^Subject: (.*)$/im.exec(text)?.[1],
    }));
    const [first, second, third, test] = heads;
    const thread = `<case-${payload.data.case.id}@rollcall>`;
    expect(first).toMatchObject({ id: thread, answers: undefined, refers: undefined });
    for (const later of [second, third]) {
      expect(later).toMatchObject({ answers: thread, refers: thread, subject: first?.subject });
      expect(later?.id).not.toBe(thread);
    }
    expect(test).toMatchObject({ answers: undefined, refers: undefined });
  });

  it('goes in the clear, without an account, only where that is set', async () => {
    const port = await smtp({ disabledCommands: ['STARTTLS'] });
    expect(await send(port, 'none')).toMatchObject({ ok: true });
    expect(mails).toMatchObject([{ secure: false }]);
  });

  it('is not sent to a server that takes STARTTLS away, and neither is the password', async () => {
    const port = await smtp({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const outcome = await send(port, 'starttls', account);
    expect(outcome).toMatchObject({ ok: false, final: false, error: expect.stringMatching(/STARTTLS|TLS/i) });
    expect([signIns, mails]).toEqual([[], []]);
  });

  it.each<['tls' | 'starttls', string, string | null, string, RegExp]>([
    ['tls', 'of an authority that nobody believes', null, 'localhost', /certificate/i],
    ['starttls', 'of an authority that nobody believes', null, 'localhost', /certificate/i],
    ['tls', 'of another name', '', 'mail.example.net', /altnames|does not match/i],
    ['starttls', 'of another name', '', 'mail.example.net', /altnames|does not match/i],
  ])(
    '%s: a certificate %s is refused before anybody signs in',
    async (security, _what, believes, name, says) => {
      const port = await smtp({ secure: security === 'tls' }, name);
      const outcome = await send(port, security, {
        ...account,
        believes: believes === null ? null : authorities,
      });
      expect(outcome).toMatchObject({ ok: false, final: false, error: expect.stringMatching(says) });
      expect([signIns, mails]).toEqual([[], []]);
    },
  );

  it('a wrong password is told and tried again: an administrator mends it', async () => {
    const port = await smtp({ secure: true });
    const outcome = await send(port, 'tls', { user: 'rollcall', password: 'old words' });
    expect(outcome).toMatchObject({ ok: false, status: 535, final: false });
    expect(outcome.error).not.toContain('old words');
    expect(mails).toEqual([]);
  });

  it('finds a server that /etc/hosts knows while no name server answers', async () => {
    const silent = [vi.spyOn(Resolver.prototype, 'resolve4'), vi.spyOn(Resolver.prototype, 'resolve6')];
    for (const spy of silent) spy.mockImplementation(() => undefined);
    // Written so that no earlier test asked for it: the library keeps answers by the letter.
    expect(await send(await smtp(), 'none', { host: 'LocalHost' })).toMatchObject({ ok: true });
    for (const spy of silent) spy.mockRestore();
  });

  it('a server that is not there, or hangs up, is told at once', async () => {
    const gone = await smtp();
    for (const close of closing.splice(0)) await close();
    expect(await send(gone, 'none')).toMatchObject({
      ok: false,
      status: null,
      final: false,
      error: expect.stringContaining('ECONNREFUSED'),
    });
    const rude = await raw((socket) => socket.end());
    expect(await send(rude, 'none')).toMatchObject({ ok: false, final: false });
  });

  it.each<[string, (socket: Socket) => void, RegExp]>([
    ['says nothing', () => undefined, /^(Greeting never received|Timeout)/],
    ['says nothing after its greeting', (socket) => void socket.write('220 here\r\n'), /^Timeout/],
    [
      'greets and then talks on and never comes to the point',
      (socket) => {
        socket.write('220 here\r\n');
        const line = setInterval(() => socket.write('250-one moment\r\n'), 50);
        socket.once('close', () => clearInterval(line));
      },
      /^the mail server took longer than 1.5 s$/,
    ],
  ])('one that %s is left within the limits, its connection closed', async (_what, talk, says) => {
    let closed = 0;
    const port = await raw((socket) => {
      socket.once('close', () => {
        closed += 1;
      });
      socket.resume();
      talk(socket);
    });
    const error = expect.stringMatching(says);
    expect(await send(port, 'none')).toMatchObject({ ok: false, final: false, error });
    await expect.poll(() => closed).toBe(1);
  });

  it('ends at once when the server is stopped', async () => {
    const port = await raw(() => undefined);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    expect(await send(port, 'none', { signal: stop.signal })).toMatchObject({
      error: 'the server was stopped meanwhile',
    });
  });
});
