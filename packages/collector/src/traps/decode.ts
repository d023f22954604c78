/** A datagram on the trap port: what it says, and whether it is believed. No socket, no clock of its own. */

import type { UserCredential } from '@rollcall/snmp/engine/credential';
import { BerError } from '@rollcall/snmp/message/ber';
import {
  decodeCommunityMessage,
  decodeScopedPdu,
  encodeCommunityMessage,
  openMessage,
  readSecureEnvelope,
  type SecureEnvelope,
  USM,
} from '@rollcall/snmp/message/message';
import { type Notification, notificationOf } from '@rollcall/snmp/message/notification';
import type { Pdu, PlainPdu, TrapV1Pdu } from '@rollcall/snmp/message/pdu';
import {
  type AuthoritativeEngine,
  isEngineId,
  levelOf,
  openSecure,
  type RemoteEngine,
} from '@rollcall/snmp/message/usm';

/** Why a datagram is no trap for us. */
const TRAP_DROPS = [
  /** Not SNMP, or not a trap. */
  'malformed',
  /** v3: no credential of the site has this user at this level of security. */
  'unknown-user',
  'wrong-digest',
  'decrypt',
  /** v3: sent before a message that was heard already, or its clock is off. */
  'not-in-time',
] as const;
export type TrapDrop = (typeof TRAP_DROPS)[number];

export interface TrapMessage {
  version: 'v1' | 'v2c' | 'v3';
  notification: Notification;
  /** Of the sender, where it proved it. */
  engineId: string | null;
  /** An inform's answer: to be sent once what it says is kept. */
  answer: Buffer | null;
}

export type Decoded =
  | { kind: 'trap'; trap: TrapMessage }
  /** Part of a conversation that leads to an inform: our engine id, or that the clock is off. */
  | { kind: 'reply'; bytes: Buffer }
  | { kind: 'drop'; reason: TrapDrop };

/** What v3 needs. */
export interface Security {
  users: readonly UserCredential[];
  /** Ours: informs are addressed to it (RFC 3414 section 1.5.1). */
  own: AuthoritativeEngine;
  /** The sender's engine, by its id; remembered while there is room. */
  remote(id: Buffer, boots: number, time: number): RemoteEngine;
  /** Monotonic milliseconds. */
  now: number;
}

const drop = (reason: TrapDrop): Decoded => ({ kind: 'drop', reason });

/** Reads one datagram; throws nothing, whatever it holds. */
export function decodeTrap(bytes: Buffer, security: Security): Decoded {
  try {
    const { reader, version } = openMessage(bytes);
    if (version !== 'v3') return community(bytes);
    return secure(bytes.subarray(0, reader.end), readSecureEnvelope(reader), security);
  } catch (error) {
    if (error instanceof BerError) return drop('malformed');
    throw error;
  }
}

const isTrap = (pdu: Pdu): pdu is PlainPdu | TrapV1Pdu =>
  pdu.type === 'trapV1' || pdu.type === 'trap' || pdu.type === 'inform';

/** The same PDU as a response without error (RFC 3416 section 4.2.7). */
const received = (pdu: PlainPdu): PlainPdu => ({ ...pdu, type: 'response', errorStatus: 0, errorIndex: 0 });

/** v1 and v2c prove nothing: any community is taken, and the server goes by the source. */
function community(bytes: Buffer): Decoded {
  const message = decodeCommunityMessage(bytes);
  const { pdu, version } = message;
  if (!isTrap(pdu)) return drop('malformed');
  const notification = notificationOf(pdu);
  if (!notification) return drop('malformed');
  const answer = pdu.type === 'inform' ? encodeCommunityMessage({ ...message, pdu: received(pdu) }) : null;
  return { kind: 'trap', trap: { version, notification, engineId: null, answer } };
}

function secure(message: Buffer, envelope: SecureEnvelope, security: Security): Decoded {
  const { own, users, now } = security;
  // Addressed to us, or asking who we are: an inform. A trap carries the sender's own engine.
  if (envelope.engineId.length === 0 || envelope.engineId.equals(own.id))
    return informed(message, envelope, own);
  if (envelope.securityModel !== USM || !isEngineId(envelope.engineId)) return drop('malformed');
  const level = envelope.encrypted ? 'authPriv' : envelope.authenticated ? 'authNoPriv' : 'noAuthNoPriv';
  const name = envelope.userName.toString('utf8');
  const candidates = users.filter(({ user }) => user.name === name && levelOf(user) === level);
  let fault: TrapDrop = 'unknown-user';
  for (const { user } of candidates) {
    const opened = openSecure(message, envelope, user);
    if (!opened.ok) {
      fault = opened.fault;
      continue;
    }
    try {
      const { pdu } = decodeScopedPdu(opened.scoped);
      const { engineId, engineBoots, engineTime } = envelope;
      if (
        envelope.authenticated &&
        !security.remote(engineId, engineBoots, engineTime).accept(engineBoots, engineTime, now)
      )
        return drop('not-in-time');
      const notification = pdu.type === 'trap' ? notificationOf(pdu) : null;
      if (!notification) return drop('malformed');
      const proved = envelope.authenticated ? engineId.toString('hex') : null;
      return { kind: 'trap', trap: { version: 'v3', notification, engineId: proved, answer: null } };
    } catch (error) {
      // A wrong privacy key turns an authentic message into noise.
      if (!(error instanceof BerError)) throw error;
      fault = envelope.encrypted ? 'decrypt' : 'malformed';
    }
  }
  return drop(fault);
}

function informed(message: Buffer, envelope: SecureEnvelope, own: AuthoritativeEngine): Decoded {
  const result = own.receive(message, envelope);
  if (result.kind === 'report') return { kind: 'reply', bytes: result.bytes };
  if (result.kind === 'drop') return drop(reasonOf(result.reason));
  const { pdu } = result.request.scoped;
  if (pdu.type !== 'inform') return drop('malformed');
  const notification = notificationOf(pdu);
  if (!notification) return drop('malformed');
  const answer = own.respond(result.request, received(pdu));
  return { kind: 'trap', trap: { version: 'v3', notification, engineId: null, answer } };
}

const reasonOf = (fault: string): TrapDrop =>
  fault === 'unsupported-level'
    ? 'unknown-user'
    : (TRAP_DROPS.find((reason) => reason === fault) ?? 'malformed');
