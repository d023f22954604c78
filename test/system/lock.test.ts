import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lockFolder } from '@rollcall/host/lock';
import { temporaryFolder } from '@rollcall/host/testing/folder';
import { expect, it } from 'vitest';
import { compiled } from './compiled.ts';

const LOCK = compiled('host', 'lock');

it('a lock is free at once after its holder was killed', async () => {
  const path = temporaryFolder();
  const script = `import { lockFolder } from ${JSON.stringify(LOCK)};
    const l = await lockFolder(${JSON.stringify(path)}, 'server'); console.log(l.ok); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(await lockFolder(path, 'server')).toEqual({ ok: false, heldBy: `process ${child.pid}` });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const taken = await lockFolder(path, 'server');
  expect(taken.ok).toBe(true);
  if (taken.ok) await taken.release();
});
