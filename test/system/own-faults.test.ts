/**
 * Rollcall watches itself: each fault of its own parts is an event, and a service outside hears while the server works.
 * The promise is a minute. The limit only ends a hang; how long each took is printed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heartbeat } from '@rollcall/server/testing/collector-scene';
import { enrolled, shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, Installation, until } from './harness.ts';

const LIMIT_MS = 180_000;
/** After its start a server takes everybody who is away for being on the way back. */
const SETTLED_MS = 45_000;
const BEAT_MS = 10_000;

const [, onPostgres] = databases;
const mounts = mkdtempSync(join(tmpdir(), 'rollcall-mount-'));
const mayMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mounts]).status === 0;
if (mayMount) execFileSync('umount', [mounts]);
rmSync(mounts, { recursive: true });
const possible = onPostgres !== undefined && mayMount;
if (!possible) skipped('faults of its own parts: be root, and set TEST_DATABASE_URL');

describe.skipIf(!possible)('an installation with every fault of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-own-'));
  let installation: Installation;
  let startedAt: number;
  let asked: string[];
  let firstFailure: number | undefined;
  const outside = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/hook') firstFailure ??= Date.now();
    response.writeHead(request.url === '/hook' ? 500 : 200).end();
  });

  beforeAll(async () => {
    asked = [];
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '5'],
      ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
      ...['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')],
    ]);
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    startedAt = Date.now();
    installation = await Installation.start({
      databaseUrl: await onPostgres?.[1](),
      settings: {
        ROLLCALL_TLS_CERT: join(folder, 'tls.crt'),
        ROLLCALL_TLS_KEY: join(folder, 'tls.key'),
        ROLLCALL_ALIVE_URL: `http://127.0.0.1:${(outside.address() as AddressInfo).port}/alive`,
      },
    });
  }, 120_000);
  afterAll(async () => {
    if (installation) spawnSync('umount', ['-l', installation.folder]);
    await installation?.stop();
    outside.close();
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    rmSync(folder, { recursive: true });
  });

  it('tells each, and that it works', { timeout: LIMIT_MS + SETTLED_MS }, async () => {
    const { server, api } = installation;
    const call = api.bind(installation);
    const site = await installation.site('only', 161, []);
    await call('POST', '/api/subscriptions', {
      ...{ kind: 'webhook', name: 'nobody hears it', types: ['case.opened'], allowPrivate: true },
      url: `http://127.0.0.1:${(outside.address() as AddressInfo).port}/hook`,
    });
    const base = server.url.replace('https', 'wss');
    const says = async (name: string, more: () => object = () => ({})) => {
      const disk = await enrolled(server.db, site, name);
      const { talk, host } = talkOver(base, { ca: readFileSync(join(folder, 'tls.crt')) });
      await shakeHands(talk, disk, host);
      const beat = () => talk.say(heartbeat(more()));
      beat();
      const timer = setInterval(beat, BEAT_MS);
      const hangUp = () => {
        clearInterval(timer);
        talk.hangUp();
      };
      installation.onStop(hangUp);
      return hangUp;
    };
    let faultAt = Number.POSITIVE_INFINITY;
    const since = () => Date.now() >= faultAt;
    const dies = await says('dies');
    await says('stalls', () => (since() ? { outbox: { depth: 9, bytes: 900, oldest: faultAt } } : {}));
    await says('has no room', () => (since() ? { paused: 'the disk is full' } : {}));
    await until(LIMIT_MS, 'a settled server', async () => Date.now() - startedAt > SETTLED_MS);

    faultAt = Date.now();
    dies();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', installation.folder]);
    writeFileSync(join(installation.folder, 'full'), Buffer.alloc(1_000_000));
    const told = new Map<string, number>();
    const kinds = ['collector.offline', 'collector.backlog', 'collector.paused'];
    kinds.push('server.disk', 'server.certificate', 'subscription.failing');
    await until(LIMIT_MS, `events ${kinds}`, async () => {
      for (const { kind } of (await call<{ kind: string }[]>('GET', '/api/events?pageSize=100')).data)
        if (!told.has(kind)) told.set(kind, Date.now());
      return kinds.every((kind) => told.has(kind));
    });
    const from: Record<string, number | undefined> = {
      'server.certificate': startedAt,
      'subscription.failing': firstFailure,
    };
    const seconds = kinds.map((kind) => {
      const ms = (told.get(kind) ?? 0) - (from[kind] ?? faultAt);
      return `${kind} ${Math.round(ms / 1000)} s`;
    });
    process.stdout.write(`faults of its own were told after: ${seconds.join(', ')}\n`);
    await until(LIMIT_MS, 'a sign of life', async () => asked.includes('/alive'));
    expect([...told.keys()].filter((kind) => !kinds.includes(kind))).toEqual([]);
  });
});
