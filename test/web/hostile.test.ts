import type { Device } from '@rollcall/lab/device';
import { catalyst9300, isr4331 } from '@rollcall/lab/devices/cisco';
import { debian12 } from '@rollcall/lab/devices/servers';
import { makeSite } from '@rollcall/lab/site';
import { startSite } from '@rollcall/lab/start';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness.ts';
import { browserSuite, openBrowser, settled, visit } from './browser.ts';

/**
 * Devices whose every text is a script. They are swept by a real collector and come in through ingest; every page that
 * shows them is opened, and nothing of them runs.
 */

const PORT = 16_221;
/** Breaks out of text, of attributes, of scripts, of templates; each tells on itself. */
const ATTACKS = [
  '<img src=x onerror=ran(1)>',
  '"><svg/onload=ran(2)>',
  "'-ran(3)-'",
  '</script><script>ran(4)</script>',
  '{{constructor.constructor("ran(5)")()}}',
  '<iframe srcdoc="<script>parent.ran(6)</script>">',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what an attacker writes
  '${ran(7)}',
];
/** Fields that the pages show. */
const SHOWN = ['name', 'descr', 'location', 'contact', 'if', 'alias', 'part', 'model', 'serial', 'maker'];
let next = 0;
/** The next attack, with the field's name so that no two fields say the same. */
const attack = (field: string): string => `${field} ${ATTACKS[next++ % ATTACKS.length]}`;

/** Every text that an agent tells. */
function poison(device: Device): void {
  device.sysName = attack('name');
  device.sysDescr = attack('descr');
  device.sysLocation = attack('location');
  device.sysContact = attack('contact');
  for (const port of device.ports) {
    port.name = attack('if');
    port.descr = attack('ifdescr');
    port.alias = attack('alias');
  }
  for (const entity of device.entities) {
    entity.name = attack('part');
    entity.description = attack('partdescr');
    entity.model = attack('model');
    entity.serial = attack('serial');
    entity.manufacturer = attack('maker');
    entity.hardware = attack('hw');
    entity.firmware = attack('fw');
    entity.software = attack('sw');
  }
  for (const vlan of device.vlans) vlan.name = attack('vlan');
  for (const disk of device.host?.storage ?? []) disk.descr = attack('disk');
}

const access = { version: 'v2c', community: 'public' } as const;
const site = makeSite({
  name: 'hostile',
  credentials: [{ name: 'public', ...access }],
  boxes: [
    { name: 'switch', product: catalyst9300, access, addresses: { Vl1: '127.66.0.1/24' } },
    { name: 'router', product: isr4331, access, addresses: { 'Gi0/0/0': '127.66.0.2/24' } },
    { name: 'server', product: debian12, access, addresses: { eno1: '127.66.0.3/24' } },
  ],
  links: [{ a: 'switch:Gi1/0/1', b: 'router:Gi0/0/1' }],
});

browserSuite('devices that attack the browser', () => {
  let installation: Installation;
  let browser: Browser;
  const ids: string[] = [];
  let scanId: string;
  beforeAll(async () => {
    installation = await Installation.start();
    for (const device of site.devices) poison(device);
    const lab = await startSite(site, { port: PORT });
    installation.onStop(() => lab.stop());
    const siteId = await installation.site(attack('site'), PORT, site.credentials);
    await installation.collector(siteId, 'collector');
    const sweep = async () => {
      const answer = await installation.api('POST', '/api/discovery/scan', {
        targets: '127.66.0.0/29',
        profile: 'deep',
        site: siteId,
      });
      await installation.scanEnd(answer.scanId);
      return answer.scanId;
    };
    await sweep();
    // Everything changes, so that before and after are shown.
    for (const device of site.devices) {
      poison(device);
      lab.box(device.name).refresh();
    }
    scanId = await sweep();
    ids.push(...(await installation.all<{ id: string }>('/api/devices')).map(({ id }) => id));
    await installation.api('POST', '/api/cases', {
      siteId,
      title: attack('title'),
      description: attack('text'),
      tags: [attack('tag').slice(0, 60)],
      eventIds: (await installation.all<{ id: string }>('/api/events')).slice(0, 20).map(({ id }) => id),
    });
    browser = await openBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await installation?.stop();
  });

  it('shows what they say on every page, and runs none of it', async () => {
    const { page, trouble, open, context } = await visit(browser, installation.server.url, {
      account: installation.server.firstAdmin as { name: string; password: string },
    });
    const ran: unknown[] = [];
    await context.exposeFunction('ran', (which: unknown) => {
      ran.push(which);
    });
    const told = await installation.all<{ id: string; sysName: string | null }>('/api/devices');
    expect(told.filter((device) => device.sysName?.startsWith('name ')).length).toBe(3);
    const events = await installation.all<{ id: string }>('/api/events');
    const cases = await installation.all<{ id: string }>('/api/cases');
    const tabs = [
      '',
      '?tab=interfaces',
      '?tab=hardware',
      '?tab=neighbours',
      '?tab=events',
      '?tab=history',
      '?tab=identity',
    ];
    const paths = [
      '/',
      '/?kiosk=1',
      '/devices',
      ...ids.flatMap((id) => tabs.map((tab) => `/devices/${id}${tab}`)),
      ...ids.map((id) => `/topology?device=${id}`),
      '/topology?view=list',
      '/events',
      ...events.slice(0, 12).map(({ id }) => `/events?event=${id}`),
      '/cases',
      '/cases?view=list',
      ...cases.map(({ id }) => `/cases/${id}`),
      '/discovery',
      `/discovery/scans/${scanId}`,
      `/discovery/scans/${scanId}?tab=addresses`,
      '/collectors',
      '/sites',
      '/audit',
    ];
    const seen = new Set<string>();
    for (const path of paths) {
      await open(path);
      const text = String(await page.locator('#main').textContent());
      for (const field of SHOWN)
        if (ATTACKS.some((words) => text.includes(`${field} ${words}`))) seen.add(field);
      // Not even as an element that the security policy kept from running.
      const made = await page.evaluate<number>(
        'document.querySelectorAll("#root img[src=x], #root svg[onload], #root iframe, #root script").length',
      );
      expect([path, made, ran, trouble]).toEqual([path, 0, [], []]);
    }
    expect([...seen].sort(), 'what a device says of itself was really shown').toEqual(SHOWN.toSorted());

    await open('/');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('onerror');
    await settled(page);
    expect([ran, trouble]).toEqual([[], []]);
    await context.close();
  }, 300_000);
});
