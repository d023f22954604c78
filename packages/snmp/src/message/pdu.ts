/** Protocol data units of SNMP (RFC 3416; the trap of v1: RFC 1157) and the values they carry. */
import { BerError, type BerReader, type BerWriter, Tag } from './ber.ts';

/** A value as its type says. Octet strings are views of the datagram: copy what is kept for long. */
export type Value =
  | { type: 'integer' | 'counter32' | 'gauge32' | 'timeticks'; value: number }
  | { type: 'counter64'; value: bigint }
  | { type: 'octets' | 'opaque'; value: Buffer }
  | { type: 'oid' | 'ipaddress'; value: string }
  | { type: 'null' | 'noSuchObject' | 'noSuchInstance' | 'endOfMibView'; value: null };

export type ValueType = Value['type'];
export type Varbind = { oid: string } & Value;

/** get, set, response, notification or report. */
export interface PlainPdu {
  type: 'get' | 'getNext' | 'response' | 'set' | 'inform' | 'trap' | 'report';
  /** −2³¹ … 2³¹−1. */
  requestId: number;
  /** See `ErrorStatus`. */
  errorStatus: number;
  /** 1-based position of the varbind in error; 0 when none. */
  errorIndex: number;
  varbinds: Varbind[];
}

export interface GetBulkPdu {
  type: 'getBulk';
  requestId: number;
  nonRepeaters: number;
  maxRepetitions: number;
  varbinds: Varbind[];
}

/** The trap of SNMPv1 (RFC 1157 section 4.1.6). */
export interface TrapV1Pdu {
  type: 'trapV1';
  enterprise: string;
  agentAddress: string;
  genericTrap: number;
  specificTrap: number;
  /** Hundredths of a second. */
  timestamp: number;
  varbinds: Varbind[];
}

export type Pdu = PlainPdu | GetBulkPdu | TrapV1Pdu;
export type PduType = Pdu['type'];

/** RFC 3416 section 3. */
export const ErrorStatus = {
  noError: 0,
  tooBig: 1,
  noSuchName: 2,
  badValue: 3,
  readOnly: 4,
  genErr: 5,
  noAccess: 6,
  wrongType: 7,
  wrongLength: 8,
  wrongEncoding: 9,
  wrongValue: 10,
  noCreation: 11,
  inconsistentValue: 12,
  resourceUnavailable: 13,
  commitFailed: 14,
  undoFailed: 15,
  authorizationError: 16,
  notWritable: 17,
  inconsistentName: 18,
} as const;

const PDU_TAGS = {
  get: 0xa0,
  getNext: 0xa1,
  response: 0xa2,
  set: 0xa3,
  trapV1: 0xa4,
  getBulk: 0xa5,
  inform: 0xa6,
  trap: 0xa7,
  report: 0xa8,
} as const satisfies Record<PduType, number>;

const PDU_TYPES = new Map(Object.entries(PDU_TAGS).map(([type, tag]) => [tag as number, type as PduType]));

const VALUE_TAGS = {
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  ipaddress: 0x40,
  counter32: 0x41,
  gauge32: 0x42,
  timeticks: 0x43,
  opaque: 0x44,
  counter64: 0x46,
  noSuchObject: 0x80,
  noSuchInstance: 0x81,
  endOfMibView: 0x82,
} as const satisfies Record<ValueType, number>;

/** What stands before the varbinds of every PDU but the trap of v1, as on the wire. */
export interface PduHead {
  type: Exclude<PduType, 'trapV1'>;
  requestId: number;
  /** Error status, or non-repeaters of a getBulk. */
  first: number;
  /** Error index, or max-repetitions of a getBulk. */
  second: number;
}

/** The PDU's type without consuming it. */
export function peekPduType(reader: BerReader): PduType {
  const type = PDU_TYPES.get(reader.peek());
  if (!type) throw new BerError('unexpected-tag');
  return type;
}

/**
 * Reads up to the varbinds, so that a reply can be matched with its request before anything else of it is looked at.
 * Afterwards the reader is narrowed to the PDU; `readVarbinds` goes on from there.
 */
export function readPduHead(reader: BerReader): PduHead {
  const type = peekPduType(reader);
  if (type === 'trapV1') throw new BerError('unexpected-tag');
  reader.enter(PDU_TAGS[type]);
  // Agents that keep the id unsigned send it back in five octets.
  const requestId = reader.integer() | 0;
  return { type, requestId, first: reader.integer(), second: reader.integer() };
}

/** Reads the varbind list, at most `limit` of them; the rest is left unread. */
export function readVarbinds(reader: BerReader, limit = Number.POSITIVE_INFINITY): Varbind[] {
  const outer = reader.enter(Tag.sequence);
  const varbinds: Varbind[] = [];
  while (!reader.done && varbinds.length < limit) {
    const list = reader.enter(Tag.sequence);
    varbinds.push(readValue(reader, reader.oid()));
    reader.leave(list);
  }
  reader.position = reader.end;
  reader.end = outer;
  return varbinds;
}

