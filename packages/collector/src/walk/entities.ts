/** ENTITY-MIB (RFC 6933) entPhysicalTable: chassis, modules, power supplies and what they say of themselves. */
import type { EntityRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { columnsOf, defined, rowsOf } from './row.ts';

const entPhysicalEntry = '1.3.6.1.2.1.47.1.1.1.1';
const column = {
  description: 2,
  vendorType: 3,
  containedIn: 4,
  class: 5,
  parentRelPos: 6,
  name: 7,
  hardwareRevision: 8,
  firmwareRevision: 9,
  softwareRevision: 10,
  serial: 11,
  manufacturer: 12,
  model: 13,
  isFru: 16,
};
export const ENTITY_COLUMNS = columnsOf(entPhysicalEntry, Object.values(column));

/** IANA-ENTITY-MIB IANAPhysicalClass. */
const CLASSES: Record<number, string> = {
  1: 'other',
  2: 'unknown',
  3: 'chassis',
  4: 'backplane',
  5: 'container',
  6: 'powerSupply',
  7: 'fan',
  8: 'sensor',
  9: 'module',
  10: 'port',
  11: 'stack',
  12: 'cpu',
  13: 'energyObject',
  14: 'battery',
  15: 'storageDrive',
};

export function entitiesOf(walked: WalkedTable): EntityRow[] {
  return rowsOf(walked, entPhysicalEntry).map((row) => {
    const parent = row.int(column.containedIn);
    const position = row.int(column.parentRelPos);
    const fru = row.int(column.isFru);
    return defined({
      index: row.index[0] ?? 0,
      class: CLASSES[row.int(column.class) ?? 2] ?? 'unknown',
      name: row.text(column.name),
      description: row.text(column.description),
      model: row.text(column.model),
      serial: row.text(column.serial),
      manufacturer: row.text(column.manufacturer),
      hardwareRevision: row.text(column.hardwareRevision),
      firmwareRevision: row.text(column.firmwareRevision),
      softwareRevision: row.text(column.softwareRevision),
      vendorType: row.oid(column.vendorType),
      parent: parent !== undefined && parent > 0 ? parent : undefined,
      position: position !== undefined && position >= 0 ? position : undefined,
      fru: fru === undefined ? undefined : fru === 1,
    }) as EntityRow;
  });
}

/**
 * What identity and classification read: chassis and stacks, else what is contained in nothing, else the first rows that bear
 * a serial number or a model. Bounded.
 */
export function chassisOf(entities: readonly EntityRow[], most = 64): EntityRow[] {
  const chassis = entities.filter((row) => row.class === 'chassis' || row.class === 'stack');
  if (chassis.some((row) => row.serial ?? row.model)) return chassis.slice(0, most);
  const roots = entities.filter((row) => row.parent === undefined);
  if (roots.some((row) => row.serial ?? row.model)) return roots.slice(0, most);
  return [...chassis.slice(0, most - 8), ...entities.filter((row) => row.serial ?? row.model).slice(0, 8)];
}
