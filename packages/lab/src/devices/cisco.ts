/** Cisco: sysObjectIDs from CISCO-PRODUCTS-MIB. */
import type { Feature } from '../device.ts';
import type { EntityTemplate, Product } from '../product.ts';
import { chassis, powerSupply } from './hardware.ts';

const CISCO = '1.3.6.1.4.1.9.1';
const SWITCH: Feature[] = [
  'lldp',
  'cdp',
  'bridge',
  'vlan-contexts',
  'entity',
  'arp',
  'high-speed',
  'engine-id',
];
const ROUTER: Feature[] = ['lldp', 'cdp', 'entity', 'arp', 'ip-address-table', 'high-speed', 'engine-id'];

const ios = (software: string, fc = 'fc3') =>
  `Cisco IOS Software [Cupertino], ${software}, Version {version}, RELEASE SOFTWARE (${fc})\r\n` +
  'Technical Support: http://www.cisco.com/techsupport\r\nCopyright (c) 1986-2023 by Cisco Systems, Inc.\r\n' +
  'Compiled Fri 20-Oct-23 10:44 by mcpre';

const stackEntities = (model: string, power: string): EntityTemplate[] => [
  {
    key: 'stack',
    class: 'stack',
    name: 'c93xx Stack',
    description: 'c93xx Stack',
    manufacturer: 'Cisco Systems Inc',
  },
  chassis('Switch {m}', `Cisco Catalyst ${model}`, {
    parent: 'stack',
    model,
    manufacturer: 'Cisco Systems Inc',
    software: '{version}',
    hardware: 'V02',
    fru: true,
  }),
  powerSupply('Switch {m} - Power Supply A', {
    description: `Switch {m} - Power Supply A`,
    model: power,
    serial: 'LIT####@@@@',
    manufacturer: 'Cisco Systems Inc',
  }),
  {
    key: 'uplink',
    class: 'module',
    parent: 'chassis',
    name: 'Switch {m} FRU Uplink Module 1',
    description: '8x10G Uplink Module',
    model: 'C9300-NM-8X',
    serial: 'FOC####@@@@',
    manufacturer: 'Cisco Systems Inc',
    fru: true,
  },
];

export const catalyst9300: Product = {
  class: 'switch',
  vendor: 'Cisco',
  model: 'C9300-48P',
  os: 'IOS-XE',
  version: '17.9.4a',
  sysObjectId: `${CISCO}.2494`,
  sysDescr: ios('Catalyst L3 Switch Software (CAT9K_IOSXE)'),
  services: 6,
  oui: '4c:77:6d',
  serial: 'FCW####L0@@',
  ports: [
    { name: 'Vl1', descr: 'Vlan1', count: 1, mbps: 1000, type: 53, bridge: false },
    { name: 'Gi{m}/0/{n}', descr: 'GigabitEthernet{m}/0/{n}', count: 48, mbps: 1000 },
    { name: 'Te{m}/1/{n}', descr: 'TenGigabitEthernet{m}/1/{n}', count: 8, mbps: 10_000 },
  ],
  features: [...SWITCH, 'dhcp-snooping'],
  entities: stackEntities('C9300-48P', 'PWR-C1-715WAC'),
};

export const catalyst9500: Product = {
  class: 'switch',
  vendor: 'Cisco',
  model: 'C9500-48Y4C',
  os: 'IOS-XE',
  version: '17.9.4a',
  sysObjectId: `${CISCO}.2568`,
  sysDescr: ios('Catalyst L3 Switch Software (CAT9K_IOSXE)'),
  services: 6,
  oui: '70:18:a7',
  serial: 'CAT####L0@@',
  ports: [
    { name: 'Gi0/0', descr: 'GigabitEthernet0/0', count: 1, mbps: 1000, bridge: false },
    { name: 'Twe1/0/{n}', descr: 'TwentyFiveGigE1/0/{n}', count: 48, mbps: 25_000 },
    { name: 'Hu1/0/{n}', descr: 'HundredGigE1/0/{n}', from: 49, count: 4, mbps: 100_000 },
  ],
  features: [...SWITCH, 'ip-address-table'],
  entities: [
    chassis('Chassis', 'Cisco Catalyst 9500 Series Chassis', {
      manufacturer: 'Cisco Systems Inc',
      software: '{version}',
      hardware: 'V03',
    }),
    ...['1', '2'].map(
      (n): EntityTemplate =>
        powerSupply(`Power Supply Module ${n}`, {
          key: `psu${n}`,
          description: 'Cisco Catalyst 9500 Series 650W AC Power Supply',
          model: 'C9K-PWR-650WAC-R',
          serial: 'ART####@@@@',
          manufacturer: 'Cisco Systems Inc',
        }),
    ),
  ],
};

