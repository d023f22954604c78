/** The trap receiver: SNMP notifications of any version into observations, and answers to informs. */
import type { Clock } from '@rollcall/shared/clock';
import { canonicalAddress, parseAddress } from '@rollcall/shared/ip';
import type { Observation, TrapObservation } from '@rollcall/shared/observation';
import { linkTrap } from '@rollcall/shared/trap';
import type { SnmpCredential, UserCredential } from '@rollcall/snmp/engine/credential';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { RemoteEngine } from '@rollcall/snmp/message/usm';
import type { Logger } from 'pino';
import type { Outbox } from '../outbox/outbox.ts';
import type { Scope } from '../sweep/scope.ts';
import { textOrHex } from '../walk/text.ts';
import { decodeTrap, type Security, type TrapDrop, type TrapMessage } from './decode.ts';
import { Limit, type LimitSettings } from './limit.ts';
import type { OwnEngine } from './own-engine.ts';
import { openTrapSockets, type TrapSockets } from './sockets.ts';

export interface TrapDeps {
  outbox: Pick<Outbox, 'append'>;
  clock: Clock;
  log: Logger;
  engine: OwnEngine;
  scope: Scope;
  /** Credentials that are known right now. */
  users: () => readonly SnmpCredential[];
  /** Whether a watched device is there. */
  isWatched: (address: string) => boolean;
  /** A watched device said something of itself, perhaps of one port. */
  readSoon: (address: string, port: number | null) => void;
}

export interface TrapSettings {
  /** UDP port; 0: none are received. */
  port: number;
  perSecond: number;
}

export interface TrapStatus {
  /** Null: none are received. */
  port: number | null;
  received: number;
  /** Why not. */
  reason?: string;
}

/** Traps of one source at once, in seconds of its rate. */
const BURST_SECONDS = 10;
/** Monitored devices whose traps are counted separately, and other senders at a time. */
const SOURCES = 2048;
const UNKNOWN_SOURCES = 64;
const ALL_PER_SECOND = 200;
/** How often traps that were held back are looked for. */
const TAIL_MS = 1000;
/** Discovery answers of our engine per second: nobody shall be flooded by requests with a forged source. */
const REPLIES: LimitSettings = {
  perSecond: 5,
  burst: 20,
  sources: SOURCES,
  unknownSources: SOURCES,
  allPerSecond: 100,
  allBurst: 200,
};
/** Sender engines remembered. */
const ENGINES = 4096;
/** Of one trap. */
const VARBINDS = 128;
const VALUE_CHARACTERS = 2048;
const TRAP_CHARACTERS = 16_384;
/** Traps that may wait for the disk. */
const WAITING_MOST = 2000;

/** `perSecond` of one source. */
export const limitOf = (perSecond: number): LimitSettings => ({
  perSecond,
  burst: Math.max(1, perSecond * BURST_SECONDS),
  sources: SOURCES,
  unknownSources: UNKNOWN_SOURCES,
  allPerSecond: ALL_PER_SECOND,
  allBurst: ALL_PER_SECOND * BURST_SECONDS,
});

interface Held {
  trap: TrapMessage;
  address: string;
  at: number;
}

export class Traps {
  readonly #deps: TrapDeps;
  readonly #limit: Limit<Held>;
  readonly #replies: Limit<true>;
  readonly #engines = new Map<string, RemoteEngine>();
  readonly #drops = new Map<string, number>();
  readonly #stopTail: () => void;
  #scope: Scope;
  #sockets: TrapSockets | null = null;
  #reason: string | undefined;
  #received = 0;
  #waiting = 0;

  private constructor(deps: TrapDeps, settings: LimitSettings) {
    this.#deps = deps;
    this.#scope = deps.scope;
    this.#limit = new Limit(settings, deps.clock.monotonic());
    this.#replies = new Limit(REPLIES, deps.clock.monotonic());
    this.#stopTail = deps.clock.every(TAIL_MS, () => this.#tail());
  }

