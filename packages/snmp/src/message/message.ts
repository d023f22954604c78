/** Messages of SNMPv1 (RFC 1157), SNMPv2c (RFC 1901) and the envelope of SNMPv3 (RFC 3412, RFC 3414). */
import { BerError, BerReader, BerWriter, Tag } from './ber.ts';
import { type Pdu, readPdu, writePdu } from './pdu.ts';

export type SnmpVersion = 'v1' | 'v2c' | 'v3';

const VERSIONS: Record<SnmpVersion, number> = { v1: 0, v2c: 1, v3: 3 };
const VERSION_NAMES = new Map<number, SnmpVersion>([
  [0, 'v1'],
  [1, 'v2c'],
  [3, 'v3'],
]);

/** The User-based Security Model (RFC 3411 section 5); the only one we speak. */
export const USM = 3;

export interface CommunityMessage {
  version: 'v1' | 'v2c';
  community: Buffer;
  pdu: Pdu;
}

/** Everything of a v3 message that can be read without any key. `payload` is not to be believed before `usm.ts` says so. */
export interface SecureEnvelope {
  version: 'v3';
  /** 0 … 2³¹−1. */
  msgId: number;
  /** Largest message the sender accepts, octets. */
  maxSize: number;
  authenticated: boolean;
  encrypted: boolean;
  reportable: boolean;
  securityModel: number;
  engineId: Buffer;
  engineBoots: number;
  engineTime: number;
  userName: Buffer;
  /** Authentication parameters: the message digest, empty when not authenticated. */
  digest: Buffer;
  /** Privacy parameters: the salt, empty when not encrypted. */
  salt: Buffer;
  /** The scoped PDU as BER, or its ciphertext when `encrypted`. */
  payload: Buffer;
}

export interface ScopedPdu {
  contextEngineId: Buffer;
  contextName: Buffer;
  pdu: Pdu;
}

const AUTHENTICATED = 1;
const ENCRYPTED = 2;
const REPORTABLE = 4;

const writer = new BerWriter();

/** Narrows the reader to one message and reads its version. Octets after the message are ignored. */
export function openMessage(bytes: Buffer): { reader: BerReader; version: SnmpVersion } {
  const reader = new BerReader(bytes);
  reader.enter(Tag.sequence);
  const version = VERSION_NAMES.get(reader.integer());
  if (!version) throw new BerError('unexpected-tag');
  return { reader, version };
}

/** A whole v1 or v2c message. */
export function decodeCommunityMessage(bytes: Buffer): CommunityMessage {
  const { reader, version } = openMessage(bytes);
  if (version === 'v3') throw new BerError('unexpected-tag');
  const community = reader.octets();
  return { version, community, pdu: readPdu(reader) };
}

export function encodeCommunityMessage(message: CommunityMessage): Buffer {
  writer.reset();
  writePdu(writer, message.pdu);
  writer.octets(Tag.octets, message.community);
  writer.integer(Tag.integer, VERSIONS[message.version]);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

/** The envelope of a v3 message, read from where `openMessage` stopped. */
export function readSecureEnvelope(reader: BerReader): SecureEnvelope {
  const message = reader.enter(Tag.sequence);
  const msgId = readUnsigned31(reader);
  const maxSize = readUnsigned31(reader);
  const flags = reader.octets();
  const securityModel = reader.integer();
  reader.leave(message);
  if (flags.length !== 1) throw new BerError('bad-length');
  const flag = flags[0] ?? 0;

  const outside = reader.end;
  const inside = reader.expect(Tag.octets);
  reader.end = reader.position + inside;
  const parameters = reader.enter(Tag.sequence);
  const engineId = reader.octets();
  const engineBoots = readUnsigned31(reader);
  const engineTime = readUnsigned31(reader);
  const userName = reader.octets();
  const digest = reader.octets();
  const salt = reader.octets();
  reader.leave(parameters);
  reader.leave(outside);

  const encrypted = (flag & ENCRYPTED) !== 0;
  const start = reader.position;
  const payload = encrypted ? reader.octets() : reader.take(reader.expect(Tag.sequence));
  return {
    version: 'v3',
    msgId,
    maxSize,
    authenticated: (flag & AUTHENTICATED) !== 0,
    encrypted,
    reportable: (flag & REPORTABLE) !== 0,
    securityModel,
    engineId,
    engineBoots,
    engineTime,
    userName,
    digest,
    salt,
    payload: encrypted ? payload : reader.bytes.subarray(start, reader.position),
  };
}

/** RFC 3412 section 6 and RFC 3414 section 2.4 allow 0 … 2³¹−1. */
function readUnsigned31(reader: BerReader): number {
  const value = reader.integer();
  if (value < 0 || value > 0x7fff_ffff) throw new BerError('bad-integer');
  return value;
}

/** Writes the envelope around `payload`; `digest` and `salt` stand in it as they are. */
export function encodeSecureEnvelope(envelope: Omit<SecureEnvelope, 'version'>): Buffer {
  writer.reset();
  if (envelope.encrypted) writer.octets(Tag.octets, envelope.payload);
  else writer.raw(envelope.payload);
  const parameters = writer.mark();
  writer.octets(Tag.octets, envelope.salt);
  writer.octets(Tag.octets, envelope.digest);
  writer.octets(Tag.octets, envelope.userName);
  writer.integer(Tag.integer, envelope.engineTime);
  writer.integer(Tag.integer, envelope.engineBoots);
  writer.octets(Tag.octets, envelope.engineId);
  writer.wrap(Tag.sequence, parameters);
  writer.wrap(Tag.octets, parameters);
  const header = writer.mark();
  const flags =
    (envelope.authenticated ? AUTHENTICATED : 0) |
    (envelope.encrypted ? ENCRYPTED : 0) |
    (envelope.reportable ? REPORTABLE : 0);
  writer.integer(Tag.integer, envelope.securityModel);
  writer.octets(Tag.octets, Buffer.of(flags));
  writer.integer(Tag.integer, envelope.maxSize);
  writer.integer(Tag.integer, envelope.msgId);
  writer.wrap(Tag.sequence, header);
  writer.integer(Tag.integer, VERSIONS.v3);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

/** Narrows the reader to a scoped PDU and reads up to its PDU. Padding after it (DES) is ignored. */
export function openScopedPdu(bytes: Buffer): {
  reader: BerReader;
  contextEngineId: Buffer;
  contextName: Buffer;
} {
  const reader = new BerReader(bytes);
  reader.enter(Tag.sequence);
  return { reader, contextEngineId: reader.octets(), contextName: reader.octets() };
}

export function decodeScopedPdu(bytes: Buffer): ScopedPdu {
  const { reader, contextEngineId, contextName } = openScopedPdu(bytes);
  return { contextEngineId, contextName, pdu: readPdu(reader) };
}

export function encodeScopedPdu(scoped: ScopedPdu): Buffer {
  writer.reset();
  writePdu(writer, scoped.pdu);
  writer.octets(Tag.octets, scoped.contextName);
  writer.octets(Tag.octets, scoped.contextEngineId);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}
