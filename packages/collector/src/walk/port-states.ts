/** What bridges do with their ports: spanning tree (BRIDGE-MIB, RFC 4188), link aggregation (IEEE8023-LAG-MIB). */
import { type InterfaceRow, STP_STATES } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { BASE_PORTS, portsOf } from './bridge.ts';
import { columnsOf, rowsOf } from './row.ts';

const dot1dStpPortEntry = '1.3.6.1.2.1.17.2.15.1';
const dot1dStpPortState = 3;
const dot3adAggPortEntry = '1.2.840.10006.300.43.1.2.1.1';
const dot3adAggPort = { attachedAggId: 13, actorOperState: 21 };
/** LacpState, a BITS: the port sends frames for its aggregate. */
const DISTRIBUTING = 0x04;

export const PORT_STATE_COLUMNS = [
  ...BASE_PORTS,
  ...columnsOf(dot1dStpPortEntry, [dot1dStpPortState]),
  ...columnsOf(dot3adAggPortEntry, Object.values(dot3adAggPort)),
];

export type PortState = Pick<InterfaceRow, 'ifIndex' | 'stp' | 'aggregate'>;

/** Interfaces with these states; null: it is in no spanning tree, in no aggregate. What was not read says nothing. */
export function withPortStates<Port extends PortState>(
  interfaces: readonly Port[],
  walked: WalkedTable,
): Port[] {
  const ports = portsOf(walked);
  const stp = new Map(
    rowsOf(walked, dot1dStpPortEntry).map((row) => [
      ports.get(row.index[0] ?? 0),
      STP_STATES[(row.int(dot1dStpPortState) ?? 0) - 1] ?? null,
    ]),
  );
  const aggregates = new Map(
    rowsOf(walked, dot3adAggPortEntry).flatMap((row) => {
      const [ifIndex = 0] = row.index;
      const aggregate = row.int(dot3adAggPort.attachedAggId) ?? 0;
      const state = row.octets(dot3adAggPort.actorOperState)?.[0];
      // A port alone is attached to nothing, or to itself.
      if (aggregate === 0 || aggregate === ifIndex) return [];
      return [
        [
          ifIndex,
          { ifIndex: aggregate, active: state === undefined || (state & DISTRIBUTING) !== 0 },
        ] as const,
      ];
    }),
  );
  // Of a table that was not read to its end, a port that it lacks may be in it.
  const none = walked.complete ? { stp: null, aggregate: null } : {};
  return interfaces.map((row) => {
    const [state, aggregate] = [stp.get(row.ifIndex), aggregates.get(row.ifIndex)];
    return { ...row, ...none, ...(state && { stp: state }), ...(aggregate && { aggregate }) };
  });
}
