/** Cameras, phones, sensors: small agents that show little. */
import type { Product } from '../product.ts';

/** AXIS-ROOT-MIB number; product and version stand in sysDescr. */
export const axisP3245: Product = {
  class: 'camera',
  vendor: 'Axis',
  model: 'AXIS P3245-LV',
  os: 'AXIS OS',
  version: '10.12.166',
  sysObjectId: '1.3.6.1.4.1.368.1.1',
  sysDescr: ' ; {model}; Network Camera; {version}; Mar 16 2023 11:09; 79B; 1; ',
  services: 72,
  oui: 'b8:a4:4f',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth0', count: 1, mbps: 100 },
  ],
  features: ['lldp-sender', 'high-speed'],
  lldp: { portId: 'mac' },
};

export const snomD785: Product = {
  class: 'phone',
  vendor: 'Snom',
  model: 'snom D785',
  os: null,
  version: '10.1.64.14',
  sysObjectId: '1.3.6.1.4.1.7526.2.4',
  sysDescr: 'snomD785-SIP {version}',
  services: 72,
  oui: '00:04:13',
  ports: [{ name: 'eth0', count: 1, mbps: 1000 }],
  features: ['lldp-sender'],
  lldp: { portId: 'mac' },
};

/** SPAGENT-MIB: sensorProbeTempDegree and -Description of the first sensors. */
export const akcpSensorProbe: Product = {
  class: 'sensor',
  vendor: 'AKCP',
  model: 'sensorProbe2',
  os: null,
  version: '2.0',
  sysObjectId: '1.3.6.1.4.1.3854.1',
  sysDescr: 'sensorProbe2 v {version} SP482',
  services: 72,
  oui: '00:0b:dc',
  ports: [{ name: 'eth0', descr: 'Ethernet', count: 1, mbps: 10 }],
  features: [],
  objects: {
    '1.3.6.1.4.1.3854.1.2.2.1.16.1.1.0': 'Rack 1 inlet',
    '1.3.6.1.4.1.3854.1.2.2.1.16.1.3.0': 22,
    '1.3.6.1.4.1.3854.1.2.2.1.16.1.1.1': 'Rack 1 outlet',
    '1.3.6.1.4.1.3854.1.2.2.1.16.1.3.1': 31,
  },
};

/** A host that answers nothing but ICMP; only its hardware address says more, to its switch. */
export const workstation: Product = {
  class: 'unknown',
  vendor: null,
  model: null,
  os: null,
  version: null,
  sysObjectId: '0.0',
  sysDescr: '',
  services: 72,
  oui: '88:70:8c',
  ports: [{ name: 'eth0', count: 1, mbps: 1000 }],
  features: [],
};
