import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoSite } from './demo.ts';
import { type LiveSite, startSite } from './start.ts';
import { asNull, exchange, get, readReply, request } from './testing/client.ts';

const PORT = 21_000 + (process.pid % 5_000);
const SYS = '1.3.6.1.2.1.1';
const ask = async (address: string, oid: string, community = 'public', ms = 3000) => {
  const [answer] = await exchange(
    address,
    PORT,
    request({ type: 'get', varbinds: [asNull(oid)] }, 'v2c', community),
    { ms },
  );
  const value = answer && readReply(answer.bytes).varbinds[0]?.value;
  return Buffer.isBuffer(value) ? value.toString() : value;
};

describe('startSite', () => {
  let site: LiveSite;
  beforeAll(async () => {
    site = await startSite(demoSite(), { port: PORT });
  });
  afterAll(() => site.stop());

  it('answers on every address of every SNMP box, and on no other', async () => {
    for (const { name, addresses, snmp } of site.truth.devices) {
      for (const address of addresses)
        expect([name, site.wire.addresses.includes(address)]).toEqual([name, snmp !== null]);
    }
    const open = site.truth.devices.filter((d) => site.box(d.name).device.access?.version === 'v2c');
    for (const { name, addresses } of open) {
      const { access } = site.box(name).device;
      for (const address of addresses) {
        const community = access?.version === 'v2c' ? access.community : '';
        expect([address, await ask(address, `${SYS}.5.0`, community)]).toEqual([address, name]);
      }
    }
  });

  it('plays an upgrade, a swap of hardware and a port going down', async () => {
    const box = site.box('printer-1');
    const address = site.truth.devices.find((d) => d.name === 'printer-1')?.addresses[0] ?? '';
    await site.change('printer-1', (d) => {
      d.sysDescr = 'HP, newer';
      d.serial = 'NEW123';
      d.objects['1.3.6.1.2.1.43.5.1.1.17.1'] = 'NEW123';
      for (const p of d.ports) if (p.name === 'eth0') p.oper = 'down';
    });
    expect(await ask(address, `${SYS}.1.0`)).toBe('HP, newer');
    expect(await ask(address, '1.3.6.1.2.1.43.5.1.1.17.1')).toBe('NEW123');
    expect(await ask(address, '1.3.6.1.2.1.2.2.1.8.2')).toBe(2);
    expect(site.truth.devices.find((d) => d.name === 'printer-1')?.serial).toBe('NEW123');
    const rows = box.contexts.get('');
    rows?.remove('1.3.6.1.2.1.2.2.1.2.2');
    const [gone] = await exchange(address, PORT, get('1.3.6.1.2.1.2.2.1.2.2'));
    expect(readReply(gone?.bytes ?? null).varbinds[0]?.type).toBe('noSuchInstance');
  });

  it('shows a renamed box to its neighbours', async () => {
    await site.change('access-1', (d) => {
      d.sysName = 'access-one';
    });
    const told = [...(site.box('dist-1').contexts.get('')?.under('1.3.111.2.802.1.1.13.1.4.1.1.10') ?? [])];
    expect(told.map((o) => String(o.value.value))).toContain('access-one');
  });

  it('moves an address to another box', async () => {
    const address = '127.20.40.30';
    await site.change('camera-1', (d) => d.addresses.push({ address, prefixLength: 24, ifIndex: 2 }));
    await site.change('sensor-2', (d) => {
      d.addresses = d.addresses.filter((a) => a.address !== address);
    });
    expect(await ask(address, `${SYS}.5.0`)).toBe('camera-1');
    await site.change('camera-1', (d) => {
      d.addresses = d.addresses.filter((a) => a.address !== address);
    });
    expect(await ask(address, `${SYS}.5.0`, 'public', 200)).toBeUndefined();
  });

  it('leaves nothing open when one address cannot be bound', async () => {
    await expect(startSite(demoSite(), { port: PORT })).rejects.toThrow(
      'another program (or another lab) has it',
    );
  });
});
