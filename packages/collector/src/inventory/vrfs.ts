/** MPLS-L3VPN-STD-MIB (RFC 4382): which VRFs a router has. */
import type { VrfRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '../snmp/walk.ts';
import { columnsOf, rowsOf } from './row.ts';
import { octetsOf, textOf } from './text.ts';

const mplsL3VpnVrfEntry = '1.3.6.1.2.1.10.166.11.1.2.2.1';
const mplsL3VpnVrf = { operStatus: 6 };
export const VRF_COLUMNS = columnsOf(mplsL3VpnVrfEntry, Object.values(mplsL3VpnVrf));

/** Index: the name as length and octets. */
export function vrfsOf(walked: WalkedTable): VrfRow[] {
  return rowsOf(walked, mplsL3VpnVrfEntry).flatMap((row) => {
    const octets = octetsOf(row.index.slice(1));
    const name = octets && textOf(Buffer.from(octets));
    return name ? [{ name }] : [];
  });
}