/** An old switch that speaks nothing but v1: no ifXTable, no 64-bit counters, no ENTITY-MIB. */
export const catalyst2950: Product = {
  class: 'switch',
  vendor: 'Cisco',
  model: 'WS-C2950T-24',
  os: 'IOS',
  version: '12.1(22)EA14',
  sysObjectId: `${CISCO}.359`,
  sysDescr:
    'Cisco Internetwork Operating System Software \r\nIOS (tm) C2950 Software (C2950-I6Q4L2-M), Version {version}, ' +
    'RELEASE SOFTWARE (fc1)\r\nTechnical Support: http://www.cisco.com/techsupport\r\n' +
    'Copyright (c) 1986-2010 by cisco Systems, Inc.\r\nCompiled Tue 26-Oct-10 10:35 by nburra',
  services: 2,
  oui: '00:0d:28',
  serial: 'FOC####X#@@',
  ports: [
    { name: 'Fa0/{n}', descr: 'FastEthernet0/{n}', count: 24, mbps: 100 },
    { name: 'Gi0/{n}', descr: 'GigabitEthernet0/{n}', count: 2, mbps: 1000 },
    { name: 'Vl1', descr: 'Vlan1', count: 1, mbps: 1000, type: 53, bridge: false },
  ],
  features: ['cdp', 'bridge', 'vlan-contexts'],
  objects: {
    // OLD-CISCO-CHASSIS-MIB chassisId.
    '1.3.6.1.4.1.9.3.6.3.0': '{serial}',
  },
};

const routerEntities = (description: string): EntityTemplate[] => [
  chassis('Chassis', description, {
    manufacturer: 'Cisco Systems Inc',
    software: '{version}',
    hardware: 'V04',
  }),
  powerSupply('Power Supply Module 0', {
    description: '250W AC Power Supply for Cisco',
    model: 'PWR-4330-AC',
    serial: 'PST####@@@@',
    manufacturer: 'Cisco Systems Inc',
  }),
];

export const isr4331: Product = {
  class: 'router',
  vendor: 'Cisco',
  model: 'ISR4331/K9',
  os: 'IOS-XE',
  version: '17.6.5',
  sysObjectId: `${CISCO}.2068`,
  sysDescr: ios('ISR Software (X86_64_LINUX_IOSD-UNIVERSALK9-M)', 'fc2'),
  services: 4 + 64 + 8 + 2,
  oui: '00:fd:22',
  serial: 'FDO####@@@@',
  ports: [
    { name: 'Gi0/0/{n}', descr: 'GigabitEthernet0/0/{n}', from: 0, count: 3, mbps: 1000 },
    { name: 'Gi0', descr: 'GigabitEthernet0', count: 1, mbps: 1000 },
  ],
  features: ROUTER,
  entities: routerEntities('Cisco ISR4331 Chassis'),
};

export const asr1001x: Product = {
  ...isr4331,
  model: 'ASR1001-X',
  version: '17.6.5',
  sysObjectId: `${CISCO}.1861`,
  sysDescr: ios('ASR1000 Software (X86_64_LINUX_IOSD-UNIVERSALK9-M)', 'fc2'),
  oui: 'a8:0c:0d',
  serial: 'FXS####Q@@@',
  ports: [
    { name: 'Te0/0/{n}', descr: 'TenGigabitEthernet0/0/{n}', from: 0, count: 2, mbps: 10_000 },
    { name: 'Gi0/0/{n}', descr: 'GigabitEthernet0/0/{n}', from: 0, count: 6, mbps: 1000 },
    { name: 'Gi0', descr: 'GigabitEthernet0', count: 1, mbps: 1000 },
  ],
  entities: routerEntities('Cisco ASR1001-X Chassis'),
};

export const c9800: Product = {
  class: 'wireless',
  vendor: 'Cisco',
  model: 'C9800-40-K9',
  os: 'IOS-XE',
  version: '17.9.4a',
  sysObjectId: `${CISCO}.2530`,
  sysDescr: ios('C9800 Software (C9800_IOSXE-K9)'),
  services: 6,
  oui: '6c:8b:d3',
  serial: 'TTM####@@@@',
  ports: [
    { name: 'Te0/0/{n}', descr: 'TenGigabitEthernet0/0/{n}', from: 0, count: 4, mbps: 10_000 },
    { name: 'Gi0', descr: 'GigabitEthernet0', count: 1, mbps: 1000 },
  ],
  features: ['cdp', 'lldp', 'entity', 'high-speed', 'engine-id'],
  entities: [
    chassis('Chassis 1', 'Cisco C9800-40-K9 Chassis', {
      manufacturer: 'Cisco Systems Inc',
      software: '{version}',
    }),
  ],
};
