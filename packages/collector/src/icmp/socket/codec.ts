/**
 * Echo requests and replies as bytes (RFC 792, RFC 4443), and the decision whether a datagram answers us.
 *
 * A request is 24 bytes: the ICMP header, the time of sending (8 bytes, double, monotonic milliseconds) and the first
 * 8 bytes of the keyed check over (address, time, sequence). The sequence holds the low 12 bits of the address's index
 * and the attempt, so nothing is remembered per request: the round trip and the attempt come back with the answer.
 */
import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import type { EchoCounts, EchoEvents, WrongReason } from '../echo.ts';
import { addressOffset, NAME_STRIDE, type Slots } from './slots.ts';
import { Tags } from './tags.ts';

export const REQUEST_BYTES = 24;
const HEADER_BYTES = 8;

/** ICMP types of a request and its reply. */
const TYPES: Record<Family, { request: number; reply: number }> = {
  4: { request: 8, reply: 0 },
  6: { request: 128, reply: 129 },
};

export interface CodecOptions {
  family: Family;
  space: AddressSpace;
  /** ICMP identifier of our requests. */
  id: number;
  key: Uint8Array;
  /** Most datagrams of one call. */
  batch: number;
  /** Received datagrams start with the IPv4 header (raw sockets). */
  ipHeader: boolean;
  /** The checksum is ours to compute (raw IPv4 sockets; the kernel does it elsewhere). */
  checksum: boolean;
}

/** A datagram that looks like ours, waiting for its check. */
interface UncheckedReply {
  index: number;
  attempt: number;
  /** Where its tag stands. */
  tagAt: number;
  slot: number;
}

export class EchoCodec {
  readonly #options: CodecOptions;
  readonly #types: { request: number; reply: number };
  readonly #tags: Tags;
  readonly #unchecked: UncheckedReply[];
  #waiting = 0;

  constructor(options: CodecOptions) {
    this.#options = options;
    this.#types = TYPES[options.family];
    this.#tags = new Tags(options.key, options.batch);
    this.#unchecked = Array.from({ length: options.batch }, () => ({
      index: 0,
      attempt: 0,
      tagAt: 0,
      slot: 0,
    }));
  }

  /** Writes requests to `indexes` into the slots: packets and socket addresses. */
  encode(slots: Slots, indexes: Uint32Array, attempts: Uint8Array, now: number): void {
    const count = indexes.length;
    const { family, space, id, checksum } = this.#options;
    const { data, names, stride } = slots;
    const { addresses, facts } = this.#tags;
    const offset = addressOffset(family);
    for (let slot = 0; slot < count; slot += 1) {
      const index = indexes[slot] ?? 0;
      const sequence = sequenceOf(index, attempts[slot] ?? 0);
      const at = slot * stride;
      data.setUint32(at, this.#types.request << 24);
      data.setUint16(at + 4, id);
      data.setUint16(at + 6, sequence);
      data.setFloat64(at + 8, now);
      space.writeBytes(index, names, slot * NAME_STRIDE + offset);
      space.writeBytes(index, addresses, slot * 16);
      facts.setFloat64(slot * 16, now);
      facts.setUint16(slot * 16 + 8, sequence);
    }
    const tags = this.#tags.compute(count);
    for (let slot = 0; slot < count; slot += 1) {
      const at = slot * stride;
      data.setInt32(at + 16, tags.getInt32(slot * 16));
      data.setInt32(at + 20, tags.getInt32(slot * 16 + 4));
      if (checksum) data.setUint16(at + 2, internetChecksum(data, at, REQUEST_BYTES));
    }
  }

  /** Judges the first `count` received datagrams: answers go to `events`, everything else is counted by reason. */
  decode(slots: Slots, count: number, events: EchoEvents, counts: EchoCounts): void {
    counts.received += count;
    for (let slot = 0; slot < count; slot += 1) {
      const wrong = this.#sort(slots, slot);
      if (wrong) counts.wrong[wrong] += 1;
    }
    if (this.#waiting === 0) return;
    const { data, arrived } = slots;
    const tags = this.#tags.compute(this.#waiting);
    for (let i = 0; i < this.#waiting; i += 1) {
      const candidate = this.#unchecked[i];
      if (!candidate) break;
      const { tagAt, index, attempt, slot } = candidate;
      const genuine =
        data.getInt32(tagAt) === tags.getInt32(i * 16) &&
        data.getInt32(tagAt + 4) === tags.getInt32(i * 16 + 4);
      if (!genuine) counts.wrong.check += 1;
      else events.heard(index, Math.max(0, (arrived[slot] ?? 0) - data.getFloat64(tagAt - 8)), attempt);
    }
    this.#waiting = 0;
  }

  /** Everything about a datagram that needs no cryptography: why it is none of ours, or null while it may be. */
  #sort(slots: Slots, slot: number): WrongReason | null {
    const { family, space, id, ipHeader } = this.#options;
    const { data, names, stride } = slots;
    let at = slot * stride;
    let length = Math.min(slots.lengths[slot] ?? 0, stride);
    if (ipHeader && length > 0) {
      const header = (data.getUint8(at) & 15) * 4;
      at += header;
      length -= header;
    }
    if (length < HEADER_BYTES) return 'short';
    // An ICMP error is no answer, whatever it quotes.
    if (data.getUint8(at) !== this.#types.reply) return 'type';
    if (data.getUint16(at + 4) !== id) return 'id';
    if (length < REQUEST_BYTES) return 'short';
    const index = space.indexOfBytes(family, names, slot * NAME_STRIDE + addressOffset(family));
    if (index < 0) return 'source';
    const sequence = data.getUint16(at + 6);
    if (!belongs(sequence, index)) return 'sequence';
    this.#keep(data, { slot, index, sequence, at });
    return null;
  }

  /** Puts a datagram up for its check; `at` is where the reply starts. */
  #keep(data: DataView, found: { slot: number; index: number; sequence: number; at: number }) {
    const i = this.#waiting;
    const candidate = this.#unchecked[i];
    if (!candidate) return;
    candidate.slot = found.slot;
    candidate.index = found.index;
    candidate.attempt = found.sequence & 15;
    candidate.tagAt = found.at + 16;
    const { addresses, facts } = this.#tags;
    this.#options.space.writeBytes(found.index, addresses, i * 16);
    facts.setInt32(i * 16, data.getInt32(found.at + 8));
    facts.setInt32(i * 16 + 4, data.getInt32(found.at + 12));
    facts.setUint16(i * 16 + 8, found.sequence);
    this.#waiting = i + 1;
  }
}

const sequenceOf = (index: number, attempt: number): number => ((index & 0xfff) << 4) | (attempt & 15);
const belongs = (sequence: number, index: number): boolean =>
  sequence >> 4 === (index & 0xfff) && (sequence & 15) > 0;

/** RFC 1071; `length` is even. */
export const internetChecksum = (data: DataView, at: number, length: number): number => {
  let sum = 0;
  for (let i = 0; i < length; i += 2) sum += data.getUint16(at + i);
  sum = (sum >>> 16) + (sum & 0xffff);
  sum += sum >>> 16;
  return ~sum & 0xffff;
};
