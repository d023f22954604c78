/** Juniper: sysObjectIDs from JUNIPER-CHASSIS-DEFINES-MIB. */
import type { EntityTemplate, Product } from '../product.ts';
import { chassis, powerSupply } from './hardware.ts';

const JUNIPER = '1.3.6.1.4.1.2636';

const junos = (box: string, built: string) =>
  `Juniper Networks, Inc. ${box}, kernel JUNOS {version}, Build date: ${built} Copyright (c) 1996-2023 Juniper ` +
  'Networks, Inc.';

/** JUNIPER-MIB jnxBoxDescr and jnxBoxSerialNo. */
const boxObjects = (descr: string) => ({ [`${JUNIPER}.3.1.2.0`]: descr, [`${JUNIPER}.3.1.3.0`]: '{serial}' });

const box = (model: string, description: string): EntityTemplate =>
  chassis(description, description, { model, manufacturer: 'Juniper Networks', software: '{version}' });

export const mx240: Product = {
  class: 'router',
  vendor: 'Juniper',
  model: 'MX240',
  os: 'Junos',
  version: '21.2R3-S4.8',
  sysObjectId: `${JUNIPER}.1.1.1.2.29`,
  sysDescr: junos('mx240 internet router', '2023-02-14 07:20:20 UTC'),
  services: 4,
  oui: '84:b5:9c',
  serial: 'JN12####@AFC',
  ports: [
    { name: 'fxp0', count: 1, ifIndex: 1, mbps: 1000, mtu: 1514 },
    { name: 'lsi', count: 1, ifIndex: 4, mbps: 0, type: 150, mac: false },
    { name: 'xe-2/0/{n}', from: 0, count: 4, ifIndex: 512, mbps: 10_000, mtu: 1514 },
    { name: 'ge-2/1/{n}', from: 0, count: 10, ifIndex: 520, mbps: 1000, mtu: 1514 },
  ],
  features: ['lldp', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  lldp: { portId: 'index' },
  objects: boxObjects('Juniper MX240 Internet Backbone Router'),
};

export const ex3400: Product = {
  class: 'switch',
  vendor: 'Juniper',
  model: 'EX3400-48P',
  os: 'Junos',
  version: '21.4R3-S5.4',
  sysObjectId: `${JUNIPER}.1.1.1.4.131.4`,
  sysDescr: junos('ex3400-48p Ethernet Switch', '2023-09-07 22:12:40 UTC'),
  services: 6,
  oui: 'ec:3e:f7',
  serial: 'NW02########',
  ports: [
    { name: 'me0', count: 1, ifIndex: 1, mbps: 1000, bridge: false, mtu: 1514 },
    { name: 'ge-0/0/{n}', from: 0, count: 48, ifIndex: 514, mbps: 1000, mtu: 1514 },
    { name: 'xe-0/2/{n}', from: 0, count: 4, ifIndex: 600, mbps: 10_000, mtu: 1514 },
  ],
  features: ['lldp', 'bridge', 'q-bridge', 'entity', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  lldp: { portId: 'index' },
  entities: [
    box('EX3400-48P', 'Juniper EX3400-48P Switch'),
    powerSupply('Power Supply 0 @ 0/0/*', {
      description: 'JPSU-920-AC-AFO',
      model: 'JPSU-920-AC-AFO',
      serial: '1EDN########',
      manufacturer: 'Juniper Networks',
    }),
  ],
  objects: boxObjects('Juniper EX3400-48P Switch'),
};

export const srx300: Product = {
  class: 'firewall',
  vendor: 'Juniper',
  model: 'SRX300',
  os: 'Junos',
  version: '21.4R3-S3.4',
  sysObjectId: `${JUNIPER}.1.1.1.2.133`,
  sysDescr: junos('srx300 internet router', '2023-03-23 01:39:52 UTC'),
  services: 4,
  oui: '0c:59:9c',
  serial: 'CV####AF####',
  ports: [{ name: 'ge-0/0/{n}', from: 0, count: 8, ifIndex: 507, mbps: 1000, mtu: 1514 }],
  features: ['lldp', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  lldp: { portId: 'index' },
  objects: boxObjects('Juniper SRX300 Internet Router'),
};
