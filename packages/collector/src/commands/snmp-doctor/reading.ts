/** What one SNMP implementation reads of an agent, in a form that can be compared. */
import type { Session } from '@rollcall/snmp/engine/session';
import type { ValueType, Varbind } from '@rollcall/snmp/message/pdu';
import { walk } from '@rollcall/snmp/walk';

/** Most values of one group; both implementations stop there. */
export const MOST_VALUES = 20_000;
/** Longest time that one implementation may take for one group. */
export const GROUP_MS = 60_000;

export interface ReadValue {
  type: ValueType;
  /** Numbers in decimal, octets in hexadecimal, OIDs and addresses with dots. */
  text: string;
}

export interface Reading {
  /** OID → value. */
  values: ReadonlyMap<string, ReadValue>;
  /** Why the reading ended early; null when the whole group was read. */
  stopped: string | null;
}

/** Reads all objects below `oid` by the collector's own implementation. */
export async function readOwn(session: Session, oid: string): Promise<Reading> {
  const values = new Map<string, ReadValue>();
  const until = session.engine.clock.monotonic() + GROUP_MS;
  const budget = { rows: MOST_VALUES, bytes: Number.POSITIVE_INFINITY, until };
  const end = await walk(
    session,
    [oid],
    { budget, giveUpAfter: session.options.tries },
    (_column, _index, varbind) => values.set(varbind.oid, { type: varbind.type, text: textOf(varbind) }),
  );
  return { values, stopped: end.reason ?? null };
}

const textOf = ({ value }: Varbind): string =>
  Buffer.isBuffer(value) ? value.toString('hex') : String(value ?? '');
