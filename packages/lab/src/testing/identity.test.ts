import { AddressSpace } from '@rollcall/shared/address-space';
import { parseTargets } from '@rollcall/shared/targets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asNull, exchange, get, readReply, request } from './client.ts';
import { type IdentityLab, startIdentity } from './identity.ts';

const NORTH = 12_000 + (process.pid % 4_000) * 2;
const SYS_NAME = '1.3.6.1.2.1.1.5.0';
const IP_ADDRESSES = '1.3.6.1.2.1.4.20.1.1';

const read = async (address: string, oid: string, { port = NORTH, community = 'public' } = {}) => {
  const [answer] = await exchange(
    address,
    port,
    request({ type: 'get', varbinds: [asNull(oid)] }, 'v2c', community),
  );
  const value = answer && readReply(answer.bytes).varbinds[0]?.value;
  return Buffer.isBuffer(value) ? value.toString('latin1') : value;
};
const expand = (targets: string): string[] => {
  const parsed = parseTargets(targets, { allowLoopback: true });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const space = new AddressSpace(parsed.targets.ranges);
  return Array.from({ length: space.size }, (_, i) => space.at(i));
};

describe('the identity fixture', () => {
  let lab: IdentityLab;
  beforeAll(async () => {
    lab = await startIdentity({ ports: { north: NORTH, south: NORTH + 1 } });
  });
  afterAll(() => lab.stop());

  it('holds every case, and every box of north belongs to one', () => {
    expect(lab.cases.map((c) => c.name).sort()).toEqual([
      'carp',
      'clones',
      'dhcp',
      'fleet',
      'ha-pair',
      'hidden-address',
      'hsrp',
      'overlap',
      'renumbered',
      'stack',
      'two-sites',
      'vrf-router',
      'vrrp',
    ]);
    expect(lab.cases.flatMap((c) => c.boxes).sort()).toEqual(
      lab.north.truth.devices.map((d) => d.name).sort(),
    );
  });

  it('is as hard as it says', async () => {
    const box = (name: string) => lab.north.box(name).device;
    // Eight addresses, three of them listed; the rest only in their context.
    expect(lab.north.truth.devices.find((d) => d.name === 'vrf-router')?.addresses).toHaveLength(8);
    expect(await read('127.40.1.8', `${IP_ADDRESSES}.127.40.1.8`)).toBeNull();
    expect(await read('127.40.1.8', `${IP_ADDRESSES}.127.40.1.8`, { community: 'public@blue' })).toBe(
      '127.40.1.8',
    );
    expect(await read('127.40.2.10', `${IP_ADDRESSES}.127.40.2.10`)).toBeNull();
    expect(box('ha-1').serial).toBe(box('ha-2').serial);
    expect(box('ha-1').engineId).not.toBe(box('ha-2').engineId);
    expect(box('clone-1').engineId).toBe(box('clone-2').engineId);
    expect(box('clone-3').sysDescr).toBe(box('clone-4').sysDescr);
    expect(new Set(lab.cases.find((c) => c.name === 'fleet')?.boxes.map((n) => box(n).sysName)).size).toBe(1);
    const stack = box('stack').entities.filter((e) => e.class === 11 || e.class === 3);
    expect(stack[0]?.serial).toBe(stack[1]?.serial);
  });

  it('has other boxes at the same addresses in the other site', async () => {
    expect(await read('127.40.9.2', SYS_NAME)).toBe('shared-2');
    expect(await read('127.40.9.2', SYS_NAME, { port: NORTH + 1 })).toBe('south-2');
    expect(await read('127.40.9.1', '1.3.6.1.6.3.10.2.1.1.0')).toBe(
      await read('127.40.9.1', '1.3.6.1.6.3.10.2.1.1.0', { port: NORTH + 1 }),
    );
  });

  it('offers two scans that share addresses and together cover the boxes they cut through', () => {
    const [one, two] = lab.overlapping.map(expand);
    const all = lab.north.truth.devices
      .filter((d) => d.name.startsWith('overlap'))
      .flatMap((d) => d.addresses);
    expect([...new Set([...(one ?? []), ...(two ?? [])])].sort()).toEqual([...all].sort());
    expect(one?.filter((a) => two?.includes(a)).length).toBeGreaterThan(0);
    expect(one?.length).toBeLessThan(all.length);
  });

  it('plays its steps: after each, exactly the boxes of the truth answer, each on its addresses', async () => {
    const before = lab.north.truth.devices.length;
    const owners: Record<string, string[]> = {};
    for (const step of lab.steps) {
      await step.apply();
      const { devices, targets } = lab.north.truth;
      expect(devices.length).toBe(before);
      for (const address of expand(targets)) {
        const owner = devices.find((d) => d.addresses.includes(address))?.name ?? '';
        expect([address, await read(address, SYS_NAME)]).toEqual([
          address,
          lab.north.box(owner).device.sysName,
        ]);
        owners[address] = [...(owners[address] ?? []), owner];
      }
    }
    expect(owners['127.40.4.254']).toEqual(['vrrp-1', 'vrrp-2', 'vrrp-1']);
    expect(owners['127.40.10.11']).toEqual(['dhcp-1', 'dhcp-2', 'dhcp-1']);
    expect(owners['127.40.11.5']).toEqual(['renumbered-1']);
    expect(owners['127.40.11.21']).toEqual(['renumbered-1', 'renumbered-1']);
    const [silence] = await exchange('127.40.11.5', NORTH, get(SYS_NAME), { ms: 150 });
    expect(silence).toBeUndefined();
  });
});
