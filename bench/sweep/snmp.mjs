// The SNMP rows: first contact, whole inventories, and sweeps as people run them, in the lab of lab.sh.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addresses,
  COLLECTOR,
  dir,
  here,
  installed,
  lab,
  layOutInstalled,
  run,
  socket,
  startInstalled,
  summaryOf,
} from './lab.mjs';

/** Programs and the Debian packages they come in. */
export const PACKAGES = [
  ['onesixtyone', 'onesixtyone'],
  ['snmpbulkwalk', 'snmp'],
  ['snmpd', 'snmpd'],
  ['cc', 'gcc'],
];

const FIRST = '198.19.0.0';
const NET = `${FIRST}/20`;
const RANGE = '198.19.0.0-198.19.15.255';
const COUNT = 4096;
const everybody = () => new Set(addresses(FIRST, COUNT));
/** One of each 16, as live.txt has it for the larger block. */
const few = () => new Set(addresses(FIRST, COUNT).filter((_, i) => i % 16 === (i >> 4) % 16));
const listed = (name, list) => {
  const file = join(dir, name);
  writeFileSync(file, `${[...list].join('\n')}\n`);
  return file;
};

const node = (script, ...args) => [process.execPath, join(here, script), ...args.map(String)];
const discovery = {
  name: 'rollcall',
  command: node('discover-entry.mjs', RANGE, 2, 1000),
  summary: summaryOf,
};
const loop = (name, how, window) => ({
  name,
  command: node('snmp-loops.mjs', how, FIRST, COUNT, window, 2, 1000),
  summary: summaryOf,
});
const onesixtyone = (wait) => ({
  name: `onesixtyone -w ${wait}`,
  command: ['onesixtyone', '-w', String(wait), NET, 'public'],
});

/** Our command line; an address counts as found when its device was read whole, with all its interfaces. */
const sweep = (name, targets, profile, interfaces, ...more) => ({
  name,
  command: [
    process.execPath,
    COLLECTOR,
    'sweep',
    targets,
    '--profile',
    profile,
    '--community',
    'public',
    '--json',
  ].concat(more),
  found: (text) => new Set(text.split('\n').flatMap((line) => wholeDevice(line, interfaces))),
  summary: (text) => ({ proper: Number(/ in ([\d.]+) s/.exec(text)?.[1]) }),
});
const wholeDevice = (line, interfaces) => {
  if (line === '') return [];
  const { address, outcome, tables } = JSON.parse(line);
  const { interfaces: table } = tables ?? {};
  return outcome === 'snmp' && table?.complete && table.rows.length >= interfaces ? [address] : [];
};

/** A tool of ours by the package's launcher and Node: how a site has it. */
const asInstalled = ({ command: [, , ...args], ...tool }) => ({ ...tool, command: [installed(), ...args] });

/** The same, taken by the collector that runs there. */
const taken = (tool) => ({
  ...tool,
  command: ['env', `ROLLCALL_SOCKET=${socket()}`, ...asInstalled(tool).command],
});

const SYSTEM = '1.3.6.1.2.1.1';
const TABLES = [
  '1.3.6.1.2.1.2.2',
  '1.3.6.1.2.1.31.1.1',
  '1.3.6.1.2.1.4.34',
  '1.3.6.1.2.1.4.20',
  '1.3.6.1.2.1.47.1.1.1',
];
/** The columns of the interfaces that `standard` reads. */
const COLUMNS = [2, 3, 4, 5, 6, 7, 8, 9]
  .map((column) => `1.3.6.1.2.1.2.2.1.${column}`)
  .concat([1, 15, 18].map((column) => `1.3.6.1.2.1.31.1.1.1.${column}`));
/** Of the other tables. */
const OTHER_TABLES = TABLES.slice(2);

