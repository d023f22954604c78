/** What stands at the other end of a cable, by what it says of itself in LLDP and CDP. Pure. */

/** LldpSystemCapabilitiesMap (LLDP-MIB, IEEE 802.1AB) by name, in the order of its bits, without bit 0 (other). */
export const CAPABILITIES = [
  'repeater',
  'bridge',
  'access-point',
  'router',
  'phone',
  'docsis',
  'station',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

export const FAR_ENDS = ['phone', 'access-point', 'hypervisor', 'switch', 'router', 'station'] as const;
export type FarEnd = (typeof FAR_ENDS)[number];

export const FAR_END_WORDS: Readonly<Record<FarEnd, string>> = {
  phone: 'phone',
  'access-point': 'access point',
  hypervisor: 'hypervisor',
  switch: 'switch',
  router: 'router',
  station: 'station',
};

const HYPERVISOR = /\b(vmware esx|proxmox|pve|xenserver|nutanix|hyper-v)/i;
const ACCESS_POINT = /\bAIR-|\baccess point\b/i;

/** Null: it does not say. Words decide first: a hypervisor calls itself a bridge, and Cisco's access points do by CDP. */
export function farEndOf({
  capabilities,
  platform,
  sysDescr,
}: {
  capabilities: readonly string[];
  platform: string | null;
  sysDescr: string | null;
}): FarEnd | null {
  const words = `${platform ?? ''} ${sysDescr ?? ''}`;
  if (capabilities.includes('phone')) return 'phone';
  if (HYPERVISOR.test(words)) return 'hypervisor';
  if (capabilities.includes('access-point') || ACCESS_POINT.test(words)) return 'access-point';
  if (capabilities.includes('bridge')) return 'switch';
  if (capabilities.includes('router')) return 'router';
  return capabilities.includes('station') ? 'station' : null;
}
