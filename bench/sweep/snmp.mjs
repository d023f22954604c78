// The SNMP rows: first contact beside the raw limit (snmp-loop.mjs), inventories beside snmpbulkwalk.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addresses, COLLECTOR, dir, here, lab, summaryOf } from './lab.mjs';

/** Programs and the Debian packages they come in. */
export const PACKAGES = [
  ['snmpbulkwalk', 'snmp'],
  ['snmpd', 'snmpd'],
];

const FIRST = '198.19.0.0';
const RANGE = '198.19.0.0-198.19.15.255';
const COUNT = 4096;
const everybody = () => new Set(addresses(FIRST, COUNT));

const node = (script, ...args) => [process.execPath, join(here, script), ...args.map(String)];

// ── a /20 of agents ──

/** The command line; an address is found when its device was read with all its interfaces. */
const sweep = {
  name: 'rollcall-collector sweep',
  command: [
    process.execPath,
    COLLECTOR,
    'sweep',
    RANGE,
    '--profile',
    'standard',
    '--community',
    'public',
  ].concat(['--rate', 'max', '--json']),
  found: (text) => new Set(text.split('\n').flatMap(wholeDevice)),
  summary: (text) => ({ proper: Number(/ in ([\d.]+) s/.exec(text)?.[1]) }),
};
function wholeDevice(line) {
  if (line === '') return [];
  const { address, outcome, tables } = JSON.parse(line);
  const { interfaces } = tables ?? {};
  return outcome === 'snmp' && interfaces?.complete && interfaces.rows.length >= 24 ? [address] : [];
}

/** The columns of ifTable and ifXTable that the profile `standard` reads. */
const COLUMNS = [2, 3, 4, 5, 6, 7, 8, 9]
  .map((column) => `1.3.6.1.2.1.2.2.1.${column}`)
  .concat([1, 15, 18].map((column) => `1.3.6.1.2.1.31.1.1.1.${column}`));
/** All that it reads of such an agent: the system group, the columns, two address tables, the hardware. */
const SUBTREES = [
  '1.3.6.1.2.1.1',
  ...COLUMNS,
  '1.3.6.1.2.1.4.34',
  '1.3.6.1.2.1.4.20',
  '1.3.6.1.2.1.47.1.1.1',
];
/** snmpbulkwalk is given fewer hosts: its rate does not depend on their number, and it is slow. */
const WALKED = addresses('198.19.4.0', 256);
const bulkwalks = () => {
  const walk = 'snmpbulkwalk -v2c -c public -t 5 -r 1 -On -Cr50';
  const script = `for oid in ${SUBTREES.join(' ')}; do ${walk} $0 $oid >/dev/null || exit 1; done; echo $0`;
  const hosts = join(dir, 'walked.txt');
  writeFileSync(hosts, `${WALKED.join('\n')}\n`);
  return {
    name: 'snmpbulkwalk, 64 at once',
    command: ['xargs', '-a', hosts, '-P64', '-n1', 'sh', '-c', script],
    truth: new Set(WALKED),
  };
};
const perSecond = ({ of, seconds }) => of / seconds;

const startAgents = () => {
  lab('own', 'all');
  lab('agents', '24');
};

// ── one agent with many interfaces ──

const ONE = '198.19.0.10';
const PORTS = 1000;
const oneWalk = (repetitions) => {
  const walk = `snmpbulkwalk -v2c -c public -t 5 -r 1 -On -Cr${repetitions}`;
  return {
    name: `snmpbulkwalk -Cr${repetitions}`,
    command: ['sh', '-c', `for oid in ${COLUMNS.join(' ')}; do ${walk} ${ONE} $oid || exit 1; done`],
    found: (text) => new Set(text.split('\n').length > PORTS * COLUMNS.length ? [ONE] : []),
  };
};

export const snmpRows = [
  {
    name: 'snmp: a /20 of agents, system group',
    set: startAgents,
    truth: everybody,
    tools: () => [
      {
        name: 'rollcall',
        command: node('discover-entry.mjs', RANGE, 2, 1000),
        summary: summaryOf,
      },
      {
        name: 'bare loop, 256 at once',
        command: node('snmp-loop.mjs', FIRST, COUNT, 256, 2, 1000),
        summary: summaryOf,
      },
    ],
    bounds: ({ us, by }) => [['sweep proper ≤ 3 × the bare loop', us.proper / by('bare').proper, 3]],
  },
  {
    name: 'snmp: inventory of 4,096 agents with 24 interfaces',
    set: startAgents,
    truth: everybody,
    tools: () => [sweep, bulkwalks()],
    bounds: ({ us, by }) => [
      ['seconds per device ≤ 0.2 × snmpbulkwalk', perSecond(by('snmpbulkwalk')) / perSecond(us), 0.2],
    ],
  },
  {
    name: 'snmp: one snmpd with 1,000 interfaces',
    set: () => {
      lab('own', 'all');
      lab('agents', 'off');
      lab('snmpd', String(PORTS));
      // The agent fills its caches at the first question, which takes it longer than any walk.
      lab('exec', 'snmpbulkwalk', '-v2c', '-c', 'public', '-t', '20', ONE, '1.3.6.1.2.1.2.2.1.2');
    },
    clear: () => lab('snmpd', 'off'),
    truth: () => new Set([ONE]),
    tools: () => [
      {
        name: 'rollcall, in a warm process',
        command: node('inventory-entry.mjs', ONE),
        found: (text) => new Set(text.split('\n').filter((line) => line === ONE)),
        summary: summaryOf,
      },
      oneWalk(10),
      oneWalk(50),
    ],
    bounds: ({ us, by }) => {
      const rival = Math.min(by('snmpbulkwalk -Cr10').seconds, by('snmpbulkwalk -Cr50').seconds);
      return [['the inventory ≤ 0.8 × snmpbulkwalk', us.proper / rival, 0.8]];
    },
  },
];
