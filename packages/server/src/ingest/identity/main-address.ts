/**
 * At which of its addresses a device is managed. Pure.
 *
 * A device keeps its address while that answers, so two addresses that both answer never take turns. It moves to another
 * that answered in the same scan when the known one is silent. An address that its device still lists is silent only after
 * several scans, one fewer than make a device gone, because an answer may be lost; one that the watch hears is silent only
 * if the device left it. A device that a scan found first is settled once, at the best of its addresses, and virtual
 * addresses are always left.
 */
import { byAddress } from '@rollcall/shared/ip';

/** An address of a device at which it was reached at some time. */
export interface Place {
  address: string;
  /** In this scan; null: not asked. */
  answered: boolean | null;
  /** What has it: a loopback interface, another one of the device's own table, or nothing that is known. */
  on: 'loopback' | 'interface' | null;
  /** Its mask leaves it no network, as keepalived adds virtual addresses to an interface. */
  alone: boolean;
  /** It moves between devices (VRRP, HSRP, CARP, anycast): it has a virtual hardware address, or two devices list it. */
  virtual: boolean;
}

export interface Standing {
  /** Its address now. */
  address: string;
  places: readonly Place[];
  /** This scan found it first. */
  isNew: boolean;
  /** What its watch says; null: it is not watched, or the watch has not spoken. */
  watched: 'up' | 'down' | null;
  /** Scans in a row that asked its address in vain, this one included. */
  missedScans: number;
  /** So many make a device gone. */
  missedUntilGone: number;
}

export interface Move {
  address: string;
  /** `silent`: the device was renumbered. Else it was never rightly there, which is no news. */
  reason: 'silent' | 'new' | 'virtual';
}

/** Where the device is managed from now on; null where it is now. */
export function mainAddress(device: Standing): Move | null {
  const known = device.places.find(({ address }) => address === device.address);
  const [best] = device.places
    .filter(({ answered, virtual }) => answered === true && !virtual)
    .sort((a, b) => rank(a) - rank(b) || byAddress(a.address, b.address));
  if (!best || best.address === device.address) return null;
  const to = (reason: Move['reason']): Move => ({ address: best.address, reason });
  if (known?.virtual) return to('virtual');
  if (device.isNew && device.watched !== 'up') return to('new');
  return isSilent(device, known) ? to('silent') : null;
}

function isSilent({ places, watched, missedScans, missedUntilGone }: Standing, known: Place | undefined) {
  if (known?.answered === true) return false;
  const listed = (known?.on ?? null) !== null;
  const left = !listed && places.some(({ on }) => on !== null);
  // The watch may not have noticed yet that a device left an address.
  if (watched === 'up') return left && known?.answered === false;
  if (left) return true;
  return missedScans >= (listed ? Math.max(1, missedUntilGone - 1) : 1);
}

/** A loopback interface is up as long as the device is. What may move to another device comes after what cannot. */
const rank = ({ on, alone }: Place): number =>
  on === 'loopback' ? 0 : on === 'interface' ? (alone ? 2 : 1) : 3;
