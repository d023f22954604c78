/** What the build of a package finds of the names that its program loads when it runs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error A build script without types.
import { followAll, loadedNames } from '../deploy/package/loaded.mjs';

describe('names that a module loads', () => {
  it('are found behind any name of what createRequire made', () => {
    const source = `const load = createRequire(import.meta.url);
      list ??= load('oui-data');
      const folder = createRequire(import.meta.url).resolve("swagger-ui-dist/package.json");
      reload('other'); await import('./own.js');`;
    expect(loadedNames(source, 'x.js')).toEqual(['oui-data', 'swagger-ui-dist/package.json']);
  });

  it.each(['const load = createRequire(import.meta.url); load(name);', 'await import(name);'])(
    'are refused where computed: %s',
    (source) => expect(() => loadedNames(source, 'x.js')).toThrow('x.js loads by a computed name: name'),
  );
});

describe('a name is followed in the artefact', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-loaded-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const put = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put('home/node_modules/whole/index.js', "require('./part.js');");
  put('home/node_modules/whole/part.js', '');
  put('home/node_modules/torn/index.js', "require('./left-out.js');");
  put('node_modules/above/index.js', '');
  const follow = (name: string) => followAll([{ name, how: 'require' }], join(folder, 'home'));

  it('through the files that it leads to', async () => {
    await follow('whole');
    await follow('node:fs');
    await expect(follow('torn')).rejects.toThrow('left-out.js');
    await expect(follow('absent')).rejects.toThrow('absent');
  });

  it('and not beyond: what stands above is on this machine only', async () => {
    await expect(follow('above')).rejects.toThrow('not in the artefact: ../node_modules/above');
  });
});
