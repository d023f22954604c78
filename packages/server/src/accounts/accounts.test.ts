import { setTimeout as sleep } from 'node:timers/promises';
import { accountOperations } from '@rollcall/shared/api/accounts';
import { siteOperations } from '@rollcall/shared/api/sites';
import { tokenOperations } from '@rollcall/shared/api/tokens';
import { systemClock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { keyring } from '../platform/keys/keyring.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { type Credential, type RestServer, startRest } from '../testing/rest.ts';
import { insert } from '../testing/rows.ts';
import { accountHandlers, ensureFirstAdmin, purgeAccounts } from './accounts.ts';
import { addUser, issueToken, setPassword } from './command-line.ts';

afterAll(closeDatabases);

const table = { ...accountOperations, ...tokenOperations, ...siteOperations };
const PASSWORD = 'correct horse battery staple';
const KEYS = keyring([Buffer.alloc(32, 1)]);
const log = pino({ level: 'silent' });

describe.each(databases())('accounts on %s', (_name, open) => {
  let db: Database;
  let server: RestServer;
  let admin: Credential;
  let password: string;

  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    for (const rows of ['users', 'scans', 'sites', 'audit', 'login_failures'])
      await db.query(`DELETE FROM ${rows}`);
    server = await startRest(db, table, (auth, clock) =>
      accountHandlers({ db, clock, log, keyring: KEYS, forget: auth.forget }),
    );
    const first = await ensureFirstAdmin(db);
    password = first!.password;
    admin = { token: await issueToken(db, { user: 'admin', name: 'test', expiresAt: null }, Date.now()) };
  });
  afterEach(() => server.close());

  const ask: RestServer['ask'] = (...args) => server.ask(...args);
  const signIn = async (name: string, pass: string) => {
    const reply = await ask('POST', '/api/session', undefined, { json: { name, password: pass } });
    const cookie = String(reply.headers['set-cookie'] ?? '').split(';')[0]!;
    return { reply, cookie, as: { cookie } };
  };
  const makeSite = async (name: string): Promise<string> =>
    (await ask('POST', '/api/sites', admin, { json: { name } })).json.data.id;
  const makeUser = async (name: string, more: object): Promise<{ id: string; token: string }> => {
    const { json } = await ask('POST', '/api/users', admin, {
      json: { name, password: PASSWORD, role: 'viewer', ...more },
    });
    return {
      id: json.data.id,
      token: await issueToken(db, { user: name, name: 't', expiresAt: null }, Date.now()),
    };
  };
  const count = async (text: string) =>
    (await db.query<{ n: number }>(`SELECT count(*) AS n FROM ${text}`))[0]!.n;

  it('makes the first admin once, and nobody where there is somebody', async () => {
    expect(password).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/);
    expect(await ensureFirstAdmin(db)).toBeNull();
    const [user] = await db.query<{ password_hash: string }>('SELECT password_hash FROM users');
    expect(user!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await signIn('admin', password)).reply.status).toBe(200);
  });

  it('makes one first admin where two servers start together', async () => {
    const fresh = await open();
    const made = await Promise.all([ensureFirstAdmin(fresh), ensureFirstAdmin(fresh)]);
    expect(made.filter(Boolean)).toHaveLength(1);
  });

  describe('sessions', () => {
    it('open with a cookie that scripts cannot read, tell who is there, and end', async () => {
      const { reply, as } = await signIn(' Admin ', password);
      expect(reply.status).toBe(200);
      expect(reply.headers['set-cookie']).toEqual([
        expect.stringMatching(/^rollcall=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/),
      ]);
      expect(reply.json.data).toMatchObject({
        user: { name: 'admin', role: 'admin', allSites: true },
        via: 'session',
      });
      expect((await ask('GET', '/api/session', as)).json.data.session.current).toBe(true);
      const ended = await ask('DELETE', '/api/session', as);
      expect([ended.status, ended.headers['clear-site-data']]).toEqual([200, '"storage"']);
      // G124 CVE-2022-4070: the old cookie is dead.
      expect((await ask('GET', '/api/session', as)).status).toBe(401);
    });

    it('G123 are new at each sign-in, and the planted one is dead', async () => {
      const planted = await signIn('admin', password);
      const { reply } = await (async () => {
        const r = await ask('POST', '/api/session', undefined, {
          json: { name: 'admin', password },
          headers: { cookie: planted.cookie },
        });
        return { reply: r };
      })();
      expect(String(reply.headers['set-cookie'])).not.toContain(planted.cookie);
      expect((await ask('GET', '/api/session', planted.as)).status).toBe(401);
    });

    it('read the same whether the name or the password is wrong, or the account disabled', async () => {
      const { id } = await makeUser('bob', { allSites: true });
      await ask('PATCH', `/api/users/${id}`, admin, { json: { disabled: true } });
      const replies = [
        await signIn('nobody', PASSWORD),
        await signIn('admin', 'wrong'),
        await signIn('bob', PASSWORD),
      ];
      for (const { reply } of replies) {
        expect([reply.status, reply.json.error.message]).toEqual([401, 'the name or the password is wrong']);
        expect(reply.headers['set-cookie']).toBeUndefined();
      }
    });

    it('G127 refuse endless passwords before hashing, and make a flood wait', async () => {
      expect((await signIn('admin', 'x'.repeat(129))).reply.status).toBe(400);
      expect((await signIn('admin', 'a\0b')).reply.status).toBe(400);
      const flood = await Promise.all(Array.from({ length: 200 }, () => signIn('admin', 'wrong')));
      const statuses = flood.map(({ reply }) => reply.status);
      // Five at once; one more for each wait that passes while the flood lasts.
      const checked = statuses.filter((s) => s === 401).length;
      expect(checked).toBeGreaterThanOrEqual(5);
      expect(checked).toBeLessThan(10);
      expect(statuses.filter((s) => s === 429)).toHaveLength(200 - checked);
      const last = flood.find(({ reply }) => reply.status === 429)!.reply;
      expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
      expect(await count(`audit WHERE action = 'session.refused'`)).toBe(checked);
    });

    it('are listed to their owner, and revoked one by one', async () => {
      const one = await signIn('admin', password);
      const two = await signIn('admin', password);
      const { json } = await ask('GET', '/api/sessions', two.as);
      expect(json.totalCount).toBe(2);
      const other = json.data.find((s: { current: boolean }) => !s.current);
      expect((await ask('DELETE', `/api/sessions/${other.id}`, two.as)).status).toBe(200);
      expect((await ask('GET', '/api/session', one.as)).status).toBe(401);
      expect((await ask('DELETE', `/api/sessions/${other.id}`, two.as)).status).toBe(404);
      const { token } = await makeUser('bob', {});
      expect((await ask('GET', '/api/sessions', { token })).status).toBe(403);
    });

    it('end by lying idle and at their absolute end', async () => {
      const { as } = await signIn('admin', password);
      await db.query(`UPDATE sessions SET last_seen_at = now() - interval '13 hours'`);
      server.auth.forget();
      expect((await ask('GET', '/api/session', as)).status).toBe(401);
      await db.query(`UPDATE sessions SET last_seen_at = now(), expires_at = now() - interval '1 second'`);
      server.auth.forget();
      expect((await ask('GET', '/api/session', as)).status).toBe(401);
      await purgeAccounts({ db, clock: systemClock });
      expect(await count('sessions')).toBe(0);
    });

    it('G122 CVE-2023-0870 let no other site sign anybody in', async () => {
      const body = { json: { name: 'admin', password } };
      for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
        expect((await ask('POST', '/api/session', undefined, { ...body, headers })).status).toBe(403);
    });
  });

  describe('passwords', () => {
    it('G124 G128 change once, end every other session, and spare tokens unless asked', async () => {
      const old = await signIn('admin', password);
      const { as } = await signIn('admin', password);
      const change = (next: string, more = {}) =>
        ask('POST', '/api/session/password', as, { json: { current: password, next, ...more } });
      const both = await Promise.all([change('first new password'), change('second new password')]);
      expect(both.map((r) => r.status).sort()).not.toEqual([200, 200]);
      expect(both.filter((r) => r.status === 200)).toHaveLength(1);
      expect((await ask('GET', '/api/session', old.as)).status).toBe(401);
      expect((await ask('GET', '/api/session', as)).status).toBe(401);
      const winner = both.find((r) => r.status === 200)!;
      const fresh = { cookie: String(winner.headers['set-cookie']).split(';')[0]! };
      expect((await ask('GET', '/api/session', fresh)).status).toBe(200);
      expect((await ask('GET', '/api/session', admin)).status).toBe(200);
      const next = both[0]!.status === 200 ? 'first new password' : 'second new password';
      await ask('POST', '/api/session/password', fresh, {
        json: { current: next, next: 'third new password', revokeTokens: true },
      });
      expect((await ask('GET', '/api/session', admin)).status).toBe(401);
    });

    it('need the present one, and are the same however they are composed', async () => {
      const { as } = await signIn('admin', password);
      const wrong = await ask('POST', '/api/session/password', as, {
        json: { current: 'x', next: 'long enough' },
      });
      expect([wrong.status, wrong.json.error.message]).toEqual([400, 'current: is not the present password']);
      await setPassword(db, 'admin', 'Ångström-passwort'.normalize('NFD'));
      expect((await signIn('admin', 'Ångström-passwort'.normalize('NFC'))).reply.status).toBe(200);
      expect((await ask('GET', '/api/session', as)).status).toBe(401);
    });
  });

  describe('tokens', () => {
    it('follow the document: plaintext once at top level, metadata in data, never again', async () => {
      const { status, json } = await ask('POST', '/api/tokens', admin, { json: { name: 'report' } });
      expect(status).toBe(201);
      expect(json.success).toBe(true);
      expect(json.token).toMatch(/^svc_[0-9A-Za-z]{40}$/);
      expect(json.data).toMatchObject({
        name: 'report',
        hint: json.token.slice(-4),
        expiresAt: null,
        revokedAt: null,
      });
      const list = await ask('GET', '/api/tokens', { token: json.token });
      expect(list.json.data.map((t: { name: string }) => t.name)).toEqual(['report', 'test']);
      expect(list.text).not.toContain(json.token);
      const stored = await db.query('SELECT * FROM api_tokens');
      expect(JSON.stringify(stored)).not.toContain(json.token);
      expect(server.logged.join('')).not.toContain(json.token);
    });

    it('are made from a signed-in session, without a bearer header', async () => {
      const { as } = await signIn('admin', password);
      const { status, json } = await ask('POST', '/api/tokens', as, { json: { name: 'from the web' } });
      expect(status).toBe(201);
      expect((await ask('GET', '/api/session', { token: json.token })).json.data.via).toBe('token');
    });

    it('only read where they were made so: what a viewer may, of some sites, and nothing of the account', async () => {
      const [north, south] = [await makeSite('north'), await makeSite('south')];
      const made = await ask('POST', '/api/tokens', admin, {
        json: { name: 'wall', readOnly: true, siteIds: [north] },
      });
      expect(made.status).toBe(201);
      expect(made.json.data).toMatchObject({ readOnly: true, siteIds: [north] });
      const wall = { token: made.json.token as string };
      const { user } = (await ask('GET', '/api/session', wall)).json.data;
      expect(user).toMatchObject({ role: 'viewer', allSites: false, siteIds: [north], settings: {} });
      for (const path of ['/api/tokens', '/api/sessions', '/api/users'])
        expect([path, (await ask('GET', path, wall)).status]).toEqual([path, 403]);
      expect((await ask('POST', '/api/tokens', wall, { json: { name: 'more' } })).status).toBe(403);
      // A token of somebody who loses a site loses it as well.
      const { id, token } = await makeUser('wanda', { role: 'operator', siteIds: [north, south] });
      const hers = (
        await ask('POST', '/api/tokens', { token }, { json: { name: 'w', readOnly: true, siteIds: [south] } })
      ).json.token as string;
      const seen = async () => (await ask('GET', '/api/session', { token: hers })).json.data.user.siteIds;
      expect(await seen()).toEqual([south]);
      await ask('PATCH', `/api/users/${id}`, admin, { json: { siteIds: [north] } });
      expect(await seen()).toEqual([]);
      const refused = [{ siteIds: [south], readOnly: true }, { siteIds: [north] }];
      for (const limits of refused) {
        const { status } = await ask('POST', '/api/tokens', { token }, { json: { name: 'x', ...limits } });
        expect([400, 403]).toContain(status);
      }
    });

    it('are refused from other networks than their own, with the address that was seen', async () => {
      const make = (networks: string[]) =>
        ask('POST', '/api/tokens', admin, { json: { name: 'from here', networks } });
      const near = await make(['10.0.0.5/8', '2001:DB8::/32', '127.0.0.1']);
      expect(near.json.data.networks).toEqual(['10.0.0.0/8', '2001:db8::/32', '127.0.0.1']);
      const far = await make(['10.0.0.0/8']);
      const fromHere = ({ json }: { json: { token: string } }) =>
        ask('GET', '/api/session', { token: json.token });
      expect((await fromHere(near)).status).toBe(200);
      const { status, json } = await fromHere(far);
      expect([status, json.error.message]).toEqual([
        403,
        expect.stringContaining('this token is not accepted from 127.0.0.1'),
      ]);
      // A refused use is no use.
      const { json: list } = await ask('GET', '/api/tokens', admin);
      expect(list.data.find(({ id }: { id: string }) => id === far.json.data.id).lastUsedAt).toBeNull();
      expect((await make(['10.0.0.0/33'])).json.error.details[0].path).toBe('networks.0');
    });

    it('G9 stop working at once when revoked, and stay in the list as revoked', async () => {
      const { json } = await ask('POST', '/api/tokens', admin, { json: { name: 'short-lived' } });
      const mine = { token: json.token as string };
      expect((await ask('GET', '/api/session', mine)).status).toBe(200);
      const revoked = await ask('DELETE', `/api/tokens/${json.data.id}`, mine);
      expect(revoked.status).toBe(200);
      expect(revoked.json.data.revokedAt).toBeGreaterThan(0);
      expect((await ask('GET', '/api/session', mine)).status).toBe(401);
      const again = await ask('DELETE', `/api/tokens/${json.data.id}`, admin);
      expect([again.status, again.json.data.revokedAt]).toEqual([200, revoked.json.data.revokedAt]);
      const { json: list } = await ask('GET', '/api/tokens', admin);
      expect(list.data.find((t: { id: string }) => t.id === json.data.id).revokedAt).toBe(
        revoked.json.data.revokedAt,
      );
    });

    it('stay in the list for thirty days after they were revoked', async () => {
      const { json } = await ask('POST', '/api/tokens', admin, { json: { name: 'old' } });
      await ask('DELETE', `/api/tokens/${json.data.id}`, admin);
      const listed = async () => {
        const { json: list } = await ask('GET', '/api/tokens', admin);
        return list.data.some((t: { id: string }) => t.id === json.data.id);
      };
      const revokedFor = (time: string) =>
        db.query('UPDATE api_tokens SET revoked_at = now() - $2::interval WHERE id = $1', [
          json.data.id,
          time,
        ]);
      await revokedFor('29 days 23 hours');
      expect(await listed()).toBe(true);
      await revokedFor('30 days 1 hour');
      expect(await listed()).toBe(false);
    });

    it('belong to their owner: another account neither sees nor revokes them', async () => {
      const bob = await makeUser('bob', { role: 'admin', allSites: true });
      const { json } = await ask('POST', '/api/tokens', admin, { json: { name: 'mine' } });
      const other = await ask('DELETE', `/api/tokens/${json.data.id}`, bob);
      const unknown = await ask('DELETE', '/api/tokens/019aa3c4-5b00-7000-8000-000000000001', bob);
      expect([other.status, unknown.status]).toEqual([404, 404]);
      expect(other.json.error.message).toBe(unknown.json.error.message);
      expect((await ask('GET', '/api/session', { token: json.token })).status).toBe(200);
      expect((await ask('GET', '/api/tokens', bob)).json.totalCount).toBe(1);
    });

    it('expire when they say so, and never in the past', async () => {
      const past = await ask('POST', '/api/tokens', admin, { json: { name: 'x', expiresAt: 1 } });
      expect(past.status).toBe(400);
      const soon = Math.floor(Date.now() / 1000) + 3600;
      const { json } = await ask('POST', '/api/tokens', admin, { json: { name: 'x', expiresAt: soon } });
      expect(json.data.expiresAt).toBe(soon);
      await db.query(`UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`, [
        json.data.id,
      ]);
      await sleep(600);
      expect((await ask('GET', '/api/session', { token: json.token })).status).toBe(401);
    });

    it('are at most fifty live ones of an account, however fast they are made', async () => {
      const make = (i: number) => ask('POST', '/api/tokens', admin, { json: { name: `t${i}` } });
      for (let i = 0; i < 40; i++) expect((await make(i)).status).toBe(201);
      // So few at once that none waits too long for the database on a busy machine.
      const results = await Promise.all(Array.from({ length: 20 }, (_, i) => make(40 + i)));
      const made = results.filter((r) => r.status === 201);
      expect(made).toHaveLength(9);
      expect(results.filter((r) => r.status === 409)).toHaveLength(11);
      await ask('DELETE', `/api/tokens/${made[0]!.json.data.id}`, admin);
      expect((await ask('POST', '/api/tokens', admin, { json: { name: 'room again' } })).status).toBe(201);
    });

    it('G120 fail the same way whatever is wrong with them', async () => {
      const good = (admin as { token: string }).token;
      const swapped = good.replace(/[a-z]/, (c) => c.toUpperCase());
      for (const token of [swapped, good.slice(0, -1), `${good}x`, 'svc_', 'jt_abc', good.toLowerCase()]) {
        const { status, json } = await ask('GET', '/api/session', { token });
        expect([status, json.error.code, json.error.message]).toEqual([
          401,
          'unauthorized',
          'the token is invalid',
        ]);
      }
    });

    it('G121 have exactly the present rights of their owner', async () => {
      const bob = await makeUser('bob', { role: 'admin', allSites: true });
      expect((await ask('GET', '/api/users', bob)).status).toBe(200);
      await ask('PATCH', `/api/users/${bob.id}`, admin, { json: { role: 'viewer' } });
      expect((await ask('GET', '/api/users', bob)).status).toBe(403);
      await ask('PATCH', `/api/users/${bob.id}`, admin, { json: { disabled: true } });
      expect((await ask('GET', '/api/session', bob)).status).toBe(401);
      await ask('PATCH', `/api/users/${bob.id}`, admin, { json: { disabled: false } });
      expect((await ask('GET', '/api/session', bob)).status).toBe(200);
      await ask('DELETE', `/api/users/${bob.id}`, admin);
      expect((await ask('GET', '/api/session', bob)).status).toBe(401);
    });

    it('note their last use once a minute, not once a request', async () => {
      for (let i = 0; i < 5; i++) await ask('GET', '/api/session', admin);
      const { json } = await ask('GET', '/api/tokens', admin);
      expect(json.data[0].lastUsedAt).toBeGreaterThan(Date.now() / 1000 - 60);
      const [row] = await db.query<{ last_used_at: Date }>('SELECT last_used_at FROM api_tokens');
      await sleep(600);
      await ask('GET', '/api/session', admin);
      expect((await db.query('SELECT last_used_at FROM api_tokens'))[0]).toEqual(row);
    });
  });

  it('G9 G23 rights that change on another instance count here within a second', async () => {
    const there = await startRest(db, table, (auth, clock) =>
      accountHandlers({ db, clock, log, keyring: KEYS, forget: auth.forget }),
    );
    const bob = await makeUser('bob', { role: 'admin', allSites: true });
    expect((await there.ask('GET', '/api/users', bob)).status).toBe(200);
    await ask('PATCH', `/api/users/${bob.id}`, admin, { json: { role: 'viewer' } });
    const since = performance.now();
    while ((await there.ask('GET', '/api/users', bob)).status !== 403) {
      if (performance.now() - since > 1_000) throw new Error('the old right still counts after a second');
      await sleep(20);
    }
    await there.close();
  });

  describe('users', () => {
    it('are added, changed and deleted by admins', async () => {
      const site = await makeSite('Berlin');
      const created = await ask('POST', '/api/users', admin, {
        json: { name: 'Ada', password: PASSWORD, role: 'operator', siteIds: [site], displayName: 'Ada L.' },
      });
      expect(created.status).toBe(201);
      const { id } = created.json.data;
      expect(created.json.data).toMatchObject({
        name: 'ada',
        role: 'operator',
        allSites: false,
        siteIds: [site],
      });
      expect(created.text).not.toMatch(/argon|password_?hash|horse/i);
      expect((await signIn('ada', PASSWORD)).reply.status).toBe(200);
      const listed = await ask('GET', '/api/users?search=AD&sort=-name', admin);
      expect([listed.json.totalCount, listed.json.data.map((u: { name: string }) => u.name)]).toEqual([
        2,
        ['admin', 'ada'],
      ]);
      const beyond = await ask('GET', '/api/users?page=9', admin);
      expect([beyond.json.data, beyond.json.totalCount]).toEqual([[], 2]);
      const patched = await ask('PATCH', `/api/users/${id}`, admin, {
        json: { allSites: true, siteIds: [] },
      });
      expect(patched.json.data).toMatchObject({ allSites: true, siteIds: [], role: 'operator' });
      expect((await ask('DELETE', `/api/users/${id}`, admin)).status).toBe(200);
      expect((await ask('GET', `/api/users/${id}`, admin)).status).toBe(404);
    });

    it('G109 CVE-2024-36467 take no field that is not theirs to give', async () => {
      const bob = await makeUser('bob', {});
      for (const extra of [
        { isAdmin: true },
        { passwordHash: 'x' },
        { id: bob.id },
        { createdAt: 1 },
        { ownerId: 'x' },
      ]) {
        const { status } = await ask('PATCH', `/api/users/${bob.id}`, admin, { json: extra });
        expect(status).toBe(400);
      }
      const { as } = await signIn('bob', PASSWORD);
      for (const extra of [{ role: 'admin' }, { allSites: true }, { siteIds: [] }])
        expect((await ask('PATCH', '/api/session', as, { json: extra })).status).toBe(400);
      const [row] = await db.query<{ role: string; all_sites: boolean }>(
        `SELECT role, all_sites FROM users WHERE name = 'bob'`,
      );
      expect(row).toEqual({ role: 'viewer', all_sites: false });
    });

    it('keep names apart, and site lists true', async () => {
      const clash = await ask('POST', '/api/users', admin, {
        json: { name: 'ADMIN', password: PASSWORD, role: 'viewer' },
      });
      expect([clash.status, clash.json.error.message]).toEqual([409, 'the name admin is taken']);
      const unknown = await ask('POST', '/api/users', admin, {
        json: {
          name: 'x',
          password: PASSWORD,
          role: 'viewer',
          siteIds: ['019aa3c4-5b00-7000-8000-000000000001'],
        },
      });
      expect(unknown.status).toBe(400);
      expect(await count('users')).toBe(1);
    });

    it('G128 always leave one who can manage everything, also when two try at once', async () => {
      const [me] = (await ask('GET', '/api/users', admin)).json.data;
      for (const json of [{ role: 'viewer' }, { disabled: true }, { allSites: false }])
        expect((await ask('PATCH', `/api/users/${me.id}`, admin, { json })).status).toBe(409);
      expect((await ask('DELETE', `/api/users/${me.id}`, admin)).status).toBe(409);
      const bob = await makeUser('bob', { role: 'admin', allSites: true });
      const both = await Promise.all([
        ask('PATCH', `/api/users/${me.id}`, bob, { json: { role: 'viewer' } }),
        ask('PATCH', `/api/users/${bob.id}`, admin, { json: { role: 'viewer' } }),
      ]);
      // The loser is refused for being the last, or, when it came after, for being no admin any more.
      const [won, lost] = both.map((r) => r.status).sort();
      expect(won).toBe(200);
      expect([403, 409]).toContain(lost);
      expect(await count(`users WHERE role = 'admin' AND all_sites AND disabled_at IS NULL`)).toBe(1);
    });

    it('G129 are not overwritten by somebody who read an older state', async () => {
      const bob = await makeUser('bob', {});
      const read = await ask('GET', `/api/users/${bob.id}`, admin);
      const headers = { 'if-match': String(read.headers.etag) };
      const first = await ask('PATCH', `/api/users/${bob.id}`, admin, {
        json: { displayName: 'one' },
        headers,
      });
      const second = await ask('PATCH', `/api/users/${bob.id}`, admin, {
        json: { displayName: 'two' },
        headers,
      });
      expect([first.status, second.status, second.json.error.code]).toEqual([200, 409, 'conflict']);
      expect((await ask('GET', `/api/users/${bob.id}`, admin)).json.data.displayName).toBe('one');
    });

    it('G105 of an admin with some sites: neither sees, makes nor promotes beyond them', async () => {
      const [berlin, paris] = [await makeSite('Berlin'), await makeSite('Paris')];
      const local = await makeUser('local', { role: 'admin', siteIds: [berlin] });
      const inside = await makeUser('inside', { siteIds: [berlin] });
      const outside = await makeUser('outside', { siteIds: [paris] });
      const names = (await ask('GET', '/api/users', local)).json.data.map((u: { name: string }) => u.name);
      expect(names).toEqual(['inside', 'local']);
      expect((await ask('GET', `/api/users/${outside.id}`, local)).status).toBe(404);
      expect(
        (await ask('PATCH', `/api/users/${outside.id}`, local, { json: { disabled: true } })).status,
      ).toBe(404);
      const make = (json: object) =>
        ask('POST', '/api/users', local, {
          json: { name: 'new', password: PASSWORD, role: 'viewer', ...json },
        });
      expect((await make({ allSites: true })).status).toBe(403);
      // G106 CVE-2026-108715: one allowed and one not is not allowed.
      expect((await make({ siteIds: [berlin, paris] })).status).toBe(403);
      expect((await make({ siteIds: [berlin] })).status).toBe(201);
      for (const json of [{ allSites: true }, { siteIds: [paris] }])
        for (const id of [inside.id, local.id])
          expect((await ask('PATCH', `/api/users/${id}`, local, { json })).status).toBe(403);
      expect((await ask('POST', '/api/sites', local, { json: { name: 'Rome' } })).status).toBe(403);
      expect((await ask('GET', `/api/sites/${paris}`, local)).status).toBe(404);
      expect((await ask('PATCH', `/api/sites/${paris}`, local, { json: { name: 'x' } })).status).toBe(404);
      expect((await ask('GET', '/api/sites', local)).json.data.map((s: { name: string }) => s.name)).toEqual([
        'Berlin',
      ]);
      const audit = await ask('GET', '/api/audit?pageSize=1000', local);
      expect(audit.text).not.toContain('Paris');
    });

    it('attack: an administrator of a site takes over no account that has no site yet', async () => {
      const berlin = await makeSite('Berlin');
      const local = await makeUser('local', { role: 'admin', siteIds: [berlin] });
      const waiting = await makeUser('waiting', { role: 'admin', siteIds: [] });
      const inside = await makeUser('inside', { siteIds: [berlin] });
      const names = (await ask('GET', '/api/users', local)).json.data.map((u: { name: string }) => u.name);
      expect(names).toEqual(['inside', 'local']);
      for (const json of [{ password: 'another horse, another staple' }, { siteIds: [berlin] }])
        expect((await ask('PATCH', `/api/users/${waiting.id}`, local, { json })).status).toBe(404);
      expect((await ask('DELETE', `/api/users/${waiting.id}`, local)).status).toBe(404);
      // Nor makes one that it could not see again.
      const json = { name: 'new', password: PASSWORD, role: 'viewer', siteIds: [] };
      expect((await ask('POST', '/api/users', local, { json })).status).toBe(403);
      const left = await ask('PATCH', `/api/users/${inside.id}`, local, { json: { siteIds: [] } });
      expect(left.status).toBe(403);
    });

    it('can be picked by name by those who share a site with them', async () => {
      const [berlin, paris] = [await makeSite('Berlin'), await makeSite('Paris')];
      const viewer = await makeUser('viewer', { siteIds: [berlin] });
      await makeUser('paris', { siteIds: [paris] });
      await makeUser('both', { siteIds: [berlin, paris] });
      const names = async (path: string, as: Credential) =>
        (await ask('GET', path, as)).json.data.map((u: { name: string }) => u.name);
      expect(await names('/api/assignees', viewer)).toEqual(['admin', 'both', 'viewer']);
      expect(await names(`/api/assignees?site=${paris}`, admin)).toEqual(['admin', 'both', 'paris']);
      expect((await ask('GET', `/api/assignees?site=${paris}`, viewer)).status).toBe(403);
    });

    it('keep settings of their own, within a bound', async () => {
      const { as } = await signIn('admin', password);
      const settings = { theme: 'dark', views: [{ name: 'mine', filter: { class: 'switch' } }] };
      const saved = await ask('PATCH', '/api/session', as, { json: { settings, displayName: ' Admin ' } });
      expect(saved.json.data.user).toMatchObject({ settings, displayName: 'Admin' });
      const tooMuch = { settings: { x: 'y'.repeat(70_000) } };
      expect((await ask('PATCH', '/api/session', as, { json: tooMuch })).status).toBe(400);
    });
  });

  describe('sites', () => {
    it('are added with canonical networks, changed, and deleted when empty', async () => {
      const { status, json } = await ask('POST', '/api/sites', admin, {
        json: {
          name: ' Berlin ',
          networks: ['10.20.5.0/16', '2001:DB8::/32'],
          exclude: ['10.20.0.1'],
          settings: { watchIcmpSeconds: 30 },
        },
      });
      expect(status).toBe(201);
      expect(json.data).toMatchObject({
        name: 'Berlin',
        networks: ['10.20.0.0/16', '2001:db8::/32'],
        exclude: ['10.20.0.1'],
        allowLoopback: false,
        settings: { watchIcmpSeconds: 30 },
      });
      const path = `/api/sites/${json.data.id}`;
      const patched = await ask('PATCH', path, admin, { json: { name: 'Berlin Mitte' } });
      expect(patched.json.data).toMatchObject({
        name: 'Berlin Mitte',
        networks: ['10.20.0.0/16', '2001:db8::/32'],
      });
      expect((await ask('POST', '/api/sites', admin, { json: { name: 'Berlin Mitte' } })).status).toBe(409);
      await db.query(
        `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total) VALUES ($1, $2, 'x', 'ping', '{}', 1)`,
        ['019aa3c4-5b00-7000-8000-000000000001', json.data.id],
      );
      const held = await ask('DELETE', path, admin);
      expect([held.status, held.json.error.message]).toEqual([409, 'the site still has scans']);
      await db.query('DELETE FROM scans');
      expect((await ask('DELETE', path, admin)).status).toBe(200);
      expect((await ask('GET', path, admin)).status).toBe(404);
    });

    it('say thresholds by a custom field that there is, with a value that it takes', async () => {
      await insert(db, 'custom_fields', [
        { id: uuidv7(), applies_to: 'device', name: 'Tier', type: 'number' },
        { id: uuidv7(), applies_to: 'interface', name: 'Metered', type: 'boolean' },
      ]);
      const create = (...fields: string[]) =>
        ask('POST', '/api/sites', admin, {
          json: {
            name: uuidv7(),
            settings: { fieldThresholds: fields.map((field) => ({ field, thresholds: { loss: 5 } })) },
          },
        });
      const { json } = await create('Tier: 1.0', 'Metered:yes');
      expect(json.data.settings.fieldThresholds.map(({ field }: { field: string }) => field)).toEqual([
        'Tier:1',
        'Metered:true',
      ]);
      for (const [fields, why] of [
        [['Teir:1'], 'did you mean Tier?'],
        [['Tier:first'], 'Tier must be a number'],
        [['Tier:1', 'Tier:1.0'], 'must name each value once'],
      ] as const)
        expect((await create(...fields)).json.error.message).toContain(why);
      const path = `/api/sites/${json.data.id}`;
      const settings = { fieldThresholds: [{ field: 'Tier:x', thresholds: { loss: 5 } }] };
      expect((await ask('PATCH', path, admin, { json: { settings } })).status).toBe(400);
      expect((await ask('PATCH', path, admin, { json: { settings: {} } })).status).toBe(200);
      await db.query('DELETE FROM custom_fields');
    });

    it.each([['10.0.0.0/33'], ['10.0.0.256/24'], ['010.0.0.1'], ['example.com'], ['::ffff:10.0.0.0/104']])(
      'G93 refuse %s as a network',
      async (network) => {
        const { status, json } = await ask('POST', '/api/sites', admin, {
          json: { name: 'x', networks: [network] },
        });
        expect([status, json.error.details[0].path]).toEqual([400, 'networks.0']);
      },
    );
  });

  it('G24 keeps a record of what was done, without secrets, newest first', async () => {
    const { as } = await signIn('admin', password);
    await signIn('admin', 'CANARY-wrong-password');
    const { json } = await ask('POST', '/api/tokens', as, { json: { name: 'report' } });
    await ask('DELETE', `/api/tokens/${json.data.id}`, as);
    const bob = await makeUser('bob', {});
    await ask('PATCH', `/api/users/${bob.id}`, admin, {
      json: { role: 'operator', password: 'CANARY-new-password' },
    });
    const reply = await ask('GET', '/api/audit?pageSize=100', admin);
    const actions = reply.json.data.map((entry: { action: string }) => entry.action);
    expect(actions.slice(0, 7)).toEqual([
      'user.update',
      'token.create',
      'user.create',
      'token.delete',
      'token.create',
      'session.refused',
      'session.create',
    ]);
    expect(reply.text).not.toMatch(/CANARY|argon2/);
    expect(reply.text).not.toContain(json.token);
    const tokens = await ask('GET', '/api/audit?action=token&actor=admin', admin);
    expect(tokens.json.totalCount).toBe(2);
    expect(tokens.json.data[0]).toMatchObject({
      actor: 'admin',
      address: '127.0.0.1',
      subject: 'token report',
    });
    expect((await ask('GET', '/api/audit?from=9999999999', admin)).json).toMatchObject({
      data: [],
      totalCount: 0,
    });
    expect((await ask('GET', '/api/audit', bob)).status).toBe(403);
  });

  it('adds users from the command line, with sites by name', async () => {
    await makeSite('Berlin');
    const user = {
      name: 'cli',
      password: PASSWORD,
      displayName: '',
      role: 'viewer',
      allSites: false,
    } as const;
    await expect(addUser(db, { ...user, sites: ['Berlin', 'Rome'] })).rejects.toThrow(
      'there is no site named Rome',
    );
    await addUser(db, { ...user, sites: ['Berlin'] });
    await expect(addUser(db, { ...user, sites: [] })).rejects.toThrow('the name cli is taken');
    expect((await signIn('cli', PASSWORD)).reply.json.data.user.siteIds).toHaveLength(1);
  });
});
