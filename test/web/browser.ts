/** A browser as a visitor of the web application, and what it must never see. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { describe } from 'vitest';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Long enough for a busy machine. */
const WAIT_MS = 20_000;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Suites that need a browser: skipped, and said so, where there is none. In CI there has to be one. */
export const browserSuite: typeof describe | typeof describe.skip = ((name: string, suite: () => void) => {
  if (existsSync(CHROMIUM)) return describe(name, suite);
  const missing = `${name}: no browser at ${CHROMIUM} (apt-get install chromium, or set CHROMIUM)`;
  if (process.env.CI) throw new Error(missing);
  process.stderr.write(`SKIPPED ${missing}\n`);
  return describe.skip(name, suite);
}) as typeof describe;

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

export type Scheme = 'light' | 'dark';

/** One visitor: a browser context that notes everything that must not happen. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Console errors and warnings, exceptions, breaches of the content security policy, requests off the origin. */
  trouble: string[];
  /** Opens a view of the application and waits until it has come to rest. */
  open: (path: string) => Promise<void>;
}

interface Account {
  name: string;
  password: string;
}

/** Opens a browser window at `url`, signed in as `account` where one is given. */
export async function visit(
  browser: Browser,
  url: string,
  {
    account,
    scheme = 'light',
    width = 1440,
    height = 900,
  }: { account?: Account; scheme?: Scheme; width?: number; height?: number } = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const trouble: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const at = new URL(request.url());
    if (!['data:', 'blob:'].includes(at.protocol) && at.origin !== url)
      trouble.push(`request to ${request.url()}`);
  });
  const open = async (path: string) => {
    await page.goto(url + path);
    await settled(page);
  };
  if (account) {
    await page.goto(`${url}/`);
    await signIn(page, account);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  }
  return { page, context, trouble, open };
}

export async function signIn(page: Page, { name, password }: Account): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Pictures of pages, kept for people to look at: test/web/results, not committed. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(RESULTS, { recursive: true });
  await page.screenshot({ path: join(RESULTS, `${name}.png`) });
}

/** Breaches of the accessibility rules (WCAG 2.2 A and AA, and good practice), each with where it is; `only` those of some rules. */
export async function breaches(page: Page, only?: string[]): Promise<string[]> {
  // Within the page alone: without frames of other origins there is nothing to put together in a second one.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (only ? axe.withRules(only) : axe).analyze();
  return violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')} — ${node.failureSummary}`),
  );
}

/** The page has its title, nothing is on its way any more, and what moves has come to rest. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, form').first().waitFor();
  while ((await page.locator('[aria-busy="true"]').count()) > 0) await page.waitForTimeout(50);
  await page.waitForTimeout(250);
}

/** Chooses a filter's value: the button that names the filter, then the choice. */
export async function pick(page: Page, filter: string, choice: string): Promise<void> {
  await page.getByRole('search').getByRole('button', { name: filter }).click();
  await page.getByRole('option', { name: choice, exact: true }).click();
  await page.keyboard.press('Escape');
}

/** Fills a field, by its label, that has a list of choices behind it. */
export async function choose(within: Page | Locator, label: string, choice: string): Promise<void> {
  await within.getByLabel(label, { exact: true }).and(within.locator('input')).click();
  const page = 'page' in within ? within.page() : within;
  await page.getByRole('option', { name: choice, exact: true }).click();
}
