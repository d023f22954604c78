import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { echoOf } from '@rollcall/collector/testing/fake-network';
import { recordingLog } from '@rollcall/collector/testing/recording-log';
import { Watch } from '@rollcall/collector/watch/watch';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { demoSite } from '@rollcall/lab/demo';
import { startSite } from '@rollcall/lab/start';
import { systemClock } from '@rollcall/shared/clock';
import type { Observation } from '@rollcall/shared/observation';
import type { WireCredential } from '@rollcall/shared/protocol';
import type { PortCounter, Samples } from '@rollcall/shared/samples';
import { skipped } from '@rollcall/shared/testing/skipped';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { haveSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterEach, describe, expect, it } from 'vitest';
import { Host } from './hosts.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Watches agents, reading them every `snmpMs`; what was measured of each address. */
async function measure(
  addresses: Record<string, WireCredential>,
  { port, snmpMs }: { port: number; snmpMs: number },
) {
  const engine = await SnmpEngine.open({ clock: systemClock });
  closing.push(() => engine.close());
  const told: Samples[] = [];
  const watch = new Watch({
    tools: { echo: echoOf(() => 1), snmp: async () => engine },
    outbox: {
      append: async (items: readonly Observation[]) => {
        for (const item of items) if (item.kind === 'samples') told.push(item);
      },
    },
    clock: systemClock,
    log: recordingLog([]),
    pace: { take: () => undefined },
    scope: { allows: () => true },
    linked: () => false,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  closing.push(() => watch.stop());
  const ids = new Map(Object.keys(addresses).map((address) => [address, uuidv7()]));
  watch.take({
    type: 'watch',
    revision: 1,
    full: true,
    set: Object.entries(addresses).map(([address, { id }]) => ({
      deviceId: ids.get(address) ?? '',
      address,
      credentialId: id,
    })),
    remove: [],
    credentials: Object.values(addresses),
    intervals: { icmpMs: 1000, snmpMs },
    port,
  });
  const of = (address: string) => told.filter(({ deviceId }) => deviceId === ids.get(address));
  /** Growth and length of all intervals in which it is known. */
  const sum = (address: string, name: string, counter: PortCounter) => {
    const all = { by: 0, overMs: 0 };
    for (const { ports, overMs } of of(address)) {
      const by = ports?.[counter]?.[ports.name.indexOf(name)];
      if (by == null) continue;
      all.by += by;
      all.overMs += overMs;
    }
    return all;
  };
  return { of, sum };
}

const possible = haveSnmpd() && enterOwnNetwork();
if (!possible) skipped('measuring real traffic: be root, install iproute2 and snmpd');

describe.skipIf(!possible)('a real snmpd', () => {
  it('is measured to the octet by what the kernel counts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-measuring-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const [measured, other] = [new Host(1, 'measured'), new Host(2, 'other')];
    closing.push(() => measured.remove());
    closing.push(() => other.remove());
    // Only what the test sends goes over this cable: no IPv6 of its own.
    for (const host of [measured, other]) host.exec('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1');
    measured.ip('link', 'add', 'port1', 'type', 'veth', 'peer', 'name', 'far1', 'netns', other.name);
    measured.ip('addr', 'add', '192.0.2.1/30', 'dev', 'port1');
    other.ip('addr', 'add', '192.0.2.2/30', 'dev', 'far1');
    measured.ip('link', 'set', 'port1', 'up');
    other.ip('link', 'set', 'far1', 'up');
    const kernel = (what: string) =>
      Number(measured.exec('cat', `/sys/class/net/port1/statistics/${what}`).trim());
    const before = { octets: kernel('rx_bytes'), packets: kernel('tx_packets') };
    measured.startSnmpd(folder);
    const credential = { id: uuidv7(), version: 'v2c', community: 'public' } as const;
    const { of, sum } = await measure({ [measured.address]: credential }, { port: 161, snmpMs: 2000 });
    await expect.poll(() => of(measured.address).some(({ ports }) => ports), { timeout: 20_000 }).toBe(true);
    other.exec('ping', '-q', '-c', '300', '-i', '0.01', '-s', '1400', '192.0.2.1');
    // snmpd shows what it read up to 15 seconds ago.
    const missing = () => ({
      octets: kernel('rx_bytes') - before.octets - sum(measured.address, 'port1', 'inOctets').by,
      packets: kernel('tx_packets') - before.packets - sum(measured.address, 'port1', 'outUnicast').by,
    });
    await expect.poll(missing, { timeout: 25_000 }).toEqual({ octets: 0, packets: 0 });
    expect(sum(measured.address, 'port1', 'inOctets').by).toBeGreaterThan(300 * 1400);
    expect(readFileSync(join(folder, measured.name, 'log'), 'utf8')).not.toMatch(/error/i);
  }, 90_000);
});

describe('the demonstration site', () => {
  it('has a full line, a damaged port, and agents of every version whose counters move', async () => {
    const site = await startSite(demoSite(), { port: 10_961 });
    closing.push(() => site.stop());
    const { credentials, devices } = site.truth;
    const wire = new Map(
      credentials.map(({ name, ...access }) => [access, { id: uuidv7(), ...access } as WireCredential]),
    );
    const names = ['edge-1', 'access-2', 'access-12'];
    const chosen = Object.fromEntries(
      names.map((name) => {
        const { device } = site.box(name);
        const [found] = [...wire].filter(
          ([access]) => JSON.stringify(access) === JSON.stringify(device.access),
        );
        return [devices.find((one) => one.name === name)?.addresses[0] ?? '', found?.[1] as WireCredential];
      }),
    );
    const [edge = '', access = '', old = ''] = Object.keys(chosen);
    const { of, sum } = await measure(chosen, { port: 10_961, snmpMs: 2000 });
    for (const address of [edge, access, old])
      await expect
        .poll(() => of(address).filter(({ ports }) => ports).length, { timeout: 20_000 })
        .toBeGreaterThan(2);
    const line = sum(edge, 'Gi0/0/1', 'outOctets');
    expect((line.by * 8000) / line.overMs).toBeGreaterThan(0.95e9);
    expect((line.by * 8000) / line.overMs).toBeLessThan(1.01e9);
    expect(sum(access, 'Gi1/0/3', 'inErrors').by).toBeGreaterThan(0);
    expect(sum(access, 'Gi1/0/4', 'inErrors').by).toBe(0);
    expect(
      of(old)
        .findLast(({ ports }) => ports)
        ?.ports?.inOctets?.some((by) => (by ?? 0) > 0),
    ).toBe(true);
  }, 60_000);
});
