/** What opens on pages: menus, dialogs, steps of them, refusals. Each is looked at and has to be accessible. */
import type { Page, Route } from 'playwright-core';
import { choose } from './browser.ts';
import type { World } from './world.ts';

type Opening = (page: Page) => Promise<void>;
type Ids = Readonly<Record<string, string>>;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const sees = (page: Page, words: string | RegExp) =>
  page.getByText(words).filter({ visible: true }).first().waitFor();

const opens =
  (name: string | RegExp, role: 'menu' | 'dialog'): Opening =>
  async (page) => {
    await button(page, name).first().click();
    await page.getByRole(role).first().waitFor();
  };
/** Sends the form of the dialog, which the server refuses: `fields` by label. */
const refused =
  (fields: Record<string, string>): Opening =>
  async (page) => {
    const textbox = (name: string) => dialog(page).getByRole('textbox', { name }).first();
    for (const [name, text] of Object.entries(fields)) await textbox(name).fill(text);
    await textbox('Name').press('Enter');
    await page.locator('[aria-invalid="true"]').first().waitFor();
  };
/** What one request is answered with, while `open` runs. */
async function answered(
  page: Page,
  pattern: string,
  answer: (route: Route) => Promise<void>,
  open: () => Promise<void>,
): Promise<void> {
  await page.route(pattern, answer);
  await open();
  await page.unroute(pattern);
}

const NO_LINK = 'x'.repeat(90);
const CSV = `site,address,name,monitor,tags,rack
Head office,127.20.99.1,printer-9,1,floor-2;printers,A1
Head office,127.20.99.2,,0,,
Head office,not an address,x,,,
,127.20.99.3,nowhere,,,
Head office,127.20.0.3,edge-one,,,`;
const SECRET = {
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  uri: 'otpauth://totp/Rollcall:admin?secret=JBSWY3DPEHPK3PXP',
};
const CODES = Array.from({ length: 10 }, (_, n) => `abcd${n}-fghjk-mnpqr-stuvw`);

/** By name: the page, and what opens on it, one after the other. Esc closes each before the next. */
export const STATES: Record<
  string,
  (world: World, ids: Ids) => readonly [path: string, ...openings: Opening[]]
