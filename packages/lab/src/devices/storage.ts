/** Storage boxes. */
import type { Product } from '../product.ts';

/** NETAPP-MIB productVersion, productModel, productSerialNum; netappCluster as sysObjectID. */
export const netappA250: Product = {
  class: 'storage',
  vendor: 'NetApp',
  model: 'AFF-A250',
  os: 'Data ONTAP',
  version: '9.12.1P8',
  sysObjectId: '1.3.6.1.4.1.789.2.5',
  sysDescr: 'NetApp Release {version}: Tue Sep 05 14:20:31 UTC 2023',
  services: 72,
  oui: 'd0:39:ea',
  serial: '9421########',
  ports: [
    { name: 'node-01:e0M', count: 1, mbps: 1000 },
    { name: 'node-01:e{n}a', count: 4, mbps: 25_000 },
    { name: 'node-02:e0M', count: 1, mbps: 1000 },
    { name: 'node-02:e{n}a', count: 4, mbps: 25_000 },
  ],
  features: ['high-speed', 'engine-id'],
  objects: {
    '1.3.6.1.4.1.789.1.1.2.0': 'NetApp Release {version}: Tue Sep 05 14:20:31 UTC 2023',
    '1.3.6.1.4.1.789.1.1.5.0': '{model}',
    '1.3.6.1.4.1.789.1.1.9.0': '{serial}',
  },
};

/** SYNOLOGY-SYSTEM-MIB modelName, serialNumber, version. */
export const synologyRs2421: Product = {
  class: 'storage',
  vendor: 'Synology',
  model: 'RS2421+',
  os: 'DSM',
  version: '7.2-64570',
  sysObjectId: '1.3.6.1.4.1.8072.3.2.10',
  sysDescr: 'Linux {name} 4.4.302+ #64570 SMP Thu Jul 20 07:05:06 CST 2023 x86_64',
  services: 72,
  oui: '90:09:d0',
  serial: '22##SHR######',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth{n}', from: 0, count: 4, mbps: 1000 },
  ],
  features: ['high-speed', 'ip-address-table'],
  objects: {
    '1.3.6.1.4.1.6574.1.5.1.0': '{model}',
    '1.3.6.1.4.1.6574.1.5.2.0': '{serial}',
    '1.3.6.1.4.1.6574.1.5.3.0': 'DSM {version}',
    '1.3.6.1.4.1.6574.1.1.0': 1,
  },
};