  /** Opens the port. Where the host does not let us, the collector works on without traps, and says why. */
  static async open(deps: TrapDeps, { port, perSecond }: TrapSettings): Promise<Traps> {
    const traps = new Traps(deps, limitOf(perSecond));
    if (port === 0) traps.#reason = 'switched off in the settings (traps.port: 0)';
    else {
      const opened = await openTrapSockets(port, (bytes, address, from) => traps.#take(bytes, address, from));
      if (opened.ok) {
        traps.#sockets = opened.sockets;
        deps.log.info({ port: opened.sockets.port }, 'traps are received');
      } else {
        traps.#reason = opened.reason;
        deps.log.warn({ port, reason: opened.reason }, 'no traps are received');
      }
    }
    return traps;
  }

  status(): TrapStatus {
    return {
      port: this.#sockets?.port ?? null,
      received: this.#received,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
    };
  }

  /** Datagrams and traps that were not reported, by reason, since the start. */
  get drops(): Record<string, number> {
    return Object.fromEntries(this.#drops);
  }

  limit(scope: Scope): void {
    this.#scope = scope;
  }

  async close(): Promise<void> {
    this.#stopTail();
    await this.#sockets?.close();
  }

  #take(bytes: Buffer, from: string, reply: (answer: Buffer) => void): void {
    const { clock } = this.#deps;
    const address = canonicalAddress(from.replace(/%.*$/, ''));
    const parsed = address === null ? null : parseAddress(address);
    if (address === null || !parsed?.ok || !this.#scope.allows(parsed.value)) {
      this.#drop('scope');
      return;
    }
    const decoded = decodeTrap(bytes, this.#security());
    if (decoded.kind === 'drop') this.#drop(decoded.reason);
    else if (decoded.kind === 'trap') this.#admit({ trap: decoded.trap, address, at: clock.now() }, reply);
    else if (this.#replies.admit(address, false, true, clock.monotonic()).ok) reply(decoded.bytes);
    else this.#drop('rate');
  }

  #admit(held: Held, reply: (answer: Buffer) => void): void {
    const { address } = held;
    this.#received += 1;
    const now = this.#deps.clock.monotonic();
    const admission = this.#limit.admit(address, this.#deps.isWatched(address), held, now);
    if (admission.ok) void this.#report(held, admission.dropped, reply);
    else this.#drop(admission.reason);
  }

  #security(): Security {
    const users = this.#deps.users().filter((each): each is UserCredential => each.version === 'v3');
    const now = this.#deps.clock.monotonic();
    return {
      users,
      own: this.#deps.engine.with(users.map(({ user }) => user)),
      remote: (id, boots, time) => this.#remote(id, boots, time, now),
      now,
    };
  }

  #remote(id: Buffer, boots: number, time: number, now: number): RemoteEngine {
    const key = id.toString('latin1');
    const known = this.#engines.get(key);
    if (known) return known;
    const engine = new RemoteEngine(id, boots, time, now);
    this.#engines.set(key, engine);
    if (this.#engines.size > ENGINES) {
      const [oldest] = this.#engines.keys();
      if (oldest !== undefined) this.#engines.delete(oldest);
    }
    return engine;
  }

  #drop(reason: TrapDrop | 'scope' | 'sources' | 'source-rate' | 'rate' | 'disk'): void {
    const name = `trap-${reason}`;
    this.#drops.set(name, (this.#drops.get(name) ?? 0) + 1);
  }

  /** What a storm left behind: the newest of each source, when there is room again. */
  #tail(): void {
    for (const { held, dropped } of this.#limit.due(this.#deps.clock.monotonic()))
      void this.#report(held, dropped);
  }

  /** An inform is answered when it is on disk: the sender may forget it then. */
  async #report(held: Held, dropped: number, reply?: (answer: Buffer) => void): Promise<void> {
    const { trap, address } = held;
    if (this.#waiting >= WAITING_MOST) {
      this.#drop('disk');
      return;
    }
    const observation = observationOf(held, dropped);
    this.#deps.readSoon(trap.notification.agentAddress ?? address, linkTrap(observation)?.ifIndex ?? null);
    this.#waiting += 1;
    try {
      await this.#deps.outbox.append([observation as Observation]);
      if (trap.answer) reply?.(trap.answer);
    } catch {
      // The outbox was closed: the collector stops, and the sender tries again.
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** A trap as it is reported: bounded, readable, nothing of a community in it. */
export function observationOf({ trap, address, at }: Held, dropped: number): TrapObservation {
  const { notification, version, engineId } = trap;
  const { agentAddress, sysUpTime, trapOid } = notification;
  let room = TRAP_CHARACTERS;
  const varbinds = notification.varbinds.slice(0, VARBINDS).flatMap((varbind) => {
    const value = textOfValue(varbind);
    room -= value.length + varbind.oid.length;
    return room < 0 ? [] : [{ oid: varbind.oid, type: varbind.type, value }];
  });
  return {
    kind: 'trap',
    at,
    address,
    snmpVersion: version,
    trapOid: trapOid.slice(0, 512),
    varbinds,
    ...(agentAddress === null || agentAddress === address ? {} : { agentAddress }),
    ...(engineId === null ? {} : { engineId }),
    ...(sysUpTime === null ? {} : { sysUpTime }),
    ...(dropped > 0 ? { dropped } : {}),
  };
}

function textOfValue(varbind: Varbind): string {
  if (varbind.value === null) return '';
  if (!Buffer.isBuffer(varbind.value)) return String(varbind.value).slice(0, VALUE_CHARACTERS);
  const text = textOrHex(varbind.value);
  if (text.length <= VALUE_CHARACTERS) return text;
  const last = text.charCodeAt(VALUE_CHARACTERS - 2);
  // Not through the middle of a surrogate pair.
  return `${text.slice(0, VALUE_CHARACTERS - (last >= 0xd800 && last <= 0xdbff ? 2 : 1))}…`;
}
