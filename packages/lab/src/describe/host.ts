/** HOST-RESOURCES-MIB (RFC 2790), UPS-MIB (RFC 1628), Printer-MIB (RFC 3805). */
import type { Device, Host, Printer, Ups } from '../device.ts';
import { counter32, gauge32, oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const HOST = '1.3.6.1.2.1.25';
const UPS = '1.3.6.1.2.1.33.1';
const PRINTER = '1.3.6.1.2.1.43';
const DEVICE_PROCESSOR = `${HOST}.3.1.3`;
const DEVICE_PRINTER = `${HOST}.3.1.5`;
const STORAGE = { ram: 2, virtual: 3, disk: 4 } as const;
const ALLOCATION_UNIT = 4096;

export function hostResources(sheet: Sheet, device: Device, host: Host): void {
  sheet.put(`${HOST}.1.1.0`, (uptime) => timeticks((device.upBefore + uptime) * 100));
  sheet.put(`${HOST}.1.5.0`, gauge32(1));
  sheet.put(`${HOST}.1.6.0`, gauge32(140));
  sheet.put(`${HOST}.2.2.0`, host.memoryKb);
  for (const [i, { descr, kind, bytes, used }] of host.storage.entries()) {
    sheet.row(`${HOST}.2.3.1`, i + 1, {
      1: i + 1,
      2: oid(`${HOST}.2.1.${STORAGE[kind]}`),
      3: descr,
      4: ALLOCATION_UNIT,
      5: Math.floor(bytes / ALLOCATION_UNIT),
      6: Math.floor((bytes * used) / ALLOCATION_UNIT),
    });
  }
  for (const [i, descr] of host.processors.entries()) {
    const index = 196_608 + i;
    sheet.row(`${HOST}.3.2.1`, index, { 1: index, 2: oid(DEVICE_PROCESSOR), 3: descr, 4: oid('0.0'), 5: 2 });
    sheet.row(`${HOST}.3.3.1`, index, { 1: oid('0.0'), 2: 5 + i });
  }
  for (const [i, name] of (host.software ?? []).entries()) {
    sheet.row(`${HOST}.6.3.1`, i + 1, { 1: i + 1, 2: name, 3: oid('0.0'), 4: 4 });
  }
}

export function upsMib(sheet: Sheet, device: Device, ups: Ups): void {
  sheet.put(`${UPS}.1.1.0`, ups.manufacturer);
  sheet.put(`${UPS}.1.2.0`, ups.model);
  sheet.put(`${UPS}.1.3.0`, ups.software);
  sheet.put(`${UPS}.1.4.0`, ups.agent);
  sheet.put(`${UPS}.1.5.0`, device.sysName);
  sheet.put(`${UPS}.2.1.0`, 2);
  sheet.put(`${UPS}.2.2.0`, 0);
  sheet.put(`${UPS}.2.3.0`, ups.minutesRemaining);
  sheet.put(`${UPS}.2.4.0`, ups.chargePercent);
  sheet.put(`${UPS}.3.2.0`, 1);
  sheet.row(`${UPS}.3.3.1`, 1, { 2: 500, 3: 231, 4: 20, 5: 450 });
  sheet.put(`${UPS}.4.1.0`, 3);
  sheet.put(`${UPS}.4.3.0`, 1);
  sheet.row(`${UPS}.4.4.1`, 1, { 2: 230, 3: 20, 4: 440, 5: ups.loadPercent });
  sheet.put(`${UPS}.6.1.0`, gauge32(0));
}

export function printerMib(sheet: Sheet, device: Device, printer: Printer): void {
  sheet.row(`${HOST}.3.2.1`, 1, { 1: 1, 2: oid(DEVICE_PRINTER), 3: printer.descr, 4: oid('0.0'), 5: 2 });
  sheet.row(`${HOST}.3.5.1`, 1, { 1: 3, 2: Buffer.of(0) });
  sheet.row(`${PRINTER}.5.1.1`, 1, { 1: 1, 16: device.sysName, 17: device.serial ?? '' });
  sheet.put(`${PRINTER}.10.2.1.4.1.1`, (uptime) => counter32(printer.pages + uptime / 60));
  for (const [i, { descr, percent }] of printer.supplies.entries()) {
    sheet.row(`${PRINTER}.11.1.1`, `1.${i + 1}`, { 2: 1, 4: 3, 5: 3, 6: descr, 7: 19, 8: 100, 9: percent });
  }
}
