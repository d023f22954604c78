/** SNMPv2-MIB system and snmp groups (RFC 3418), SNMP-FRAMEWORK-MIB snmpEngine (RFC 3411). */
import type { Device } from '../device.ts';
import { counter32, oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const SYSTEM = '1.3.6.1.2.1.1';
const SNMP_ENGINE = '1.3.6.1.6.3.10.2.1';

export function system(sheet: Sheet, device: Device): void {
  const ticks = (uptime: number) => timeticks((device.upBefore + uptime) * 100);
  sheet.put(`${SYSTEM}.1.0`, device.sysDescr);
  sheet.put(`${SYSTEM}.2.0`, oid(device.sysObjectId));
  sheet.put(`${SYSTEM}.3.0`, ticks);
  sheet.put(`${SYSTEM}.4.0`, device.sysContact);
  sheet.put(`${SYSTEM}.5.0`, device.sysName);
  sheet.put(`${SYSTEM}.6.0`, device.sysLocation);
  sheet.put(`${SYSTEM}.7.0`, device.sysServices);
  sheet.put('1.3.6.1.2.1.11.1.0', (uptime) => counter32(device.upBefore / 30 + uptime));
  sheet.put('1.3.6.1.2.1.11.2.0', (uptime) => counter32(device.upBefore / 30 + uptime));
  if (!device.features.includes('engine-id')) return;
  sheet.put(`${SNMP_ENGINE}.1.0`, Buffer.from(device.engineId, 'hex'));
  sheet.put(`${SNMP_ENGINE}.2.0`, device.engineBoots);
  sheet.put(`${SNMP_ENGINE}.3.0`, (uptime) => Math.floor(device.upBefore + uptime));
  sheet.put(`${SNMP_ENGINE}.4.0`, 1500);
}
