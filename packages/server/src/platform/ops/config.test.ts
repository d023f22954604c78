import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changesOf, FILE_KEYS, loadConfig, readConfig, StartError } from './config.ts';

describe('readConfig', () => {
  it('has defaults that work on one machine and reach nobody else', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      tls: undefined,
    });
    expect(readConfig({}).dataFolder).toMatch(/\/data$/);
    expect(readConfig({ PORT: '' }).port).toBe(8080);
  });

  it('opens to the network where TLS protects what crosses it', () => {
    const config = readConfig({ ROLLCALL_TLS_CERT: '/c.pem', ROLLCALL_TLS_KEY: '/k.pem' });
    expect([config.host, config.tls]).toEqual([
      '::',
      { kind: 'files', certFile: '/c.pem', keyFile: '/k.pem' },
    ]);
    const own = readConfig({
      ROLLCALL_TLS_OWN: 'true',
      ROLLCALL_TLS_NAMES: 'rollcall.example.net, 192.0.2.7',
    });
    expect([own.host, own.tls]).toEqual([
      '::',
      { kind: 'own', names: ['rollcall.example.net', '192.0.2.7'] },
    ]);
    const both = { ROLLCALL_TLS_OWN: 'true', ROLLCALL_TLS_CERT: '/c.pem', ROLLCALL_TLS_KEY: '/k.pem' };
    expect(readConfig(both).tls).toMatchObject({ kind: 'files' });
  });

  it('D63: without TLS it reaches the network only for a reverse proxy that is named', () => {
    expect(() => readConfig({ HOST: '0.0.0.0' })).toThrow(/in the clear: set ROLLCALL_TLS_OWN=true/);
    expect(readConfig({ HOST: '0.0.0.0', ROLLCALL_TRUSTED_PROXIES: '10.0.0.1' }).host).toBe('0.0.0.0');
    expect(readConfig({ HOST: '127.0.0.2' }).host).toBe('127.0.0.2');
  });

  it.each([
    [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535 (it is "70000")'],
    [{ PORT: '80a' }, 'PORT must be a whole number from 0 to 65535 (it is "80a")'],
    [{ HOST: 'localhost' }, 'HOST must be an IPv4 or IPv6 address (it is "localhost")'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent (it is "loud")',
    ],
    [
      { ROLLCALL_TRUSTED_PROXIES: '10.0.0.1, 10.0.0.0/33' },
      'ROLLCALL_TRUSTED_PROXIES must be addresses or CIDRs, separated by commas (it is "10.0.0.1, 10.0.0.0/33")',
    ],
    [{ ROLLCALL_TLS_CERT: '/c.pem' }, 'ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY go together: set both or none'],
    [
      { ROLLCALL_METRIC_DAYS_SAMPLES: '91' },
      'metricDays: samples 91, fiveMinutes 90 and hours 730 must not fall: what is finer is kept no longer than what is coarser',
    ],
    [{ ROLLCALL_DTA: '/x' }, 'there is no setting ROLLCALL_DTA; did you mean ROLLCALL_DATA?'],
  ])('refuses %j', (env, message) => {
    expect(() => readConfig(env)).toThrow(new StartError(message));
  });

  it('G147 tells no password, neither of a good address nor of a bad one', () => {
    const bad = () => readConfig({ DATABASE_URL: 'mysql://root:CANARY@db/x' });
    expect(bad).toThrow('DATABASE_URL must be postgres://user:password@host:port/database');
    expect(bad).not.toThrow(/CANARY/);
    const good = readConfig({ DATABASE_URL: 'postgres://rollcall:CANARY@db/x' });
    expect(JSON.stringify(good)).not.toContain('CANARY');
    expect(good.databaseUrl?.reveal()).toContain('CANARY');
  });

  const OIDC = {
    ROLLCALL_OIDC_ISSUER: 'https://login.example.net',
    ROLLCALL_OIDC_CLIENT_ID: 'rollcall',
    ROLLCALL_OIDC_CLIENT_SECRET: 'CANARY',
    ROLLCALL_PUBLIC_URL: 'https://rollcall.example.net/',
    ROLLCALL_OIDC_RULES: '[{"groups":["noc"],"role":"operator","sites":"all"}]',
  };

  it('knows a provider to sign in with, and tells no secret of it', () => {
    const { oidc } = readConfig(OIDC);
    expect(oidc).toMatchObject({
      redirectUri: 'https://rollcall.example.net/api/session/oidc/callback',
      scopes: ['openid', 'profile', 'email'],
      nameClaim: 'preferred_username',
      groupsClaim: 'groups',
      createAccounts: true,
      rules: [{ groups: ['noc'], role: 'operator', sites: 'all' }],
    });
    expect(JSON.stringify(oidc)).not.toContain('CANARY');
    const both = readConfig({ ...OIDC, ROLLCALL_OIDC_CLIENT_SECRET_FILE: '/secret' });
    expect(both.oidc?.clientSecret).toEqual({ kind: 'file', path: '/secret' });
    expect(readConfig({ ROLLCALL_PUBLIC_URL: 'https://rollcall.example.net' }).oidc).toBeUndefined();
  });

  it.each([
    [{ ROLLCALL_OIDC_ISSUER: 'http://login.example.net' }, /^ROLLCALL_OIDC_ISSUER must be the issuer/],
    [{ ROLLCALL_OIDC_ISSUER: '' }, /^oidc\.issuer is missing/],
    [{ ROLLCALL_OIDC_CLIENT_ID: '' }, /^oidc\.clientId is missing/],
    [{ ROLLCALL_PUBLIC_URL: '' }, /^oidc needs publicUrl/],
    [{ ROLLCALL_PUBLIC_URL: 'http://rollcall.example.net' }, /publicUrl that begins with https/],
    [{ ROLLCALL_OIDC_SCOPES: 'profile' }, /^ROLLCALL_OIDC_SCOPES must be scopes/],
    [{ ROLLCALL_OIDC_RULES: '' }, /^oidc\.rules is missing: without a rule nobody gets in/],
    [{ ROLLCALL_OIDC_RULES: 'noc' }, /^ROLLCALL_OIDC_RULES must be a list of rules/],
    [
      { ROLLCALL_OIDC_RULES: '[{"groups":["noc"],"role":"root","sites":"all"}]' },
      /^ROLLCALL_OIDC_RULES\.0\.role must be one of viewer, .*admin$/,
    ],
    [
      { ROLLCALL_OIDC_RULES: '[{"groups":["noc"],"role":"admin"}]' },
      /^ROLLCALL_OIDC_RULES\.0\.sites must be all, or a list of names of sites$/,
    ],
    [
      { ROLLCALL_OIDC_RULES: '[{"group":"noc","role":"admin","sites":"all"}]' },
      /^ROLLCALL_OIDC_RULES\.0\.groups must be a list of groups$/,
    ],
  ])('refuses a provider with %j', (more, message) => {
    expect(() => readConfig({ ...OIDC, ...more })).toThrow(StartError);
    expect(() => readConfig({ ...OIDC, ...more })).toThrow(message);
  });

  it('reads lists of proxies', () => {
    expect(readConfig({ ROLLCALL_TRUSTED_PROXIES: '10.0.0.1,  fd00::/8' }).trustedProxies).toEqual([
      '10.0.0.1',
      'fd00::/8',
    ]);
  });
});

