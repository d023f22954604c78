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
  server: ['shared', 'host'],
  collector: ['shared', 'host', 'snmp'],
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

/** Every specifier of `import … from` and `export … from`; with `lazy` those of `import()` too. */
const EAGER = /(?:\bfrom\s+|^import\s+)['"]([^'"]+)['"]/gm;
const LAZY = /\bimport\s*\(\s*['"]([^'"]+)['"]/gm;
const imports = (file: string, lazy = true): string[] => {
  const text = readFileSync(file, 'utf8');
  return (lazy ? [EAGER, LAZY] : [EAGER]).flatMap((form) =>
    [...text.matchAll(form)].map((match) => match[1] ?? ''),
  );
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

const edgesOf = (lazy: boolean) =>
  product.flatMap((from) =>
    imports(from, lazy).flatMap((specifier) => {
      const to = target(from, specifier);
      return to ? [{ from, to, specifier }] : [];
    }),
  );
const edges = edgesOf(true);
const show = (path: string) => relative(root, path);
const manifest = (name: string): { dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

describe('import boundaries', () => {
  it('finds the sources at all', () => {
    expect(product.length).toBeGreaterThan(20);
    expect(edges.length).toBeGreaterThan(20);
  });

  it('packages import only what the table allows, and declare just that', () => {
    const used = Object.fromEntries(packages.map((name) => [name, new Set<string>()]));
    for (const { from, to } of edges)
      if (placeOf(from).package !== placeOf(to).package)
        used[placeOf(from).package]?.add(placeOf(to).package);
    const declared = (name: string) =>
      Object.keys(manifest(name).dependencies ?? {}).flatMap(
        (each) => /^@rollcall\/(.+)$/.exec(each)?.[1] ?? [],
      );
    const sorted = (of: (name: string) => Iterable<string>) =>
      Object.fromEntries(packages.map((name) => [name, [...of(name)].sort()]));
    const allowed = Object.fromEntries(
      Object.entries(MAY_IMPORT).map(([name, may]) => [name, [...may].sort()]),
    );
    expect(
      sorted((name) => used[name] ?? []),
      'imports; programs meet on the wire, not in memory',
    ).toEqual(allowed);
    expect(sorted(declared), 'dependencies in package.json').toEqual(allowed);
  });

  it('features of the server do not import each other: app.ts hands over what they need, so it reads as the data flow', () => {
    const free = new Set(['.', 'kernel', 'generated']);
    const breaches = edges
      .filter(({ from, to }) => {
        const [a, b] = [placeOf(from), placeOf(to)];
        if (a.package !== 'server' || b.package !== 'server' || a.folder === b.folder) return false;
        if (a.folder === '.') return false;
        return !free.has(b.folder) || b.folder === '.';
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

  it('has no import cycles, type imports included: a cycle means that two files are one idea', () => {
    const graph = new Map<string, string[]>();
    // A part that is loaded later may know who loads it: that is no cycle at load time.
    for (const { from, to } of edgesOf(false)) graph.set(from, [...(graph.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        cycles.push([...path.slice(path.indexOf(file)), file].map(show).join(' → '));
        return;
      }
      state.set(file, 'open');
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of product) visit(file, []);
    expect(cycles).toEqual([]);
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
