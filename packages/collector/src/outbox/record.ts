/**
 * One observation as it lies on disk: CRC-32 of the rest (seeded with the sequence, so that a record in the wrong
 * place is noticed too) · age of the outbox in ms · subject · walk · the observation's JSON.
 */
import { crc32 } from 'node:zlib';
import type { Observation } from '@rollcall/shared/observation';

const AGE = 4;
const SUBJECT = 12;
const WALK = 20;
const HEADER = 24;

export interface StoredRecord {
  /** Age of the outbox when this was written, milliseconds of running time. */
  age: number;
  /** Hash of what the fact is about; 0 when no later fact replaces it. */
  subject: number;
  /** Hash of the walk it belongs to; records of one walk never replace each other. 0 outside walks. */
  walk: number;
  /** UTF-8 JSON of the observation. */
  json: Buffer;
}

/** 52 bits out of two CRCs: a collision loses one stale fact, which is counted like every other. */
const hash = (text: string): number => crc32(text) * 2 ** 20 + (crc32(text, 0x5bd1e995) & 0xfffff);

/** What a later fact replaces: the last state of a host, of a device, of one table of a device. */
function subjectOf(o: Observation): number {
  switch (o.kind) {
    case 'host':
    case 'device':
      return hash(`${o.kind} ${o.address}`);
    case 'rows':
      return hash(`${o.table} ${o.address}`);
    default:
      return 0;
  }
}

const walkOf = (o: Observation): number =>
  o.kind === 'rows' || o.kind === 'device' ? crc32(o.walk) || 1 : 0;

const checksum = (record: Buffer, seq: number): number => crc32(record.subarray(AGE), seq >>> 0);

/** Encodes everything but the checksum, which needs the sequence. */
export function encode(observation: Observation, age: number): Buffer {
  const json = JSON.stringify(observation);
  const record = Buffer.allocUnsafe(HEADER + Buffer.byteLength(json));
  record.writeDoubleLE(age, AGE);
  record.writeDoubleLE(subjectOf(observation), SUBJECT);
  record.writeUInt32LE(walkOf(observation), WALK);
  record.write(json, HEADER);
  return record;
}

/** Names the record for ever. */
export function seal(record: Buffer, seq: number): void {
  record.writeUInt32LE(checksum(record, seq), 0);
}

/** The record, or null when its bytes are not what was written under this sequence. */
export function decode(record: Buffer, seq: number): StoredRecord | null {
  if (record.length <= HEADER || record.readUInt32LE(0) !== checksum(record, seq)) return null;
  return {
    age: record.readDoubleLE(AGE),
    subject: record.readDoubleLE(SUBJECT),
    walk: record.readUInt32LE(WALK),
    json: record.subarray(HEADER),
  };
}

/** Size of the observation's JSON, bytes. */
export const jsonBytes = (record: Buffer): number => record.length - HEADER;
