/** How stations call themselves, as a switch that inspects DHCP has heard it: CISCO-DHCP-SNOOPING-MIB. */
import { type FdbRow, hostNameOf } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { columnsOf, rowsOf } from './row.ts';
import { macOf, octetsOf } from './text.ts';

/** Index: VLAN, the six octets of the MAC address. */
const cdsBindingsEntry = '1.3.6.1.4.1.9.9.380.1.4.1.1';
const cdsBindings = { status: 7, hostname: 8 };
const ACTIVE = 1;

export const BINDING_COLUMNS = columnsOf(cdsBindingsEntry, Object.values(cdsBindings));

/** Entries of the forwarding table with the names of their stations: a binding alone does not say that its station is there. */
export function withHostNames(rows: readonly FdbRow[], bindings: WalkedTable): FdbRow[] {
  const names = new Map(
    rowsOf(bindings, cdsBindingsEntry).flatMap((row) => {
      const [vlan, ...arcs] = row.index;
      const mac = arcs.length === 6 && macOf(Buffer.from(octetsOf(arcs) ?? []));
      const name = hostNameOf(row.text(cdsBindings.hostname) ?? '');
      return mac && name && row.int(cdsBindings.status) === ACTIVE ? [[`${vlan} ${mac}`, name]] : [];
    }),
  );
  return rows.map((row) => {
    const hostname = names.get(`${row.vlan} ${row.mac}`);
    return hostname === undefined ? row : { ...row, hostname };
  });
}
