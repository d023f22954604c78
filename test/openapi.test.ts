import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

it('the OpenAPI document passes the strict rules of redocly', () => {
  const { stdout, stderr, status } = spawnSync(
    'node_modules/.bin/redocly',
    ['lint', 'docs/openapi.json', '--format=json'],
    { cwd: root, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: 'true' } },
  );
  expect(status, stderr).toBe(0);
  const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    problems: { message: string }[];
  };
  expect(problems.map(({ message }) => message)).toEqual([]);
});
