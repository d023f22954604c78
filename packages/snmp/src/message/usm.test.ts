import { createRequire } from 'node:module';
import { Secret } from '@rollcall/shared/secret';
import { describe, expect, it } from 'vitest';
import { BerError } from './ber.ts';
import { type AuthProtocol, localKeys, type PrivProtocol, type UsmUser } from './keys.ts';
import {
  decodeScopedPdu,
  encodeScopedPdu,
  openMessage,
  readSecureEnvelope,
  type SecureEnvelope,
} from './message.ts';
import type { PlainPdu } from './pdu.ts';
import { AuthoritativeEngine, encodeSecure, faultOfReport, openSecure, RemoteEngine } from './usm.ts';

const ENGINE = Buffer.from('000000000000000000000002', 'hex');
const PHRASE = 'maplesyrup';

const userOf = (
  authProtocol: AuthProtocol,
  privProtocol: PrivProtocol = 'none',
  phrase = PHRASE,
): UsmUser => ({
  name: 'rolf',
  authProtocol,
  authKey: new Secret(phrase),
  privProtocol,
  privKey: new Secret(phrase),
});

describe('key localisation', () => {
  it.each([
    ['md5', '526f5eed9fcce26f8964c2930787d82b'],
    ['sha1', '6695febc9288e36282235fc7151f128497b38f3f'],
  ] as const)('%s gives the vector of RFC 3414 appendix A.3', (protocol, key) => {
    expect(localKeys(userOf(protocol), ENGINE).auth?.key.toString('hex')).toBe(key);
  });

  // An independent implementation as oracle; it has no AES-192, so the 256-bit key is compared in its place.
  const { Authentication, Encryption, AuthProtocols } = createRequire(import.meta.url)('net-snmp');
  const theirs = {
    md5: 'md5',
    sha1: 'sha',
    sha224: 'sha224',
    sha256: 'sha256',
    sha384: 'sha384',
    sha512: 'sha512',
  };
  for (const [protocol, name] of Object.entries(theirs) as [Exclude<AuthProtocol, 'none'>, string][]) {
    it(`${protocol} agrees with net-snmp, for privacy keys too`, () => {
      const auth = AuthProtocols[name];
      const engine = Buffer.from('80001f8880e9630000d61ff449', 'hex');
      expect(localKeys(userOf(protocol), engine).auth?.key).toEqual(
        Authentication.passwordToKey(auth, PHRASE, engine),
      );
      const length = { KEY_LENGTH: 32 };
      expect(localKeys(userOf(protocol, 'aes256'), engine).priv?.key).toEqual(
        Encryption.generateLocalizedKeyBlumenthal(length, auth, PHRASE, engine),
      );
      expect(localKeys(userOf(protocol, 'aes256r'), engine).priv?.key).toEqual(
        Encryption.generateLocalizedKeyReeder(length, auth, PHRASE, engine),
      );
      expect(localKeys(userOf(protocol, 'aes192r'), engine).priv?.key).toEqual(
        localKeys(userOf(protocol, 'aes256r'), engine).priv?.key.subarray(0, 24),
      );
    });
  }
});

const request: PlainPdu = {
  type: 'get',
  requestId: 77,
  errorStatus: 0,
  errorIndex: 0,
  varbinds: [{ oid: '1.3.6.1.2.1.1.1.0', type: 'null', value: null }],
};
const scopedOf = (pdu: PlainPdu, contextEngineId = ENGINE) =>
  encodeScopedPdu({ contextEngineId, contextName: Buffer.alloc(0), pdu });

const envelopeOf = (bytes: Buffer): SecureEnvelope => {
  const { reader, version } = openMessage(bytes);
  if (version !== 'v3') throw new BerError('unexpected-tag');
  return readSecureEnvelope(reader);
};

function agent(users: UsmUser[], seconds = () => 1000) {
  return new AuthoritativeEngine({ id: ENGINE, boots: 5, seconds, users });
}
const ask = (user: UsmUser | null, engine = { engineId: ENGINE, engineBoots: 5, engineTime: 1000 }): Buffer =>
  encodeSecure(user, { msgId: 42, maxSize: 65_507, reportable: true, engine, scoped: scopedOf(request) });

const LEVELS: [AuthProtocol, PrivProtocol][] = [
  ['none', 'none'],
  ['md5', 'none'],
  ['md5', 'des'],
  ['sha1', 'aes128'],
  ['sha1', 'aes192'],
  ['sha1', 'aes192r'],
  ['sha224', 'aes256'],
  ['sha256', 'aes256r'],
  ['sha384', 'aes128'],
  ['sha512', 'aes256'],
];

