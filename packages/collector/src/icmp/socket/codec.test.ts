import { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import { parseTargets } from '@rollcall/shared/targets';
import { describe, expect, it } from 'vitest';
import { type EchoCounts, noCounts } from '../echo.ts';
import { EchoCodec, internetChecksum, REQUEST_BYTES } from './codec.ts';
import { addressOffset, NAME_STRIDE, Slots } from './slots.ts';

const KEY = new Uint8Array(16).fill(42);
const ID = 0xbeef;

const spaceOf = (text: string) => {
  const result = parseTargets(text);
  if (!result.ok) throw new Error(text);
  return new AddressSpace(result.targets.ranges);
};

interface Heard {
  index: number;
  rttMs: number;
  attempt: number;
}

/** A codec with what it sent and what it made of what came back. */
class Bench {
  readonly heard: Heard[] = [];
  readonly counts: EchoCounts = noCounts();
  readonly space: AddressSpace;
  readonly family: Family;
  readonly out = new Slots(8, 32);
  readonly in = new Slots(8, 192);
  readonly #codec: EchoCodec;
  #arrived = 0;

  constructor(targets = '10.0.0.0-10.0.0.255', options: { key?: Uint8Array; ipHeader?: boolean } = {}) {
    this.space = spaceOf(targets);
    this.family = this.space.familyAt(0);
    const { key = KEY, ipHeader = false } = options;
    this.#codec = new EchoCodec({
      family: this.family,
      space: this.space,
      id: ID,
      key,
      batch: 8,
      ipHeader,
      checksum: ipHeader,
    });
  }

  /** The request to one address, as bytes. */
  request(index: number, attempt = 1, at = 1000): Uint8Array {
    this.#codec.encode(this.out, Uint32Array.of(index), Uint8Array.of(attempt), at);
    return new Uint8Array(this.out.data.buffer.slice(0, REQUEST_BYTES));
  }

  /** What a host that was asked sends back. */
  reply(index: number, attempt = 1): Uint8Array {
    const bytes = this.request(index, attempt);
    bytes[0] = this.family === 4 ? 0 : 129;
    return bytes;
  }

  receive(bytes: Uint8Array, from: string, arrived = 1020): void {
    const slot = this.#arrived;
    new Uint8Array(this.in.data.buffer).set(bytes.subarray(0, 192), slot * this.in.stride);
    this.in.lengths[slot] = bytes.length;
    this.in.arrived[slot] = arrived;
    const source = spaceOf(from);
    source.writeBytes(0, this.in.names, slot * NAME_STRIDE + addressOffset(this.family));
    this.#arrived += 1;
  }

  judge(): void {
    this.#codec.decode(
      this.in,
      this.#arrived,
      {
        heard: (index, rttMs, attempt) => this.heard.push({ index, rttMs, attempt }),
        failed: () => expect.unreachable(),
      },
      this.counts,
    );
    this.#arrived = 0;
  }
}

/** An ICMP error of `type` that quotes a request to `to`. */
const errorQuoting = (type: number, request: Uint8Array, to: number[], room = 1000): Uint8Array => {
  const quoted = new Uint8Array(20);
  quoted[0] = 0x45;
  quoted[9] = 1;
  quoted.set(to, 16);
  const all = Uint8Array.from([type, 1, 0, 0, 0, 0, 0, 0, ...quoted, ...request]);
  return all.subarray(0, 8 + room);
};

describe('requests', () => {
  it('carry id, sequence and a check that depends on address, time, attempt and key', () => {
    const bench = new Bench();
    const base = bench.request(5);
    expect([base[0], base[4], base[5]]).toEqual([8, 0xbe, 0xef]);
    const tag = (bytes: Uint8Array) => Buffer.from(bytes.subarray(16)).toString('hex');
    expect(tag(bench.request(5))).toBe(tag(base));
    expect(tag(bench.request(6))).not.toBe(tag(base));
    expect(tag(bench.request(5, 2))).not.toBe(tag(base));
    expect(tag(bench.request(5, 1, 1001))).not.toBe(tag(base));
    expect(tag(new Bench(undefined, { key: new Uint8Array(16) }).request(5))).not.toBe(tag(base));
  });

  it('carry a right checksum where the kernel makes none', () => {
    const bench = new Bench(undefined, { ipHeader: true });
    bench.request(7);
    expect(internetChecksum(bench.out.data, 0, REQUEST_BYTES)).toBe(0);
  });
});

