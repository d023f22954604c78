import { setImmediate } from 'node:timers/promises';
import { accountOperations } from '@rollcall/shared/api/accounts';
import { secondFactorOperations } from '@rollcall/shared/api/second-factor';
import { siteOperations } from '@rollcall/shared/api/sites';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { Secret } from 'otpauth';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { keyring } from '../../platform/keys/keyring.ts';
import { reseal } from '../../platform/keys/reseal.ts';
import { codeAt } from '../../testing/authenticator.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { type Credential, type RestServer, startRest } from '../../testing/rest.ts';
import { accountHandlers } from '../accounts.ts';
import { addUser, resetSecondFactor, setPassword } from '../command-line.ts';
import { newRecoveryCodes, newSecret, recoveryHash, stepOf } from './codes.ts';
import { beginFactor } from './factor.ts';

afterAll(closeDatabases);

const table = { ...accountOperations, ...secondFactorOperations, ...siteOperations };
const PASSWORD = 'correct horse battery staple';
const OLD = Buffer.alloc(32, 1);
const KEYS = keyring([OLD]);
const log = pino({ level: 'silent' });

describe('codes', () => {
  // RFC 6238, appendix B, SHA-1: the last six of its eight digits.
  const RFC = Secret.fromUTF8('12345678901234567890').base32;
  it.each([
    [59, '287082', 1],
    [1111111109, '081804', 37037036],
    [20000000000, '353130', 666666666],
  ])('at %i s %s belongs to interval %i', (seconds, code, step) => {
    expect(stepOf(RFC, code, seconds * 1000)).toBe(step);
    expect(stepOf(RFC, ` ${code.slice(0, 3)} ${code.slice(3)} `, seconds * 1000)).toBe(step);
    // One interval to each side, no further.
    expect(stepOf(RFC, code, (seconds + 30) * 1000)).toBe(step);
    expect(stepOf(RFC, code, (seconds + 90) * 1000)).toBeNull();
  });

  it('that are none are none', () => {
    for (const text of ['', '28708', '2870822', 'abcdef', '２８７０８２'])
      expect(stepOf(RFC, text, 59_000)).toBeNull();
  });

  it('of recovery are ten of 99 bits, found however they are typed', () => {
    const { codes, hashes } = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    expect(recoveryHash(` ${codes[0]!.toUpperCase().replaceAll('-', ' ')}`)).toEqual(hashes[0]);
    expect(newSecret('ada').uri).toContain('issuer=Rollcall');
  });
});

