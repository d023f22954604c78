// The programs by esbuild, where they are told to stand, and beside main.js the parts that they load when needed. A
// package of CommonJS that is loaded on demand has its default export only: ours import it in a file, and load that.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../scripts/bootstrap.mjs';
import { loadedNames } from './loaded.mjs';

/**
 * Modules of ours find rules, migrations and so on from where they stand in the checkout: in the bundle they still do.
 * And they use zod by its parts, so that the bundle has only those: loading all of it takes longer than many a command.
 * @param loaded where the names are noted that they load by createRequire
 */
const asBundled = (loaded) => ({
  name: 'as bundled',
  setup: ({ onLoad }) =>
    onLoad({ filter: /packages\/[^/]+\/dist\/.*\.js$/ }, ({ path }) => {
      const place = JSON.stringify(relative(root, path).split(sep).join('/'));
      const source = readFileSync(path, 'utf8');
      for (const name of loadedNames(source, path)) loaded.push({ name, how: 'require' });
      const contents = source
        .replaceAll('import.meta.url', `new URL(${place}, ROLLCALL_HOME).href`)
        .replace("import { z } from 'zod';", "import * as z from 'zod';");
      return { contents, loader: 'js' };
    }),
});

/** CommonJS wants `require`; names that no module uses. A thread's program stands as deep as in the checkout. */
const BANNER = `import { createRequire as rollcallRequire } from 'node:module';
const require = rollcallRequire(import.meta.url);
const ROLLCALL_HOME = new URL('./', import.meta.url.replace(/packages\\/[^/]+\\/dist\\/[^/]+$/, ''));`;

/**
 * @param entries file below `home`, without its ending → what it is made of
 * @param beside packages that stay outside, in node_modules beside the bundle
 * @returns folders of the packages of others that are in it, and the names that it loads from outside
 */
export async function bundle({ entries, beside, home }) {
  const loaded = [];
  const { warnings, metafile } = await build({
    entryPoints: entries,
    absWorkingDir: root,
    outdir: home,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: beside.flatMap((name) => [name, `${name}/*`]),
    banner: { js: BANNER },
    plugins: [asBundled(loaded)],
    // Licences stand in THIRD-PARTY-NOTICES.txt: notices.mjs.
    legalComments: 'none',
    metafile: true,
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    logLevel: 'error',
  });
  if (warnings.length > 0) throw new Error(`esbuild warns: ${JSON.stringify(warnings)}`);
  const outputs = Object.values(metafile.outputs);
  for (const { path, kind, external } of outputs.flatMap(({ imports }) => imports))
    if (external) loaded.push({ name: path, how: kind.startsWith('require') ? 'require' : 'import' });
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs));
  const files = inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [join(root, file)] : []));
  return { folders: foldersOf(files), loaded };
}

/** Folders of the packages that files are of; files of ours are of none. */
export const foldersOf = (files) => [
  ...new Set(files.flatMap((file) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [])),
];
