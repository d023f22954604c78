import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { outboxSettings, readConfig, stateFolder } from './config.ts';
import { Refusal } from './refusal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (text: string) => {
  const path = join(folder, 'collector.yaml');
  writeFileSync(path, text, { mode: 0o644 });
  return path;
};

describe('the file', () => {
  test('every key', async () => {
    const settings = await readConfig(
      {},
      file(
        [
          '# what this site allows',
          'state: /srv/rollcall',
          'log: warn',
          'allow: [10.0.0.0/8, 2001:db8::/32, 192.168.1.7]',
          'deny:',
          '  - 10.9.0.0/16',
          'rate: 500',
          'ratePerNet: 50',
          'jobs: 2',
          'engines: [raw]',
          'outbox: { megabytes: 64, days: 2, freeMegabytes: 10 }',
        ].join('\n'),
      ),
    );
    expect(settings.allow?.map(String)).toEqual(['10.0.0.0/8', '2001:db8::/32', '192.168.1.7']);
    expect(settings.deny.map(String)).toEqual(['10.9.0.0/16']);
    expect(settings).toMatchObject({ log: 'warn', rate: 500, ratePerNet: 50, jobs: 2, engines: ['raw'] });
    expect(outboxSettings(settings)).toEqual({
      bytes: 64 * 1024 * 1024,
      ageMs: 2 * 86_400_000,
      minFreeBytes: 10 * 1024 * 1024,
    });
    expect(stateFolder(settings, {})).toBe('/srv/rollcall');
  });

  test('an empty file, and none, give the defaults', async () => {
    const empty = await readConfig({}, file('# nothing\n'));
    expect(empty).toMatchObject({ log: 'info', jobs: 4, deny: [], engines: ['datagram', 'raw', 'ping'] });
    expect(empty.allow).toBeUndefined();
    expect(outboxSettings(empty).bytes).toBe(1024 * 1024 * 1024);
  });

  const wrong: [string, string, RegExp][] = [
    [
      'an unknown key',
      'jobs: 2\nrates: 5\n',
      /collector\.yaml:2: there is no setting "rates" here; there are: state, log, allow/,
    ],
    [
      'an unknown key inside',
      'outbox:\n  days: 3\n  bytes: 5\n',
      /collector\.yaml:3: there is no setting "bytes" here; there are: megabytes/,
    ],
    ['a number out of bounds', 'log: info\njobs: 900\n', /collector\.yaml:2: jobs: .*64/],
    ['a word for a number', 'rate: fast\n', /collector\.yaml:1: rate: /],
    [
      'an address that is none',
      'allow:\n  - 10.0.0.0/8\n  - 10.0.0.0/33\n',
      /collector\.yaml:3: allow: "10\.0\.0\.0\/33": .*longer/,
    ],
    [
      'an octal address',
      'deny: [010.0.0.1]\n',
      /collector\.yaml:1: deny: "010\.0\.0\.1": a part starts with 0/,
    ],
    ['no YAML', 'allow: [10.0.0.0/8\njobs: 3', /collector\.yaml:\d: /],
    ['a list instead of settings', '- a\n- b\n', /collector\.yaml:1: /],
  ];
  test.each(wrong)('%s is refused with its line', async (_name, text, message) => {
    const refused = await readConfig({}, file(text)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Refusal).message).toMatch(message);
    expect((refused as Refusal).message).not.toContain('\n');
  });

  test('a file that anyone can write, and one that is not there', async () => {
    const path = file('jobs: 2\n');
    chmodSync(path, 0o666);
    await expect(readConfig({}, path)).rejects.toThrow(/can be written by anyone \(mode 666\): "chmod o-w/);
    await expect(readConfig({}, join(folder, 'none.yaml'))).rejects.toThrow(
      /none\.yaml: there is no such file/,
    );
    await expect(readConfig({ ROLLCALL_COLLECTOR_CONFIG: join(folder, 'none.yaml') })).rejects.toThrow(
      Refusal,
    );
  });
});

describe('the environment', () => {
  test('wins over the file, and is refused by name', async () => {
    const env = {
      ROLLCALL_COLLECTOR_JOBS: '7',
      ROLLCALL_COLLECTOR_ALLOW: '10.1.0.0/16, 10.2.0.0/16',
      ROLLCALL_COLLECTOR_OUTBOX_DAYS: '0.5',
      LOG_LEVEL: 'debug',
    };
    const settings = await readConfig(env, file('jobs: 2\noutbox: { megabytes: 64 }\n'));
    expect(settings).toMatchObject({ jobs: 7, log: 'debug', outbox: { megabytes: 64, days: 0.5 } });
    expect(settings.allow?.map(String)).toEqual(['10.1.0.0/16', '10.2.0.0/16']);
    await expect(readConfig({ ROLLCALL_COLLECTOR_JOBS: 'many' }, file(''))).rejects.toThrow(
      /^ROLLCALL_COLLECTOR_JOBS=many: jobs: /,
    );
    await expect(readConfig({ ROLLCALL_COLLECTOR_DENY: '10.0.0.0/40' }, file(''))).rejects.toThrow(
      /^ROLLCALL_COLLECTOR_DENY=/,
    );
  });

  test('gives the state folder, unless the settings do', async () => {
    const settings = await readConfig({}, file(''));
    expect(stateFolder(settings, { STATE_DIRECTORY: '/var/lib/private/rollcall-collector' })).toBe(
      '/var/lib/private/rollcall-collector',
    );
    expect(stateFolder(settings, { STATE_DIRECTORY: '/a' }, '/b')).toBe('/b');
    expect(stateFolder(settings, {})).toMatch(/rollcall-collector$/);
  });

  test('asks for the state folder of a user without a home folder, and for that only', async () => {
    const user = vi.spyOn(process, 'geteuid').mockReturnValue(10001);
    const home = () => {
      throw new Error('uv_os_homedir returned ENOENT');
    };
    const settings = await readConfig({}, file(''));
    expect(stateFolder(settings, {}, '/srv/rollcall', home)).toBe('/srv/rollcall');
    expect(() => stateFolder(settings, {}, undefined, home)).toThrow('this user has no home folder');
    user.mockRestore();
  });
});
