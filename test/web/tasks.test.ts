import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { browserSuite, choose, openBrowser, pick, picture, settled, type Visitor, visit } from './browser.ts';
import { startWorld, type World } from './world.ts';

/** What each page is for, done by hand as a person would: clicked, typed, read. */

vi.setConfig({ testTimeout: 180_000 });

browserSuite('the main task of every page', () => {
  let world: World;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld(16_211);
    browser = await openBrowser();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });
  beforeEach(async () => {
    visitor = await visit(browser, world.url, { account: world.admin });
  });
  afterEach(async () => {
    await visitor.context.close();
    expect(visitor.trouble).toEqual([]);
  });
  const row = (name: string | RegExp) => visitor.page.getByRole('row').filter({ hasText: name });
  const button = (name: string | RegExp) => visitor.page.getByRole('button', { name, exact: true });
  const item = (name: string | RegExp) => visitor.page.getByRole('menuitem', { name });
  const dialog = () => visitor.page.getByRole('dialog');
  /** Browsers write each request that the server refused into the console; here it was meant to be. */
  const refused = () => {
    const kept = visitor.trouble.filter((line) => !/the server responded with a status of 4\d\d/.test(line));
    expect(kept.length).toBeLessThan(visitor.trouble.length);
    visitor.trouble.splice(0, visitor.trouble.length, ...kept);
  };
  const address = () => new URL(visitor.page.url());

  it('overview: from a number to what it counts', async () => {
    const { page, open } = visitor;
    await open('/');
    await page.getByRole('region', { name: 'Figures' }).getByText('minor').click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await row('Te1/1/1').getByText('is down').waitFor();
    await page.goBack();
    await page.getByRole('row').filter({ hasText: 'Head office' }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Overview of Head office' }).waitFor();
  });

  it('devices: filter, sort, choose columns, keep the view, take it away as CSV and as curl', async () => {
    const { page, open } = visitor;
    await open('/devices');
    await page.keyboard.press('/');
    await page.keyboard.type('access');
    await row('access-12').waitFor();
    await page.waitForURL(/search=access/);
    await pick(page, 'Class', 'switch');
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await page.waitForURL(/sort=-name/);
    await settled(page);
    await button('Columns').click();
    await page.getByRole('menuitemcheckbox', { name: 'Serial number' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Serial number' }).waitFor();

    await button('Save view').click();
    await page.getByLabel('Name of the view').fill('My switches');
    await button('Save').click();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.waitForURL((url) => url.search === '');
    await page.getByRole('link', { name: 'My switches' }).click();
    await page.waitForURL(/search=access.*class=switch.*sort=-name|class=switch.*search=access/);
    await settled(page);

    const shown = await page.getByRole('row').filter({ hasText: 'access-' }).count();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button('Export')
        .click()
        .then(() => item('CSV of these filters and columns').click()),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toContain('Serial number');
    expect(lines.slice(1)).toHaveLength(shown);
    expect(lines.slice(1).every((line) => line.includes('access-') && line.includes('switch'))).toBe(true);
    expect(lines.some((line) => line.includes('FOC2741X0EX'))).toBe(true);

    await button('Export').click();
    await item('Copy as curl').click();
    await page.getByText('Put an API token into ROLLCALL_TOKEN').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toMatch(/^curl -sS -H "Authorization: Bearer \$ROLLCALL_TOKEN" 'http.*class=switch/);

    // Kept with the account: there on another computer.
    const elsewhere = await visit(browser, world.url, { account: world.admin });
    await elsewhere.open('/devices');
    await elsewhere.page.getByRole('link', { name: 'My switches' }).waitFor();
    await elsewhere.context.close();
  });

  it('devices: watch all that match, and stop', async () => {
    const { page, open } = visitor;
    await open('/devices?class=router');
    const many = (await world.installation.api('GET', '/api/devices?class=router')).totalCount;
    for (const [verb, word, flag] of [
      ['Watch all', 'Watch', 1],
      ['Stop watching all', 'Stop watching', 0],
    ] as const) {
      await button('Watch').click();
      await item(new RegExp(`^${verb} ${many} devices`)).click();
      await dialog().getByRole('button', { name: word, exact: true }).click();
      await dialog().waitFor({ state: 'detached' });
      await page.getByText(`${many} changed`).first().waitFor();
      const { totalCount } = await world.installation.api('GET', `/api/devices?class=router&monitor=${flag}`);
      expect(totalCount).toBe(many);
    }
  });

  it('devices: keys move and open, Esc and back lead home', async () => {
    const { page, open } = visitor;
    await open('/devices?class=switch');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    const name = await page.locator('[role="row"][aria-selected="true"] a').first().textContent();
    await page.keyboard.press('Enter');
    await page
      .getByRole('heading', { level: 1 })
      .filter({ hasText: String(name) })
      .waitFor();
    await page.goBack();
    await page.waitForURL(/devices\?class=switch/);
    await page.locator('[role="row"][aria-selected="true"]').waitFor();
  });

  it('device: interfaces, hardware, neighbours, history, and why it is one device', async () => {
    const { page, open } = visitor;
    await open(`/devices/${await world.device('core-1')}`);
    await page.getByText('CAT4788L0CH').waitFor();
    await page.getByRole('link', { name: /^Interfaces/ }).click();
    await row('Twe1/0/3').getByText('dist-1').first().waitFor();
    await page.getByRole('link', { name: /^Hardware/ }).click();
    await row('Power Supply Module 2').waitFor();
    await page.getByRole('link', { name: /^Neighbours/ }).click();
    await row('dist-1').getByRole('link', { name: 'dist-1' }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'dist-1' }).waitFor();
    await open(`/devices/${await world.device('access-3')}`);
    const parts = page.getByRole('navigation', { name: 'Parts of the device' });
    await parts.getByRole('link', { name: 'History' }).click();
    await page.getByText('is other hardware').first().waitFor();
    await page.getByRole('link', { name: 'Why one device' }).click();
    await row('engine-id').getByText('strong').waitFor();
  });

  it('device: rename, merge another in, split it off again, forget', async () => {
    const { page, open } = visitor;
    await open(`/devices/${await world.device('printer-1')}`);
    await button('More').click();
    await item('Name and class').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Printer at the door');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Printer at the door' }).waitFor();

    await button('More').click();
    await item(/Merge/).click();
    await dialog().getByLabel('Find the other device').fill('printer-2');
    await dialog().getByText('printer-2', { exact: true }).click();
    await dialog()
      .getByRole('button', { name: /^Merge printer-2 into/ })
      .click();
    await page.getByText('They are one device from now on').waitFor();
    const { data } = await world.installation.api<{ name: string; addresses: string[] }[]>(
      'GET',
      '/api/devices?search=Printer at the door',
    );
    expect(data[0]?.addresses).toHaveLength(2);

    await button('More').click();
    await item(/Split/).click();
    await dialog()
      .getByLabel(data[0]?.addresses[1] ?? '')
      .check();
    await dialog().getByRole('button', { name: 'Split off' }).click();
    await page.getByText('They are two devices from now on').waitFor();

    await button('More').click();
    await item(/Forget/).click();
    await dialog().getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  });

  it('topology: find a device, see where its links lead, open it; the list says the same', async () => {
    const { page, open } = visitor;
    await open('/topology');
    await page.getByLabel('Find', { exact: true }).fill('dist-1');
    await page.getByText('1 device found').waitFor();
    await open(`/topology?device=${await world.device('dist-1')}`);
    await page.getByRole('link', { name: 'core-1' }).first().click();
    await page.waitForURL(new RegExp(await world.device('core-1')));
    await page.getByRole('link', { name: 'Open the device' }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'core-1' }).waitFor();
    await open('/topology?view=list&q=dist-2');
    await row('dist-2').first().waitFor();
  });

  it('events: acknowledge, make a case of it, close', async () => {
    const { page, open } = visitor;
    await open('/events?Source=discovery&Device=access-5');
    await row(' is new').first().click();
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await row(' is new').first().click();
    await button('Acknowledge until').click();
    await item(/^Until it gets worse/).click();
    await page.getByText(/^by admin .*, until it gets worse$/).waitFor();
    await button('Make a case').click();
    await dialog().getByLabel('Title').fill('A new switch nobody ordered');
    await dialog().getByRole('button', { name: 'Open the case' }).click();
    await page
      .getByRole('heading', { level: 1 })
      .filter({ hasText: 'A new switch nobody ordered' })
      .waitFor();
    await page.goBack();
    await button('Close').filter({ hasText: 'Close' }).last().click();
    await page.getByText('by hand').waitFor();
  });

  it('cases: a case from open to closed', async () => {
    const { page, open } = visitor;
    await open('/cases');
    await button('New case').click();
    await dialog().getByLabel('Title').fill('Uplink of floor 3 flaps');
    await dialog().getByRole('button', { name: 'Open the case' }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Uplink of floor 3 flaps' }).waitFor();
    await choose(page, 'Assignee', 'Grace Hopper');
    await page.getByText('assigned it to grace').waitFor();
    await choose(page, 'Priority', 'highest');
    await page.getByText(/set the priority from \w+ to highest/).waitFor();
    await page.getByLabel('Tags', { exact: true }).and(page.locator('input')).fill('uplink');
    await page.keyboard.press('Enter');
    await page.getByText('set the tags to uplink').waitFor();
    await page.getByLabel('Comment').fill('Optic replaced, watching.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Optic replaced, watching.').waitFor();
    const steps = page.getByRole('navigation', { name: 'Status' });
    for (const status of ['investigating', 'resolved', 'closed']) {
      await steps.getByRole('button', { name: status }).click();
      await steps.locator('[aria-current="step"]').filter({ hasText: status }).waitFor();
    }
    await picture(page, 'case-closed-light');
    await open('/cases');
    await page.getByRole('region', { name: 'Cases closed' }).getByText('Uplink of floor 3 flaps').waitFor();
    await open('/cases?view=list&q=uplink');
    await row('Uplink of floor 3 flaps').waitFor();
  });

  it('cases: a card is dragged to the next lane', async () => {
    const { page, open } = visitor;
    await open('/cases');
    const card = page.getByRole('article').filter({ hasText: 'Te1/1/1' });
    await card.dragTo(page.getByRole('region', { name: 'Cases investigating' }));
    await page
      .getByRole('region', { name: 'Cases investigating' })
      .getByRole('article')
      .filter({ hasText: 'Te1/1/1' })
      .waitFor();
  });

  it('discovery: a plan before the scan, the scan live, its map, why of an address, cancel', async () => {
    const { page, open } = visitor;
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
  });

  it('discovery: schedules, profiles, credentials that can be written and never read', async () => {
    const { page, open } = visitor;
    await open('/discovery?tab=schedules');
    await button('New schedule').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('weekends');
    await dialog().getByLabel('Targets').fill('127.20.0.0/29');
    await choose(dialog(), 'Site', 'Head office');
    await dialog().getByLabel('When').fill('0 6 * * 6');
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
  });

  it('collectors: add one with a command, see it come online; rotate its key, revoke it', async () => {
    const { page, open } = visitor;
    await open('/collectors');
    await button('Add a collector').click();
    await choose(dialog(), 'Site', 'Branch');
    await dialog().getByRole('button', { name: 'Make a join token' }).click();
    const command = await dialog().getByLabel('Command', { exact: true }).inputValue();
    expect(command).toContain(world.url);
    await picture(page, 'collector-command-light');
    // As the person at the branch does.
    await world.installation.collector(world.branch, 'branch-2');
    await dialog().getByText('branch-2 is online').waitFor();
    await dialog().getByRole('link', { name: 'Show it' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog().getByRole('button', { name: /key/ }).click();
    await page.getByText(/key/).first().waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await row('branch-2').getByText('revoked').waitFor();
  });

  it('sites: add, be told what is wrong with it, delete', async () => {
    const { open } = visitor;
    await open('/sites');
    await button('New site').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Warehouse');
    await dialog().getByLabel('Networks').fill('10.99.0.0/33');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Networks').fill('10.99.0.0/16');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('Warehouse').getByText('10.99.0.0/16').waitFor();
    await row('Warehouse').getByRole('button').click();
    await item('Delete').click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await row('Warehouse').waitFor({ state: 'detached' });
    refused();
  });

  it('maintenance: once for a device, again and again for what matches; both switched and taken away', async () => {
    const { page, open } = visitor;
    await open(`/devices/${await world.device('dist-1')}`);
    await button('More').click();
    await item('Plan maintenance').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('New optics');
    await dialog().getByLabel('Time zone').and(page.locator('input')).fill('Tokyo');
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click();
    await dialog().getByLabel('Begins').fill('2024-02-01T09:30');
    await dialog().getByLabel('Ends').fill('2037-02-01T09:30');
    await dialog().getByLabel('dist-1').and(page.locator(':checked')).waitFor();
    await dialog().getByRole('button', { name: 'Plan it' }).click();
    await row('New optics').getByText('running, ends').waitFor();
    await row('New optics').getByText('one device').waitFor();

    await button('Plan maintenance').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Patch night');
    await choose(dialog(), 'Site', 'Head office');
    await dialog().getByText('Again and again').click();
    // Three days from now: a window that runs at this moment says so, and not when it begins.
    const day = (new Date().getUTCDay() + 3) % 7;
    const weekday = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][day];
    await dialog().getByRole('combobox', { name: 'Begins' }).fill(`0 2 * * ${day}`);
    await dialog().getByLabel('Lasts, minutes').fill('90');
    await dialog().getByText('What matches').click();
    await dialog().getByText('Name at least one').waitFor();
    await dialog().getByLabel('Classes', { exact: true }).and(page.locator('input')).click();
    await page.getByRole('option', { name: 'server' }).click();
    await page.keyboard.press('Tab');
    const { totalCount } = await world.installation.api(
      'GET',
      `/api/devices?class=server&site=${world.site}`,
    );
    await dialog().getByText(`${totalCount} devices today`).waitFor();
    await dialog().getByRole('button', { name: 'Plan it' }).click();
    await row('Patch night').getByText(`${weekday} at 02:00, 1 h 30 min`).waitFor();
    await row('Patch night').getByText('begins').waitFor();

    const windows = await world.installation.api<Record<string, unknown>[]>('GET', '/api/maintenance');
    expect(windows.data).toMatchObject([
      {
        name: 'New optics',
        timezone: 'Asia/Tokyo',
        scope: { deviceIds: [await world.device('dist-1')] },
        times: { kind: 'once', from: Date.parse('2024-02-01T00:30Z') / 1000 },
      },
      { name: 'Patch night', scope: { class: ['server'] }, times: { cron: `0 2 * * ${day}`, minutes: 90 } },
    ]);
    await row('Patch night').click();
    await dialog().getByLabel('Lasts, minutes').fill('120');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('Patch night').getByText('2 h').waitFor();
    await row('New optics').getByRole('switch').press('Space');
    await row('New optics').getByText('switched off').waitFor();
    // Somebody else takes it away.
    await world.installation.api('DELETE', `/api/maintenance/${windows.data[0]?.id}`);
    await row('New optics').waitFor({ state: 'detached' });
    await row('Patch night').getByRole('button').click();
    await item('Delete').click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No maintenance planned').waitFor();
  });

  it('notifications: a webhook with its secret, a test, the log, sent again, mail', async () => {
    const { page, open } = visitor;
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
      .getByRole('textbox', { name: 'Address' })
      .fill(`http://127.0.0.1:${(target.address() as AddressInfo).port}/hook`);
    await dialog()
      .getByRole('switch', { name: /^It may be a private address/ })
      .click();
    await choose(dialog(), 'Severity', 'minor or worse');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('button', { name: 'Copy Secret' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^whsec_/);
    await dialog().getByRole('button', { name: 'I have it' }).click();
    await row('Ticket system').getByText('opened, reopened, resolved; minor or worse').waitFor();

    // The target wants no more: what became of it comes by itself, and so does what is sent again.
    await row('Ticket system').getByRole('button').click();
    await item('Send a test').click();
    const side = page.getByRole('complementary', { name: 'A test to Ticket system' });
    await side.getByText('failed').waitFor();
    await side.getByText('This is a test').waitFor();
    await open('/notifications');
    await row('Ticket system').getByText('gave up').waitFor();
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
    await choose(page, 'Encryption', 'TLS from the first byte (465)');
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
    await page.getByText('Nobody is told yet').waitFor();
    target.close();
  });

  it('users: add one, who sees what the role allows, and no more', async () => {
    const { open } = visitor;
    await open('/users');
    await button('New user').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('dorothy');
    await dialog().getByLabel('In full').fill('Dorothy Vaughan');
    await dialog().getByText('Branch').click();
    await dialog().getByRole('textbox', { name: 'Password' }).fill('a long enough pass phrase');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('Dorothy Vaughan').getByText('viewer').waitFor();

    const account = { name: 'dorothy', password: 'a long enough pass phrase' };
    const other = await visit(browser, world.url, { account });
    await other.open('/devices');
    await other.page.getByText('No devices yet').waitFor();
    expect(await other.page.getByRole('link', { name: 'Users' }).count()).toBe(0);
    expect(await other.page.getByRole('button', { name: 'Watch', exact: true }).count()).toBe(0);
    await other.open('/discovery');
    expect(await other.page.getByRole('button', { name: 'Start a scan' }).count()).toBe(0);
    await other.context.close();
    expect(other.trouble).toEqual([]);
  });

  it('audit: who did what', async () => {
    const { page, open } = visitor;
    await open('/audit?action=site.create');
    await row('site Branch').getByText('admin').first().waitFor();
    await page.getByPlaceholder('What: token, token.create').fill('token');
    await row('token.create').first().waitFor();
  });

  it('profile: a token that is shown once, works, and is revoked', async () => {
    const { page, open } = visitor;
    await open('/profile');
    await button('Create a token').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('report script');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByRole('button', { name: 'Copy Token' }).click();
    const token = await page.evaluate<string>('navigator.clipboard.readText()');
    const ask = () => fetch(`${world.url}/api/devices`, { headers: { Authorization: `Bearer ${token}` } });
    expect((await ask()).status).toBe(200);
    await dialog().getByRole('button', { name: 'I have it' }).click();
    expect(await page.content()).not.toContain(token);
    await row('report script').getByRole('button', { name: 'Revoke' }).click();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await row('report script').getByText('revoked').waitFor();
    expect((await ask()).status).toBe(401);
  });

  it('profile: sign out elsewhere, another password', async () => {
    const account = { name: 'mary', password: 'first pass phrase of mary' };
    await world.installation.api('POST', '/api/users', { ...account, role: 'viewer', allSites: true });
    const [here, there] = await Promise.all([
      visit(browser, world.url, { account }),
      visit(browser, world.url, { account }),
    ]);
    await here.open('/profile?tab=sessions');
    await here.page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await there.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await here.open('/profile?tab=password');
    await here.page.getByRole('textbox', { name: 'Present password' }).fill(account.password);
    await here.page.getByRole('textbox', { name: 'New password' }).fill('second pass phrase of mary');
    await here.page.getByRole('textbox', { name: 'Once more' }).fill('second pass phrase of mary');
    await here.page.getByRole('button', { name: 'Change the password' }).click();
    await here.page.getByText('Every other session is signed out').waitFor();
    await here.context.close();
    await there.context.close();
    const again = await visit(browser, world.url, {
      account: { ...account, password: 'second pass phrase of mary' },
    });
    await again.context.close();
  });

  it('profile: theme, times and zone go with the account', async () => {
    const { page, open } = visitor;
    await open('/profile?tab=appearance');
    await page.getByText('Dark', { exact: true }).click();
    await page.getByText(/^\d{4}-\d\d-\d\d/).click();
    await choose(page, 'Time zone', 'UTC');
    await page.waitForTimeout(1_000);
    const elsewhere = await visit(browser, world.url, { account: world.admin });
    await elsewhere.open('/events?Severity=3');
    await elsewhere.page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
    const shown = await elsewhere.page.locator('time').first().textContent();
    const stamp = await elsewhere.page.locator('time').first().getAttribute('datetime');
    expect(shown).toBe(`${String(stamp).replace('T', ' ').slice(0, 19)}Z`);
    await elsewhere.context.close();
    await page.getByText('As the system', { exact: true }).click();
    await page.waitForTimeout(1_000);
  });

  it('everywhere: the palette finds devices, cases and pages; kiosk mode; the page of an old link', async () => {
    const { page, open } = visitor;
    await open('/');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('127.20.0.3');
    await page.getByText('edge-1', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'edge-1' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('floor 2');
    await page.getByText('Switch on floor 2 was replaced').waitFor();
    await page.getByLabel('Search everything').fill('schedules');
    await page.keyboard.press('Enter');
    await page.waitForURL(/discovery\?tab=schedules/);
    await page.getByRole('button', { name: /^admin/ }).click();
    await item(/Kiosk mode/).click();
    await page.waitForURL(/kiosk=1/);
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(address().searchParams.has('kiosk')).toBe(false);
    await open('/no/such/page');
    await page.getByRole('link', { name: 'Overview' }).last().click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
});