export function readPdu(reader: BerReader): Pdu {
  if (peekPduType(reader) === 'trapV1') return readTrapV1(reader);
  const outer = reader.end;
  const { type, requestId, first, second } = readPduHead(reader);
  const varbinds = readVarbinds(reader);
  reader.leave(outer);
  return type === 'getBulk'
    ? { type, requestId, nonRepeaters: first, maxRepetitions: second, varbinds }
    : { type, requestId, errorStatus: first, errorIndex: second, varbinds };
}

function readTrapV1(reader: BerReader): TrapV1Pdu {
  const outer = reader.enter(PDU_TAGS.trapV1);
  const enterprise = reader.oid();
  const agentAddress = dotted(reader.take(reader.expect(VALUE_TAGS.ipaddress)));
  const genericTrap = reader.integer();
  const specificTrap = reader.integer();
  const timestamp = reader.unsigned32(reader.expect(VALUE_TAGS.timeticks));
  const varbinds = readVarbinds(reader);
  reader.leave(outer);
  return { type: 'trapV1', enterprise, agentAddress, genericTrap, specificTrap, timestamp, varbinds };
}

function readValue(reader: BerReader, oid: string): Varbind {
  const { tag, length } = reader.header();
  switch (tag) {
    case VALUE_TAGS.integer:
      return { oid, type: 'integer', value: reader.signed(length) };
    case VALUE_TAGS.octets:
      return { oid, type: 'octets', value: reader.take(length) };
    case VALUE_TAGS.oid:
      return { oid, type: 'oid', value: reader.oidContent(length) };
    case VALUE_TAGS.counter32:
      return { oid, type: 'counter32', value: reader.unsigned32(length) };
    // 0x47 is the UInteger32 of SNMPv2p, still sent by old agents.
    case 0x47:
    case VALUE_TAGS.gauge32:
      return { oid, type: 'gauge32', value: reader.unsigned32(length) };
    case VALUE_TAGS.timeticks:
      return { oid, type: 'timeticks', value: reader.unsigned32(length) };
    case VALUE_TAGS.counter64:
      return { oid, type: 'counter64', value: reader.unsigned64(length) };
    case VALUE_TAGS.opaque:
      return { oid, type: 'opaque', value: reader.take(length) };
    case VALUE_TAGS.ipaddress: {
      const octets = reader.take(length);
      // An IpAddress of another length is no address, but the octets are a fact.
      return length === 4
        ? { oid, type: 'ipaddress', value: dotted(octets) }
        : { oid, type: 'octets', value: octets };
    }
    case VALUE_TAGS.null:
      reader.take(length);
      return { oid, type: 'null', value: null };
    case VALUE_TAGS.noSuchObject:
      reader.take(length);
      return { oid, type: 'noSuchObject', value: null };
    case VALUE_TAGS.noSuchInstance:
      reader.take(length);
      return { oid, type: 'noSuchInstance', value: null };
    case VALUE_TAGS.endOfMibView:
      reader.take(length);
      return { oid, type: 'endOfMibView', value: null };
    default:
      throw new BerError('unexpected-tag');
  }
}

const dotted = (octets: Buffer): string => {
  if (octets.length !== 4) throw new BerError('bad-length');
  return `${octets[0]}.${octets[1]}.${octets[2]}.${octets[3]}`;
};

/** Writes a PDU in front of what the writer holds. */
export function writePdu(writer: BerWriter, pdu: Pdu): void {
  const end = writer.mark();
  for (let i = pdu.varbinds.length - 1; i >= 0; i--) {
    const varbind = pdu.varbinds[i];
    if (varbind) writeVarbind(writer, varbind);
  }
  writer.wrap(Tag.sequence, end);
  if (pdu.type === 'trapV1') {
    writer.integer(VALUE_TAGS.timeticks, pdu.timestamp);
    writer.integer(Tag.integer, pdu.specificTrap);
    writer.integer(Tag.integer, pdu.genericTrap);
    writer.octets(VALUE_TAGS.ipaddress, octetsOf(pdu.agentAddress));
    writer.oid(Tag.oid, pdu.enterprise);
  } else {
    writer.integer(Tag.integer, pdu.type === 'getBulk' ? pdu.maxRepetitions : pdu.errorIndex);
    writer.integer(Tag.integer, pdu.type === 'getBulk' ? pdu.nonRepeaters : pdu.errorStatus);
    writer.integer(Tag.integer, pdu.requestId);
  }
  writer.wrap(PDU_TAGS[pdu.type], end);
}

function writeVarbind(writer: BerWriter, varbind: Varbind): void {
  const end = writer.mark();
  const tag = VALUE_TAGS[varbind.type];
  switch (varbind.type) {
    case 'integer':
    case 'counter32':
    case 'gauge32':
    case 'timeticks':
      writer.integer(tag, varbind.value);
      break;
    case 'counter64':
      writer.unsigned64(tag, varbind.value);
      break;
    case 'octets':
    case 'opaque':
      writer.octets(tag, varbind.value);
      break;
    case 'oid':
      writer.oid(tag, varbind.value);
      break;
    case 'ipaddress':
      writer.octets(tag, octetsOf(varbind.value));
      break;
    default:
      writer.empty(tag);
  }
  writer.oid(Tag.oid, varbind.oid);
  writer.wrap(Tag.sequence, end);
}

function octetsOf(address: string): Buffer {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255)))
    throw new BerError('bad-length');
  return Buffer.from(parts);
}
