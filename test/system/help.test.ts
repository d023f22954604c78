/** Every command of the project explains itself. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};
const commands = Object.entries(scripts).flatMap(([name, line]) => {
  const [program, script] = line.split(' ');
  return program === 'node' && script ? [[name, script] as const] : [];
});

it.each(commands)('npm run %s -- --help', (_, script) => {
  const told = execFileSync(process.execPath, [script, '--help'], { cwd: root, encoding: 'utf8' });
  const [first = ''] = readFileSync(`${root}/${script}`, 'utf8').split('\n');
  expect(told).toContain(first.replace(/^\/\/ ?/, ''));
  expect(told.length).toBeGreaterThan(60);
});
