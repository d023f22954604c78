import { expect } from 'vitest';
import { choose, picture } from './browser.ts';
import { tasks } from './hand.ts';
import { startNetwork } from './world.ts';

/** What finds devices: scans, what they are made with, and collectors. */

const start = () => startNetwork(16_213);

tasks('tasks of discovery', start, (task) => {
  task(
    'discovery: schedules, profiles, credentials that can be written and never read',
    async ({ page, open, row, button, item, dialog, world }) => {
      await open('/discovery?tab=schedules');
      await button('New schedule').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('weekends');
      await dialog().getByLabel('Targets').fill('127.20.0.0/29');
      await choose(dialog(), 'Site', 'Head office');
      await choose(dialog(), 'When', 'Advanced: cron');
      await dialog().getByLabel('Cron line').fill('0 6 * * 6');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('weekends').getByText('Head office').waitFor();

      await open('/discovery?tab=profiles');
      await button('New profile').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('very gentle');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('very gentle').waitFor();

      await open('/discovery?tab=credentials');
      await button('New credential').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('branch community');
      await dialog().getByRole('textbox', { name: 'Community' }).fill('s3cret-community');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('branch community').waitFor();
      await row('branch community').getByRole('button').click();
      await item(/Change/).click();
      expect(await dialog().getByRole('textbox', { name: 'Community' }).inputValue()).toBe('');
      expect(await page.content()).not.toContain('s3cret-community');
      const { data } = await world.installation.api('GET', '/api/credentials');
      expect(JSON.stringify(data)).not.toContain('s3cret-community');
    },
  );

  task('first steps: credentials are tried on one address', async ({ page, open, button }) => {
    await open('/start');
    const address = page.getByLabel('Address to test the credentials on');
    await address.fill('127.20.40.0/24');
    await button('Test the credentials').click();
    await page.getByText('Give one address').waitFor();
    await choose(page, 'Site of the address', 'Head office');
    await address.fill('127.20.40.17');
    await button('Test the credentials').click();
    await page.getByText('Read by SNMP.').waitFor();
    await page.getByRole('link', { name: 'printer-1' }).waitFor();
    await address.fill('127.20.50.17');
    await button('Test the credentials').click();
    await page.getByText(/^(answers ping|SNMP silent)\./).waitFor();
    await picture(page, 'first-steps-tried-light');
  });

  task(
    'discovery: a plan before the scan, the scan live, its map, why of an address, cancel',
    async ({ page, open, row, button, dialog, refused }) => {
      await open('/discovery');
      await button('Start a scan').click();
      await dialog().getByLabel('Targets').fill('10.0.0.0/40');
      await dialog().getByRole('region', { name: 'Plan' }).getByText('10.0.0.0/40').waitFor();
      await dialog().getByLabel('Targets').fill('127.20.10.0/26, !127.20.10.5');
      await choose(dialog(), 'Site', 'Head office');
      await dialog().getByText('1 left out').waitFor();
      await dialog()
        .getByRole('button', { name: /^Scan \d+ addresses/ })
        .click();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: '127.20.10.0/26' }).waitFor();
      await page.getByText('completed').waitFor({ timeout: 60_000 });
      await page.getByRole('link', { name: /^Addresses/ }).click();
      await page.getByPlaceholder('Address or CIDR').fill('127.20.10.20');
      await row('127.20.10.20').getByText('Alive, but its SNMP agent does not answer').waitFor();
      await page.getByRole('link', { name: /^Jobs/ }).click();
      await row('head-office-1').getByText('done').waitFor();

      // At the branch nobody is there to do it: it waits, and says so, and is cancelled.
      await open('/discovery?new=1&targets=127.20.10.0/30');
      await choose(dialog(), 'Site', 'Branch');
      await dialog().getByText('none online').waitFor();
      await dialog()
        .getByRole('button', { name: /^Scan \d+ addresses/ })
        .click();
      await page.getByText('queued').waitFor();
      await button('Cancel the scan').click();
      await dialog().getByRole('button', { name: 'Cancel the scan' }).click();
      await page.getByText('cancelled').waitFor();
      // The plan of something that is no target.
      refused();
    },
  );

  task(
    'collectors: add one with a command, see it come online; rotate its key, revoke it',
    async ({ page, open, row, button, dialog, world }) => {
      const depot = await world.installation.site('Depot', 161, []);
      await open('/collectors');
      await button('Add a collector').click();
      await choose(dialog(), 'Site', 'Depot');
      await dialog().getByRole('button', { name: 'Create a join token' }).click();
      const command = dialog().getByLabel('Then join', { exact: true });
      expect(await command.inputValue()).toContain(world.url);
      await dialog().getByText('Only this machine reaches this address.').waitFor();
      await dialog().getByLabel('Address of this server').fill('https://rollcall.example.net/');
      expect(await command.inputValue()).toMatch(/join https:\/\/rollcall\.example\.net rcj_/);
      expect(await dialog().getByText('Only this machine').count()).toBe(0);
      await picture(page, 'collector-command-light');
      // As the person there does.
      await world.installation.collector(depot, 'depot-1');
      await dialog().getByText('depot-1 is online').waitFor();
      await dialog().getByRole('link', { name: 'Show it' }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await dialog().getByRole('button', { name: /key/ }).click();
      await page.getByText(/key/).first().waitFor();
      await page.getByRole('button', { name: 'Revoke' }).click();
      await dialog().getByRole('button', { name: 'Revoke' }).click();
      await row('depot-1').getByText('revoked').waitFor();
    },
  );
});
