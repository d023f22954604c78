/** Attacks on the whole REST API that no single feature can answer for; what the fuzzer finds by chance is asked here by name. */
import { connect, type Socket } from 'node:net';
import type { Database } from '@rollcall/server/platform/db/db';
import { closeDatabases } from '@rollcall/server/testing/database';
import { ask, type Reply } from '@rollcall/server/testing/rest';
import { enrolled, shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { ROLES } from '@rollcall/shared/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, oneKind, startApi } from '../api/server.ts';
import { CANARY, makeWorld, type Person, person, REACHES, type World } from '../api/world.ts';

afterAll(closeDatabases);

const table: Record<string, Operation> = operations;
const parameters = ({ query }: Operation): string[] => Object.keys(query?.shape ?? {});
const lists = Object.entries(table).filter(([, { envelope, by }]) => envelope === 'list' && by !== 'session');
const sorted = lists.filter(([, operation]) => parameters(operation).includes('sort'));
const secrets = [
  'hash',
  'tokenHash',
  'passwordHash',
  'password_hash',
  'sealed',
  'community',
  'authKey',
  'secret',
];

describe.each(oneKind())('attacks on %s', (kind) => {
  let db: Database;
  let server: ApiServer;
  let world: World;
  let admin: Person;

  beforeAll(async () => {
    server = await startApi(kind);
    db = server.db;
    world = await makeWorld(db, server.keyring);
    admin = person(world, 'admin', 'all');
  });
  afterAll(async () => {
    expect(server.trouble).toEqual([]);
    await server.stop();
  });

  const get = (path: string, query: Record<string, string> = {}, by = admin): Promise<Reply> =>
    ask(server.url, 'GET', `${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${by.token}` },
    });
  /** A list's address, with what it cannot do without. */
  const addressOf = ({ path }: Operation): [string, Record<string, string>] => [
    path.replace(/\{\w+\}/g, path.includes('devices') ? world.id.device : world.id.case),
    path === '/api/interfaces' ? { deviceId: world.id.device } : {},
  ];
  const refused = ({ status, json }: Reply) => [status, json.error?.code];

  it.each(sorted)('G110 %s sorts by nothing but what it lists', async (_id, operation) => {
    const [path, needed] = addressOf(operation);
    for (const sort of [
      'id; DROP TABLE devices',
      'name DESC',
      'name,(SELECT 1)',
      "name' OR '1'='1",
      '--name',
      '-',
      '{"name":"asc"}',
      '__proto__',
      'constructor',
      '1',
      'd.name',
      ...secrets,
    ])
      expect([sort, ...refused(await get(path, { ...needed, sort }))]).toEqual([
        sort,
        400,
        'invalid_request',
      ]);
  });

  it.each(lists)(
    'G110 G112 %s knows no parameter that names columns, and none on a secret',
    async (_id, operation) => {
      const [path, needed] = addressOf(operation);
      for (const name of [
        'order',
        'orderBy',
        'filter',
        'where',
        'fields',
        'include',
        'select',
        'limit',
        'name[contains]',
        ...secrets,
      ])
        expect([name, ...refused(await get(path, { ...needed, [name]: 'a' }))]).toEqual([
          name,
          400,
          'invalid_request',
        ]);
    },
  );

  it('G112 no search looks into what is secret', async () => {
    const [user] = await db.query<{ hash: string }>('SELECT password_hash AS hash FROM users LIMIT 1');
    for (const [id, operation] of lists)
      for (const name of parameters(operation).filter((each) => ['search', 'q'].includes(each)))
        for (const text of ['$argon2id', String(user?.hash.slice(-12)), admin.token.slice(4, 20)]) {
          const [path, needed] = addressOf(operation);
          const { status, json } = await get(path, { ...needed, [name]: text });
          expect([id, status, json.totalCount]).toEqual([id, 200, 0]);
        }
  });

  it('G111 a value that is right up to a line break is wrong', async () => {
    const asked: [string, Record<string, string>][] = [
      ['/api/devices', { Address: '10.77.0.1\n' }],
      ['/api/devices', { Address: '10.77.0.0/24\nx' }],
      ['/api/devices', { monitor: '1\n' }],
      ['/api/devices', { page: '1\n' }],
      ['/api/devices', { site: `${world.site.alpha}\n` }],
      ['/api/events', { Severity: '3\n' }],
      ['/api/events', { from: '1\n' }],
      ['/api/events', { Source: 'icmp\n' }],
      ['/api/cases', { sort: 'number\n' }],
    ];
    for (const [path, query] of asked)
      expect([query, ...refused(await get(path, query))]).toEqual([query, 400, 'invalid_request']);
    expect((await get(`/api/devices/${world.id.device}%0A`)).status).toBe(404);
    const bodies: [string, object][] = [
      ['/api/users', { name: 'eve\nroot', password: 'correct horse battery staple', role: 'viewer' }],
      ['/api/sites', { name: 'x\ny' }],
      ['/api/tokens', { name: 'x\ny' }],
      ['/api/discovery/profiles', { name: 'x\ny', settings: {} }],
      ['/api/discovery/scan', { targets: '10.77.0.0/30', profile: 'ping\n' }],
    ];
    for (const [path, json] of bodies) {
      const reply = await ask(server.url, 'POST', path, {
        json,
        headers: { authorization: `Bearer ${admin.token}` },
      });
      expect([path, ...refused(reply)]).toEqual([path, 400, 'invalid_request']);
    }
  });

  it('G116 a search is text: no pattern, no wildcard, and no end of it is refused', async () => {
    const searches = lists.flatMap(([, operation]) =>
      parameters(operation)
        .filter((each) => ['search', 'q'].includes(each))
        .map((name) => [operation, name] as const),
    );
    expect(searches.length).toBeGreaterThanOrEqual(3);
    for (const [operation, name] of searches) {
      const [path, needed] = addressOf(operation);
      for (const text of ['(a+)+$', '.*', '%', '_______', '\\', '%%%%%%%%', '[a-z]'])
        expect([path, text, (await get(path, { ...needed, [name]: text })).json.totalCount]).toEqual([
          path,
          text,
          0,
        ]);
      const long = await get(path, { ...needed, [name]: 'a'.repeat(10_000) });
      expect(refused(long)).toEqual([400, 'invalid_request']);
    }
    expect((await get('/api/devices', { search: CANARY.toLowerCase() })).json.totalCount).toBe(2);
  });

  it('G119 CVE-2026-92882 nobody reads the secret of a credential, whatever their role', async () => {
    const reads = Object.values(table).filter(
      ({ path, method }) => path.startsWith('/api/credentials') && method === 'GET',
    );
    expect(reads.length).toBeGreaterThanOrEqual(2);
    const created = await ask(server.url, 'POST', '/api/credentials', {
      headers: { authorization: `Bearer ${admin.token}` },
      json: { name: 'core', version: 'v2c', community: 'MOST-SECRET-COMMUNITY', allSites: true },
    });
    expect([created.status, created.text.includes('MOST-SECRET')]).toEqual([201, false]);
    const { sealed } = (
      await db.query<{ sealed: Buffer }>(`SELECT sealed FROM credentials WHERE name = 'core'`)
    )[0]!;
    for (const role of ROLES)
      for (const reach of REACHES)
        for (const { path } of reads) {
          const { text } = await get(
            path.replace(/\{\w+\}/, created.json.data.id),
            {},
            person(world, role, reach),
          );
          for (const form of [
            'MOST-SECRET',
            Buffer.from(sealed).toString('base64'),
            Buffer.from(sealed).toString('hex'),
          ])
            expect([role, path, text.includes(form)]).toEqual([role, path, false]);
        }
  });

  it('G125 CVE-2022-23131 a session is a name for what the server knows: nothing a client writes into it counts', async () => {
    const by = person(world, 'viewer', 'alpha');
    const secret = by.cookie.split('=')[1] ?? '';
    const own = await ask(server.url, 'GET', '/api/session', { headers: { cookie: by.cookie } });
    expect([own.status, own.json.data.user.role]).toEqual([200, 'viewer']);
    const claims = Buffer.from(
      JSON.stringify({ userId: admin.id, role: 'admin', saml: { admin: true } }),
    ).toString('base64url');
    const other = (c: string) => (c === 'A' ? 'B' : 'A');
    const forged = [
      admin.sessionId,
      admin.id,
      claims,
      `${secret}.${claims}`,
      claims.slice(0, 43),
      other(secret[0] ?? '') + secret.slice(1),
      secret.slice(0, -1) + other(secret.at(-1) ?? ''),
      secret.toLowerCase(),
      secret.slice(1),
      '',
    ];
    for (const value of forged) {
      const { status } = await ask(server.url, 'GET', '/api/session', {
        headers: { cookie: `rollcall=${value}` },
      });
      expect([value, status]).toEqual([value, 401]);
    }
    // A second cookie of that name, or a claim beside it, changes nobody's role.
    const beside = await ask(server.url, 'GET', '/api/users', {
      headers: { cookie: `${by.cookie}; role=admin; rollcall_role=admin` },
    });
    expect(beside.status).toBe(403);
  });
});