/** Hosts of the fleet that snmpbulkwalk is given: its rate does not depend on their number, and it is slow. */
const WALKED = addresses('198.19.4.0', 256);
/** snmpbulkwalk of these subtrees, 64 hosts at once; a host is named when all of them were read. */
const bulkwalks = (name, subtrees) => {
  const walk = `snmpbulkwalk -v2c -c public -t 5 -r 1 -On -Cr50`;
  const script = `for oid in ${subtrees.join(' ')}; do ${walk} $0 $oid >/dev/null || exit 1; done; echo $0`;
  const hosts = listed('walked.txt', WALKED);
  return {
    name,
    command: ['xargs', '-a', hosts, '-P64', '-n1', 'sh', '-c', script],
    truth: new Set(WALKED),
  };
};
const perSecond = ({ of, seconds }) => of / seconds;

const ONE = '198.19.0.10';
const PORTS = 1000;
const oneWalk = (repetitions) => {
  const script = `for oid in ${COLUMNS.join(' ')}; do snmpbulkwalk -v2c -c public -t 5 -r 1 -On -Cr${repetitions} ${ONE} $oid || exit 1; done`;
  return {
    name: `snmpbulkwalk -Cr${repetitions}, column by column`,
    command: ['sh', '-c', script],
    found: (text) => new Set(text.split('\n').length > PORTS * COLUMNS.length ? [ONE] : []),
  };
};

const oneSweep = (name, ...more) => sweep(name, ONE, 'snmp', PORTS, '--rate', 'max', ...more);
const handedOver = taken(oneSweep('rollcall-collector sweep, where a collector runs'));
let endCollector;

const SEVENTY = new Set(addresses('198.19.7.0', 256).filter((_, i) => (i * 70) % 256 < 70));
const DARK = addresses('198.18.0.0', 15_360);
const LIVE_IN_THE_DARK = new Set(DARK.filter((_, i) => i % 160 === 77));

