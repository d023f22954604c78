import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultProxy } from '../chaos/proxy.ts';
import { anyDatabase, Installation } from '../system/harness.ts';
import { browserSuite, openBrowser, type Visitor, visit } from './browser.ts';

/** What is shown follows what is committed, without being asked for, over a connection that breaks. */

/** Opens the search, and tells where its field is, frame by frame, for half a second from when it is there. */
const OPENED = `(async () => {
  [...document.querySelectorAll('button')].find((one) => one.textContent.trim().startsWith('Search')).click();
  const places = [];
  for (let until = Infinity; performance.now() < until; ) {
    await new Promise(requestAnimationFrame);
    const field = document.querySelector('[role="dialog"] input');
    if (field && until === Infinity) until = performance.now() + 500;
    if (field) places.push(JSON.stringify(field.getBoundingClientRect()));
  }
  return places;
})()`;

browserSuite('the live stream', () => {
  let installation: Installation;
  let proxy: FaultProxy;
  let browser: Browser;
  let visitor: Visitor;
  let id: string;
  const patch = (title: string) => installation.api('PATCH', `/api/cases/${id}`, { title });
  const says = (text: string) =>
    visitor.page.getByRole('heading', { level: 1 }).filter({ hasText: text }).waitFor();
  const mark = (text: string) => visitor.page.getByRole('status').filter({ hasText: text }).waitFor();

  beforeAll(async () => {
    installation = await Installation.start({ databaseUrl: await anyDatabase() });
    const { data } = await installation.api<{ id: string }>('POST', '/api/sites', { name: 'site' });
    const made = await installation.api<{ id: string }>('POST', '/api/cases', {
      siteId: data.id,
      title: 'first',
    });
    id = made.data.id;
    const { hostname, port } = new URL(installation.server.url);
    proxy = await FaultProxy.open({ host: hostname, port: Number(port) });
    installation.onStop(() => proxy.close());
    browser = await openBrowser();
    visitor = await visit(browser, `http://127.0.0.1:${proxy.port}`, {
      account: installation.server.firstAdmin as { name: string; password: string },
    });
    await visitor.open(`/cases/${id}`);
    await mark('live');
  });
  afterAll(async () => {
    await browser?.close();
    await installation?.stop();
  });

  it('shows a change of somebody else at once, and asks for nothing meanwhile', async () => {
    const asked: string[] = [];
    const note = (request: { url: () => string }) => asked.push(new URL(request.url()).pathname);
    visitor.page.on('request', note);
    await visitor.page.waitForTimeout(3_000);
    expect(asked).toEqual([]);
    await patch('second');
    await says('second');
    expect(asked).toContain(`/api/cases/${id}`);
    visitor.page.off('request', note);
  });

  it('a stream that broke is resumed: what happened meanwhile is shown, without loading the page again', async () => {
    await visitor.page.evaluate('window.stillHere = true');
    proxy.strike('reset');
    await mark('stale since');
    await patch('third');
    await mark('live');
    await says('third');
    expect(await visitor.page.evaluate('window.stillHere')).toBe(true);
  });

  it('says since when it is cut off, and catches up when the server is there again', async () => {
    await proxy.change({ newcomers: 'refuse' });
    proxy.strike('fin');
    await mark('stale since');
    await patch('fourth');
    await proxy.calm();
    await mark('live');
    await says('fourth');
    // What the browser itself says of a server that was not there.
    expect(visitor.trouble.filter((line) => !line.includes('net::ERR_'))).toEqual([]);
  });

  it('the search stands where it stays from its first frame: a click at its field hits nothing else', async () => {
    const { page } = visitor;
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await visitor.open('/devices');
    await page.getByRole('button', { name: 'Search' }).first().waitFor();
    expect(new Set(await page.evaluate<string[]>(OPENED))).toHaveProperty('size', 1);
    await page.keyboard.press('Escape');
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });

  it('a search goes on where the server was away, and Enter opens what it finds then', async () => {
    const { page } = visitor;
    await visitor.open('/devices');
    await mark('live');
    await page.keyboard.press('Control+k');
    await proxy.change({ newcomers: 'refuse' });
    proxy.strike('fin');
    await page.getByLabel('Search everything').fill('fourth');
    await page.keyboard.press('Enter');
    await page.getByText('Searching…').waitFor();
    // Longer than the first two attempts.
    await page.waitForTimeout(2_000);
    await proxy.calm();
    await says('fourth');
    expect(visitor.trouble.filter((line) => !line.includes('net::ERR_'))).toEqual([]);
  });
});
