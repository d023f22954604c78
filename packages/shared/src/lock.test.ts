import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lockFolder } from './lock.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'rollcall-lock-'));

describe('lockFolder', () => {
  it('refuses a second holder and names the first', async () => {
    const path = folder();
    const first = await lockFolder(path, 'server');
    expect(first.ok).toBe(true);
    expect(await lockFolder(path, 'server')).toEqual({ ok: false, heldBy: `process ${process.pid}` });
    if (first.ok) await first.release();
    const again = await lockFolder(path, 'server');
    expect(again.ok).toBe(true);
    if (again.ok) await again.release();
  });

  it('keeps different folders and names apart', async () => {
    const [a, b] = [folder(), folder()];
    const locks = [
      await lockFolder(a, 'server'),
      await lockFolder(b, 'server'),
      await lockFolder(a, 'collector'),
    ];
    expect(locks.map((l) => l.ok)).toEqual([true, true, true]);
    for (const l of locks) if (l.ok) await l.release();
  });

  it('is free at once after its holder was killed', async () => {
    const path = folder();
    const script = `import { lockFolder } from ${JSON.stringify(fileURLToPath(new URL('../dist/lock.js', import.meta.url)))};
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
});
