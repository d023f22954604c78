import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  Browsers,
  breaches,
  browserSuite,
  DESK,
  picture,
  settled,
  type Visitor,
  visit,
  Windows,
} from './browser.ts';
import { STATES } from './states.ts';
import { startWorld, type World } from './world.ts';

/**
 * Every page with something on it, light and dark and as wide as a phone: accessible, without a word in the console, a
 * request elsewhere or anything wider than the screen; a picture of each is kept. What pages are for is in `tasks`.
 */

const PHONE = { width: 390, height: 844 };
/** What another theme can break; all else is the same in both. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** In the page: what is seen there in letters smaller than 28 px. */
const SMALL_TEXTS = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const [of, range] = [text.parentElement, document.createRange()];
    range.selectNode(text);
    const { width, bottom } = range.getBoundingClientRect();
    const isSeen = text.data.trim() && of.checkVisibility() && of.clientWidth !== 1 && width > 0 && bottom > 0;
    if (isSeen && parseFloat(getComputedStyle(of).fontSize) < 28) small.push(text.data);
  }
  return small;
})()`;

/** Where the page is, and words that are on it once it shows what it is for. */
type View = readonly [path: string, words: string];

browserSuite('every page', () => {
  let world: World;
  let browsers: Browsers;
  let windows: Windows;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    browsers = new Browsers();
    world = await startWorld(16_231);
    windows = new Windows(browsers, world.url, world.admin);
    await furnish();
  });
  afterAll(async () => {
    await browsers?.close();
    await world?.stop();
  });

  /** What the pages beside the network have to show. */
  async function furnish(): Promise<void> {
    const { installation, site } = world;
    const api = installation.api.bind(installation);
    const now = Math.floor(Date.now() / 1000);
    ids.moment = String(now);
    const made = async (path: string, body?: object) =>
      (await api<{ id: string }>('POST', path, body)).data.id;
    ids.window = await made('/api/maintenance', {
      siteId: site,
      name: 'Core upgrade',
      scope: { class: ['switch'], search: 'core' },
      timezone: 'Europe/Berlin',
      times: { kind: 'once', from: now - 600, until: now + 36_000 },
    });
    await made('/api/maintenance', {
      siteId: site,
      name: 'Sunday updates',
      timezone: 'Europe/Berlin',
      times: { kind: 'repeat', cron: '0 2 * * 0', minutes: 180 },
    });
    await made('/api/fields', { appliesTo: 'device', name: 'Rack', type: 'text' });
    // Nobody listens there: it fails, and is tried again.
    ids.subscription = await made('/api/subscriptions', {
      ...{ classes: ['router'], fields: ['Rack:A-17'], eventKinds: ['device.down'] },
      hours: { timezone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '20:00', to: '06:00' },
      kind: 'webhook',
      name: 'Ticket system',
      url: 'http://127.0.0.1:9/hook',
      allowPrivate: true,
      allSites: true,
    });
    ids.delivery = await made(`/api/subscriptions/${ids.subscription}/test`);
    ids.core = await world.device('core-1');
    await made('/api/fields', {
      appliesTo: 'device',
      name: 'Support',
      type: 'choice',
      choices: ['gold', 'silver'],
    });
    await api('PATCH', `/api/devices/${ids.core}`, {
      tags: ['core', 'hall-2'],
      note: 'Behind the ladder',
      fields: { Rack: 'A-17', Support: 'gold' },
    });
    ids.swapped = await world.device('access-3');
    ids.monitored = await world.device('access-2');
    ids.scan = (await api<{ id: string }[]>('GET', '/api/discovery/scans')).data[0]?.id ?? '';
    ids.case = (await api<{ id: string }[]>('GET', '/api/cases?q=floor')).data[0]?.id ?? '';
    ids.event = (await api<{ id: string }[]>('GET', '/api/events?Severity=3')).data[0]?.id ?? '';
    const named = await api<{ mac: string; nameFrom: string }[]>('GET', '/api/endpoints?search=desktop-');
    ids.named = named.data.find(({ nameFrom }) => nameFrom === 'dhcp')?.mac ?? '';
    ids.collector = (await api<{ id: string }[]>('GET', '/api/collectors')).data[0]?.id ?? '';
  }

  const views: Record<string, () => View> = {
    overview: () => ['/', 'Recent changes'],
    kiosk: () => ['/?kiosk=1', 'live'],
    devices: () => ['/devices', 'access-12'],
    'device-add': () => ['/devices?new=one', 'Monitor it'],
    'devices-import': () => ['/devices?new=file', 'Site of rows that name none'],
    device: () => [`/devices/${ids.core}`, 'Behind the ladder'],
    'device-then': () => [`/devices/${ids.core}?at=${ids.moment}`, 'Not recorded for that time'],
    'device-interfaces-then': () => [`/devices/${ids.core}?tab=interfaces&at=${ids.moment}`, 'Back to now'],
    'device-performance': () => [`/devices/${ids.monitored}?tab=performance`, 'Busiest interfaces'],
    'device-health': () => [`/devices/${ids.monitored}?tab=health`, 'state: disabled'],
    'device-interfaces': () => [`/devices/${ids.core}?tab=interfaces`, 'Twe1/0/3'],
    'device-hardware': () => [`/devices/${ids.core}?tab=hardware`, 'Power Supply Module 2'],
    'device-neighbours': () => [`/devices/${ids.core}?tab=neighbours`, 'dist-1'],
    'device-tables': () => [`/devices/${ids.core}?tab=tables`, 'ARP and ND'],
    'device-events': () => [`/devices/${ids.swapped}?tab=events`, 'hardware replaced'],
    'device-history': () => [`/devices/${ids.swapped}?tab=history`, 'FOC2741X0EX'],
    'device-identity': () => [`/devices/${ids.core}?tab=identity`, 'engine-id'],
    'devices-none': () => ['/devices?search=nothing-of-this-name', 'No device matches these filters'],
    'audit-none': () => ['/audit?actor=nobody', 'No entry matches'],
    endpoints: () => ['/endpoints', 'MAC address'],
    endpoint: () => [`/endpoints?endpoint=${ids.named}`, 'Name (DHCP)'],
    topology: () => ['/topology', 'network device'],
    'topology-device': () => [`/topology?device=${ids.core}`, 'Open the device'],
    'topology-list': () => ['/topology?view=list', 'access-1'],
    events: () => ['/events', 'access-3'],
    event: () => [`/events?event=${ids.event}`, 'Acknowledge'],
    changes: () => ['/changes', 'drag over bars'],
    'changes-then': () => [`/changes?at=${ids.moment}`, 'Back to now'],
    'changes-compare': () => ['/changes?view=compare', 'First moment'],
    cases: () => ['/cases', 'Switch on floor 2 was replaced'],
    'cases-list': () => ['/cases?view=list', 'Switch on floor 2 was replaced'],
    case: () => [`/cases/${ids.case}`, 'Called the site lead'],
    'case-new': () => ['/cases?new=1', 'Create case'],
    availability: () => ['/availability', 'as a percentage of the time observed'],
    'availability-site': () => [`/availability?site=${world.site}`, 'access-2'],
    wall: () => ['/wall?panels=state,events,cases,busiest,traffic,map,availability', 'Open cases'],
    'wall-arrange': () => ['/wall?edit=1', 'Show the wall'],
    discovery: () => ['/discovery', 'completed'],
    'discovery-plan': () => [
      `/discovery?new=1&targets=127.20.10.0/26&profile=deep&site=${world.site}`,
      'packets per second',
    ],
    schedules: () => ['/discovery?tab=schedules', 'every night'],
    profiles: () => ['/discovery?tab=profiles', 'gentle'],
    'profile-new': () => ['/discovery?tab=profiles&edit=new', 'Cancel'],
    'credential-new': () => ['/discovery?tab=credentials&edit=new', 'Cancel'],
    credentials: () => ['/discovery?tab=credentials', 'never read'],
    scan: () => [`/discovery/scans/${ids.scan}`, '127.20.10.0/24'],
    'scan-addresses': () => [`/discovery/scans/${ids.scan}?tab=addresses`, 'read by SNMP'],
    'scan-jobs': () => [`/discovery/scans/${ids.scan}?tab=jobs`, 'done'],
    collectors: () => ['/collectors', 'head-office-1'],
    collector: () => [`/collectors?collector=${ids.collector}`, 'Ping methods'],
    'collector-add': () => ['/collectors?new=1', 'Create a join token'],
    'join-tokens': () => ['/collectors?tab=tokens', 'Join tokens'],
    losses: () => ['/collectors?tab=losses', 'Data loss'],
    'free-ports': () => ['/free-ports', 'Not used since'],
    sites: () => ['/sites', 'Head office'],
    'site-new': () => ['/sites?edit=new', 'More settings'],
    'site-edit': () => [`/sites?edit=${world.site}`, 'Case reopens within, s'],
    maintenance: () => ['/maintenance', 'Sunday at 02:00, 3 h'],
    'maintenance-plan': () => [`/maintenance?edit=new&device=${ids.core}`, '1 device today'],
    'maintenance-edit': () => [`/maintenance?edit=${ids.window}`, '2 devices today'],
    notifications: () => ['/notifications', 'Ticket system'],
    'subscription-new': () => ['/notifications?edit=new', 'private address'],
    'subscription-edit': () => [`/notifications?edit=${ids.subscription}`, 'For these hours'],
    deliveries: () => ['/notifications?tab=deliveries', 'Ticket system'],
    delivery: () => [`/notifications?tab=deliveries&delivery=${ids.delivery}`, 'This is a test'],
    mail: () => ['/notifications?tab=mail', 'no mail is sent'],
    fields: () => ['/fields', 'gold, silver'],
    'field-new': () => ['/fields?edit=new', 'New custom field'],
    users: () => ['/users', 'Grace Hopper'],
    'user-new': () => ['/users?edit=new', 'To sign in with'],
    audit: () => ['/audit', 'maintenance.create'],
    tokens: () => ['/profile', 'API tokens'],
    sessions: () => ['/profile?tab=sessions', 'this one'],
    password: () => ['/profile?tab=password', 'Change the password'],
    'second-factor': () => ['/profile?tab=second-factor', 'Set it up'],
    appearance: () => ['/profile?tab=appearance', 'Time zone'],
    start: () => ['/start', 'Test the credentials'],
    lab: () => ['/lab', 'There is nothing to break here'],
    missing: () => ['/no/such/page', 'There is nothing at this address'],
  };

  it.concurrent.each(Object.keys(views))('%s', (name) =>
    windows.use(async (visitor) => {
      const [path, words] = views[name]?.() ?? ['', ''];
      await visitor.open(path);
      await visitor.page.getByText(words).filter({ visible: true }).first().waitFor();
      await looks(visitor, name);
    }),
  );

  it.concurrent.each(Object.keys(STATES))('%s', (name) =>
    windows.use(async ({ page, open, trouble }) => {
      const [path, ...openings] = STATES[name]?.(world, ids) ?? [''];
      const found: string[] = [];
      await open(path);
      for (const [n, show] of openings.entries()) {
        await show(page);
        await page.waitForTimeout(200);
        // What opens lies over the page, outside of its landmarks.
        const inside = (await breaches(page)).filter((breach) => !breach.startsWith('region:'));
        found.push(...inside.map((breach) => `${n}: ${breach}`));
        const file = `state-${name.replaceAll(' ', '-')}-${n}`;
        await picture(page, `${file}-light`);
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
        await page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
        found.push(...(await breaches(page, COLOUR_RULES)).map((breach) => `${n}, dark: ${breach}`));
        await picture(page, `${file}-dark`);
        await page.setViewportSize(PHONE);
        await picture(page, `${file}-phone`);
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (wide > PHONE.width) found.push(`${n}: ${wide} px wide on a phone`);
        await page.setViewportSize(DESK);
        await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
        await page.keyboard.press('Escape');
      }
      expect(found).toEqual([]);
      // What the server refused here was meant to be.
      trouble.splice(0, trouble.length, ...trouble.filter((line) => !/status of 4\d\d/.test(line)));
    }),
  );

  it.concurrent('drawings turn with the system, too', () =>
    windows.use(async ({ page, open }) => {
      await open(`/discovery/scans/${ids.scan}`);
      const drawn = () =>
        page
          .locator('canvas')
          .nth(2)
          .evaluate((canvas) => canvas.toDataURL());
      const light = await drawn();
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
      await vi.waitFor(async () => expect(await drawn()).not.toBe(light), { timeout: 60_000, interval: 200 });
    }));

  it.concurrent('the wall is read from three metres: no letters under 28 px', () =>
    windows.use(async ({ page, open }) => {
      await page.setViewportSize({ width: 1920, height: 1080 });
      await open('/wall?panels=state,events,cases,busiest,traffic,map,availability');
      await page
        .getByRole('region', { name: /Traffic/ })
        .getByRole('img')
        .first()
        .waitFor();
      await picture(page, 'wall-full-hd');
      expect(await page.evaluate<string[]>(SMALL_TEXTS)).toEqual([]);
      // The clock is beneath the panels, also when they are scrolled.
      const wall = await page.getByRole('region', { name: 'Wall' }).boundingBox();
      const clock = await page.getByRole('contentinfo').boundingBox();
      expect((wall?.y ?? 0) + (wall?.height ?? 0)).toBeLessThanOrEqual(clock?.y ?? 0);
    }));

  it.concurrent('sign-in', () =>
    browsers.use(async (browser) => {
      const stranger = await visit(browser, world.url);
      await stranger.open('/');
      await stranger.page.getByRole('button', { name: 'Sign in' }).waitFor();
      await looks(stranger, 'sign-in');
      expect(stranger.trouble).toEqual([]);
      await stranger.context.close();
    }));

  /** The page as it stands, in both themes and both widths. */
  async function looks({ page }: Visitor, name: string): Promise<void> {
    const found = { light: await breaches(page), dark: [] as string[], wide: 0 };
    await picture(page, `${name}-light`);
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.locator(':root[data-mantine-color-scheme="dark"]').waitFor();
    found.dark = await breaches(page, COLOUR_RULES);
    await picture(page, `${name}-dark`);
    await page.setViewportSize(PHONE);
    await settled(page);
    await picture(page, `${name}-phone`);
    found.wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(found).toEqual({ light: [], dark: [], wide: PHONE.width });
  }
});
