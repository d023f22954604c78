import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@rollcall/server/app';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { browserSuite, openBrowser, visit } from './browser.ts';

/** The application over HTTPS with a certificate of the server's own authority, which the browser was told to trust. */

browserSuite('the application under TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-web-tls-'));
  let server: Server;
  let browser: Browser;
  beforeAll(async () => {
    const config = readConfig({
      PORT: '0',
      HOST: '127.0.0.1',
      ROLLCALL_DATA: folder,
      ROLLCALL_TLS_OWN: 'true',
    });
    server = await startServer(config, { log: openLog({ logLevel: 'silent' }), checkResponses: true });
    const authority = new X509Certificate(readFileSync(join(folder, 'tls/authority.crt')));
    const key = authority.publicKey.export({ type: 'spki', format: 'der' });
    browser = await openBrowser([
      `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`,
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  it('is refused by a browser that knows nothing of the authority', async () => {
    const stranger = await openBrowser();
    const page = await stranger.newPage();
    await expect(page.goto(server.url)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await stranger.close();
  });

  it('signs in with a cookie bound to this host and to HTTPS, without a word in the console', async () => {
    expect(server.url).toMatch(/^https:/);
    const account = server.firstAdmin as { name: string; password: string };
    const { page, context, trouble, open } = await visit(browser, server.url, { account });
    const cookies = await context.cookies();
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatchObject({ secure: true, httpOnly: true, path: '/', domain: '127.0.0.1' });
    expect(cookies[0]?.name).toMatch(/^__Host-/);
    // The live stream, too, and a page that is loaded later.
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await open('/topology');
    await page.getByText('Nothing to draw yet').waitFor();
    expect(trouble).toEqual([]);
    await context.close();
  });
});
