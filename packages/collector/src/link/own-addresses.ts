import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { identifiesADevice } from '@rollcall/shared/address-worth';
import { OWN_ADDRESSES } from '@rollcall/shared/protocol';

/** Where this host stands, as `address/length`, without what is its own affair (loopback, link-local). */
export class OwnAddresses {
  /** The one that was last seen longest ago first. */
  readonly #seen = new Set<string>();

  /**
   * What the interfaces have, and what they had before: an interface without a carrier is not listed, and the router at its
   * far end may be what died. Undefined when there are more than may be reported, for a part would say that the host does not
   * stand where it does, and in a sandbox without netlink sockets.
   */
  reported(interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces): string[] | undefined {
    let listed: NodeJS.Dict<NetworkInterfaceInfo[]>;
    try {
      listed = interfaces();
    } catch {
      return undefined;
    }
    const own = Object.values(listed)
      .flatMap((each) => each ?? [])
      .flatMap(({ cidr }) => (cidr !== null && identifiesADevice(cidr.replace(/\/.*/, '')) ? cidr : []));
    if (own.length > OWN_ADDRESSES) return undefined;
    for (const cidr of own) {
      this.#seen.delete(cidr);
      this.#seen.add(cidr);
    }
    for (const oldest of this.#seen) {
      if (this.#seen.size <= OWN_ADDRESSES) break;
      this.#seen.delete(oldest);
    }
    return [...this.#seen];
  }
}