describe('the file', () => {
  let file: string;
  beforeAll(() => {
    file = join(mkdtempSync(join(tmpdir(), 'rollcall-config-')), 'server.yaml');
  });
  afterAll(() => rmSync(join(file, '..'), { recursive: true, force: true }));
  const load = (text: string, env = {}) => {
    writeFileSync(file, text, { mode: 0o640 });
    return loadConfig({ ...env, ROLLCALL_CONFIG: file });
  };

  it('has every setting; the environment wins', async () => {
    const text = [
      'port: 8443',
      'host: 0.0.0.0',
      'tls:',
      '  cert: /c.pem',
      '  key: /k.pem',
      'trustedProxies: [10.0.0.1, fd00::/8]',
      'database: postgresql:///rollcall?host=/run/postgresql&user=rollcall',
      'log: # as it was',
    ].join('\n');
    expect(await load(text, { PORT: '9000' })).toMatchObject({
      port: 9000,
      host: '0.0.0.0',
      tls: { kind: 'files', certFile: '/c.pem', keyFile: '/k.pem' },
      trustedProxies: ['10.0.0.1', 'fd00::/8'],
      logLevel: 'info',
    });
    expect((await load(text)).databaseUrl?.reveal()).toContain('/run/postgresql');
  });

  it.each([
    ['port: 8080\nprot: 1\n', /server\.yaml:2: there is no setting prot; did you mean port\?$/],
    [
      'tls:\n  cert: /c\n  chain: /d\n',
      /server\.yaml:3: there is no setting tls\.chain; there are: own, names, cert, key$/,
    ],
    ['log: loud\n', /server\.yaml:1: log must be one of trace, .* \(it is "loud"\)$/],
    ['\ntls: yes\n', /server\.yaml:2: tls has settings of its own below it, indented$/],
    ['port:\n  - 1\n  - 2\n', /server\.yaml:1: port must be a whole number/],
    ['database: mysql://root:CANARY@db/x\n', /^(?!.*CANARY).*server\.yaml:1: database must be postgres:/],
    ['port: [80\n', /server\.yaml:\d: /],
    [
      'oidc:\n  rules:\n    - groups: [noc]\n      role: boss\n      sites: all\n',
      /server\.yaml:4: oidc\.rules\.0\.role must be one of viewer, .*admin$/,
    ],
    ['oidc:\n  rules: noc\n', /server\.yaml:2: oidc\.rules must be a list of rules, each with groups/],
  ])('refuses %j with its line', async (text, message) => {
    await expect(load(text)).rejects.toThrow(StartError);
    await expect(load(text)).rejects.toThrow(message);
  });

  it('is explained where it is installed: every key, and nothing that is not one', async () => {
    const template = readFileSync(
      new URL('../../../../../deploy/server/files/usr/share/rollcall-server/server.yaml', import.meta.url),
      'utf8',
    );
    const shown = template.replace(/^#(?=[a-zA-Z]+:| {2})/gm, '');
    await expect(load(shown)).resolves.toMatchObject({ port: 8443, host: '::', logLevel: 'info' });
    for (const path of Object.values(FILE_KEYS)) expect(shown).toMatch(new RegExp(`^ *${path.at(-1)}:`, 'm'));
    for (const variable of Object.keys(FILE_KEYS)) expect(template).toContain(variable);
  });

  it('tells what a running server takes over and what waits', async () => {
    const before = await load('log: info\nport: 8080\ndatabase: postgres://a@b/c\n');
    const after = await load('log: debug\nport: 8081\ndatabase: postgres://a@b/d\n');
    expect(changesOf(before, after, ['logLevel', 'connections'])).toEqual({
      changed: ['logLevel'],
      atNextStart: ['port', 'databaseUrl'],
    });
  });
});
