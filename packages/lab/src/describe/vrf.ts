/** VRFs: MPLS-L3VPN-STD-MIB (RFC 4382), the agent's contexts (RFC 3415) and Cisco's map from contexts to VRFs. */
import type { Device } from '../device.ts';
import type { Sheet } from './sheet.ts';

const MPLS_L3VPN_VRF = '1.3.6.1.2.1.10.166.11.1.2.2.1';
const VACM_CONTEXT = '1.3.6.1.6.3.16.1.1.1';
const C_CONTEXT_MAPPING = '1.3.6.1.4.1.9.9.468.1.1.1';
const CISCO = '1.3.6.1.4.1.9.';

export const vrfsOf = (device: Device): string[] => [
  ...new Set(device.addresses.flatMap((address) => address.vrf ?? [])),
];

export function vrfs(sheet: Sheet, device: Device): void {
  for (const name of vrfsOf(device)) {
    const index = `${name.length}.${[...Buffer.from(name)].join('.')}`;
    const members = device.addresses.filter(({ vrf }) => vrf === name).length;
    sheet.row(MPLS_L3VPN_VRF, index, { 3: `VRF ${name}`, 6: 1, 7: members, 8: members });
    sheet.row(VACM_CONTEXT, index, { 1: name });
    if (device.sysObjectId.startsWith(CISCO)) sheet.row(C_CONTEXT_MAPPING, index, { 2: name });
  }
}
