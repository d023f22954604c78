// The table of all times and time-outs, out of the sources. A time is a constant at the top of a module, or a member of
// one, whose name ends in its unit (`LEASE_MS`, `headersMs`) and which a comment above explains. Where a constant holds
// defaults of settings, `@setting WHERE` in its comment says whose.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const UNITS = { ms: 1, seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
/** `A_MS`, `aMs`, `days`: the unit that a name ends in. */
const UNIT = /(?:^|_)(MS|SECONDS|MINUTES|HOURS|DAYS|days)$|(?<=[a-z])(Ms|Seconds|Minutes|Hours|Days)$/;
/** Names of units themselves. */
const IS_UNIT = /^(SECOND|MINUTE|HOUR|DAY)(_MS)?$/;
const COMMENT = String.raw`(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*)`;
/** A constant at the top of a module with the comment above it; its value ends where a line ends the statement. */
const CONSTANT = new RegExp(
  String.raw`(?:^(${COMMENT})\n)?^(?:export )?const (\w+)(?:: [^=\n]+)? = ([\s\S]*?);\n(?! )`,
  'gm',
);
/** A member with a number, be it a plain one or the default of a setting; likewise. */
const MEMBER = new RegExp(
  String.raw`(?:^ *(${COMMENT})\n *)?'?([\w.-]+)'?: (?:([\d_.]+)\b|z\.[^:]*?\.default\(([\d_.]+)\)|whole\([^()]*, ([\d_]+)\)\.describe\(\s*'([^']*)')`,
  'gm',
);

/** The times of one module: `{ name, what, ms: number[] | label and number, setting? }`. Throws where one is not explained. */
export function timesIn(path, text) {
  const numbers = new Map();
  return [...text.matchAll(CONSTANT)].flatMap(([, comment, name, value]) => {
    const number = evaluate(value, numbers);
    if (number !== undefined) numbers.set(name, number);
    if (IS_UNIT.test(name)) return [];
    return found(name, value, number, explanation(comment), numbers).map((time) => {
      if (!time.what) throw new Error(`${path}: ${time.name} is a time that no comment above it explains`);
      return { path, ...time };
    });
  });
}

function found(name, value, number, { what, setting }, numbers) {
  const unit = unitOf(name);
  if (number !== undefined) return unit ? [{ name, what, values: [['', number * unit]], setting }] : [];
  const holds = /^[[{]|^z\./.test(value) && (name === name.toUpperCase() || setting);
  if (holds) return inside(name, what, setting, value, numbers);
  if (unit && /^[A-Z0-9]+_[A-Z0-9_]+$/.test(name))
    throw new Error(`${name} is a time, but "${value}" is no number`);
  return [];
}

/** Times in an object, an array or a schema: a member with a comment stands for itself, the others are of the constant. */
function inside(name, what, setting, value, numbers) {
  const whole = unitOf(name);
  if (value.startsWith('[')) {
    // Numbers without a unit in the name are none of times, and may be anything.
    if (!whole) return [];
    const parts = value
      .slice(1, -1)
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map((part) => evaluate(part, numbers));
    return parts.includes(undefined) ? [] : [{ name, what, values: parts.map((part) => ['', part * whole]) }];
  }
  const own = [];
  const shared = new Map();
  for (const match of value.matchAll(MEMBER)) {
    const [, comment, key, plain, byDefault, otherwise, described] = match;
    const unit = whole ?? unitOf(key);
    // A plain number in a schema repeats the default of a whole group.
    if (!unit || (plain && value.startsWith('z.'))) continue;
    const ms = Number((plain ?? byDefault ?? otherwise).replaceAll('_', '')) * unit;
    const says = described?.replace(/ Default: .*/, '') ?? explanation(comment).what;
    const place = match.index + match[0].search(new RegExp(`'?${key}'?: `));
    const member = [...around(value, place), key].join('.');
    if (says)
      own.push({
        name: `${name}.${member}`,
        what: says,
        values: [['', ms]],
        ...(setting && { setting: `${setting} \`${member}\`` }),
      });
    // With a unit of the whole group the unit is no part of the name: `fiveMinutes` stays.
    else shared.set(whole ? key : key.replace(UNIT, '') || key, ms);
  }
  return [
    ...own,
    ...(shared.size > 0 ? [{ name, what, values: [...shared], ...(setting && { setting }) }] : []),
  ];
}

/** Keys of the objects that a place is in, from the outside. */
function around(text, index) {
  const lines = text.slice(0, index).split('\n');
  const keys = [];
  let depth = lines.at(-1).length;
  for (const line of lines.slice(1, -1).reverse()) {
    const [, indent, key] = /^( *)'?([\w.-]+)'?: \S/.exec(line) ?? [];
    if (key === undefined || indent.length >= depth) continue;
    keys.unshift(key);
    depth = indent.length;
  }
  return keys;
}

const unitOf = (name) => {
  const [, constant, member] = UNIT.exec(name) ?? [];
  return UNITS[(constant ?? member)?.toLowerCase()];
};

/** What a comment says, on one line, and whose setting it is. */
function explanation(comment = '') {
  const words = comment
    .replace(/^\/\*\*|\*\/$|^ *\*(?!\/)|^\/\/ ?/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const [what, setting] = words.split(/ ?@setting /);
  return { what, setting };
}

/** The number that an expression of numbers and constants of the same module is, or undefined. */
function evaluate(expression, numbers) {
  const plain = expression.replace(/\b[A-Z][A-Z0-9_]*\b/g, (name) => numbers.get(name) ?? name);
  return /^[\d_ .*+()-]+$/.test(plain) ? Number(new Function(`return ${plain}`)()) : undefined;
}

/** As people say it: in the largest unit that leaves no fraction. */
export function spoken(ms) {
  if (ms === 0) return '0';
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 100],
  ];
  const [unit, size] =
    units.find(([, each]) => ms >= each && ms % each === 0) ?? (ms > 86_400_000 ? units[0] : ['ms', 1]);
  if (unit === 's') return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
  return `${Number((ms / size).toFixed(1))} ${unit}`;
}

/** The table as Markdown, over the sources of the packages. */
export function timesTable(root, packages) {
  const rows = packages.flatMap((name) => {
    const folder = join(root, 'packages', name, 'src');
    return sources(folder).flatMap((file) => timesIn(relative(root, file), readFileSync(file, 'utf8')));
  });
  const lines = rows.map(({ path, name, what, values, setting }) => {
    const value = values.map(([label, ms]) => `${label} ${spoken(ms)}`.trim()).join(', ');
    return `| ${what.replaceAll('|', '\\|')} | ${value} | ${setting ?? ''} | \`${path}\` ${name} |`;
  });
  return ['| what | default | setting | where |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

const sources = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !/\/(testing|generated)\//.test(file))
    .sort();
