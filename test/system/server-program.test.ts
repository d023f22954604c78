import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder } from '@rollcall/host/lock';
import { isToken } from '@rollcall/server/platform/access/token';
import { run } from '@rollcall/server/program';
import { afterAll, describe, expect, it } from 'vitest';

const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'rollcall-cli-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true });
});

async function command(
  line: string,
  env: Record<string, string>,
  stdin = '',
  ended: (err: () => string) => Promise<unknown> = async () => undefined,
) {
  let [out, err] = ['', ''];
  const code = await run(line.split(' '), {
    env: { LOG_LEVEL: 'silent', ...env },
    stdin: Readable.from([stdin]),
    stdout: (text) => {
      out += text;
    },
    output: new PassThrough(),
    stderr: (text) => {
      err += text;
    },
    ended: ended(() => err),
  });
  return { code, out, err };
}

describe('the command line', () => {
  it('manages accounts and tokens of the embedded database, from nothing', async () => {
    const env = { ROLLCALL_DATA: folder() };
    const applied = await command('migrate --json', env);
    expect(applied.code).toBe(0);
    expect(JSON.parse(applied.out).applied.length).toBeGreaterThan(0);
    expect((await command('migrate', env)).out).toBe('nothing to do\n');
    expect((await command('reclassify', env)).out).toBe('nothing to do\n');

    const added = await command('user add Ada --role admin --all-sites --json', env);
    expect(JSON.parse(added.out)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'ada',
      password: expect.stringMatching(/^\w{5}-/),
    });
    const given = await command('user add bob --password-stdin', env, 'a password of mine\nrest');
    expect(given.out).toBe('added bob\n');
    expect((await command('user list', env)).out).toBe(
      'ada                  admin     all sites\nbob                  viewer    no site\n',
    );
    expect((await command('user passwd bob', env)).out).toMatch(/^changed bob, password \S+\n$/);
    const token = await command('token create --user ada --days 30', env);
    expect(isToken(token.out.trim())).toBe(true);

    for (const [line, err] of [
      ['user add ada', 'rollcall-server: the name ada is taken\n'],
      ['user add carl --site Rome', 'rollcall-server: there is no site named Rome\n'],
      ['user passwd nobody', 'rollcall-server: there is no user named nobody\n'],
      ['token create --user nobody', 'rollcall-server: there is no user named nobody\n'],
      [
        'join-token create --site Rome',
        'rollcall-server: there is no site named Rome; make one under Sites\n',
      ],
    ] as const)
      expect(await command(line, env)).toEqual({ code: 1, out: '', err });
    const short = await command('user add dora --password-stdin', env, 'short\n');
    expect([short.code, short.err]).toEqual([
      1,
      'rollcall-server: the password must have 8 to 128 characters, on the first line of standard input\n',
    ]);
  }, 120_000);

  it('backs up to a file for its owner alone, and restores into an empty database only', async () => {
    const [here, there] = [
      { ROLLCALL_DATA: folder(), PORT: '0' },
      { ROLLCALL_DATA: folder(), PORT: '0' },
    ];
    await command('user add anna --role admin', here);
    const file = join(folder(), 'rollcall.backup');
    const made = await command(`backup ${file}`, here);
    expect([made.code, made.err]).toEqual([
      0,
      expect.stringMatching(/^rollcall-server: \d+ rows of \d+ tables in .*backup\n$/),
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await command(`restore ${file}`, there)).toMatchObject({ code: 0 });
    expect((await command('user list', there)).out).toContain('anna');
    expect(await command(`restore ${file}`, there)).toMatchObject({
      code: 1,
      err: expect.stringContaining('add --replace'),
    });
    expect(await command(`restore ${file} --replace`, there)).toMatchObject({ code: 0 });
    expect(await command('restore /nowhere', there)).toMatchObject({
      code: 1,
      err: 'rollcall-server: there is no file /nowhere\n',
    });
    expect(await command('backup /nowhere/x', here)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^rollcall-server: cannot write \/nowhere\/x.new \(ENOENT\): name another file\n$/,
      ),
    });
  }, 120_000);

  it('says what is wrong with what was typed, and ends with 2', async () => {
    for (const [line, err] of [
      ['serv', "rollcall-server: unknown command 'serv'"],
      ['serve --prot 80', "rollcall-server: unknown option '--prot'"],
      ['user add', "rollcall-server: missing required argument 'name'"],
      ['user add a/b', "rollcall-server: command-argument value 'a/b' is invalid for argument 'name'"],
      ['user add ada --role root', "rollcall-server: option '--role <role>' argument 'root' is invalid"],
      ['token create --user ada --days 0', "rollcall-server: option '--days <n>' argument '0' is invalid"],
    ] as const) {
      const result = await command(line, {});
      expect([line, result.code, result.out]).toEqual([line, 2, '']);
      expect(result.err.startsWith(err), result.err).toBe(true);
    }
  });

  it('explains itself', async () => {
    const help = await command('--help', {});
    expect(help.code).toBe(0);
    for (const word of [
      'serve',
      'migrate',
      'user',
      'token',
      'join-token',
      'doctor',
      'Exit codes',
      'DATABASE_URL',
      'PORT',
    ])
      expect(help.out).toContain(word);
    const { version } = JSON.parse(
      readFileSync(new URL('../../packages/server/package.json', import.meta.url), 'utf8'),
    );
    expect(await command('--version', {})).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it('says in one line why it cannot, and writes nothing half', async () => {
    const data = folder();
    const one = async (env: Record<string, string>, line = 'migrate') => {
      const result = await command(line, { ROLLCALL_DATA: data, ...env });
      expect(result.code).toBe(1);
      expect(result.out).toBe('');
      expect(result.err.split('\n')).toHaveLength(2);
      return result.err;
    };
    expect(await one({ PORT: '80808' })).toContain('PORT must be a whole number');
    expect(await one({ ROLLCALL_DATA: '/proc/rollcall' })).toContain(
      'cannot use the data folder /proc/rollcall',
    );
    writeFileSync(join(data, 'file'), '');
    expect(await one({ ROLLCALL_DATA: join(data, 'file') })).toContain('(ENOTDIR): set ROLLCALL_DATA');
    const nowhere = await one({ DATABASE_URL: 'postgres://rollcall:CANARY@127.0.0.1:1/x' });
    expect(nowhere).toContain('the database of DATABASE_URL cannot be reached');
    expect(nowhere).not.toContain('CANARY');
    const lock = await lockFolder(data, 'server');
    expect(await one({})).toContain(`is in use by process ${process.pid}`);
    if (lock.ok) await lock.release();
  });

  it('serves until it is told to stop, and tells the first password once', async () => {
    const env = { ROLLCALL_DATA: folder(), PORT: '0' };
    let health = '';
    const serve = () =>
      command('serve', env, '', async (err) => {
        for (let i = 0; i < 600 && !health; i++) {
          await sleep(100);
          const url = /sign in at (\S+) as admin/.exec(err())?.[1];
          if (url) health = await fetch(`${url}/api/health/ready`).then((response) => response.text());
        }
      });
    const first = await serve();
    expect(health).toContain('"ready"');
    expect(first).toMatchObject({ code: 0, out: '' });
    expect(first.err).toMatch(
      /^rollcall-server: first start: sign in at \S+ as admin with the password \S+ \(shown this once\)\n$/,
    );
    expect((await serve()).err).toBe('');
  }, 120_000);

  it('doctor finds what a start would fail on, and names the remedy', async () => {
    const good = await command('doctor --json', { ROLLCALL_DATA: folder(), PORT: '0' });
    expect(good.code).toBe(0);
    const { findings } = JSON.parse(good.out) as { findings: { check: string; state: string }[] };
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'data folder',
      'disk',
      'database',
      'port',
      'tls',
      'open files',
      'sign-in',
    ]);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const port = String((taken.address() as AddressInfo).port);
    const bad = await command('doctor', {
      ROLLCALL_DATA: folder(),
      PORT: port,
      DATABASE_URL: 'postgres://rollcall:CANARY@127.0.0.1:1/x',
      ROLLCALL_TLS_CERT: '/nowhere/cert.pem',
      ROLLCALL_TLS_KEY: '/nowhere/key.pem',
      HOST: '127.0.0.1',
    });
    taken.closeAllConnections();
    taken.close();
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/^failed {3}database/m);
    expect(bad.out).toMatch(/^failed {3}port {12}.*is in use$/m);
    expect(bad.out).toMatch(/^failed {3}tls/m);
    expect(bad.out).toMatch(/\n\n3 failed, \d warnings?: the arrows say what to do\.\n$/);
    expect(bad.out).not.toContain('CANARY');
  }, 30_000);
});

describe.runIf(process.env.TEST_DATABASE_URL)('the command line on PostgreSQL', () => {
  it('tells a wrong database from one that is away', async () => {
    const url = new URL(process.env.TEST_DATABASE_URL ?? '');
    url.pathname = '/rollcall_no_such_database';
    const { code, err } = await command('migrate', { ROLLCALL_DATA: folder(), DATABASE_URL: url.href });
    expect([code, err]).toEqual([
      1,
      'rollcall-server: the database that DATABASE_URL names does not exist: create it, or name another\n',
    ]);
  });
});
