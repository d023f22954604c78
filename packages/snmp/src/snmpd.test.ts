import { systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discover, type Found } from './discover.ts';
import type { SnmpCredential } from './engine/credential.ts';
import { SnmpEngine } from './engine/engine.ts';
import { Session } from './engine/session.ts';
import type { AuthProtocol, PrivProtocol } from './message/keys.ts';
import type { Varbind } from './message/pdu.ts';
import { haveSnmpd, type Snmpd, startSnmpd, tool } from './testing/snmpd.ts';
import { walk } from './walk.ts';

/** An agent that is not ours: Debian's snmpd, its answers compared with what its own tools print. */
const available = haveSnmpd();
if (!available) skipped('agents of net-snmp itself: install snmp and snmpd');

const PHRASE = 'authentication phrase';
const PRIVATE = 'privacy phrase 1';
const USERS: [name: string, auth: AuthProtocol, priv: PrivProtocol, theirs: string][] = [
  ['md5des', 'md5', 'des', `MD5 "${PHRASE}" DES "${PRIVATE}"`],
  ['sha1aes', 'sha1', 'aes128', `SHA "${PHRASE}" AES "${PRIVATE}"`],
  ['sha256aes192', 'sha256', 'aes192', `SHA-256 "${PHRASE}" AES-192 "${PRIVATE}"`],
  ['sha512aes256', 'sha512', 'aes256', `SHA-512 "${PHRASE}" AES-256 "${PRIVATE}"`],
  ['sha1aes256', 'sha1', 'aes256', `SHA "${PHRASE}" AES-256 "${PRIVATE}"`],
  ['sha1aes256c', 'sha1', 'aes256r', `SHA "${PHRASE}" AES-256-C "${PRIVATE}"`],
  ['md5aes192c', 'md5', 'aes192r', `MD5 "${PHRASE}" AES-192-C "${PRIVATE}"`],
  ['sha384only', 'sha384', 'none', `SHA-384 "${PHRASE}"`],
  ['sha224only', 'sha224', 'none', `SHA-224 "${PHRASE}"`],
];
const CONFIGURATION = [
  'rocommunity public',
  'sysName probe-host',
  'sysLocation Keller, Regal 3',
  ...USERS.flatMap(([name, , priv, theirs]) => [
    `createUser ${name} ${theirs}`,
    `rouser ${name} ${priv === 'none' ? 'auth' : 'priv'}`,
  ]),
];
const userCredential = (
  name: string,
  auth: AuthProtocol,
  priv: PrivProtocol,
  phrase = PHRASE,
): SnmpCredential => ({
  id: name,
  version: 'v3',
  user: {
    name,
    authProtocol: auth,
    authKey: new Secret(phrase),
    privProtocol: priv,
    privKey: new Secret(PRIVATE),
  },
});
const communityCredential = (version: 'v1' | 'v2c'): SnmpCredential => ({
  id: version,
  version,
  community: new Secret('public'),
});

