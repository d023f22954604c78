import type { TrapObservation } from '@rollcall/shared/observation';
import { parseObservation } from '@rollcall/shared/protocol';
import { Secret } from '@rollcall/shared/secret';
import type { UserCredential } from '@rollcall/snmp/engine/credential';
import { encodeCommunityMessage, encodeScopedPdu } from '@rollcall/snmp/message/message';
import type { PlainPdu, Varbind } from '@rollcall/snmp/message/pdu';
import { AuthoritativeEngine, encodeSecure, RemoteEngine } from '@rollcall/snmp/message/usm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTrap, type Security } from './decode.ts';
import { Limit } from './limit.ts';
import { limitOf, observationOf } from './traps.ts';

const TRAP_OID = '1.3.6.1.6.3.1.1.4.1.0';
const UPTIME = '1.3.6.1.2.1.1.3.0';
const user = (name = 'trapper', phrase = 'authentication phrase'): UserCredential => ({
  id: name,
  version: 'v3',
  user: {
    name,
    authProtocol: 'sha256',
    authKey: new Secret(phrase),
    privProtocol: 'aes128',
    privKey: new Secret('privacy phrase 1'),
  },
});
const OWN = Buffer.from('800000000501020304', 'hex');
const SENDER = Buffer.from('80001f888059dc486145a26322', 'hex');

/** What a receiver knows; remembers the engines it heard. */
const security = (users: UserCredential[] = [user()]): Security => {
  const engines = new Map<string, RemoteEngine>();
  return {
    users,
    own: new AuthoritativeEngine({
      id: OWN,
      boots: 3,
      seconds: () => 100,
      users: users.map((each) => each.user),
    }),
    remote: (id, boots, time) => {
      const known = engines.get(id.toString('hex')) ?? new RemoteEngine(id, boots, time, 0);
      engines.set(id.toString('hex'), known);
      return known;
    },
    now: 0,
  };
};

const pdu = (type: 'trap' | 'inform', more: Varbind[] = [], oid = '1.3.6.1.4.1.9.0.1'): PlainPdu => ({
  type,
  requestId: 77,
  errorStatus: 0,
  errorIndex: 0,
  varbinds: [
    { oid: UPTIME, type: 'timeticks', value: 4200 },
    { oid: TRAP_OID, type: 'oid', value: oid },
    ...more,
  ],
});
const v2 = (type: 'trap' | 'inform', more: Varbind[] = []) =>
  encodeCommunityMessage({ version: 'v2c', community: Buffer.from('public'), pdu: pdu(type, more) });
const v3 = (
  by: UserCredential | null,
  engineTime: number,
  type: 'trap' | 'inform' = 'trap',
  engineId = SENDER,
) =>
  encodeSecure(by?.user ?? null, {
    msgId: 5,
    maxSize: 65_507,
    reportable: type === 'inform',
    engine: { engineId, engineBoots: 3, engineTime },
    scoped: encodeScopedPdu({ contextEngineId: engineId, contextName: Buffer.alloc(0), pdu: pdu(type) }),
  });
const told = (bytes: Buffer, known = security()): TrapObservation => {
  const decoded = decodeTrap(bytes, known);
  if (decoded.kind !== 'trap') throw new Error(JSON.stringify(decoded));
  return observationOf({ trap: decoded.trap, address: '10.0.0.1', at: 1 }, 0);
};

