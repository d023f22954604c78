import type { Clock } from '@rollcall/shared/clock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { demoSite } from '../demo.ts';
import { portNamed } from '../device.ts';
import { type LiveSite, startSite } from '../start.ts';
import { carried } from '../traffic.ts';
import { damageOf } from './damage.ts';
import { Faults, TARGETS } from './faults.ts';

const PORT = 21_000 + (process.pid % 5_000);

describe('what a fault cuts off', () => {
  const { devices } = demoSite();
  const port = (name: string, of: string) => {
    const device = devices.find((one) => one.name === name);
    if (!device) throw new Error(`no ${name}`);
    return portNamed(device, of);
  };
  it.each([
    ['nothing where there is another way', ['dist-1:1/1/49'], [], []],
    ['what hangs on a cable', ['access-6:49'], [], ['access-6', 'access-12', 'sensor-1', 'sensor-2']],
    [
      'the same, named by its other end',
      ['dist-2:1/1/6'],
      [],
      ['access-6', 'access-12', 'sensor-1', 'sensor-2'],
    ],
    ['a box and what hangs on it', [], ['edge-1'], ['edge-1', 'branch-1', 'branch-2']],
  ])('%s', (_, cables, boxes, silent) => {
    const ports = new Set(
      cables.map((each) => {
        const [name = '', of = ''] = each.split(/:(.*)/);
        return port(name, of);
      }),
    );
    const damage = damageOf(devices, { ports, boxes: new Set(boxes) }, 'core-1');
    expect([...damage.silent].filter((name) => !/^(things|ws)/.test(name)).sort()).toEqual(
      expect.arrayContaining([...silent].sort()),
    );
    if (silent.length === 0) expect(damage.silent.size).toBe(0);
  });

  it('takes the link of both ends of a cable, and of all ports that lead to a box', () => {
    const cable = damageOf(devices, { ports: new Set([port('access-6', '49')]), boxes: new Set() }, 'core-1');
    expect(cable.linkless).toEqual(new Set([port('access-6', '49'), port('dist-2', '1/1/6')]));
    const box = damageOf(devices, { ports: new Set(), boxes: new Set(['dist-1']) }, 'core-1');
    expect(box.linkless.has(port('core-1', 'Twe1/0/3'))).toBe(true);
    expect(box.silent.has('access-1')).toBe(false);
  });
});

describe('faults', () => {
  let site: LiveSite;
  let faults: Faults;
  /** What waits, by milliseconds; runs when the test says so. */
  let waiting: { ms: number; run: () => void }[];
  const clock: Clock = {
    now: () => 1_764_000_000_000,
    monotonic: () => 0,
    every: () => () => undefined,
    sleep: (ms) => new Promise((resolve) => waiting.push({ ms, run: () => resolve() })),
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
  const address = (name: string) => site.truth.devices.find((one) => one.name === name)?.addresses[0] ?? '';
  const oper = (name: string, port: string) => portNamed(site.box(name).device, port).oper;

  beforeEach(async () => {
    waiting = [];
    site = await startSite(demoSite(), { port: PORT });
    faults = new Faults(site, clock);
  });
  afterEach(async () => {
    faults.stop();
    await site.stop();
  });

  it('each that is offered can be made and put back, and then all is as it was', async () => {
    const before = JSON.stringify(site.truth);
    const ports = () => site.devices.flatMap((device) => device.ports.map(({ oper: state }) => state));
    const links = ports();
    for (const [kind, targets] of Object.entries(TARGETS))
      for (const target of targets) {
        const { id } = await faults.break({ kind: kind as keyof typeof TARGETS, target });
        expect(faults.state.faults).toHaveLength(1);
        expect(await faults.repair(id)).toBe(true);
        expect([kind, target, ports()]).toEqual([kind, target, links]);
      }
    expect(JSON.stringify(site.truth)).toBe(before);
    expect(faults.state).toMatchObject({ faults: [], silent: [] });
  });

  it('a box without power answers nobody, nor does what hangs on it; put back they do', async () => {
    const fault = await faults.break({ kind: 'box', target: 'access-6' });
    expect(faults.state.silent).toEqual(expect.arrayContaining([address('access-6'), address('access-12')]));
    expect(site.wire.addresses).not.toContain(address('access-12'));
    expect(oper('dist-2', '1/1/6')).toBe('down');
    await faults.repair(fault.id);
    expect(site.wire.addresses).toContain(address('access-12'));
    expect(oper('dist-2', '1/1/6')).toBe('up');
  });

  it('two faults of one port end with the second', async () => {
    const cable = await faults.break({ kind: 'cable', target: 'access-6:49' });
    const box = await faults.break({ kind: 'box', target: 'access-6' });
    await faults.repair(cable.id);
    expect(oper('dist-2', '1/1/6')).toBe('down');
    await faults.repair(box.id);
    expect(oper('dist-2', '1/1/6')).toBe('up');
  });

  it('a reboot ends by itself, and the box counts from the beginning', async () => {
    await faults.break({ kind: 'reboot', target: 'nas-1' });
    expect(faults.state.silent).toContain(address('nas-1'));
    waiting.pop()?.run();
    await settled();
    expect(faults.state).toMatchObject({ faults: [], silent: [] });
    const uptime = site.box('nas-1').contexts.get('')?.get('1.3.6.1.2.1.1.3.0');
    expect(Number(uptime?.value)).toBeLessThan(6000);
  });

  it('a port flaps until it is put back', async () => {
    const { id } = await faults.break({ kind: 'port', target: 'access-1:Gi1/0/3' });
    for (const expected of ['up', 'down', 'up']) {
      waiting.pop()?.run();
      await settled();
      expect(oper('access-1', 'Gi1/0/3')).toBe(expected);
    }
    await faults.repair(id);
    waiting.pop()?.run();
    await settled();
    expect(oper('access-1', 'Gi1/0/3')).toBe('up');
  });

  it('a full link carries nearly all it can, and nothing is lost of what it had counted', () => {
    const device = site.box('access-6').device;
    const port = portNamed(device, '49');
    const octets = (at: number) => Number(carried(device, port, 'out', 1_764_000_000, at).octets);
    const [before, usual] = [octets(100), octets(160) - octets(100)];
    port.load = { out: { bursts: [{ from: 1_764_000_100, to: 1_764_000_160 }] } };
    expect(octets(100)).toBe(before);
    expect((octets(160) - octets(100)) / ((60 * port.speed) / 8)).toBeCloseTo(0.97, 2);
    expect(octets(220) - octets(160)).toBeLessThan(2 * usual);
  });

  it('refuses what is not offered, and the same twice', async () => {
    await expect(faults.break({ kind: 'box', target: 'core-1' })).rejects.toThrow('not offered');
    await faults.break({ kind: 'box', target: 'web-1' });
    await expect(faults.break({ kind: 'box', target: 'web-1' })).rejects.toThrow('put it back first');
    expect(await faults.repair('019aa3c4-5b00-7000-8000-000000000001')).toBe(false);
  });
});
