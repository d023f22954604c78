// The program as one file, by esbuild. Not split: a part of CommonJS that is loaded on demand would lose its names.
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../scripts/bootstrap.mjs';

/** Modules of ours find rules, migrations and so on from where they stand in the checkout: in the bundle they still do. */
const whereItStands = {
  name: 'where it stands',
  setup: ({ onLoad }) =>
    onLoad({ filter: /packages\/[^/]+\/dist\/.*\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(relative(root, path).split(sep).join('/'));
      return {
        contents: source.replaceAll('import.meta.url', `new URL(${place}, ROLLCALL_HOME).href`),
        loader: 'js',
      };
    }),
};

/** CommonJS inside the bundle wants `require`; names that no module uses. */
const BANNER = `import { createRequire as rollcallRequire } from 'node:module';
const require = rollcallRequire(import.meta.url);
const ROLLCALL_HOME = new URL('./', import.meta.url);`;

/** @param beside packages that stay outside, in node_modules beside the bundle */
export async function bundle({ entry, beside, home }) {
  const { warnings } = await build({
    entryPoints: { main: entry },
    absWorkingDir: root,
    outdir: home,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: beside.flatMap((name) => [name, `${name}/*`]),
    banner: { js: BANNER },
    plugins: [whereItStands],
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    logLevel: 'error',
  });
  if (warnings.length > 0) throw new Error(`esbuild warns: ${JSON.stringify(warnings)}`);
}
