/** A browser as a visitor of the web application, and what it must never see. */

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { skipped } from '@rollcall/shared/testing/skipped';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { describe, expect } from 'vitest';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
/** Without windows of its own, which nobody looks at here: drawing them took a quarter of the time. */
export const CHROMIUM: string = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
/** Long enough for a busy machine. */
const WAIT_MS = 90_000;
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
  const missing = `${name}: no browser at ${CHROMIUM} (apt-get install chromium-headless-shell, or set CHROMIUM)`;
  if (process.env.CI) throw new Error(missing);
  skipped(missing);
  return describe.skip(name, suite);
}) as typeof describe;

export const openBrowser = (flags: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags] });

/** So many windows at once: each in a browser of its own, with a clipboard and a focus of its own. */
const BROWSERS = 3;

/** Browsers that take turns. */
export class Browsers {
  readonly #all: Promise<Browser[]>;
  readonly #free: Browser[] = [];
  readonly #waiting: ((browser: Browser) => void)[] = [];

  constructor() {
    this.#all = Promise.all(Array.from({ length: BROWSERS }, () => openBrowser()));
    void this.#all.then((browsers) => browsers.map((browser) => this.#give(browser)));
  }

  #give(browser: Browser): void {
    const next = this.#waiting.shift();
    if (next) next(browser);
    else this.#free.push(browser);
  }

  /** Runs `act` with a browser that nobody else uses meanwhile. */
  async use<T>(act: (browser: Browser) => Promise<T>): Promise<T> {
    const browser = this.#free.pop() ?? (await new Promise<Browser>((take) => this.#waiting.push(take)));
    try {
      return await act(browser);
    } finally {
      this.#give(browser);
    }
  }

  async close(): Promise<void> {
    for (const browser of await this.#all) await browser.close();
  }
}

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

export interface Account {
  name: string;
  password: string;
}

/** Sessions of people who signed in before, by server and name: the same browser comes back. */
const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

export const DESK = { width: 1440, height: 900 };

/** Windows of one person, one in each browser, which go from page to page: what they loaded and compiled, they have. */
export class Windows {
  readonly #browsers: Browsers;
  readonly #open: (browser: Browser) => Promise<Visitor>;
  readonly #kept = new Map<Browser, Visitor>();

  constructor(browsers: Browsers, url: string, account: Account) {
    this.#browsers = browsers;
    this.#open = (browser) => visit(browser, url, { account });
  }

  /** Runs `act` with a window that nobody else uses meanwhile; only one without any trouble is used again. */
  async use(act: (visitor: Visitor) => Promise<void>): Promise<void> {
    await this.#browsers.use(async (browser) => {
      const visitor = this.#kept.get(browser) ?? (await this.#open(browser));
      this.#kept.delete(browser);
      await visitor.page.setViewportSize(DESK);
      await visitor.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await act(visitor);
      expect(visitor.trouble).toEqual([]);
      this.#kept.set(browser, visitor);
    });
  }
}

/** Opens a browser window at `url`, signed in as `account` where one is given: `fresh` with name and password. */
export async function visit(
  browser: Browser,
  url: string,
  {
    account,
    fresh = false,
    scheme = 'light',
    width = DESK.width,
    height = DESK.height,
  }: { account?: Account; fresh?: boolean; scheme?: Scheme; width?: number; height?: number } = {},
): Promise<Visitor> {
  const known = account && !fresh ? sessions.get(`${url} ${account.name}`) : undefined;
  const context = await browser.newContext({
    ...(known && { storageState: known }),
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
  if (account && !known) {
    await page.goto(`${url}/`);
    await signIn(page, account);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    if (!fresh) sessions.set(`${url} ${account.name}`, await context.storageState());
  }
  return { page, context, trouble, open };
}

export async function signIn(page: Page, { name, password }: Account): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Pictures of pages, kept for people to look at: test/web/results, not committed. In CI nobody looks. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.CI) return;
  mkdirSync(RESULTS, { recursive: true });
  await page.screenshot({ path: join(RESULTS, `${name}.png`) });
}

/** Breaches of the accessibility rules (WCAG 2.2 A and AA, and good practice), each with where it is; `only` those of some rules. */
export async function breaches(page: Page, only?: string[]): Promise<string[]> {
  // Within the page alone: without frames of other origins there is nothing to put together in a second one.
  // What is in order need not be described: that took half of the time.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await (only ? axe.withRules(only) : axe).analyze();
  return violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')} — ${node.failureSummary}`),
  );
}

/** The page has its title, nothing is on its way any more, and what moves has come to rest. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, form').first().waitFor();
  while ((await page.locator('[aria-busy="true"]').count()) > 0) await page.waitForTimeout(20);
  await page.waitForTimeout(100);
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
