import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BerError, BerReader, BerWriter, Tag } from './ber.ts';
import {
  type CommunityMessage,
  decodeCommunityMessage,
  decodeScopedPdu,
  encodeCommunityMessage,
  encodeScopedPdu,
  encodeSecureEnvelope,
  openMessage,
  readSecureEnvelope,
  type SecureEnvelope,
} from './message.ts';
import { readPdu, readPduHead, readVarbinds, type Varbind } from './pdu.ts';

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const int32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const buffer = (maxLength = 300) => fc.uint8Array({ maxLength }).map((octets) => Buffer.from(octets));
const oid = fc
  .tuple(
    fc.constantFrom('0.0', '1.3', '1.39', '2.0', '2.999'),
    fc.array(fc.oneof(uint32, fc.integer({ min: 0, max: 300 })), { maxLength: 126 }),
  )
  .map(([root, arcs]) => [root, ...arcs].join('.'));
const ip = fc.ipV4();
const value = fc.oneof(
  fc.record({ type: fc.constant('integer' as const), value: int32 }),
  fc.record({
    type: fc.constantFrom('counter32' as const, 'gauge32' as const, 'timeticks' as const),
    value: uint32,
  }),
  fc.record({
    type: fc.constant('counter64' as const),
    value: fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
  }),
  fc.record({ type: fc.constantFrom('octets' as const, 'opaque' as const), value: buffer() }),
  fc.record({ type: fc.constant('oid' as const), value: oid }),
  fc.record({ type: fc.constant('ipaddress' as const), value: ip }),
  fc.record({
    type: fc.constantFrom(
      'null' as const,
      'noSuchObject' as const,
      'noSuchInstance' as const,
      'endOfMibView' as const,
    ),
    value: fc.constant(null),
  }),
);
const varbinds = fc.array(
  fc.tuple(oid, value).map(([name, v]): Varbind => ({ oid: name, ...v })),
  { maxLength: 20 },
);
const pdu = fc.oneof(
  fc.record({
    type: fc.constantFrom(
      'get' as const,
      'getNext' as const,
      'response' as const,
      'set' as const,
      'inform' as const,
      'trap' as const,
      'report' as const,
    ),
    requestId: int32,
    errorStatus: fc.integer({ min: 0, max: 18 }),
    errorIndex: fc.nat(200),
    varbinds,
  }),
  fc.record({
    type: fc.constant('getBulk' as const),
    requestId: int32,
    nonRepeaters: fc.nat(20),
    maxRepetitions: fc.nat(2_000_000_000),
    varbinds,
  }),
  fc.record({
    type: fc.constant('trapV1' as const),
    enterprise: oid,
    agentAddress: ip,
    genericTrap: fc.nat(6),
    specificTrap: int32,
    timestamp: uint32,
    varbinds,
  }),
);
const communityMessage: fc.Arbitrary<CommunityMessage> = fc.record({
  version: fc.constantFrom('v1' as const, 'v2c' as const),
  community: buffer(),
  pdu,
});
const envelope: fc.Arbitrary<SecureEnvelope> = fc
  .record({
    version: fc.constant('v3' as const),
    msgId: fc.nat(0x7fff_ffff),
    maxSize: fc.integer({ min: 484, max: 0x7fff_ffff }),
    authenticated: fc.boolean(),
    encrypted: fc.boolean(),
    reportable: fc.boolean(),
    securityModel: fc.constant(3),
    engineId: buffer(32),
    engineBoots: fc.nat(0x7fff_ffff),
    engineTime: fc.nat(0x7fff_ffff),
    userName: buffer(32),
    digest: buffer(48),
    salt: buffer(8),
    payload: buffer(),
  })
  .chain((e) =>
    e.encrypted
      ? fc.constant(e)
      : fc.record({ contextEngineId: buffer(32), contextName: buffer(32), pdu }).map((scoped) => ({
          ...e,
          payload: encodeScopedPdu(scoped),
        })),
  );

const decodeAny = (bytes: Buffer): unknown => {
  const { reader, version } = openMessage(bytes);
  if (version !== 'v3') return decodeCommunityMessage(bytes);
  const secure = readSecureEnvelope(reader);
  return secure.encrypted ? secure : decodeScopedPdu(secure.payload);
};

