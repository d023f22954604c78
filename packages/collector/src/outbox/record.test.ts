/** Observations as they lie on disk. */
import type { Observation } from '@rollcall/shared/observation';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode, jsonBytes, seal } from './record.ts';

const WALK = '0193a000-0000-7000-8000-000000000001';
const OTHER_WALK = '0193a000-0000-7000-8000-000000000002';
const host = (address: string): Observation => ({ kind: 'host', at: 0, address, snmp: 'silent' });
const device = (address: string, walk = WALK): Observation =>
  ({
    ...{ kind: 'device', at: 0, walk, address, credential: null },
    ...{ sysName: 'x', sysDescr: '', sysObjectID: '' },
  }) as unknown as Observation;
const rows = (address: string, table: string, walk = WALK): Observation => ({
  ...{ kind: 'rows', at: 0, walk, address, table: table as 'vlans' },
  ...{ part: 0, last: false, rows: [] },
});
const down = (deviceId: string): Observation => ({ kind: 'watch', at: 0, deviceId, icmp: 'down' });

function stored(observation: Observation, age = 0, seq = 1) {
  const record = encode(observation, age);
  seal(record, seq);
  return decode(record, seq);
}

describe('a record', () => {
  it('gives back what was written: age, and JSON to the byte', () => {
    const observation = host('2001:db8::1');
    const record = encode(observation, 1234.5);
    seal(record, 7);
    const read = decode(record, 7);
    expect(read?.age).toBe(1234.5);
    expect(read?.json.toString()).toBe(JSON.stringify(observation));
    expect(jsonBytes(record)).toBe(Buffer.byteLength(JSON.stringify(observation)));
    // The header is part of the format: what another version wrote must be read.
    expect(record).toHaveLength(24 + jsonBytes(record));
  });

  it('is the same bytes as ever: an outbox of another version is read', () => {
    const record = encode(rows('192.0.2.1', 'vlans'), 60_000);
    seal(record, 3);
    expect(record.subarray(0, 24).toString('hex')).toMatchInlineSnapshot(
      `"52c4604f00000000004ced4078dfef32a3ab14433c3311a3"`,
    );
  });

  it('is nothing under another sequence, also of 33 bits', () => {
    const record = encode(host('192.0.2.1'), 0);
    seal(record, 2 ** 31 + 5);
    expect(decode(record, 2 ** 31 + 5)).not.toBeNull();
    expect(decode(record, 6)).toBeNull();
  });

  it('is nothing with any bit of it flipped, or cut short', () => {
    const record = encode(host('192.0.2.1'), 60_000);
    seal(record, 1);
    fc.assert(
      fc.property(fc.nat(record.length * 8 - 1), (bit) => {
        const flipped = Buffer.from(record);
        flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(decode(flipped, 1)).toBeNull();
      }),
    );
    expect(decode(record.subarray(0, -1), 1)).toBeNull();
  });

  it.each([0, 3, 23, 24])('is nothing with %i bytes, which hold no observation', (length) => {
    const record = Buffer.alloc(length);
    if (length >= 4) seal(record, 1);
    expect(decode(record, 1)).toBeNull();
  });
});

describe('what a later fact replaces', () => {
  it.each<[string, Observation, Observation, boolean]>([
    ['a host, by one of its address', host('192.0.2.1'), host('192.0.2.1'), true],
    ['a host, not by one of another', host('192.0.2.1'), host('192.0.2.2'), false],
    ['a device, by a later walk', device('192.0.2.1'), device('192.0.2.1', OTHER_WALK), true],
    ['a device, not by its host', device('192.0.2.1'), host('192.0.2.1'), false],
    ['a table, by the same one', rows('192.0.2.1', 'vlans'), rows('192.0.2.1', 'vlans'), true],
    ['a table, not by another', rows('192.0.2.1', 'vlans'), rows('192.0.2.1', 'arp'), false],
    ['a table, not by that of another device', rows('192.0.2.1', 'arp'), rows('192.0.2.2', 'arp'), false],
  ])('%s', (_what, older, newer, replaced) => {
    const [a, b] = [stored(older)?.subject, stored(newer)?.subject];
    expect(a).toBeGreaterThan(0);
    expect(a === b).toBe(replaced);
  });

  it('an event is replaced by none', () => {
    expect(stored(down(WALK))?.subject).toBe(0);
  });

  it('subjects are told apart by more than one checksum: no two of 20,000 addresses are one', () => {
    const subjects = new Set<number>();
    for (let i = 0; i < 20_000; i++)
      subjects.add(stored(host(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`))?.subject ?? 0);
    expect(subjects.size).toBe(20_000);
    expect(Math.max(...subjects)).toBeGreaterThan(2 ** 40);
    for (const each of subjects) expect(Number.isSafeInteger(each)).toBe(true);
  });

  it('parts of one walk belong together, those of another do not', () => {
    const walk = stored(rows('192.0.2.1', 'arp'))?.walk;
    expect(walk).toBeGreaterThan(0);
    expect(stored(device('192.0.2.9'))?.walk).toBe(walk);
    expect(stored(rows('192.0.2.1', 'arp', OTHER_WALK))?.walk).not.toBe(walk);
    expect(stored(host('192.0.2.1'))?.walk).toBe(0);
    // The one identifier whose checksum is 0 is still a walk.
    expect(stored(rows('192.0.2.1', 'arp', ''))?.walk).toBe(1);
  });
});
