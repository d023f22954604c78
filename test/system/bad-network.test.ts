/**
 * Whole sweeps by the command line over networks that are bad in the ways networks are: complete, explained, no crash.
 * Needs root on Linux for a network of its own; in CI it must run.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type FarSite, ip, openFarSite } from '@rollcall/host/testing/far-site';
import { allowDatagramIcmp, enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { skipped } from '@rollcall/shared/testing/skipped';
import { decodeCommunityMessage, encodeCommunityMessage } from '@rollcall/snmp/message/message';
import type { Value } from '@rollcall/snmp/message/pdu';
import { honest } from '@rollcall/snmp/testing/fake-agent';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const able = enterOwnNetwork() && existsSync('/dev/net/tun');
if (!able) skipped('sweeps over bad networks: be root on Linux with /dev/net/tun');
if (!able && process.env.CI) throw new Error('CI has to sweep over bad networks: run it as root');

const NET = '10.66.0.0/24';
const PORTS = 24;
const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });
const objectsOf = (address: string): Record<string, Value> => {
  const objects: Record<string, Value> = {
    '1.3.6.1.2.1.1.1.0': text('a switch'),
    '1.3.6.1.2.1.1.2.0': { type: 'oid', value: '1.3.6.1.4.1.8072.3.2.10' },
    '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 4242 },
    '1.3.6.1.2.1.1.5.0': text(`sw-${address}`),
    '1.3.6.1.2.1.2.1.0': { type: 'integer', value: PORTS },
  };
  for (let port = 1; port <= PORTS; port += 1) {
    objects[`1.3.6.1.2.1.2.2.1.2.${port}`] = text(`port ${port}`);
    objects[`1.3.6.1.2.1.2.2.1.8.${port}`] = { type: 'integer', value: 1 };
  }
  return objects;
};

const hostOf = (address: string): number => Number(address.split('.')[3]);
/** 64 hosts; every second of them has an agent; one agent does not answer ICMP. */
const isAlive = (address: string): boolean => hostOf(address) % 4 === 1;
const isAgent = (address: string): boolean => hostOf(address) % 8 === 1 || hostOf(address) === 200;
const agents = new Map<string, ReturnType<typeof honest>>();
const agent: FarSite['agent'] = (address, request) => {
  if (!isAgent(address)) return null;
  const message = decodeCommunityMessage(request);
  if (message.pdu.type === 'trapV1') return null;
  const reply = agents.get(address) ?? honest(objectsOf(address));
  agents.set(address, reply);
  return encodeCommunityMessage({ ...message, pdu: reply(message.pdu) });
};

interface Line {
  address: string;
  outcome: string;
  tables?: { interfaces?: { complete: boolean; reason?: string; rows: unknown[] } };
}

const program = compiled('collector', 'main');
const stops: (() => void)[] = [];