/** Takes minutes: each host is waited for by SNMP in vain. */
const STANDARD_TWELVE = {
  name: 'snmp: memory, standard over a /12 that answers ICMP only',
  rounds: 1,
  set: () => lab('agents', 'off'),
  truth: () => new Set(addresses('10.0.0.0', 1 << 20)),
  tools: () => [
    {
      ...sweep('rollcall-collector sweep', '10.0.0.0-10.15.255.255', 'standard', 0, '--rate', 'max'),
      found: (text) => new Set(text.match(/(?<=^\{"address":")[\d.]+/gm)),
    },
  ],
  bounds: ({ us }) => [['resident memory ≤ 150 MB', us.rss, 150]],
};

export const snmpRows = (slow) =>
  [
    {
      name: 'snmp: a /20 of agents, system group',
      set: () => {
        lab('own', 'all');
        lab('agents', '24');
      },
      truth: everybody,
      tools: () => [
        discovery,
        loop('bare loop, 256 at once', 'bare', 256),
        loop('net-snmp, 256 sessions', 'sessions', 256),
        onesixtyone(0),
        onesixtyone(1),
      ],
      bounds: ({ us, by }) => [
        [
          'whole command ≤ 0.2 × onesixtyone’s fastest',
          us.seconds / Math.min(by('onesixtyone -w 0').seconds, by('onesixtyone -w 1').seconds),
          0.2,
        ],
        ['whole command ≤ net-snmp’s sessions', us.seconds / by('net-snmp').seconds, 1],
        ['sweep proper ≤ 3 × the bare loop', us.proper / by('bare').proper, 3],
      ],
    },
    {
      name: 'snmp: 256 agents in a silent /20, one retry',
      set: () => {
        lab('own', listed('few.txt', few()));
        lab('agents', '24');
      },
      truth: few,
      tools: () =>
        [
          discovery,
          loop('bare loop, 4,096 at once', 'bare', 4096),
          loop('net-snmp, 1,024 sessions', 'sessions', 1024),
          onesixtyone(0),
        ].concat(slow ? [loop('net-snmp, 256 sessions', 'sessions', 256)] : []),
      bounds: ({ us }) => [['whole command, seconds', us.seconds, 2.6]],
    },
    ...[0, 50].map((delay) => ({
      name: `snmp: inventory of 4,096 agents with 24 interfaces${delay ? `, answers after ${delay} ms` : ''}`,
      set: () => {
        lab('own', 'all');
        lab('agents', '24', String(delay));
      },
      truth: everybody,
      tools: () => [
        sweep('rollcall-collector sweep', RANGE, 'standard', 24, '--rate', 'max'),
        bulkwalks('snmpbulkwalk, 64 at once, the same tables', [SYSTEM, ...TABLES]),
        bulkwalks('snmpbulkwalk, 64 at once, the same columns', [SYSTEM, ...COLUMNS, ...OTHER_TABLES]),
      ],
      bounds: ({ us, by }) => [
        [
          'seconds per device of ours ≤ 0.2 × snmpbulkwalk of the same tables',
          perSecond(by('snmpbulkwalk, 64 at once, the same tables')) / perSecond(us),
          0.2,
        ],
        [
          'seconds per device of ours ≤ 0.2 × snmpbulkwalk of the same columns',
          perSecond(by('snmpbulkwalk, 64 at once, the same columns')) / perSecond(us),
          0.2,
        ],
      ],
    })),
    {
      name: 'snmp: one snmpd with 1,000 interfaces',
      set: async () => {
        lab('own', 'all');
        lab('agents', 'off');
        lab('snmpd', String(PORTS));
        // The agent fills its caches at the first question, which takes it longer than any walk.
        lab('exec', 'snmpbulkwalk', '-v2c', '-c', 'public', '-t', '20', ONE, '1.3.6.1.2.1.2.2.1.2');
        endCollector ??= await startInstalled();
        // As a collector that has been running for a while.
        for (let i = 0; i < 5; i += 1) await run(handedOver, new Set([ONE]));
      },
      clear: async () => {
        await endCollector?.();
        endCollector = undefined;
        lab('snmpd', 'off');
      },
      prepare: layOutInstalled,
      truth: () => new Set([ONE]),
      tools: () => [
        handedOver,
        asInstalled(oneSweep('rollcall-collector sweep, in a process of its own', '--alone')),
        oneSweep('rollcall-collector sweep, from the checkout', '--alone'),
        {
          name: 'rollcall, the inventory alone, warm',
          command: node('inventory-entry.mjs', ONE),
          found: (text) => new Set(text.split('\n').filter((line) => line === ONE)),
          summary: summaryOf,
        },
        oneWalk(10),
        oneWalk(50),
      ],
      bounds: ({ us, by }) => {
        const rival = Math.min(by('snmpbulkwalk -Cr10').seconds, by('snmpbulkwalk -Cr50').seconds);
        const usual = by('snmpbulkwalk -Cr10').seconds;
        return [
          ['the inventory alone ≤ 0.8 × snmpbulkwalk', by('rollcall, the inventory').proper / rival, 0.8],
          ['whole command ≤ 0.8 × snmpbulkwalk', us.seconds / rival, 0.8],
          ['whole command ≤ 0.8 × snmpbulkwalk as it comes (-Cr10)', us.seconds / usual, 0.8],
        ];
      },
    },
    {
      name: 'snmp: a /24 with 70 devices, default settings',
      set: () => {
        lab('own', listed('seventy.txt', SEVENTY));
        lab('agents', '24');
      },
      truth: () => SEVENTY,
      tools: () => [sweep('rollcall-collector sweep', '198.19.7.0-198.19.7.255', 'standard', 24)],
      bounds: ({ us }) => [
        ['whole command, seconds', us.seconds, 8],
        ['first result, seconds', us.first, 1],
      ],
    },
    {
      name: 'snmp: 96 devices in 15,360 dark addresses, default settings',
      set: () => {
        lab('answer', listed('dark.txt', LIVE_IN_THE_DARK));
        lab('agents', '24');
      },
      truth: () => LIVE_IN_THE_DARK,
      tools: () => [sweep('rollcall-collector sweep', '198.18.0.0-198.18.59.255', 'standard', 24)],
      bounds: ({ us }) => [['whole command, seconds', us.seconds, 180]],
    },
  ].concat(slow ? [STANDARD_TWELVE] : []);
