/** Processors, memory and storage of hosts: HOST-RESOURCES-MIB (RFC 2790), else UCD-SNMP-MIB of net-snmp. */
import type { SensorReading } from '@rollcall/shared/sensors';
import { spaceOf } from './memory.ts';
import { columns, type Standard } from './standard.ts';
import { canBe, rounded, type Values } from './values.ts';

const STORAGE = '1.3.6.1.2.1.25.2.3.1';
const storage = { type: 2, description: 3, units: 4, size: 5, used: 6 };
const HR_PROCESSOR_LOAD = '1.3.6.1.2.1.25.3.3.1.2';
const HR_DEVICE_DESCR = '1.3.6.1.2.1.25.3.2.1.3';
/** hrStorageTypes. */
const TYPES = '1.3.6.1.2.1.25.2.1.';
const RAM = `${TYPES}2`;
const VIRTUAL = `${TYPES}3`;
/** Disks that cannot be full in a way that matters: they are read only. */
const COMPACT_DISC = `${TYPES}7`;
/** Images that packages of snapd are mounted from: always full. */
const IMAGE = /^\/(?:var\/lib\/snapd\/)?snap\/[^/]+\/\d+$/;
/** What net-snmp and others list beside the memory, being part of it. */
const PART_OF_MEMORY = /buffer|cache|shared/i;
const MEMORY = /memory|\bram\b|swap|heap/i;
/** Some list their memory among the disks. */
const NAMED_MEMORY = /^((real|physical|virtual|swap) memory|memory (buffers|cache)|swap space)$/i;

export const hostResources: Standard = {
  columns: [...columns(STORAGE, ...Object.values(storage)), HR_PROCESSOR_LOAD, HR_DEVICE_DESCR],
  decode: (values) => [...processors(values), ...storages(values)],
};

function processors(values: Values): SensorReading[] {
  const indexes = [...values.column(HR_PROCESSOR_LOAD).keys()];
  const described = indexes.map((index) => values.text(HR_DEVICE_DESCR, index));
  return indexes.flatMap((index, i): SensorReading[] => {
    const value = values.number(HR_PROCESSOR_LOAD, index);
    if (value === undefined || !canBe('processor', value)) return [];
    const own = described[i];
    const isShared = own !== undefined && described.indexOf(own) !== described.lastIndexOf(own);
    // Those of a host mostly have the same model, and that is all its agent says.
    const name = isShared ? `Processor ${i + 1} (${own})` : (own ?? `Processor ${index}`);
    return [{ key: `${HR_PROCESSOR_LOAD}.${index}`, kind: 'processor', name, component: 'cpu', value }];
  });
}

interface Space {
  index: string;
  description: string;
  type: string;
  used: number;
  total: number;
}

const unsigned = (value: number): number => (value < 0 ? value + 2 ** 32 : value);

function storages(values: Values): SensorReading[] {
  const spaces: Space[] = [];
  for (const index of values.column(`${STORAGE}.${storage.size}`).keys()) {
    const [units, size, used] = [storage.units, storage.size, storage.used].map((each) =>
      values.number(`${STORAGE}.${each}`, index),
    );
    if (size === undefined || used === undefined || !size) continue;
    const unit = units && units > 0 ? units : 1;
    const type = values.column(`${STORAGE}.${storage.type}`).get(index);
    spaces.push({
      index,
      description: values.text(`${STORAGE}.${storage.description}`, index) ?? `Storage ${index}`,
      type: type?.type === 'oid' ? type.value : '',
      used: unsigned(used) * unit,
      total: unsigned(size) * unit,
    });
  }
  const parts = spaces.filter(
    ({ type, description }) => isMemory(type, description) && PART_OF_MEMORY.test(description),
  );
  return spaces.flatMap((space) => readingOf(space, parts));
}

const isMemory = (type: string, description: string): boolean =>
  type === RAM ||
  type === VIRTUAL ||
  (type === `${TYPES}1` && MEMORY.test(description)) ||
  NAMED_MEMORY.test(description);

function readingOf(space: Space, parts: readonly Space[]): SensorReading[] {
  const { index, description, type, total } = space;
  if (type === COMPACT_DISC || IMAGE.test(description)) return [];
  const memory = isMemory(type, description);
  const isPart = memory && PART_OF_MEMORY.test(description);
  // Buffers and cache are given back when memory is needed.
  const given =
    /^physical memory$/i.test(description) && !isPart
      ? parts
          .filter((part) => /^(memory buffers|cached memory)$/i.test(part.description))
          .reduce((sum, { used }) => sum + used, 0)
      : 0;
  const shown = spaceOf({ used: given < space.used ? space.used - given : space.used, total });
  if (!shown) return [];
  const { value, ...bytes } = shown;
  return [
    {
      key: `${STORAGE}.${storage.used}.${index}`,
      kind: memory ? 'memory' : 'storage',
      name: description,
      component: memory ? 'memory' : 'disk',
      // How full a cache is says nothing.
      ...(isPart || value === undefined ? {} : { value }),
      ...bytes,
    },
  ];
}