describe.each(databases())('a second factor on %s', (_name, open) => {
  let db: Database;
  let server: RestServer;
  let clock: ManualClock;
  let ada: string;

  beforeAll(async () => {
    db = await open();
  });
  /** What happens between the checks of a request and the transaction that acts on them, once. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  const slow = (): Database => {
    let before = 0;
    return {
      ...db,
      transaction: async (work) => {
        // The first transaction counts the guess.
        if (meanwhile && before++ === 1) {
          const act = meanwhile;
          meanwhile = undefined;
          before = 0;
          await act();
        }
        return db.transaction(work);
      },
    };
  };
  const start = async (secondFactorRequired: boolean) =>
    startRest(
      db,
      table,
      ({ forget }) =>
        accountHandlers({ db: slow(), clock, log, keyring: KEYS, forget, secondFactorRequired }),
      clock,
      { secondFactorRequired },
    );
  beforeEach(async () => {
    for (const rows of ['users', 'sites', 'audit', 'login_failures']) await db.query(`DELETE FROM ${rows}`);
    clock = new ManualClock(1_800_000_000_000);
    server = await start(false);
    const someone = {
      displayName: '',
      role: 'admin' as const,
      allSites: true,
      sites: [],
      password: PASSWORD,
    };
    ada = await addUser(db, { ...someone, name: 'ada' });
    await addUser(db, { ...someone, name: 'bob' });
  });
  afterEach(() => server.close());

  const signIn = async (name: string, more: object = {}) => {
    const reply = await server.ask('POST', '/api/session', undefined, {
      json: { name, password: PASSWORD, ...more },
    });
    const as: Credential = { cookie: String(reply.headers['set-cookie'] ?? '').split(';')[0]! };
    return { ...reply, as };
  };
  const post = (path: string, as: Credential, json: object) =>
    server.ask('POST', `/api/session/second-factor${path}`, as, { json });
  const setUp = async (as: Credential): Promise<{ secret: string; recoveryCodes: string[] }> => {
    const begun = await post('', as, { password: PASSWORD });
    const { secret } = begun.json.data;
    const { status, json } = await post('/confirmation', as, { code: codeAt(secret, clock.now()) });
    expect(status).toBe(200);
    expect(json.data.user.secondFactor).toBe(true);
    return { secret, recoveryCodes: json.recoveryCodes };
  };

  it('is set up with the password and a code, and nothing of it is stored or told in the clear', async () => {
    const { as } = await signIn('ada');
    const other = await signIn('ada');
    expect((await post('', as, { password: 'not the password' })).json.error.details[0].path).toBe(
      'password',
    );
    const begun = await post('', as, { password: PASSWORD });
    expect((await post('/confirmation', as, { code: '000000' })).status).toBe(400);
    // It does not count yet.
    expect((await signIn('ada')).status).toBe(200);
    expect(begun.json.data.uri).toContain(begun.json.data.secret);
    const { secret, recoveryCodes } = await setUp(as);
    expect((await post('', as, { password: PASSWORD })).status).toBe(409);
    expect((await server.ask('GET', '/api/session', other.as)).status).toBe(401);
    const dump = JSON.stringify([
      await db.query('SELECT * FROM second_factors'),
      await db.query('SELECT * FROM audit'),
      server.logged,
    ]);
    for (const told of [secret, ...recoveryCodes]) expect(dump).not.toContain(told);
    // A new key of the server seals it anew.
    const anew = keyring([Buffer.alloc(32, 2), OLD]);
    expect(await reseal(db, anew, log)).toBe(1);
  });

  it('is asked for after the password, and takes each code once', async () => {
    const { as } = await signIn('ada');
    const { secret } = await setUp(as);
    const bare = await signIn('ada');
    expect([bare.status, bare.json.error.details]).toEqual([401, [{ path: 'code', message: 'is needed' }]]);
    // Who does not know the password learns nothing of it.
    expect((await signIn('ada', { password: 'wrong' })).json.error.details).toBeUndefined();
    // The one that set it up is used.
    expect((await signIn('ada', { code: codeAt(secret, clock.now()) })).status).toBe(401);
    await clock.pass(30_000);
    const code = codeAt(secret, clock.now());
    const both = await Promise.all([signIn('ada', { code }), signIn('ada', { code })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    // An earlier one is no better.
    expect((await signIn('ada', { code: codeAt(secret, clock.now() - 30_000) })).status).toBe(401);
  });

  it('takes each recovery code once', async () => {
    const { as } = await signIn('ada');
    const { recoveryCodes } = await setUp(as);
    const [first = '', second = ''] = recoveryCodes;
    const signed = await signIn('ada', { code: first.toUpperCase() });
    expect([signed.status, signed.json.data.recoveryCodes]).toEqual([200, 9]);
    expect((await signIn('ada', { code: first })).status).toBe(401);
    expect((await signIn('ada', { code: second })).status).toBe(200);
    const audit = await db.query<{ detail: object }>(
      "SELECT detail FROM audit WHERE action = 'session.create'",
    );
    expect(audit.map(({ detail }) => detail)).toContainEqual({ with: 'recovery code' });
  });

  it('makes guesses of codes wait as those of passwords; the right password alone forgives none', async () => {
    const { as } = await signIn('ada');
    await setUp(as);
    for (let i = 0; i < 5; i++) {
      expect((await signIn('ada', { code: '000000' })).status).toBe(401);
      if (i < 4) expect((await signIn('ada')).json.error.details[0].path).toBe('code');
    }
    const { status, headers } = await signIn('ada', { code: '000000' });
    expect([status, headers['retry-after']]).toEqual([429, '1']);
  });

  it('makes them wait whatever is done with the right password, and tells of them', async () => {
    const { as } = await signIn('ada');
    await setUp(as);
    let present = as;
    const change = async (current: string, next: string) => {
      const reply = await server.ask('POST', '/api/session/password', present, { json: { current, next } });
      if (reply.status === 200)
        present = { cookie: String(reply.headers['set-cookie'] ?? '').split(';')[0]! };
      return reply;
    };
    for (let i = 0; i < 5; i++) {
      expect((await post('/removal', present, { code: '000000' })).status).toBe(400);
      if (i >= 4) continue;
      expect((await change(PASSWORD, 'password')).json.error.details[0].path).toBe('next');
      expect((await change(PASSWORD, PASSWORD)).status).toBe(200);
    }
    expect((await post('/removal', present, { code: '000000' })).status).toBe(429);
    const told = await db.query<{ detail: object }>(
      "SELECT detail FROM audit WHERE action = 'session.refused' AND actor_id = $1",
      [ada],
    );
    expect(told.map(({ detail }) => detail)).toEqual(
      Array(5).fill({ reason: 'code', of: 'removal of the second factor' }),
    );
  });

  it('opens no session by a password that was checked before it was set up, or before it changed', async () => {
    const { as } = await signIn('ada');
    meanwhile = () => setUp(as);
    const bare = await signIn('ada');
    expect([bare.status, bare.json.error.message]).toEqual([401, expect.stringContaining('sign in again')]);
    meanwhile = () => setPassword(db, 'bob', 'another battery staple');
    expect((await signIn('bob')).status).toBe(401);
    expect(
      await db.query("SELECT 1 FROM sessions s JOIN users u ON u.id = s.user_id WHERE name = 'bob'"),
    ).toEqual([]);
  });

  it('is confirmed with the secret that the code belongs to', async () => {
    const { as } = await signIn('ada');
    const { secret } = (await post('', as, { password: PASSWORD })).json.data;
    const code = codeAt(secret, clock.now());
    let confirming: ReturnType<typeof post> | undefined;
    await db.transaction(async (sql) => {
      await beginFactor(sql, KEYS, { id: ada, name: 'ada' });
      confirming = post('/confirmation', as, { code });
      // PGlite runs one transaction after the other.
      if (db.kind === 'pglite') return;
      const waiting = () =>
        sql.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
      while ((await waiting()).length === 0) await setImmediate();
    });
    expect((await confirming)?.status).toBe(400);
  });

  it('that is only begun is no second factor to reset', async () => {
    const { as } = await signIn('ada');
    await post('', as, { password: PASSWORD });
    expect(await resetSecondFactor(db, 'ada')).toBe(false);
    expect(await db.query('SELECT 1 FROM second_factors')).toEqual([]);
    expect((await server.ask('GET', '/api/session', as)).status).toBe(200);
    expect(await db.query("SELECT 1 FROM audit WHERE action = 'user.reset-second-factor'")).toEqual([]);
  });

  it('is removed with a code, by an administrator, and on the command line', async () => {
    const { as } = await signIn('ada');
    const { recoveryCodes } = await setUp(as);
    expect((await post('/removal', as, { code: '000000' })).status).toBe(400);
    expect((await server.ask('DELETE', `/api/users/${ada}/second-factor`, as)).status).toBe(409);
    const removed = await post('/removal', as, { code: recoveryCodes[0] });
    expect([removed.status, removed.json.data.user.secondFactor]).toEqual([200, false]);
    await clock.pass(60_000);
    await setUp(as);
    const bob = (await signIn('bob')).as;
    const reset = await server.ask('DELETE', `/api/users/${ada}/second-factor`, bob);
    expect([reset.status, reset.json.data.secondFactor]).toEqual([200, false]);
    expect((await server.ask('GET', '/api/session', as)).status).toBe(401);
    const again = await signIn('ada');
    expect(again.status).toBe(200);
    const { json } = await server.ask('GET', '/api/audit?action=user.reset-second-factor', bob);
    expect(json.data).toMatchObject([{ actor: 'bob', subject: 'user ada' }]);
    await setUp(again.as);
    expect([await resetSecondFactor(db, 'ada'), await resetSecondFactor(db, 'ada')]).toEqual([true, false]);
    expect((await signIn('ada')).status).toBe(200);
  });

  it('is set up first where the server demands it', async () => {
    await server.close();
    server = await start(true);
    const { as, json } = await signIn('ada');
    expect(json.data.mustSetUp).toBe(true);
    const refused = await server.ask('GET', '/api/users', as);
    expect([refused.status, refused.json.error.message]).toEqual([
      403,
      expect.stringContaining('second factor'),
    ]);
    await setUp(as);
    expect((await server.ask('GET', '/api/users', as)).status).toBe(200);
  });
});
