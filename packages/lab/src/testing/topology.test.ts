import { describe, expect, it } from 'vitest';
import { describe as mibsOf } from '../describe/mib.ts';
import { managementMac } from '../network.ts';
import { topologyFixture } from './topology.ts';

const { site, links } = topologyFixture();
const device = (name: string) => site.devices.find((d) => d.name === name)!;
const port = (end: { device: string; port: string }) =>
  device(end.device).ports.find((p) => p.name === end.port)!;
const listens = (name: string, protocol: 'lldp' | 'cdp') =>
  device(name).features.some((f) => f === protocol || (protocol === 'lldp' && f === 'lldp-v2'));

describe('the topology fixture', () => {
  it('has 60 boxes or more, and links of all three sorts', () => {
    expect(site.devices.length).toBeGreaterThanOrEqual(60);
    for (const by of ['lldp', 'cdp', 'fdb'])
      expect(links.filter((l) => l.by === by).length).toBeGreaterThan(3);
  });

  it('shows every LLDP and CDP link at one end at least, by no better protocol, and nothing else', () => {
    const told = site.devices.flatMap((d) =>
      d.neighbours.map((n) =>
        [
          n.protocol,
          d.name,
          d.ports.find((p) => p.ifIndex === n.ifIndex)?.name,
          n.remote.name,
          n.remotePort.name,
        ].join(' '),
      ),
    );
    const possible = links.flatMap(({ a, b, by }) =>
      by === 'fdb'
        ? []
        : (['lldp', 'cdp'] as const).flatMap((protocol) => [
            `${protocol} ${a.device} ${a.port} ${b.device} ${b.port}`,
            `${protocol} ${b.device} ${b.port} ${a.device} ${a.port}`,
          ]),
    );
    expect(told.filter((t) => !possible.includes(t))).toEqual([]);
    for (const { a, b, by } of links) {
      const ends = (protocol: string) =>
        told.filter(
          (t) =>
            t.startsWith(protocol) &&
            t.includes(` ${a.device} ${a.port}`) &&
            t.includes(` ${b.device} ${b.port}`),
        );
      if (by !== 'fdb') expect(ends(by).length).toBeGreaterThan(0);
      if (by === 'cdp') expect(ends('lldp')).toEqual([]);
    }
  });

  it('shows every other link in forwarding tables: the far end is learnt there and at no nearer port', () => {
    for (const { a, b, by, inContext } of links) {
      if (by !== 'fdb') continue;
      const [near, far] = [device(a.device), device(b.device)];
      const farMac = far.features.includes('bridge') ? managementMac(far) : port(b).mac;
      const at = near.fdb.filter((e) => e.mac === farMac).map((e) => e.ifIndex);
      expect([a, at]).toEqual([a, [port(a).ifIndex]]);
      const own = far.fdb.filter((e) => e.mac === managementMac(near)).map((e) => e.ifIndex);
      if (far.features.includes('bridge')) expect(own).toEqual([port(b).ifIndex]);
      else expect(near.fdb.filter((e) => e.ifIndex === port(a).ifIndex)).toHaveLength(1);
      const shown = mibsOf(near, () => 0);
      const rows = (context: string) =>
        [...(shown.get(context)?.under('1.3.6.1.2.1.17') ?? [])].filter(({ oid }) =>
          oid.endsWith([...Buffer.from(farMac.replaceAll(':', ''), 'hex')].join('.')),
        );
      expect(rows('').length > 0).toBe(!inContext);
      if (inContext) expect(rows('20').length).toBeGreaterThan(0);
    }
  });

  it('learns an aggregate as itself and nothing over a blocked link', () => {
    const spine = device('spine-1');
    const members = spine.ports.filter((p) => p.lag !== undefined);
    expect(members.map((p) => p.name)).toEqual(['1/1/49', '1/1/50']);
    expect(spine.fdb.some((e) => e.ifIndex === members[0]?.lag)).toBe(true);
    expect(spine.fdb.some((e) => members.some((m) => m.ifIndex === e.ifIndex))).toBe(false);
    const spare = device('leaf-1').ports.find((p) => p.name === 'xe-0/2/1');
    expect(device('leaf-1').fdb.filter((e) => e.ifIndex === spare?.ifIndex)).toEqual([]);
    expect(listens('leaf-1', 'lldp')).toBe(true);
  });

  it('hides three hosts behind an unmanaged switch', () => {
    const plain = device('plain-4');
    const shared = plain.ports.find((p) => p.name === '1/1');
    expect(plain.fdb.filter((e) => e.ifIndex === shared?.ifIndex)).toHaveLength(3);
    expect(links.some((l) => l.b.device.startsWith('shared'))).toBe(false);
  });
});