describe('what is encoded is decoded to the same', () => {
  it('for messages of v1 and v2c', () => {
    fc.assert(
      fc.property(communityMessage, (message) => {
        expect(decodeCommunityMessage(encodeCommunityMessage(message))).toEqual(message);
      }),
    );
  });
  it('for the envelope of v3', () => {
    fc.assert(
      fc.property(envelope, (secure) => {
        const { reader, version } = openMessage(encodeSecureEnvelope(secure));
        expect(version).toBe('v3');
        expect(readSecureEnvelope(reader)).toEqual(secure);
      }),
    );
  });
  it('for scoped PDUs, also with DES padding behind them', () => {
    fc.assert(
      fc.property(buffer(32), buffer(32), pdu, fc.nat(7), (contextEngineId, contextName, inner, padding) => {
        const scoped = { contextEngineId, contextName, pdu: inner };
        expect(decodeScopedPdu(Buffer.concat([encodeScopedPdu(scoped), Buffer.alloc(padding)]))).toEqual(
          scoped,
        );
      }),
    );
  });
});

describe('nothing but BerError leaves the decoder', () => {
  const refusedOrRead = (bytes: Buffer): void => {
    try {
      decodeAny(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(BerError);
    }
  };
  const encoded = fc.oneof(communityMessage.map(encodeCommunityMessage), envelope.map(encodeSecureEnvelope));

  it('for messages with octets changed, cut out or put in (E68)', () => {
    const change = fc.record({
      at: fc.nat(),
      octet: fc.integer({ min: 0, max: 255 }),
      how: fc.constantFrom('set', 'cut', 'add'),
    });
    fc.assert(
      fc.property(encoded, fc.array(change, { minLength: 1, maxLength: 8 }), (message, changes) => {
        let bytes = message;
        for (const { at, octet, how } of changes) {
          const i = bytes.length === 0 ? 0 : at % bytes.length;
          const rest = bytes.subarray(how === 'add' ? i : i + 1);
          bytes = Buffer.concat([
            bytes.subarray(0, i),
            how === 'cut' ? Buffer.alloc(0) : Buffer.of(octet),
            rest,
          ]);
        }
        refusedOrRead(bytes);
      }),
      { numRuns: 2000 },
    );
  });
  it('for every truncation of a message (E69)', () => {
    fc.assert(
      fc.property(encoded, (message) => {
        for (let n = 0; n < message.length; n++) {
          expect(() => decodeAny(message.subarray(0, n))).toThrow(BerError);
        }
      }),
      { numRuns: 30 },
    );
  });
  it('for noise', () => {
    fc.assert(fc.property(buffer(600), refusedOrRead), { numRuns: 1000 });
  });
});

describe('hostile lengths are refused (E68)', () => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
  it.each([
    ['a length of four gigabytes', '30 84 ff ff ff ff 02 01 01', 'truncated'],
    ['an indefinite length', '30 80 02 01 01 00 00', 'indefinite-length'],
    ['a length in 127 octets', '30 ff 01 01', 'bad-length'],
    ['a length past the end', '30 05 02 01 01', 'truncated'],
    ['a child longer than its parent', '30 03 02 05 01 00 00 00 00', 'truncated'],
    ['an integer without octets', '30 02 02 00', 'bad-integer'],
    ['an integer of eighty bits', '30 0c 02 0a 7f ff ff ff ff ff ff ff ff ff', 'bad-integer'],
    ['an unknown version', '30 03 02 01 07', 'unexpected-tag'],
    ['nothing', '', 'truncated'],
  ])('%s', (_name, bytes, code) => {
    expect(() => openMessage(hex(bytes))).toThrow(expect.objectContaining({ code }));
  });
  it('one mebibyte of nested sequences does not overflow the stack', () => {
    const bytes = Buffer.alloc(1 << 20, 0x30);
    expect(() => openMessage(bytes)).toThrow(BerError);
  });
  it('a lone OID tag in the varbind list (E69)', () => {
    const message = encodeCommunityMessage({
      version: 'v2c',
      community: Buffer.from('c'),
      pdu: { type: 'response', requestId: 1, errorStatus: 0, errorIndex: 0, varbinds: [] },
    });
    const list = message.indexOf(hex('30 00'), 10);
    const bytes = Buffer.concat([message.subarray(0, list), hex('30 01 06')]);
    bytes[1] = bytes.length - 2;
    bytes[9] = (bytes[9] ?? 0) + 1;
    expect(() => decodeCommunityMessage(bytes)).toThrow(BerError);
  });
});