describe('a datagram on the trap port', () => {
  it.each<[name: string, generic: number, specific: number, oid: string]>([
    ['linkDown', 2, 0, '1.3.6.1.6.3.1.1.5.3'],
    ['coldStart', 0, 0, '1.3.6.1.6.3.1.1.5.1'],
    ['an enterprise’s own', 6, 17, '1.3.6.1.4.1.9.1.0.17'],
  ])('of v1 is translated by RFC 3584: %s', (_name, genericTrap, specificTrap, oid) => {
    const bytes = encodeCommunityMessage({
      version: 'v1',
      community: Buffer.from('public'),
      pdu: {
        type: 'trapV1',
        enterprise: '1.3.6.1.4.1.9.1',
        agentAddress: '10.7.7.7',
        genericTrap,
        specificTrap,
        timestamp: 99,
        varbinds: [],
      },
    });
    expect(told(bytes)).toMatchObject({
      snmpVersion: 'v1',
      trapOid: oid,
      sysUpTime: 99,
      agentAddress: '10.7.7.7',
    });
  });

  it('of v2c names its trap and keeps the rest, readable', () => {
    const trap = told(
      v2('trap', [
        { oid: '1.3.6.1.2.1.2.2.1.1.7', type: 'integer', value: 7 },
        { oid: '1.3.6.1.4.1.9.2', type: 'octets', value: Buffer.from('fan\u0000tray') },
        { oid: '1.3.6.1.4.1.9.3', type: 'octets', value: Buffer.from([0, 0x1b, 0xfe, 0xff]) },
        { oid: '1.3.6.1.4.1.9.4', type: 'counter64', value: 2n ** 63n },
        { oid: '1.3.6.1.6.3.18.1.3.0', type: 'ipaddress', value: '10.7.7.8' },
      ]),
    );
    expect(trap).toMatchObject({ trapOid: '1.3.6.1.4.1.9.0.1', sysUpTime: 4200, agentAddress: '10.7.7.8' });
    expect(trap.varbinds.map(({ value }) => value)).toEqual([
      '7',
      'fan\\x00tray',
      '0x001bfeff',
      '9223372036854775808',
      '10.7.7.8',
    ]);
  });

  it('that is an inform has an answer with the same id and varbinds; a trap has none', () => {
    const decode = (bytes: Buffer) => {
      const decoded = decodeTrap(bytes, security());
      return decoded.kind === 'trap' ? decoded.trap.answer : undefined;
    };
    expect(decode(v2('trap'))).toBeNull();
    expect(decode(v2('inform'))).toEqual(
      encodeCommunityMessage({
        version: 'v2c',
        community: Buffer.from('public'),
        pdu: { ...pdu('inform'), type: 'response' },
      }),
    );
  });

  it('of v3 proves the sender’s engine; heard again later it is no news', () => {
    const known = security();
    expect(told(v3(user(), 500), known)).toMatchObject({ engineId: SENDER.toString('hex') });
    expect(told(v3(user(), 900), known)).toMatchObject({ snmpVersion: 'v3' });
    expect(decodeTrap(v3(user(), 500), known)).toEqual({ kind: 'drop', reason: 'not-in-time' });
  });

  it.each<[name: string, bytes: Buffer, reason: string]>([
    ['by another user', v3(user('other'), 1), 'unknown-user'],
    ['with another key', v3(user('trapper', 'another phrase'), 1), 'wrong-digest'],
    [
      'without the security of its user',
      v3({ ...user(), user: { name: 'trapper', authProtocol: 'none', privProtocol: 'none' } }, 1),
      'unknown-user',
    ],
    ['of nobody', v3(null, 1), 'unknown-user'],
  ])('of v3 is not believed %s', (_name, bytes, reason) => {
    expect(decodeTrap(bytes, security())).toEqual({ kind: 'drop', reason });
  });

  it('of v3 that asks for our engine id is answered; an inform in time is taken and answered', () => {
    expect(decodeTrap(v3(null, 0, 'inform', Buffer.alloc(0)), security()).kind).toBe('reply');
    expect(decodeTrap(v3(user(), 100, 'inform', OWN), security())).toMatchObject({
      kind: 'trap',
      trap: { answer: expect.any(Buffer) },
    });
    expect(decodeTrap(v3(user(), 9000, 'inform', OWN), security()).kind).toBe('reply');
  });

  it.each<[name: string, bytes: Buffer]>([
    [
      'a request',
      encodeCommunityMessage({
        version: 'v2c',
        community: Buffer.alloc(0),
        pdu: { ...pdu('trap'), type: 'get' },
      }),
    ],
    [
      'a trap without a name',
      encodeCommunityMessage({
        version: 'v2c',
        community: Buffer.alloc(0),
        pdu: { ...pdu('trap'), varbinds: [] },
      }),
    ],
    ['nothing', Buffer.alloc(0)],
  ])('that is %s is dropped', (_name, bytes) => {
    expect(decodeTrap(bytes, security())).toEqual({ kind: 'drop', reason: 'malformed' });
  });

  it('may hold anything: nothing is thrown, and what is reported is bounded and fits the protocol', () => {
    const seeds = [v2('trap'), v2('inform'), v3(user(), 100), v3(user(), 100, 'inform', OWN)];
    const broken = fc
      .tuple(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 }),
        fc.nat(400),
      )
      .map(([seed, edits, cut]) => {
        const bytes = Buffer.from(seed);
        for (const [at, value] of edits) bytes[at % bytes.length] = value;
        return cut < 40 ? bytes.subarray(0, cut) : bytes;
      });
    const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(broken, noise), (bytes) => {
        const decoded = decodeTrap(bytes, security());
        if (decoded.kind !== 'trap') return;
        const observation = observationOf({ trap: decoded.trap, address: '10.0.0.1', at: 1 }, 0);
        expect(parseObservation(observation).ok).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('that is full is cut to what an observation holds', () => {
    const many = Array.from(
      { length: 700 },
      (_, i): Varbind => ({ oid: `1.3.6.1.4.1.9.${i}`, type: 'octets', value: Buffer.alloc(60, 'x') }),
    );
    const one: Varbind[] = [{ oid: '1.3.6.1.4.1.9.1', type: 'octets', value: Buffer.alloc(60_000, 0x7f) }];
    for (const varbinds of [many, one]) {
      const observation = told(v2('trap', varbinds));
      expect(parseObservation(observation).ok).toBe(true);
      expect(JSON.stringify(observation).length).toBeLessThan(24_000);
    }
  });
});

describe('the limit', () => {
  const settings = {
    perSecond: 1,
    burst: 3,
    sources: 2,
    unknownSources: 2,
    allPerSecond: 100,
    allBurst: 100,
  };
  const limit = (more = {}) => new Limit<number>({ ...settings, ...more }, 0);

  it('lets a burst through, then so many a second, and counts what it drops', () => {
    const of = limit();
    const verdicts = [0, 1, 2, 3, 4].map((n) => of.admit('a', false, n, 0).ok);
    expect(verdicts).toEqual([true, true, true, false, false]);
    expect(of.admit('b', false, 9, 0)).toEqual({ ok: true, dropped: 0 });
    expect(of.admit('a', false, 5, 1000)).toEqual({ ok: true, dropped: 2 });
  });

  it('keeps the newest that it dropped, for when there is room', () => {
    const of = limit();
    for (const n of [0, 1, 2, 3, 4, 5]) of.admit('a', false, n, 0);
    expect(of.due(500)).toEqual([]);
    expect(of.due(1000)).toEqual([{ address: 'a', held: 5, dropped: 2 }]);
    expect(of.due(9000)).toEqual([]);
  });

  it('has a place for so many senders that are not monitored, until one was quiet, and always for monitored devices', () => {
    const of = limit();
    for (const source of ['a', 'b']) of.admit(source, false, 0, 0);
    expect(of.admit('c', false, 0, 10)).toEqual({ ok: false, reason: 'sources' });
    expect(of.admit('d', true, 0, 10)).toMatchObject({ ok: true });
    expect(of.admit('c', false, 0, 100_000)).toMatchObject({ ok: true });
    for (let n = 0; n < 100; n += 1) of.admit(`x${n}`, true, 0, 100_001);
    expect(of.size).toBeLessThanOrEqual(4);
  });

  it('keeps the count of a sender that is monitored from now on, or no more', () => {
    const of = limit();
    for (const n of [0, 1, 2, 3]) of.admit('a', false, n, 0);
    expect(of.admit('a', true, 4, 1000)).toEqual({ ok: true, dropped: 1 });
    expect(of.admit('a', false, 5, 1000)).toEqual({ ok: false, reason: 'source-rate' });
    expect(of.size).toBe(1);
  });

  it('attack: 10,000 sources of traps are 64 events, and no monitored device among them is silenced', () => {
    const of = new Limit<number>(limitOf(10), 0);
    let taken = 0;
    for (let n = 0; n < 10_000; n++) if (of.admit(`10.0.${n >> 8}.${n & 255}`, false, n, n).ok) taken += 1;
    expect(taken).toBe(64);
    expect(of.admit('192.0.2.1', true, 0, 10_000)).toEqual({ ok: true, dropped: 0 });
  });

  it('holds for all sources together', () => {
    const of = limit({ unknownSources: 1000, allBurst: 5, allPerSecond: 1 });
    const taken = Array.from({ length: 50 }, (_, n) => of.admit(`s${n}`, false, n, 0)).filter(({ ok }) => ok);
    expect(taken).toHaveLength(5);
  });
});