describe.skipIf(!available)('against snmpd', () => {
  let agent: Snmpd;
  let engine: SnmpEngine;
  beforeAll(async () => {
    engine = await SnmpEngine.open({ clock: systemClock });
    agent = await startSnmpd(CONFIGURATION);
  });
  afterAll(async () => {
    agent?.stop();
    await engine.close();
  });
  const sessionOf = (credential: SnmpCredential) =>
    new Session(engine, agent, credential, { timeoutMs: 2000, tries: 2 });

  // Subtrees without counters of our own traffic: system, interfaces, the address table, host resources' devices.
  const SUBTREES = [
    '1.3.6.1.2.1.1',
    '1.3.6.1.2.1.2.2.1',
    '1.3.6.1.2.1.4.20.1',
    '1.3.6.1.2.1.25.3.2',
    '1.3.6.1.2.1.31.1.1.1',
  ];
  const MOVING =
    /^(1\.3\.6\.1\.2\.1\.1\.3\.0|1\.3\.6\.1\.2\.1\.2\.2\.1\.(9|1\d|2\d)\.|1\.3\.6\.1\.2\.1\.31\.1\.1\.1\.([2-9]|1[0-3])\.)/;

  it.each(['v1', 'v2c'] as const)('%s: walks exactly what snmpwalk prints', async (version) => {
    const seen = new Map<string, string>();
    const budget = { rows: 10_000, bytes: 10_000_000, until: systemClock.monotonic() + 20_000 };
    const end = await walk(
      sessionOf(communityCredential(version)),
      SUBTREES,
      { budget },
      (_column, _index, v) => {
        seen.set(v.oid, printed(v));
      },
    );
    expect(end).toMatchObject({ complete: true });
    const theirs = new Map<string, string>();
    const flag = version === 'v1' ? '-v1' : '-v2c';
    for (const subtree of SUBTREES) {
      const text = tool('snmpwalk', [flag, '-c', 'public', `${agent.address}:${agent.port}`, subtree]);
      for (const [, oid = '', value = ''] of text.matchAll(/^\.([\d.]+) = ("[^"]*"|.*)$/gm)) {
        theirs.set(oid, value.replaceAll('\n', ''));
      }
    }
    expect([...seen.keys()].toSorted()).toEqual([...theirs.keys()].toSorted());
    for (const [oid, value] of seen)
      if (!MOVING.test(oid)) expect(`${oid} ${value}`).toBe(`${oid} ${theirs.get(oid)}`);
    expect(seen.size).toBeGreaterThan(60);
  });

  it.each(USERS)('v3 %s: %s and %s', async (name, auth, priv) => {
    const answer = await sessionOf(userCredential(name, auth, priv)).get([
      '1.3.6.1.2.1.1.5.0',
      '1.3.6.1.2.1.1.6.0',
    ]);
    if (!answer.ok) throw new Error(answer.code);
    expect(answer.varbinds.map(({ value }) => value?.toString())).toEqual(['probe-host', 'Keller, Regal 3']);
  });

  it.each([
    ['an unknown user', userCredential('nobody', 'sha1', 'aes128'), 'unknown-user'],
    ['a wrong phrase', userCredential('sha1aes', 'sha1', 'aes128', 'quite another phrase'), 'wrong-digest'],
    ['a wrong digest protocol', userCredential('sha1aes', 'md5', 'aes128'), 'wrong-digest'],
    ['too little security', userCredential('sha1aes', 'sha1', 'none'), 'auth-failed'],
  ])('%s is an answer, not a time-out', async (_what, credential, code) => {
    const answer = await sessionOf(credential).get(['1.3.6.1.2.1.1.5.0']);
    expect(answer).toMatchObject({ ok: false, code });
  });

  it('is discovered by the credential that fits', async () => {
    const found: Found[] = [];
    const wrong: SnmpCredential = { id: 'wrong', version: 'v2c', community: new Secret('no-such-community') };
    const options = {
      port: agent.port,
      credentials: [
        wrong,
        userCredential('nobody', 'sha1', 'aes128'),
        userCredential('sha1aes', 'sha1', 'aes128'),
      ],
      attempts: { left: () => 10, spend: () => undefined, accepted: () => undefined },
      timeoutMs: 300,
      tries: 1,
    };
    await discover(engine, [{ address: agent.address }], options, (each) => found.push(each));
    expect(found).toMatchObject([{ outcome: 'snmp', credential: { id: 'sha1aes' } }]);
    const [first] = found;
    if (first?.outcome === 'snmp') {
      expect(first.system.sysName?.toString()).toBe('probe-host');
      expect(first.system.sysObjectId).toMatch(/^1\.3\.6\.1\.4\.1\.8072\.3\.2\./);
    }
  });
});

/** A value as the tools print it with -OQexUt. */
function printed({ type, value }: Varbind): string {
  if (type === 'octets') {
    const hex = value.toString('hex').toUpperCase();
    return `"${hex.replaceAll(/../g, '$& ')}"`;
  }
  return type === 'oid' ? `.${value}` : String(value);
}
