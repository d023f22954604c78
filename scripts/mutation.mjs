// npm run mutation [-- NAME …] [--most N] [--seed N]: changes what decides, and counts what no test notices.
//
// Changes one operator, condition, literal or statement of a decider at a time and runs its tests. A change that no test
// notices is printed with its place: either a case is missing, or the code says nothing there. Fails under 85 % noticed.
// The changed text exists in memory only.
import './usage.mjs';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVitest, parseAst } from 'vitest/node';
import { corpus } from './corpus/folder.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const incidents = 'packages/server/src/incidents';
const ingest = 'packages/server/src/ingest';

/** Name → pure files, and the tests that are theirs; those that open a database would take an hour. */
const DECIDERS = {
  conditions: {
    files: [`${incidents}/conditions/condition.ts`],
    tests: [`${incidents}/conditions/condition.test.ts`],
  },
  correlation: {
    files: ['group', 'reachability', 'root-cause'].map((name) => `${incidents}/correlation/${name}.ts`),
    tests: ['group', 'reachability', 'root-cause'].map((name) => `${incidents}/correlation/${name}.test.ts`),
  },
  identity: {
    files: ['identify', 'fingerprint'].map((name) => `${ingest}/identity/${name}.ts`),
    tests: ['fingerprint', 'identify', 'identity'].map((name) => `${ingest}/identity/${name}.test.ts`),
  },
  classification: {
    files: ['classify', 'general', 'general-text'].map((name) => `${ingest}/classification/${name}.ts`),
    tests: ['general-text', 'rules', 'general', 'catalogue', 'fixtures'].map(
      (name) => `${ingest}/classification/${name}.test.ts`,
    ),
  },
  outbox: {
    files: ['eviction', 'pending-commit', 'record'].map((name) => `packages/collector/src/outbox/${name}.ts`),
    tests: ['eviction', 'pending-commit', 'record'].map(
      (name) => `packages/collector/src/outbox/${name}.test.ts`,
    ),
  },
  targets: { files: ['packages/shared/src/targets.ts'], tests: ['packages/shared/src/targets.test.ts'] },
};
const LEAST = 0.85;
/** A changed loop that turns so often does not end: the test fails. */
const TURNS = 1_000_000;
/** Tests of one change that take longer have noticed it. */
const LONGEST_MS = 60_000;

const OTHER = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};
const LITERALS = new Map([
  [0, '1'],
  [1, '0'],
  [true, 'false'],
  [false, 'true'],
]);

const isText = (node) =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');

/** Changes of one node: what stands at `start` to `end` instead. */
function* changesOf(node, parent, text) {
  const of = ({ start, end }) => text.slice(start, end);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const other = OTHER[node.operator];
      if (other === undefined || (node.operator === '+' && (isText(node.left) || isText(node.right)))) return;
      const start = node.left.end + text.slice(node.left.end, node.right.start).indexOf(node.operator);
      yield { start, end: start + node.operator.length, by: other };
      return;
    }
    case 'IfStatement':
    case 'ConditionalExpression':
      yield { start: node.test.start, end: node.test.end, by: `!(${of(node.test)})` };
      return;
    case 'UnaryExpression':
      if (node.operator === '!') yield { start: node.start, end: node.start + 1, by: '' };
      return;
    case 'Literal':
      if (LITERALS.has(node.value) && parent.key !== node)
        yield { start: node.start, end: node.end, by: LITERALS.get(node.value) };
      return;
    case 'ReturnStatement':
    case 'ContinueStatement':
      // The last statement of a function is its answer; an early one is a case.
      if (parent.type === 'IfStatement' || parent.early) yield { start: node.start, end: node.end, by: '{}' };
      return;
    case 'ExpressionStatement':
      if (node.directive === undefined) yield { start: node.start, end: node.end, by: '{}' };
  }
}

/** Calls `visit` with each node of the program that is not a type, and its parent. */
function walk(node, parent, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, parent, visit);
  if (node === null || typeof node !== 'object' || typeof node.type !== 'string') return;
  if (/^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import)/.test(node.type)) return;
  if (parent?.type === 'IfStatement' && node.type === 'BlockStatement') node.early = true;
  visit(node, parent);
  for (const [name, child] of Object.entries(node))
    if (child !== null && typeof child === 'object' && !/^(type|return)?(A|a)nnotation$|^typeA/.test(name))
      walk(child, node, visit);
}

