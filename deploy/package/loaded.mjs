// Names that the program loads when it runs. The bundler follows none of those that go through createRequire, and leaves alone
// what stands beside the bundle: a name that is missing there would fail at a customer's, the first time it is needed.
import { isBuiltin } from 'node:module';
import { build } from 'esbuild';

/** Asked for in vain by modules that go on without: `ws` (Node checks UTF-8 itself), `debug` and `pg`. */
const DISPENSABLE = ['utf-8-validate', 'supports-color', 'pg-native'];

/** What loads: `const load = createRequire(…)`. */
const LOADERS = /\b(\w+)\s*=\s*createRequire\(/g;

/**
 * @param source a module of ours
 * @returns the names that it loads by what createRequire made
 * @throws where one is computed: nobody could check it
 */
export function loadedNames(source, path) {
  const loaders = [...source.matchAll(LOADERS)].map(([, name]) => name);
  const callees = [...loaders.map((name) => `(?<![\\w$.])${name}`), 'createRequire\\([^()]*\\)'].join('|');
  const calls = source.matchAll(new RegExp(`(?:${callees})(?:\\.resolve)?\\(([^)]*)\\)`, 'g'));
  const names = [...calls].map(([, name]) => name.trim());
  const computed = [
    ...names.filter((name) => !/^(['"])[^'"]+\1$/.test(name)),
    ...[...source.matchAll(/(?<![\w$.])import\(\s*([^'")\s][^)]*)\)/g)].map(([, name]) => name),
  ];
  if (computed.length > 0) throw new Error(`${path} loads by a computed name: ${computed.join(', ')}`);
  return names.map((name) => name.slice(1, -1));
}

/**
 * Follows every name from where the program stands, through what it finds, with the rules of Node.
 * @param imports what the program takes from outside the bundle: names, with `require` or `import`
 * @throws where one leads to nothing in the artefact
 */
export async function followAll(imports, home) {
  const lines = imports
    .filter(({ name }) => !isBuiltin(name) && !DISPENSABLE.includes(name))
    .map(({ name, how }) =>
      how === 'require' ? `require(${JSON.stringify(name)});` : `import(${JSON.stringify(name)});`,
    );
  const { metafile } = await build({
    stdin: { contents: lines.join('\n'), resolveDir: home, sourcefile: 'what the program loads' },
    absWorkingDir: home,
    bundle: true,
    write: false,
    outdir: home,
    metafile: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    logLevel: 'silent',
    // Natives of another architecture cannot be run here, only be there.
    loader: { '.node': 'empty', '.wasm': 'empty', '.data': 'empty' },
  });
  const outside = Object.keys(metafile.inputs).filter((path) => path.startsWith('..'));
  if (outside.length > 0) throw new Error(`not in the artefact: ${outside.join(', ')}`);
}
