import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Secret } from '@rollcall/shared/secret';
import { decodeCommunityMessage, encodeScopedPdu } from '@rollcall/snmp/message/message';
import type { PlainPdu, Value } from '@rollcall/snmp/message/pdu';
import { encodeSecure } from '@rollcall/snmp/message/usm';
import { community, FakeAgent, honest, response } from '@rollcall/snmp/testing/fake-agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Misuse } from '../../platform/refusal.ts';
import { netSnmpCan } from './net-snmp.ts';
import { runSnmpDoctor, type SnmpDoctorFlags } from './snmp-doctor.ts';

// biome-ignore lint/suspicious/noExplicitAny: the package has no types for its agent
const snmp: any = createRequire(import.meta.url)('net-snmp');

let folder: string;
const stops: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-snmp-doctor-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), `${content}\n`);
  return join(folder, name);
};

/** Anyone who answers does so within it, on a busy machine too; anyone who does not makes the test wait for the second. */
const ANSWERED_MS = 20_000;
const SILENT = { timeout: 900 };

/** The doctor on an agent of this host: exit code, what it printed as JSON, and as a table. */
async function examine(port: number, flags: Partial<SnmpDoctorFlags> = {}, config = '{}') {
  const given: SnmpDoctorFlags = {
    snmpVersion: 'v2c',
    v3Auth: 'none',
    v3Priv: 'none',
    timeout: ANSWERED_MS,
    tries: 1,
    snmpPort: port,
    config: file('collector.yaml', config),
    json: true,
    ...flags,
  };
  if (given.v3User === undefined) given.communityFile ??= file('community', 'open sesame');
  const stdout = new PassThrough();
  const code = await runSnmpDoctor('127.0.0.1', given, { env: {}, stdout });
  const out = String(stdout.read());
  return { code, out, said: given.json ? JSON.parse(out) : null };
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });

/** An agent made by net-snmp, with a system group of two objects and one interface. */
async function netSnmpAgent(): Promise<number> {
  const port = await freePort();
  const { AccessControlModelType, ObjectType, MibProviderType, AuthProtocols, PrivProtocols } = snmp;
  const options = { port, address: '127.0.0.1', accessControlModelType: AccessControlModelType.None };
  const agent = snmp.createAgent(options, () => undefined);
  stops.push(() => agent.close());
  const users = [
    { name: 'nobody', level: 1 },
    { name: 'sha', level: 2, authProtocol: AuthProtocols.sha, authKey: 'auth phrase' },
    {
      name: 'aes128',
      level: 3,
      authProtocol: AuthProtocols.sha256,
      authKey: 'auth phrase',
      privProtocol: PrivProtocols.aes,
      privKey: 'priv phrase',
    },
    {
      name: 'aes256',
      level: 3,
      authProtocol: AuthProtocols.sha512,
      authKey: 'auth phrase',
      privProtocol: PrivProtocols.aes256b,
      privKey: 'priv phrase',
    },
    {
      name: 'aes256r',
      level: 3,
      authProtocol: AuthProtocols.sha,
      authKey: 'auth phrase',
      privProtocol: PrivProtocols.aes256r,
      privKey: 'priv phrase',
    },
  ];
  agent.getAuthorizer().addCommunity('open sesame');
  for (const user of users) agent.getAuthorizer().addUser(user);
  const mib = agent.getMib();
  const scalars = [
    ['sysDescr', '1.3.6.1.2.1.1.1', ObjectType.OctetString, 'an agent of net-snmp'],
    ['sysObjectID', '1.3.6.1.2.1.1.2', ObjectType.OID, '1.3.6.1.4.1.8072'],
    ['snmpEngineBoots', '1.3.6.1.6.3.10.2.1.2', ObjectType.Integer, -7],
  ] as const;
  for (const [name, oid, scalarType, value] of scalars) {
    mib.registerProvider({ name, type: MibProviderType.Scalar, oid, scalarType, maxAccess: 2 });
    mib.setScalarValue(name, value);
  }
  mib.registerProvider({
    name: 'ifEntry',
    type: MibProviderType.Table,
    oid: '1.3.6.1.2.1.2.2.1',
    maxAccess: 2,
    tableColumns: [
      { number: 1, name: 'ifIndex', type: ObjectType.Integer, maxAccess: 2 },
      { number: 2, name: 'ifDescr', type: ObjectType.OctetString, maxAccess: 2 },
      { number: 10, name: 'ifInOctets', type: ObjectType.Counter, maxAccess: 2 },
    ],
    tableIndex: [{ columnName: 'ifIndex' }],
  });
  mib.addTableRow('ifEntry', [1, 'eth0', 4_000_000_000]);
  return port;
}