> = {
  'menus and dialogs of a device': (_, ids) => [
    `/devices/${ids.core}`,
    opens('More', 'menu'),
    async (page) => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  'choices and menus of a case': (_, ids) => [
    `/cases/${ids.case}`,
    opens('More', 'menu'),
    async (page) => {
      await page.getByLabel('Assignee').and(page.locator('input')).click();
      await page.getByRole('option').first().waitFor();
    },
  ],
  'errors of the form of a site': () => [
    '/sites?edit=new',
    refused({ Name: 'Shed', Networks: '10.0.0.0/99' }),
  ],
  'errors of the form of a subscription': () => [
    '/notifications?edit=new',
    refused({ Name: 'Hook', URL: 'http://10.0.0.7/' }),
  ],
  'a device that is not there': () => [
    '/devices/019aa3c4-5b00-7000-8000-000000000001',
    (page) => page.getByRole('alert').waitFor(),
  ],
  'a link that acknowledges nothing': () => [
    `/acknowledge#${NO_LINK}`,
    (page) => page.getByRole('alert').waitFor(),
  ],
  'a link that acknowledges a case': () => [
    `/acknowledge#${NO_LINK}`,
    async (page) => {
      const data = {
        number: 7,
        title: 'core-1 is down',
        site: 'Head office',
        status: 0,
        severity: 2,
        acknowledgeable: true,
      };
      await page.route('**/api/case-links', (route) =>
        route.fulfill({ json: { success: true, data: { ...data, subscription: 'On call' } } }),
      );
      await page.reload();
      await page.getByRole('button', { name: 'Acknowledge the case' }).waitFor();
      await page.unroute('**/api/case-links');
    },
  ],
  'hours of a subscription': (_, ids) => [
    `/notifications?edit=${ids.subscription}`,
    (page) => page.getByLabel('Time zone').and(page.locator('input')).scrollIntoViewIfNeeded(),
  ],
  'a subscription of a log server': () => [
    '/notifications?edit=new',
    async (page) => {
      await dialog(page).getByText('Syslog', { exact: true }).click();
      await dialog(page).getByRole('textbox', { name: 'Address' }).fill('tls://log.example.net:6514');
      await sees(page, 'PEM of the authority');
    },
  ],
  'an import that is only tried': () => [
    '/devices?new=file',
    async (page) => {
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) });
      await button(page, 'Check').click();
      await button(page, /^Import \d/).waitFor();
    },
  ],
  'the command of a new collector': () => [
    '/collectors?new=1',
    async (page) => {
      await button(page, 'Create a join token').click();
      await sees(page, 'Waiting for a collector');
    },
  ],
  'a list whose filters, views and columns are chosen': () => [
    '/devices?class=switch',
    async (page) => {
      await page.getByRole('search').getByRole('button', { name: 'Class' }).click();
      await page.getByRole('option').first().waitFor();
    },
    opens('Save view', 'dialog'),
    opens('Columns', 'menu'),
  ],
  'search over everything': () => [
    '/devices',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByLabel('Search everything').fill('core-1');
      await sees(page, '127.20.0.1');
    },
  ],
  'a custom field of choices': () => [
    '/fields?edit=new',
    async (page) => {
      await choose(dialog(page), 'Type', 'choice');
      await dialog(page).getByLabel('Choices').and(page.locator('input')).waitFor();
    },
  ],
  'custom fields of several devices': () => [
    '/devices?class=switch',
    async (page) => {
      for (const name of ['access-1', 'access-2'])
        await page.getByLabel(`Select ${name}`, { exact: true }).check();
      await opens('Tags and fields', 'dialog')(page);
      await dialog(page).getByLabel('Rack').waitFor();
    },
  ],
  'thresholds by a custom field': ({ site }) => [
    `/sites?edit=${site}`,
    async (page) => {
      const fields = dialog(page).getByLabel('Custom fields').and(page.locator('input'));
      await fields.fill('Rack:A-17');
      await fields.press('Enter');
      await dialog(page).getByLabel('Rack:A-17: Round trip, ms').scrollIntoViewIfNeeded();
    },
  ],
  'what a subscription would send, and sends as a test': (_, ids) => [
    `/notifications?edit=${ids.subscription}`,
    async (page) => {
      await button(page, 'Preview').click();
      await page.getByRole('region', { name: 'What would be sent' }).waitFor();
    },
    async (page) => {
      await page.getByRole('row').filter({ hasText: 'Ticket system' }).getByRole('button').last().click();
      await page.getByRole('menuitem', { name: 'Send a test' }).click();
      await sees(page, 'A test is being sent');
    },
  ],
  'a token for some networks': () => [
    '/profile',
    async (page) => {
      await opens('Create a token', 'dialog')(page);
      await dialog(page)
        .getByRole('textbox', { name: 'Allowed networks' })
        .fill('192.0.2.0/24\n2001:db8::/32');
    },
  ],
  'a second factor that is reset': () => [
    '/users',
    async (page) => {
      const answer = async (route: Route) => {
        const response = await route.fetch();
        const users = await response.json();
        for (const user of users.data) user.secondFactor = true;
        await route.fulfill({ response, json: users });
      };
      await answered(page, '**/api/users?*', answer, async () => {
        await page.reload();
        await sees(page, 'second factor');
      });
      await page.getByRole('row').filter({ hasText: 'Grace Hopper' }).getByRole('button').last().click();
      await page.getByRole('menuitem', { name: 'Reset the second factor' }).click();
      await dialog(page).waitFor();
    },
  ],
  'recovery codes': () => [
    '/profile?tab=second-factor',
    async (page) => {
      const { origin } = new URL(page.url());
      const me = await (await page.request.get(`${origin}/api/session`)).json();
      const path = '**/api/session/second-factor';
      const begun = (route: Route) => route.fulfill({ json: { success: true, data: SECRET } });
      await answered(page, path, begun, async () => {
        await page.getByLabel('Current password').fill('x');
        await button(page, 'Set it up').click();
        await page.getByRole('textbox', { name: 'Code' }).fill('123456');
      });
      const confirmed = (route: Route) => route.fulfill({ json: { ...me, recoveryCodes: CODES } });
      await answered(page, `${path}/confirmation`, confirmed, async () => {
        await button(page, 'Confirm').click();
        await button(page, 'I have them').waitFor();
      });
    },
  ],
  'tags of interfaces': (_, ids) => [
    `/devices/${ids.core}?tab=interfaces`,
    async (page) => {
      await sees(page, 'Twe1/0/3');
      await page.getByRole('row').filter({ hasText: 'Twe1/0/3' }).getByRole('button').last().click();
      await page.getByRole('menuitem', { name: 'Tags and fields' }).click();
      await dialog(page).waitFor();
    },
    async (page) => {
      for (const name of ['Twe1/0/1', 'Twe1/0/3'])
        await page.getByLabel(`Select ${name}`, { exact: true }).check();
      await opens('Tags and fields', 'dialog')(page);
    },
  ],
  'thresholds of an interface': (_, ids) => [
    `/devices/${ids.monitored}?tab=performance`,
    async (page) => {
      await page.getByRole('table', { name: 'Busiest interfaces' }).getByRole('row').nth(1).click();
      await sees(page, 'No traffic on an interface');
    },
    async (page) => {
      await button(page, 'Change').first().click();
      await dialog(page).waitFor();
    },
  ],
  'why a chart has a gap': (_, ids) => [
    `/devices/${ids.monitored}?tab=performance`,
    async (page) => {
      const chart = page.getByRole('img', { name: /^Round trip/ });
      await chart.waitFor();
      await chart.hover({ position: { x: 120, y: 60 } });
      await sees(page, 'the device was not monitored');
    },
    async (page) => {
      await page.getByText('Round trip as a table').click();
      const values = page.getByRole('region', { name: 'Round trip, values' });
      await values.getByText('the device was not monitored').first().waitFor();
    },
  ],
};
