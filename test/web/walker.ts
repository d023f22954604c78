/**
 * Somebody who sees the application for the first time: they click what they read, fill what has a label, and know when a
 * word is there. Chromium and Firefox ESR are driven by the same words, over DevTools and WebDriver BiDi.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ElementHandle, type KeyInput, launch, type Page } from 'puppeteer-core';
import { CHROMIUM } from './browser.ts';

/** Browsers that are walked with, and where they are. */
export const WALKED = {
  chromium: CHROMIUM,
  firefox: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
};
export type BrowserName = keyof typeof WALKED;
export const isThere = (name: BrowserName): boolean => existsSync(WALKED[name]);

/** A task that takes longer, even on a busy machine, has a dead end. */
export const TASK_MS = 180_000;
const LOOK_MS = 50;
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

const ROLES = {
  link: 'a[href]',
  button: 'button, [role="button"]',
  field: 'input, textarea',
  option: '[role="option"]',
  item: '[role="menuitem"]',
  /** What is written beside a switch, or on one of several choices. */
  label: 'label',
  row: '[role="row"], tr, article',
} as const;
type Role = keyof typeof ROLES;

/** Runs in the page: the first seen element of a role that is called so; a name that ends with `…` is the beginning of one. */
const FIND = `(selector, name, within) => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 0;
  const plain = (text) => (text ?? '').replace(/\\s+/g, ' ').trim();
  const labels = (one) => [...(one.labels ?? [])].map((label) => label.innerText.replace(/ ?\\*$/, ''));
  const fits = (text) => (name.endsWith('…') ? plain(text).startsWith(name.slice(0, -1)) : plain(text) === name);
  // What is written on it is its name; else what is written beside it, or what its picture says.
  const named = (one) => (plain(one.innerText) ? [one.innerText] : [one.getAttribute('aria-label'), ...labels(one), one.placeholder]);
  const called = (one) => named(one).some(fits);
  // What is on top hides what is beneath.
  const dialogs = [...document.querySelectorAll('[role="dialog"]')].filter(seen);
  const top = dialogs.at(-1);
  const parts = within ? [...(top ?? document).querySelectorAll(within.selector)].filter((one) => seen(one) && one.innerText.includes(within.words)) : [top ?? document];
  const inParts = parts.flatMap((part) => [...part.querySelectorAll(selector)]);
  // Choices and menus hang on the page itself.
  const floating = within ? [] : [...document.querySelectorAll('[data-portal] :is(' + selector + ')')];
  const all = [...inParts, ...floating].filter((one) => seen(one) && !one.disabled);
  return all.find(called) ?? null;
}`;
/** The same for a row, which is known by words in it. */
const ROW = `(selector, words) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility() && one.innerText.includes(words)) ?? null`;

/** Runs in the page: its words that can be seen; those for screen readers alone are a pixel wide. */
const SEEN = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.offsetWidth !== 1;
  let words = '';
  for (let text = texts.nextNode(); text; text = texts.nextNode()) if (seen(text.parentElement)) words += text.data;
  return words;
})()`;

export class Walker {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  static async start(name: BrowserName) {
    const browser = await launch({
      browser: name === 'firefox' ? 'firefox' : 'chrome',
      executablePath: WALKED[name],
      headless: true,
      args: name === 'firefox' ? [] : ['--no-sandbox', '--disable-gpu', '--no-first-run'],
      defaultViewport: { width: 1440, height: 900 },
    });
    const page = await browser.newPage();
    return { walker: new Walker(page), close: () => browser.close() };
  }

  /** Firefox gives up where the page before is just going somewhere: it is opened again. */
  open(url: string): Promise<unknown> {
    return this.#until(url, () => this.#page.goto(url).then(() => true));
  }

  click(role: Role, name: string, within?: string): Promise<void> {
    return this.#use(role, name, within, (element) => element.click());
  }

  /** Replaces what a field holds. */
  fill(name: string, text: string): Promise<void> {
    return this.#use('field', name, undefined, async (element) => {
      await element.click();
      await this.#page.keyboard.down('Control');
      await this.#page.keyboard.press('a');
      await this.#page.keyboard.up('Control');
      await this.#page.keyboard.type(text);
    });
  }

  /** Chooses in the list behind a field. */
  async choose(field: string, option: string): Promise<void> {
    await this.click('field', field);
    await this.click('option', option);
  }

  async openRow(words: string): Promise<void> {
    await this.#until(`a row with “${words}”`, async () => {
      const row = await this.#handle(ROW, ROLES.row, words);
      // Drawn anew between the look and the click: it is looked for again.
      return row ? row.click().then(() => true) : null;
    });
  }

  /** What stands in a field, for a person to copy. */
  async read(name: string): Promise<string> {
    let text = '';
    await this.#use('field', name, undefined, async (element) => {
      text = String(await element.evaluate((one) => (one as unknown as { value: string }).value));
    });
    return text;
  }

  async press(...keys: KeyInput[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  /** Waits until these words are on the page. */
  async sees(words: string): Promise<void> {
    await this.#until(`“${words}”`, async () =>
      String(await this.#page.evaluate(SEEN)).includes(words) ? true : null,
    );
  }

  async picture(name: string): Promise<void> {
    mkdirSync(RESULTS, { recursive: true });
    await this.#page.screenshot({ path: `${RESULTS}${name}.png` });
  }

  /** What is found is used; what was drawn anew meanwhile is looked for again. */
  async #use(
    role: Role,
    name: string,
    within: string | undefined,
    act: (element: ElementHandle) => Promise<void>,
  ): Promise<void> {
    const where = within === undefined ? null : { selector: ROLES.row, words: within };
    await this.#until(`the ${role} “${name}”`, async () => {
      const element = await this.#handle(FIND, ROLES[role], name, where);
      if (!element) return null;
      return act(element).then(
        () => true,
        () => null,
      );
    });
  }

  async #handle(source: string, ...args: unknown[]): Promise<ElementHandle | null> {
    const found = await this.#page.evaluateHandle(
      `(${source})(${args.map((one) => JSON.stringify(one)).join()})`,
    );
    return found.asElement() as ElementHandle | null;
  }

  async #until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
    const deadline = performance.now() + TASK_MS;
    while (performance.now() < deadline) {
      // While one page gives way to the next there is none.
      const found = await look().catch(() => null);
      if (found !== null) return found;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const page = String(await this.#page.evaluate(SEEN).catch(() => 'no page'));
    throw new Error(
      `a dead end: nobody finds ${what} at ${this.#page.url()}; the page says: ${page.slice(-1000)}`,
    );
  }
}
