/** Firewalls and load-balancers. */
import type { Product } from '../product.ts';
import { integer } from '../value.ts';
import { chassis } from './hardware.ts';

/** FORTINET-CORE-MIB fnSysSerial, FORTINET-FORTIGATE-MIB fgSysVersion. */
export const fortigate100f: Product = {
  class: 'firewall',
  vendor: 'Fortinet',
  model: 'FGT_100F',
  os: 'FortiOS',
  version: 'v7.2.8,build1639,240313 (GA.M)',
  sysObjectId: '1.3.6.1.4.1.12356.101.1.1000',
  sysDescr: '',
  services: 78,
  oui: '94:f3:92',
  serial: 'FG100FTK########',
  ports: [
    { name: 'dmz', count: 1, mbps: 1000 },
    { name: 'mgmt', count: 1, mbps: 1000 },
    { name: 'wan{n}', count: 2, mbps: 1000 },
    { name: 'ha{n}', count: 2, mbps: 1000 },
    { name: 'x{n}', count: 2, mbps: 10_000 },
    { name: 'port{n}', count: 20, mbps: 1000 },
    { name: 'ssl.root', count: 1, mbps: 0, type: 131, mac: false },
  ],
  features: ['lldp', 'entity', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  entities: [
    chassis('{model}', 'Fortinet {model}, HW Serial#: {serial}', {
      manufacturer: 'Fortinet',
      software: 'FortiGate-100F {version}',
    }),
  ],
  objects: {
    '1.3.6.1.4.1.12356.100.1.1.1.0': '{serial}',
    '1.3.6.1.4.1.12356.101.4.1.1.0': '{version}',
    // fgHaSystemMode: standalone.
    '1.3.6.1.4.1.12356.101.13.1.1.0': integer(1),
  },
};

/** PAN-COMMON-MIB panSysSwVersion, panSysHwVersion, panSysSerialNumber. */
export const pa820: Product = {
  class: 'firewall',
  vendor: 'Palo Alto Networks',
  model: 'PA-820',
  os: 'PAN-OS',
  version: '10.2.9-h1',
  sysObjectId: '1.3.6.1.4.1.25461.2.3.36',
  sysDescr: 'Palo Alto Networks PA-800 series firewall',
  services: 72,
  oui: '24:0b:0a',
  serial: '0129010#####',
  ports: [
    { name: 'mgmt', count: 1, mbps: 1000 },
    { name: 'ethernet1/{n}', count: 12, mbps: 1000 },
    { name: 'vlan', count: 1, mbps: 0, type: 136, mac: false },
    { name: 'loopback', count: 1, mbps: 0, type: 24, mac: false },
    { name: 'tunnel', count: 1, mbps: 0, type: 131, mac: false },
  ],
  features: ['lldp', 'entity', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  entities: [
    chassis('PA-820', 'PA-820', {
      model: 'PA-820',
      manufacturer: 'Palo Alto Networks',
      software: '{version}',
    }),
  ],
  objects: {
    '1.3.6.1.4.1.25461.2.1.2.1.1.0': '{version}',
    '1.3.6.1.4.1.25461.2.1.2.1.2.0': '1.0',
    '1.3.6.1.4.1.25461.2.1.2.1.3.0': '{serial}',
  },
};

/** F5-BIGIP-SYSTEM-MIB: sysProductName, -Version, -Build; sysGeneralChassisSerialNum; sysPlatformInfoMarketingName. */
export const bigip4200: Product = {
  class: 'load-balancer',
  vendor: 'F5',
  model: 'BIG-IP 4200',
  os: 'BIG-IP',
  version: '16.1.4',
  sysObjectId: '1.3.6.1.4.1.3375.2.1.3.4.82',
  sysDescr: 'Linux {name} 3.10.0-862.14.4.el7.ve.x86_64 #1 SMP Thu Aug 24 10:38:44 PDT 2023 x86_64',
  services: 72,
  oui: '00:94:a1',
  serial: 'f5-@@@@-####',
  ports: [
    { name: 'mgmt', count: 1, mbps: 1000 },
    { name: '1.{n}', count: 8, mbps: 1000 },
    { name: '2.{n}', count: 2, mbps: 10_000 },
    { name: '/Common/http-tunnel', count: 1, mbps: 0, type: 131, mac: false },
  ],
  features: ['lldp', 'high-speed', 'engine-id'],
  lldp: { portId: 'name' },
  objects: {
    '1.3.6.1.4.1.3375.2.1.3.3.3.0': '{serial}',
    '1.3.6.1.4.1.3375.2.1.3.5.2.0': '{model}',
    '1.3.6.1.4.1.3375.2.1.4.1.0': 'BIG-IP',
    '1.3.6.1.4.1.3375.2.1.4.2.0': '{version}',
    '1.3.6.1.4.1.3375.2.1.4.3.0': '0.0.5',
  },
};
