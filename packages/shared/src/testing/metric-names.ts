/**
 * The conventions of Prometheus for names of metrics, as `promtool check metrics` tells them
 * (https://prometheus.io/docs/practices/naming/): what a page of figures breaks, one line each.
 */
export function brokenConventions(page: string): string[] {
  const help = new Set<string>();
  const broken: string[] = [];
  for (const line of page.split('\n')) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === 'HELP' && rest !== '') help.add(name);
    if (word !== 'TYPE') continue;
    if (!help.has(name)) broken.push(`${name}: no help`);
    broken.push(...wrongIn(name, rest).map((why) => `${name}: ${why}`));
  }
  return broken;
}

/** Units that are not the base unit, by what to use. */
const UNITS: Record<string, string> = {
  milliseconds: 'seconds',
  ms: 'seconds',
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  kilobytes: 'bytes',
  megabytes: 'bytes',
  bits: 'bytes',
  percent: 'ratio',
};

function wrongIn(name: string, type: string): string[] {
  const words = name.split('_');
  const suffixes = type === 'histogram' || type === 'summary' ? [] : ['bucket', 'count', 'sum'];
  const last = words.at(-1) ?? '';
  return [
    type === 'counter' && last !== 'total' ? 'a counter ends in _total' : '',
    type !== 'counter' && last === 'total' ? `only a counter ends in _total, this is a ${type}` : '',
    suffixes.includes(last) ? `_${last} belongs to histograms and summaries` : '',
    /[A-Z:]/.test(name) ? 'lower case with underscores' : '',
    words.includes(type) ? `its type ${type} is not part of its name` : '',
    ...words.flatMap((word) => (UNITS[word] ? [`${word}: use ${UNITS[word]}`] : [])),
  ].filter(Boolean);
}
