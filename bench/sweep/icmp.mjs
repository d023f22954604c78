// The ICMP rows: the collector's ICMP sweep (icmp-entry.mjs) beside the raw limit (echo-sweep.c) and fping.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addresses, dir, here, lab, summaryOf } from './lab.mjs';

const NET = '198.18.0.0/16';
const ALL = '198.18.0.0-198.18.255.255';

/** Programs and the Debian packages they come in. */
export const PACKAGES = [
  ['fping', 'fping'],
  ['cc', 'gcc'],
];

const ours = (targets, tries) => ({
  name: 'rollcall',
  command: [process.execPath, join(here, 'icmp-entry.mjs'), targets, String(tries), '500'],
  summary: summaryOf,
});
const inC = (tries) => ({
  name: 'C sendmmsg',
  command: [join(dir, 'echo-sweep'), NET, String(tries), '500'],
  summary: (text) => ({ proper: Number(/sweep ([\d.]+)/.exec(text)?.[1]) }),
});
const fping = {
  name: 'fping',
  command: ['fping', '-a', '-q', '-t', '500', '-i', '0.01', '-r', '0', '-g', NET],
};

export const icmpRows = [
  {
    name: 'all 65,536 alive',
    set: () => lab('answer', 'all'),
    truth: () => new Set(addresses('198.18.0.0', 65_536)),
    tools: () => [ours(ALL, 1), inC(1), fping],
    bounds: ({ us, by }) => [
      ['sweep proper ≤ 0.75 × fping', us.proper / by('fping').seconds, 0.75],
      ['sweep proper ≤ 1.5 × C', us.proper / by('C ').proper, 1.5],
    ],
  },
  {
    name: '4,096 of 65,536 alive, one retry for the silent',
    set: () => lab('answer', 'sparse'),
    truth: () => new Set(readFileSync(join(dir, 'live.txt'), 'utf8').trim().split('\n')),
    tools: () => [ours(ALL, 2), inC(2), fping],
    bounds: ({ us, by }) => [
      ['whole command ≤ 0.3 × fping', us.seconds / by('fping').seconds, 0.3],
      ['whole command ≤ 1.3 × C with retry', us.seconds / by('C ').seconds, 1.3],
    ],
  },
  {
    name: 'memory: a /12, 1,048,576 alive',
    set: () => lab('answer', 'all'),
    truth: () => new Set(addresses('10.0.0.0', 1 << 20)),
    tools: () => [ours('10.0.0.0-10.15.255.255', 2)],
    bounds: ({ us }) => [['resident memory ≤ 150 MB', us.rss, 150]],
  },
];