describe('answers', () => {
  it('count with their round trip and attempt', () => {
    const bench = new Bench();
    bench.receive(bench.reply(9, 3), '10.0.0.9', 1020.5);
    bench.receive(bench.reply(200), '10.0.0.200', 1000);
    bench.judge();
    expect(bench.heard).toEqual([
      { index: 9, rttMs: 20.5, attempt: 3 },
      { index: 200, rttMs: 0, attempt: 1 },
    ]);
    expect(bench.counts).toMatchObject({ received: 2, wrong: noCounts().wrong });
  });

  it('count for IPv6 too', () => {
    const bench = new Bench('2001:db8::/120');
    expect(bench.request(9)[0]).toBe(128);
    bench.receive(bench.reply(9), '2001:db8::9');
    bench.receive(bench.reply(9), '2001:db8::a');
    bench.judge();
    expect(bench.heard.map(({ index }) => index)).toEqual([9]);
    expect(bench.counts.wrong.sequence).toBe(1);
  });

  it('are found behind an IPv4 header with options', () => {
    const bench = new Bench(undefined, { ipHeader: true });
    const header = new Uint8Array(24);
    header[0] = 0x46;
    bench.receive(Uint8Array.from([...header, ...bench.reply(9)]), '10.0.0.9');
    bench.judge();
    expect(bench.heard).toHaveLength(1);
  });

  it('F97: a spoofed reply for a dead host, right id and sequence, leaves it silent', () => {
    const bench = new Bench();
    const forged = bench.reply(9);
    forged.fill(0, 16);
    bench.receive(forged, '10.0.0.9');
    const flipped = bench.reply(9);
    flipped[23] = (flipped[23] ?? 0) ^ 1;
    bench.receive(flipped, '10.0.0.9');
    const earlier = bench.reply(9);
    earlier[9] = (earlier[9] ?? 0) ^ 1; // a time of its own choosing
    bench.receive(earlier, '10.0.0.9');
    const otherKey = new Bench(undefined, { key: new Uint8Array(16) });
    bench.receive(otherKey.reply(9), '10.0.0.9');
    bench.judge();
    expect(bench.heard).toEqual([]);
    expect(bench.counts.wrong.check).toBe(4);
  });

  it('F98: a reply from another address than the one asked counts for neither', () => {
    const bench = new Bench('10.0.0.0-10.0.255.255');
    bench.receive(bench.reply(9), '10.0.0.10'); // another sequence belongs to it
    bench.receive(bench.reply(9), '10.0.16.9'); // same low bits of the index, so the same sequence
    bench.receive(bench.reply(9), '192.0.2.9'); // not asked at all
    bench.judge();
    expect(bench.heard).toEqual([]);
    expect(bench.counts.wrong).toMatchObject({ sequence: 1, check: 1, source: 1 });
  });

  it('F100: two hundred replies to one broadcast request are no two hundred hosts', () => {
    const bench = new Bench('10.0.0.0-10.0.15.255');
    const toBroadcast = bench.reply(255);
    for (let host = 1; host <= 200; host += 1) {
      bench.receive(toBroadcast, `10.0.0.${host}`);
      if (host % 8 === 0) bench.judge();
    }
    expect(bench.heard).toEqual([]);
    expect(bench.counts).toMatchObject({ received: 200, wrong: { sequence: 200 } });
  });

  it('are refused by reason: too short, other type, other id, attempt 0', () => {
    const bench = new Bench();
    bench.receive(bench.reply(9).subarray(0, 7), '10.0.0.9');
    bench.receive(bench.reply(9).subarray(0, 23), '10.0.0.9');
    bench.receive(new Uint8Array(0), '10.0.0.9');
    bench.receive(bench.request(9), '10.0.0.9');
    const otherId = bench.reply(9);
    otherId[4] = 0;
    bench.receive(otherId, '10.0.0.9');
    bench.receive(bench.reply(9, 0), '10.0.0.9');
    bench.judge();
    expect(bench.heard).toEqual([]);
    expect(bench.counts.wrong).toEqual({ ...noCounts().wrong, short: 3, type: 1, id: 1, sequence: 1 });
  });
});

describe('errors', () => {
  it('F99: are no answers, whatever they quote', () => {
    const bench = new Bench();
    const request = bench.request(9);
    for (const type of [3, 11, 12]) bench.receive(errorQuoting(type, request, [10, 0, 0, 9]), '10.0.0.9');
    bench.judge();
    expect(bench.heard).toEqual([]);
    expect(bench.counts.wrong.type).toBe(3);
  });

  it('never read past what arrived, whatever the lengths in it say', () => {
    const bench = new Bench(undefined, { ipHeader: true });
    for (const first of [0x4f, 0x40, 0xff, 0x00]) {
      const bytes = new Uint8Array(192).fill(0xff);
      bytes[0] = first;
      for (const length of [1, 8, 20, 61, 192]) {
        bench.receive(bytes.subarray(0, length), '10.0.0.9');
        bench.judge();
      }
    }
    expect(bench.heard).toEqual([]);
    expect(bench.counts.received).toBe(20);
  });
});
