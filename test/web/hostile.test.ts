import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Device } from '@rollcall/lab/device';
import { catalyst9300, isr4331 } from '@rollcall/lab/devices/cisco';
import { debian12 } from '@rollcall/lab/devices/servers';
import { makeSite } from '@rollcall/lab/site';
import { startSite } from '@rollcall/lab/start';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anyDatabase, Installation } from '../system/harness.ts';
import { browserSuite, openBrowser, settled, visit } from './browser.ts';

/**
 * Devices whose every text is a script. They are swept by a real collector and come in through ingest; people type such
 * texts, too. Every page that shows them is opened, and nothing of them runs.
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
/** Those that people filled, as pages show them. */
const TYPED = [
  'site',
  'title',
  'tag',
  'window',
  'scope',
  'hook',
  'person',
  'secret',
  'user',
  'schedule',
  'token',
];
let next = 0;
/** The next attack that fits, with the field's name so that no two fields say the same. */
function attack(field: string, most = 100): string {
  const words = `${field} ${ATTACKS[next++ % ATTACKS.length]}`;
  return words.length <= most ? words : attack(field, most);
}

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
  // hrStorageDescr, which the sample of an unknown device reads.
  device.objects['1.3.6.1.2.1.25.2.3.1.3.1'] = attack('disk');
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
  /** Ids of what people made. */
  const forms: Record<string, string> = {};
  beforeAll(async () => {
    installation = await Installation.start({ databaseUrl: await anyDatabase() });
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
    await byPeople(siteId);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await installation?.stop();
  });

  /** What people with a role type in, and what others' servers answer. */
  async function byPeople(siteId: string): Promise<void> {
    const api = installation.api.bind(installation);
    const made = async (path: string, body?: object) =>
      (await api<{ id: string }>('POST', path, body)).data.id;
    const now = Math.floor(Date.now() / 1000);
    forms.window = await made('/api/maintenance', {
      siteId,
      name: attack('window'),
      note: attack('note'),
      scope: { search: attack('scope') },
      timezone: 'UTC',
      times: { kind: 'once', from: now - 600, until: now + 36_000 },
    });
    const target = createServer((request, response) => {
      request.resume();
      response.writeHead(418, attack('status').replace(/[^ -~]/g, '')).end(attack('answer'));
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    installation.onStop(() => target.close());
    forms.subscription = await made('/api/subscriptions', {
      kind: 'webhook',
      name: attack('hook'),
      url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/?${encodeURI(attack('url'))}`,
      allowPrivate: true,
      allSites: true,
    });
    forms.delivery = await made(`/api/subscriptions/${forms.subscription}/test`);
    forms.user = await made('/api/users', {
      name: 'eve',
      displayName: attack('person'),
      password: 'correct horse battery staple',
      role: 'viewer',
      allSites: true,
    });
    forms.profile = await made('/api/discovery/profiles', { name: 'gentle', settings: {} });
    forms.credential = await made('/api/credentials', {
      name: attack('secret'),
      version: 'v3',
      user: attack('user', 32),
      contextName: attack('context'),
      authProtocol: 'none',
      privProtocol: 'none',
      allSites: true,
    });
    forms.schedule = await made('/api/discovery/schedules', {
      name: attack('schedule'),
      targets: '127.66.0.0/29',
      profile: 'standard',
      site: siteId,
      cron: '30 2 * * *',
      timezone: 'UTC',
    });
    forms.site = siteId;
    await api('POST', '/api/tokens', { name: attack('token') });
  }

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
      '?tab=tables',
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
      '/changes',
      '/changes?view=compare',
      ...events.slice(0, 12).map(({ id }) => `/events?event=${id}`),
      '/cases',
      '/cases?view=list',
      ...cases.map(({ id }) => `/cases/${id}`),
      '/discovery',
      `/discovery/scans/${scanId}`,
      `/discovery/scans/${scanId}?tab=addresses`,
      '/discovery?tab=schedules',
      `/discovery?tab=schedules&edit=${forms.schedule}`,
      '/discovery?tab=profiles',
      `/discovery?tab=profiles&edit=${forms.profile}`,
      '/discovery?tab=credentials',
      `/discovery?tab=credentials&edit=${forms.credential}`,
      '/discovery?new=1&targets=127.66.0.0/30',
      '/collectors',
      '/sites',
      `/sites?edit=${forms.site}`,
      '/maintenance',
      `/maintenance?edit=${forms.window}`,
      `/maintenance?edit=new&device=${ids[0]}`,
      '/notifications',
      `/notifications?edit=${forms.subscription}`,
      '/notifications?tab=deliveries',
      `/notifications?tab=deliveries&delivery=${forms.delivery}`,
      '/notifications?tab=mail',
      '/users',
      `/users?edit=${forms.user}`,
      '/audit',
      '/profile',
      '/profile?tab=sessions',
    ];
    const seen = new Set<string>();
    for (const path of paths) {
      await open(path);
      const text = String(await page.locator('body').textContent());
      for (const field of [...SHOWN, ...TYPED])
        if (ATTACKS.some((words) => text.includes(`${field} ${words}`))) seen.add(field);
      // Not even as an element that the security policy kept from running.
      const made = await page.evaluate<number>(
        'document.querySelectorAll("img[src=x], svg[onload], iframe, script:not([src])").length',
      );
      expect([path, made, ran, trouble]).toEqual([path, 0, [], []]);
    }
    expect([...seen].sort(), 'what they say was really shown').toEqual([...SHOWN, ...TYPED].toSorted());

    await open('/');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('onerror');
    await settled(page);
    expect([ran, trouble]).toEqual([[], []]);
    await context.close();
  });
});
