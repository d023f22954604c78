import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeDatabases } from '@rollcall/server/testing/database';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApi } from '../api/server.ts';
import { ALPHA_NETWORK, makeWorld, PASSWORD, person } from '../api/world.ts';

/**
 * Clients that others generate from the document: made by three generators, compiled strictly, and run against a server. Each cooks
 * every recipe of docs/api.md (`test/clients/cookbook.ts`), so what one of them cannot say or ask shows.
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
    run(
      'openapi-typescript',
      document,
      '-o',
      'generated/openapi-typescript/schema.ts',
      '--default-non-nullable=false',
    ),
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

/** What the cookbook asks: method, path without what is filled in, names of what stands in the query. */
const RECIPES = recipesOf(readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8'));

function recipesOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
  const shell = blocks.join('').replace(/\$\(date[^)]*\)/g, 'N');
  // A request ends where its address does: what is sent stands before it.
  const requests = shell.matchAll(/\bcurl\b((?:(?!\bcurl\b)[\s\S])*?)\$ROLLCALL(\/[^\s"';]*)/g);
  const recipes = [...requests].map(([, flags = '', address = '']) => {
    const method = /-X ([A-Z]+)/.exec(flags)?.[1] ?? (/ -d /.test(flags) ? 'POST' : 'GET');
    const [path = '', query = ''] = address.split('?');
    const names = [...new URLSearchParams(query).keys()].sort().join('&');
    return `${method} ${path.replace(/\$\w+/g, '{}')}?${names}`;
  });
  return [...new Set(recipes)];
}

/** What the cookbook fills in, in a world of its own. */
async function kitchen(server: ApiServer): Promise<Record<string, string>> {
  const world = await makeWorld(server.db, server.keyring);
  const reader = person(world, 'admin', 'all');
  await server.db.query(
    `INSERT INTO api_tokens (id, user_id, name, hash, hint) VALUES ($1, $2, 'old', 'x', 'abcd')`,
    [world.id.joinToken, reader.id],
  );
  return {
    ...{ ROLLCALL: server.url, TOKEN: reader.token, NAME: reader.name, PASSWORD },
    ...{ DEVICE: world.id.device, SITE: world.site.alpha },
    TARGETS: ALPHA_NETWORK.replace(/0\.0\/16$/, '9.0/30'),
  };
}

describe('clients generated from docs/openapi.json', () => {
  let server: ApiServer;

  beforeAll(async () => {
    if (!existsSync(join(folder, 'node_modules')))
      execFileSync('npm', ['ci', '--silent', '--ignore-scripts'], { cwd: folder });
    rmSync(generated, { recursive: true, force: true });
    for (const generate of Object.values(GENERATORS)) generate();
    server = await startApi('pglite');
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

  it('have recipes to cook', () => expect(RECIPES.length).toBeGreaterThan(35));

  it('compile under strict rules', () => {
    expect(() => run('tsc', '-p', '.')).not.toThrow();
  }, 300_000);

  it.each(Object.keys(GENERATORS))('%s cooks the whole cookbook', async (name) => {
    const outfile = join(generated, `${name}.mjs`);
    await build({
      entryPoints: [join(folder, `${name}.ts`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    const env = { ...process.env, ...(await kitchen(server)) };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env, timeout: 80_000 });
    const { asked, told } = JSON.parse(stdout) as { asked: string[]; told: unknown };
    const answered = new Set(
      asked.filter((one) => / [23]\d\d$/.test(one)).map((one) => one.split(' ', 2).join(' ')),
    );
    expect(RECIPES.filter((recipe) => !answered.has(recipe))).toEqual([]);
    expect(told).toEqual({
      ...{ me: env.NAME, monitored: 0, name: expect.any(String), tagged: 2, added: 'pdu-7' },
      ...{ imported: ['name', 'field:Rack'] },
      ...{ csv: 4, open: 3, again: true, before: 'queued', after: 'cancelled' },
      ...{ mine: 1, byNumber: true, stream: true, networks: ['10.77.0.0/16', '10.78.0.0/16'] },
      ...{ notModified: 304, inventory: expect.arrayContaining(['_meta']), missing: 'not_found' },
      ...{ metrics: true, netbox: expect.stringContaining('name,') },
    });
    expect(server.trouble).toEqual([]);
  });
});
