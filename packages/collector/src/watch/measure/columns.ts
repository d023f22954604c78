/** The columns of IF-MIB that counters are read from. Which of them an agent has is learnt once. */
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { textOf } from '../../walk/text.ts';
import type { CounterRow } from './counters.ts';
import { RAW, type RawCounter } from './growth.ts';

const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_X_ENTRY = '1.3.6.1.2.1.31.1.1.1';
const IF_DESCR = `${IF_ENTRY}.2`;
const IF_NAME = `${IF_X_ENTRY}.1`;
const DISCONTINUITY = `${IF_X_ENTRY}.19`;

const columns = (entry: string, of: Partial<Record<RawCounter, number>>): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(of).map(([counter, column]) => [`${entry}.${column}`, RAW.indexOf(counter as RawCounter)]),
  );

/** Column → counter. Those that every agent has, and in 32 bits only. */
const ALWAYS = columns(IF_ENTRY, { inErrors: 14, outErrors: 20, inDiscards: 13, outDiscards: 19 });
const HIGH = columns(IF_X_ENTRY, {
  inOctets: 6,
  outOctets: 10,
  inUnicast: 7,
  outUnicast: 11,
  inMulticast: 8,
  inBroadcast: 9,
  outMulticast: 12,
  outBroadcast: 13,
});
/** ifInNUcastPkts and ifOutNUcastPkts count multicast and broadcast together. */
const LOW = columns(IF_ENTRY, {
  inOctets: 10,
  outOctets: 16,
  inUnicast: 11,
  outUnicast: 17,
  inMulticast: 12,
  outMulticast: 18,
});
const COUNTERS = new Map([...ALWAYS, ...HIGH, ...LOW]);

/** What is known of an agent's counters. Slow interfaces may have none of 64 bits (RFC 2863 section 3.1.6). */
export interface Columns {
  high: boolean;
  low: boolean;
  /** It is known by a whole reading. */
  learnt: boolean;
}
export const ALL_COLUMNS: Columns = { high: true, low: false, learnt: false };
/** SNMPv1 has no Counter64. */
export const V1_COLUMNS: Columns = { high: false, low: true, learnt: true };
export const LOW_COLUMNS: readonly string[] = [...LOW.keys()];

/** The columns to read of an agent. */
export function columnsOf({ high, low }: Columns): string[] {
  return [
    ...(high ? [...HIGH.keys()] : []),
    ...(low ? LOW.keys() : []),
    ...ALWAYS.keys(),
    high ? IF_NAME : IF_DESCR,
    ...(high ? [DISCONTINUITY] : []),
  ];
}

/** Takes one value over; false: the column is none of a counter. */
export function takeCounter(row: CounterRow, column: string, { type, value }: Varbind): boolean {
  const counter = COUNTERS.get(column);
  if (counter === undefined) return takeName(row, column, value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return true;
  // The one of 64 bits counts, whichever comes first.
  const isHigh = HIGH.has(column);
  if (isHigh || !row.has(counter)) row.put(counter, { value: BigInt(value), wide: type === 'counter64' });
  return true;
}

function takeName(row: CounterRow, column: string, value: Varbind['value']): boolean {
  if (column === DISCONTINUITY) row.discontinuity = typeof value === 'number' ? value : 0;
  else if (column === IF_NAME || (column === IF_DESCR && row.name === ''))
    row.name = Buffer.isBuffer(value) ? textOf(value).slice(0, 255) : '';
  else return column === IF_DESCR;
  return true;
}

/** A column that was not read to its end says nothing of any interface. */
export function dropStopped(rows: Iterable<CounterRow>, stopped: ReadonlyMap<string, unknown>): void {
  const counters = [...stopped.keys()].flatMap((column) => COUNTERS.get(column) ?? []);
  if (counters.length > 0) for (const row of rows) for (const counter of counters) row.drop(counter);
}

const OCTETS = RAW.indexOf('inOctets');

/** What is missing after a reading of the counters of 64 bits: some interface has none. */
export const lacksCounters = (rows: Iterable<CounterRow>): boolean =>
  [...rows].some((row) => !row.has(OCTETS));

/** What to read of this agent from now on. */
export function learnt(rows: Iterable<CounterRow>): Columns {
  let [high, low] = [false, false];
  for (const row of rows) {
    if (!row.has(OCTETS)) continue;
    if (row.wide & (1 << OCTETS)) high = true;
    else low = true;
  }
  return { high, low: low || !high, learnt: true };
}
