/** Two instances of the whole server on one PostgreSQL, behind a reverse proxy: what one decides holds on the other. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureFirstAdmin } from '@rollcall/server/accounts/accounts';
import { closeDatabases } from '@rollcall/server/testing/database';
import { ask } from '@rollcall/server/testing/rest';
import { COLLECTOR_PATH } from '@rollcall/shared/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, freshPostgres, startApi } from '../api/server.ts';
import { makeWorld, PASSWORD, type Person, person, type World } from '../api/world.ts';

afterAll(closeDatabases);

/** Who is not told notices after 15 s: at once is before, on a busy machine too. */
const AT_ONCE_MS = 10_000;

describe.runIf(process.env.TEST_DATABASE_URL)('two instances', () => {
  let here: ApiServer;
  let there: ApiServer;
  let world: World;

  beforeAll(async () => {
    const databaseUrl = await freshPostgres();
    const settings = { ROLLCALL_TRUSTED_PROXIES: '127.0.0.1' };
    here = await startApi('postgresql', { databaseUrl, settings });
    there = await startApi('postgresql', { databaseUrl, settings });
  });
  afterAll(async () => {
    await here.stop();
    await there.stop();
  });
  beforeEach(async () => {
    world = await makeWorld(here.db, here.keyring);
    await here.db.query('DELETE FROM login_failures');
  });

  const bearer = ({ token }: Person) => ({ headers: { authorization: `Bearer ${token}` } });

  /** An open stream; resolves `ended` with how long after `from()` it was cut. */
  async function streamAt(server: ApiServer, headers: Record<string, string>) {
    const response = await fetch(`${server.url}/api/stream`, { headers });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    const ended = (async () => {
      try {
        while (!(await reader.read()).done);
      } catch {
        // Cut in the middle: that is what ending a stream looks like from here.
      }
      return performance.now();
    })();
    return { ended };
  }
  /** Milliseconds from the end of `act` until the other instance refuses and its open stream is cut. */
  async function effect(
    caller: Record<string, string>,
    act: () => Promise<{ status: number }>,
  ): Promise<{ refused: number; cut: number }> {
    const refusedBy = async () => (await ask(there.url, 'GET', '/api/devices', { headers: caller })).status;
    expect(await refusedBy()).toBe(200);
    const { ended } = await streamAt(there, caller);
    expect((await act()).status).toBeLessThan(300);
    const from = performance.now();
    while ((await refusedBy()) === 200) {
      if (performance.now() - from > 2 * AT_ONCE_MS) throw new Error('the other instance still answers');
      await sleep(20);
    }
    const refused = performance.now() - from;
    const cut = await Promise.race([ended, sleep(2 * AT_ONCE_MS, Number.POSITIVE_INFINITY)]);
    return { refused, cut: Math.max(0, cut - from) };
  }

  it.each<
    [
      what: string,
      (
        own: Person,
        admin: Person,
      ) => [caller: 'token' | 'cookie', method: string, path: string, json?: object],
    ]
  >([
    ['a token that its owner revokes', (own) => ['token', 'DELETE', `/api/tokens/${own.tokenId}`]],
    [
      'a token whose owner is disabled',
      (own) => ['token', 'PATCH', `/api/users/${own.id}`, { disabled: true }],
    ],
    ['a token whose owner is deleted', (own) => ['token', 'DELETE', `/api/users/${own.id}`]],
    [
      'a session whose owner is disabled',
      (own) => ['cookie', 'PATCH', `/api/users/${own.id}`, { disabled: true }],
    ],
    [
      'a session whose owner gets another role',
      (own) => ['cookie', 'PATCH', `/api/users/${own.id}`, { role: 'viewer' }],
    ],
    [
      'a session whose owner gets a new password',
      (own) => ['cookie', 'PATCH', `/api/users/${own.id}`, { password: 'another horse, another staple' }],
    ],
  ])('G9 G124 %s ends on the other instance at once, its open stream too', async (_what, plan) => {
    const [own, admin] = [person(world, 'operator', 'all'), person(world, 'admin', 'all')];
    const [kind, method, path, json] = plan(own, admin);
    const caller: Record<string, string> = kind === 'token' ? bearer(own).headers : { cookie: own.cookie };
    const by = path.startsWith('/api/tokens') ? own : admin;
    const { refused, cut } = await effect(caller, () =>
      ask(here.url, method, path, { ...bearer(by), ...(json && { json }) }),
    );
    expect(refused).toBeLessThan(AT_ONCE_MS);
    expect(cut).toBeLessThan(AT_ONCE_MS);
  });

  describe('sign-ins', () => {
    const signIn = (server: ApiServer, name: string, password: string, from: string) =>
      ask(server.url, 'POST', '/api/session', {
        json: { name, password },
        headers: { 'x-forwarded-for': from },
      });

    it('G11 are throttled by both together, per place behind the proxy, and the owner gets in from a known one', async () => {
      const { name } = person(world, 'operator', 'all');
      expect((await signIn(here, name, PASSWORD, '198.51.100.7')).status).toBe(200);
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++)
        statuses.push((await signIn(i % 2 ? here : there, name, 'wrong', '203.0.113.5')).status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(6);
      expect(statuses).toContain(429);
      // The proxy's own address is nobody's: another place is not made to wait for this one's guesses.
      expect((await signIn(there, name, PASSWORD, '198.51.100.99')).status).toBe(200);
      expect((await signIn(there, person(world, 'viewer', 'all').name, PASSWORD, '192.0.2.1')).status).toBe(
        200,
      );
      const { json } = await ask(
        here.url,
        'GET',
        '/api/audit?pageSize=100',
        bearer(person(world, 'admin', 'all')),
      );
      const refusedFrom = json.data.filter((r: { action: string }) => r.action === 'session.refused');
      expect(new Set(refusedFrom.map((r: { address: string }) => r.address))).toEqual(
        new Set(['203.0.113.5']),
      );
    });

    it('G126 believe only the trusted proxy: what a client wrote in front of it is nothing', async () => {
      const { name } = person(world, 'operator', 'all');
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++)
        statuses.push((await signIn(here, name, 'wrong', `192.0.${i}.1, 203.0.113.5`)).status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(6);
      expect(statuses).toContain(429);
    });

    it('make one first admin between them', async () => {
      await here.db.query('DELETE FROM users');
      const made = await Promise.all([ensureFirstAdmin(here.db), ensureFirstAdmin(there.db)]);
      expect(made.filter(Boolean)).toHaveLength(1);
    });
  });

  it('case 139: strangers at the collectors door are counted per address behind the proxy', async () => {
    const { port } = new URL(here.url);
    const sockets: ReturnType<typeof connect>[] = [];
    const upgrade = (from: string) =>
      new Promise<number>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1');
        sockets.push(socket);
        socket.once('error', reject);
        socket.once('data', (data) => resolve(Number(data.toString().split(' ')[1])));
        socket.write(
          `GET ${COLLECTOR_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
            `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16, 1).toString('base64')}\r\nX-Forwarded-For: ${from}\r\n\r\n`,
        );
      });
    try {
      const crowd = await Promise.all(Array.from({ length: 66 }, () => upgrade('203.0.113.9')));
      expect(crowd.filter((status) => status === 101)).toHaveLength(64);
      expect(crowd.filter((status) => status === 503)).toHaveLength(2);
      expect(await upgrade('198.51.100.1')).toBe(101);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
