/**
 * What an address is worth: whether it can identify a device. Loopback, link-local, unspecified, multicast and mapped
 * addresses are the same in every device or on every link: such an address identifies nothing, is no device's management
 * address, and a trap from it is of nobody. It stays listed as a fact of its interface.
 */

/** By canonical text; 127.0.0.0/8 is judged below. */
const SAME_EVERYWHERE =
  /^(0\.|127\.0\.0\.1$|169\.254\.|22[4-9]\.|23\d\.|24\d\.|25[0-5]\.|::1?$|::ffff:|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:)/i;

/**
 * Whether `address` can identify a device. A simulated site lives on 127.0.0.0/8 without 127.0.0.1: there such addresses
 * are real, so they count for a device that was reached on one.
 */
export const identifiesADevice = (address: string, reached = ''): boolean =>
  !SAME_EVERYWHERE.test(address) && (!address.startsWith('127.') || reached.startsWith('127.'));