const UCD_MEMORY = '1.3.6.1.4.1.2021.4';
const memory = { swapTotal: 3, swapFree: 4, total: 5, free: 6, buffers: 14, cached: 15 };
const DISK = '1.3.6.1.4.1.2021.9.1';
const disk = { path: 2, total: 6, free: 7, used: 8, percent: 9 };
const CPU_IDLE = '1.3.6.1.4.1.2021.11.11';
const KB = 1024;

/** Only for what HOST-RESOURCES-MIB does not tell of the device. */
export const ucd: Standard = {
  columns: [
    ...columns(UCD_MEMORY, ...Object.values(memory)),
    ...columns(DISK, ...Object.values(disk)),
    CPU_IDLE,
  ],
  decode(values) {
    const types = [...values.column(`${STORAGE}.${storage.type}`).values()].map(({ value }) => value);
    const names = [...values.column(`${STORAGE}.${storage.description}`).keys()].map((index) =>
      values.text(`${STORAGE}.${storage.description}`, index),
    );
    const hasMemory = types.includes(RAM) || names.some((name) => NAMED_MEMORY.test(name ?? ''));
    return [
      ...(values.has(HR_PROCESSOR_LOAD) ? [] : idle(values)),
      ...(hasMemory ? [] : ucdMemory(values)),
      ...(types.includes(`${TYPES}4`) ? [] : ucdDisks(values)),
    ];
  },
};

function idle(values: Values): SensorReading[] {
  const free = values.number(CPU_IDLE, '0');
  if (free === undefined || !canBe('processor', free)) return [];
  return [
    { key: `${CPU_IDLE}.0`, kind: 'processor', name: 'Processor', component: 'cpu', value: 100 - free },
  ];
}

function ucdMemory(values: Values): SensorReading[] {
  const kb = (column: number) => {
    const value = values.number(`${UCD_MEMORY}.${column}`, '0');
    return value === undefined || value < 0 ? undefined : value * KB;
  };
  const of = (
    key: number,
    name: string,
    total: number | undefined,
    free: number | undefined,
  ): SensorReading[] => {
    const shown = total === undefined || free === undefined ? undefined : spaceOf({ total, free });
    return shown
      ? [{ key: `${UCD_MEMORY}.${key}.0`, kind: 'memory', name, component: 'memory', ...shown }]
      : [];
  };
  const total = kb(memory.total);
  const part = (key: number, name: string): SensorReading[] => {
    const usedBytes = kb(key);
    if (usedBytes === undefined || total === undefined || usedBytes > total) return [];
    return [
      {
        key: `${UCD_MEMORY}.${key}.0`,
        kind: 'memory',
        name,
        component: 'memory',
        usedBytes,
        totalBytes: total,
      },
    ];
  };
  const free = kb(memory.free);
  const given = (kb(memory.buffers) ?? 0) + (kb(memory.cached) ?? 0);
  const left = free === undefined || total === undefined ? free : free + given <= total ? free + given : free;
  return [
    ...of(memory.free, 'Physical memory', total, left),
    ...of(memory.swapFree, 'Swap space', kb(memory.swapTotal), kb(memory.swapFree)),
    ...part(memory.buffers, 'Memory buffers'),
    ...part(memory.cached, 'Cached memory'),
  ];
}

function ucdDisks(values: Values): SensorReading[] {
  const found: SensorReading[] = [];
  for (const index of values.column(`${DISK}.${disk.total}`).keys()) {
    const at = (column: number) => values.number(`${DISK}.${column}`, index);
    const [total, used] = [at(disk.total), at(disk.used)];
    if (total === undefined || used === undefined || total <= 0) continue;
    const shown = spaceOf({ total: unsigned(total) * KB, used: unsigned(used) * KB });
    const name = values.text(`${DISK}.${disk.path}`, index) ?? `Disk ${index}`;
    if (shown)
      found.push({
        key: `${DISK}.${disk.used}.${index}`,
        kind: 'storage',
        name,
        component: 'disk',
        ...shown,
      });
  }
  return found.map((reading) =>
    'value' in reading ? { ...reading, value: rounded(reading.value as number) } : reading,
  );
}
