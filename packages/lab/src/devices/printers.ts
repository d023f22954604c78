/** Printers: how they name themselves and the device id that makers keep under their own number. */
import type { Product } from '../product.ts';

/** hrDeviceDescr of the first device, and prtGeneralSerialNumber. */
const DESCRIPTION = '1.3.6.1.2.1.25.3.2.1.3.1';
const SERIAL = '1.3.6.1.2.1.43.5.1.1.17.1';

export const hpM528: Product = {
  class: 'printer',
  vendor: 'HP',
  model: 'LaserJet MFP M528',
  os: 'JetDirect',
  version: '2506116_036868',
  sysObjectId: '1.3.6.1.4.1.11.2.3.9.1',
  sysDescr: 'HP ETHERNET MULTI-ENVIRONMENT,ROM none,JETDIRECT,JD153,EEPROM JSI24180012,CIDATE 09/10/2021',
  services: 72,
  oui: '84:2a:fd',
  serial: 'CNB1@#####',
  ports: [
    { name: 'lo', count: 1, mbps: 0, type: 24, mac: false },
    { name: 'eth0', descr: 'HP ETHERNET MULTI-ENVIRONMENT,ROM none,JETDIRECT,JD153', count: 1, mbps: 1000 },
  ],
  features: ['high-speed'],
  objects: {
    [DESCRIPTION]: 'HP LaserJet MFP M528',
    [SERIAL]: '{serial}',
    '1.3.6.1.4.1.11.2.3.9.1.1.7.0':
      'MFG:HP;MDL:HP {model};CMD:PJL,PML,PCLXL,URP,PCL,PDF,POSTSCRIPT;CLS:PRINTER;SN:{serial};',
    '1.3.6.1.4.1.11.2.3.9.4.2.1.1.3.3.0': '{serial}',
    '1.3.6.1.4.1.11.2.3.9.4.2.1.1.3.6.0': '{version}',
  },
};

/** An old one: v1 only. */
export const jetdirect4250: Product = {
  ...hpM528,
  model: 'LaserJet 4250',
  version: null,
  sysDescr: 'HP ETHERNET MULTI-ENVIRONMENT,ROM V.28.22,JETDIRECT,JD95,EEPROM V.28.63,CIDATE 07/22/2005',
  oui: '00:17:08',
  ports: [{ name: 'eth0', descr: 'HP ETHERNET MULTI-ENVIRONMENT', count: 1, mbps: 100 }],
  features: [],
  objects: {
    [DESCRIPTION]: 'hp LaserJet 4250',
    [SERIAL]: '{serial}',
    '1.3.6.1.4.1.11.2.3.9.1.1.7.0':
      'MFG:Hewlett-Packard;CMD:PJL,MLC,PCLXL,PCL,PJL,POSTSCRIPT;MDL:hp {model};CLS:PRINTER;',
  },
};

export const brotherHl6400: Product = {
  class: 'printer',
  vendor: 'Brother',
  model: 'HL-L6400DW series',
  os: null,
  version: '1.21',
  sysObjectId: '1.3.6.1.4.1.2435.2.3.9.1',
  sysDescr: 'Brother NC-8700w, Firmware Ver.{version}  ,MID 8C5-G39,FID 2',
  services: 72,
  oui: '30:05:5c',
  serial: 'E7####@#J######',
  ports: [
    { name: 'Ethernet', descr: 'Brother NC-8700w', count: 1, mbps: 1000 },
    { name: 'Loopback', count: 1, mbps: 10, type: 24, mac: false },
  ],
  features: [],
  objects: {
    [DESCRIPTION]: 'Brother HL-L6400DW series',
    [SERIAL]: '{serial}',
    '1.3.6.1.4.1.2435.2.3.9.1.1.7.0':
      'MFG:Brother;CMD:PJL,PCL,PCLXL,URF;MDL:{model};CLS:PRINTER;CID:Brother Laser Type1;',
  },
};
