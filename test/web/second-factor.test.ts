import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@rollcall/server/app';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import { codeAt } from '@rollcall/server/testing/authenticator';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { breaches, browserSuite, openBrowser, picture, visit } from './browser.ts';

/** A second factor that the server demands: set up at the first sign-in, asked for at the next, reset by nobody. */

browserSuite('a second factor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-web-second-factor-'));
  let server: Server;
  let browser: Browser;
  let secret = '';
  let recovery = '';
  beforeAll(async () => {
    const config = readConfig({ PORT: '0', ROLLCALL_DATA: folder, ROLLCALL_SECOND_FACTOR: 'required' });
    server = await startServer(config, { log: openLog({ logLevel: 'silent' }), checkResponses: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Of the app, so many intervals of 30 s from now. */
  const code = (ahead = 0): string => codeAt(secret, Date.now() + ahead * 30_000);
  const typeIn = async (page: Page, { firstAdmin } = server): Promise<void> => {
    await page.getByLabel('Name').fill('admin');
    await page.getByLabel('Password', { exact: true }).fill(firstAdmin?.password ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('is set up before anything else is shown', async () => {
    const { page, context, open } = await visit(browser, server.url);
    await open('/devices');
    await typeIn(page);
    await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
    await page.getByLabel('Current password').fill(server.firstAdmin?.password ?? '');
    await page.getByRole('button', { name: 'Set it up' }).click();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    secret = await page.getByRole('textbox', { name: 'Key, to type it in by hand' }).inputValue();
    expect(await breaches(page)).toEqual([]);
    await picture(page, 'second-factor-code-light');
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('is wrong, or was used before').first().waitFor();
    await page.getByLabel('Code', { exact: true }).fill(code());
    await page.getByRole('button', { name: 'Confirm' }).click();
    const codes = page.getByLabel('Recovery codes').locator('pre');
    recovery = ((await codes.textContent()) ?? '').split('\n')[0] ?? '';
    expect(recovery).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/);
    expect(await breaches(page)).toEqual([]);
    await picture(page, 'second-factor-recovery-light');
    await page.getByRole('button', { name: 'I have them' }).click();
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    await context.close();
  });

  it('is asked for once the password was right', async () => {
    const { page, context, open } = await visit(browser, server.url);
    await open('/profile?tab=second-factor');
    await typeIn(page);
    await page.getByLabel('Code').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await breaches(page)).toEqual([]);
    await picture(page, 'sign-in-code-light');
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('the code is wrong, or was used before').waitFor();
    // The one before was used; the next one counts already.
    await page.getByLabel('Code').fill(code(1));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('10 recovery codes are left').waitFor();
    expect(await breaches(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
    await picture(page, 'second-factor-phone-dark');
    await context.close();
  });

  it('is replaced by a recovery code, and removed by another', async () => {
    const { page, context, open } = await visit(browser, server.url);
    await open('/profile?tab=second-factor');
    await typeIn(page);
    await page.getByLabel('Code').fill(recovery);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('9 recovery codes are left').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByLabel('Code').fill(recovery);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByText('is wrong, or was used before').first().waitFor();
    await context.close();
  });

  it('shows the recovery codes until somebody has them, though the account is read again', async () => {
    const own = mkdtempSync(join(tmpdir(), 'rollcall-web-second-factor-'));
    const config = readConfig({ PORT: '0', ROLLCALL_DATA: own });
    const free = await startServer(config, { log: openLog({ logLevel: 'silent' }), checkResponses: true });
    try {
      const { page, context, open } = await visit(browser, free.url);
      await open('/profile?tab=second-factor');
      await typeIn(page, free);
      await page.getByLabel('Current password').fill(free.firstAdmin?.password ?? '');
      await page.getByRole('button', { name: 'Set it up' }).click();
      const shown = await page.getByRole('textbox', { name: 'Key, to type it in by hand' }).inputValue();
      await page.getByLabel('Code', { exact: true }).fill(codeAt(shown, Date.now()));
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByLabel('Recovery codes').waitFor();
      const again = page.waitForResponse(
        (reply) => new URL(reply.url()).pathname === '/api/session' && reply.request().method() === 'GET',
      );
      // The network is back: everything is asked again.
      await page.evaluate("dispatchEvent(new Event('online'))");
      await (await again).finished();
      await page.evaluate(() => new Promise((drawn) => setTimeout(drawn, 200)));
      expect(await page.getByLabel('Recovery codes').count()).toBe(1);
      await page.getByRole('button', { name: 'I have them' }).click();
      await page.getByText('10 recovery codes are left').waitFor();
      await context.close();
    } finally {
      await free.stop();
      rmSync(own, { recursive: true });
    }
  });
});
