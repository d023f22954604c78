import { accountOperations, type OidcRefusal } from '@rollcall/shared/api/accounts';
import { siteOperations } from '@rollcall/shared/api/sites';
import { tokenOperations } from '@rollcall/shared/api/tokens';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { keyring } from '../../platform/keys/keyring.ts';
import type { OidcSettings } from '../../platform/ops/oidc-settings.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import {
  CLIENT,
  type IdentityProvider,
  SimpleBrowser,
  startIdentityProvider,
} from '../../testing/identity-provider.ts';
import { type Credential, type RestServer, startRest } from '../../testing/rest.ts';
import { addSite } from '../../testing/rows.ts';
import { accountHandlers, ensureFirstAdmin, purgeAccounts } from '../accounts.ts';
import { issueToken, setPassword } from '../command-line.ts';
import { openProvider } from './provider.ts';

afterAll(closeDatabases);

const table = { ...accountOperations, ...tokenOperations, ...siteOperations };
const PASSWORD = 'correct horse battery staple';
const ADA = { preferred_username: 'Ada', name: 'Ada Lovelace', groups: ['noc'] };

describe.each(databases())('signing in with a provider, on %s', (_name, open) => {
  let db: Database;
  let server: RestServer;
  let provider: IdentityProvider;
  let settings: OidcSettings;
  let admin: Credential;
  let late = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + late };

  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    for (const rows of ['users', 'sites', 'audit', 'login_failures', 'spent_sign_ins'])
      await db.query(`DELETE FROM ${rows}`);
    late = 0;
    settings = {
      issuer: '',
      clientId: CLIENT.id,
      clientSecret: { kind: 'text', text: new Secret(CLIENT.secret) },
      redirectUri: '',
      publicUrl: '',
      scopes: ['openid', 'profile'],
      name: 'Company account',
      nameClaim: 'preferred_username',
      groupsClaim: 'groups',
      createAccounts: true,
      rules: [
        { groups: ['noc'], role: 'operator', sites: ['Berlin', 'Atlantis'] },
        { groups: ['it'], role: 'viewer', sites: 'all' },
      ],
    };
    const deps = { db, clock, log: pino({ level: 'silent' }), keyring: keyring([Buffer.alloc(32, 1)]) };
    server = await startRest(
      db,
      table,
      (auth) => accountHandlers({ ...deps, forget: auth.forget, oidc: settings }),
      clock,
    );
    await useProvider();
    await ensureFirstAdmin(db);
    admin = { token: await issueToken(db, { user: 'admin', name: 'test', expiresAt: null }, Date.now()) };
    provider.accounts['sub-ada'] = { ...ADA };
  });
  afterEach(async () => {
    await server.close();
    await provider.stop();
  });

  async function useProvider(more: Parameters<typeof startIdentityProvider>[1] = {}): Promise<void> {
    await provider?.stop();
    settings.publicUrl = server.url;
    settings.redirectUri = `${server.url}/api/session/oidc/callback`;
    provider = await startIdentityProvider(settings.redirectUri, more);
    settings.issuer = provider.issuer;
  }

  /** To the provider, as somebody there, and to the address that leads back, which is not opened yet. */
  async function until(browser: SimpleBrowser, account = 'sub-ada', to = ''): Promise<string> {
    const begun = await browser.get(`${server.url}/api/session/oidc${to}`);
    expect(begun.status).toBe(303);
    return browser.through(begun.location ?? '', account, settings.redirectUri);
  }
  /** All of it; the page where it ends. */
  async function signIn(browser = new SimpleBrowser(), account = 'sub-ada', to = ''): Promise<string> {
    const { location } = await browser.get(await until(browser, account, to));
    return (location ?? '').replace(server.url, '');
  }
  const refused = (page: string): OidcRefusal | undefined =>
    /^\/#sign-in=([a-z-]+)\.[0-9a-f-]{36}$/.exec(page)?.[1] as OidcRefusal | undefined;
  const session = (browser: SimpleBrowser) => browser.cookies.get(new URL(server.url).host)?.get('rollcall');
  const me = async (browser: SimpleBrowser) => {
    const { status, json } = await server.ask('GET', '/api/session', {
      cookie: `rollcall=${session(browser)}`,
    });
    return status === 200 ? json.data.user : status;
  };
  const audited = (action: string) =>
    db.query<{ actor: string; detail: Record<string, unknown> }>(
      'SELECT actor, detail FROM audit WHERE action = $1 ORDER BY at, id',
      [action],
    );
  const userNamed = async (name: string) =>
    (await server.ask('GET', `/api/users?search=${name}`, admin)).json.data[0];

  it('tells the page that there is one, makes an account by the rules, and leads to the page that was asked for', async () => {
    const berlin = await addSite(db, 'Berlin');
    const ways = await server.ask('GET', '/api/session/ways');
    expect(ways.json.data).toEqual({
      oidc: { name: 'Company account', start: `${server.url}/api/session/oidc` },
    });
    const browser = new SimpleBrowser();
    expect(await signIn(browser, 'sub-ada', '?to=%2Fdevices%3Fq%3Dcore')).toBe('/devices?q=core#signed-in');
    expect(await me(browser)).toMatchObject({
      name: 'ada',
      displayName: 'Ada Lovelace',
      role: 'operator',
      allSites: false,
      siteIds: [berlin],
      signIn: 'oidc',
    });
    // Nothing is left of the way there.
    expect([...(browser.cookies.get(new URL(server.url).host) ?? [])].map(([name]) => name)).toEqual([
      'rollcall',
    ]);
    expect(await audited('session.create')).toEqual([
      {
        actor: 'ada',
        detail: {
          with: provider.issuer,
          subject: 'sub-ada',
          groups: ['noc'],
          role: 'operator',
          sites: [berlin],
          missing: ['Atlantis'],
        },
      },
    ]);
    expect(await signIn(new SimpleBrowser(), 'sub-ada', '?to=%2F%2Fevil.example')).toBe('/#signed-in');
    expect((await userNamed('ada')).lastLoginAt).not.toBeNull();
  });

  it('reads name and groups also where the ID token has them', async () => {
    await useProvider({ claimsIn: 'id-token' });
    provider.accounts['sub-ada'] = { ...ADA, groups: 'it' };
    const browser = new SimpleBrowser();
    expect(await signIn(browser)).toBe('/#signed-in');
    expect(await me(browser)).toMatchObject({ name: 'ada', role: 'viewer', allSites: true });
  });

  it('gives the rights of today at each sign-in, and takes them where no rule fits', async () => {
    const [first, second] = [new SimpleBrowser(), new SimpleBrowser()];
    await signIn(first);
    const token = await issueToken(db, { user: 'ada', name: 't', expiresAt: null }, Date.now());
    provider.accounts['sub-ada'] = { ...ADA, groups: ['it'] };
    await signIn(second);
    expect(await me(second)).toMatchObject({ role: 'viewer', allSites: true, siteIds: [] });
    expect(await me(first)).toBe(401);
    provider.accounts['sub-ada'] = { ...ADA, groups: ['sales'] };
    expect(refused(await signIn())).toBe('no-rule');
    const left = await server.ask('GET', '/api/session', { token });
    expect(left.json.data.user).toMatchObject({ role: 'viewer', allSites: false, siteIds: [] });
    expect(await audited('session.refused')).toMatchObject([
      { actor: 'Ada', detail: { reason: 'no-rule', subject: 'sub-ada', groups: ['sales'] } },
    ]);
    delete provider.accounts['sub-ada']?.groups;
    expect(refused(await signIn())).toBe('no-groups');
  });

  it('attack: an answer opens one session, in the browser that asked, within ten minutes', async () => {
    const browser = new SimpleBrowser();
    const host = new URL(server.url).host;
    const begun = await browser.get(`${server.url}/api/session/oidc`);
    const kept = new Map(browser.cookies.get(host));
    const back = await browser.through(begun.location ?? '', 'sub-ada', settings.redirectUri);

    const stranger = new SimpleBrowser();
    expect(refused(await answerOf(stranger, back))).toBe('stale');
    const forged = new URL(back);
    forged.searchParams.set('state', 'another');
    browser.cookies.set(host, new Map(kept));
    expect(refused(await answerOf(browser, forged.href))).toBe('stale');
    late = 11 * 60_000;
    browser.cookies.set(host, new Map(kept));
    expect(refused(await answerOf(browser, back))).toBe('stale');
    late = 0;
    expect(await db.query('SELECT 1 FROM sessions')).toHaveLength(0);

    browser.cookies.set(host, new Map(kept));
    expect(await answerOf(browser, back)).toBe('/#signed-in');
    // A new code of the provider for the same question, and the same answer again, at which it takes back both.
    const anew = await browser.through(begun.location ?? '', 'sub-ada', settings.redirectUri);
    for (const replayed of [anew, back]) {
      const thief = new SimpleBrowser();
      thief.cookies.set(host, new Map(kept));
      expect(refused(await answerOf(thief, replayed))).toBe('stale');
      expect(session(thief)).toBeUndefined();
    }
    expect(await db.query('SELECT 1 FROM sessions')).toHaveLength(1);
    late = 11 * 60_000;
    await purgeAccounts({ db, clock });
    expect(await db.query('SELECT 1 FROM spent_sign_ins')).toHaveLength(0);
  });
  const answerOf = async (browser: SimpleBrowser, back: string) =>
    ((await browser.get(back)).location ?? '').replace(server.url, '');

  it('attack: the code of another sign-in does not fit', async () => {
    const [victim, attacker] = [new SimpleBrowser(), new SimpleBrowser()];
    const mine = new URL(await until(attacker));
    const theirs = new URL(await until(victim));
    theirs.searchParams.set('code', mine.searchParams.get('code') ?? '');
    expect(refused(await answerOf(victim, theirs.href))).toBe('stale');
  });

  it('refuses who turned back, a provider that is away, and one that does not know this server', async () => {
    const browser = new SimpleBrowser();
    const begun = await browser.get(`${server.url}/api/session/oidc`);
    const page = (await browser.get(begun.location ?? '')).location ?? '';
    let at = `${page}/abort`;
    while (!at.startsWith(settings.redirectUri)) at = (await browser.get(at)).location ?? '';
    expect(refused(await answerOf(browser, at))).toBe('denied');

    settings.clientSecret = { kind: 'text', text: new Secret('wrong') };
    expect(refused(await signIn())).toBe('rejected');
    await expect(openProvider(settings, clock).examine()).rejects.toMatchObject({ refusal: 'rejected' });
    settings.clientSecret = { kind: 'text', text: new Secret(CLIENT.secret) };
    await expect(openProvider(settings, clock).examine()).resolves.toEqual({ pkce: true });
    await provider.stop();
    settings.clientSecret = { kind: 'text', text: new Secret('asks again') };
    const away = await new SimpleBrowser().get(`${server.url}/api/session/oidc?to=/devices`);
    expect(away.location).toMatch(`${server.url}/devices#sign-in=away.`);
    expect(await audited('session.refused')).toEqual([]);
    expect(server.logged.join()).not.toContain(CLIENT.secret);
  });

  it('attack: takes over no account of the same name, with a password or of another person', async () => {
    await server.ask('POST', '/api/users', admin, {
      json: { name: 'ada', password: PASSWORD, role: 'admin', allSites: true },
    });
    expect(refused(await signIn())).toBe('taken');
    const { id } = await userNamed('ada');
    const handed = await server.ask('PATCH', `/api/users/${id}`, admin, { json: { signIn: 'oidc' } });
    expect(handed.json.data).toMatchObject({ signIn: 'oidc', role: 'admin' });
    const byPassword = await server.ask('POST', '/api/session', undefined, {
      json: { name: 'ada', password: PASSWORD },
    });
    expect(byPassword.status).toBe(401);
    expect(await signIn()).toBe('/#signed-in');
    expect(await userNamed('ada')).toMatchObject({ id, role: 'operator', allSites: false });
    provider.accounts['sub-eve'] = { preferred_username: 'ada', groups: ['it'] };
    expect(refused(await signIn(new SimpleBrowser(), 'sub-eve'))).toBe('taken');
  });

  it('lets in only who has an account where none are made, and nobody who is disabled or has no name', async () => {
    settings.createAccounts = false;
    expect(refused(await signIn())).toBe('unknown');
    const made = await server.ask('POST', '/api/users', admin, {
      json: { name: 'ada', signIn: 'oidc', role: 'viewer' },
    });
    expect(made.status).toBe(201);
    expect(await signIn()).toBe('/#signed-in');
    const { id } = made.json.data;
    await server.ask('PATCH', `/api/users/${id}`, admin, { json: { disabled: true } });
    expect(refused(await signIn())).toBe('disabled');
    provider.accounts['sub-nobody'] = { groups: ['it'] };
    expect(refused(await signIn(new SimpleBrowser(), 'sub-nobody'))).toBe('nameless');
  });

  it('accounts of it have no password and no rights of their own, and become local by a password', async () => {
    const browser = new SimpleBrowser();
    await signIn(browser);
    const { id } = await userNamed('ada');
    const patch = (json: object) => server.ask('PATCH', `/api/users/${id}`, admin, { json });
    expect((await patch({ role: 'admin' })).json.error.message).toMatch(/follow from the groups/);
    expect((await patch({ displayName: 'Ada' })).status).toBe(200);
    expect((await patch({ signIn: 'oidc', password: PASSWORD })).status).toBe(400);
    const own = await server.ask(
      'POST',
      '/api/session/password',
      { cookie: `rollcall=${session(browser)}` },
      {
        json: { current: '', next: PASSWORD },
      },
    );
    expect([own.status, own.json.error.message]).toEqual([
      409,
      expect.stringMatching(/has no password here/),
    ]);
    expect((await patch({ password: PASSWORD, role: 'viewer' })).json.data).toMatchObject({
      signIn: 'password',
      role: 'viewer',
    });
    expect(refused(await signIn())).toBe('taken');
    await patch({ signIn: 'oidc' });
    await setPassword(db, 'ada', PASSWORD);
    expect(await userNamed('ada')).toMatchObject({ signIn: 'password' });
  });

  it('the last administrator with a password stays one', async () => {
    settings.rules = [{ groups: ['noc'], role: 'admin', sites: 'all' }];
    const browser = new SimpleBrowser();
    await signIn(browser);
    const { id } = await userNamed('admin');
    const hand = (as: Credential) =>
      server.ask('PATCH', `/api/users/${id}`, as, { json: { signIn: 'oidc' } });
    // Nobody loses their own password and second factor to an open session.
    expect((await hand(admin)).json.error.message).toMatch(/another administrator/);
    const handed = await hand({ cookie: `rollcall=${session(browser)}` });
    expect([handed.status, handed.json.error.message]).toEqual([
      409,
      expect.stringMatching(/last enabled administrator of all sites with a password/),
    ]);
  });
});
