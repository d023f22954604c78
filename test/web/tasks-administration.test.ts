import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { choose } from './browser.ts';
import { tasks } from './hand.ts';
import { startOffice } from './world.ts';

/** What nothing has to be found for: sites, notifications, people, their tokens and preferences. */

tasks('tasks of administration', startOffice, (task, alone) => {
  task(
    'sites: add, be told what is wrong with it, delete',
    async ({ open, row, button, item, dialog, refused }) => {
      await open('/sites');
      await button('New site').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('Warehouse');
      await dialog().getByLabel('Networks').fill('10.99.0.0/33');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await dialog().getByRole('alert').waitFor();
      await dialog().getByLabel('Networks').fill('10.99.0.0/16');
      await dialog()
        .getByRole('button', { name: /^More settings/ })
        .click();
      const special = /^Allow scans of multicast/;
      await dialog().getByRole('switch', { name: special }).press('Space');
      await dialog().getByLabel('device.down').fill('45');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('Warehouse').getByText('10.99.0.0/16').waitFor();
      await row('Warehouse').getByRole('button').click();
      await item('Change').click();
      await dialog().getByRole('switch', { name: special, checked: true }).waitFor();
      expect(await dialog().getByLabel('device.down').inputValue()).toBe('45');
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await row('Warehouse').getByRole('button').click();
      await item('Delete').click();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await row('Warehouse').waitFor({ state: 'detached' });
      refused();
    },
  );

  task(
    'wall: a link reads without signing in, until it is revoked',
    async ({ page, open, row, button, dialog, world }) => {
      await open('/wall?edit=1');
      await button('Share').click();
      await dialog().getByRole('button', { name: 'Create a link' }).click();
      await dialog().getByRole('button', { name: 'Copy Link' }).click();
      const link = await page.evaluate<string>('navigator.clipboard.readText()');
      await dialog().getByRole('button', { name: 'I have it' }).click();
      const headers = { Authorization: `Bearer ${link.split('#')[1]}` };
      const ask = (path: string) => fetch(`${world.url}${path}`, { headers });
      expect((await ask('/api/devices')).status).toBe(200);
      expect((await ask('/api/users')).status).toBe(403);
      const stranger = await page.context().browser()?.newContext();
      const screen = await stranger?.newPage();
      await screen?.goto(link);
      await screen?.getByRole('heading', { name: 'Open cases' }).waitFor();
      await open('/profile');
      await row('wall of all sites').getByRole('button', { name: 'Revoke' }).click();
      await dialog().getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('no longer works').waitFor();
      await screen?.reload();
      await screen?.getByText('This link was revoked, or has ended.').waitFor();
      await stranger?.close();
    },
  );

  task(
    'wall: tells the desktop of what is new, only where that is switched on',
    async ({ page, open, world }) => {
      let more = 0;
      await page.route('**/api/summary*', async (route) => {
        const response = await route.fetch();
        const summary = await response.json();
        const [worst] = summary.data.events.bySeverity;
        worst.open += more;
        await route.fulfill({ response, json: summary });
      });
      /** How often the desktop is told when one more event is open. */
      const told = async (path: string) => {
        await open(path);
        await page.evaluate(`window.told = 0; window.Notification = class {
        static permission = 'granted';
        constructor() { window.told += 1; }
      }`);
        const before = await page.title();
        more += 1;
        await world.installation.api('POST', '/api/cases', { siteId: world.site, title: `Look at ${more}` });
        await expect.poll(() => page.title(), { timeout: 20_000 }).not.toBe(before);
        await page.waitForTimeout(100);
        return page.evaluate('window.told');
      };
      expect(await told('/wall?panels=state')).toBe(0);
      expect(await told('/wall?panels=state&sound=1')).toBe(1);
      await page.unrouteAll({ behavior: 'wait' });
    },
  );

  task('audit: who did what', async ({ page, open, row }) => {
    await open('/audit?action=site.create');
    await row('site Branch').getByText('admin').first().waitFor();
    await page.getByPlaceholder('What: token, token.create').fill('token');
    await row('token.create').first().waitFor();
  });

  task(
    'profile: a token that is shown once, works, and is revoked',
    async ({ page, open, row, button, dialog, world }) => {
      await open('/profile');
      await button('Create a token').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('report script');
      expect(await dialog().getByLabel('Expires').first().inputValue()).toBe('in a year (default)');
      await dialog().getByRole('switch', { name: 'Read only' }).check();
      await dialog().getByLabel('Sites').first().click();
      await page.getByRole('option').first().click();
      await dialog().getByRole('textbox', { name: 'Name' }).click();
      await dialog().getByRole('button', { name: 'Create' }).click();
      await dialog().getByRole('button', { name: 'Copy Token' }).click();
      const token = await page.evaluate<string>('navigator.clipboard.readText()');
      const ask = () => fetch(`${world.url}/api/devices`, { headers: { Authorization: `Bearer ${token}` } });
      expect((await ask()).status).toBe(200);
      await dialog().getByRole('button', { name: 'I have it' }).click();
      expect(await page.content()).not.toContain(token);
      await row('report script')
        .getByText(/^reading, /)
        .waitFor();
      const change = await fetch(`${world.url}/api/cases`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: '{}',
      });
      expect(change.status).toBe(403);
      await row('report script').getByRole('button', { name: 'Revoke' }).click();
      await dialog().getByRole('button', { name: 'Revoke' }).click();
      await row('report script').getByText('revoked').waitFor();
      expect((await ask()).status).toBe(401);
    },
  );

  task(
    'notifications: a webhook with its secret, a test, the log, sent again, mail',
    async ({ page, open, row, button, item, dialog, world }) => {
      const told: string[] = [];
      const target = createServer((request, response) => {
        request.resume();
        told.push(String(request.headers['webhook-id']));
        response.writeHead(told.length === 1 ? 410 : 204).end();
      }).listen(0, '127.0.0.1');
      await once(target, 'listening');
      await open('/notifications');
      await button('New subscription').first().click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('Ticket system');
      await dialog()
        .getByRole('textbox', { name: 'URL' })
        .fill(`http://127.0.0.1:${(target.address() as AddressInfo).port}/hook`);
      await dialog()
        .getByRole('switch', { name: /^Allow a private address/ })
        .click();
      await choose(dialog(), 'Severity', 'minor or worse');
      const tags = dialog().getByLabel('Tags', { exact: true }).and(page.locator('input'));
      await tags.fill('core');
      await tags.press('Enter');
      await dialog().getByRole('switch', { name: 'Only at certain hours' }).click();
      await dialog().getByRole('button', { name: 'Save' }).click();
      await dialog().getByRole('button', { name: 'Copy Secret' }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^whsec_/);
      await dialog().getByRole('button', { name: 'I have it' }).click();
      await row('Ticket system')
        .getByText(
          /^opened, reopened, resolved; minor or worse; with core; 08:00–18:00 Mon, Tue, Wed, Thu, Fri /,
        )
        .waitFor();

      // The target wants no more: what became of it comes by itself, and so does what is sent again.
      await row('Ticket system').getByRole('button').click();
      await item('Send a test').click();
      const side = page.getByRole('complementary', { name: 'A test to Ticket system' });
      await side.getByText('failed').waitFor();
      await side.getByText('This is a test').waitFor();
      await open('/notifications');
      await row('Ticket system').getByText('disabled after failures').waitFor();
      await row('Ticket system').getByRole('switch').press('Space');
      await row('Ticket system').getByText('nothing sent yet').waitFor();
      await row('Ticket system').getByRole('button').click();
      await item('Delivery log').click();
      await row('Ticket system').click();
      await side.getByRole('button', { name: 'Send it again' }).click();
      await side.getByText('delivered').waitFor();
      expect(told).toHaveLength(2);
      expect(told[0]).toBe(told[1]);

      await page.getByRole('link', { name: 'Mail server' }).click();
      await page.getByLabel('Host').fill('smtp.example.net');
      await choose(page, 'Encryption', 'TLS (465)');
      await page.getByRole('textbox', { name: 'Password' }).fill('never shown again');
      await page.getByLabel('From').fill('rollcall@example.net');
      await button('Save').click();
      await page.getByText('Empty: stays as it is').waitFor();
      const { data } = await world.installation.api('GET', '/api/mail');
      expect(data).toMatchObject({ host: 'smtp.example.net', port: 465, security: 'tls', password: 'set' });

      await open('/notifications');
      await row('Ticket system').getByRole('button').click();
      await item('Delete').click();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No subscriptions yet').waitFor();
      target.close();
    },
  );

  task(
    'notifications: what a mail server said of an address is there to read, on a phone, too',
    async ({ page, open }) => {
      const said =
        'host mail.example.net said: 550 5.1.1 no such mailbox here; ask the site lead for the new one';
      const error = 'some of the addresses were refused by the mail server: see what it said of each of them';
      await page.route('**/api/deliveries/one', (route) =>
        route.fulfill({
          json: {
            success: true,
            data: {
              id: 'one',
              type: 'case.opened',
              subscription: 'Team',
              caseId: null,
              caseNumber: 7,
              status: 'partial',
              createdAt: 1_790_000_000,
              error,
              payload: {},
              log: [{ at: 1_790_000_001, ms: 310, status: null, error }],
              recipients: [
                { address: 'network.operations@branch-office.example.net', state: 'refused', said },
              ],
            },
          },
        }),
      );
      await page.setViewportSize({ width: 390, height: 844 });
      await open('/notifications?tab=deliveries&delivery=one');
      for (const words of [error, `refused: ${said}`, 'network.operations@branch-office.example.net']) {
        const cell = page.getByRole('cell').filter({ hasText: words });
        await cell.waitFor();
        expect(
          await cell.evaluate(
            (at: Record<'scrollWidth' | 'clientWidth' | 'scrollHeight' | 'clientHeight', number>) => [
              at.scrollWidth - at.clientWidth,
              at.scrollHeight - at.clientHeight,
            ],
          ),
        ).toEqual([0, 0]);
      }
      await page.unrouteAll({ behavior: 'wait' });
    },
  );

  task(
    'users: add one, who sees what the role allows, and no more',
    async ({ open, row, button, dialog, another }) => {
      await open('/users');
      await button('New user').click();
      await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('dorothy');
      await dialog().getByLabel('Display name').fill('Dorothy Vaughan');
      await dialog().getByText('Branch').click();
      await dialog().getByRole('textbox', { name: 'Password' }).fill('a long enough pass phrase');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('Dorothy Vaughan').getByText('viewer').waitFor();

      const account = { name: 'dorothy', password: 'a long enough pass phrase' };
      const other = await another(account, true);
      await other.open('/devices');
      await other.page.getByText('No devices yet').waitFor();
      expect(await other.page.getByRole('link', { name: 'Users' }).count()).toBe(0);
      expect(await other.page.getByRole('button', { name: 'Monitor', exact: true }).count()).toBe(0);
      await other.open('/discovery');
      expect(await other.page.getByRole('button', { name: 'Start a scan' }).count()).toBe(0);
      await other.context.close();
      expect(other.trouble).toEqual([]);
    },
  );

  task('profile: sign out elsewhere, another password', async ({ another, world }) => {
    const account = { name: 'mary', password: 'first pass phrase of mary' };
    await world.installation.api('POST', '/api/users', { ...account, role: 'viewer', allSites: true });
    const [here, there] = await Promise.all([another(account, true), another(account, true)]);
    await here.open('/profile?tab=sessions');
    await here.page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await there.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await here.open('/profile?tab=password');
    await here.page.getByRole('textbox', { name: 'Current password' }).fill(account.password);
    await here.page.getByRole('textbox', { name: 'New password' }).fill('second pass phrase of mary');
    await here.page.getByRole('textbox', { name: 'Confirm password' }).fill('second pass phrase of mary');
    await here.page.getByRole('button', { name: 'Change the password' }).click();
    await here.page.getByText('Every other session is signed out').waitFor();
    await here.context.close();
    await there.context.close();
    const again = await another({ ...account, password: 'second pass phrase of mary' }, true);
    await again.open('/devices');
    const stored = () => again.page.evaluate<string | null>("localStorage.getItem('rollcall.preferences')");
    const pick = async (name: string) => {
      await again.page.getByRole('button', { name: /^mary/ }).click();
      await again.page.getByRole('menuitem', { name }).click();
    };
    await pick('Dark');
    expect(await stored()).toContain('dark');
    await pick('Sign out');
    await again.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await stored()).toBeNull();
    await again.context.close();
  });

  alone('profile: theme, times and zone go with the account', async ({ page, open, another, world }) => {
    await open('/profile?tab=appearance');
    await page.getByText('Dark', { exact: true }).click();
    await page.getByText(/^\d{4}-\d\d-\d\d/).click();
    // Changes are kept together, a moment after the last.
    const kept = page.waitForResponse(
      (answer) => answer.request().postData()?.includes('"zone":"UTC"') ?? false,
    );
    await choose(page, 'Time zone', 'UTC');
    await kept;
    const elsewhere = await another(world.admin);
    await elsewhere.open('/audit');
    await elsewhere.page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
    const shown = await elsewhere.page.locator('time').first().textContent();
    const stamp = await elsewhere.page.locator('time').first().getAttribute('datetime');
    expect(shown).toBe(`${String(stamp).replace('T', ' ').slice(0, 19)}Z`);
    await elsewhere.context.close();
  });
});
