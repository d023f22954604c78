import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { pick, picture, settled } from './browser.ts';
import { tasks } from './hand.ts';
import { startWorld } from './world.ts';

/** Found, narrowed down, opened, mended: devices, their links, and what leads to them. */

const start = () => startWorld(16_211);

tasks('tasks with devices', start, (task) => {
  task('overview: from a number to what it counts', async ({ page, open, row }) => {
    await open('/');
    await page.getByRole('region', { name: 'Figures' }).getByText('minor').click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await row('Te1/1/1').getByText('is down').waitFor();
    await page.goBack();
    await page.getByRole('row').filter({ hasText: 'Head office' }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Overview of Head office' }).waitFor();
  });

  task('overview: a site without monitoring is grey, and says so', async ({ page, open, world }) => {
    await world.installation.api('POST', '/api/devices', {
      site: world.branch,
      name: 'attic-1',
      address: '127.20.99.9',
      monitor: 0,
    });
    await open(`/?site=${world.branch}`);
    const figures = page.getByRole('region', { name: 'Figures' });
    const off = figures.getByRole('link', { name: 'Monitoring is off for 1 device: turn it on' });
    await off.waitFor();
    expect(await figures.getByText(/ up$/).count()).toBe(0);
    expect(await page.getByText('Nothing is wrong').count()).toBe(0);
    await off.click();
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
    expect(new URL(page.url()).searchParams.get('monitor')).toBe('0');
  });

  task('devices: one click on the status shows the down first', async ({ page, open }) => {
    const down = { id: '00000000-0000-4000-8000-000000000001', name: 'zz-down', status: 'down' };
    await page.route('**/api/devices?*', async (route) => {
      // The server sorts these words as text (lists.test.ts), so that “down” is first: here it is what the page asks for.
      const response = await route.fetch();
      const list = await response.json();
      const isDownFirst = new URL(route.request().url()).searchParams.get('sort') === 'status';
      if (isDownFirst) list.data.unshift({ ...list.data.pop(), ...down });
      await route.fulfill({ response, json: list });
    });
    await open('/devices');
    await page.getByRole('columnheader', { name: 'Status' }).getByRole('button').click();
    await page.locator('[aria-rowindex="2"]').getByText('zz-down').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  task('devices: monitor all that match, and stop', async ({ page, open, button, item, dialog, world }) => {
    await open('/devices?class=router');
    const many = (await world.installation.api('GET', '/api/devices?class=router')).totalCount;
    for (const [verb, word, flag] of [
      ['Monitor all', 'Monitor', 1],
      ['Stop monitoring all', 'Stop monitoring', 0],
    ] as const) {
      await button('Monitor').click();
      await item(new RegExp(`^${verb} ${many} devices`)).click();
      await dialog().getByRole('button', { name: word, exact: true }).click();
      await dialog().waitFor({ state: 'detached' });
      await page.getByText(`${many} changed`).first().waitFor();
      const { totalCount } = await world.installation.api('GET', `/api/devices?class=router&monitor=${flag}`);
      expect(totalCount).toBe(many);
    }
  });

  task(
    'devices: select some by key and by hand, and change only those',
    async ({ page, open, button, world }) => {
      const monitored = async () =>
        (await world.installation.api('GET', '/api/devices?class=wireless&monitor=1')).totalCount;
      await open('/devices?class=wireless');
      const before = await monitored();
      await page
        .getByRole('checkbox', { name: /^Select / })
        .first()
        .check();
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.getByText('2 devices selected').waitFor();
      for (const [verb, count] of [
        ['Stop monitoring', Math.max(0, before - 2)],
        ['Monitor', Math.max(before, 2)],
      ] as const) {
        await page.getByRole('toolbar').getByRole('button', { name: verb, exact: true }).click();
        await expect.poll(monitored, { timeout: 20_000 }).toBe(count);
      }
      await button('Clear selection').click();
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
    },
  );

  task(
    'devices: where a port is free, for how long, and the port itself',
    async ({ page, open, button, row, world }) => {
      const core = await world.device('core-1');
      const { data: ports } = await world.installation.api<{ id: string; name: string; ifIndex: number }[]>(
        'GET',
        `/api/interfaces?deviceId=${core}&pageSize=2`,
      );
      const asked: string[] = [];
      // Nothing was down for months here: what the server finds then is in free-ports.test.ts.
      await page.route('**/api/interfaces/free?*', async (route) => {
        const query = new URL(route.request().url()).searchParams;
        asked.push(
          `${query.get('site') === world.site ? 'site ' : ''}${query.get('class')} ${query.get('unusedDays')}`,
        );
        const response = await route.fetch();
        const list = await response.json();
        const now = Math.floor(Date.now() / 1000);
        list.data = ports.map(({ id, name, ifIndex }, n) => ({
          ...{
            id,
            siteId: world.site,
            site: 'Head office',
            deviceId: core,
            device: 'core-1',
            class: 'switch',
            ifIndex,
          },
          ...{
            port: name,
            alias: n === 0 ? 'spare' : null,
            speedBps: 10_000_000_000,
            adminStatus: 'up',
            operStatus: 'down',
          },
          ...{
            unusedSince: now - (100 + n) * 86_400,
            reason: n === 0 ? 'wentDown' : 'neverUp',
            readAt: now - 3600,
          },
        }));
        await route.fulfill({ response, json: { ...list, totalCount: list.data.length } });
      });
      await open(`/devices?site=${world.site}&class=switch`);
      await button('Free ports').click();
      await page.getByRole('heading', { level: 1, name: 'Free ports' }).waitFor();
      await row('spare').getByText('went down').waitFor();
      await row(ports[1]?.name ?? '')
        .getByText('never seen up')
        .waitFor();
      expect(asked.at(-1)).toBe('site switch 90');
      await picture(page, 'free-ports-of-a-site');
      await pick(page, 'Not used for', '365 days');
      await expect.poll(() => asked.at(-1)).toBe('site switch 365');
      await row('spare')
        .getByRole('link', { name: ports[0]?.name ?? '', exact: true })
        .click();
      await page.waitForURL(`**/devices/${core}?tab=performance&interface=${ports[0]?.id}`);
      await page.unrouteAll({ behavior: 'wait' });
    },
  );

  task('everywhere: ? lists the keys, g and a letter lead to a page', async ({ page, open, dialog }) => {
    await open('/devices');
    await page.keyboard.press('?');
    await dialog().getByText('Keyboard shortcuts').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.waitForURL(/cases$/);
  });

  task('devices: where keys lead is in sight, and nothing is passed over', async ({ page, open }) => {
    await page.setViewportSize({ width: 1440, height: 480 });
    await open('/devices');
    /** Numbers of the rows that are wholly in sight below the titles, and of the one that is chosen. */
    const sight = () =>
      page.evaluate<{ rows: number[]; chosen: number }>(`(() => {
        const grid = document.querySelector('[role="grid"]');
        const top = grid.querySelector('[role="columnheader"]').parentElement.getBoundingClientRect().bottom;
        const bottom = grid.getBoundingClientRect().bottom;
        const whole = (box) => box.top >= top - 1 && box.bottom <= bottom + 1;
        const rows = [...grid.querySelectorAll('[aria-selected]')].filter((row) => whole(row.getBoundingClientRect()));
        const number = (row) => Number(row?.getAttribute('aria-rowindex'));
        return { rows: rows.map(number), chosen: number(grid.querySelector('[aria-selected="true"]')) };
      })()`);
    const inSight = async (chosen: number) =>
      vi.waitFor(async () => {
        const seen = await sight();
        expect(seen.chosen).toBe(chosen);
        expect(seen.rows).toContain(chosen);
        return seen.rows;
      }, 20_000);
    // The first row of a table, for those who hear it, is that of the titles.
    await page.keyboard.press('j');
    const first = await inSight(2);
    for (let row = 3; row < 3 + first.length; row++) {
      await page.keyboard.press('j');
      await inSight(row);
    }
    const before = await sight();
    await page.keyboard.press('PageDown');
    const after = await inSight(before.chosen + first.length - 1);
    expect(Math.min(...after)).toBeLessThanOrEqual(Math.max(...before.rows));
  });

  task('devices: the focus stays with the device it is on, and comes to no other', async ({ page, open }) => {
    await page.setViewportSize({ width: 1440, height: 320 });
    await open('/devices');
    const last = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
    const links = page.getByRole('gridcell').getByRole('link');
    const names = await links.allTextContents();
    await links.nth(4).focus();
    await page.keyboard.press('End');
    await page.locator(`[aria-rowindex="${last}"][aria-selected="true"]`).waitFor();
    expect(await links.allTextContents()).not.toContain(names[4]);
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  });

  task('devices: keys move and open, Esc and back lead home', async ({ page, open }) => {
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

  task(
    'device: interfaces, hardware, neighbours, history, and why it is one device',
    async ({ page, open, row, world }) => {
      await open(`/devices/${await world.device('core-1')}`);
      await page.getByText('CAT4788L0CH').waitFor();
      await page.getByRole('link', { name: /^Interfaces/ }).click();
      await row('Twe1/0/3').getByText('dist-1').first().waitFor();
      await page.getByRole('link', { name: /^Hardware/ }).click();
      await row('Power Supply Module 2').waitFor();
      await page.getByRole('link', { name: /^Neighbours/ }).click();
      await row('dist-1').first().getByRole('link', { name: 'dist-1' }).click();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: 'dist-1' }).waitFor();
      await open(`/devices/${await world.device('access-3')}`);
      const parts = page.getByRole('navigation', { name: 'Parts of the device' });
      await parts.getByRole('link', { name: 'History' }).click();
      await page.getByText('hardware replaced').first().waitFor();
      await page.getByRole('link', { name: 'Identity evidence' }).click();
      await row('engine-id').getByText('strong').waitFor();
    },
  );

  task(
    'device: two of its interfaces get a tag at once, and are found by it',
    async ({ page, open, button, dialog, row, world }) => {
      await open(`/devices/${await world.device('core-1')}?tab=interfaces`);
      for (const name of ['Twe1/0/1', 'Twe1/0/3'])
        await page.getByLabel(`Select ${name}`, { exact: true }).check();
      await page.getByText('2 interfaces selected').waitFor();
      await button('Tags and fields').click();
      const tags = dialog().getByLabel('Add tags', { exact: true }).and(page.locator('input'));
      await tags.fill('uplink');
      await tags.press('Enter');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await page.getByText('2 interfaces selected').waitFor({ state: 'hidden' });
      await page.getByRole('textbox', { name: 'Tag' }).fill('Uplink');
      await row('Twe1/0/3').waitFor();
      await row('Twe1/0/2').first().waitFor({ state: 'hidden' });
    },
  );

  task(
    'device: rename, merge another in, split it off again, forget',
    async ({ page, open, button, item, dialog, address, refused, world }) => {
      const [first, second] = [await world.device('printer-1'), await world.device('printer-2')];
      await open(`/devices/${first}`);
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
      await open(`/devices/${second}?tab=identity`);
      await page.waitForURL(new RegExp(`${first}\\?tab=identity`));
      await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Printer at the door' }).waitFor();
      refused();

      await button('More').click();
      await item(/Split/).click();
      await dialog()
        .getByLabel(data[0]?.addresses[1] ?? '')
        .check();
      await dialog().getByRole('button', { name: 'Split off' }).click();
      await page.getByText('They are two devices from now on').waitFor();

      const id = address().pathname.split('/').at(-1);
      await button('More').click();
      await item('Delete the device').click();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
      const told = async () => world.installation.api('GET', `/api/devices/${id}`).catch(String);
      await vi.waitFor(async () => expect(await told()).toContain('404'), { timeout: 60_000 });
    },
  );

  task(
    'topology: find a device, see where its links lead, open it; the list says the same',
    async ({ page, open, row, world }) => {
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
    },
  );

  task(
    'everywhere: the palette finds devices, cases and pages; kiosk mode; the page of an old link',
    async ({ page, open, item, address }) => {
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
    },
  );

  task('availability: a month of every site, taken away as CSV', async ({ page, open, button }) => {
    await open('/availability');
    await page.getByText('as a percentage of the time observed').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button('CSV').click()]);
    expect(file.suggestedFilename()).toMatch(/^availability \d{4}-\d\d\.csv$/);
    const [names, ...days] = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(names).toMatch(/^from,to,siteId,site,/);
    expect(days.every((line) => /^\d{4}-\d\d-\d\dT/.test(line))).toBe(true);
    for (const name of ['Head office', 'Branch']) expect(days.some((line) => line.includes(name))).toBe(true);
  });

  task(
    'devices: filter, sort, choose columns, keep the view, take it away as CSV and as curl',
    async ({ page, open, row, button, item, another, world }) => {
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
      const elsewhere = await another(world.admin);
      await elsewhere.open('/devices');
      await elsewhere.page.getByRole('link', { name: 'My switches' }).waitFor();
      await elsewhere.context.close();
    },
  );
});
