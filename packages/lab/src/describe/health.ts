/**
 * Sensors of the boxes: ENTITY-SENSOR-MIB (RFC 3433) and ENTITY-STATE-MIB (RFC 4268) of network devices,
 * HOST-RESOURCES-MIB (RFC 2790) of servers, UPS-MIB (RFC 1628), supplies of Printer-MIB (RFC 3805).
 */
import type { Device } from '../device.ts';
import { digest } from '../seed.ts';
import { shown } from '../sensors.ts';
import { bits, gauge32, oid } from '../value.ts';
import type { Sheet } from './sheet.ts';

const SERVERS = new Set(['server', 'hypervisor', 'storage']);

export function health(sheet: Sheet, device: Device, startedAt: number): void {
  if (device.features.includes('entity') && device.entities.length > 0) {
    entitySensors(sheet, device, startedAt);
    entityStates(sheet, device);
  }
  if (SERVERS.has(device.class)) host(sheet, device, startedAt);
  if (device.class === 'ups') ups(sheet, device, startedAt);
  if (device.class === 'printer') supplies(sheet, device);
}

const ENTITY = '1.3.6.1.2.1.47.1.1.1.1';
const ENTITY_SENSOR = '1.3.6.1.2.1.99.1.1.1';
const [CELSIUS, RPM, WATTS] = [8, 10, 6];
/** entPhysicalClass sensor. */
const SENSOR = 8;
/** Sensors are numbered behind all that a box has. */
const FIRST = 900_001;

/** Temperatures, two fans and the power that is drawn. */
function entitySensors(sheet: Sheet, device: Device, startedAt: number): void {
  const parent = device.entities[0]?.index ?? 0;
  const sensors = [
    { name: 'Inlet temperature', type: CELSIUS, mean: 24, day: 3, short: 0.6 },
    { name: 'Outlet temperature', type: CELSIUS, mean: 37, day: 4, short: 1 },
    { name: 'Fan 1', type: RPM, mean: 5200, day: 600, short: 90 },
    { name: 'Fan 2', type: RPM, mean: 5150, day: 600, short: 80 },
    { name: 'Power draw', type: WATTS, mean: 140 + digest(device.name, 90), day: 14, short: 3 },
  ];
  for (const [i, { name, type, ...course }] of sensors.entries()) {
    const index = FIRST + i;
    sheet.row(ENTITY, index, { 2: name, 4: parent, 5: SENSOR, 6: i + 1, 7: name });
    const precision = type === CELSIUS ? 1 : 0;
    sheet.row(ENTITY_SENSOR, index, {
      1: type,
      2: 9,
      3: precision,
      4: (uptime) => Math.round(shown(device, name, course, startedAt + uptime) * 10 ** precision),
      5: 1,
    });
  }
}

const ENTITY_STATE = '1.3.6.1.2.1.131.1.1.1';
const POWER_SUPPLY = 6;
const [UNLOCKED, DISABLED, ENABLED] = [4, 2, 3];
/** AlarmStatus: bit 2 is critical. */
const CRITICAL = 2;

function entityStates(sheet: Sheet, device: Device): void {
  const supplies = device.entities.filter(({ class: kind }) => kind === POWER_SUPPLY);
  for (const { index } of supplies) {
    const failed = device.unwell?.supply === true && index === supplies[0]?.index;
    sheet.row(ENTITY_STATE, index, {
      2: UNLOCKED,
      3: failed ? DISABLED : ENABLED,
      5: bits(failed ? [CRITICAL] : [], 1),
    });
  }
}

const STORAGE = '1.3.6.1.2.1.25.2.3.1';
const STORAGE_TYPE = '1.3.6.1.2.1.25.2.1';
const PROCESSOR = '1.3.6.1.2.1.25.3.3.1.2';
const BLOCK = 4096;

function host(sheet: Sheet, device: Device, startedAt: number): void {
  const windows = device.os?.includes('Windows') === true;
  const disks = windows ? ['C:\\ Label:System', 'D:\\ Label:Data'] : ['/', '/var'];
  const spaces = [
    { index: 1, name: windows ? 'Physical Memory' : 'Physical memory', type: 2, gib: 32, mean: 55, day: 12 },
    ...disks.map((name, i) => ({ index: 31 + i, name, type: 4, gib: 200, mean: 30 + 25 * i, day: 1 })),
  ];
  for (const { index, name, type, gib, mean, day } of spaces) {
    const full = device.unwell?.disk === name;
    const size = Math.round((gib * 2 ** 30) / BLOCK);
    const course = full ? { mean: 97.2, day: 0.3, short: 0.1 } : { mean, day, short: 0.5 };
    sheet.row(STORAGE, index, {
      1: index,
      2: oid(`${STORAGE_TYPE}.${type}`),
      3: name,
      4: BLOCK,
      5: size,
      6: (uptime) => Math.round((size * shown(device, name, course, startedAt + uptime)) / 100),
    });
  }
  for (let core = 0; core < 4; core++) {
    const course = { mean: 22 + digest(`${device.name} ${core}`, 20), day: 14, short: 4 };
    sheet.put(`${PROCESSOR}.${196_608 + core}`, (uptime) =>
      Math.round(shown(device, `core ${core}`, course, startedAt + uptime)),
    );
  }
}

const UPS = '1.3.6.1.2.1.33.1';

function ups(sheet: Sheet, device: Device, startedAt: number): void {
  const live = (name: string, mean: number, day: number, short: number) => (uptime: number) =>
    Math.round(shown(device, name, { mean, day, short }, startedAt + uptime));
  // upsBattery: normal, on line, minutes and charge left, 0.1 V, °C.
  for (const [column, value] of Object.entries({ 1: 2, 2: 0, 3: live('minutes', 46, 6, 1), 4: 100, 5: 546 }))
    sheet.put(`${UPS}.2.${column}.0`, value);
  sheet.put(`${UPS}.2.7.0`, live('battery', 27, 2, 0.4));
  sheet.row(`${UPS}.3.3.1`, 1, { 2: 500, 3: live('input', 231, 2, 1) });
  // upsOutputSource: normal.
  sheet.put(`${UPS}.4.1.0`, 3);
  sheet.put(`${UPS}.4.2.0`, 500);
  sheet.row(`${UPS}.4.4.1`, 1, {
    2: live('output', 230, 0, 1),
    3: live('current', 62, 14, 2),
    4: live('power', 1370, 300, 40),
    5: live('load', 48, 10, 2),
  });
}

const SUPPLY = '1.3.6.1.2.1.43.11.1.1';

function supplies(sheet: Sheet, device: Device): void {
  for (const [i, name] of ['Black cartridge', 'Drum'].entries()) {
    const level = 8 + digest(`${device.name} ${name}`, 90);
    // Consumed, toner, in percent.
    sheet.row(SUPPLY, `1.${i + 1}`, { 4: 3, 5: 3, 6: name, 7: 19, 8: 100, 9: gauge32(level) });
  }
}
