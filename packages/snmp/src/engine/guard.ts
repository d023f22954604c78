/**
 * What must be true of a datagram before anything in it is believed. No socket, no clock; the only state touched is
 * the engine's clock, by authentic messages.
 *
 * v1 and v2c: source address and port, version, community, PDU type, request id. v3: source, message id, security
 * level not below the one asked, engine, user, digest and time before the PDU is parsed; then the request id again.
 */
import { canonicalAddress } from '@rollcall/shared/ip';
import { BerError, type BerReader } from '../message/ber.ts';
import { decodeScopedPdu, openScopedPdu, type SecureEnvelope, USM } from '../message/message.ts';
import { type PduHead, peekPduType, readPduHead, type Varbind } from '../message/pdu.ts';
import { openSecure, type RemoteEngine } from '../message/usm.ts';
import type { UserCredential } from './credential.ts';
import type { DropReason } from './failure.ts';
import type { Query } from './query.ts';

/** An outstanding request, as far as an answer is judged by it. */
export interface Asked {
  readonly address: string;
  readonly port: number;
  readonly query: Query;
  /** Request id inside the PDU. */
  readonly requestId: number;
  /** v3: the agent's engine; null while it is being discovered. */
  readonly engine: RemoteEngine | null;
}

export type Verdict =
  | { kind: 'drop'; reason: DropReason }
  /** The reader stands before the varbinds. */
  | { kind: 'answer'; head: PduHead; reader: BerReader }
  /** Authentic, but the privacy key is wrong. */
  | { kind: 'undecipherable' };

/** The agent's engine complains, whether or not that can be verified: good for trying again or giving up, not as data. */
export type Report = { kind: 'report'; varbinds: Varbind[] };

const drop = (reason: DropReason): Verdict => ({ kind: 'drop', reason });

export function isSource(asked: Asked, address: string, port: number): boolean {
  if (port !== asked.port) return false;
  if (address === asked.address) return true;
  // The kernel prints some IPv6 addresses in another form, and link-local ones with their zone.
  return asked.address.includes(':') && canonicalAddress(address.replace(/%.*$/, '')) === asked.address;
}

/** Judges a v1 or v2c message from the right source whose community and PDU head have been read. */
export function judgeCommunity(asked: Asked, community: Buffer, head: PduHead, reader: BerReader): Verdict {
  if (!asked.query.isCommunity(community)) return drop('wrong-community');
  if (head.type !== 'response') return drop('wrong-type');
  return { kind: 'answer', head, reader };
}

/** Judges a v3 message from the right source. `now`: monotonic milliseconds. */
export function judgeSecure(
  asked: Asked,
  credential: UserCredential,
  message: Buffer,
  envelope: SecureEnvelope,
  now: number,
): Verdict | Report {
  const { user } = credential;
  const { engine } = asked;
  if (envelope.securityModel !== USM) return drop('wrong-version');
  if (envelope.encrypted && !envelope.authenticated) return drop('lower-security');
  // Without an engine nothing can be verified yet; a Report may then come with any flags.
  if (!envelope.encrypted && (!envelope.authenticated || !engine)) {
    const report = reportIn(envelope.payload);
    if (report) return { kind: 'report', varbinds: report };
  }
  if (!engine) return drop('wrong-type');
  if (user.authProtocol !== 'none' && !envelope.authenticated) return drop('lower-security');
  if (user.authProtocol === 'none' && envelope.authenticated) return drop('wrong-digest');
  if (!envelope.engineId.equals(engine.id)) return drop('wrong-engine');
  if (envelope.userName.toString('utf8') !== user.name) return drop('wrong-user');
  const opened = openSecure(message, envelope, user);
  if (!opened.ok) return opened.fault === 'decrypt' ? { kind: 'undecipherable' } : drop('wrong-digest');
  if (envelope.authenticated && !engine.accept(envelope.engineBoots, envelope.engineTime, now)) {
    return drop('not-in-time');
  }
  try {
    const report = reportIn(opened.scoped);
    // The Report about time is authenticated, but not encrypted (RFC 3414 section 3.2).
    if (report) return { kind: 'report', varbinds: report };
    if (user.privProtocol !== 'none' && !envelope.encrypted) return drop('lower-security');
    const { reader } = openScopedPdu(opened.scoped);
    const head = readPduHead(reader);
    if (head.type !== 'response') return drop('wrong-type');
    if (head.requestId !== asked.requestId) return drop('wrong-request');
    return { kind: 'answer', head, reader };
  } catch (error) {
    // A wrong privacy key turns an authentic message into noise.
    if (error instanceof BerError && envelope.encrypted) return { kind: 'undecipherable' };
    throw error;
  }
}

/** The varbinds of a scoped PDU that is a Report, else null. */
function reportIn(scoped: Buffer): Varbind[] | null {
  const { reader } = openScopedPdu(scoped);
  return peekPduType(reader) === 'report' ? decodeScopedPdu(scoped).pdu.varbinds : null;
}
