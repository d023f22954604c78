/** Servers, hypervisors and the management boards of servers. */
import type { Product } from '../product.ts';
import { chassis } from './hardware.ts';

const NET_SNMP_LINUX = '1.3.6.1.4.1.8072.3.2.10';

/** Net-SNMP on Debian reports neither maker nor serial number of the machine. */
export const debian12: Product = {
  class: 'server',
  vendor: null,
  model: null,
  os: 'Linux',
  version: '6.1.0-18-amd64',
  sysObjectId: NET_SNMP_LINUX,
  sysDescr: 'Linux {name} {version} #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64',
  services: 72,
  oui: 'ac:1f:6b',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mtu: 65_536, mac: false },
    { name: 'eno{n}', count: 2, mbps: 10_000 },
  ],
  features: ['lldp', 'arp', 'ip-address-table', 'high-speed', 'engine-id'],
  lldp: { portId: 'mac' },
};

/** A machine in a container host: the same agent, other numbers of interfaces. */
export const ubuntu2204: Product = {
  ...debian12,
  version: '5.15.0-94-generic',
  sysDescr: 'Linux {name} {version} #104-Ubuntu SMP Tue Jan 9 15:25:40 UTC 2024 x86_64',
  oui: '00:50:56',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mtu: 65_536, mac: false },
    { name: 'ens160', descr: 'VMware VMXNET3 Ethernet Controller', count: 1, mbps: 10_000 },
    { name: 'docker0', count: 1, mbps: 0 },
    { name: 'veth{n}', count: 6, mbps: 10_000 },
  ],
};

export const windows2022: Product = {
  class: 'server',
  vendor: 'Microsoft',
  model: null,
  os: 'Windows',
  version: 'Server 2022 (NT 6.3)',
  sysObjectId: '1.3.6.1.4.1.311.1.1.3.1.2',
  sysDescr:
    'Hardware: Intel64 Family 6 Model 106 Stepping 6 AT/AT COMPATIBLE - Software: Windows Version 6.3 ' +
    '(Build 20348 Multiprocessor Free)',
  services: 76,
  oui: '00:0c:29',
  ports: [
    {
      name: 'loopback_0',
      descr: 'Software Loopback Interface 1',
      count: 1,
      mbps: 1073,
      type: 24,
      mac: false,
    },
    {
      name: 'ethernet_32769',
      descr: 'Intel(R) 82574L Gigabit Network Connection',
      count: 1,
      ifIndex: 5,
      mbps: 1000,
    },
    {
      name: 'tunnel_{n}',
      descr: 'WAN Miniport (PPTP) {n}',
      from: 32512,
      count: 2,
      ifIndex: 8,
      mbps: 0,
      type: 131,
      mac: false,
    },
  ],
  features: ['arp', 'high-speed'],
};

/** VMWARE-SYSTEM-MIB vmwProdName, vmwProdVersion, vmwProdBuild. */
export const esxi8: Product = {
  class: 'hypervisor',
  vendor: 'VMware',
  model: 'ProLiant DL380 Gen10',
  os: 'ESXi',
  version: '8.0.2',
  sysObjectId: '1.3.6.1.4.1.6876.4.1',
  sysDescr: 'VMware ESXi {version} build-22380479 VMware, Inc. x86_64',
  services: 72,
  oui: '48:df:37',
  serial: 'CZ2#0@0@@@',
  ports: [
    { name: 'vmnic{n}', descr: 'Device vmnic{n} at 5d:00.{n} i40en', from: 0, count: 4, mbps: 10_000 },
    { name: 'vmk{n}', descr: 'Virtual interface: vmk{n} on vswitch vSwitch0', from: 0, count: 2, mbps: 0 },
    {
      name: 'vSwitch0',
      descr: 'Link Aggregation VM_vswitch0 on switch: vSwitch0',
      count: 1,
      mbps: 0,
      type: 161,
      mac: false,
    },
  ],
  features: ['lldp', 'entity', 'high-speed', 'engine-id'],
  entities: [chassis('chassis', 'HPE ProLiant DL380 Gen10', { manufacturer: 'HPE' })],
  objects: {
    '1.3.6.1.4.1.6876.1.1.0': 'VMware ESXi',
    '1.3.6.1.4.1.6876.1.2.0': '{version}',
    '1.3.6.1.4.1.6876.1.4.0': '22380479',
  },
};

/** IDRAC-MIB: racName, racFirmwareVersion, racVersion; systemServiceTag and systemModelName of the server it manages. */
export const idrac9: Product = {
  class: 'appliance',
  vendor: 'Dell',
  model: 'PowerEdge R640',
  os: 'iDRAC',
  version: '6.10.80.00',
  sysObjectId: '1.3.6.1.4.1.674.10892.5',
  sysDescr: '',
  services: 72,
  oui: 'd0:94:66',
  serial: '@@@@#@3',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth0', count: 1, mbps: 1000 },
  ],
  features: ['high-speed', 'engine-id'],
  objects: {
    '1.3.6.1.4.1.674.10892.5.1.1.1.0': 'iDRAC9',
    '1.3.6.1.4.1.674.10892.5.1.1.8.0': '{version}',
    '1.3.6.1.4.1.674.10892.5.1.3.2.0': '{serial}',
    '1.3.6.1.4.1.674.10892.5.1.3.12.0': '{model}',
  },
};

/** Console server; OG-STATUS-MIB and the product's number under Opengear's products. */
export const opengearIm7200: Product = {
  class: 'appliance',
  vendor: 'Opengear',
  model: 'IM7248-2-DAC',
  os: 'Opengear',
  version: '5.1.1',
  sysObjectId: '1.3.6.1.4.1.25049.1.61',
  sysDescr: 'Opengear/IM72xx Version {version} 7e5a1b7f -- Fri Jun 23 02:41:11 UTC 2023',
  services: 72,
  oui: '00:13:c6',
  serial: '7248########',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth{n}', from: 0, count: 2, mbps: 1000 },
  ],
  features: ['high-speed', 'engine-id'],
  objects: { '1.3.6.1.4.1.25049.17.1.1.0': '{serial}' },
};
