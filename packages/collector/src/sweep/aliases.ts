/**
 * Further addresses of a box that this sweep has read already. The only proof taken is the box's own address table,
 * and only if the agent at the other address says the same of itself: a private address may exist twice.
 */
import type { RawSystem } from '@rollcall/snmp/discover';

/** Start times further apart than this are of two boxes, milliseconds. */
const SAME_START_MS = 3000;
/** Every box has these. */
const COMMON = new Set(['127.0.0.1', '0.0.0.0', '::1', '::']);

/** How an agent describes itself, and when it started. */
export interface Face {
  text: string;
  /** By our clock, milliseconds; null when it does not say. */
  startedAt: number | null;
}

/** `now` in milliseconds. */
export const faceOf = (system: RawSystem, now: number): Face => ({
  text: [system.sysObjectId, system.sysName?.toString('hex'), system.sysDescr?.toString('hex')].join('|'),
  startedAt: system.sysUpTime === undefined ? null : now - system.sysUpTime * 10,
});

export const isSameFace = (a: Face, b: Face): boolean =>
  a.text === b.text &&
  (a.startedAt === null || b.startedAt === null || Math.abs(a.startedAt - b.startedAt) <= SAME_START_MS);

export class Aliases {
  /** Address → the box that lists it, first come. */
  readonly #listed = new Map<string, { address: string; face: Face }>();
  /** Boxes being read, by the text of their face. */
  readonly #reading = new Map<string, { face: Face; done: Promise<void> }[]>();

  /** The address under which the box at `address` was read already, or null. */
  ownerOf(address: string, face: Face): string | null {
    const owner = this.#listed.get(address);
    return owner && owner.address !== address && isSameFace(owner.face, face) ? owner.address : null;
  }

  /** A reading of what may be the same box, to be waited for before reading it again; null when there is none. */
  readingOf(face: Face): Promise<void> | null {
    return this.#reading.get(face.text)?.find((reading) => isSameFace(reading.face, face))?.done ?? null;
  }

  /** Reads a box: `read` answers the addresses that it lists. */
  async during(address: string, face: Face, read: () => Promise<readonly string[]>): Promise<void> {
    let finish: (() => void) | undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const readings = this.#reading.get(face.text) ?? [];
    const reading = { face, done };
    this.#reading.set(face.text, [...readings, reading]);
    try {
      for (const listed of await read()) {
        if (!COMMON.has(listed) && !this.#listed.has(listed)) this.#listed.set(listed, { address, face });
      }
    } finally {
      const rest = (this.#reading.get(face.text) ?? []).filter((other) => other !== reading);
      if (rest.length > 0) this.#reading.set(face.text, rest);
      else this.#reading.delete(face.text);
      finish?.();
    }
  }
}
