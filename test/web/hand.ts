/** Tasks done by hand as a person would: clicked, typed, read. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, Browsers, browserSuite, type Visitor, visit, Windows } from './browser.ts';
import type { Office } from './world.ts';

/** Somebody with a window that nobody else uses meanwhile, signed in as administrator, and short words for what they look at. */
const handOf = <Place extends Office>(visitor: Visitor, world: Place) => {
  const { page, trouble } = visitor;
  return {
    ...visitor,
    world,
    row: (name: string | RegExp) => page.getByRole('row').filter({ hasText: name }),
    button: (name: string | RegExp) => page.getByRole('button', { name, exact: true }),
    item: (name: string | RegExp) => page.getByRole('menuitem', { name }),
    dialog: () => page.getByRole('dialog'),
    /** Browsers write each request that the server refused into the console; here it was meant to be. */
    refused: () => {
      const kept = trouble.filter((line) => !/the server responded with a status of 4\d\d/.test(line));
      expect(kept.length).toBeLessThan(trouble.length);
      trouble.splice(0, trouble.length, ...kept);
    },
    address: () => new URL(page.url()),
    /** Another window of the same browser. */
    another: (account: Account, fresh = false) => {
      const browser = visitor.context.browser();
      if (!browser) throw new Error('the browser is gone');
      return visit(browser, world.url, { account, fresh });
    },
  };
};

type Act<Place extends Office> = (hand: ReturnType<typeof handOf<Place>>) => Promise<void>;
type Task<Place extends Office> = (name: string, act: Act<Place>) => void;

/**
 * A suite of tasks in one place, which `start` makes: each beside others with `task`; with `alone` where it would notice
 * what they do, or they what it does.
 */
export function tasks<Place extends Office>(
  name: string,
  start: () => Promise<Place>,
  tell: (task: Task<Place>, alone: Task<Place>) => void,
): void {
  browserSuite(name, () => {
    let world: Place;
    let browsers: Browsers;
    let windows: Windows;
    beforeAll(async () => {
      browsers = new Browsers();
      world = await start();
      windows = new Windows(browsers, world.url, world.admin);
    });
    afterAll(async () => {
      await browsers?.close();
      await world?.stop();
    });
    const by =
      (test: typeof it.concurrent): Task<Place> =>
      (name, act) =>
        test(name, () => windows.use((visitor) => act(handOf(visitor, world))));
    tell(by(it.concurrent), by(it));
  });
}
