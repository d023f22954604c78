/** What a document of the project names exists: files, links, npm scripts, commands with their options, settings, operations. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Not in a checkout: what commands of the project write. */
const WRITTEN = ['dist/', 'data/'];
const NOT_OURS = /^(node_modules|dist|generated|data|\.git|\.tools)$/;
const walk = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.test(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [`${path}/`, ...walk(path)] : [path];
  });
const paths = walk('');
const topLevel = new Set(paths.filter((path) => path.includes('/')).map((path) => path.split('/')[0]));
const documents = paths.filter((path) => path.endsWith('.md'));
/** The text of all that is not a document, to look names up in; this file names what does not exist. */
const code = paths
  .filter((path) => /\.(m?[jt]sx?|json|ya?ml|sh|service|conf)$|\/bin\/|\/DEBIAN\//.test(path))
  .filter((path) => !path.endsWith('/') && path !== 'test/documents.test.ts' && path !== 'docs/openapi.json')
  .map((path) => ({ path, text: read(path) }));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const CODE_FILE = /\.(tsx?|mjs|md|prisma|sh|sql|ya?ml|json|service)$/;
/** A path, perhaps with `*`, `**` or `{a,b}`: from the root where it begins with a folder there, else the end of a path. */
function exists(path: string): boolean {
  if (WRITTEN.some((folder) => path.startsWith(folder))) return true;
  if (!/[*{]/.test(path) && !topLevel.has(path.split('/')[0] ?? ''))
    return paths.some((each) => each === path || each.endsWith(`/${path}`));
  const pattern = path
    .replace(/[.+?^$()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/?|\*/g, (stars) => (stars === '*' ? '[^/]*' : '.*'))
    .replace(/\{([^}]*)\}/g, (_all, names: string) => `(${names.replaceAll(',', '|')})`);
  const whole = new RegExp(`^${pattern}/?$`);
  return paths.some((each) => whole.test(each));
}

/** Whether a word of a document is to be a path of this project. */
function isPath(word: string): boolean {
  if (!/^(\.\/)?[\w.][\w./*{},-]*$/.test(word)) return false;
  const [first = ''] = word.replace(/^\.\//, '').split('/');
  return (
    CODE_FILE.test(word) || (word.includes('/') && (topLevel.has(first) || /^[a-z][\w-]*\/$/.test(word)))
  );
}

/** GitHub's anchors of the headings of a page. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

function deadLinks(document: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? document : normalize(join(dirname(document), file));
      if (target !== document && !paths.includes(target) && !paths.includes(`${target}/`)) return true;
      return anchor !== undefined && !anchorsOf(target === document ? text : read(target)).includes(anchor);
    })
    .map((link) => `link ${link}`);
}

const settingsFiles = ['server', 'collector'].map((product) =>
  read(`deploy/${product}/files/usr/share/rollcall-${product}/${product}.yaml`),
);
/** `section.key` of the settings files, whose every key is there, most behind a `#`. */
const settings = settingsFiles.flatMap((text) => {
  let section = '';
  return [...text.matchAll(/^#?( {2})?(\w+):/gm)].map(([, inner, key = '']) => {
    if (!inner) section = key;
    return inner ? `${section}.${key}` : key;
  });
});
const sections = new Set(settings.filter((each) => each.includes('.')).map((each) => each.split('.')[0]));

/** Commands of each program as its sources declare them, and the text that has its options. */
const programs = new Map(
  ['server', 'collector'].map((product) => {
    const own = code
      .filter(({ path }) => path.startsWith(`packages/${product}/src/`) && !/\.test\.ts$/.test(path))
      .map(({ text }) => text)
      .join('\n');
    const commands = [...own.matchAll(/\.command\('([\w-]+)/g)].map(([, name = '']) => name);
    return [`rollcall-${product}` as string, { commands, own }] as const;
  }),
);
const OPTION = /(?<![\w-])--[a-z][\w-]*/g;
const optionsOf = (words: string) =>
  (words.match(OPTION) ?? []).filter((option) => !/^--(help|version)$/.test(option));

/** Commands of ours in a piece of code, up to where another command begins, with what about them does not exist. */
function deadCommands(piece: string): string[] {
  const dead: string[] = [];
  for (const [, name = '', words = ''] of piece.matchAll(/\b(rollcall-(?:server|collector)) ([^|;&#]*)/g)) {
    const { commands, own } = programs.get(name) ?? { commands: [], own: '' };
    const [command = ''] = words.split(' ');
    if (/^[a-z][a-z-]+$/.test(command) && !commands.includes(command)) dead.push(`${name} ${command}`);
    for (const option of commands.includes(command) ? optionsOf(words) : [])
      if (!own.includes(option)) dead.push(`${name} ${command} ${option}`);
  }
  for (const [, named, test, words = ''] of piece.matchAll(
    /\bnpm (?:run (?:--silent )?([\w:-]+)|(test|start)\b)([^|;&#]*)/g,
  )) {
    const script = scripts[named ?? test ?? ''];
    if (script === undefined) dead.push(`npm run ${named ?? test}`);
    const [file] = /\S+\.mjs/.exec(script ?? '') ?? [];
    const own = file ? code.find(({ path }) => path === file)?.text : undefined;
    // `test:*` hand theirs to vitest.
    for (const option of own && !/vitest arguments/.test(own) ? optionsOf(words) : [])
      if (!own?.includes(option) && !own?.includes(`${option.slice(2)}:`))
        dead.push(`npm run ${named ?? test} ${option}`);
  }
  return dead;
}

const served = new Set(
  Object.values(operations as Record<string, Operation>).map(({ method, path }) => `${method} ${path}`),
);

/** The WebSocket of collectors: it is no operation of the table. */
served.add('GET /api/collectors/link');

/** Everything that a document names and that does not exist. */
function deadIn(document: string, text: string): string[] {
  const fenced = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const spans = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replace(/\s+/g, ' '),
  );
  const dead = [...spans, ...fenced].flatMap(deadCommands);
  for (const span of spans) {
    for (const word of span.split(' '))
      if (isPath(word) && !exists(word.replace(/^\.\//, ''))) dead.push(`path ${word}`);
    const [operation] = /^(GET|POST|PUT|PATCH|DELETE) \/\S+$/.exec(span) ?? [];
    if (operation && !operation.includes('…') && !served.has(operation)) dead.push(`operation ${operation}`);
    const [section = '', ...key] = span.replace(/:.*/, '').split('.');
    if (key.length === 1 && sections.has(section) && !settings.includes(`${section}.${key[0]}`))
      dead.push(`setting ${span}`);
  }
  for (const [variable] of text.matchAll(/\b(?:ROLLCALL|TEST)_[A-Z_]+\b/g))
    if (!code.some((each) => each.text.includes(variable))) dead.push(`variable ${variable}`);
  return [...dead, ...deadLinks(document, text)];
}

it.each(documents)('%s names only what exists', (document) => {
  expect(deadIn(document, read(document))).toEqual([]);
});

it('finds what does not exist', () => {
  const text = `
# One page
\`packages/server/src/none.ts\`, \`none.ts\`, \`test/none/\`, \`docs/*.none\`, \`test/{system,none}/help.test.ts\`,
[gone](none.md), [gone](#two-pages), [here](#one-page), \`npm run none\`, \`rollcall-server none\`,
\`rollcall-server doctor --none\`, \`npm run package -- --none\`, \`tls.none\`, \`tls.own\`, ROLLCALL_NONE, \`GET /api/none\`
\`\`\`
rollcall-collector none
\`\`\`
`;
  expect(deadIn('docs/x.md', text).sort()).toEqual(
    [
      'link #two-pages',
      'link none.md',
      'npm run none',
      'npm run package --none',
      'operation GET /api/none',
      'path docs/*.none',
      'path none.ts',
      'path packages/server/src/none.ts',
      'path test/none/',
      'rollcall-collector none',
      'rollcall-server doctor --none',
      'rollcall-server none',
      'setting tls.none',
      'variable ROLLCALL_NONE',
    ].sort(),
  );
});

it('docs/adding.md names constants that exist', () => {
  const names = [...read('docs/adding.md').matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`/g)].map(
    ([, name = '']) => name,
  );
  const isDeclared = (name: string) => {
    const declared = new RegExp(`\\b(?:const|class|enum|type) ${name}\\b`);
    return code.some(({ text }) => declared.test(text));
  };
  expect(names.length).toBeGreaterThan(10);
  expect([...new Set(names)].filter((name) => !isDeclared(name))).toEqual([]);
});

it('docs/api.md lists the operations that are stable', () => {
  const page = read('docs/api.md');
  const listed = [
    ...page.slice(page.indexOf('## What stays')).matchAll(/`((?:GET|POST|DELETE) \/api\/[^`]+)`/g),
  ];
  const stable = Object.values(operations as Record<string, Operation>).filter(
    (operation) => operation.stable,
  );
  expect(listed.map(([, name]) => name).sort()).toEqual(
    stable.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});
