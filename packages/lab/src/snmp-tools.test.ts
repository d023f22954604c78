/** Net-SNMP's own tools against our agents: they know nothing of our codec. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from './agent.ts';
import type { Access } from './device.ts';
import { type Entry, Mib } from './mib.ts';
import { responderOf } from './testing/replay.ts';
import { haveTools, netSnmp } from './testing/tools.ts';
import { counter32, counter64, gauge32, integer, ipAddress, octets, oid, text, timeticks } from './value.ts';
import { Wire } from './wire.ts';

const address = '127.77.1.1';
const entries: Entry[] = [
  ['1.3.6.1.2.1.1.1.0', text('a router')],
  ['1.3.6.1.2.1.1.2.0', oid('1.3.6.1.4.1.9.1.2568')],
  ['1.3.6.1.2.1.1.3.0', timeticks(4_294_967_295)],
  ['1.3.6.1.2.1.2.2.1.5.1', gauge32(4_294_967_295)],
  ['1.3.6.1.2.1.2.2.1.6.1', octets(Buffer.from('00127962f940', 'hex'))],
  ['1.3.6.1.2.1.2.2.1.10.1', counter32(3_000_000_000)],
  ['1.3.6.1.2.1.4.20.1.1.10.0.0.1', ipAddress('10.0.0.1')],
  ['1.3.6.1.2.1.31.1.1.1.6.1', counter64(18_446_744_073_709_551_615n)],
  ['1.3.6.1.4.1.99.1.0', integer(-5)],
  ['1.3.6.1.4.1.99.4294967295.128.0', text('')],
  ...Array.from({ length: 300 }, (_, i): Entry => [`1.3.6.1.4.1.100.1.${i}`, text(`row ${i}`)]),
];
const shown = [
  '.1.3.6.1.2.1.1.1.0 = STRING: "a router"',
  '.1.3.6.1.2.1.1.2.0 = OID: .1.3.6.1.4.1.9.1.2568',
  '.1.3.6.1.2.1.1.3.0 = Timeticks: (4294967295) 497 days, 2:27:52.95',
  '.1.3.6.1.2.1.2.2.1.5.1 = Gauge32: 4294967295',
  '.1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 00 12 79 62 F9 40 ',
  '.1.3.6.1.2.1.2.2.1.10.1 = Counter32: 3000000000',
  '.1.3.6.1.2.1.4.20.1.1.10.0.0.1 = IpAddress: 10.0.0.1',
  '.1.3.6.1.2.1.31.1.1.1.6.1 = Counter64: 18446744073709551615',
  '.1.3.6.1.4.1.99.1.0 = INTEGER: -5',
  '.1.3.6.1.4.1.99.4294967295.128.0 = ""',
  ...Array.from({ length: 300 }, (_, i) => `.1.3.6.1.4.1.100.1.${i} = STRING: "row ${i}"`),
];
const user = (
  name: string,
  authProtocol: 'none' | 'md5' | 'sha1' | 'sha256' | 'sha512',
  privProtocol: 'none' | 'aes128' | 'aes256',
): Access => ({
  version: 'v3',
  user: name,
  authProtocol,
  authKey: 'correct horse',
  privProtocol,
  privKey: 'battery staple',
});
const access: Access[] = [
  { version: 'v2c', community: 'public' },
  user('nobody', 'none', 'none'),
  user('signer', 'md5', 'none'),
  user('ops', 'sha1', 'aes128'),
  user('sec', 'sha256', 'aes256'),
  user('big', 'sha512', 'aes128'),
];

describe.skipIf(!haveTools())('Net-SNMP against the agent', () => {
  const wire = new Wire(0);
  let target = '';
  beforeAll(async () => {
    const contexts = new Map([
      ['', new Mib(entries)],
      ['red', new Mib([['1.3.6.1.2.1.1.1.0', text('in the red VRF')]])],
    ]);
    const agent = new Agent({
      contexts: () => contexts,
      access,
      engineId: Buffer.from('80001f8804feedc0de', 'hex'),
      engineBoots: 7,
      seconds: () => 1000 + performance.now() / 1000,
    });
    await wire.attach(address, responderOf(agent));
    target = `${address}:${wire.portOf(address)}`;
  });
  afterAll(() => wire.stop());

  const auth = (protocol: string, ...more: string[]) => ['-a', protocol, '-A', 'correct horse', ...more];
  const priv = (protocol: string) => ['-x', protocol, '-X', 'battery staple'];
  const ways: [name: string, args: string[]][] = [
    ['v2c', ['-v2c', '-c', 'public']],
    ['v3 noAuthNoPriv', ['-v3', '-l', 'noAuthNoPriv', '-u', 'nobody']],
    ['v3 MD5', ['-v3', '-l', 'authNoPriv', '-u', 'signer', ...auth('MD5')]],
    ['v3 SHA-1 with AES-128', ['-v3', '-l', 'authPriv', '-u', 'ops', ...auth('SHA', ...priv('AES'))]],
    [
      'v3 SHA-256 with AES-256',
      ['-v3', '-l', 'authPriv', '-u', 'sec', ...auth('SHA-256', ...priv('AES-256'))],
    ],
    ['v3 SHA-512 with AES-128', ['-v3', '-l', 'authPriv', '-u', 'big', ...auth('SHA-512', ...priv('AES'))]],
  ];
  it.each(ways)('%s: walk and bulk walk see exactly what there is', async (_, args) => {
    expect(await netSnmp('snmpwalk', ...args, target, '.1.3')).toEqual([
      ...shown,
      expect.stringContaining('No more variables'),
    ]);
    expect(await netSnmp('snmpbulkwalk', '-Cr40', ...args, target, '.1.3')).toEqual([
      ...shown,
      expect.stringContaining('No more variables'),
    ]);
  });

  it('v1: a walk sees all but Counter64', async () => {
    const lines = await netSnmp('snmpwalk', '-v1', '-c', 'public', target, '.1.3');
    expect(lines.slice(0, -1)).toEqual(shown.filter((line) => !line.includes('Counter64')));
  });

  it('v3: a context shows its own, an unknown one is refused', async () => {
    const args = ['-v3', '-l', 'authPriv', '-u', 'ops', ...auth('SHA', ...priv('AES'))];
    expect(await netSnmp('snmpget', ...args, '-n', 'red', target, '.1.3.6.1.2.1.1.1.0')).toEqual([
      '.1.3.6.1.2.1.1.1.0 = STRING: "in the red VRF"',
    ]);
    expect(await netSnmp('snmpget', ...args, '-n', 'none', target, '.1.3.6.1.2.1.1.1.0')).toEqual([
      expect.stringMatching(/context/i),
    ]);
  });

  it.each([
    [
      'a wrong authentication key',
      ['-u', 'ops', '-a', 'SHA', '-A', 'wrong horse', ...priv('AES')],
      /Authentication failure/,
    ],
    [
      'a wrong privacy key',
      ['-u', 'ops', ...auth('SHA'), '-x', 'AES', '-X', 'wrong staple'],
      /Decryption error|Timeout/,
    ],
    ['an unknown user', ['-u', 'stranger', ...auth('SHA', ...priv('AES'))], /Unknown user name/],
  ] as const)('v3 refuses %s', async (_, args, complaint) => {
    const lines = await netSnmp('snmpget', '-v3', '-l', 'authPriv', ...args, target, '.1.3.6.1.2.1.1.1.0');
    expect(lines).toEqual([expect.stringMatching(complaint)]);
  });

  it('v3 refuses a lower security level than the user has', async () => {
    const lines = await netSnmp(
      'snmpget',
      '-v3',
      '-l',
      'noAuthNoPriv',
      '-u',
      'ops',
      target,
      '.1.3.6.1.2.1.1.1.0',
    );
    expect(lines).toEqual([expect.stringMatching(/Unsupported security level|authorizationError/)]);
  });

  it('a wrong community gets silence', async () => {
    const lines = await netSnmp('snmpget', '-r0', '-t1', '-v2c', '-c', 'wrong', target, '.1.3.6.1.2.1.1.1.0');
    expect(lines).toEqual([expect.stringMatching(/Timeout/)]);
  });
});