/** Every change of a file, and the text with a bound for its loops. */
function mutantsOf(file) {
  const text = readFileSync(`${root}${file}`, 'utf8');
  const changes = [];
  const loops = [];
  walk(parseAst(text, { lang: 'ts' }), undefined, (node, parent) => {
    changes.push(...changesOf(node, parent, text));
    if (/^(While|DoWhile|For|ForOf|ForIn)Statement$/.test(node.type)) loops.push(node.body);
  });
  const bounded = (change) => {
    const inserts = loops.flatMap(({ start, end }) => [
      {
        start,
        end: start,
        by: `{if((globalThis.__turns=(globalThis.__turns??0)+1)>${TURNS})throw new Error('endless');`,
      },
      { start: end, end, by: '}' },
    ]);
    let out = text;
    // From the end, so that earlier places stay; what is inside of the change is gone with it.
    const edits = [...inserts.filter(({ start }) => start <= change.start || start >= change.end), change];
    for (const { start, end, by } of edits.sort((a, b) => b.start - a.start || b.end - a.end))
      out = out.slice(0, start) + by + out.slice(end);
    return out;
  };
  return changes.map((change) => {
    const before = text.slice(0, change.start).split('\n');
    const place = `${file}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
    const was = text.slice(change.start, change.end).replace(/\s+/g, ' ').slice(0, 60);
    return {
      file,
      place,
      what: `${was}  →  ${change.by.slice(0, 60).replace(/\s+/g, ' ') || 'nothing'}`,
      text: () => bounded(change),
    };
  });
}

/** As many as are asked for, the same ones for the same seed. */
function sample(all, most, seed) {
  if (all.length <= most) return all;
  let state = seed;
  const draw = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return all
    .map((each) => [draw(), each])
    .sort(([a], [b]) => a - b)
    .slice(0, most)
    .map(([, each]) => each);
}

async function judge(name, { files, tests }, { most, seed }) {
  let current;
  const plugin = {
    name: 'mutant',
    enforce: 'pre',
    load: (id) => (current && id === `${root}${current.file}` ? current.text() : undefined),
  };
  const source = { resolve: { conditions: ['source'] } };
  const vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: true,
      include: tests,
      pool: 'threads',
      maxWorkers: 1,
      bail: 1,
      reporters: [{}],
      env: { ROLLCALL_CORPUS: corpus },
    },
    { ...source, ssr: source, plugins: [plugin], server: { watch: null } },
  );
  try {
    const specifications = await vitest.globTestSpecifications();
    const run = async () => {
      const late = setTimeout(() => vitest.cancelCurrentRun('keyboard-input'), LONGEST_MS);
      const { testModules, unhandledErrors } = await vitest.rerunTestSpecifications(specifications);
      clearTimeout(late);
      return (
        unhandledErrors.length === 0 &&
        testModules.every((module) => module.state() === 'passed' || module.state() === 'skipped')
      );
    };
    if (!(await run())) throw new Error(`the tests of ${name} fail as they are`);
    const mutants = sample(files.flatMap(mutantsOf), most, seed);
    let survivors = 0;
    for (const mutant of mutants) {
      const before = current;
      current = mutant;
      for (const each of new Set([before?.file, mutant.file]))
        if (each) vitest.invalidateFile(`${root}${each}`);
      if (!(await run())) continue;
      survivors += 1;
      console.log(`  ${mutant.place}  ${mutant.what}`);
    }
    const killed = mutants.length - survivors;
    const share = mutants.length === 0 ? 1 : killed / mutants.length;
    console.log(`${name}: ${killed} of ${mutants.length} noticed (${Math.floor(100 * share)} %)`);
    return share >= LEAST;
  } finally {
    await vitest.close();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const unknown = positionals.filter((name) => !(name in DECIDERS));
if (unknown.length > 0) {
  console.error(`no decider ${unknown.join(', ')}; there are ${Object.keys(DECIDERS).join(', ')}`);
  process.exit(2);
}
let failed = false;
for (const [name, decider] of Object.entries(DECIDERS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const enough = await judge(name, decider, { most: Number(values.most), seed: Number(values.seed) });
  failed ||= !enough;
}
process.exit(failed ? 1 : 0);
