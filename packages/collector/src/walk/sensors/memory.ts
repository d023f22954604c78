/** Memory and storage out of the objects that say what is used, free or there. Pure. */
import type { SensorKind, SensorReading } from '@rollcall/shared/sensors';
import type { Reading } from './catalogue.ts';
import { isMarker, rounded, shownBy, type Values } from './values.ts';

type Head = (
  reading: Reading,
  index: string,
) => Pick<SensorReading, 'key' | 'name' | 'component' | 'ifIndex'>;
type Role = 'used' | 'free' | 'total' | 'percent' | 'freePercent';
const TELLING = ['used', 'free', 'percent', 'freePercent'] as const;

/** One reading for each row of the objects that share a group. */
export const spacesOf = (space: readonly Reading[], values: Values, head: Head): SensorReading[] =>
  groups(space).flatMap((members) => rowsOf(members, values, head).map(inMemory));

/** Members of each memory or storage, by the group that they share. */
function groups(space: readonly Reading[]): Reading[][] {
  const byGroup = new Map<string, Reading[]>();
  for (const reading of space) {
    const key = `${reading.kind} ${reading.group ?? ''}`;
    byGroup.set(key, [...(byGroup.get(key) ?? []), reading]);
  }
  return [...byGroup.values()];
}

/** What a table of storage calls RAM is memory. */
const inMemory = (reading: SensorReading): SensorReading =>
  reading.kind === 'storage' && /\bd?ram\b/i.test(reading.name) && !/flash|disk/i.test(reading.name)
    ? { ...reading, kind: 'memory', component: 'memory' }
    : reading;

function rowsOf(members: readonly Reading[], values: Values, head: Head): SensorReading[] {
  const indexes = new Set(members.flatMap(({ oid }) => [...values.column(oid).keys()]));
  return [...indexes].flatMap((index) => {
    const shown: Partial<Record<Role, number>> = {};
    let first: Reading | undefined;
    // The later column is the one of 64 bits.
    for (const role of [...TELLING, 'total'] as const)
      for (const member of members.toReversed()) {
        if (member.role !== role || shown[role] !== undefined) continue;
        const value = amountOf(member, values, index);
        if (value === undefined) continue;
        shown[role] = value;
        if (role !== 'total') first ??= member;
      }
    const used = first?.role === 'percent' && first.guessed ? falseShare(shown, first, members) : undefined;
    const space = spaceOf(scaledOf(used === undefined ? shown : { ...shown, used }, first));
    return first && space ? [{ ...head(first, index), kind: first.kind as 'memory', ...space }] : [];
  });
}

function amountOf({ oid, factor, role }: Reading, values: Values, index: string): number | undefined {
  const varbind = values.column(oid).get(index);
  const shown = varbind && shownBy(varbind);
  if (!shown) return undefined;
  // Counters of 31 bits that grew past them.
  const raw = shown.value < 0 && Number.isInteger(shown.value) ? shown.value + 2 ** 32 : shown.value;
  const bytes = SIZES[shown.unit?.charAt(0).toLowerCase() ?? ''];
  const value = role === 'percent' || role === 'freePercent' ? shown.value * factor : raw * (bytes ?? factor);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
const SIZES: Record<string, number> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Sizes that no memory or disk has where nothing states that they are bytes, and where a MIB's kilobytes are bytes. */
const LEAST = 2 ** 25;
const TINY = 2 ** 16;
const MOST_KB = 2 ** 27;

/** The amounts in bytes, where their size shows that the MIB's scale is not the device's. */
function scaledOf(shown: Partial<Record<Role, number>>, first: Reading | undefined): typeof shown {
  const whole = shown.total ?? (shown.used ?? 0) + (shown.free ?? 0);
  if (!first || whole === 0) return shown;
  const factor =
    first.guessed && first.factor === 1 && whole < LEAST
      ? whole < TINY
        ? 2 ** 20
        : 2 ** 10
      : first.kind === 'memory' && first.factor === 1024 && whole / 1024 >= MOST_KB
        ? 1 / 1024
        : 1;
  const scaled: typeof shown = { ...shown };
  for (const role of ['used', 'free', 'total'] as const)
    if (scaled[role] !== undefined) scaled[role] *= factor;
  return scaled;
}

/** What a name alone calls a share is the amount in use where it is far above 100, and not above the whole. */
function falseShare(
  { percent = 0, total = 0 }: Partial<Record<Role, number>>,
  { kind, factor }: Reading,
  members: readonly Reading[],
): number | undefined {
  const raw = percent / factor;
  const amount = raw * (members.find(({ role }) => role === 'total')?.factor ?? 1);
  return raw > SHARE_MOST && amount <= total && !isMarker(kind as SensorKind, raw) ? amount : undefined;
}
/** Hundredths of a percent are not more. */
const SHARE_MOST = 10_000;

const GROWN = 1.005;

/** What is used of how much, from whatever of it is told; undefined: nothing that can be. */
export function spaceOf(
  shown: Partial<Record<Role, number>>,
): Pick<SensorReading, 'value' | 'usedBytes' | 'totalBytes'> | undefined {
  const { free } = shown;
  const total =
    shown.total ?? (shown.used !== undefined && free !== undefined ? shown.used + free : undefined);
  const taken = shown.used ?? (total !== undefined && free !== undefined ? total - free : undefined);
  // Both are counted one after the other: what is all in use may have grown meanwhile.
  const isAll = taken !== undefined && total !== undefined && taken > total && taken <= total * GROWN;
  const used = isAll ? total : taken;
  const percent = shown.percent ?? (shown.freePercent === undefined ? undefined : 100 - shown.freePercent);
  if (total !== undefined && total > 0 && used !== undefined && used >= 0 && used <= total)
    return {
      value: rounded((100 * used) / total),
      usedBytes: Math.round(used),
      totalBytes: Math.round(total),
    };
  if (percent === undefined || percent < 0 || percent > 100) return undefined;
  return {
    value: rounded(percent),
    ...(total !== undefined && total > 0
      ? { usedBytes: Math.round((total * percent) / 100), totalBytes: Math.round(total) }
      : {}),
  };
}
