/** An SNMP agent without a socket: a datagram in, a datagram out. Speaks v1, v2c and v3 (USM). */

import { Secret } from '@rollcall/shared/secret';
import { BerError } from '@rollcall/snmp/message/ber';
import type { UsmUser } from '@rollcall/snmp/message/keys';
import {
  type CommunityMessage,
  decodeCommunityMessage,
  encodeCommunityMessage,
  openMessage,
  readSecureEnvelope,
} from '@rollcall/snmp/message/message';
import type { Pdu, PlainPdu } from '@rollcall/snmp/message/pdu';
import { AuthoritativeEngine } from '@rollcall/snmp/message/usm';
import type { Access } from './device.ts';
import type { View } from './mib.ts';
import { cut, respond, tooBig } from './respond.ts';

export interface AgentSettings {
  /**
   * Context name → what it shows; the default context is the empty name. Called for every request, so what an agent
   * shows may be exchanged while it runs.
   */
  contexts: () => ReadonlyMap<string, View>;
  access: readonly Access[];
  engineId: Buffer;
  engineBoots?: number;
  /** Seconds since the engine's last boot. */
  seconds: () => number;
  /** Largest answer, octets; by default what fits one Ethernet frame, as most devices have it. */
  maxMessageSize?: number;
}

/** UDP payload of one Ethernet frame, octets. */
export const ETHERNET_PAYLOAD = 1472;

export class Agent {
  readonly #contexts: () => ReadonlyMap<string, View>;
  readonly #communities: Map<string, 'v1' | 'v2c'>;
  readonly #engine: AuthoritativeEngine;
  readonly #room: number;

  constructor(settings: AgentSettings) {
    this.#contexts = settings.contexts;
    this.#communities = new Map(
      settings.access.flatMap((a) => (a.version === 'v3' ? [] : [[a.community, a.version] as const])),
    );
    this.#room = settings.maxMessageSize ?? ETHERNET_PAYLOAD;
    this.#engine = new AuthoritativeEngine({
      id: settings.engineId,
      boots: settings.engineBoots ?? 1,
      seconds: () => Math.floor(settings.seconds()),
      users: settings.access.flatMap((a) => (a.version === 'v3' ? [userOf(a)] : [])),
    });
  }

  /** The answer to one datagram; null for silence, as for a wrong community or what is no SNMP. */
  answer(datagram: Buffer): Buffer | null {
    try {
      const { reader, version } = openMessage(datagram);
      if (version === 'v3') return this.#secure(datagram, readSecureEnvelope(reader));
      return this.#community(decodeCommunityMessage(datagram));
    } catch (error) {
      if (error instanceof BerError) return null;
      throw error;
    }
  }

  #community(message: CommunityMessage): Buffer | null {
    const view = this.#viewOf(message.community.toString('utf8'), message.version);
    if (!view) return null;
    const version = message.version === 'v1' ? 'v1' : 'v2';
    return reply(view, message.pdu, version, this.#room, (pdu) =>
      encodeCommunityMessage({ ...message, pdu }),
    );
  }

  /** `community@context` reaches a context (Cisco's community string indexing), `context@community` too (Juniper's way). */
  #viewOf(community: string, version: 'v1' | 'v2c'): View | undefined {
    const whole = this.#allows(community, version);
    if (whole) return this.#contexts().get('');
    const at = community.lastIndexOf('@');
    const [front, back] = [community.slice(0, Math.max(0, at)), community.slice(at + 1)];
    if (at >= 0 && this.#allows(front, version)) return this.#contexts().get(back);
    return at >= 0 && this.#allows(back, version) ? this.#contexts().get(front) : undefined;
  }

  #allows(community: string, version: 'v1' | 'v2c'): boolean {
    const newest = this.#communities.get(community);
    return newest === 'v2c' || newest === version;
  }

  #secure(datagram: Buffer, envelope: ReturnType<typeof readSecureEnvelope>): Buffer | null {
    const received = this.#engine.receive(datagram, envelope);
    if (received.kind === 'drop') return null;
    if (received.kind === 'report') return received.bytes;
    const { request } = received;
    const name = request.scoped.contextName.toString('utf8');
    const contexts = this.#contexts();
    // Cisco names the bridge instance of a VLAN `vlan-10`.
    const view = contexts.get(name) ?? contexts.get(/^vlan-(\d+)$/.exec(name)?.[1] ?? name);
    if (!view) return this.#engine.refuseContext(request);
    const room = Math.min(this.#room, request.maxSize);
    return reply(view, request.scoped.pdu, 'v2', room, (pdu) => this.#engine.respond(request, pdu));
  }
}

/** The encoded answer, at most `room` octets: a getBulk's is cut to fit, any other becomes tooBig. */
function reply(
  view: View,
  request: Pdu,
  version: 'v1' | 'v2',
  room: number,
  encode: (pdu: PlainPdu) => Buffer,
): Buffer | null {
  const answer = respond(view, request, version, room);
  if (!answer) return null;
  for (;;) {
    const bytes = encoded(encode, answer.pdu);
    if (bytes && bytes.length <= room) return bytes;
    if (!answer.cuttable || !cut(answer.pdu, bytes?.length ?? 2 * room, room)) {
      return encode(tooBig(request, version));
    }
  }
}

/** Null when the message is larger than any datagram. */
function encoded(encode: (pdu: PlainPdu) => Buffer, pdu: PlainPdu): Buffer | null {
  try {
    return encode(pdu);
  } catch (error) {
    if (error instanceof BerError && error.code === 'too-big') return null;
    throw error;
  }
}

type SecureAccess = Extract<Access, { version: 'v3' }>;
/** One user for one access: stretching its pass phrases takes milliseconds, and a thousand agents may share it. */
const users = new WeakMap<SecureAccess, UsmUser>();

function userOf(access: SecureAccess): UsmUser {
  let user = users.get(access);
  if (!user) {
    user = {
      name: access.user,
      authProtocol: access.authProtocol,
      authKey: access.authKey === undefined ? undefined : new Secret(access.authKey),
      privProtocol: access.privProtocol,
      privKey: access.privKey === undefined ? undefined : new Secret(access.privKey),
    };
    users.set(access, user);
  }
  return user;
}
