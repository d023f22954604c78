/** Where two implementations read different things of one agent. Pure. */
import type { Reading, ReadValue } from './reading.ts';

export interface Difference {
  oid: string;
  kind: 'value' | 'type' | 'missing';
  own: ReadValue | null;
  netSnmp: ReadValue | null;
}

export interface ComparedGroup {
  name: string;
  oid: string;
  own: Reading;
  netSnmp: Reading;
  differences: Difference[];
  same: boolean;
}

const COUNTERS = new Set(['counter32', 'counter64', 'timeticks']);

/**
 * Compares net-snmp's reading with two of our own, one `before` and one `after` it: what an agent itself changed
 * meanwhile is no difference. What lies behind the end of a reading that ended early is not missing.
 */
export function differencesOf(before: Reading, netSnmp: Reading, after: Reading): Difference[] {
  const differences: Difference[] = [];
  for (const [oid, own] of before.values) {
    const other = netSnmp.values.get(oid);
    const later = after.values.get(oid);
    if (other === undefined) {
      const expected = later !== undefined && netSnmp.stopped === null;
      if (expected) differences.push({ oid, kind: 'missing', own, netSnmp: null });
    } else if (other.type !== own.type) {
      differences.push({ oid, kind: 'type', own, netSnmp: other });
    } else if (!isBetween(own, other, later)) {
      differences.push({ oid, kind: 'value', own, netSnmp: other });
    }
  }
  if (before.stopped !== null || after.stopped !== null) return differences;
  for (const [oid, other] of netSnmp.values) {
    if (before.values.has(oid) || after.values.has(oid)) continue;
    differences.push({ oid, kind: 'missing', own: null, netSnmp: other });
  }
  return differences;
}

/** Whether `value` fits between two readings of the same object. */
function isBetween(before: ReadValue, value: ReadValue, after: ReadValue | undefined): boolean {
  if (value.text === before.text || value.text === after?.text) return true;
  if (after?.text === before.text) return false;
  if (after === undefined || !COUNTERS.has(value.type)) return true;
  const [first, middle, last] = [BigInt(before.text), BigInt(value.text), BigInt(after.text)];
  // A counter that is lower afterwards wrapped or was reset: nothing is known of what lies between.
  return last < first || (first <= middle && middle <= last);
}

/** Whether one implementation read the whole group and the other did not. */
export const endsDiffer = (own: Reading, netSnmp: Reading): boolean =>
  (own.stopped === null) !== (netSnmp.stopped === null);
