import { addDevices, insert } from '@rollcall/server/testing/rows';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anyDatabase, Installation } from '../system/harness.ts';
import { breaches, browserSuite, openBrowser, picture, type Visitor, visit } from './browser.ts';

/** A device and the changes as of an earlier moment, which stands in the address. */

browserSuite('as of a moment', () => {
  let installation: Installation;
  let browser: Browser;
  let visitor: Visitor;
  let device: string;
  const now = Math.floor(Date.now() / 1000);
  const before = now - 7200;
  const words = (text: string | RegExp) => visitor.page.getByText(text).first().waitFor();

  beforeAll(async () => {
    installation = await Installation.start({ databaseUrl: await anyDatabase() });
    const { data: site } = await installation.api<{ id: string }>('POST', '/api/sites', { name: 'site' });
    const { db } = installation.server;
    const time = (seconds: number) => new Date(seconds * 1000).toISOString();
    const [id = ''] = await addDevices(db, [
      { site_id: site.id, name: 'core-1', location: 'Hall 2', first_seen: time(now - 86_400) },
    ]);
    device = id;
    await insert(db, 'events', [
      {
        ...{ id: '01900000-0000-7000-8000-000000000001', site_id: site.id, device_id: id, status: 2 },
        ...{ kind: 'device.changed', source: 'discovery', severity: 5, dedup_key: 'x' },
        ...{ message: 'core-1 is elsewhere', first_seen: time(now - 3600), timestamp: time(now - 3600) },
        details: { before: { location: 'Hall 1' }, after: { location: 'Hall 2' } },
      },
    ]);
    browser = await openBrowser();
    const account = installation.server.firstAdmin as { name: string; password: string };
    visitor = await visit(browser, installation.server.url, { account });
  });
  afterAll(async () => {
    await browser?.close();
    await installation?.stop();
  });

  it('a device is shown as it was then, and as it is again', async () => {
    await visitor.open(`/devices/${device}?at=${before}`);
    await words(/^As of /);
    await words('Hall 1');
    await picture(visitor.page, 'device-then-summary');
    expect(await breaches(visitor.page)).toEqual([]);
    await visitor.page.getByRole('link', { name: /^Interfaces/ }).click();
    await words('No interfaces were known');
    expect(visitor.page.url()).toContain(`at=${before}`);
    await visitor.page.getByRole('button', { name: 'Back to now' }).click();
    await visitor.page.getByRole('link', { name: 'Summary' }).click();
    await words('Hall 2');
    expect(visitor.page.url()).not.toContain('at=');
  });

  it('a moment that cannot be shown says why and leads back', async () => {
    await visitor.open(`/devices/${device}?at=${now - 200_000}`);
    await words(/first seen/);
    await visitor.page.getByRole('button', { name: 'Back to now' }).click();
    await words('Hall 2');
  });

  it('changes after the moment are left out', async () => {
    await visitor.open('/changes');
    await words('core-1 is elsewhere');
    await visitor.open(`/changes?at=${before}`);
    await words('Nothing changed');
    await picture(visitor.page, 'changes-then-empty');
    await visitor.page.getByRole('button', { name: 'Back to now' }).click();
    await words('core-1 is elsewhere');
  });
});
