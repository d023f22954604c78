// main.mjs [--rounds N] [--only WORDS] [--check] [--json] [--list]
//
// The collector's sweeps beside the raw limit of the machine, fping and snmpbulkwalk, in the namespaces of lab.sh (root,
// Linux; made and removed here). Every row gives the median of the rounds for the whole command, start-up included; what
// a tool finds is compared with the truth. Ratios and bounds stand at the end. --only takes a part of the rows' names;
// --check ends with status 1 when a bound is missed.
import '../../scripts/usage.mjs';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES as ICMP_PACKAGES, icmpRows } from './icmp.mjs';
import { COLLECTOR, dir, has, here, install, lab, run } from './lab.mjs';
import { PACKAGES as SNMP_PACKAGES, snmpRows } from './snmp.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const rows = [...icmpRows, ...snmpRows].filter(({ name }) => name.includes(options.only));
if (options.list) {
  console.log(rows.map(({ name }) => name).join('\n'));
  process.exit(0);
}
const refuse = (why) => {
  console.error(why);
  process.exit(2);
};
if (rows.length === 0) refuse(`no row has “${options.only}” in its name; --list names them`);
if (process.getuid?.() !== 0) refuse('needs root: it makes network namespaces');
if (!existsSync(join(COLLECTOR, '../../dist/main.js'))) refuse('build first: npm run build');

const tell = (text) => (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const fixed = (seconds) => (Number.isFinite(seconds) ? seconds.toFixed(3) : '');

const summarise = (name, results) => {
  const all = (member) => results.map((result) => result[member]);
  return {
    name,
    seconds: median(all('seconds')),
    least: Math.min(...all('seconds')),
    most: Math.max(...all('seconds')),
    proper: median(all('proper')),
    rss: Math.max(...all('rss')),
    found: Math.min(...all('found')),
    of: results[0].of,
    invented: Math.max(...all('invented')),
  };
};

const measure = async (row) => {
  const truth = row.truth();
  const runs = new Map();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      // Anew each round, so that nothing learnt in the last one helps.
      row.set();
      for (const tool of row.tools().filter(({ command }) => has(command[0]))) {
        if (process.stderr.isTTY)
          process.stderr.write(`\r\x1b[K${row.name}: round ${round + 1}, ${tool.name}`);
        runs.set(tool.name, [...(runs.get(tool.name) ?? []), await run(tool, truth)]);
      }
    }
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    row.clear?.();
  }
  return [...runs].map(([name, results]) => summarise(name, results));
};

const print = (row, tools) => {
  const [us] = tools;
  tell(`\n## ${row.name}\n`);
  tell('| tool | seconds (least – most) | proper | × ours | found, worst run | invented | MB |');
  tell('|---|---|---|---|---|---|---|');
  for (const tool of tools) {
    // Tools that are given a part of the work are compared by the work they do in a second.
    const ratio = tool.seconds / tool.of / (us.seconds / us.of);
    const cells = [
      tool.name,
      `${fixed(tool.seconds)} (${fixed(tool.least)} – ${fixed(tool.most)})`,
      fixed(tool.proper),
      ratio.toFixed(2),
      `${tool.found} of ${tool.of}`,
      tool.invented,
      Number.isFinite(tool.rss) ? tool.rss.toFixed(0) : '',
    ];
    tell(`| ${cells.join(' | ')} |`);
  }
};

/** Bounds of a row with their values; a value is missing where the rival could not be had. */
const judge = (row, tools) => {
  const [us] = tools;
  const by = (start) => tools.find(({ name }) => name.startsWith(start)) ?? {};
  return [
    ...row.bounds({ us, by }),
    ['live addresses missed', 1 - us.found / us.of, 0],
    ['addresses invented', us.invented, 0],
  ].map(([text, value, bound]) => ({
    row: row.name,
    text,
    value,
    bound,
    verdict: Number.isFinite(value) ? (value <= bound ? 'ok' : 'MISSED') : 'no rival',
  }));
};

mkdirSync(dir, { recursive: true });
const missing = install([['ip', 'iproute2'], ...ICMP_PACKAGES, ...SNMP_PACKAGES]);
if (missing.includes('cc') || missing.includes('ip'))
  refuse('the lab cannot be made without gcc and iproute2');
execFileSync('cc', ['-O2', '-o', join(dir, 'echo-sweep'), join(here, 'echo-sweep.c')]);
lab('down');
lab('up');
const judged = [];
const measured = [];
try {
  for (const row of rows) {
    const tools = await measure(row);
    print(row, tools);
    measured.push({ row: row.name, tools });
    judged.push(...judge(row, tools));
  }
} finally {
  lab('down');
}
tell('\n## Ratios\n\n| row | what | measured | bound | |\n|---|---|---|---|---|');
for (const { row, text, value, bound, verdict } of judged) {
  tell(
    `| ${row} | ${text} | ${Number.isFinite(value) ? Number(value.toPrecision(3)) : ''} | ${bound} | ${verdict} |`,
  );
}
if (options.json) console.log(JSON.stringify({ rounds: ROUNDS, measured, judged }));
if (options.check && judged.some(({ verdict }) => verdict === 'MISSED')) process.exitCode = 1;
