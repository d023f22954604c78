import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** What is counted on pages. */
const NOUNS =
  'addresses|devices|events|cases|collectors|scans|jobs|interfaces|links|neighbours|endpoints|ports|sockets|sensors|sites|users|changes|rows|entries|packets|characters|codes|tokens|observations|minutes|hours|days|months';
/** A number and its noun as one text, or a form chosen by hand. */
const BY_HAND = [
  new RegExp(`\\}(?:\\{' '\\}\\s*| )(?:(?!of )[a-z]+ )?(?:${NOUNS})\\b(?![=:./])`, 'g'),
  /=== 1 \? ['"`]?(?:one|\w+ (?:is|are))\b/g,
];

it('whatever is counted is counted by `plural`', () => {
  const source = fileURLToPath(new URL('../packages/web/src/', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.tsx?$/.test(file),
  );
  const found = files.flatMap((file) => {
    const text = readFileSync(`${source}${file}`, 'utf8');
    return BY_HAND.flatMap((form) => [...text.matchAll(form)]).map(
      ({ 0: words, index }) => `${file}: ${text.slice(index - 40, index)}${words}`,
    );
  });
  expect(found).toEqual([]);
});
