import type { AUTH_PROTOCOLS, PRIV_PROTOCOLS } from '@rollcall/shared/model';
import type { FactGroup } from '@rollcall/shared/profile';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import type { Choice } from '../../components/filter/index.ts';

/** What a scan reads, in words. */
export const GROUPS: Record<FactGroup, string> = {
  interfaces: 'interfaces',
  addresses: 'addresses',
  entities: 'hardware',
  neighbours: 'neighbours',
  arp: 'ARP',
  fdb: 'forwarding',
  vlans: 'VLANs',
  vrfs: 'VRFs',
};

/** Protocols of SNMPv3 as their standards write them; `none` is a word. */
export const AUTHENTICATION: Record<(typeof AUTH_PROTOCOLS)[number], string> = {
  none: 'none',
  md5: 'MD5',
  sha1: 'SHA-1',
  sha224: 'SHA-224',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};
export const PRIVACY: Record<(typeof PRIV_PROTOCOLS)[number], string> = {
  none: 'none',
  des: 'DES',
  aes128: 'AES-128',
  aes192: 'AES-192',
  aes256: 'AES-256',
  aes192r: 'AES-192 (Cisco)',
  aes256r: 'AES-256 (Cisco)',
};

export function useProfileChoices(): Choice[] {
  const profiles = useQuery(apiQuery('profiles.list', { query: { pageSize: 1000 } }));
  return (profiles.data?.data ?? []).map(({ name }) => ({ value: name, label: name }));
}

/** No site is named: the server takes the one whose networks contain the targets. */
export const BY_TARGETS = 'any';
export const useTargetSites = (): Choice[] => [
  { value: BY_TARGETS, label: 'Auto (by network)' },
  ...useSiteChoices(),
];
