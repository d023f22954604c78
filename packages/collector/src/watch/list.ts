/** What this collector is to watch, put together from the server's messages. A list counts when it is whole. */
import { isDeepStrictEqual } from 'node:util';
import type { ServerMessage, WatchTarget, WireCredential } from '@rollcall/shared/protocol';

export type WatchMessage = Extract<ServerMessage, { type: 'watch' }>;

export interface WatchSettings {
  icmpMs: number;
  snmpMs: number;
  /** Absent: forwarding and ARP tables are not read. */
  tablesMs?: number | undefined;
  /** Absent: names of addresses are not looked up. */
  namesMs?: number | undefined;
  port: number;
}

/** What a message changed. */
export interface ListChange {
  set: WatchTarget[];
  remove: string[];
  /** New, or with another content than before. */
  credentials: WireCredential[];
  settings: WatchSettings;
}

const SNMP_PORT = 161;

export class WatchList {
  readonly #targets = new Map<string, WatchTarget>();
  /** A list that begins anew: devices named so far. */
  #named: Set<string> | null = null;

  get size(): number {
    return this.#targets.size;
  }

  /** Takes a message over. A new list removes what it does not name, once its last message is here. */
  take(message: WatchMessage): ListChange {
    const { full, more = false, set, remove, credentials, intervals, port = SNMP_PORT } = message;
    if (full) this.#named = new Set();
    const changed = set.filter((target) => {
      this.#named?.add(target.deviceId);
      const known = this.#targets.get(target.deviceId);
      this.#targets.set(target.deviceId, target);
      return !isDeepStrictEqual(known, target);
    });
    const gone = remove.filter((id) => this.#targets.delete(id));
    if (!more && this.#named) {
      for (const id of this.#targets.keys()) if (!this.#named.has(id)) gone.push(id);
      for (const id of gone) this.#targets.delete(id);
      this.#named = null;
    }
    return { set: changed, remove: gone, credentials, settings: { ...intervals, port } };
  }
}
