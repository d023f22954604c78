import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@rollcall/server/app';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import {
  CLIENT,
  type IdentityProvider,
  startIdentityProvider,
} from '@rollcall/server/testing/identity-provider';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { breaches, browserSuite, openBrowser, picture, visit } from './browser.ts';

/** Signing in with a provider of identities, whose pages are those of `oidc-provider`. */

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

browserSuite('signing in with a provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-web-sign-in-'));
  let provider: IdentityProvider;
  let server: Server;
  let browser: Browser;
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    provider = await startIdentityProvider(`${url}/api/session/oidc/callback`);
    provider.accounts.ada = { preferred_username: 'ada', name: 'Ada Lovelace', groups: ['noc'] };
    provider.accounts.eve = { preferred_username: 'eve', groups: ['sales'] };
    const config = readConfig({
      PORT: String(port),
      ROLLCALL_DATA: folder,
      ROLLCALL_PUBLIC_URL: url,
      ROLLCALL_OIDC_ISSUER: provider.issuer,
      ROLLCALL_OIDC_CLIENT_ID: CLIENT.id,
      ROLLCALL_OIDC_CLIENT_SECRET: CLIENT.secret,
      ROLLCALL_OIDC_NAME: 'Company account',
      ROLLCALL_OIDC_RULES: JSON.stringify([{ groups: ['noc'], role: 'admin', sites: 'all' }]),
    });
    server = await startServer(config, { log: openLog({ logLevel: 'silent' }), checkResponses: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true });
  });

  /** From our page through those of the provider. */
  async function through(page: Page, account: string): Promise<void> {
    // The pages of `oidc-provider` ask for fonts.
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => route.abort());
    await page.getByRole('link', { name: 'Sign in with Company account' }).click();
    await page.getByPlaceholder('Enter any login').fill(account);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('leads there and back to the page that was asked for', async () => {
    const { page, context, trouble, open } = await visit(browser, server.url);
    await open('/users?search=ada');
    await page.getByRole('link', { name: 'Sign in with Company account' }).waitFor();
    expect(await breaches(page)).toEqual([]);
    await picture(page, 'sign-in-provider-light');
    await through(page, 'ada');
    await page.getByText('Ada Lovelace').first().waitFor();
    expect(page.url()).toBe(`${server.url}/users?search=ada`);
    await picture(page, 'users-provider-light');
    await page.getByText('single sign-on').first().waitFor();
    // What the pages of the provider do is not ours.
    trouble.length = 0;
    await page.reload();
    await page.getByText('Ada Lovelace').first().waitFor();
    expect(trouble).toEqual([]);
    await context.close();
  });

  it('tells who is not let in why, and what to do', async () => {
    const { page, context, open } = await visit(browser, server.url);
    await open('/');
    await through(page, 'eve');
    await page.getByRole('alert').filter({ hasText: 'None of your groups at Company account' }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    expect(await breaches(page)).toEqual([]);
    await picture(page, 'sign-in-refused-light');
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
    await picture(page, 'sign-in-refused-phone-dark');
    await context.close();
  });
});
