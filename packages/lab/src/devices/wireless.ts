/** Access points and their controllers (Cisco's controller is in `cisco.ts`). */
import type { Product } from '../product.ts';
import { chassis } from './hardware.ts';

export const arubaAp515: Product = {
  class: 'wireless',
  vendor: 'Aruba',
  model: '515',
  os: 'ArubaOS',
  version: '8.10.0.6-8.10.0.6',
  sysObjectId: '1.3.6.1.4.1.14823.1.2.107',
  sysDescr: 'ArubaOS (MODEL: 515), Version {version} LSR',
  services: 72,
  oui: 'f8:60:f0',
  serial: 'CNJ#K@@@@@',
  ports: [
    { name: 'eth{n}', from: 0, count: 2, mbps: 2500 },
    { name: 'bond0', count: 1, mbps: 2500, type: 161 },
    { name: 'radio{n}', from: 0, count: 2, mbps: 4800, type: 71 },
  ],
  features: ['lldp', 'high-speed'],
  lldp: { portId: 'mac' },
};

export const aruba7030: Product = {
  class: 'wireless',
  vendor: 'Aruba',
  model: 'Aruba7030',
  os: 'ArubaOS',
  version: '8.10.0.9',
  sysObjectId: '1.3.6.1.4.1.14823.1.1.41',
  sysDescr: 'ArubaOS (MODEL: Aruba7030), Version {version} (88493)',
  services: 6,
  oui: '20:9c:b4',
  serial: 'CV00#####',
  ports: [{ name: 'GE0/0/{n}', from: 0, count: 8, mbps: 1000 }],
  features: ['lldp', 'entity', 'high-speed', 'engine-id'],
  entities: [
    chassis('Aruba7030', 'Aruba 7030 Mobility Controller', {
      model: '7030',
      manufacturer: 'Aruba Networks',
      software: '{version}',
    }),
  ],
  // WLSX-SYSTEMEXT-MIB wlsxSysExtModelName, -SwVersion, -SerialNumber.
  objects: {
    '1.3.6.1.4.1.14823.2.2.1.2.1.3.0': 'Aruba7030',
    '1.3.6.1.4.1.14823.2.2.1.2.1.29.0': '{serial}',
    '1.3.6.1.4.1.14823.2.2.1.2.1.28.0': '{version}',
  },
};

/** UBNT-UniFi-MIB unifiApSystemModel and unifiApSystemVersion; the agent is Net-SNMP with its sysObjectID. */
export const unifiU6: Product = {
  class: 'wireless',
  vendor: 'Ubiquiti',
  model: 'U6-Pro',
  os: 'UniFi',
  version: '6.6.55.15189',
  sysObjectId: '1.3.6.1.4.1.8072.3.2.10',
  sysDescr: 'U6-Pro {version}',
  services: 76,
  oui: '78:45:58',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth0', count: 1, mbps: 1000 },
    { name: 'wifi{n}', from: 0, count: 2, mbps: 0, type: 71 },
    { name: 'br0', count: 1, mbps: 0, type: 209, bridge: false },
  ],
  features: ['lldp', 'high-speed'],
  lldp: { portId: 'mac' },
  objects: { '1.3.6.1.4.1.41112.1.6.3.3.0': '{model}', '1.3.6.1.4.1.41112.1.6.3.6.0': '{version}' },
};
