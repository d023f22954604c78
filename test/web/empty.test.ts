import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@rollcall/server/app';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { breaches, browserSuite, openBrowser, settled, visit } from './browser.ts';

/** The application where nothing is there yet: what stands in place of each list is as accessible as the list. */

browserSuite('an empty installation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-web-empty-'));
  let server: Server;
  let browser: Browser;
  beforeAll(async () => {
    const config = readConfig({ PORT: '0', ROLLCALL_DATA: folder });
    server = await startServer(config, { log: openLog({ logLevel: 'silent' }), checkResponses: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  it('passes the accessibility rules on every list', { timeout: 300_000 }, async () => {
    const account = server.firstAdmin as { name: string; password: string };
    const { page, context, open } = await visit(browser, server.url, { account });
    const found: string[] = [];
    const lists = [
      'devices events cases?view=list discovery discovery?tab=schedules discovery?tab=credentials collectors',
      'collectors?tab=tokens collectors?tab=losses sites maintenance notifications notifications?tab=deliveries',
      'profile changes availability topology',
    ];
    for (const path of lists.join(' ').split(' ')) {
      await open(`/${path}`);
      await settled(page);
      for (const breach of await breaches(page)) found.push(`${path}: ${breach}`);
    }
    expect(found).toEqual([]);
    await context.close();
  });
});
