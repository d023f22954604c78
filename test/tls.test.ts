/** A server with an authority of its own, as it is installed: what is printed for a new host lets nobody in between. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { audit } from '@rollcall/server/accounts/audit';
import { type Server, startServer } from '@rollcall/server/app';
import { createEnrolment } from '@rollcall/server/collectors/enroll';
import { installer, installLine } from '@rollcall/server/collectors/installer';
import { certificateFiles, type Pin, pinToTell } from '@rollcall/server/kernel/certificate';
import { readConfig } from '@rollcall/server/kernel/config';
import { openLog } from '@rollcall/server/kernel/log';
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const COLLECTOR = fileURLToPath(new URL('../packages/collector/bin/rollcall-collector.js', import.meta.url));
const run = promisify(execFile);
/** Answers what a command printed and how it ended. */
const outcome = (command: string, ...args: string[]) =>
  run(command, args, { timeout: 30_000 }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, out: stderr }),
  );

describe('D63: a server with an authority of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-tls-'));
  const config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    ROLLCALL_DATA: join(folder, 'server'),
    ROLLCALL_TLS_OWN: 'true',
  });
  let server: Server;
  let pin: Pin | undefined;

  beforeAll(async () => {
    server = await startServer(config, { log: openLog({ logLevel: 'silent' }) });
    await server.db.query(`INSERT INTO sites (id, name) VALUES (gen_random_uuid(), 'north')`);
    pin = pinToTell(config, await certificateFiles(config, Date.now()));
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const token = () =>
    createEnrolment({
      db: server.db,
      clock: systemClock,
      log: openLog({ logLevel: 'silent' }),
      audit,
      pin: () => pin,
    }).tokenFor('north');

  it('is verified by a collector with the token alone, and by nobody without', async () => {
    const state = join(folder, 'collector');
    const joined = await outcome(
      'node',
      COLLECTOR,
      'join',
      server.url,
      await token(),
      '--state',
      state,
      '--json',
    );
    expect(joined).toMatchObject({ code: 0 });
    const { ca } = JSON.parse(readFileSync(join(state, 'identity.json'), 'utf8')) as { ca: string };
    expect(ca.replace(/\s/g, '')).toBe(
      readFileSync(join(config.dataFolder, 'tls/authority.crt'), 'utf8').replace(/\s/g, ''),
    );
    const bare = (await token()).split('.')[0] ?? '';
    const refused = await outcome(
      'node',
      COLLECTOR,
      'join',
      server.url,
      bare,
      '--state',
      join(folder, 'other'),
    );
    expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/nobody known vouches/) });
  }, 60_000);

  it('is verified by the line for a new host, and by the script that it fetches', async () => {
    const handOut = { version: '1.2.3', offers: async () => [] };
    const line = installLine(handOut, server.url, 'rcj_TOKEN', pin) ?? '';
    const pinned = pin?.publicKey ?? 'none';
    expect(line).toContain(`--pinnedpubkey '${pinned}'`);
    const flags = (text: string) => /curl (-\S+ --pinnedpubkey '[^']+')/.exec(text)?.[1] ?? 'nothing';
    expect(flags(installer('1.2.3', [], pin))).toBe(flags(line));
    const fetching = (pin: string) =>
      outcome('sh', '-c', `curl ${flags(line).replace(pinned, pin)} ${server.url}/api/health/live`);
    expect(await fetching(pinned)).toMatchObject({ code: 0, out: expect.stringContaining('live') });
    const other = `sha256//${Buffer.alloc(32).toString('base64')}`;
    // 90: SSL_PINNEDPUBKEYNOTMATCH (curl(1), exit codes).
    expect(await fetching(other)).toMatchObject({ code: 90 });
    expect(installLine(handOut, server.url, 'rcj_TOKEN', undefined)).toMatch(/^curl -fsS https:/);
  });
});
