import { chmodSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPglite } from './db-pglite.ts';

it('attack: nobody else gets to the files of the embedded database, whatever the folders were before', async () => {
  const data = mkdtempSync(join(tmpdir(), 'rollcall-pglite-'));
  const folder = join(data, 'database');
  mkdirSync(folder);
  for (const each of [data, folder]) chmodSync(each, 0o755);
  const driver = await openPglite(folder);
  await driver.close();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});
