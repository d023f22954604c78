import { expect } from 'vitest';
import { choose, picture } from './browser.ts';
import { tasks } from './hand.ts';
import { startWorld } from './world.ts';

/** What goes wrong, and the work on it: events, cases, maintenance. */

const start = () => startWorld(16_212);

tasks('tasks with events and cases', start, (task, alone) => {
  task('events: acknowledge, make a case of it, close', async ({ page, open, row, button, item, dialog }) => {
    await open('/events?Source=discovery&Device=access-5');
    await row(': hardware replaced').first().click();
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await row(': hardware replaced').first().click();
    await button('Acknowledge until').click();
    await item(/^Until it recurs or worsens/).click();
    await page.getByText(/^by admin .*, until it recurs or worsens$/).waitFor();
    await button('Create case').click();
    await dialog().getByLabel('Title').fill('A new switch nobody ordered');
    await dialog().getByRole('button', { name: 'Create case' }).click();
    await page
      .getByRole('heading', { level: 1 })
      .filter({ hasText: 'A new switch nobody ordered' })
      .waitFor();
    await page.goBack();
    await button('Close').filter({ hasText: 'Close' }).last().click();
    await page.getByText('by hand').waitFor();
  });

  task('events: acknowledge what is selected', async ({ page, open, row }) => {
    await open('/events?Source=discovery&Device=access-3&Status=0,1');
    await row(': hardware replaced').getByRole('checkbox').check();
    await page.getByText('1 event selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Acknowledge 1' }).click();
    await page.getByText('1 event acknowledged').waitFor();
    await row(': hardware replaced').getByText('acknowledged').waitFor();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
  });

  task('cases: a case from open to closed', async ({ page, open, row, button, dialog }) => {
    await open('/cases');
    await button('New case').click();
    await dialog().getByLabel('Title').fill('Uplink of floor 3 flaps');
    await dialog().getByRole('button', { name: 'Create case' }).click();
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

  task('cases: on a phone, acknowledged and resolved by one thumb', async ({ page, open, button, world }) => {
    const { data: one } = await world.installation.api<{ id: string }>('POST', '/api/cases', {
      siteId: world.site,
      title: 'The lift control room is warm',
    });
    const phone = { width: 390, height: 844 };
    await page.setViewportSize(phone);
    await open(`/cases/${one.id}`);
    /** In the lower half of the screen, as large as a thumb, and in front of everything. */
    const press = async (name: string) => {
      const { x, y, width, height } = (await button(name).boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      };
      expect(Math.min(width, height), name).toBeGreaterThanOrEqual(44);
      expect(y, name).toBeGreaterThan(phone.height / 2);
      await page.mouse.click(x + width / 2, y + height / 2);
    };
    await press('Acknowledge');
    await page.getByText('assigned it to admin').waitFor();
    await picture(page, 'case-phone-acknowledged');
    await world.installation.api('PATCH', `/api/cases/${one.id}`, { assignee: 'grace' });
    await button('Take over').waitFor();
    await press('Take over');
    await button('Take over').waitFor({ state: 'detached' });
    await press('Resolve');
    await button('Resolve').waitFor({ state: 'detached' });
    const { data } = await world.installation.api<object>('GET', `/api/cases/${one.id}`);
    expect(data).toMatchObject({ status: 2, assignee: 'admin' });
  });

  task('cases: what came since is acknowledged; a likely change leads to its endpoint', async (hand) => {
    const { page, open, button, world, address } = hand;
    const { data: events } = await world.installation.api<{ id: string }[]>('GET', '/api/events?pageSize=1');
    const { data: one } = await world.installation.api<{ id: string }>('POST', '/api/cases', {
      siteId: world.site,
      title: 'The guest network is slow',
    });
    await world.installation.api('PATCH', `/api/cases/${one.id}`, { status: 1, assignee: 'me' });
    const { data: endpoints } = await world.installation.api<{ mac: string }[]>(
      'GET',
      '/api/endpoints?pageSize=1',
    );
    const endpoint = endpoints[0]?.mac;
    const message = `${endpoint} came to Gi1/0/1`;
    const change = {
      id: one.id,
      at: 1_763_700_060,
      kind: 'endpoint.added',
      siteId: world.site,
      endpoint,
      message,
    };
    await page.route(`**/api/cases/${one.id}/changes`, (route) =>
      route.fulfill({ json: { success: true, data: [{ ...change, reasons: ['on the port'] }] } }),
    );
    await open(`/cases/${one.id}`);
    await button('Resolve').waitFor();
    expect(await button('Acknowledge').count()).toBe(0);
    // As if an event had come to it: to take a real one would take it from another task.
    await page.route(`**/api/cases/${one.id}`, async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const answer = await route.fetch();
      const { data } = await answer.json();
      await route.fulfill({
        json: { success: true, data: { ...data, events: [{ ...events[0], status: 0 }] } },
      });
    });
    await page.reload();
    const next = button('Acknowledge').first();
    await next.waitFor();
    await picture(page, 'case-acknowledge-again-light');
    const asked = page.waitForRequest((request) => request.method() === 'PATCH');
    await next.click();
    expect((await asked).postDataJSON()).toEqual({ status: 1 });
    await page.getByRole('link', { name: message }).click();
    await page.waitForURL(/\/endpoints\?/);
    expect(address().searchParams.get('endpoint')).toBe(endpoint);
    await page.unrouteAll({ behavior: 'wait' });
  });

  // Alone: a case that another task opens meanwhile moves the cards, and the hand takes the wrong one.
  alone('cases: a card is dragged to the next lane, and opened', async ({ page, open }) => {
    await open('/cases');
    const card = page.getByRole('article').filter({ hasText: 'Te1/1/1' });
    await card.dragTo(page.getByRole('region', { name: 'Cases investigating' }));
    const moved = page.getByRole('region', { name: 'Cases investigating' }).getByRole('article');
    // Wherever it is clicked, it opens.
    await moved.filter({ hasText: 'Te1/1/1' }).click({ position: { x: 8, y: 8 } });
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Te1/1/1' }).waitFor();
  });

  task(
    'maintenance: once for a device, again and again for what matches; both switched and taken away',
    async ({ page, open, row, button, item, dialog, world }) => {
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
      await row('New optics').getByText(/^ends/).waitFor();
      await row('New optics').getByText('1 device').waitFor();

      await button('Plan maintenance').click();
      await dialog().getByRole('textbox', { name: 'Name' }).fill('Patch night');
      await choose(dialog(), 'Site', 'Head office');
      await dialog().getByText('Repeating').click();
      // Three days from now: a window that runs at this moment says so, and not when it begins.
      const day = (new Date().getUTCDay() + 3) % 7;
      const weekday = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][day];
      await choose(dialog(), 'Begins', 'Advanced: cron');
      await dialog().getByLabel('Cron line').fill(`0 2 * * ${day}`);
      await dialog().getByLabel('Duration, minutes').fill('90');
      await dialog().getByText('By filter').click();
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
      await dialog().getByLabel('Duration, minutes').fill('120');
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
    },
  );

  task(
    'everywhere: Esc closes what is on top, and nothing beneath it',
    async ({ page, open, button, item, dialog }) => {
      const side = page.getByRole('complementary');
      const sideIsThere = async () => {
        await page.waitForTimeout(150);
        expect(await side.isVisible()).toBe(true);
      };
      await open('/events?Source=discovery&Device=access-7');
      await page.getByRole('row').filter({ hasText: ': hardware replaced' }).first().click();
      await side.waitFor();
      // A dialog, and a list of choices in it.
      await button('Create case').click();
      await dialog().getByLabel('Priority').and(page.locator('input')).click();
      await page.getByRole('option', { name: 'highest' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('option', { name: 'highest' }).waitFor({ state: 'hidden' });
      expect(await dialog().isVisible()).toBe(true);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'hidden' });
      await sideIsThere();
      // A menu, a filter, the time, the palette, the search.
      await button('Acknowledge until').click();
      await item(/^Until it clears/).waitFor();
      await page.keyboard.press('Escape');
      await item(/^Until it clears/).waitFor({ state: 'hidden' });
      await sideIsThere();
      await page.getByRole('search').getByRole('button', { name: 'Status' }).click();
      await page.getByRole('option', { name: 'acknowledged' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('option', { name: 'acknowledged' }).waitFor({ state: 'hidden' });
      await sideIsThere();
      await page.getByRole('search').getByRole('button', { name: 'Time' }).click();
      await page.getByText('Last hour').waitFor();
      await page.keyboard.press('Escape');
      await page.getByText('Last hour').waitFor({ state: 'hidden' });
      await sideIsThere();
      await page.keyboard.press('Control+k');
      await page.getByLabel('Search everything').waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Search everything').waitFor({ state: 'hidden' });
      await sideIsThere();
      await page
        .getByRole('searchbox')
        .or(page.getByLabel('Device', { exact: true }))
        .first()
        .focus();
      await page.keyboard.press('Escape');
      await page.waitForURL((url) => !url.searchParams.has('Device'));
      await sideIsThere();
      await page.keyboard.press('Escape');
      await sideIsThere();
      await page.keyboard.press('Escape');
      await side.waitFor({ state: 'detached' });
      await open('/events?kiosk=1');
      await page.keyboard.press('Escape');
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      // On a phone the menu.
      await page.setViewportSize({ width: 390, height: 844 });
      await button('Menu').click();
      await page.locator('[aria-expanded="true"]').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('[aria-label="Menu"][aria-expanded="false"]').waitFor();
    },
  );
});
