/**
 * Secrets go in and come out nowhere: after a whole day's work in a minute (scan, watch, wrong keys, damaged rows, a
 * crash) nothing that server and collector wrote or answered has one of them in it, in any usual spelling.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { demoSite } from '@rollcall/lab/demo';
import { credentials } from '@rollcall/lab/demo/access';
import { startSite } from '@rollcall/lab/start';
import { backup } from '@rollcall/server/platform/db/backup';
import { openLog } from '@rollcall/server/platform/ops/log';
import { operations } from '@rollcall/shared/api/index';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, oneDatabase, until } from './harness.ts';

const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);
const PORT = 16_188;
const MAIL = 'canary-mail-password-71';
const WRONG = 'canary-wrong-community-72';
const SECRETS = [
  ...credentials.flatMap((each) =>
    each.version === 'v3'
      ? [each.authKey, each.privKey].filter((key) => key !== undefined)
      : [each.community],
  ),
  MAIL,
  WRONG,
].filter((secret) => secret !== 'public');

/** A secret as it might stand somewhere. */
const spellings = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  // Base64 of a text in the middle of another has three forms; their common middle is enough.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(4, -2),
  );
  return [
    secret,
    bytes.toString('hex'),
    bytes.toString('utf16le'),
    [...secret].reverse().join(''),
    ...base64,
  ];
};
const found = (where: string, bytes: Buffer): string[] =>
  SECRETS.flatMap((secret) =>
    spellings(secret)
      .filter((text) => bytes.includes(text) || bytes.includes(text.toUpperCase()))
      .map((text) => `${where}: ${text}`),
  );
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());

describe.each(oneDatabase)('I147 I150: canaries on %s', (name, url) => {
  const logged = new PassThrough();
  const lines: string[] = [];
  let world: Installation;
  let said = '';
  let crash = '';

  beforeAll(async () => {
    logged.on('data', (line) => lines.push(String(line)));
    const log = openLog({ logLevel: 'trace' }, { destination: logged, terminal: false });
    world = await Installation.start({ databaseUrl: await url(), log });
    const site = await startSite(demoSite(), { port: PORT });
    world.onStop(() => site.stop());
    const wrong = { name: 'wrong', version: 'v2c', community: WRONG };
    const siteId = await world.site('north', PORT, [wrong, ...site.truth.credentials]);
    await world.api('PUT', '/api/mail', {
      ...{ host: '127.0.0.1', port: 9, security: 'none', user: 'rollcall', password: MAIL },
      from: 'rollcall@example.net',
    });
    crash = join(world.folder, 'crash');
    mkdirSync(crash);
    const preload = join(world.folder, 'crash.mjs');
    writeFileSync(preload, `process.on('SIGUSR2', () => { throw new Error('a crash'); });`);
    const state = join(world.folder, 'collector');
    const { token } = await world.api('POST', '/api/collectors/join-tokens', { siteId });
    await promisify(execFile)('node', [COLLECTOR, 'join', world.server.url, token, '--state', state]);
    const collector: ChildProcess = spawn(
      process.execPath,
      [
        '--report-uncaught-exception',
        `--report-directory=${crash}`,
        '--import',
        preload,
        COLLECTOR,
        'run',
        '--state',
        state,
      ],
      {
        env: { ...process.env, LOG_LEVEL: 'trace', ROLLCALL_COLLECTOR_TRAPS_PORT: '0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    world.onStop(() => collector.kill('SIGKILL'));
    for (const stream of [collector.stdout, collector.stderr])
      stream?.on('data', (part) => {
        said += String(part);
      });
    const scan = async () => {
      const { scanId } = await world.api('POST', '/api/discovery/scan', {
        targets: '127.20.0.0/26',
        profile: 'standard',
        site: 'north',
      });
      return world.scanEnd(scanId);
    };
    expect((await scan()).devicesFound).toBeGreaterThan(3);
    // Watched devices are asked with their credentials too.
    for (const { id } of (await world.all<{ id: string }>('/api/devices')).slice(0, 5))
      await world.api('PATCH', `/api/devices/${id}`, { monitor: 1 });
    await until(20_000, 'the watch', async () => said.includes('the list of monitored devices changed'));
    // A row that does not open any more, and one that was moved.
    await world.server.db.query(`UPDATE credentials SET sealed = '\\x0102' WHERE name LIKE '%public (v1)'`);
    await scan();
    collector.kill('SIGUSR2');
    if (collector.exitCode === null) await once(collector, 'exit');
  }, 180_000);
  afterAll(() => world?.stop());

  it('looks for what it should find', () => {
    expect(SECRETS.length).toBeGreaterThan(6);
    for (const secret of SECRETS)
      for (const text of [
        secret,
        Buffer.from(`{"community":"${secret}"}`).toString('base64'),
        Buffer.from(secret).toString('hex'),
      ])
        expect([text, found('x', Buffer.from(`a ${text} b`)).length > 0]).toEqual([text, true]);
  });

  it('did what it was for', () => {
    expect(said).toMatch(/a crash/);
    expect(readdirSync(crash)).toHaveLength(1);
    expect(lines.join('')).toMatch(/could not be opened/);
    expect(lines.length).toBeGreaterThan(50);
  });

  it('no log line and no crash report has one', () => {
    expect(found('server log', Buffer.from(lines.join('')))).toEqual([]);
    expect(found('collector log', Buffer.from(said))).toEqual([]);
    for (const file of filesIn(crash)) expect(found(file, readFileSync(file))).toEqual([]);
  });

  it('no file of the collector has one: identity, outbox, whatever there is', () => {
    const state = join(world.folder, 'collector');
    expect(existsSync(join(state, 'outbox'))).toBe(true);
    for (const file of filesIn(state)) expect(found(file, readFileSync(file))).toEqual([]);
  });

  it('neither the backup nor the files of the database have one; the key is in neither', async () => {
    const out = new PassThrough();
    const [bytes] = await Promise.all([buffer(out), backup(world.server.db, out, Date.now())]);
    const dump = gunzipSync(bytes);
    expect(dump.includes('"sealed":"\\\\x')).toBe(true);
    expect(found('backup', dump)).toEqual([]);
    const key = readFileSync(join(world.folder, 'credential.keys'), 'utf8').trim();
    for (const text of [key, Buffer.from(key, 'base64').toString('hex')])
      expect(dump.includes(text)).toBe(false);
    if (name === 'PGlite')
      for (const file of filesIn(join(world.folder, 'database')))
        expect(found(file, readFileSync(file))).toEqual([]);
  });

  it('no answer of the API has one, for an administrator who sees everything', async () => {
    const asked: string[] = [];
    for (const { method, path } of Object.values(operations)) {
      if (method !== 'GET' || path === '/api/stream') continue;
      const ids = path.includes('{')
        ? await world.api<{ id?: string }[]>('GET', path.slice(0, path.indexOf('/{'))).then(
            ({ data }) => (Array.isArray(data) ? data.map(({ id }) => id) : []),
            () => [],
          )
        : [''];
      for (const id of ids.slice(0, 20)) {
        const response = await fetch(`${world.server.url}${path.replace(/\{\w+\}/, id ?? '')}`, {
          headers: { authorization: `Bearer ${world.token}` },
        });
        asked.push(path);
        expect(found(path, Buffer.from(await response.arrayBuffer()))).toEqual([]);
      }
    }
    expect(new Set(asked).size).toBeGreaterThan(25);
    expect(asked.filter((path) => path === '/api/credentials/{id}').length).toBeGreaterThan(4);
  });
});