describe('doctor snmp on an agent made by net-snmp', () => {
  it.each(['v1', 'v2c'] as const)('%s: both read the same', async (snmpVersion) => {
    const { code, said } = await examine(await netSnmpAgent(), { snmpVersion });
    expect(code).toBe(0);
    expect(said).toMatchObject({ same: true, unread: null, version: snmpVersion });
    const read = said.groups.map(({ name, own }: { name: string; own: { values: number } }) => [
      name,
      own.values,
    ]);
    expect(Object.fromEntries(read)).toMatchObject({ system: 2, ifTable: 3, snmpEngine: 1, lldpRemTable: 0 });
  });

  it.each([
    ['nobody', 'none', 'none'],
    ['sha', 'sha1', 'none'],
    ['aes128', 'sha256', 'aes128'],
    ['aes256', 'sha512', 'aes256'],
    ['aes256r', 'sha1', 'aes256r'],
  ] as const)('v3, user %s: both read the same', async (v3User, v3Auth, v3Priv) => {
    const keys = { v3AuthKeyFile: file('auth', 'auth phrase'), v3PrivKeyFile: file('priv', 'priv phrase') };
    const { code, said } = await examine(await netSnmpAgent(), { v3User, v3Auth, v3Priv, ...keys });
    expect([code, said.same, said.groups[0].netSnmp]).toEqual([0, true, { values: 2, stopped: null }]);
  });

  it('says what net-snmp has no cipher for', async () => {
    const keys = { v3AuthKeyFile: file('auth', 'auth phrase'), v3PrivKeyFile: file('priv', 'priv phrase') };
    for (const v3Priv of ['des', 'aes192', 'aes192r'] as const) {
      const asked = examine(9, { v3User: 'u', v3Auth: 'sha1', v3Priv, ...keys });
      await expect(asked).rejects.toThrow(`--v3-priv ${v3Priv}: net-snmp does not have it`);
      await expect(asked).rejects.toThrow(Misuse);
    }
    expect(netSnmpCan({ id: 'c', version: 'v2c', community: new Secret('c') })).toBe(true);
  });
});

const OBJECTS: Record<string, Value> = {
  '1.3.6.1.2.1.1.1.0': { type: 'octets', value: Buffer.from('two-faced') },
  '1.3.6.1.2.1.1.7.0': { type: 'integer', value: 72 },
  '1.3.6.1.2.1.31.1.1.1.6.1': { type: 'counter64', value: 2n ** 63n },
};

/** An agent that treats anyone who asks first (our own implementation) and everybody else apart. */
async function twoFaced(first: Parameters<typeof community>[0], others: Parameters<typeof community>[0]) {
  let known: number | null = null;
  const faces = { first: community(first), others: community(others) };
  const agent = await FakeAgent.start((request, send, from) => {
    known ??= from.port;
    faces[from.port === known ? 'first' : 'others'](request, send, from);
  });
  stops.push(() => agent.close());
  return agent.port;
}

const signedAnswer = ({ requestId }: PlainPdu): Buffer => {
  const authKey = new Secret('auth phrase');
  return encodeSecure(
    { name: 'u', authProtocol: 'sha1', authKey, privProtocol: 'none' },
    {
      msgId: requestId,
      maxSize: 1500,
      reportable: false,
      engine: { engineId: Buffer.from('80001f8804726f6c6c', 'hex'), engineBoots: 1, engineTime: 1 },
      scoped: encodeScopedPdu({
        contextEngineId: Buffer.alloc(0),
        contextName: Buffer.alloc(0),
        pdu: { type: 'response', requestId, errorStatus: 0, errorIndex: 0, varbinds: [] },
      }),
    },
  );
};

