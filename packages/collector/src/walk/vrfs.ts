/**
 * VRFs: which a router has (MPLS-L3VPN-STD-MIB, RFC 4382), and what each shows in the context that reaches it. Addresses
 * of VRFs stay apart from those of the device: two VRFs may use one address for two things.
 */
import type { VrfRow } from '@rollcall/shared/observation';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { addressColumns, addressesOf } from './addresses.ts';
import { ARP_COLUMNS, arpOf } from './bridge.ts';
import { columnsOf, rowsOf } from './row.ts';
import { octetsOf, textOf } from './text.ts';

const mplsL3VpnVrfEntry = '1.3.6.1.2.1.10.166.11.1.2.2.1';
const mplsL3VpnVrf = { operStatus: 6 };
/** vacmContextTable (RFC 3415): every context that an agent has. */
const vacmContextEntry = '1.3.6.1.6.3.16.1.1.1';
const vacmContext = { name: 1 };
/** CISCO-CONTEXT-MAPPING-MIB: index is the context. */
const cContextMappingEntry = '1.3.6.1.4.1.9.9.468.1.1.1';
const cContextMapping = { vrfName: 2 };

const CISCO = '1.3.6.1.4.1.9.';
const JUNIPER = '1.3.6.1.4.1.2636.';
const under = (vendor: string, sysObjectId: string | undefined) => sysObjectId?.startsWith(vendor) ?? false;

export const vrfColumns = (sysObjectId: string | undefined): string[] => [
  ...columnsOf(mplsL3VpnVrfEntry, Object.values(mplsL3VpnVrf)),
  ...columnsOf(vacmContextEntry, Object.values(vacmContext)),
  ...(under(CISCO, sysObjectId) ? columnsOf(cContextMappingEntry, Object.values(cContextMapping)) : []),
];

/** VRFs by name, with the context of those that have one. */
export function vrfsOf(walked: WalkedTable, sysObjectId: string | undefined): VrfRow[] {
  const vrfs = new Map<string, VrfRow>();
  for (const row of rowsOf(walked, mplsL3VpnVrfEntry)) {
    const name = indexText(row.index);
    if (name) vrfs.set(name, { name });
  }
  for (const row of rowsOf(walked, cContextMappingEntry)) {
    const [name, context] = [row.text(cContextMapping.vrfName), indexText(row.index)];
    if (name && context) vrfs.set(name, { name, context });
  }
  const contexts = new Set(
    rowsOf(walked, vacmContextEntry).flatMap((row) => row.text(vacmContext.name) ?? []),
  );
  return [...vrfs.values()].map((vrf) =>
    vrf.context === undefined && (contexts.has(vrf.name) || under(JUNIPER, sysObjectId))
      ? { ...vrf, context: vrf.name }
      : vrf,
  );
}

/** The index is the text: its length, then its octets. */
function indexText(index: readonly number[]): string | undefined {
  const octets = octetsOf(index.slice(1));
  return octets && textOf(Buffer.from(octets));
}

/**
 * The credential inside a context: contextName in v3 (RFC 3415). In v1 and v2c the community carries it, in front of the
 * `@` at Juniper ("Identifying a Routing Instance"), behind it at Cisco; null for others, which have no way known.
 */
export function insideContext(
  credential: SnmpCredential,
  context: string,
  sysObjectId: string | undefined,
): SnmpCredential | null {
  if (credential.version === 'v3') return { ...credential, contextName: context };
  if (under(JUNIPER, sysObjectId))
    return { ...credential, community: credential.community.with((name) => `${context}@${name}`) };
  if (under(CISCO, sysObjectId))
    return { ...credential, community: credential.community.with((name) => `${name}@${context}`) };
  return null;
}

/** Of one VRF; what is over is counted in `more`. With both, a row stays under the size of an observation. */
const ADDRESSES = 256;
const ARP = 600;

export const inVrfColumns = (sysObjectId: string | undefined): string[] => [
  ...addressColumns(sysObjectId),
  ...ARP_COLUMNS,
];

/** What a VRF shows in its context. Null: the same as without one, so the agent ignores contexts. */
export function contentOf(
  walked: WalkedTable,
  outside: ReadonlySet<string>,
): Pick<VrfRow, 'addresses' | 'arp' | 'more'> | null {
  const [addresses, arp] = [addressesOf(walked), arpOf(walked)];
  const same =
    addresses.length > 0 &&
    addresses.length === outside.size &&
    addresses.every(({ address }) => outside.has(address));
  if (same) return null;
  const more = Math.max(0, addresses.length - ADDRESSES) + Math.max(0, arp.length - ARP);
  return {
    addresses: addresses.slice(0, ADDRESSES),
    arp: arp.slice(0, ARP),
    ...(more > 0 ? { more } : {}),
  };
}