/** Sweeps; answers what was found, how addresses were explained, the summary line. */
const sweep = async (targets: string, ...more: string[]) => {
  const args = [program, 'sweep', targets, '--community', 'public', '--json', ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const lines = out
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const explained = Object.fromEntries(
    lines.flatMap((line) => (line.explain ? [[line.explain, `${line.outcome}: ${line.why}`]] : [])),
  );
  const found = lines.filter((line): line is Line => line.address !== undefined);
  return { code, found, explained, err };
};

const all = Array.from({ length: 256 }, (_, host) => `10.66.0.${host}`);
const answering = all.filter((address) => isAlive(address) || isAgent(address)).sort();
const explain = ['10.66.0.2', '10.66.0.5', '10.66.0.9', '10.66.0.200'].flatMap((each) => ['--explain', each]);

describe.skipIf(!able)('a sweep over a bad network', () => {
  beforeAll(() => {
    allowDatagramIcmp(true);
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  const site = (line: { delayMs: number; loss: number }) => {
    const far = openFarSite('far0', NET, { alive: isAlive, agent, ...line });
    stops.push(far.close);
    return far;
  };

  test('that loses every fifth answer', async () => {
    site({ delayMs: 2, loss: 0.2 });
    const { code, found, explained, err } = await sweep(NET, '--tries', '8', '--timeout', '300', ...explain);
    expect(code).toBe(0);
    expect(err).toContain('254 addresses in');
    expect(found.map(({ address }) => address).sort()).toEqual(answering);
    expect(explained).toEqual({
      '10.66.0.2': 'silent: answered neither ICMP nor SNMP',
      '10.66.0.5': expect.stringMatching(/^snmp-timeout: answered ICMP; to SNMP it was silent/),
      '10.66.0.9': expect.stringMatching(/^snmp: /),
      '10.66.0.200': expect.stringMatching(/^snmp: /),
    });
    const read = found.filter(({ outcome }) => outcome === 'snmp');
    expect(read.length).toBe(all.filter(isAgent).length);
    const tables = read.map(({ tables }) => tables?.interfaces);
    // A table that was cut says so.
    expect(tables.filter((table) => !table?.complete && table?.reason === undefined)).toEqual([]);
    expect(tables.filter((table) => table?.complete && table.rows.length === PORTS).length).toBeGreaterThan(
      28,
    );
  }, 120_000);

  test('whose answers take 300 ms', async () => {
    site({ delayMs: 300, loss: 0 });
    const { code, found, explained, err } = await sweep(NET, ...explain);
    expect(code).toBe(0);
    expect(err).toContain('254 addresses in');
    expect(found.map(({ address }) => address).sort()).toEqual(answering);
    const read = found.filter(({ outcome }) => outcome === 'snmp');
    expect(read.map(({ address }) => address).sort()).toEqual(all.filter(isAgent).sort());
    for (const { tables } of read) {
      expect(tables?.interfaces).toMatchObject({ complete: true });
      expect(tables?.interfaces?.rows).toHaveLength(PORTS);
    }
    expect(explained['10.66.0.2']).toBe('silent: answered neither ICMP nor SNMP');
  }, 120_000);

  test('behind a stateful firewall of our own', async () => {
    nft(`table inet fw {
      chain in {
        type filter hook input priority 0
        policy drop
        ct state established,related accept
        iif lo accept
      }
    }`);
    stops.push(() => nft('delete table inet fw'));
    site({ delayMs: 1, loss: 0 });
    const { code, found, err } = await sweep(NET);
    expect(code).toBe(0);
    expect(err).toContain('254 addresses in');
    expect(found.map(({ address }) => address).sort()).toEqual(answering);
    const read = found.filter(({ outcome }) => outcome === 'snmp');
    expect(read.map(({ address }) => address).sort()).toEqual(all.filter(isAgent).sort());
  }, 120_000);

  test('by a default route to a router that is not there', async () => {
    ip('link', 'add', 'wan0', 'type', 'veth', 'peer', 'name', 'wan1');
    stops.push(() => ip('link', 'del', 'wan0'));
    ip('addr', 'add', '192.0.2.5/30', 'dev', 'wan0');
    ip('link', 'set', 'wan0', 'up');
    ip('link', 'set', 'wan1', 'up');
    ip('route', 'add', 'default', 'via', '192.0.2.6');
    const { code, found, explained, err } = await sweep('10.66.0.0/26', '--explain', '10.66.0.9');
    expect(code).toBe(0);
    expect(found).toEqual([]);
    expect(err).toMatch(/62 addresses in .*: 0 alive/);
    const why = 'nothing gets there: the router 192.0.2.6 does not answer; is the route right?';
    expect(explained['10.66.0.9']).toBe(`silent: ${why}`);
    expect(err.trim().split('\n').at(-1)).toBe(`62 of them: ${why}`);
  }, 120_000);

  test('without any route, and that is what it says', async () => {
    const { code, found, explained, err } = await sweep('10.66.0.0/26', '--explain', '10.66.0.9');
    expect(code).toBe(0);
    expect(found).toEqual([]);
    expect(err).toMatch(/62 addresses in .*: 0 alive, 62 errors/);
    const why =
      'The system could not send to this address. Check the route and the local firewall. (ENETUNREACH)';
    expect(explained['10.66.0.9']).toBe(`error: ${why}`);
    expect(err.trim().split('\n').at(-1)).toBe(`62 of them: ${why}`);
  }, 120_000);
});

function nft(rules: string): void {
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: 'noninteractive',
    PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  };
  try {
    execFileSync('nft', ['-v'], { env, stdio: 'ignore' });
  } catch {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'nftables'], {
      env,
      stdio: 'ignore',
      timeout: 120_000,
    });
  }
  execFileSync('nft', ['-f', '-'], { env, input: rules });
}
