import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeDatabases } from '@rollcall/server/testing/database';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, kinds, startApi } from '../api/server.ts';
import { makeWorld, PASSWORD, person } from '../api/world.ts';

/** Runs the cookbook as a reader would: its blocks in order, against a server with something in it. */

const text = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
const missing = ['bash', 'curl', 'jq'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);
if (missing.length > 0) skipped(`the examples of docs/api.md: install ${missing.join(', ')}`);

afterAll(closeDatabases);

describe.skipIf(missing.length > 0).each(kinds())('docs/api.md on %s', (kind) => {
  let server: ApiServer;
  let env: Record<string, string>;
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-cookbook-'));

  beforeAll(async () => {
    server = await startApi(kind);
    const world = await makeWorld(server.db, server.keyring);
    const reader = person(world, 'admin', 'all');
    await server.db.query(
      `INSERT INTO api_tokens (id, user_id, name, hash, hint) VALUES ($1, $2, 'old', 'x', 'abcd')`,
      [world.id.joinToken, reader.id],
    );
    env = {
      ...process.env,
      ROLLCALL: server.url,
      TOKEN: reader.token,
      NAME: reader.name,
      PASSWORD,
      DEVICE: world.id.device,
      SITE: world.site.alpha,
      OTHER_TOKEN_ID: world.id.joinToken,
      AUTH: `Authorization: Bearer ${reader.token}`,
    };
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('has blocks to run', () => expect(blocks.length).toBeGreaterThan(15));

  it.each(blocks.map((block, i) => [i + 1, block] as const))(
    'block %i works as written',
    async (_i, block) => {
      const { code, out, err } = await new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
        execFile(
          'bash',
          ['-euo', 'pipefail', '-c', block],
          { cwd: folder, env, timeout: 60_000 },
          (error, out, err) => resolve({ code: error?.code ?? 0, out, err }),
        );
      });
      expect([code, err]).toEqual([0, '']);
      expect(out).not.toContain('"success":false');
      expect(server.trouble).toEqual([]);
    },
  );

  it('filled what it wrote', () => {
    const [columns, ...devices] = readFileSync(join(folder, 'devices.csv'), 'utf8').trim().split('\r\n');
    expect(columns).toContain('name,address');
    expect(devices).toHaveLength(2);
  });
});
