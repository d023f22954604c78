import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { type Figures, NONE, Story, sum } from '../../testing/outages/story.ts';

/**
 * Networks and outages from seeds, judged by what their graph says. `TEST_OUTAGES=1-500` plays so many and prints what it
 * found, `TEST_OUTAGES=17` tells the story of one.
 */
const asked = process.env.TEST_OUTAGES;
const [first = 1, last = first] = (asked ?? '').split('-').map(Number);
/** Without a word some that are short: a slow network, a router in a tree, a router and then a room in a ring. */
const seeds = asked ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : [27, 59, 66];
const print = (...lines: string[]) => asked && process.stdout.write(`${lines.join('\n')}\n`);

afterAll(closeDatabases);

describe.each(databases().slice(0, 1))('seeded outages on %s', (_name, open) => {
  const wrong: string[] = [];
  let total: Figures = NONE;

  beforeAll(async () => {
    const scene = new Scene();
    for (const seed of seeds) {
      await scene.begin(open);
      const judged = await new Story(seed, scene).play();
      total = sum(total, judged.figures);
      const lines = judged.wrong.map((line) => `seed ${seed}: ${line}`);
      wrong.push(...lines);
      if (first === last) print(...judged.story);
      print(...lines, `after ${seed}: ${JSON.stringify(total)}`);
      await scene.db.query('DELETE FROM conditions WHERE site_id = $1', [scene.site]);
    }
  }, 3_600_000);

  it('are told rightly', () => {
    expect(wrong).toEqual([]);
  });
});
