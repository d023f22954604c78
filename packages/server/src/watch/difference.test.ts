import { randomUUID } from 'node:crypto';
import { FRAME_BYTES, serverMessage, type WatchTarget, type WireCredential } from '@rollcall/shared/protocol';
import { describe, expect, it } from 'vitest';
import { differenceOf, type Told, type Wanted } from './difference.ts';

const digest = (credential: WireCredential) => JSON.stringify(credential);
const credential = (community: string): WireCredential => ({
  id: '0192f0c0-0000-7000-8000-0000000000c1',
  version: 'v2c',
  community,
});
const target = (n: number, more: Partial<WatchTarget> = {}): WatchTarget => ({
  deviceId: `0192f0c0-0000-7000-8000-${String(n).padStart(12, '0')}`,
  address: `10.0.0.${n}`,
  ...more,
});
const wanted = (targets: WatchTarget[], more: Partial<Wanted> = {}): Wanted => ({
  targets,
  credentials: [credential('public')],
  intervals: { icmpMs: 15_000, snmpMs: 60_000 },
  port: 161,
  ...more,
});
const after = (first: Wanted): Told => differenceOf(null, first, digest).told;

describe('what a collector is told of its watch', () => {
  it('is the whole list first, also when it is empty', () => {
    const { messages } = differenceOf(null, wanted([]), digest);
    expect(messages).toMatchObject([{ revision: 1, full: true, set: [], remove: [] }]);
    expect(messages[0]).not.toHaveProperty('more');
  });

  it('is nothing when nothing changed', () => {
    const list = wanted([target(1), target(2)]);
    expect(differenceOf(after(list), list, digest).messages).toEqual([]);
  });

  it.each<[name: string, next: Wanted, set: number[], remove: number[], credentials: number]>([
    ['a device more', wanted([target(1), target(2), target(3)]), [3], [], 0],
    ['a device less', wanted([target(2)]), [], [1], 0],
    ['another address', wanted([target(1), target(2, { address: '10.0.9.9' })]), [2], [], 0],
    [
      'another address to be asked when the first is silent',
      wanted([target(1, { elsewhere: { addresses: ['10.0.1.1'], sysName: 'r1' } }), target(2)]),
      [1],
      [],
      0,
    ],
    ['another credential', wanted([target(1, { credentialId: credential('').id }), target(2)]), [1], [], 0],
    [
      'other content of a credential',
      wanted([target(1), target(2)], { credentials: [credential('other')] }),
      [],
      [],
      1,
    ],
    [
      'other intervals',
      wanted([target(1), target(2)], { intervals: { icmpMs: 5000, snmpMs: 60_000 } }),
      [],
      [],
      0,
    ],
    ['another port', wanted([target(1), target(2)], { port: 1161 }), [], [], 0],
  ])('is only the difference: %s', (_name, next, set, remove, credentials) => {
    const { messages } = differenceOf(after(wanted([target(1), target(2)])), next, digest);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({ revision: 2, full: false });
    expect(messages[0]?.set.map(({ deviceId }) => Number(deviceId.slice(-12)))).toEqual(set);
    expect(messages[0]?.remove.map((id) => Number(id.slice(-12)))).toEqual(remove);
    expect(messages[0]?.credentials).toHaveLength(credentials);
  });

  it('comes in as many messages as fit a frame, and says when more follow', () => {
    const targets = Array.from({ length: 1700 }, (_, n) => ({
      deviceId: randomUUID(),
      address: `2001:0db8:1111:2222:3333:4444:5555:${(4096 + n).toString(16)}`,
      credentialId: credential('').id,
      elsewhere: {
        addresses: Array.from(
          { length: 4 },
          (_, i) => `2001:0db8:1111:2222:3333:4444:${1000 + i}:${4096 + n}`,
        ),
        sysName: '\u0001'.repeat(64),
        engineId: 'f'.repeat(64),
      },
    }));
    const { messages, told } = differenceOf(null, wanted(targets), digest);
    expect(messages.map(({ full, more, revision }) => [full, more ?? false, revision])).toEqual([
      [true, true, 1],
      [false, true, 2],
      [false, false, 3],
    ]);
    expect(messages.flatMap(({ set }) => set)).toEqual(targets);
    for (const message of messages) {
      expect(serverMessage.safeParse(message).success).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(FRAME_BYTES);
    }
    expect(differenceOf(told, wanted(targets), digest).messages).toEqual([]);
  });
});
