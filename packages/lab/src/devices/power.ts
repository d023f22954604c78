/** Uninterruptible power supplies and power distribution units. */
import type { Product } from '../product.ts';
import { chassis } from './hardware.ts';

const APC = '1.3.6.1.4.1.318';
/** upsIdent of the UPS-MIB (RFC 1628). */
const UPS_IDENT = '1.3.6.1.2.1.33.1.1';
const card = (application: string, model: string) =>
  `APC Web/SNMP Management Card (MB:v4.1.0 PF:v{version} PN:apc_hw05_aos_708.bin AF1:v{version} AN1:${application} ` +
  `MN:${model} HR:05 SN: ZA1919012345 MD:05/09/2019)`;
const LAN = { name: 'veda', count: 1, ifIndex: 2, mbps: 100 };

/** PowerNet-MIB upsBasicIdentModel, upsAdvIdentFirmwareRevision, upsAdvIdentSerialNumber. */
export const apcSmartUps: Product = {
  class: 'ups',
  vendor: 'APC',
  model: 'Smart-UPS X 3000',
  os: 'AOS',
  version: '7.0.8',
  sysObjectId: `${APC}.1.3.27`,
  sysDescr: card('apc_hw05_sumx_708.bin', 'AP9631'),
  services: 72,
  oui: '00:c0:b7',
  serial: 'AS##########',
  ports: [{ name: 'lo0', count: 1, ifIndex: 1, mbps: 0, type: 24, mac: false }, LAN],
  features: ['engine-id'],
  objects: {
    [`${UPS_IDENT}.1.0`]: 'American Power Conversion Corp.',
    [`${UPS_IDENT}.2.0`]: 'Smart-UPS X 3000',
    [`${UPS_IDENT}.3.0`]: 'UPS 09.8 (ID20)',
    [`${UPS_IDENT}.4.0`]: 'PowerNet SNMP Agent SW v2.2 compatible',
    [`${APC}.1.1.1.1.1.1.0`]: '{model}',
    [`${APC}.1.1.1.1.2.1.0`]: 'UPS 09.8 (ID20)',
    [`${APC}.1.1.1.1.2.3.0`]: '{serial}',
  },
};

/** XUPS-MIB xupsIdentManufacturer, -Model, -SoftwareVersion; the serial number is in ENTITY-MIB. */
export const eaton9px: Product = {
  class: 'ups',
  vendor: 'Eaton',
  model: 'Eaton 9PX 3000i',
  os: null,
  version: '1.7.5',
  sysObjectId: '1.3.6.1.4.1.534.1',
  sysDescr: 'Eaton 9PX 3000i',
  services: 72,
  oui: '00:20:85',
  serial: 'G###K#####',
  ports: [
    { name: 'lo', count: 1, mbps: 10, type: 24, mac: false },
    { name: 'eth0', count: 1, mbps: 1000 },
  ],
  features: ['entity', 'high-speed', 'engine-id'],
  entities: [
    chassis('UPS', 'Eaton 9PX 3000i', { model: '9PX 3000i', manufacturer: 'EATON', firmware: '{version}' }),
  ],
  objects: {
    [`${UPS_IDENT}.1.0`]: 'EATON',
    [`${UPS_IDENT}.2.0`]: 'Eaton 9PX 3000i',
    [`${UPS_IDENT}.3.0`]: 'INV: 01.20.5072',
    [`${UPS_IDENT}.4.0`]: 'Network-M2 {version}',
    '1.3.6.1.4.1.534.1.1.1.0': 'EATON',
    '1.3.6.1.4.1.534.1.1.2.0': '{model}',
    '1.3.6.1.4.1.534.1.1.3.0': 'INV: 01.20.5072',
  },
};

/** PowerNet-MIB rPDUIdent and rPDU2Ident groups. */
export const apcPdu: Product = {
  class: 'pdu',
  vendor: 'APC',
  model: 'AP8959EU3',
  os: 'AOS',
  version: '6.8.2',
  sysObjectId: `${APC}.1.3.4.6`,
  sysDescr: card('apc_hw05_rpdu2g_682.bin', 'AP8959EU3'),
  services: 72,
  oui: '00:c0:b7',
  serial: 'ZA##########',
  ports: [{ name: 'lo0', count: 1, ifIndex: 1, mbps: 0, type: 24, mac: false }, LAN],
  features: ['engine-id'],
  objects: {
    [`${APC}.1.1.12.1.1.0`]: '{name}',
    [`${APC}.1.1.12.1.3.0`]: '{version}',
    [`${APC}.1.1.12.1.5.0`]: '{model}',
    [`${APC}.1.1.12.1.6.0`]: '{serial}',
    [`${APC}.1.1.12.1.8.0`]: 24,
    [`${APC}.1.1.26.2.1.8.1`]: '{model}',
    [`${APC}.1.1.26.2.1.9.1`]: '{serial}',
  },
};

/** An old MasterSwitch that knows only v1. */
export const masterSwitch: Product = {
  ...apcPdu,
  model: 'AP7920',
  version: '2.7.0',
  sysObjectId: `${APC}.1.3.4.4`,
  sysDescr:
    'APC Web/SNMP Management Card (MB:v3.8.6 PF:v{version} PN:apc_hw02_aos_270.bin AF1:v2.7.3 ' +
    'AN1:apc_hw02_rpdu_273.bin MN:AP7920 HR:B2 SN: {serial} MD:04/22/2004)',
  features: [],
  objects: { [`${APC}.1.1.4.1.4.0`]: '{model}', [`${APC}.1.1.4.1.5.0`]: '{serial}' },
};
