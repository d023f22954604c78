import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core';
import type { Operation } from '@rollcall/shared/api/operation';
import react from '@vitejs/plugin-react';
import { createLogger, defineConfig, type Plugin } from 'vite';
import { theme } from './src/theme/theme.ts';

/**
 * Method, path and query parameters of every REST operation as a module of plain data. Types come from the shared table
 * itself; taking only the data keeps zod and every schema out of the browser.
 */
const operationRoutes = async (): Promise<string> => {
  const { operations } = await import('@rollcall/shared/api/index');
  const routes = Object.fromEntries(
    Object.entries<Operation>(operations).map(([id, { method, path, query, access }]) => [
      id,
      [method, path, Object.keys(query?.shape ?? {}), access],
    ]),
  );
  return `export default ${JSON.stringify(routes)};`;
};

/** Palettes that no component of ours asks for. */
const UNUSED = /^--mantine-color-(pink|grape|violet|indigo|blue|cyan|green|lime|yellow|orange)-/;

/**
 * The theme's CSS variables as a file. Mantine would write them into a `<style>` element at run time, which the content
 * security policy refuses; so MantineProvider is told not to (`withCssVariables={false}`).
 */
const themeVariables = (): string => {
  const variables = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
  const kept = (group: Record<string, string>) =>
    Object.fromEntries(Object.entries(group).filter(([name]) => !UNUSED.test(name)));
  return convertCssVariables(
    {
      variables: kept(variables.variables),
      light: kept({ ...variables.light, '--mantine-color-scheme': 'light' }),
      dark: kept({ ...variables.dark, '--mantine-color-scheme': 'dark' }),
    },
    ':root',
  );
};

const GENERATED: Record<string, () => string | Promise<string>> = {
  'virtual:operations': operationRoutes,
  'virtual:theme.css': themeVariables,
};

/**
 * What the browser takes from the shared package is data: lists of words, bounds. Each module is read here and its
 * plain values are handed on; schemas and functions are not, so neither zod nor an IP library reaches the browser.
 */
const sharedData = (): Plugin => ({
  name: 'rollcall-shared-data',
  enforce: 'pre',
  resolveId: { filter: { id: /^@rollcall\/shared\// }, handler: (id) => `\0data:${id}` },
  load: {
    filter: { id: /^\0data:/ },
    handler: async (id) => {
      const module: Record<string, unknown> = await import(id.slice('\0data:'.length));
      return Object.entries(module)
        .filter(([, value]) => isPlain(value))
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join('\n');
    },
  },
});

const isPlain = (value: unknown): boolean => {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every(isPlain);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
};

const generated = (): Plugin => ({
  name: 'rollcall-generated',
  resolveId: { filter: { id: /^virtual:/ }, handler: (id) => (id in GENERATED ? `\0${id}` : undefined) },
  load: { filter: { id: /^\0virtual:/ }, handler: (id) => GENERATED[id.slice(1)]?.() },
});

/** Writes down the packages that the application is made of, for the notices of their licences. */
const bundledPackages = (): Plugin => ({
  name: 'rollcall-bundled-packages',
  apply: 'build',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) =>
      file.type === 'chunk' ? Object.keys(file.modules) : [],
    );
    // Style sheets are no part of a chunk any more.
    const styles = [...this.getModuleIds()].filter((id) => /\.css(\?|$)/.test(id));
    const folders = [...modules, ...styles].flatMap(
      (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? [],
    );
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const list = [...new Set(folders)].map((folder) => relative(root, folder)).sort();
    mkdirSync(new URL('dist', import.meta.url), { recursive: true });
    writeFileSync(new URL('dist/packages.json', import.meta.url), `${JSON.stringify(list, null, 2)}\n`);
  },
});

/** No stack for each request that comes while `npm run dev` restarts the server: the page asks again by itself. */
const quietProxy = (): Plugin => ({
  name: 'rollcall-quiet-proxy',
  apply: 'serve',
  config: () => {
    const customLogger = createLogger('warn');
    const { error } = customLogger;
    customLogger.error = (text, options) => {
      if (!/proxy (socket )?error/.test(text)) error(text, options);
    };
    return { customLogger };
  },
});

/** A module of functions that imports nothing is taken as it is, from its source: `npm run dev` has no compiled one. */
const CSV = fileURLToPath(new URL('../shared/src/csv.ts', import.meta.url));

export default defineConfig({
  resolve: { alias: { '@rollcall/shared/csv': CSV } },
  plugins: [react(), generated(), sharedData(), bundledPackages(), quietProxy()],
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev` says where its server is; the link of its collector comes this way too.
  server: { proxy: { '/api': { target: process.env.ROLLCALL_SERVER ?? 'http://127.0.0.1:8080', ws: true } } },
});
