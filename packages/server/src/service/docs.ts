/** The interactive documentation: Swagger UI from disk, nothing from anywhere else. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { DOCS_FILES } from '@rollcall/shared/api/service';

type DocsFile = (typeof DOCS_FILES)[number];

const TYPES: Record<DocsFile, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'start.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Relative addresses: the page works under a path prefix of a reverse proxy too. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Rollcall API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * Swagger UI is dark where this class is, and sets it only in a page frame that we do not use. It fills a form with the
 * examples: of filters that nobody asked for they are shown instead, or the first try would find nothing.
 */
const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
const withoutFilters = (spec) => {
  const parameters = Object.values(spec.paths ?? {}).flatMap(Object.values).flatMap((o) => o.parameters ?? []);
  for (const each of parameters.filter(({ required, example }) => !required && example !== undefined)) {
    each.description = [each.description, 'Example: ' + [each.example].flat().join(',')].filter(Boolean).join(' ');
    delete each.example;
  }
  return spec;
};
const updateJsonSpec = (update) => (spec) => update(withoutFilters(spec));
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  plugins: [{ statePlugins: { spec: { wrapActions: { updateJsonSpec } } } }],
});
`;

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const kept = new Map<DocsFile, Buffer>();

/** One of the page's files, read once. */
export function docsFile(file: DocsFile): { type: string; bytes: Buffer } {
  let bytes = kept.get(file);
  if (!bytes) {
    bytes = file === 'start.js' ? Buffer.from(START) : readFileSync(join(folder, file));
    kept.set(file, bytes);
  }
  return { type: TYPES[file], bytes };
}
