/** Switches and routers of makers with one or two products here: HPE Aruba, D-Link, MikroTik. */
import type { Product } from '../product.ts';
import { chassis, powerSupply } from './hardware.ts';

/** sysObjectID from HP-ICF-OID. */
export const procurve2530: Product = {
  class: 'switch',
  vendor: 'HPE',
  model: 'J9775A 2530-48G',
  os: 'ArubaOS-S',
  version: 'YA.16.11.0015',
  sysObjectId: '1.3.6.1.4.1.11.2.3.7.11.139',
  sysDescr:
    'HP J9775A 2530-48G Switch, revision {version}, ROM YA.15.20 (/ws/swbuildm/rel_ajanta_qaoff/code/build/lakes)',
  services: 2,
  oui: '70:10:6f',
  serial: 'CN##FP@0@@',
  ports: [
    { name: '{n}', count: 48, mbps: 1000 },
    { name: '{n}', from: 49, count: 4, mbps: 1000 },
    { name: 'DEFAULT_VLAN', count: 1, ifIndex: 78, mbps: 1000, type: 53, bridge: false },
  ],
  features: ['lldp', 'bridge', 'q-bridge', 'entity', 'high-speed', 'engine-id'],
  lldp: { portNumber: 'bridgePort' },
  entities: [
    chassis('Chassis', 'HP J9775A Switch 2530-48G', {
      model: 'J9775A',
      manufacturer: 'Hewlett Packard Enterprise',
      firmware: 'YA.15.20',
      software: '{version}',
    }),
  ],
  // SEMI-MIB hpHttpMgSerialNumber.
  objects: { '1.3.6.1.4.1.11.2.36.1.1.2.9.0': '{serial}' },
};

/** sysObjectID from ARUBAWIRED-NETWORKING-OID; speaks the second version of the LLDP MIB. */
export const aruba6300: Product = {
  class: 'switch',
  vendor: 'Aruba',
  model: 'JL661A 6300M',
  os: 'ArubaOS-CX',
  version: 'FL.10.13.1000',
  sysObjectId: '1.3.6.1.4.1.47196.4.1.1.1.103',
  sysDescr: 'Aruba JL661A {version}',
  services: 6,
  oui: '94:60:d5',
  serial: 'SG##KN@0@@',
  ports: [
    { name: '1/1/{n}', count: 48, mbps: 1000 },
    { name: '1/1/{n}', from: 49, count: 4, mbps: 25_000 },
    { name: 'mgmt', count: 1, ifIndex: 1000, mbps: 1000, bridge: false },
  ],
  features: ['lldp-v2', 'bridge', 'q-bridge', 'entity', 'arp', 'high-speed', 'engine-id'],
  entities: [
    chassis('Chassis 1', 'JL661A Aruba 6300M 48G PoE CLS 4 /4SFP56 Swch', {
      model: 'JL661A',
      manufacturer: 'HPE Aruba Networking',
      software: '{version}',
    }),
    powerSupply('Power supply 1/1', {
      description: 'JL086A Aruba X372 54VDC 680W PS',
      model: 'JL086A',
      serial: 'CN##GVZ#@@',
      manufacturer: 'HPE Aruba Networking',
    }),
  ],
};

export const dgs3420: Product = {
  class: 'switch',
  vendor: 'D-Link',
  model: 'DGS-3420-28TC',
  os: null,
  version: '1.50.018',
  sysObjectId: '1.3.6.1.4.1.171.10.119.1',
  sysDescr: 'DGS-3420-28TC Gigabit Ethernet Switch',
  services: 2,
  oui: '1c:af:f7',
  serial: 'R3J####000###',
  ports: [
    { name: '1/{n}', descr: 'RMON Port  {n} on Unit 1', count: 20, mbps: 1000 },
    { name: '1/{n}', descr: 'RMON Port {n} on Unit 1', from: 21, count: 4, mbps: 1000 },
    { name: '1/{n}', descr: 'RMON Port {n} on Unit 1', from: 25, count: 4, mbps: 10_000 },
    {
      name: 'System',
      descr: '802.1Q Encapsulation Tag 0001',
      count: 1,
      ifIndex: 1024,
      mbps: 0,
      type: 136,
      bridge: false,
    },
  ],
  features: ['lldp', 'bridge', 'q-bridge', 'entity', 'high-speed'],
  entities: [
    chassis('Chassis', 'DGS-3420-28TC Gigabit Ethernet Switch', {
      model: 'DGS-3420-28TC',
      manufacturer: 'D-Link',
      firmware: '1.00.003',
      software: 'Build {version}',
      hardware: 'B1',
    }),
  ],
  // EQUIPMENT / AGENT-GENERAL-MIB agentSerialNumber.
  objects: { '1.3.6.1.4.1.171.12.1.1.12.0': '{serial}' },
};

/** MIKROTIK-MIB: mtxrLicVersion, mtxrSerialNumber, mtxrBoardName. */
export const ccr2004: Product = {
  class: 'router',
  vendor: 'MikroTik',
  model: 'CCR2004-1G-12S+2XS',
  os: 'RouterOS',
  version: '7.13.4',
  sysObjectId: '1.3.6.1.4.1.14988.1',
  sysDescr: 'RouterOS CCR2004-1G-12S+2XS',
  services: 78,
  oui: '74:4d:28',
  serial: 'HE#08@@####',
  ports: [
    { name: 'ether1', count: 1, mbps: 1000 },
    { name: 'sfp-sfpplus{n}', count: 12, mbps: 10_000 },
    { name: 'sfp28-{n}', count: 2, mbps: 25_000 },
  ],
  features: ['lldp', 'arp', 'high-speed', 'engine-id'],
  objects: {
    '1.3.6.1.4.1.14988.1.1.4.4.0': '{version}',
    '1.3.6.1.4.1.14988.1.1.7.3.0': '{serial}',
    '1.3.6.1.4.1.14988.1.1.7.8.0': '{model}',
  },
};
