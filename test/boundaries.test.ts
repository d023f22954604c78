import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The architecture's rules on imports, run as a test so that a breach prints its reason. Type imports count too. */

const root = fileURLToPath(new URL('..', import.meta.url));

/** What each package may import of ours. Programs are absent on the right: they meet on the wire, not in memory. */
const MAY_IMPORT: Record<string, string[]> = {
  shared: [],
  host: ['shared'],
  snmp: ['shared'],
  server: ['host', 'shared'],
  collector: ['host', 'shared', 'snmp'],
  lab: ['shared', 'snmp'],
  web: ['shared'],
};
const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);

const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : sources(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });

const files = packages.flatMap((name) => sources(join(root, 'packages', name, 'src')));
const isTest = (file: string) => /\.test\.tsx?$/.test(file) || file.includes('/testing/');
const product = files.filter((file) => !isTest(file));

/** Every specifier of `import … from` and `export … from`, of types too, and of `import()`. */
const SPECIFIERS = [/(?:\bfrom\s+|^import\s+)['"]([^'"]+)['"]/gm, /\bimport\s*\(\s*['"]([^'"]+)['"]/gm];
const imports = (file: string): string[] => {
  const text = readFileSync(file, 'utf8');
  return SPECIFIERS.flatMap((form) => [...text.matchAll(form)].map((match) => match[1] ?? ''));
};

interface Place {
  package: string;
  /** First folder inside src, or `.` for files at its top. */
  folder: string;
}
const placeOf = (file: string): Place => {
  const [, name = '', , ...rest] = relative(root, file).split('/');
  return { package: name, folder: rest.length > 1 ? (rest[0] ?? '.') : '.' };
};

/** Target of an import inside this repository, or undefined for a library. */
const target = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith('.')) return resolve(dirname(file), specifier);
  const own = /^@rollcall\/(\w+)\/(.+)$/.exec(specifier);
  return own ? join(root, 'packages', own[1] ?? '', 'src', `${own[2]}.ts`) : undefined;
};

const edgesOf = (from: string) =>
  imports(from).flatMap((specifier) => {
    const to = target(from, specifier);
    return to ? [{ from, to, specifier }] : [];
  });
const edges = product.flatMap(edgesOf);

/** The cycles of a graph, each where a search comes back to its own path: `a → b → a`. */
const cyclesOf = (edges: { from: string; to: string }[]): string[] => {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of edges) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (node: string, path: string[]) => {
    if (state.get(node) === 'done') return;
    if (state.get(node) === 'open') {
      cycles.push([...path.slice(path.indexOf(node)), node].join(' → '));
      return;
    }
    state.set(node, 'open');
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    state.set(node, 'done');
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
};
const show = (path: string) => relative(root, path);
const manifest = (name: string): { dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

describe('import boundaries', () => {
  it('finds the sources at all', () => {
    expect(product.length).toBeGreaterThan(20);
    expect(edges.length).toBeGreaterThan(20);
  });

  it('packages import only what the table allows, and declare just that', () => {
    const breaches = edges
      .filter(({ from, to }) => {
        const [a, b] = [placeOf(from).package, placeOf(to).package];
        return a !== b && !MAY_IMPORT[a]?.includes(b);
      })
      .map(({ from, specifier }) => `${show(from)} imports ${specifier}`);
    expect(breaches, 'programs meet on the wire, not in memory; libraries know no program').toEqual([]);
    const declared = packages.map((name) => [
      name,
      Object.keys(manifest(name).dependencies ?? {}).flatMap(
        (each) => /^@rollcall\/(.+)$/.exec(each)?.[1] ?? [],
      ),
    ]);
    expect(Object.fromEntries(declared), 'dependencies in package.json, by name').toEqual(MAY_IMPORT);
  });

  it('features of the server do not import each other: app.ts hands over what they need, so it reads as the data flow', () => {
    const free = new Set(['platform', 'generated']);
    /** What features say to each other, as types. */
    const contracts = ['changes.ts', 'ports.ts'].map((name) => join(root, 'packages/server/src', name));
    const breaches = edges
      .filter(({ from, to }) => {
        const [a, b] = [placeOf(from), placeOf(to)];
        if (a.package !== 'server' || b.package !== 'server' || a.folder === b.folder) return false;
        if (a.folder === '.') return false;
        return !free.has(b.folder) && !contracts.includes(to);
      })
      .map(({ from, specifier }) => `${show(from)} imports ${specifier}`);
    expect(breaches, 'pass a function in app.ts instead').toEqual([]);
  });

  it('shared runs in a browser: nothing of Node, and no library but those that are known to run there', () => {
    const browserSafe = ['ip-cidr', 'ipaddr.js', 'zod'];
    const breaches = product
      .filter((file) => placeOf(file).package === 'shared')
      .flatMap((file) =>
        imports(file)
          .filter((specifier) => !specifier.startsWith('.') && !browserSafe.includes(specifier))
          .map((specifier) => `${show(file)} imports ${specifier}`),
      );
    expect(
      breaches,
      'packages/web imports shared; what needs Node or native code lives in host or snmp',
    ).toEqual([]);
    expect(Object.keys(manifest('shared').dependencies ?? {}), 'its package.json').toEqual(browserSafe);
  });

  it('product code imports no testing folder', () => {
    const breaches = edges
      .filter(({ to }) => to.includes('/testing/'))
      .map(({ from, to }) => `${show(from)} → ${show(to)}`);
    expect(breaches).toEqual([]);
  });

  it('has no import cycle of any kind, in tests neither: types count, and what is loaded later', () => {
    const cycles = cyclesOf(
      files.flatMap(edgesOf).map(({ from, to }) => ({ from: show(from), to: show(to) })),
    );
    expect(
      cycles,
      'no file of a cycle can be read, tested or moved alone: join the files, or move what both need into a third',
    ).toEqual([]);
  });

  it('folders of the collector and of snmp have an order: imports lead one way', () => {
    // Files at the top of the collector join the parts, so they know them all.
    const between = edges.flatMap(({ from, to }) => {
      const [a, b] = [placeOf(from), placeOf(to)];
      const counted = a.package === 'snmp' || (a.package === 'collector' && a.folder !== '.');
      if (!counted || a.package !== b.package || a.folder === b.folder) return [];
      return [{ from: `${a.package}/${a.folder}`, to: `${b.package}/${b.folder}` }];
    });
    expect(between.length).toBeGreaterThan(10);
    expect(
      cyclesOf(between),
      'two folders that need each other are one, or a third is missing below both',
    ).toEqual([]);
  });

  it('no file is longer than 400 lines, unless its first comment defends it with the word "Length:"', () => {
    const long = product
      .map((file) => ({ file: show(file), text: readFileSync(file, 'utf8') }))
      .filter(
        ({ text }) => text.split('\n').length > 400 && !/^\s*(\/\*\*?|\/\/)[\s\S]{0,1500}?Length:/.test(text),
      )
      .map(({ file, text }) => `${file}: ${text.split('\n').length} lines`);
    expect(long, 'one idea per file').toEqual([]);
  });
});
