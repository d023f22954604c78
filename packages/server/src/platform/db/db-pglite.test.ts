import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@rollcall/host/testing/folder';
import { expect, it } from 'vitest';
import { openPglite } from './db-pglite.ts';

it('attack: nobody else gets to the files of the embedded database, whatever the folders were before', async () => {
  const data = temporaryFolder();
  const folder = join(data, 'database');
  mkdirSync(folder);
  for (const each of [data, folder]) chmodSync(each, 0o755);
  const driver = await openPglite(folder);
  await driver.close();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});
