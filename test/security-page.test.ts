/** docs/security.md answers for every requirement once; test/documents.test.ts holds what it names to be there. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const page = readFileSync(at('docs/security.md'), 'utf8');
const table = page.slice(page.indexOf('## ASVS'));

/** Requirements of levels 1 and 2 without V10 and V17, by section (OWASP ASVS 5.0.0). */
const SECTIONS =
  '1.1:1,2 1.2:1,2,3,4,5,6,7,8,9 1.3:1,2,3,4,5,6,7,8,9,10,11 1.4:1,2,3 1.5:1,2 2.1:1,2,3 2.2:1,2,3' +
  ' 2.3:1,2,3,4 2.4:1 3.2:1,2 3.3:1,2,3,4 3.4:1,2,3,4,5,6 3.5:1,2,3,4,5 3.7:1,2 4.1:1,2,3 4.2:1 4.3:1,2' +
  ' 4.4:1,2,3,4 5.1:1 5.2:1,2,3 5.3:1,2 5.4:1,2,3 6.1:1,2,3 6.2:1,2,3,4,5,6,7,8,9,10,11,12 6.3:1,2,3,4' +
  ' 6.4:1,2,3,4 6.5:1,2,3,4,5 6.6:1,2,3 6.8:1,2,3,4 7.1:1,2,3 7.2:1,2,3,4 7.3:1,2 7.4:1,2,3,4,5 7.5:1,2' +
  ' 7.6:1,2 8.1:1,2 8.2:1,2,3 8.3:1 8.4:1 9.1:1,2,3 9.2:1,2,3,4 11.1:1,2 11.2:1,2,3 11.3:1,2,3' +
  ' 11.4:1,2,3,4 11.5:1 11.6:1 12.1:1,2,3 12.2:1,2 12.3:1,2,3,4 13.1:1 13.2:1,2,3,4,5 13.3:1,2' +
  ' 13.4:1,2,3,4,5 14.1:1,2 14.2:1,2,3,4 14.3:1,2,3 15.1:1,2,3 15.2:1,2,3 15.3:1,2,3,4,5,6,7 16.1:1' +
  ' 16.2:1,2,3,4,5 16.3:1,2,3,4 16.4:1,2,3 16.5:1,2,3';

it('answers for all 217 requirements, each once', () => {
  const all = SECTIONS.split(' ').flatMap((section) => {
    const [head = '', list = ''] = section.split(':');
    return list.split(',').map((number) => `${head}.${number}`);
  });
  expect(all).toHaveLength(217);
  const answered = table
    .split('\n')
    .flatMap((line) => /^\| (\d[\d., ]*) \| [✓✗–] \| .{4,}/.exec(line)?.[1]?.split(', ') ?? []);
  expect([...answered].sort()).toEqual([...all].sort());
});

it('every attack case of enrolment and identity has a test that bears its number, in a file named there', () => {
  const rows = page.slice(page.indexOf('## The attack cases'), page.indexOf('## Keys'));
  const tests = [...rows.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = '']) =>
    readFileSync(at(path), 'utf8'),
  );
  for (let n = 51; n <= 65; n++) {
    const bears = new RegExp(`['"\`](?:cases? [\\d, and]*\\b${n}\\b|[^'"\`]*\\bD${n}\\b)`);
    expect([n, tests.some((text) => bears.test(text))]).toEqual([n, true]);
  }
});