describe('doctor snmp on an agent that lies to one of the two', () => {
  const truth = honest(OBJECTS);

  it('finds other values, other types and what is missing', async () => {
    const lies = honest({
      '1.3.6.1.2.1.1.1.0': { type: 'octets', value: Buffer.from('\u001b[2Jwiped') },
      '1.3.6.1.2.1.1.7.0': { type: 'gauge32', value: 72 },
    });
    const port = await twoFaced(truth, lies);
    const { code, said } = await examine(port);
    expect(code).toBe(1);
    const differences = said.groups.flatMap((group: { differences: unknown[] }) => group.differences);
    expect(differences).toMatchObject([
      { oid: '1.3.6.1.2.1.1.1.0', kind: 'value' },
      { oid: '1.3.6.1.2.1.1.7.0', kind: 'type', own: { type: 'integer' }, netSnmp: { type: 'gauge32' } },
      { oid: '1.3.6.1.2.1.31.1.1.1.6.1', kind: 'missing', own: { text: String(2n ** 63n) }, netSnmp: null },
    ]);
    const table = await examine(await twoFaced(truth, lies), { json: false });
    expect(table.out).toMatch(/system +2 values +2 values +2 differ\n/);
    expect(table.out).toMatch(
      /1\.3\.6\.1\.2\.1\.1\.1\.0 +octets "two-faced" +octets 0x1b5b324a7769706564 +other value/,
    );
    expect(table.out).toMatch(/They differ in system, ifXTable\./);
    expect(table.out).not.toContain('\u001b');
    expect(table.out + JSON.stringify(said)).not.toContain('open sesame');
  });

  const NOBODY = () => null;
  it.each([
    ['is silent', NOBODY, 'timeout', SILENT],
    [
      'repeats one object for ever',
      (asked: Parameters<typeof truth>[0]) =>
        response(asked, [{ oid: '1.3.6.1.2.1.1.1.0', type: 'integer', value: 1 }]),
      'not-increasing',
      {},
    ],
    ['answers without any object', (asked: Parameters<typeof truth>[0]) => response(asked, []), null, {}],
    [
      'reports an error',
      (asked: Parameters<typeof truth>[0]) => response(asked, asked.varbinds, 5, 1),
      'GeneralError',
      {},
    ],
  ])('to net-snmp it %s', async (_, lie, stopped, flags) => {
    const { code, said } = await examine(await twoFaced(truth, lie as never), flags);
    expect([code, said.groups[0].own, said.groups[0].netSnmp.stopped]).toEqual([
      1,
      { values: 2, stopped: null },
      stopped,
    ]);
  });

  it.each([
    ['what is no SNMP', () => Buffer.from('no SNMP')],
    ['a signed message of v3, which net-snmp 3.29 throws on', signedAnswer],
  ])('to net-snmp it sends %s', async (_, answer) => {
    let own: number | null = null;
    const agent = await FakeAgent.start((request, send, from) => {
      own ??= from.port;
      if (from.port === own) community(truth)(request, send, from);
      else send(answer(decodeCommunityMessage(request).pdu as PlainPdu));
    });
    stops.push(() => agent.close());
    const { code, said } = await examine(agent.port);
    expect([code, said.groups[0].own.values, said.groups[0].netSnmp.stopped]).toEqual([1, 2, 'malformed']);
  });

  it('to us it is silent', async () => {
    const { code, said } = await examine(await twoFaced(NOBODY, truth), SILENT);
    expect([code, said.groups[0].own.stopped, said.groups[0].netSnmp.values]).toEqual([1, 'timeout', 2]);
  });

  it('to both it is silent: not read, with what to do', async () => {
    const { code, said } = await examine(await twoFaced(NOBODY, NOBODY), { timeout: 100 });
    expect([code, said.unread]).toEqual([2, expect.stringMatching(/firewall/)]);
  });

  it('does not ask what the settings of this host deny', async () => {
    const agent = await FakeAgent.start(community(truth));
    stops.push(() => agent.close());
    await expect(examine(agent.port, {}, 'deny: [127.0.0.0/8]')).rejects.toThrow(/settings do not allow it/);
    expect(agent.received).toBe(0);
  });
});
