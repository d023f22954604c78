/** ENTITY-MIB (RFC 6933): entPhysicalTable and the interfaces its ports stand for. */
import type { Device } from '../device.ts';
import { oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const ENTITY = '1.3.6.1.2.1.47.1';

export function entity(sheet: Sheet, device: Device): void {
  for (const e of device.entities) {
    sheet.row(`${ENTITY}.1.1.1`, e.index, {
      2: e.description,
      3: oid(e.vendorType ?? '0.0'),
      4: e.parent,
      5: e.class,
      6: e.position,
      7: e.name,
      8: e.hardware ?? '',
      9: e.firmware ?? '',
      10: e.software ?? '',
      11: e.serial ?? '',
      12: e.manufacturer ?? '',
      13: e.model ?? '',
      14: '',
      15: '',
      16: e.fru ? 1 : 2,
    });
    if (e.ifIndex !== undefined) {
      sheet.put(`${ENTITY}.3.2.1.2.${e.index}.0`, oid(`1.3.6.1.2.1.2.2.1.1.${e.ifIndex}`));
    }
  }
  if (device.entities.length > 0) sheet.put(`${ENTITY}.4.1.0`, timeticks(0));
}
