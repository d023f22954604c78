// The ICMP rows: the sweep proper of the collector (icmp-entry.mjs) against the tools that only sweep.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addresses, COLLECTOR, dir, here, lab, summaryOf } from './lab.mjs';

const NET = '198.18.0.0/16';
const ALL = '198.18.0.0-198.18.255.255';
const TUNED = 'fping -i 0.01';
const everybody = () => new Set(addresses('198.18.0.0', 65_536));

/** Programs and the Debian packages they come in. */
export const PACKAGES = [
  ['fping', 'fping'],
  ['ping', 'iputils-ping'],
  ['cc', 'gcc'],
  ['zmap', 'zmap'],
  ['masscan', 'masscan'],
  ['nmap', 'nmap'],
];

const ours = (targets, tries) => ({
  name: 'rollcall',
  command: [process.execPath, join(here, 'icmp-entry.mjs'), targets, String(tries), '500'],
  summary: summaryOf,
});
/** The same with everything the command line has around it. */
const command = (targets, tries) => ({
  name: 'rollcall-collector sweep --profile ping',
  command: [
    process.execPath,
    COLLECTOR,
    'sweep',
    targets,
    '--profile',
    'ping',
    '--rate',
    'max',
    '--json',
  ].concat(['--tries', String(tries), '--timeout', '500']),
});
const inC = (tries) => ({
  name: 'C sendmmsg',
  command: [join(dir, 'echo-sweep'), NET, String(tries), '500'],
  summary: (text) => ({ proper: Number(/sweep ([\d.]+)/.exec(text)?.[1]) }),
});
const fping = (...more) => ({
  name: `fping ${more.join(' ')}`,
  command: ['fping', '-a', '-q', '-t', '500', ...more, '-g', NET],
});
const zmap = () => ({
  name: 'zmap -r 100000 -c 1',
  command: [
    'zmap',
    '-M',
    'icmp_echoscan',
    '-i',
    'scan0',
    '-S',
    '198.19.255.1',
    '-G',
    gatewayMac(),
    '-b',
    '/dev/null',
  ].concat(['-q', '-r', '100000', '-c', '1', NET]),
});
const masscan = () => ({
  name: 'masscan 100k',
  heartbeat: true,
  command: [
    'masscan',
    '--ping',
    NET,
    '--adapter',
    'scan0',
    '--adapter-ip',
    '198.19.255.1',
    '--router-mac',
  ].concat([gatewayMac(), '--rate', '100000', '--wait', '1']),
});
const nmap = (...more) => ({
  name: `nmap ${more.join(' ')}`,
  command: ['nmap', '-sn', '-n', '-PE', ...more, '-oG', '-', NET],
});
const gatewayMac = () => readFileSync(join(dir, 'gateway-mac'), 'utf8').trim();

/** `slow` adds the tools that take a minute. */
export const icmpRows = (slow) => [
  {
    name: 'all 65,536 alive',
    set: () => lab('answer', 'all'),
    truth: everybody,
    tools: () =>
      [
        ours(ALL, 1),
        command(ALL, 1),
        inC(1),
        fping('-i', '0.01', '-r', '0'),
        zmap(),
        masscan(),
        nmap('-T5'),
      ].concat(slow ? [fping('-i', '1', '-r', '1')] : []),
    bounds: ({ us, by }) => [
      ['sweep proper ≤ 0.75 × tuned fping', us.proper / by(TUNED).seconds, 0.75],
      ['sweep proper ≤ 1.5 × C', us.proper / by('C ').proper, 1.5],
      ['whole command ≤ 1.3 × tuned fping', us.seconds / by(TUNED).seconds, 1.3],
    ],
  },
  {
    name: 'all alive, 20 ms away',
    set: () => lab('far', '20'),
    truth: everybody,
    tools: () => [ours(ALL, 1), inC(1), fping('-i', '0.01', '-r', '0')].concat(slow ? [nmap('-T5')] : []),
    bounds: ({ us, by }) => [['whole command ≤ 0.25 × tuned fping', us.seconds / by(TUNED).seconds, 0.25]],
  },
  {
    name: 'all alive, 20 to 30 ms away, 1 % lost, three tries',
    set: () => lab('far', '20', '10', '10'),
    truth: everybody,
    least: 0.9999,
    tools: () => [ours(ALL, 3), inC(3), fping('-i', '0.01', '-r', '1')].concat(slow ? [nmap('-T5')] : []),
    bounds: ({ us }) => [['found ≥ 99.99 % (as missed share)', 1 - us.found / 65_536, 0.0001]],
  },
  {
    name: '4,096 of 65,536 alive, one retry for the silent',
    set: () => lab('answer', 'sparse'),
    truth: () => new Set(readFileSync(join(dir, 'live.txt'), 'utf8').trim().split('\n')),
    tools: () =>
      [
        ours(ALL, 2),
        inC(2),
        fping('-i', '0.01', '-r', '0'),
        zmap(),
        nmap('-T4', '--min-rate', '50000', '--max-retries', '1'),
      ].concat(slow ? [nmap('-T5'), nmap('-T4')] : []),
    bounds: ({ us, by }) => [
      ['whole command ≤ 0.3 × tuned fping', us.seconds / by(TUNED).seconds, 0.3],
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
