/** How the agents of the demonstration site may be asked: five credentials, so a scanner needs an ordered list. */
import type { Access } from '../device.ts';
import type { Credential } from '../site.ts';

export const network: Access = {
  version: 'v3',
  user: 'netops',
  authProtocol: 'sha1',
  authKey: 'lantern-orchard-42',
  privProtocol: 'aes128',
  privKey: 'copper-meadow-17',
};
export const security: Access = {
  version: 'v3',
  user: 'secops',
  authProtocol: 'sha256',
  authKey: 'granite-harbour-63',
  privProtocol: 'aes256',
  privKey: 'silver-thicket-88',
};
export const infrastructure: Access = { version: 'v2c', community: 'rollcall-infra' };
export const open: Access = { version: 'v2c', community: 'public' };
export const oldest: Access = { version: 'v1', community: 'public' };

export const credentials: Credential[] = [
  { name: 'network devices (v3)', ...network },
  { name: 'firewalls (v3)', ...security },
  { name: 'infrastructure (v2c)', ...infrastructure },
  { name: 'public (v2c)', ...open },
  { name: 'public (v1)', ...oldest },
];
