import type { WireCredential } from '@rollcall/shared/protocol';
import { Secret } from '@rollcall/shared/secret';
import type { UsmUser } from '../message/keys.ts';

export interface CommunityCredential {
  id: string;
  version: 'v1' | 'v2c';
  community: Secret;
}

export interface UserCredential {
  id: string;
  version: 'v3';
  user: UsmUser;
  contextName?: string | undefined;
}

/** What an agent is asked with. Keep the object: keys that were localised for it live as long as it does. */
export type SnmpCredential = CommunityCredential | UserCredential;

/** A credential as the server sends it, with its secrets sealed from printing. */
export function credentialOf(wire: WireCredential): SnmpCredential {
  if (wire.version !== 'v3') {
    return { id: wire.id, version: wire.version, community: new Secret(wire.community) };
  }
  return {
    id: wire.id,
    version: 'v3',
    user: {
      name: wire.user,
      authProtocol: wire.authProtocol,
      authKey: wire.authKey === undefined ? undefined : new Secret(wire.authKey),
      privProtocol: wire.privProtocol,
      privKey: wire.privKey === undefined ? undefined : new Secret(wire.privKey),
    },
    contextName: wire.contextName,
  };
}
