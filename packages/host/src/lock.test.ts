import { describe, expect, it } from 'vitest';
import { lockFolder } from './lock.ts';
import { temporaryFolder } from './testing/folder.ts';

describe('lockFolder', () => {
  it('refuses a second holder and names the first', async () => {
    const path = temporaryFolder();
    const first = await lockFolder(path, 'server');
    expect(first.ok).toBe(true);
    expect(await lockFolder(path, 'server')).toEqual({ ok: false, heldBy: `process ${process.pid}` });
    if (first.ok) await first.release();
    const again = await lockFolder(path, 'server');
    expect(again.ok).toBe(true);
    if (again.ok) await again.release();
  });

  it('keeps different folders and names apart', async () => {
    const [a, b] = [temporaryFolder(), temporaryFolder()];
    const locks = [
      await lockFolder(a, 'server'),
      await lockFolder(b, 'server'),
      await lockFolder(a, 'collector'),
    ];
    expect(locks.map((l) => l.ok)).toEqual([true, true, true]);
    for (const l of locks) if (l.ok) await l.release();
  });
});
