import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeDatabases } from '@rollcall/server/testing/database';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApi } from '../api/server.ts';
import { ALPHA_NETWORK, makeWorld, person } from '../api/world.ts';

/**
 * Clients that others generate from the document: made by three generators, compiled strictly, and run against a server. Each tells
 * the same story (`test/clients`), so what one of them cannot say or ask shows.
 */

const folder = fileURLToPath(new URL('../clients', import.meta.url));
const document = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const generated = join(folder, 'generated');
const run = (program: string, ...words: string[]) =>
  execFileSync(join(folder, 'node_modules/.bin', program), words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });

const GENERATORS = {
  'openapi-typescript': () =>
    run('openapi-typescript', document, '-o', 'generated/openapi-typescript/schema.ts'),
  'hey-api': () =>
    run(
      'openapi-ts',
      '-i',
      document,
      '-o',
      'generated/hey-api',
      '-c',
      '@hey-api/client-fetch',
      '--no-log-file',
    ),
  orval: () =>
    run('orval', '--input', document, '--output', 'generated/orval/client.ts', '--client', 'fetch'),
};

describe('clients generated from docs/openapi.json', () => {
  let server: ApiServer;
  let env: Record<string, string | undefined>;

  beforeAll(async () => {
    if (!existsSync(join(folder, 'node_modules')))
      execFileSync('npm', ['ci', '--silent', '--ignore-scripts'], { cwd: folder });
    rmSync(generated, { recursive: true, force: true });
    for (const generate of Object.values(GENERATORS)) generate();
    server = await startApi('pglite');
    const world = await makeWorld(server.db, server.keyring);
    const TARGETS = ALPHA_NETWORK.replace(/0\.0\/16$/, '9.0/30');
    const { token } = person(world, 'operator', 'alpha');
    env = { ...process.env, ROLLCALL: server.url, TOKEN: token, SITE: world.site.alpha, TARGETS };
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await closeDatabases();
    rmSync(generated, { recursive: true, force: true });
  });

  it('are made of a document of which Spectral has nothing to say', () => {
    const words = ['lint', document, '--ruleset', 'spectral.yaml', '--fail-severity', 'hint', '--quiet'];
    const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules/.bin/spectral'), words, {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  }, 300_000);

  it('compile under strict rules', () => {
    expect(() => run('tsc', '-p', '.')).not.toThrow();
  }, 300_000);

  it.each(Object.keys(GENERATORS))('%s asks and understands', async (name) => {
    const outfile = join(generated, `${name}.mjs`);
    await build({
      entryPoints: [join(folder, `${name}.ts`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env });
    expect(JSON.parse(stdout)).toEqual({
      devices: 2,
      name: expect.any(String),
      scan: 'queued',
      events: expect.any(Number),
      commented: true,
      cases: expect.any(Number),
      missing: 'not_found',
    });
    expect(server.trouble).toEqual([]);
  });
});
