/** `rollcall-collector doctor snmp` on Debian's snmpd, an agent that neither of the two implementations made. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { skipped } from '@rollcall/shared/testing/skipped';
import { haveSnmpd, type Snmpd, startSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const program = compiled('collector', 'main');
const available = haveSnmpd();
if (!available) skipped('doctor snmp on a real agent: install snmp and snmpd');

test('nothing else of the collector loads net-snmp', () => {
  const parts = ['cli', 'agent', 'commands/run', 'commands/sweep', 'sweep/agents'];
  const urls = parts.map((part) => pathToFileURL(compiled('collector', part)).href);
  const loads = (modules: string[]) =>
    execFileSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createRequire } from 'node:module';
        for (const url of ${JSON.stringify(modules)}) await import(url);
        const loaded = Object.keys(createRequire(import.meta.url).cache);
        console.log(loaded.some((file) => file.includes('/net-snmp/')));`,
      ],
      { encoding: 'utf8', env: { PATH: process.env.PATH } },
    ).trim();
  expect(loads(urls)).toBe('false');
  const doctor = compiled('collector', 'commands/snmp-doctor/snmp-doctor');
  expect(loads([pathToFileURL(doctor).href])).toBe('true');
});

const AUTH = 'authentication phrase';
const PRIV = 'privacy phrase 1';

describe.skipIf(!available)('doctor snmp on snmpd', () => {
  let snmpd: Snmpd;
  let folder: string;
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), `${content}\n`);
    return join(folder, name);
  };
  const doctor = (args: string[], input = ''): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      const words = ['doctor', 'snmp', snmpd.address, '--snmp-port', String(snmpd.port), ...args];
      const env = { PATH: process.env.PATH, HOME: folder };
      const child = execFile(process.execPath, [program, ...words], { env }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      );
      child.stdin?.end(input);
    });
  const user = (name: string, auth: string, priv: string, phrase = PRIV) => [
    ...['--v3-user', name, '--v3-auth', auth, '--v3-auth-key-file', file('auth', AUTH)],
    ...['--v3-priv', priv, '--v3-priv-key-file', file('priv', phrase)],
  ];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollcall-snmp-doctor-'));
    snmpd = await startSnmpd([
      'rocommunity public',
      'sysLocation Keller, Regal 3',
      `createUser one SHA-256 "${AUTH}" AES "${PRIV}"`,
      `createUser two SHA-512 "${AUTH}" AES-256 "${PRIV}"`,
      'rouser one priv',
      'rouser two priv',
    ]);
  });
  afterAll(() => {
    snmpd?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(['v1', 'v2c'])('%s: both read the same interfaces, though counters move', async (version) => {
    const { code, out, err } = await doctor(['--snmp-version', version, '--community-file', '-'], 'public\n');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/ifTable +(\d+) values +\1 values +same\nifXTable +(\d+) values +\2 values +same/);
    expect(out).toMatch(/Both read the same: \d{2,} values\.\n$/);
  });

  test.each([
    ['one', 'sha256', 'aes128'],
    ['two', 'sha512', 'aes256'],
  ])('v3, user %s: both read the same', async (name, auth, priv) => {
    const { code, out } = await doctor([...user(name, auth, priv), '--json']);
    expect([code, JSON.parse(out).same]).toEqual([0, true]);
    expect(JSON.parse(out).groups[0].netSnmp.values).toBeGreaterThan(6);
  });

  test('a wrong phrase and a community that nobody knows: not read, what to do, and no secret', async () => {
    const cases: [string[], RegExp][] = [
      [user('three', 'sha256', 'aes128', 'another phrase'), /does not know this user name/],
      [['--community-file', file('community', 'guessed'), '--timeout', '200'], /firewall may drop SNMP/],
    ];
    for (const [args, words] of cases) {
      const { code, out, err } = await doctor(args);
      expect([code, err]).toEqual([2, '']);
      expect(out).toMatch(words);
      for (const secret of ['guessed', 'another phrase', AUTH]) expect(out).not.toContain(secret);
    }
  });

  test('no credential at all is a wrong command line', async () => {
    const { code, err } = await doctor([]);
    expect([code, err]).toEqual([2, expect.stringMatching(/give --community-file FILE/)]);
  });
});
