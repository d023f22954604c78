/** A server with an authority of its own, as it is installed: what is printed for a new host lets nobody in between. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { audit } from '@rollcall/server/accounts/audit';
import { type Server, startServer } from '@rollcall/server/app';
import { createEnrolment } from '@rollcall/server/gateway/enrolment/enroll';
import { installer, installLine } from '@rollcall/server/gateway/enrolment/installer';
import { certificateFiles, type Pin, publishedPin } from '@rollcall/server/platform/keys/certificate';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);
const run = promisify(execFile);
/** Answers what a command printed and how it ended. */
const outcome = (command: string, ...args: string[]) =>
  run(command, args, { timeout: 120_000 }).then(
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
    pin = publishedPin(config, await certificateFiles(config, Date.now()));
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

describe('a server that changes from its own authority to a public one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-successor-'));
  const file = (name: string) => join(folder, name);
  const log = openLog({ logLevel: 'silent' });
  const stops: (() => unknown)[] = [];
  afterAll(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    rmSync(folder, { recursive: true });
  });

  /** An authority that the collector's host trusts, and its certificate for 127.0.0.1. */
  const publish = () => {
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', '-x509', ...key, '-subj', '/CN=public', '-keyout', 'ca.key', '-out', 'ca.crt');
    openssl('req', ...key, '-subj', '/CN=127.0.0.1', '-keyout', 'server.key', '-out', 'server.csr');
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
    openssl('x509', '-req', '-in', 'server.csr', ...by, '-out', 'server.crt');
  };
  const freePort = async (): Promise<number> => {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  };

  it('is followed by its collectors, and another server with as good a certificate is not', async () => {
    publish();
    const port = await freePort();
    const configOf = (data: string, tls: Record<string, string>) =>
      readConfig({ PORT: `${port}`, HOST: '127.0.0.1', ROLLCALL_DATA: file(data), ...tls });
    const own = { ROLLCALL_TLS_OWN: 'true' };
    const bought = { ROLLCALL_TLS_CERT: file('server.crt'), ROLLCALL_TLS_KEY: file('server.key') };
    const serve = (data: string, tls: Record<string, string>) => startServer(configOf(data, tls), { log });

    const first = await serve('server', own);
    await first.db.query(`INSERT INTO sites (id, name) VALUES (gen_random_uuid(), 'north')`);
    const pin = publishedPin(
      configOf('server', own),
      await certificateFiles(configOf('server', own), Date.now()),
    );
    const enrolment = createEnrolment({ db: first.db, clock: systemClock, log, audit, pin: () => pin });
    const state = file('collector');
    const joining = await outcome(
      'node',
      COLLECTOR,
      'join',
      first.url,
      await enrolment.tokenFor('north'),
      '--state',
      state,
    );
    expect(joining).toMatchObject({ code: 0 });
    await first.stop();
    const identity = () =>
      JSON.parse(readFileSync(join(state, 'identity.json'), 'utf8')) as { ca?: string; generation: number };
    expect(identity().ca).toContain('BEGIN CERTIFICATE');

    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: file('ca.crt'),
      ROLLCALL_COLLECTOR_TRAPS_PORT: '0',
      LOG_LEVEL: 'debug',
    };
    const collector = spawn('node', [COLLECTOR, 'run', '--state', state], { env });
    stops.push(() => collector.kill('SIGKILL'));
    let said = '';
    for (const stream of [collector.stdout, collector.stderr])
      stream.on('data', (part: Buffer) => {
        said += part.toString();
      });

    // It has an authority of its own too, but not the one that the collector joined by.
    await certificateFiles(configOf('impostor', own), Date.now());
    const impostor = await serve('impostor', bought);
    await expect.poll(() => said, { timeout: 60_000 }).toMatch(/did not prove that it is the one/);
    expect(identity()).toMatchObject({ ca: expect.any(String), generation: 0 });
    await impostor.stop();

    const second = await serve('server', bought);
    stops.push(() => second.stop());
    await expect.poll(() => identity().generation, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(identity().ca).toBeUndefined();
  }, 300_000);
});