describe('both ends of a conversation', () => {
  it.each(LEVELS)('%s and %s: request and answer arrive as sent', (auth, priv) => {
    const user = userOf(auth, priv);
    const engine = agent([user]);
    const bytes = ask(user);
    const received = engine.receive(bytes, envelopeOf(bytes));
    if (received.kind !== 'request') throw new Error(JSON.stringify(received));
    expect(received.request.scoped.pdu).toEqual(request);
    if (priv !== 'none') expect(bytes.includes(scopedOf(request))).toBe(false);

    const answer = engine.respond(received.request, { ...request, type: 'response' });
    const envelope = envelopeOf(answer);
    expect(envelope).toMatchObject({ msgId: 42, authenticated: auth !== 'none', encrypted: priv !== 'none' });
    const opened = openSecure(answer, envelope, user);
    if (!opened.ok) throw new Error(opened.fault);
    expect(decodeScopedPdu(opened.scoped).pdu).toEqual({ ...request, type: 'response' });
  });

  it('every changed octet of an authenticated message is noticed (E74)', () => {
    const user = userOf('sha256', 'aes128');
    const engine = agent([user]);
    const bytes = ask(user);
    for (let i = 0; i < bytes.length; i++) {
      const forged = Buffer.from(bytes);
      forged[i] = (forged[i] ?? 0) ^ 0x01;
      let kind: string;
      try {
        kind = engine.receive(forged, envelopeOf(forged)).kind;
      } catch (error) {
        kind = (error as Error).name;
      }
      expect(['BerError', 'report', 'drop'], `octet ${i}`).toContain(kind);
    }
  });
});

describe('what the agent refuses, it says in a Report', () => {
  const good = userOf('sha1', 'aes128');
  const cases: [string, UsmUser | null, Parameters<typeof ask>[1] | undefined][] = [
    ['unknown-engine', null, { engineId: Buffer.alloc(0), engineBoots: 0, engineTime: 0 }],
    ['unknown-user', { ...good, name: 'nobody' }, undefined],
    ['wrong-digest', { ...good, authKey: new Secret('another phrase') }, undefined],
    ['decrypt', { ...good, privKey: new Secret('another phrase') }, undefined],
    ['unsupported-level', { ...good, privProtocol: 'none' }, undefined],
    ['not-in-time', good, { engineId: ENGINE, engineBoots: 5, engineTime: 1200 }],
    ['not-in-time', good, { engineId: ENGINE, engineBoots: 4, engineTime: 1000 }],
  ];
  it.each(cases)('%s', (fault, user, state) => {
    const bytes = ask(user, state);
    const received = agent([good]).receive(bytes, envelopeOf(bytes));
    if (received.kind !== 'report') throw new Error(received.kind);
    const envelope = envelopeOf(received.bytes);
    expect(envelope).toMatchObject({
      msgId: 42,
      engineId: ENGINE,
      engineBoots: 5,
      engineTime: 1000,
      encrypted: false,
    });
    expect(envelope.authenticated).toBe(fault === 'not-in-time');
    expect(openSecure(received.bytes, envelope, good).ok).toBe(true);
    const { pdu } = decodeScopedPdu(envelope.payload);
    expect(pdu.type).toBe('report');
    expect(faultOfReport(pdu.varbinds)).toBe(fault);
  });
  it('nothing when no Report is wanted', () => {
    const bytes = encodeSecure(null, {
      msgId: 1,
      maxSize: 1500,
      reportable: false,
      engine: { engineId: Buffer.alloc(0), engineBoots: 0, engineTime: 0 },
      scoped: scopedOf(request),
    });
    expect(agent([]).receive(bytes, envelopeOf(bytes))).toEqual({ kind: 'drop', reason: 'unknown-engine' });
  });
});

describe('the clock of a remote engine (RFC 3414 section 3.2)', () => {
  it('runs on, follows authenticated messages and refuses old ones (E74)', () => {
    const engine = new RemoteEngine(ENGINE, 0, 0, 0);
    engine.hint(5, 1000, 0);
    expect(engine.state(10_000)).toMatchObject({ engineBoots: 5, engineTime: 1010 });
    expect(engine.accept(5, 1010, 10_000)).toBe(true);
    expect(engine.accept(5, 900, 10_000)).toBe(true);
    expect(engine.accept(5, 859, 10_000)).toBe(false);
    expect(engine.accept(4, 1010, 10_000)).toBe(false);
    expect(engine.accept(6, 3, 11_000)).toBe(true);
    expect(engine.accept(5, 1011, 11_000)).toBe(false);
    expect(engine.state(12_000)).toMatchObject({ engineBoots: 6, engineTime: 4 });
  });
  it('is not set by a Report once an authenticated message carried it', () => {
    const engine = new RemoteEngine(ENGINE, 1, 1, 0);
    engine.accept(5, 1000, 0);
    engine.hint(9, 9, 0);
    expect(engine.state(0)).toMatchObject({ engineBoots: 5, engineTime: 1000 });
  });
  it('never accepts an engine whose boots have run out', () => {
    expect(new RemoteEngine(ENGINE, 0, 0, 0).accept(0x7fff_ffff, 1, 0)).toBe(false);
  });
});

it('no key or phrase shows when a user is printed (E75)', () => {
  const text = JSON.stringify(userOf('sha1', 'aes128'));
  expect(text).not.toContain(PHRASE);
});