describe.each(oneKind())('a crowd of anonymous connections on %s', (kind) => {
  it('attack: locks out neither a collector nor a user, with an old connection or a new one', async () => {
    const server = await startApi(kind, { settings: { ROLLCALL_CONNECTIONS: '200' } });
    const crowd: Socket[] = [];
    try {
      const world = await makeWorld(server.db, server.keyring);
      const headers = { authorization: `Bearer ${person(world, 'viewer', 'all').token}` };
      const { talk, host } = talkOver(server.url.replace('http', 'ws'));
      await shakeHands(talk, await enrolled(server.db, world.site.alpha), host);
      // A stream is an old connection that is not idle.
      const stream = await fetch(`${server.url}/api/stream`, { headers });
      let cut = false;
      const reader = stream.body?.getReader();
      const reading = (async () => {
        while (!(await reader?.read())?.done);
      })().catch(() => {
        cut = true;
      });
      const { port } = new URL(server.url);
      for (let i = 0; i < 1000; i++) {
        const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: `127.0.1.${i % 200}` });
        crowd.push(socket.on('error', () => undefined));
        socket.write(i % 2 ? 'GET /api/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n' : 'GET /');
        if (i % 50 === 49) {
          const { status } = await ask(server.url, 'GET', '/api/devices', { headers });
          expect(status).toBe(200);
        }
      }
      const over = await Promise.race([talk.closed, Promise.resolve('open')]);
      expect([over, cut, server.trouble.length > 0]).toEqual(['open', false, true]);
      await reader?.cancel();
      await reading;
      talk.hangUp();
    } finally {
      for (const socket of crowd) socket.destroy();
      await server.stop();
    }
  });
});