describe('what real agents send a little wrong is read', () => {
  const typed = (tlv: string): unknown => {
    const oidAndValue = Buffer.from(`06022b06${tlv}`.replaceAll(' ', ''), 'hex');
    const one = Buffer.concat([Buffer.of(0x30, oidAndValue.length), oidAndValue]);
    const reader = new BerReader(Buffer.concat([Buffer.of(0x30, one.length), one]));
    const [varbind] = readVarbinds(reader);
    return [varbind?.type, varbind?.value];
  };
  it.each([
    ['02 04 00 00 00 05', ['integer', 5]],
    ['02 05 00 ff ff ff ff', ['integer', 4294967295]],
    ['02 08 ff ff ff ff ff ff ff fe', ['integer', -2]],
    ['42 04 ff ff ff ff', ['gauge32', 4294967295]],
    ['42 05 00 ff ff ff fe', ['gauge32', 4294967294]],
    ['42 01 ff', ['gauge32', 4294967295]],
    ['41 04 80 00 00 00', ['counter32', 2147483648]],
    ['47 01 07', ['gauge32', 7]],
    ['46 09 00 ff ff ff ff ff ff ff ff', ['counter64', 0xffff_ffff_ffff_ffffn]],
    ['46 08 ff ff ff ff ff ff ff fe', ['counter64', 0xffff_ffff_ffff_fffen]],
    ['46 07 01 00 00 00 00 00 02', ['counter64', 0x0001_0000_0000_0002n]],
    ['46 01 05', ['counter64', 5n]],
    ['06 00', ['oid', '0.0']],
    ['06 04 2b 80 80 06', ['oid', '1.3.6']],
    ['40 00', ['octets', Buffer.alloc(0)]],
    ['04 84 00 00 00 01 61', ['octets', Buffer.from('a')]],
    ['05 01 00', ['null', null]],
  ])('%s', (tlv, expected) => {
    expect(typed(tlv)).toEqual(expected);
  });
  it.each([
    ['Counter64 at its end', '46 09 00 ff ff ff ff ff ff ff ff', 18_446_744_073_709_551_615n],
    ['Counter64 beyond what a double holds', '46 07 20 00 00 00 00 00 01', 9_007_199_254_740_993n],
    ['Counter32 at its end', '41 05 00 ff ff ff ff', 4_294_967_295],
    ['TimeTicks before they wrap, after 497 days', '43 05 00 ff ff ff ff', 4_294_967_295],
    ['TimeTicks after it', '43 01 00', 0],
  ])('E83: %s is kept exactly', (_name, tlv, value) => {
    expect(typed(tlv)).toEqual([expect.any(String), value]);
  });
  it('a request id sent back unsigned in five octets', () => {
    const reader = new BerReader(Buffer.from('a20d020500fffffffe020100020100', 'hex'));
    reader.bytes[1] = reader.bytes.length - 2;
    expect(readPduHead(reader)).toMatchObject({ type: 'response', requestId: -2 });
  });
  it('octets after the message', () => {
    const message: CommunityMessage = {
      version: 'v2c',
      community: Buffer.from('c'),
      pdu: { type: 'get', requestId: 9, errorStatus: 0, errorIndex: 0, varbinds: [] },
    };
    const padded = Buffer.concat([encodeCommunityMessage(message), Buffer.alloc(5)]);
    expect(decodeCommunityMessage(padded)).toEqual(message);
  });
});

describe('bounds', () => {
  it('a message longer than a datagram is refused by the writer', () => {
    const writer = new BerWriter();
    expect(() => writer.octets(Tag.octets, Buffer.alloc(65_600))).toThrow(
      expect.objectContaining({ code: 'too-big' }),
    );
  });
  it('no more varbinds are read than asked for (E79)', () => {
    const names = Array.from(
      { length: 5000 },
      (_, i): Varbind => ({ oid: `1.3.${i}`, type: 'null', value: null }),
    );
    const bytes = encodeCommunityMessage({
      version: 'v2c',
      community: Buffer.alloc(0),
      pdu: { type: 'response', requestId: 1, errorStatus: 0, errorIndex: 0, varbinds: names },
    });
    const { reader } = openMessage(bytes);
    reader.octets();
    readPduHead(reader);
    expect(readVarbinds(reader, 10)).toHaveLength(10);
  });
  it('an OID of 129 sub-identifiers is refused both ways', () => {
    const long = Array.from({ length: 129 }, () => 1).join('.');
    expect(() => new BerWriter().oid(Tag.oid, long)).toThrow(BerError);
    const content = Buffer.alloc(128, 1);
    expect(() => new BerReader(Buffer.concat([Buffer.of(6, 0x81, 128), content])).oid()).toThrow(BerError);
  });
  it('a PDU with data behind its varbinds is refused', () => {
    expect(() => readPdu(new BerReader(Buffer.from('a00d0201010201000201003000020100', 'hex')))).toThrow(
      BerError,
    );
  });
});
