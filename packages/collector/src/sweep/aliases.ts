/**
 * Further addresses of a device that this sweep has read already. The only proof taken is the device's own address table,
 * and only if the agent at the other address says the same of itself: a private address may exist twice.
 */
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { RawSystem } from '@rollcall/snmp/discover';

/** Start times further apart than this are of two devices, milliseconds. */
const SAME_START_MS = 3000;

/** How an agent describes itself, and when it started. */
export interface Fingerprint {
  text: string;
  /** By our clock, milliseconds; null when it does not say. */
  startedAt: number | null;
}

/** `now` in milliseconds. */
export const fingerprintOf = (system: RawSystem, now: number): Fingerprint => ({
  text: [system.sysObjectId, system.sysName?.toString('hex'), system.sysDescr?.toString('hex')].join('|'),
  startedAt: system.sysUpTime === undefined ? null : now - system.sysUpTime * 10,
});

const isSameFingerprint = (a: Fingerprint, b: Fingerprint): boolean =>
  a.text === b.text &&
  (a.startedAt === null || b.startedAt === null || Math.abs(a.startedAt - b.startedAt) <= SAME_START_MS);

export class Aliases {
  /** Address → the device that lists it, first come. */
  readonly #listed = new Map<string, { address: string; fingerprint: Fingerprint }>();
  /** Devices being read, by the text of their fingerprint. */
  readonly #reading = new Map<string, { fingerprint: Fingerprint; done: Promise<void> }[]>();

  /** The address under which the device at `address` was read already, or null. */
  ownerOf(address: string, fingerprint: Fingerprint): string | null {
    const owner = this.#listed.get(address);
    return owner && owner.address !== address && isSameFingerprint(owner.fingerprint, fingerprint)
      ? owner.address
      : null;
  }

  /** A reading of what may be the same device, to be waited for before reading it again; null when there is none. */
  readingOf(fingerprint: Fingerprint): Promise<void> | null {
    return (
      this.#reading
        .get(fingerprint.text)
        ?.find((reading) => isSameFingerprint(reading.fingerprint, fingerprint))?.done ?? null
    );
  }

  /** Reads a device: `read` answers the addresses that it lists. */
  async during(
    address: string,
    fingerprint: Fingerprint,
    read: () => Promise<readonly string[]>,
  ): Promise<void> {
    let finish: (() => void) | undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const readings = this.#reading.get(fingerprint.text) ?? [];
    const reading = { fingerprint, done };
    this.#reading.set(fingerprint.text, [...readings, reading]);
    try {
      for (const listed of await read()) {
        if (identifiesADevice(listed, address) && !this.#listed.has(listed))
          this.#listed.set(listed, { address, fingerprint });
      }
    } finally {
      const rest = (this.#reading.get(fingerprint.text) ?? []).filter((other) => other !== reading);
      if (rest.length > 0) this.#reading.set(fingerprint.text, rest);
      else this.#reading.delete(fingerprint.text);
      finish?.();
    }
  }
}
